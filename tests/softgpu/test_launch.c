/* SPDX-License-Identifier: MIT */
/* Launches of real kernels on the software device, against references in double precision. */
#include "tests/softgpu/client.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS    3
#define COLUMNS 1000 /* below the block's 1024: masked */

static uint16_t to_bf16(float x)
{
	uint32_t u;

	memcpy(&u, &x, 4);
	return (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

static float from_bf16(uint16_t h)
{
	uint32_t u = (uint32_t)h << 16;
	float x;

	memcpy(&x, &u, 4);
	return x;
}

/* Repeatable values in (-2, 2). */
static float value(uint32_t i)
{
	i = (i + 1) * 2654435761u;
	i ^= i >> 15;
	i *= 2246822519u;
	return (float)(int32_t)(i ^ i >> 13) / 1073741824.0f;
}

static CUfunction load(const char *file, const char *entry, CUmodule *m)
{
	size_t size;
	char *data = client_data(file, &size);

	must(cu.cuModuleLoadData(m, data));
	free(data);
	return client_function(*m, entry);
}

static CUdeviceptr put(const void *data, size_t size)
{
	CUdeviceptr p = client_allocate(size);

	must(cu.cuMemcpyHtoD_v2(p, data, size));
	return p;
}

static void fill_bf16(uint16_t *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		x[i] = to_bf16(value((uint32_t)i));
}

/* y within bf16's rounding of the reference, and a little for ex2.approx and rsqrt.approx. */
static void check_bf16(uint16_t got, double reference)
{
	double error = fabs(from_bf16(got) - reference);

	if (!(error <= fabs(reference) * 0x1p-8 + 1e-6))
		fail_msg("%.9g, reference %.9g", from_bf16(got), reference);
}

static void softmax(void **state)
{
	static uint16_t x[ROWS * COLUMNS], y[ROWS * COLUMNS];
	CUdeviceptr dx, dy, none = 0;
	int32_t n = COLUMNS;
	CUmodule m;
	CUfunction f = load("softmax_k.cubin", "softmax_k", &m);

	fill_bf16(x, ROWS * COLUMNS);
	dx = put(x, sizeof(x));
	dy = client_allocate(sizeof(y));
	must(cu.cuLaunchKernel(f, ROWS, 1, 1, 128, 1, 1, 16, NULL,
			       (void *[]){&dx, &dy, &n, &none, &none}, NULL));
	must(cu.cuCtxSynchronize());
	must(cu.cuMemcpyDtoH_v2(y, dy, sizeof(y)));
	for (int r = 0; r < ROWS; r++) {
		double sum = 0, largest = -INFINITY;

		for (int c = 0; c < COLUMNS; c++)
			largest = fmax(largest, from_bf16(x[r * COLUMNS + c]));
		for (int c = 0; c < COLUMNS; c++)
			sum += exp(from_bf16(x[r * COLUMNS + c]) - largest);
		for (int c = 0; c < COLUMNS; c++)
			check_bf16(y[r * COLUMNS + c],
				   exp(from_bf16(x[r * COLUMNS + c]) - largest) / sum);
	}
	must(cu.cuMemFree_v2(dx));
	must(cu.cuMemFree_v2(dy));
	must(cu.cuModuleUnload(m));
}

/* By cuLaunchKernelEx with a parameter buffer, and the attributes that Triton sets. */
static void layernorm(void **state)
{
	static uint16_t x[ROWS * COLUMNS], y[ROWS * COLUMNS];
	static float w[COLUMNS], b[COLUMNS];
	struct {
		CUdeviceptr x, w, b, y;
		int32_t n;
		float eps;
		CUdeviceptr scratch[2];
	} p = {.n = COLUMNS, .eps = 1e-5f};
	size_t size = sizeof(p);
	void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &p, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
			 CU_LAUNCH_PARAM_END};
	CUlaunchAttribute attributes[] = {
		{.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
		 .value.programmaticStreamSerializationAllowed = 1},
		{.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value.clusterDim = {1, 1, 1}},
	};
	CUlaunchConfig config = {.gridDimX = ROWS,
				 .gridDimY = 1,
				 .gridDimZ = 1,
				 .blockDimX = 128,
				 .blockDimY = 1,
				 .blockDimZ = 1,
				 .sharedMemBytes = 2048,
				 .attrs = attributes,
				 .numAttrs = 2};
	CUmodule m;
	CUfunction f = load("layernorm_k.cubin", "layernorm_k", &m);

	fill_bf16(x, ROWS * COLUMNS);
	for (int c = 0; c < COLUMNS; c++) {
		w[c] = value(100000 + (uint32_t)c);
		b[c] = value(200000 + (uint32_t)c);
	}
	p.x = put(x, sizeof(x));
	p.w = put(w, sizeof(w));
	p.b = put(b, sizeof(b));
	p.y = client_allocate(sizeof(y));
	must(cu.cuLaunchKernelEx(&config, f, NULL, extra));
	must(cu.cuMemcpyDtoH_v2(y, p.y, sizeof(y)));
	for (int r = 0; r < ROWS; r++) {
		const uint16_t *row = x + r * COLUMNS;
		double mean = 0, variance = 0;

		for (int c = 0; c < COLUMNS; c++)
			mean += from_bf16(row[c]) / (double)COLUMNS;
		for (int c = 0; c < COLUMNS; c++)
			variance += pow(from_bf16(row[c]) - mean, 2) / COLUMNS;
		for (int c = 0; c < COLUMNS; c++)
			check_bf16(y[r * COLUMNS + c],
				   (from_bf16(row[c]) - mean) / sqrt(variance + 1e-5) * w[c] +
					   b[c]);
	}
	attributes[1].value.clusterDim.x = 2; /* does not divide the grid */
	expect(CUDA_ERROR_INVALID_CLUSTER_SIZE, cu.cuLaunchKernelEx(&config, f, NULL, extra));
	attributes[1].value.clusterDim.x = ROWS;
	expect(CUDA_ERROR_NOT_SUPPORTED, cu.cuLaunchKernelEx(&config, f, NULL, extra));
	attributes[1].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
	attributes[1].value.cooperative = 1;
	expect(CUDA_ERROR_NOT_SUPPORTED, cu.cuLaunchKernelEx(&config, f, NULL, extra));
	attributes[1].id = (CUlaunchAttributeID)4711;
	expect(CUDA_ERROR_INVALID_VALUE, cu.cuLaunchKernelEx(&config, f, NULL, extra));
	must(cu.cuModuleUnload(m));
}

static void atomic_sum(void **state)
{
	enum { N = 20000 };
	static float x[N];
	float sum = 0, again = 0;
	double reference = 0;
	CUdeviceptr dx, ds = put(&sum, 4), none = 0;
	int32_t n = N;
	CUmodule m;
	CUfunction f = load("atomic_k.cubin", "atomic_k", &m);

	for (int i = 0; i < N; i++) {
		x[i] = value((uint32_t)i) + 1;
		reference += x[i];
	}
	dx = put(x, sizeof(x));
	must(cu.cuLaunchKernel(f, (N + 1023) / 1024, 1, 1, 128, 1, 1, 16, NULL,
			       (void *[]){&dx, &ds, &n, &none, &none}, NULL));
	must(cu.cuMemcpyDtoH_v2(&sum, ds, 4));
	assert_true(fabs(sum - reference) < 1e-5 * reference);
	must(cu.cuMemsetD32_v2(ds, 0,
			       1)); /* the order of blocks is fixed: the same sum to the bit */
	must(cu.cuLaunchKernel(f, (N + 1023) / 1024, 1, 1, 128, 1, 1, 16, CU_STREAM_PER_THREAD,
			       (void *[]){&dx, &ds, &n, &none, &none}, NULL));
	must(cu.cuMemcpyDtoH_v2(&again, ds, 4));
	assert_memory_equal(&sum, &again, 4);
	must(cu.cuModuleUnload(m));
}

/* Restored at the addresses that another process had: kernels reach mapped chunks and pinned
 * memory. */
static void kernels_reach_all_memory(void **state)
{
	static const char ptx[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
				  ".visible .entry copy(.param .u64 to, .param .u64 from)\n"
				  "{\n\t.reg .b64 %rd<4>;\n\t.reg .b32 %r<4>;\n"
				  "\tld.param.u64 %rd1, [to];\n\tld.param.u64 %rd2, [from];\n"
				  "\tld.global.u32 %r1, [%rd2];\n\tst.global.u32 [%rd1], %r1;\n"
				  "\tret;\n}\n";
	CUmemAllocationProp prop = {
		.type = CU_MEM_ALLOCATION_TYPE_PINNED,
		.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0},
	};
	CUmemAccessDesc access = {.location = prop.location,
				  .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
	size_t chunk = (size_t)2 << 20;
	CUdeviceptr wanted = 0x7f0000000000 + ((CUdeviceptr)32 << 20), r, to, from;
	CUmemGenericAllocationHandle h;
	uint32_t got = 0, *host;
	CUmodule m;
	CUfunction f;

	must(cu.cuModuleLoadData(&m, ptx));
	f = client_function(m, "copy");
	must(cu.cuMemAddressReserve(&r, 32 << 20, 0, wanted, 0));
	assert_true(r == wanted);
	for (int i = 0; i < 2; i++) {
		must(cu.cuMemCreate(&h, chunk, &prop, 0));
		must(cu.cuMemMap(r + i * chunk, chunk, 0, h, 0));
		must(cu.cuMemRelease(h));
	}
	must(cu.cuMemSetAccess(r, 2 * chunk, &access, 1));
	must(cu.cuMemAllocHost_v2((void **)&host, 4));
	*host = 0x12345678;
	to = r + 2 * chunk - 4;
	from = (CUdeviceptr)host;
	must(cu.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&to, &from}, NULL));
	must(cu.cuMemcpyDtoH_v2(&got, to, 4));
	assert_int_equal(got, 0x12345678);
	must(cu.cuMemUnmap(r, 2 * chunk));
	must(cu.cuMemAddressFree(r, 32 << 20));
	must(cu.cuMemFreeHost(host));
	must(cu.cuModuleUnload(m));
}

