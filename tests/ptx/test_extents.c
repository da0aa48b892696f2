/* SPDX-License-Identifier: MIT */
/* Real kernels as address-recording variants on the software device: extents against the tensors.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "lib/ptx/table.h"
#include "tests/softgpu/client.h"

#define SEGMENT \
	(1u << 20) /* one allocation that holds all tensors, as a caching allocator has it */

struct measured {
	struct u64s reads, writes;
	bool merged, stopped;
	uint64_t outside;
	const char *reason; /* static, where the variant was refused */
};

static void measured_free(struct measured *m)
{
	free(m->reads.items);
	free(m->writes.items);
	*m = (struct measured){0};
}

static CUmodule load(const char *text, struct ptx_variant *v)
{
	struct error err;
	CUmodule module;

	assert_int_equal(ptx_instrument(v, text, strlen(text), &err), 0);
	assert_int_equal(v->count, 1);
	assert_null(v->entries[0].reason);
	must(cu.cuModuleLoadData(&module, v->text));
	return module;
}

static void measure(struct measured *m, const char *text, CUdeviceptr segment, unsigned grid,
		    unsigned shared, void **params)
{
	struct ptx_span span = {segment, SEGMENT};
	uint64_t head, bytes = ptx_table_bytes(&span, 1, UINT64_MAX, &head);
	_cleanup_free_ char *table = calloc(1, bytes);
	struct ptx_table *t = (struct ptx_table *)table;
	struct ptx_bitmaps bitmaps = {(const uint8_t *)table + head, NULL};
	CUdeviceptr at = client_allocate(bytes), symbol;
	struct ptx_variant v;
	CUmodule module = load(text, &v);
	size_t size;

	*m = (struct measured){0};
	must(cu.cuModuleGetGlobal_v2(&symbol, &size, module, PTX_TABLE_SYMBOL));
	assert_int_equal(size, 8);
	ptx_table_fill(table, at, &span, 1);
	must(cu.cuMemcpyHtoD_v2(at, table, bytes));
	must(cu.cuMemcpyHtoD_v2(symbol, &at, 8));
	must(cu.cuLaunchKernel(client_function(module, v.entries[0].name), grid, 1, 1, 128, 1, 1,
			       shared, NULL, params, NULL));
	must(cu.cuCtxSynchronize());
	must(cu.cuMemcpyDtoH_v2(table, at, bytes));
	assert_int_equal(t->ran, 1);
	assert_int_equal(ptx_table_ranges(&bitmaps, &span, 0, &m->reads, &m->writes, &m->merged),
			 0);
	m->stopped = t->stopped;
	m->outside = t->outside;
	must(cu.cuMemFree_v2(at));
	must(cu.cuModuleUnload(module));
	ptx_variant_free(&v);
}

