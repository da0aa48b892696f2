/* SPDX-License-Identifier: MIT */
/* The shim's map and its measuring of code objects, apart from any driver. */
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "shim/benchmarks.h"
#include "shim/image_globals.h"
#include "shim/image_ptx.h"
#include "shim/images.h"
#include "shim/map.h"
#include "tests/shim/cmocka_all.h"
#include "tests/shim/run_client.h"

/* ---- map ---- */

#define KEYS 500

static int odd(void *value, void *data)
{
	return (uintptr_t)value & 1;
}

/* Against an array, with keys that collide (multiples of a page, as handles are). */
static void map_agrees_with_an_array(void **state)
{
	struct map m = {0};
	uintptr_t values[KEYS] = {0};
	size_t count = 0;

	srand(1);
	for (int turn = 0; turn < 20000; turn++) {
		unsigned i = (unsigned)rand() % KEYS;
		uint64_t key = 4096ull * (i + 1);

		if (rand() % 3) {
			count += !values[i];
			values[i] = (uintptr_t)turn + 1;
			assert_int_equal(map_put(&m, key, (void *)values[i]), 0);
		} else {
			assert_int_equal((uintptr_t)map_remove(&m, key), values[i]);
			count -= values[i] != 0;
			values[i] = 0;
		}
		assert_int_equal(m.count, count);
		if (turn % 4000 == 3999) {
			map_filter(&m, odd, NULL);
			for (size_t k = 0; k < KEYS; k++)
				if (values[k] & 1) {
					values[k] = 0;
					count--;
				}
		}
	}
	for (size_t k = 0; k < KEYS; k++)
		assert_int_equal((uintptr_t)map_get(&m, 4096ull * (k + 1)), values[k]);
	map_clear(&m);
	assert_null(map_get(&m, 4096));
}

/* ---- images ---- */

static void cubin_has_its_file_size(void **state)
{
	static const char *const entries[] = {"softmax_k", "tma_k"};

	for (size_t i = 0; i < ARRAY_LENGTH(entries); i++) {
		_cleanup_free_ char *path = cache_cubin(entries[i]), *data = NULL;
		enum image_kind kind;
		const void *start;
		size_t size, measured = 0;

		assert_int_equal(file_read_all(path, 1 << 20, &data, &size), 0);
		assert_true(image_measure(data, &kind, &start, &measured));
		assert_int_equal(kind, IMAGE_CUBIN);
		assert_ptr_equal(start, data);
		assert_int_equal(measured, size);
		assert_int_equal(image_kind_of(data, size), IMAGE_CUBIN);
	}
}

static void fatbin_with_and_without_wrapper(void **state)
{
	struct {
		uint32_t magic;
		uint16_t version, header_bytes;
		uint64_t bytes;
		char rest[100];
	} container = {0xba55ed50u, 1, 16, 100, ""};
	struct {
		uint32_t magic, version;
		const void *data, *more;
	} wrapper = {0x466243b1u, 1, &container, NULL};
	enum image_kind kind;
	const void *start;
	size_t size;

	assert_true(image_measure(&wrapper, &kind, &start, &size));
	assert_int_equal(kind, IMAGE_FATBIN);
	assert_ptr_equal(start, &container);
	assert_int_equal(size, 116);
	assert_true(image_measure(&container, &kind, &start, &size));
	assert_int_equal(size, 116);
	wrapper.data = NULL;
	assert_false(image_measure(&wrapper, &kind, &start, &size));
}

static void ptx_ends_at_its_nul(void **state)
{
	static const char text[] = "//\n// comment\n.version 8.7\n.target sm_90a\n";
	enum image_kind kind;
	const void *start;
	size_t size;

	assert_true(image_measure(text, &kind, &start, &size));
	assert_int_equal(kind, IMAGE_PTX);
	assert_int_equal(size, sizeof(text) - 1);
	assert_int_equal(image_kind_of(text, size), IMAGE_PTX);
	assert_int_equal(image_kind_of("", 0), IMAGE_UNKNOWN);
	assert_false(image_measure("what is this, an image?", &kind, &start, &size));
}

/* ---- benchmarks ---- */

static bool is_benchmark(const char *entry, enum origin origin)
{
	struct image image = {.origin = origin};
	struct kernel kernel = {.image = &image, .entry = (char *)entry};

	return benchmarks_kernel(&kernel);
}

