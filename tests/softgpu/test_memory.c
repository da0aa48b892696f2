/* SPDX-License-Identifier: MIT */
/* The software device's memory through the API: contents, bounds, addresses, reservations. */
#include "tests/softgpu/client.h"

#include <stdlib.h>
#include <string.h>

#define GRANULE   ((size_t)2 << 20)
#define HINT_STEP ((size_t)32 << 20)

static const CUmemAllocationProp device_memory = {
	.type = CU_MEM_ALLOCATION_TYPE_PINNED,
	.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0},
};
static const CUmemAccessDesc read_write = {
	.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0},
	.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
};

static void check_filled(CUdeviceptr p, size_t size, uint8_t byte)
{
	static uint8_t host[1 << 16];

	for (size_t done = 0; done < size; done += sizeof(host)) {
		size_t part = size - done < sizeof(host) ? size - done : sizeof(host);

		must(cu.cuMemcpyDtoH_v2(host, p + done, part));
		for (size_t i = 0; i < part; i++)
			assert_int_equal(host[i], byte);
	}
}

static void fresh_memory_is_not_zero(void **state)
{
	static const size_t sizes[] = {1, 513, 1 << 20, (1 << 20) + 1, 40 << 20};

	for (size_t round = 0; round < 2;
	     round++) { /* the second time the addresses are used ones */
		for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
			CUdeviceptr p = client_allocate(sizes[i]);

			check_filled(p, sizes[i], 0xff);
			must(cu.cuMemsetD8_v2(p, 0x11, sizes[i]));
			check_filled(p, sizes[i], 0x11);
			must(cu.cuMemFree_v2(p));
		}
	}
}

static void allocations_are_apart(void **state)
{
	CUdeviceptr p[200], base;
	size_t size;

	for (size_t i = 0; i < 200; i++) {
		p[i] = client_allocate(1 + i * 97);
		assert_int_equal(p[i] % 512, 0);
		must(cu.cuMemsetD8_v2(p[i], (unsigned char)i, 1 + i * 97));
	}
	for (size_t i = 0; i < 200; i += 2)
		must(cu.cuMemFree_v2(p[i]));
	for (size_t i = 0; i < 200; i += 2)
		expect(CUDA_ERROR_INVALID_VALUE, cu.cuMemFree_v2(p[i]));
	for (size_t i = 1; i < 200; i += 2) {
		must(cu.cuMemGetAddressRange_v2(&base, &size, p[i] + i));
		assert_true(base == p[i]);
		assert_int_equal(size, 1 + i * 97);
		check_filled(p[i], size, (uint8_t)i);
		must(cu.cuMemFree_v2(p[i]));
		expect(CUDA_ERROR_NOT_FOUND, cu.cuMemGetAddressRange_v2(&base, &size, p[i]));
		expect(CUDA_ERROR_INVALID_VALUE, cu.cuMemcpyDtoH_v2(&base, p[i], 1));
	}
}

static void bounds_are_exact(void **state)
{
	CUdeviceptr a = client_allocate(100), b = client_allocate(100);
	uint8_t host[1024] = {0};

	expect(CUDA_ERROR_INVALID_VALUE, cu.cuMemcpyHtoD_v2(a, host, 101));
	expect(CUDA_ERROR_INVALID_VALUE, cu.cuMemcpyHtoD_v2(a + 50, host, 51));
	expect(CUDA_ERROR_INVALID_VALUE, cu.cuMemcpyDtoD_v2(a, b + 1, 100));
	expect(CUDA_ERROR_INVALID_VALUE, cu.cuMemsetD8_v2(b, 0, 1000));
	expect(CUDA_ERROR_INVALID_VALUE, cu.cuMemsetD32_v2(b, 0, (size_t)1 << 62));
	check_filled(a, 100, 0xff); /* a copy that fails changes nothing */
	must(cu.cuMemcpyHtoD_v2(a + 50, host, 50));
	must(cu.cuMemcpyDtoDAsync_v2(b, a, 100, NULL));
	check_filled(b, 50, 0xff);
	check_filled(b + 50, 50, 0);
	must(cu.cuMemsetD32Async(b, 0x04030201, 25, NULL));
	must(cu.cuMemcpyDtoHAsync_v2(host, b, 100, NULL));
	assert_memory_equal(host + 96, "\1\2\3\4", 4);
	must(cu.cuMemFree_v2(a));
	must(cu.cuMemFree_v2(b));
}

static void memory_is_counted(void **state)
{
	size_t before, after, total, whole;
	CUdeviceptr p;

	must(cu.cuMemGetInfo_v2(&before, &total));
	must(cu.cuDeviceTotalMem_v2(&whole, 0));
	assert_int_equal(total, whole);
	p = client_allocate((size_t)1 << 30); /* costs nothing before it is written */
	must(cu.cuMemGetInfo_v2(&after, &total));
	assert_int_equal(before - after, 1 << 30);
	expect(CUDA_ERROR_OUT_OF_MEMORY, cu.cuMemAlloc_v2(&(CUdeviceptr){0}, after + 1));
	must(cu.cuMemFree_v2(p));
	must(cu.cuMemGetInfo_v2(&after, &total));
	assert_int_equal(before, after);
}