static void pairs_are(const struct u64s *got, const uint64_t *want, size_t count)
{
	assert_int_equal(got->count, count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(got->items[i], want[i]);
}
#define PAIRS(got, ...)                                    \
	pairs_are(&(got), (const uint64_t[]){__VA_ARGS__}, \
		  sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

/* The segment with a pattern, which a variant must leave as it is. */
static CUdeviceptr segment_make(void)
{
	CUdeviceptr s = client_allocate(SEGMENT);

	must(cu.cuMemsetD32_v2(s, 0x3f803f80, SEGMENT / 4));
	return s;
}

static void segment_done(CUdeviceptr s)
{
	_cleanup_free_ uint32_t *now = malloc(SEGMENT);

	must(cu.cuMemcpyDtoH_v2(now, s, SEGMENT));
	for (size_t i = 0; i < SEGMENT / 4; i++)
		assert_int_equal(now[i], 0x3f803f80);
	must(cu.cuMemFree_v2(s));
}

static void softmax(void **state)
{
	_cleanup_free_ char *text = client_data("kernels/softmax_k.a.ptx", &(size_t){0});
	enum { ROWS = 8, COLUMNS = 1000 };
	CUdeviceptr s = segment_make(), x = s + 4096, y = s + 65536, scratch = 0;
	int n = COLUMNS;
	void *params[] = {&x, &y, &n, &scratch, &scratch};
	struct measured m;

	measure(&m, text, s, ROWS, 16, params);
	PAIRS(m.reads, 4096, ROWS * COLUMNS * 2);
	PAIRS(m.writes, 65536, ROWS * COLUMNS * 2);
	assert_false(m.stopped || m.merged);
	assert_int_equal(m.outside, 0);
	measured_free(&m);

	/* A tail: 5 of 8 columns fill less than a granule of each row, so that all of 80 bytes. */
	n = 5;
	measure(&m, text, s, ROWS, 16, params);
	PAIRS(m.reads, 4096, ROWS * 5 * 2);
	PAIRS(m.writes, 65536, ROWS * 5 * 2);
	measured_free(&m);
	segment_done(s);
}

static void layernorm(void **state)
{
	_cleanup_free_ char *text = client_data("kernels/layernorm_k.a.ptx", &(size_t){0});
	enum { ROWS = 4, COLUMNS = 1000 };
	CUdeviceptr s = segment_make(), x = s, w = s + 16384, b = s + 32768, y = s + 65536,
		    scratch = 0;
	float eps = 1e-5f;
	int n = COLUMNS;
	void *params[] = {&x, &w, &b, &y, &n, &eps, &scratch, &scratch};
	struct measured m;

	measure(&m, text, s, ROWS, 2048, params);
	PAIRS(m.reads, 0, ROWS * COLUMNS * 2, 16384, COLUMNS * 4, 32768, COLUMNS * 4);
	PAIRS(m.writes, 65536, ROWS * COLUMNS * 2);
	measured_free(&m);
	segment_done(s);
}

/* The sum is read and written; it lies in no region that is listed: told as outside. */
static void atomic_sum(void **state)
{
	_cleanup_free_ char *text = client_data("kernels/atomic_k.a.ptx", &(size_t){0});
	CUdeviceptr s = segment_make(), x = s + 256, sum = s + 128, scratch = 0, elsewhere;
	int n = 10000;
	void *params[] = {&x, &sum, &n, &scratch, &scratch};
	struct measured m;

	measure(&m, text, s, (10000 + 1023) / 1024, 16, params);
	PAIRS(m.reads, 128, 16, 256, 40000);
	PAIRS(m.writes, 128, 16);
	assert_int_equal(m.outside, 0);
	measured_free(&m);

	sum = elsewhere = client_allocate(4096);
	measure(&m, text, s, (10000 + 1023) / 1024, 16, params);
	PAIRS(m.reads, 256, 40000);
	assert_int_equal(m.writes.count, 0);
	assert_int_equal(m.outside, elsewhere);
	measured_free(&m);
	must(cu.cuMemFree_v2(elsewhere));
	segment_done(s);
}

/* Careful: the address of the second load comes from memory that the thread has written. */
static void reads_what_it_wrote(void **state)
{
	static const char head[] =
		".version 8.0\n.target sm_90\n.address_size 64\n"
		".visible .entry k(.param .u64 k_0, .param .u64 k_1) .reqntid 128 {\n"
		".reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .pred %p<4>;\n"
		"ld.param.b64 %rd1, [k_0];\nld.param.b64 %rd2, [k_1];\n";
	static const char indirect[] = "ld.global.b64 %rd3, [%rd1];\nld.global.b32 %r1, [%rd3];\n"
				       "st.global.b32 [%rd2], %r1;\nret;\n}\n";
	_cleanup_free_ char *harmless = text_format("%s%s", head, indirect);
	_cleanup_free_ char *own =
		text_format("%sst.global.b64 [%%rd1], %%rd2;\nbar.sync 0;\n%s", head, indirect);
	CUdeviceptr s = segment_make(), pointer = s + 512, y = s + 256, target = s + 1024;
	void *params[] = {&pointer, &y};
	struct measured m;

	must(cu.cuMemcpyHtoD_v2(pointer, &target, 8));
	measure(&m, harmless, s, 1, 0, params);
	PAIRS(m.reads, 512, 16, 1024, 16);
	PAIRS(m.writes, 256, 16);
	assert_false(m.stopped);
	measured_free(&m);
	measure(&m, own, s, 1, 0, params); /* the address is never used: it would be s + 1024 */
	assert_true(m.stopped);
	assert_int_equal(m.reads.count, 0);
	measured_free(&m);
	must(cu.cuMemsetD32_v2(pointer, 0x3f803f80, 2));
	segment_done(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(softmax),
		cmocka_unit_test(layernorm),
		cmocka_unit_test(atomic_sum),
		cmocka_unit_test(reads_what_it_wrote),
	};

	return cmocka_run_group_tests(tests, client_open, NULL);
}
