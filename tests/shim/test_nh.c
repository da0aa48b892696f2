/* SPDX-License-Identifier: MIT */
/* The hash of contents: by its definition, by the CPU's code, and by the device's kernel. */
#include <stdlib.h>
#include <string.h>

#include "drv/driver.h"
#include "lib/base.h"
#include "shim/gpu_hash_ptx.h"
#include "shim/nh.h"
#include "tests/shim/cmocka_all.h"

static struct driver d;
static CUfunction function;
static CUdeviceptr memory, list, out;

/* Where the lengths are that matter: columns, rows, eight rows at a time, tails. */
static const uint32_t lengths[] = {
	1,     2,     7,     8,     9,      15,     16,     17,     31,     255,    256,
	4080,  4095,  4096,  4097,  4111,   4112,   8191,   28672,  32767,  32768,  32769,
	32784, 36864, 65536, 65535, 100000, 131072, 131071, 262128, 262143, 262144,
};

static void must(CUresult r)
{
	assert_int_equal(r, CUDA_SUCCESS);
}

/* The hash, as shim/nh.h defines it. */
static struct nh defined(const unsigned char *data, uint32_t bytes)
{
	const struct nh_keys *keys = nh_keys();
	static uint32_t words[NH_BYTES_MAX / 4], second[NH_COLUMNS * 8];
	struct nh h = {{0}};

	memset(words, 0, sizeof(words));
	memcpy(words, data, bytes);
	for (unsigned t = 0; t < NH_COLUMNS; t++)
		for (unsigned i = 0; i < 4; i++) {
			uint64_t sum = 0;

			for (uint32_t v = t; v < (bytes + 15) / 16; v += NH_COLUMNS)
				for (unsigned w = 0; w < 4; w += 2) {
					const uint32_t *k =
						&keys->first[2 + v / NH_COLUMNS * 4 + w + 2 * i];

					sum += (uint64_t)(words[4 * v + w] + k[0]) *
					       (words[4 * v + w + 1] + k[1]);
				}
			second[8 * t + 2 * i] = (uint32_t)sum;
			second[8 * t + 2 * i + 1] = (uint32_t)(sum >> 32);
		}
	for (unsigned i = 0; i < 4; i++)
		for (unsigned w = 0; w < NH_COLUMNS * 8; w += 2)
			h.sums[i] += (uint64_t)(second[w] + keys->second[w + 2 * i]) *
				     (second[w + 1] + keys->second[w + 1 + 2 * i]);
	return h;
}

static unsigned char *random_bytes(uint32_t seed)
{
	unsigned char *data = malloc(NH_BYTES_MAX + 64);
	uint32_t x = seed * 2654435761u + 1;

	assert_non_null(data);
	for (size_t i = 0; i < NH_BYTES_MAX + 64; i++) {
		x = x * 1664525u + 1013904223u;
		data[i] = (unsigned char)(x >> 24);
	}
	return data;
}

static void cpu_is_what_is_defined(void **state)
{
	_cleanup_free_ unsigned char *data = random_bytes(1);

	for (size_t i = 0; i < ARRAY_LENGTH(lengths); i++)
		for (unsigned shift = 0; shift < 2; shift++) {
			struct nh a = nh_hash(data + shift, lengths[i]);
			struct nh b = defined(data + shift, lengths[i]);

			assert_memory_equal(&a, &b, sizeof(a));
		}
}

static int open_device(void **state)
{
	struct error err = {0};
	CUcontext context;
	CUmodule module;
	CUdeviceptr keys;
	size_t size;

	if (driver_open(&d, "libcuda.so.1", &err) < 0)
		return -1;
	must(d.cuInit(0));
	must(d.cuDevicePrimaryCtxRetain(&context, 0));
	must(d.cuCtxSetCurrent(context));
	must(d.cuModuleLoadData(&module, gpu_hash_ptx));
	must(d.cuModuleGetFunction(&function, module, "kernelab_hash"));
	must(d.cuModuleGetGlobal_v2(&keys, &size, module, "keys"));
	assert_int_equal(size, sizeof(struct nh_keys));
	must(d.cuMemcpyHtoD_v2(keys, nh_keys(), size));
	must(d.cuMemAlloc_v2(&memory, NH_BYTES_MAX + 64));
	must(d.cuMemAlloc_v2(&list, sizeof(uint64_t[2]) * ARRAY_LENGTH(lengths)));
	must(d.cuMemAlloc_v2(&out, sizeof(struct nh) * ARRAY_LENGTH(lengths)));
	return 0;
}

/* All lengths in one launch, at both ends of an allocation. */
static void device_is_the_same(void **state)
{
	_cleanup_free_ unsigned char *data = random_bytes(2);
	struct nh hashes[ARRAY_LENGTH(lengths)];
	uint64_t pieces[ARRAY_LENGTH(lengths)][2];
	void *params[] = {&list, &out};

	must(d.cuMemcpyHtoD_v2(memory, data, NH_BYTES_MAX + 64));
	for (size_t i = 0; i < ARRAY_LENGTH(lengths); i++) {
		pieces[i][0] = memory + 16 * (i % 4);
		pieces[i][1] = lengths[i];
	}
	must(d.cuMemcpyHtoD_v2(list, pieces, sizeof(pieces)));
	must(d.cuLaunchKernel(function, ARRAY_LENGTH(lengths), 1, 1, NH_COLUMNS, 1, 1, 0, NULL,
			      params, NULL));
	must(d.cuMemcpyDtoH_v2(hashes, out, sizeof(hashes)));
	for (size_t i = 0; i < ARRAY_LENGTH(lengths); i++) {
		struct nh cpu = nh_hash(data + 16 * (i % 4), lengths[i]);

		assert_memory_equal(&hashes[i], &cpu, sizeof(cpu));
	}
}

/* Each of the bits of some places changes all four sums, and differently. */
static void every_bit_counts(void **state)
{
	_cleanup_free_ unsigned char *data = random_bytes(3);
	struct nh base = nh_hash(data, NH_BYTES_MAX), last = base;

	for (uint32_t bit = 0; bit < 8 * NH_BYTES_MAX; bit += 8191) {
		struct nh h;

		data[bit / 8] ^= (unsigned char)(1u << bit % 8);
		h = nh_hash(data, NH_BYTES_MAX);
		data[bit / 8] ^= (unsigned char)(1u << bit % 8);
		for (unsigned i = 0; i < 4; i++) {
			assert_true(h.sums[i] != base.sums[i]);
			assert_true(h.sums[i] != last.sums[i]);
		}
		last = h;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cpu_is_what_is_defined),
		cmocka_unit_test_setup(device_is_the_same, open_device),
		cmocka_unit_test(every_bit_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
