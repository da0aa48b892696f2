/* SPDX-License-Identifier: MIT */
/* Images that the software device loads, and those that it refuses: with the right error, no crash.
 */
#include "tests/softgpu/client.h"

#include <lz4.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PTX(version, target, body)                                         \
	".version " version "\n.target " target "\n.address_size 64\n"     \
	".visible .global .align 16 .b8 table[8] = {1, 2, 3, 4};\n"        \
	".visible .entry k(.param .u64 p, .param .u32 n, .param .f32 x)\n" \
	".reqntid 64\n{\n\t.reg .b64 %rd<4>;\n\t.reg .b32 %r<4>;\n" body "\tret;\n}\n"

static const char plain_ptx[] = PTX("8.0", "sm_80", "");

static CUresult load(const void *image)
{
	CUmodule m;
	CUresult r = cu.cuModuleLoadData(&m, image);

	if (r == CUDA_SUCCESS)
		must(cu.cuModuleUnload(m));
	return r;
}

static void cubins_with_ptx(void **state)
{
	static const struct {
		const char *file, *entry;
		size_t params, last_offset;
	} images[] = {{"softmax_k.cubin", "softmax_k", 5, 32},
		      {"layernorm_k.cubin", "layernorm_k", 8, 48},
		      {"atomic_k.cubin", "atomic_k", 5, 32}};

	for (size_t i = 0; i < sizeof(images) / sizeof(*images); i++) {
		size_t size, offset, bytes, count = 0;
		char *data = client_data(images[i].file, &size);
		CUmodule m, of;
		CUfunction f;
		const char *name;
		int value;

		must(cu.cuModuleLoadData(&m, data));
		free(data); /* the driver keeps a copy */
		f = client_function(m, images[i].entry);
		assert_true(f == client_function(m, images[i].entry));
		expect(CUDA_ERROR_NOT_FOUND, cu.cuModuleGetFunction(&f, m, "other"));
		must(cu.cuFuncGetName(&name, f));
		assert_string_equal(name, images[i].entry);
		must(cu.cuFuncGetModule(&of, f));
		assert_true(of == m);
		while (cu.cuFuncGetParamInfo(f, count, &offset, &bytes) == CUDA_SUCCESS)
			count++;
		assert_int_equal(count, images[i].params);
		assert_int_equal(offset, images[i].last_offset);
		assert_int_equal(bytes, 8);
		must(cu.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f));
		assert_int_equal(value, 128);
		must(cu.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, f));
		assert_in_range(value, 8, 255);
		must(cu.cuModuleUnload(m));
		expect(CUDA_ERROR_INVALID_HANDLE, cu.cuFuncGetName(&name, f));
	}
}

static void cubins_that_cannot_run(void **state)
{
	size_t size;
	char *data = client_data("softmax_k.cubin", &size);
	char *section = memmem(data, size, ".nv_debug_ptx_txt", 17);

	assert_non_null(section);
	*section = '_';
	expect(CUDA_ERROR_NO_BINARY_FOR_GPU, load(data)); /* no PTX in it */
	*section = '.';
	assert_int_equal(data[48], 90); /* e_flags */
	data[48] = data[50] = 80;
	expect(CUDA_ERROR_NO_BINARY_FOR_GPU, load(data));
	data[48] = data[50] = 100;
	expect(CUDA_ERROR_NO_BINARY_FOR_GPU, load(data));
	data[48] = data[50] = 90;
	data[18] ^= 1; /* e_machine: not CUDA's */
	expect(CUDA_ERROR_INVALID_IMAGE, load(data));
	free(data);
}

/* Cut cubins end where the next page is not mapped: a read beyond would crash. */
static void cut_and_flipped_cubins(void **state)
{
	size_t size, room;
	char *data = client_data("atomic_k.cubin", &size), *map, *end;

	room = (size + 8191) & ~(size_t)4095;
	map = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(map, MAP_FAILED);
	munmap(map + room - 4096, 4096);
	end = map + room - 4096;
	for (size_t n = 0; n < size; n += n < 64 ? 1 : 61) {
		memcpy(end - n, data, n);
		if (n)
			expect(CUDA_ERROR_INVALID_IMAGE, load(end - n));
	}
	srand(1);
	for (int i = 0; i < 300; i++) {
		memcpy(end - size, data, size);
		for (int k = 0; k < 3; k++) /* half of them in the headers */
			end[-(ptrdiff_t)size + rand() % (i % 2 ? (int)size : 64)] = (char)rand();
		load(end - size); /* any result, no crash */
	}
	munmap(map, room - 4096);
	free(data);
}

