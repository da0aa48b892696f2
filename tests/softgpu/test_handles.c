/* SPDX-License-Identifier: MIT */
/* Contexts, threads, fork, and handles that are none: an error, never a crash. */
#include "tests/softgpu/client.h"

#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Every entry that takes a handle, given one. The value the driver answers with is not looked at.
 */
static void give_everywhere(uint64_t h)
{
	CUlaunchConfig config = {.gridDimX = 1,
				 .gridDimY = 1,
				 .gridDimZ = 1,
				 .blockDimX = 1,
				 .blockDimY = 1,
				 .blockDimZ = 1};
	CUstreamCaptureStatus status;
	const char *name;
	CUdeviceptr p;
	CUmodule m;
	CUfunction f;
	CUkernel kernel;
	float ms;
	int number;
	size_t size;

	assert_int_not_equal(cu.cuCtxDestroy_v2((CUcontext)h), CUDA_SUCCESS);
	assert_int_not_equal(cu.cuCtxPushCurrent_v2((CUcontext)h), CUDA_SUCCESS);
	assert_int_not_equal(cu.cuModuleUnload((CUmodule)h), CUDA_SUCCESS);
	assert_int_not_equal(cu.cuModuleGetFunction(&f, (CUmodule)h, "k"), CUDA_SUCCESS);
	assert_int_not_equal(cu.cuModuleGetGlobal_v2(&p, &size, (CUmodule)h, "k"), CUDA_SUCCESS);
	assert_int_not_equal(cu.cuFuncGetAttribute(&number, 0, (CUfunction)h), CUDA_SUCCESS);
	assert_int_not_equal(cu.cuFuncSetAttribute((CUfunction)h, 8, 0), CUDA_SUCCESS);
	assert_int_not_equal(cu.cuFuncSetCacheConfig((CUfunction)h, 0), CUDA_SUCCESS);
	assert_int_not_equal(cu.cuFuncGetName(&name, (CUfunction)h), CUDA_SUCCESS);
	assert_int_not_equal(cu.cuFuncGetModule(&m, (CUfunction)h), CUDA_SUCCESS);
	assert_int_not_equal(cu.cuFuncGetParamInfo((CUfunction)h, 0, &size, &size), CUDA_SUCCESS);
	assert_int_not_equal(cu.cuKernelGetName(&name, (CUkernel)h), CUDA_SUCCESS);
	assert_int_not_equal(cu.cuKernelGetFunction(&f, (CUkernel)h), CUDA_SUCCESS);
	assert_int_not_equal(cu.cuKernelGetParamInfo((CUkernel)h, 0, &size, &size), CUDA_SUCCESS);
	assert_int_not_equal(cu.cuLaunchKernel((CUfunction)h, 1, 1, 1, 1, 1, 1, 0, NULL, NULL,
					       NULL),
			     CUDA_SUCCESS);
	assert_int_not_equal(cu.cuLaunchKernel_ptsz((CUfunction)h, 1, 1, 1, 1, 1, 1, 0, NULL, NULL,
						    NULL),
			     CUDA_SUCCESS);
	assert_int_not_equal(cu.cuLaunchKernelEx(&config, (CUfunction)h, NULL, NULL), CUDA_SUCCESS);
	assert_int_not_equal(cu.cuLaunchKernelEx_ptsz(&config, (CUfunction)h, NULL, NULL),
			     CUDA_SUCCESS);
	assert_int_not_equal(cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&number, (CUfunction)h,
									    32, 0),
			     CUDA_SUCCESS);
	assert_int_not_equal(cu.cuOccupancyMaxActiveClusters(&number, (CUfunction)h, &config),
			     CUDA_SUCCESS);
	assert_int_not_equal(cu.cuLibraryUnload((CUlibrary)h), CUDA_SUCCESS);
	assert_int_not_equal(cu.cuLibraryGetModule(&m, (CUlibrary)h), CUDA_SUCCESS);
	assert_int_not_equal(cu.cuLibraryGetKernel(&kernel, (CUlibrary)h, "k"), CUDA_SUCCESS);
	assert_int_not_equal(cu.cuLibraryEnumerateKernels(&kernel, 1, (CUlibrary)h), CUDA_SUCCESS);
	assert_int_not_equal(cu.cuModuleEnumerateFunctions(&f, 1, (CUmodule)h), CUDA_SUCCESS);
	assert_int_not_equal(cu.cuMemRelease(h), CUDA_SUCCESS);
	assert_int_not_equal(cu.cuMemMap(0x10000000000, 2 << 20, 0, h, 0), CUDA_SUCCESS);
	assert_int_not_equal(cu.cuStreamDestroy_v2((CUstream)h), CUDA_SUCCESS);
	assert_int_not_equal(cu.cuEventDestroy_v2((CUevent)h), CUDA_SUCCESS);
	assert_int_not_equal(cu.cuEventRecord((CUevent)h, NULL), CUDA_SUCCESS);
	assert_int_not_equal(cu.cuEventQuery((CUevent)h), CUDA_SUCCESS);
	assert_int_not_equal(cu.cuEventSynchronize((CUevent)h), CUDA_SUCCESS);
	assert_int_not_equal(cu.cuEventElapsedTime(&ms, (CUevent)h, (CUevent)h), CUDA_SUCCESS);
	if (h <= 2)
		return; /* streams that are always there */
	assert_int_not_equal(cu.cuStreamQuery((CUstream)h), CUDA_SUCCESS);
	assert_int_not_equal(cu.cuStreamSynchronize((CUstream)h), CUDA_SUCCESS);
	assert_int_not_equal(cu.cuStreamIsCapturing((CUstream)h, &status), CUDA_SUCCESS);
	assert_int_not_equal(cu.cuMemsetD8Async(0, 0, 0, (CUstream)h), CUDA_SUCCESS);
}

