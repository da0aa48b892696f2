/* SPDX-License-Identifier: MIT */
/* A libcupti.so.13 without its functions. */
int no_cupti(void);
int no_cupti(void)
{
	return 0;
}