static void text_that_is_no_ptx(void **state)
{
	expect(CUDA_ERROR_INVALID_IMAGE, load(""));
	expect(CUDA_ERROR_INVALID_IMAGE, load("hello"));
	expect(CUDA_ERROR_INVALID_IMAGE, load("\x7f"));
	expect(CUDA_ERROR_INVALID_PTX, load(PTX("8.6", "sm_100", "")));
	must(load(plain_ptx));
	must(load(PTX("8.0", "sm_90a", "")));
}

static void messages_reach_the_caller(void **state)
{
	char text[200] = "unchanged", small[16];
	CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
				  CU_JIT_MAX_REGISTERS};
	void *values[] = {text, (void *)sizeof(text), (void *)64};
	CUmodule m;

	assert_int_not_equal(cu.cuModuleLoadDataEx(&m,
						   PTX("8.0", "sm_80", "\tfrobnicate.b32 %r1;\n"),
						   3, options, values),
			     CUDA_SUCCESS);
	assert_non_null(strstr(text, "frobnicate"));
	assert_int_equal((size_t)values[1], strlen(text) + 1);
	values[0] = small;
	values[1] = (void *)sizeof(small);
	assert_int_not_equal(cu.cuModuleLoadDataEx(&m,
						   PTX("8.0", "sm_80", "\tfrobnicate.b32 %r1;\n"),
						   2, options, values),
			     CUDA_SUCCESS);
	assert_int_equal(strlen(small), sizeof(small) - 1);
	values[0] = text;
	values[1] = (void *)sizeof(text);
	must(cu.cuModuleLoadDataEx(&m, plain_ptx, 3, options, values));
	assert_string_equal(text, "");
	must(cu.cuModuleUnload(m));
	options[0] = (CUjit_option)9999;
	expect(CUDA_ERROR_INVALID_VALUE, cu.cuModuleLoadDataEx(&m, plain_ptx, 3, options, values));
	expect(CUDA_ERROR_INVALID_VALUE, cu.cuModuleLoadDataEx(&m, plain_ptx, 3, NULL, values));
}

static void globals_are_memory(void **state)
{
	uint8_t bytes[8] = {0};
	CUdeviceptr p, again;
	CUmodule m, n;
	size_t size;

	must(cu.cuModuleLoadData(&m, plain_ptx));
	must(cu.cuModuleLoadData(&n, plain_ptx));
	must(cu.cuModuleGetGlobal_v2(&p, &size, m, "table"));
	assert_int_equal(size, 8);
	must(cu.cuMemcpyDtoH_v2(bytes, p, 8));
	assert_memory_equal(bytes, "\1\2\3\4\0\0\0", 8);
	must(cu.cuMemsetD8_v2(p, 9, 8));
	must(cu.cuModuleGetGlobal_v2(&again, NULL, n, "table"));
	assert_true(again != p);
	must(cu.cuMemcpyDtoH_v2(bytes, again, 8));
	assert_memory_equal(bytes, "\1\2\3\4\0\0\0", 8);
	expect(CUDA_ERROR_INVALID_VALUE, cu.cuMemFree_v2(p));
	expect(CUDA_ERROR_NOT_FOUND, cu.cuModuleGetGlobal_v2(&p, NULL, m, "k"));
	must(cu.cuModuleUnload(m));
	expect(CUDA_ERROR_INVALID_VALUE, cu.cuMemcpyDtoH_v2(bytes, p, 8));
	must(cu.cuModuleUnload(n));
}

/* ---- fatbins ---- */

struct fatbin {
	uint8_t bytes[65536];
	size_t used;
};