/* Names as PyTorch 2.11 gives them: of a template alone, and of a model's generated code. */
static void template_names(void **state)
{
	static const char *const alone[] = {"triton_mm", "triton_bmm", "triton_convolution2d",
					    "triton_flex_attention", "triton_mm_plus_mm"};
	static const char *const model[] = {"triton_tem_fused_addmm_3",
					    "triton_poi_fused_mm_0",
					    "triton_mix_order_0",
					    "triton_",
					    "mm",
					    "triton_per_fused_bmm_1"};

	for (size_t i = 0; i < ARRAY_LENGTH(alone); i++) {
		assert_true(is_benchmark(alone[i], ORIGIN_INDUCTOR));
		assert_false(is_benchmark(alone[i], ORIGIN_TRITON));
	}
	for (size_t i = 0; i < ARRAY_LENGTH(model); i++)
		assert_false(is_benchmark(model[i], ORIGIN_INDUCTOR));
}

/* A cubin's debug section, with headers that lie too. */
static void ptx_of_a_cubin(void **state)
{
	_cleanup_free_ char *path = cache_cubin("softmax_k");
	struct image image = {.kind = IMAGE_CUBIN};
	_cleanup_free_ char *data = NULL, *text = NULL;
	size_t size = 0, whole;

	assert_int_equal(file_read_all(path, 1 << 20, &data, &whole), 0);
	image.data = data;
	image.size = whole;
	text = image_ptx(&image, 90, &size);
	assert_non_null(text);
	assert_non_null(memmem(text, size, ".visible .entry softmax_k", 25));
	for (size_t i = 0; i < 64; i++) { /* each byte of the header, large and small */
		char kept = data[i];

		for (int value = 0; value < 256; value += 51) {
			data[i] = (char)value;
			free(image_ptx(&image, 90, &size));
		}
		data[i] = kept;
	}
	for (image.size = 0; image.size < whole; image.size += 97)
		free(image_ptx(&image, 90, &size));
	image.kind = IMAGE_FATBIN;
	assert_null(image_ptx(&image, 90, &size));
}

/* ---- module variables ---- */

static const struct image_global *global(const struct image_globals *g, const char *name)
{
	for (size_t i = 0; i < g->count; i++)
		if (!strcmp(g->items[i].name, name))
			return &g->items[i];
	return NULL;
}

static void check_globals(const struct image_globals *g)
{
	assert_int_equal(g->count, 3); /* the text of an assert is left out */
	assert_null(g->unknown);
	assert_non_null(global(g, "acc"));
	assert_non_null(global(g, "perm"));
	assert_false(global(g, "acc")->constant);
	assert_true(global(g, "factors")->constant);
	assert_int_equal(global(g, "acc")->dtype, DTYPE_F32);
	assert_int_equal(global(g, "perm")->dtype, DTYPE_I32);
}

static void globals_of_ptx_and_cubin(void **state)
{
	_cleanup_free_ char *ptx = NULL, *cubin = NULL;
	struct image_globals g;
	size_t size;

	assert_int_equal(file_read_all(setting("PTX"), 1 << 20, &ptx, &size), 0);
	assert_int_equal(image_globals_find(&g, ptx, size, IMAGE_PTX), 0);
	check_globals(&g);
	image_globals_free(&g);
	assert_int_equal(file_read_all(setting("CUBIN"), 1 << 20, &cubin, &size), 0);
	assert_int_equal(image_globals_find(&g, cubin, size, IMAGE_CUBIN), 0);
	assert_int_equal(image_globals_types(&g, ptx, strlen(ptx)), 0);
	check_globals(&g);
	image_globals_free(&g);
	assert_int_equal(image_globals_find(&g, cubin, size, IMAGE_FATBIN), 0);
	assert_non_null(g.unknown);
}

static char *read_fatbin(const char *name, size_t *size)
{
	_cleanup_free_ char *path = text_format("%s/%s", setting("FATBINS"), name);
	char *data;

	assert_int_equal(file_read_all(path, 1 << 20, &data, size), 0);
	return data;
}

/* All entries are looked at; what is not read is told. */
static void globals_of_fatbins(void **state)
{
	static const char *const names[] = {"kernels.fatbin", "kernels-ptx.fatbin"};
	struct image_globals g;
	size_t size;

	for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
		_cleanup_free_ char *data = read_fatbin(names[i], &size);

		assert_int_equal(image_kind_of(data, size), IMAGE_FATBIN);
		assert_int_equal(image_glance(data), IMAGE_FATBIN);
		assert_int_equal(image_globals_find(&g, data, size, IMAGE_FATBIN), 0);
		check_globals(&g);
		image_globals_free(&g);
	}
	_cleanup_free_ char *zstd = read_fatbin("kernels-zstd.fatbin", &size);

	assert_int_equal(image_globals_find(&g, zstd, size, IMAGE_FATBIN), 0);
	assert_int_equal(g.count, 0);
	assert_non_null(strstr(g.unknown, "zstd"));
	image_globals_free(&g);
}