static void invented_handles(void **state)
{
	uint64_t local;

	for (uint64_t h = 0; h < 64; h++)
		give_everywhere(h);
	for (unsigned bit = 3; bit < 64; bit++)
		give_everywhere(UINT64_C(1) << bit);
	give_everywhere((uint64_t)&local);
	give_everywhere(UINT64_MAX);
}

static void stale_handles(void **state)
{
	CUstream stream, again;
	CUevent event;

	must(cu.cuStreamCreate(&stream, 0));
	must(cu.cuEventCreate(&event, 0));
	must(cu.cuEventRecord(event, stream));
	expect(CUDA_ERROR_INVALID_HANDLE, cu.cuEventQuery((CUevent)stream)); /* of another kind */
	must(cu.cuStreamDestroy_v2(stream));
	must(cu.cuEventDestroy_v2(event));
	must(cu.cuStreamCreate(&again, 0));
	assert_true(again != stream);
	give_everywhere((uint64_t)stream);
	give_everywhere((uint64_t)event);
	must(cu.cuStreamDestroy_v2(again));
}

static void a_context_takes_its_things_along(void **state)
{
	size_t before, after, total;
	CUcontext old, own, seen;
	CUstream stream;
	CUdeviceptr p;
	CUevent event;

	must(cu.cuMemGetInfo_v2(&before, &total));
	must(cu.cuCtxGetCurrent(&old));
	must(cu.cuCtxCreate_v2(&own, 0, 0));
	must(cu.cuCtxGetCurrent(&seen));
	assert_true(seen == own);
	p = client_allocate(5 << 20);
	must(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	must(cu.cuEventCreate(&event, 0));
	must(cu.cuCtxPushCurrent_v2(old));
	expect(CUDA_ERROR_INVALID_HANDLE, cu.cuStreamSynchronize(stream)); /* of another context */
	must(cu.cuCtxPopCurrent_v2(&seen));
	must(cu.cuCtxDestroy_v2(own));
	must(cu.cuCtxGetCurrent(&seen));
	assert_true(seen == old);
	must(cu.cuMemGetInfo_v2(&after, &total));
	assert_int_equal(before, after);
	expect(CUDA_ERROR_INVALID_VALUE, cu.cuMemFree_v2(p));
	give_everywhere((uint64_t)stream);
	give_everywhere((uint64_t)event);
	give_everywhere((uint64_t)own);
}

static void *other_thread(void *context)
{
	CUcontext seen = context;
	CUdeviceptr p;

	expect(CUDA_SUCCESS, cu.cuCtxGetCurrent(&seen));
	assert_null(seen);
	expect(CUDA_ERROR_INVALID_CONTEXT, cu.cuMemAlloc_v2(&p, 64));
	must(cu.cuCtxSetCurrent(context));
	for (int i = 0; i < 300; i++) {
		unsigned char byte = 0;

		must(cu.cuMemAlloc_v2(&p, (size_t)1 + i * 31));
		must(cu.cuMemsetD8_v2(p, (unsigned char)i, (size_t)1 + i * 31));
		must(cu.cuMemcpyDtoH_v2(&byte, p + i * 31, 1));
		assert_int_equal(byte, (unsigned char)i);
		must(cu.cuMemFree_v2(p));
	}
	return NULL;
}

static void threads_have_their_own_stack(void **state)
{
	pthread_t threads[4];
	CUcontext context;

	must(cu.cuCtxGetCurrent(&context));
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, other_thread, context), 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
}

