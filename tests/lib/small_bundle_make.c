/* SPDX-License-Identifier: MIT */
/* Writes the small bundle or result of the unit tests to a file, for tests of commands. */
#include <string.h>

#include "tests/lib/small_bundle.h"

/* small_bundle_make capture|result FILE */
int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	if (!strcmp(argv[1], "capture"))
		small_bundle_write(argv[2]);
	else
		small_result_write(argv[2]);
	return 0;
}