static void fatbin_add(struct fatbin *f, uint16_t kind, uint32_t arch, const void *data,
		       size_t size, uint64_t flags, uint64_t plain_size)
{
	uint8_t *e = f->bytes + f->used;
	uint64_t padded = (size + 7) & ~(uint64_t)7, total;

	memset(e, 0, 64);
	memcpy(e, &kind, 2);
	e[2] = e[3] = 1;
	e[4] = 64;
	memcpy(e + 8, &padded, 8);
	if (flags)
		memcpy(e + 16, &(uint32_t){(uint32_t)size}, 4);
	memcpy(e + 28, &arch, 4);
	memcpy(e + 40, &(uint64_t){flags | 0x11}, 8);
	memcpy(e + 56, &plain_size, 8);
	memcpy(e + 64, data, size);
	f->used += 64 + padded;
	total = f->used - 16;
	memcpy(f->bytes + 8, &total, 8);
}

static void fatbin_begin(struct fatbin *f)
{
	memset(f, 0, sizeof(*f));
	memcpy(f->bytes, "\x50\xed\x55\xba\x01\x00\x10\x00", 8);
	f->used = 16;
}

static void fatbins(void **state)
{
	static struct fatbin f;
	static char packed[4096];
	struct {
		uint32_t magic, version;
		const void *data, *unused;
	} wrapper = {0x466243b1, 1, f.bytes, NULL};
	size_t size;
	char *cubin = client_data("atomic_k.cubin", &size);
	int n = LZ4_compress_default(plain_ptx, packed, sizeof(plain_ptx), sizeof(packed));
	CUmodule m;

	fatbin_begin(&f);
	expect(CUDA_ERROR_NO_BINARY_FOR_GPU, load(f.bytes));
	fatbin_add(&f, 1, 100, "no PTX", 7, 0, 0); /* for a newer device: not looked at */
	expect(CUDA_ERROR_NO_BINARY_FOR_GPU, load(f.bytes));
	fatbin_add(&f, 1, 80, packed, (size_t)n, 0x8000, 100);
	expect(CUDA_ERROR_NO_BINARY_FOR_GPU, load(f.bytes)); /* zstd */
	fatbin_add(&f, 1, 80, packed, (size_t)n, 0x2000, sizeof(plain_ptx));
	must(cu.cuModuleLoadData(&m, f.bytes));
	client_function(m, "k");
	must(cu.cuModuleUnload(m));
	fatbin_add(&f, 2, 90, cubin, size, 0, 0);
	must(cu.cuModuleLoadData(&m, &wrapper));
	client_function(m, "atomic_k");
	must(cu.cuModuleUnload(m));
	memmove(f.bytes + 1, f.bytes, f.used); /* at an odd address */
	must(load(f.bytes + 1));
	memmove(f.bytes, f.bytes + 1, f.used);
	for (size_t i = 16; i < f.used; i += 13) { /* damaged in any place: no crash */
		uint8_t old = f.bytes[i];

		f.bytes[i] ^= 0xff;
		load(f.bytes);
		f.bytes[i] = old;
	}
	free(cubin);
}

static void modules_from_files(void **state)
{
	char path[512];
	CUmodule m;

	snprintf(path, sizeof(path), "%s/softmax_k.cubin", getenv("KERNELAB_TEST_DATA"));
	must(cu.cuModuleLoad(&m, path));
	client_function(m, "softmax_k");
	must(cu.cuModuleUnload(m));
	expect(CUDA_ERROR_FILE_NOT_FOUND, cu.cuModuleLoad(&m, "/nonexistent"));
	snprintf(path, sizeof(path), "%s/README.md", getenv("KERNELAB_TEST_DATA"));
	expect(CUDA_ERROR_INVALID_IMAGE, cu.cuModuleLoad(&m, path));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cubins_with_ptx),
		cmocka_unit_test(cubins_that_cannot_run),
		cmocka_unit_test(cut_and_flipped_cubins),
		cmocka_unit_test(text_that_is_no_ptx),
		cmocka_unit_test(messages_reach_the_caller),
		cmocka_unit_test(globals_are_memory),
		cmocka_unit_test(fatbins),
		cmocka_unit_test(modules_from_files),
	};

	return cmocka_run_group_tests(tests, client_open, NULL);
}
