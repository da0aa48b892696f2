/* SPDX-License-Identifier: MIT */
/* Preloaded: in the first TAKEN starts of a replay the recorded addresses are taken. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "tests/replay/fixture.h"

static int number_of(const char *name)
{
	const char *text = getenv(name);

	return text ? atoi(text) : 0;
}

/*
 * A GPU's driver refuses what is mapped in the process; forks inherit that, an exec drops it. The
 * software device has addresses of its own, and refuses on request.
 */
__attribute__((constructor)) static void take(void)
{
	if (number_of("KERNELAB_STARTS") >= number_of("TAKEN")) {
		unsetenv("KERNELAB_SOFTGPU_FAULT");
		return;
	}
	setenv("KERNELAB_SOFTGPU_FAULT", "cuMemAddressReserve:1:2", 1);
	if (mmap((void *)FIXTURE_BASE, FIXTURE_BYTES, PROT_NONE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_NORESERVE, -1,
		 0) == MAP_FAILED &&
	    errno != EEXIST) { /* a sanitizer may hold part of them: taken they are */
		perror("taken: mmap");
		abort();
	}
}
