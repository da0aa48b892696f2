/* SPDX-License-Identifier: MIT */
/*
 * Runs under the preload: each row of the driver table comes out as the shim's function if it is
 * WRAPPED and as the driver's otherwise, by linked symbol, dlsym, dlvsym and cuGetProcAddress.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drv/driver.h"
#include "lib/base.h"

static unsigned faults;

static void expect_in(const char *way, const char *name, const void *address, bool shim)
{
	Dl_info info;
	const char *file = address && dladdr(address, &info) ? info.dli_fname : "(nothing)";
	const char *library = shim ? "libkernelab-shim.so" : "libcuda.so.1";

	if (!strstr(file, library)) {
		printf("%s: %s lies in %s, not in %s\n", way, name, file, library);
		faults++;
	}
}

#pragma weak cuOccupancyMaxActiveClusters /* the fake lacks it */

#define LINKED(symbol, need, use) (void *)symbol,
static void *const linked[] = {DRIVER_ENTRIES(LINKED)};

/* "cuMemAlloc_v2" is asked for as "cuMemAlloc"; the twins by flag. */
static void ask_driver(void *library, enum driver_entry e, bool version_2)
{
	const char *name = driver_entry_name(e);
	_cleanup_free_ char *base = strdup(name);
	size_t n = strlen(base);
	cuuint64_t flags = 0;
	void *found = NULL, *first;
	CUresult (*get)(const char *, void **, int, cuuint64_t);
	CUresult (*get_2)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);
	int version = 12040;

	if (n > 5 && !strcmp(base + n - 5, "_ptsz")) {
		base[n -= 5] = 0;
		flags = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
	}
	if (n > 3 && !strcmp(base + n - 3, "_v2"))
		base[n - 3] = 0;
	if (e == DRIVER_ENTRY_cuGetProcAddress)
		version = 11030;
	first = dlsym(library, version_2 ? "cuGetProcAddress_v2" : "cuGetProcAddress");
	memcpy(&get, &first, sizeof(get));
	memcpy(&get_2, &first, sizeof(get_2));
	if (version_2 ? get_2(base, &found, version, flags, NULL)
		      : get(base, &found, version, flags))
		found = NULL;
	expect_in(version_2 ? "cuGetProcAddress_v2" : "cuGetProcAddress", name, found,
		  driver_entry_wrapped(e));
}

static void all_rows(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

	for (unsigned i = 0; i < DRIVER_ENTRY_COUNT; i++) {
		enum driver_entry e = (enum driver_entry)i;
		const char *name = driver_entry_name(e);
		bool wrapped = driver_entry_wrapped(e);

		if (e == DRIVER_ENTRY_cuOccupancyMaxActiveClusters)
			continue;
		expect_in("linked symbol", name, linked[i], wrapped);
		expect_in("dlsym", name, dlsym(library, name), wrapped);
		expect_in("dlsym(RTLD_DEFAULT)", name, dlsym(RTLD_DEFAULT, name), wrapped);
		expect_in("dlvsym", name, dlvsym(library, name, "libcuda.so.1"), wrapped);
		ask_driver(library, e, false);
		ask_driver(library, e, true);
	}
}

static void what_is_not_hooked(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	void **asked = dlsym(library, "fake_asked_itself");
	CUresult r = cuInit(0);

	if (r != CUDA_SUCCESS || dlsym(library, "cuLaunchKernelX") || !dlerror()) {
		printf("a name that is not there was found\n");
		faults++;
	}
	if (dlsym(RTLD_DEFAULT, "cuModuleLoadX") || !dlerror()) {
		printf("a name that is not there was found by RTLD_DEFAULT\n");
		faults++;
	}
	/* The driver asks for its own function: it must not get the wrapper. */
	expect_in("the driver's own dlsym", "cuLaunchKernel", *asked, false);
	/* RTLD_NEXT means the object behind this program: the shim is the next one. */
	expect_in("dlsym(RTLD_NEXT)", "cuLaunchKernel", dlsym(RTLD_NEXT, "cuLaunchKernel"), true);
}

static void hidden_address(void)
{
	void *found = NULL;

	setenv("FAKE_HIDDEN", "1", 1);
	if (cuGetProcAddress_v2("cuLaunchKernel", &found, 12000, 0, NULL))
		found = NULL;
	expect_in("an address without a symbol", "cuLaunchKernel", found, true);
	unsetenv("FAKE_HIDDEN");
}

int chained(void); /* of the first of three libraries, each of which asks for the next one's */

static void next_libraries(void)
{
	if (chained() != 3) {
		printf("RTLD_NEXT went wrong: %d\n", chained());
		faults++;
	}
}

/* As Triton's launcher: the error is cleared, the function asked for, the error looked at. */
static void no_error_is_left(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	const char *error;

	dlerror();
	expect_in("dlsym", "cuLaunchKernelEx", dlsym(library, "cuLaunchKernelEx"), true);
	error = dlerror();
	if (error) {
		printf("dlsym found the function and left an error: %s\n", error);
		faults++;
	}
}

int main(void)
{
	no_error_is_left(); /* first, so that the shim looks the driver over in that dlsym */
	all_rows();
	what_is_not_hooked();
	hidden_address();
	next_libraries();
	return faults != 0;
}