static void a_child_of_fork_has_no_device(void **state)
{
	CUdeviceptr p;
	int status;
	pid_t child = fork();

	if (!child)
		_exit(cu.cuInit(0) == CUDA_ERROR_NOT_INITIALIZED &&
				      cu.cuMemAlloc_v2(&p, 64) == CUDA_ERROR_NOT_INITIALIZED
			      ? 0
			      : 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	must(cu.cuCtxSynchronize());
}

/* Both ways to an entry give one address, with either kind of default stream. */
static void resolution_agrees(void **state)
{
	CUdriverProcAddressQueryResult status;
	void *found;

	must(cu.cuGetProcAddress_v2("cuMemAlloc", &found, 12040, 0, &status));
	assert_ptr_equal(found, cu.cuMemAlloc_v2);
	must(cu.cuGetProcAddress_v2("cuLaunchKernel", &found, 12040, 0, &status));
	assert_ptr_equal(found, cu.cuLaunchKernel);
	must(cu.cuGetProcAddress_v2("cuLaunchKernel", &found, 12040,
				    CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &status));
	assert_ptr_equal(found, cu.cuLaunchKernel_ptsz);
	must(cu.cuGetProcAddress("cuGetProcAddress", &found, 11030, 0));
	assert_ptr_equal(found, cu.cuGetProcAddress);
	must(cu.cuGetProcAddress("cuGetProcAddress", &found, 12000, 0));
	assert_ptr_equal(found, cu.cuGetProcAddress_v2);
	expect(CUDA_ERROR_NOT_FOUND, cu.cuGetProcAddress("cuGraphCreate", &found, 12000, 0));
	assert_null(found);
}

/* Every row of the table is found by the name that programs ask for. */
static void resolution_is_complete(void **state)
{
	for (int e = 0; e < DRIVER_ENTRY_COUNT; e++) {
		const char *symbol = driver_entry_name((enum driver_entry)e);
		void *exported = ((void **)&cu)[1 + e], *found = NULL;
		bool seen = false;

		for (size_t n = strlen(symbol); n > 2 && !seen; n--) {
			static const int versions[] = {10000, 11030, 13000};
			char *base = test_malloc(n + 1);

			memcpy(base, symbol, n);
			base[n] = 0;
			for (int i = 0; i < 6; i++)
				if (!cu.cuGetProcAddress(base, &found, versions[i % 3],
							 i / 3 ? 2 : 1) &&
				    found == exported)
					seen = true;
			test_free(base);
		}
		if (!seen)
			fail_msg("%s cannot be found by cuGetProcAddress", symbol);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(invented_handles),
		cmocka_unit_test(stale_handles),
		cmocka_unit_test(a_context_takes_its_things_along),
		cmocka_unit_test(threads_have_their_own_stack),
		cmocka_unit_test(a_child_of_fork_has_no_device),
		cmocka_unit_test(resolution_agrees),
		cmocka_unit_test(resolution_is_complete),
	};

	return cmocka_run_group_tests(tests, client_open, NULL);
}