static void occupancy(void **state)
{
	CUlaunchConfig config = {.gridDimX = 1,
				 .gridDimY = 1,
				 .gridDimZ = 1,
				 .blockDimX = 128,
				 .blockDimY = 1,
				 .blockDimZ = 1};
	CUmodule m;
	CUfunction f = load("softmax_k.cubin", "softmax_k", &m);
	int n, registers;

	must(cu.cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, f));
	assert_in_range(registers, 1, 32); /* so that threads limit: 2048 / 128 */
	must(cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, 128, 0));
	assert_int_equal(n, 16);
	must(cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, 128, 100 << 10));
	assert_int_equal(n, 2); /* 228 KiB / 101 KiB */
	must(cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, 256, 0));
	assert_int_equal(n, 0); /* .reqntid 128 */
	must(cu.cuOccupancyMaxActiveClusters(&n, f, &config));
	assert_int_equal(n, 16 * 132);
	must(cu.cuModuleUnload(m));
}

struct map {
	uint32_t rank, data_type;
	uint64_t dims[3], strides[2];
	uint32_t box[3], element[3];
	int swizzle;
	CUresult result;
};

static void tensor_maps(void **state)
{
	static const struct map good = {2,        CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
					{64, 64}, {128},
					{64, 16}, {1, 1},
					3,        CUDA_SUCCESS};
	CUtensorMap t, u;
	struct map cases[7];

	for (size_t i = 0; i < 7; i++) {
		cases[i] = good;
		cases[i].result = i ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
	}
	cases[1].rank = 6;
	cases[2].strides[0] = 120; /* no multiple of 16 */
	cases[3].box[0] = 128;     /* more than the swizzle's 128 bytes */
	cases[4].box[1] = 257;
	cases[5].dims[1] = 0;
	cases[6].element[0] = 9;
	for (size_t i = 0; i < 7; i++) {
		const struct map *c = &cases[i];

		memset(&t, 0, sizeof(t));
		memset(&u, 0, sizeof(u));
		assert_int_equal(cu.cuTensorMapEncodeTiled(&t, c->data_type, c->rank,
							   (void *)0x302000000, c->dims, c->strides,
							   c->box, c->element, 0, c->swizzle, 0, 0),
				 c->result);
		if (c->result == CUDA_SUCCESS)
			assert_memory_not_equal(&t, &u, sizeof(t));
		else
			assert_memory_equal(&t, &u, sizeof(t));
	}
	expect(CUDA_ERROR_INVALID_VALUE,
	       cu.cuTensorMapEncodeTiled(&t, good.data_type, 2, (void *)0x302000008, good.dims,
					 good.strides, good.box, good.element, 0, 3, 0, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(softmax),    cmocka_unit_test(layernorm),
		cmocka_unit_test(atomic_sum), cmocka_unit_test(kernels_reach_all_memory),
		cmocka_unit_test(occupancy),  cmocka_unit_test(tensor_maps),
	};

	return cmocka_run_group_tests(tests, client_open, NULL);
}
