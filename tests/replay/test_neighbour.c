/* SPDX-License-Identifier: MIT */
/* Disturbing kernels on a driver that refuses one call or another. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "replay/neighbour.h"

#define CALLS 9 /* of neighbour_open */

static int allowed, living;

/* Counts what a call makes, unless it is one too many. */
static CUresult call(int made)
{
	if (!allowed)
		return CUDA_ERROR_OUT_OF_MEMORY;
	allowed--;
	living += made;
	return CUDA_SUCCESS;
}

static CUresult drop(void)
{
	living--;
	return CUDA_SUCCESS;
}

static CUresult load(CUmodule *out, const void *image, unsigned n, CUjit_option *o, void **values)
{
	CUresult r = call(1);

	(void)image, (void)n, (void)o, (void)values;
	if (r == CUDA_SUCCESS)
		*out = (CUmodule)&living;
	return r;
}

static CUresult function(CUfunction *out, CUmodule module, const char *name)
{
	(void)module, (void)name;
	*out = (CUfunction)&living;
	return call(0);
}

static CUresult stream(CUstream *out, unsigned flags)
{
	CUresult r = call(1);

	(void)flags;
	if (r == CUDA_SUCCESS)
		*out = (CUstream)&living;
	return r;
}

static CUresult event(CUevent *out, unsigned flags)
{
	CUresult r = call(1);

	(void)flags;
	if (r == CUDA_SUCCESS)
		*out = (CUevent)&living;
	return r;
}

static CUresult allocate(CUdeviceptr *out, size_t bytes)
{
	CUresult r = call(1);

	(void)bytes;
	if (r == CUDA_SUCCESS)
		*out = 0x1000;
	return r;
}

static CUresult attribute(int *out, CUdevice_attribute a, CUdevice device)
{
	(void)a, (void)device;
	*out = 132;
	return call(0);
}

static CUresult unload(CUmodule module)
{
	(void)module;
	return drop();
}

static CUresult end_stream(CUstream s)
{
	(void)s;
	return drop();
}

static CUresult end_event(CUevent e)
{
	(void)e;
	return drop();
}

static CUresult release(CUdeviceptr p)
{
	(void)p;
	return drop();
}

static void what_was_opened_is_closed_again(void **state)
{
	const struct driver d = {.cuModuleLoadDataEx = load,
				 .cuModuleGetFunction = function,
				 .cuStreamCreate = stream,
				 .cuEventCreate = event,
				 .cuMemAlloc_v2 = allocate,
				 .cuDeviceGetAttribute = attribute,
				 .cuModuleUnload = unload,
				 .cuStreamDestroy_v2 = end_stream,
				 .cuEventDestroy_v2 = end_event,
				 .cuMemFree_v2 = release};
	struct neighbour n = {0};
	struct error err;

	(void)state;
	for (int k = 0; k < CALLS; k++) {
		allowed = k;
		assert_int_equal(neighbour_open(&n, &d, 0, &err), -ENOMEM);
		assert_int_equal(living, 0);
		assert_null(n.driver);
	}
	allowed = CALLS;
	assert_int_equal(neighbour_open(&n, &d, 0, &err), 0);
	assert_int_equal(living, 5);
	assert_int_equal(n.multiprocessors, 132);
	assert_int_equal(neighbour_open(&n, &d, 0, &err), 0); /* it is open: nothing is called */
	assert_int_equal(living, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(what_was_opened_is_closed_again)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
