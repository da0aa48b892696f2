/* SPDX-License-Identifier: MIT */
/* Preloaded: in the first TAKEN starts of a replay the device does not grant an address. */
#include <stdlib.h>

static int number_of(const char *name)
{
	const char *text = getenv(name);

	return text ? atoi(text) : 0;
}

__attribute__((constructor)) static void take(void)
{
	if (number_of("KERNELAB_STARTS") < number_of("TAKEN"))
		setenv("KERNELAB_SOFTGPU_FAULT", "cuMemAddressReserve:1:2", 1);
	else
		unsetenv("KERNELAB_SOFTGPU_FAULT");
}