/* The text of the entry that runs: of another architecture it may be other text. */
static void ptx_of_fatbins(void **state)
{
	size_t size, text_size;
	_cleanup_free_ char *both = read_fatbin("kernels.fatbin", &size);
	struct image image = {.kind = IMAGE_FATBIN, .data = both, .size = size};
	_cleanup_free_ char *text = image_ptx(&image, 90, &text_size), *ptx = NULL, *zstd = NULL;
	_cleanup_free_ char *only = NULL;

	assert_non_null(text); /* the cubin's own: its lines end in NULs */
	assert_non_null(memmem(text, text_size, ".visible .entry named", 21));
	assert_null(memchr(text, '\n', text_size));
	assert_null(image_ptx(&image, 80, &text_size)); /* nothing in it for that */
	setenv("CUDA_FORCE_PTX_JIT", "1", 1);
	ptx = image_ptx(&image, 100, &text_size);
	unsetenv("CUDA_FORCE_PTX_JIT");
	assert_non_null(ptx);
	assert_non_null(strstr(ptx, ".visible .entry named("));
	only = read_fatbin("kernels-ptx.fatbin", &image.size);
	image.data = only;
	free(ptx);
	ptx = image_ptx(&image, 90, &text_size);
	assert_non_null(ptx);
	assert_int_equal(strlen(ptx), text_size);
	zstd = read_fatbin("kernels-zstd.fatbin", &image.size);
	image.data = zstd;
	assert_null(image_ptx(&image, 90, &text_size));
}

/* Headers, sizes and compressed bytes that are not true. */
static void broken_fatbins(void **state)
{
	size_t size, text_size;
	_cleanup_free_ char *data = read_fatbin("kernels.fatbin", &size);

	srand(11);
	for (unsigned turn = 0; turn < 4000; turn++) {
		size_t n = turn % 3 ? size : (size_t)rand() % size;
		_cleanup_free_ char *copy = malloc(n ? n : 1);
		struct image image = {.kind = IMAGE_FATBIN, .data = copy, .size = n};
		struct image_globals g;

		memcpy(copy, data, n);
		for (unsigned k = 0; n > 96 && k < 1 + turn % 8; k++)
			copy[(size_t)rand() % (turn % 2 ? 96 : n)] = (char)rand();
		assert_int_equal(image_globals_find(&g, copy, n, IMAGE_FATBIN), 0);
		image_globals_free(&g);
		free(image_ptx(&image, 90, &text_size));
	}
}

/* Exact copies: a sanitizer sees a byte beyond. */
static void globals_of_broken_images(void **state)
{
	_cleanup_free_ char *cubin = NULL;
	size_t size;

	assert_int_equal(file_read_all(setting("CUBIN"), 1 << 20, &cubin, &size), 0);
	srand(7);
	for (unsigned turn = 0; turn < 4000; turn++) {
		size_t n = turn % 3 ? size : (size_t)rand() % size;
		_cleanup_free_ char *copy = malloc(n ? n : 1);
		struct image_globals g;

		memcpy(copy, cubin, n);
		for (unsigned k = 0; n > 64 && k < 1 + turn % 8; k++)
			copy[(size_t)rand() % (turn % 2 ? 64 : n)] = (char)rand();
		assert_int_equal(image_globals_find(&g, copy, n, IMAGE_CUBIN), 0);
		image_globals_free(&g);
		assert_int_equal(image_globals_find(&g, copy, n, IMAGE_PTX), 0);
		image_globals_free(&g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(globals_of_ptx_and_cubin),
		cmocka_unit_test(globals_of_broken_images),
		cmocka_unit_test(globals_of_fatbins),
		cmocka_unit_test(ptx_of_fatbins),
		cmocka_unit_test(broken_fatbins),
		cmocka_unit_test(map_agrees_with_an_array),
		cmocka_unit_test(cubin_has_its_file_size),
		cmocka_unit_test(fatbin_with_and_without_wrapper),
		cmocka_unit_test(ptx_ends_at_its_nul),
		cmocka_unit_test(template_names),
		cmocka_unit_test(ptx_of_a_cubin),
	};

	return cmocka_run_group_tests_name("parts", tests, NULL, NULL);
}