static void pinned_memory_is_both(void **state)
{
	CUdeviceptr p = client_allocate(64), seen;
	unsigned type;
	uint8_t *host;

	must(cu.cuMemAllocHost_v2((void **)&host, 64));
	memset(host, 7, 64);
	must(cu.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)host));
	assert_int_equal(type, CU_MEMORYTYPE_HOST);
	must(cu.cuPointerGetAttribute(&seen, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
				      (CUdeviceptr)host + 3));
	assert_true(seen == (CUdeviceptr)host + 3);
	must(cu.cuMemcpyDtoD_v2(p, (CUdeviceptr)host, 64));
	check_filled(p, 64, 7);
	must(cu.cuMemFreeHost(host));
	expect(CUDA_ERROR_INVALID_VALUE, cu.cuMemFreeHost(host));
	must(cu.cuMemFree_v2(p));
}

/* The program's own memory, and a value that a stream writes into it. */
static void registered_memory_is_both(void **state)
{
	CUdeviceptr p = client_allocate(4096), seen;
	uint32_t *host = aligned_alloc(4096, 8192);
	uint64_t free_before, free_after, total;

	must(cu.cuMemGetInfo_v2(&free_before, &total));
	expect(CUDA_ERROR_INVALID_VALUE, cu.cuMemHostGetDevicePointer_v2(&seen, host, 0));
	must(cu.cuMemHostRegister_v2(host, 4096, CU_MEMHOSTREGISTER_DEVICEMAP));
	expect(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, cu.cuMemHostRegister_v2(host, 8192, 0));
	must(cu.cuMemGetInfo_v2(&free_after, &total));
	assert_int_equal(free_before, free_after);
	must(cu.cuMemHostGetDevicePointer_v2(&seen, &host[4], 0));
	must(cu.cuMemsetD8_v2(p, 9, 4096));
	must(cu.cuMemcpyDtoHAsync_v2(host, p, 4096, NULL));
	must(cu.cuStreamWriteValue32_v2(NULL, seen, 77, CU_STREAM_WRITE_VALUE_DEFAULT));
	assert_int_equal(host[3], 0x09090909);
	assert_int_equal(host[4], 77);
	must(cu.cuStreamWriteValue32_v2(NULL, p + 4092, 5, 0));
	expect(CUDA_ERROR_INVALID_VALUE, cu.cuStreamWriteValue32_v2(NULL, seen + 2, 1, 0));
	expect(CUDA_ERROR_INVALID_VALUE, cu.cuStreamWriteValue32_v2(NULL, p + 4096, 5, 0));
	must(cu.cuMemHostUnregister(host));
	expect(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cu.cuMemHostUnregister(host));
	expect(CUDA_ERROR_INVALID_VALUE, cu.cuMemHostGetDevicePointer_v2(&seen, host, 0));
	assert_int_equal(host[4], 77);
	must(cu.cuMemFree_v2(p));
	free(host);
}

/* ---- reservations ---- */

static CUmemGenericAllocationHandle make_chunk(size_t size)
{
	CUmemGenericAllocationHandle h;

	must(cu.cuMemCreate(&h, size, &device_memory, 0));
	return h;
}

static void map_chunk(CUdeviceptr at, size_t size)
{
	CUmemGenericAllocationHandle h = make_chunk(size);

	must(cu.cuMemMap(at, size, 0, h, 0));
	must(cu.cuMemSetAccess(at, size, &read_write, 1));
	must(cu.cuMemRelease(h)); /* lives on in its mapping */
}

static void hints_are_honoured_where_free(void **state)
{
	CUdeviceptr wanted = 0x7f1234000000 / HINT_STEP * HINT_STEP, a, b, c;

	must(cu.cuMemAddressReserve(&a, 3 * HINT_STEP, 0, wanted, 0));
	assert_true(a == wanted);
	/* Every kind of collision moves the reservation, without an error. */
	for (int i = -1; i < 3; i++) {
		must(cu.cuMemAddressReserve(&b, 2 * HINT_STEP, 0, wanted + i * HINT_STEP, 0));
		assert_true(b + 2 * HINT_STEP <= a || a + 3 * HINT_STEP <= b);
		must(cu.cuMemAddressFree(b, 2 * HINT_STEP));
	}
	must(cu.cuMemAddressReserve(&b, HINT_STEP, 0, wanted + 3 * HINT_STEP, 0));
	assert_true(b == wanted + 3 * HINT_STEP);
	must(cu.cuMemAddressReserve(&c, GRANULE, 0, wanted - GRANULE, 0));
	assert_true(c != wanted - GRANULE); /* no multiple of 32 MiB */
	must(cu.cuMemAddressFree(a, 3 * HINT_STEP));
	must(cu.cuMemAddressReserve(&a, 3 * HINT_STEP, 0, wanted, 0));
	assert_true(a == wanted);
	must(cu.cuMemAddressFree(a, 3 * HINT_STEP));
	must(cu.cuMemAddressFree(b, HINT_STEP));
	must(cu.cuMemAddressFree(c, GRANULE));
	expect(CUDA_ERROR_INVALID_VALUE, cu.cuMemAddressFree(c, GRANULE));
}

/* A replay restores at the addresses of another process's cuMemAlloc, before it allocates itself.
 */
static void allocations_avoid_reservations(void **state)
{
	CUdeviceptr p = client_allocate(5 << 20), around = p / HINT_STEP * HINT_STEP, r, q;

	must(cu.cuMemAddressReserve(&r, HINT_STEP, 0, around, 0));
	assert_true(r != around);
	must(cu.cuMemAddressFree(r, HINT_STEP));
	must(cu.cuMemFree_v2(p));
	must(cu.cuMemAddressReserve(&r, HINT_STEP, 0, around, 0));
	assert_true(r == around);
	q = client_allocate(5 << 20);
	assert_true(q + (5 << 20) <= r || r + HINT_STEP <= q);
	must(cu.cuMemFree_v2(q));
	must(cu.cuMemAddressFree(r, HINT_STEP));
}

static void chunks_are_one_memory(void **state)
{
	CUdeviceptr r, start, base;
	size_t size;

	must(cu.cuMemAddressReserve(&r, HINT_STEP, 0, 0, 0));
	map_chunk(r, GRANULE);
	map_chunk(r + GRANULE, 2 * GRANULE);
	map_chunk(r + 4 * GRANULE, GRANULE);
	check_filled(r, 3 * GRANULE, 0xff);
	must(cu.cuMemsetD8_v2(r + GRANULE - 8, 5, 16)); /* over the seam */
	check_filled(r + GRANULE - 8, 16, 5);
	expect(CUDA_ERROR_INVALID_VALUE, cu.cuMemsetD8_v2(r + 3 * GRANULE - 8, 5, 16));
	must(cu.cuMemGetAddressRange_v2(&base, &size, r + GRANULE + 5));
	assert_true(base == r + GRANULE);
	assert_int_equal(size, 2 * GRANULE);
	must(cu.cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, r + GRANULE));
	must(cu.cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, r + GRANULE));
	assert_true(start == r);
	assert_int_equal(size, HINT_STEP);
	expect(CUDA_ERROR_INVALID_VALUE, cu.cuMemUnmap(r + GRANULE, GRANULE));
	must(cu.cuMemUnmap(r, HINT_STEP));
	expect(CUDA_ERROR_NOT_FOUND, cu.cuMemGetAddressRange_v2(&base, &size, r));
	must(cu.cuMemAddressFree(r, HINT_STEP));
}

static void one_chunk_at_two_places(void **state)
{
	CUmemGenericAllocationHandle h = make_chunk(GRANULE);
	size_t before, after, total;
	CUdeviceptr r;

	must(cu.cuMemGetInfo_v2(&before, &total));
	must(cu.cuMemAddressReserve(&r, 2 * GRANULE, 0, 0, 0));
	must(cu.cuMemMap(r, GRANULE, 0, h, 0));
	must(cu.cuMemMap(r + GRANULE, GRANULE, 0, h, 0));
	must(cu.cuMemSetAccess(r, 2 * GRANULE, &read_write, 1));
	must(cu.cuMemsetD8_v2(r + 10, 3, 1));
	check_filled(r + GRANULE + 10, 1, 3);
	must(cu.cuMemRelease(h));
	expect(CUDA_ERROR_INVALID_VALUE, cu.cuMemRelease(h));
	must(cu.cuMemUnmap(r, GRANULE));
	check_filled(r + GRANULE + 10, 1, 3);
	must(cu.cuMemUnmap(r + GRANULE, GRANULE));
	must(cu.cuMemGetInfo_v2(&after, &total));
	assert_int_equal(after, before + GRANULE);
	must(cu.cuMemAddressFree(r, 2 * GRANULE));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fresh_memory_is_not_zero),
		cmocka_unit_test(allocations_are_apart),
		cmocka_unit_test(bounds_are_exact),
		cmocka_unit_test(memory_is_counted),
		cmocka_unit_test(pinned_memory_is_both),
		cmocka_unit_test(registered_memory_is_both),
		cmocka_unit_test(hints_are_honoured_where_free),
		cmocka_unit_test(allocations_avoid_reservations),
		cmocka_unit_test(chunks_are_one_memory),
		cmocka_unit_test(one_chunk_at_two_places),
	};

	return cmocka_run_group_tests(tests, client_open, NULL);
}
