/* SPDX-License-Identifier: MIT */
/* What the rewriter of PTX refuses, keeps and leaves out; the arithmetic of ranges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base.h"
#include "lib/pairs.h"
#include "lib/ptx/pieces.h"
#include "lib/ptx/table.h"

static char *kernel(const char *body)
{
	return text_format(".version 8.0\n.target sm_90a\n.address_size 64\n"
			   ".visible .entry k(.param .u64 .ptr .global .align 1 k_0, "
			   ".param .align 64 .b8 k_1[128]) {\n.reg .b64 %%rd<9>;\n"
			   ".reg .b32 %%r<9>;\n.reg .pred %%p<4>;\n%s\nret;\n}\n",
			   body);
}

static void variant_of(struct ptx_variant *v, const char *body)
{
	_cleanup_free_ char *text = kernel(body);
	struct error err;

	assert_int_equal(ptx_instrument(v, text, strlen(text), &err), 0);
	assert_int_equal(v->count, 1);
	assert_string_equal(v->entries[0].name, "k");
	assert_ptr_equal(ptx_variant_find(v, "k"), &v->entries[0]);
	assert_null(ptx_variant_find(v, "l"));
}

/* The entry's text, behind the generated function. */
static const char *entry_text(const struct ptx_variant *v)
{
	return strstr(v->text, ".visible .entry");
}

static void refuses(void **state)
{
	static const struct {
		const char *body, *reason;
	} cases[] = {
		{"atom.global.add.u32 %r1, [%rd1], 1;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;\nL:",
		 "depends on the result of an atomic"},
		{"L: ld.acquire.gpu.global.b32 %r1, [%rd1];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;",
		 "depends on the result of an atomic"},
		{"ld.volatile.global.b64 %rd2, [%rd1];\nld.global.b32 %r1, [%rd2];",
		 "depends on the result of an atomic"},
		/* through shared memory */
		{"atom.global.add.u32 %r1, [%rd1], 1;\nst.shared.b32 [%r2], %r1;\n"
		 "ld.shared.b32 %r3, [%r2];\ncvt.u64.u32 %rd3, %r3;\nld.global.b32 %r4, [%rd3];",
		 "depends on the result of an atomic"},
		{"ld.global.b32 %r1, [%rd1];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bar.sync 1, 64;",
		 "its barriers count arrivals"},
		{"multimem.ld_reduce.global.add.f32 %r1, [%rd1];", "not known: multimem"},
		{"foo.global.b32 %r1, [%rd1];", "not known: foo.global.b32"},
		{"ld.global.e8m0 %r1, [%rd1];", "a load that cannot be read"},
		{"call vprintf, (%r1);", "it calls a function"},
		{"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
		 "[%r1], [%rd1, {%r2, %r3}], [%r4];",
		 "TMA descriptor that is no parameter"},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		struct ptx_variant v;

		variant_of(&v, cases[i].body);
		assert_non_null(v.entries[0].reason);
		if (!strstr(v.entries[0].reason, cases[i].reason))
			fail_msg("%s: %s", cases[i].body, v.entries[0].reason);
		assert_null(strstr(entry_text(&v), "klab_note")); /* its text is untouched */
		ptx_variant_free(&v);
	}
}

static void keeps_and_drops(void **state)
{
	static const struct {
		const char *body, *kept, *dropped;
	} cases[] = {
		{"@%p1 st.global.v4.b32 [%rd1+16], {%r1, %r2, %r3, %r4};", "mov.b32 klab_n, 16",
		 "st.global"},
		{"red.global.add.f32 [%rd1], %r1;", "[klab_p2], 3", "red.global"},
		{"@!%p1 atom.global.add.v2.f32 {%r1, _}, [%rd1], {%r3, %r4};",
		 "@!%p1 mov.b32 %r1, 0;", "atom.global"},
		{"ld.global.nc.L1::evict_last.v2.b64 {%rd2, %rd3}, [%rd1+-8];",
		 "ld.global.nc.L1::evict_last.v2.b64", "#"},
		{"ld.global.nc.v2.b64 {%rd2, %rd3}, [%rd1+-8];", "add.s64 klab_a, klab_a, -8;",
		 "#"},
		{"cp.async.ca.shared.global [%r1], [%rd1], 4, %r2;", "mov.b32 klab_n, %r2", "#"},
		{"cp.async.ca.shared.global [%r1], [%rd1], 4, %p2;",
		 "selp.b32 klab_n, 0, klab_n, %p2", "#"},
		{"cp.async.cg.shared.global.L2::cache_hint [%r1], [%rd1], 16, %rd3;",
		 "mov.b32 klab_n, 16", "#"},
		{"st.b32 [%rd1], %r1;", "@klab_h st.b32 [%rd1], %r1;", "#"},
		{"st.shared.b32 [%r1], %r2;", "\nst.shared.b32 [%r1], %r2;", "klab_a"},
		{"cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], %r2;", "[klab_p2], 2",
		 "cp.async.bulk"},
		{"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], "
		 "64, [%r2];",
		 "cp.async.bulk.shared", "#"},
		{"trap;", "exit;", "trap"},
		{"/* st.global.b32 [%rd1], %r1; */ // st.global", "ret;", "st.global"},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		struct ptx_variant v;

		variant_of(&v, cases[i].body);
		if (v.entries[0].reason || !strstr(entry_text(&v), cases[i].kept) ||
		    strstr(entry_text(&v), cases[i].dropped))
			fail_msg("%s: %s", cases[i].body,
				 v.entries[0].reason ? v.entries[0].reason : entry_text(&v));
		assert_false(v.entries[0].careful);
		ptx_variant_free(&v);
	}
}

static void tensors(void **state)
{
	struct ptx_variant v;

	variant_of(&v, "mov.b64 %rd1, k_1;\ncvta.param.u64 %rd2, %rd1;\n"
		       "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
		       " [%r1], [%rd2, {%r2, %r3}], [%r4];");
	assert_null(v.entries[0].reason);
	assert_int_equal(v.entries[0].tensor_reads, 2);
	assert_int_equal(v.entries[0].tensor_writes, 0);
	assert_non_null(strstr(entry_text(&v), "cp.async.bulk.tensor"));
	ptx_variant_free(&v);
	variant_of(&v, "mov.b64 %rd1, k_1;\ncvta.param.u64 %rd2, %rd1;\n"
		       "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd2, {%r2, %r3}], "
		       "[%r1];");
	assert_int_equal(v.entries[0].tensor_reads, 0);
	assert_int_equal(v.entries[0].tensor_writes, 2);
	assert_null(strstr(entry_text(&v), "cp.async.bulk.tensor"));
	ptx_variant_free(&v);
}

static void careful(void **state)
{
	struct ptx_variant v;

	variant_of(&v, "ld.global.b64 %rd2, [%rd1];\nld.global.b32 %r1, [%rd2];");
	assert_null(v.entries[0].reason);
	assert_true(v.entries[0].careful);
	ptx_variant_free(&v);
}

static void hostile(void **state)
{
	static const char *const texts[] = {"",
					    ".version 8.0\n",
					    ".visible .entry",
					    ".visible .entry k() {",
					    ".visible .entry k() { ld.global.b32 }",
					    ".visible .entry k( { ret; }",
					    ".section {",
					    "ret;",
					    ".func f() { ret; }",
					    ".visible .entry k() { @ ; }",
					    ".visible .entry k() { mov.b32 %r1, (; ret; }"};

	for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
		struct error err = {0};
		struct ptx_variant v;

		assert_true(ptx_instrument(&v, texts[i], strlen(texts[i]), &err) < 0);
		assert_true(err.message[0]);
		assert_null(v.text);
	}
}

static void ranges(void **state)
{
	struct ptx_span span = {1000, 16 * 4096}; /* the first granule begins before it */
	uint64_t head, bytes = ptx_table_bytes(&span, 1, 1 << 20, &head);
	_cleanup_free_ uint8_t *table = calloc(1, bytes);
	uint8_t *bits = table + head;
	struct ptx_bitmaps bitmaps = {bits, NULL};
	struct u64s reads, writes;
	uint64_t first, length;
	bool merged = false;

	assert_int_equal(ptx_table_bytes(&span, 1, 1000, &head), 0);
	bits[0] = 0x83; /* granules 0, 1, 7 */
	bits[1] = 1;    /* 8 */
	bits[512] = 1;  /* the last one, of 8 bytes */
	assert_int_equal(ptx_table_ranges(&bitmaps, &span, 0, &reads, &writes, &merged), 0);
	assert_int_equal(reads.count, 6);
	assert_int_equal(reads.items[0], 0);
	assert_int_equal(reads.items[1], 24); /* the granule at 992 has 8 bytes of the span */
	assert_int_equal(reads.items[2], 7 * 16 - 8);
	assert_int_equal(reads.items[3], 32);
	assert_int_equal(reads.items[4], 4096 * 16 - 8);
	assert_int_equal(reads.items[5], 8);
	assert_int_equal(writes.count, 0);
	assert_false(merged);
	assert_true(pairs_touch(&reads, 23, 1));
	assert_false(pairs_touch(&reads, 24, 80));
	assert_true(pairs_touch(&reads, 24, 81));
	assert_false(pairs_touch(&reads, 16 * 4096, 9));
	assert_true(pairs_next(&reads, 5, &first, &length));
	assert_int_equal(first, 5);
	assert_int_equal(length, 19);
	assert_true(pairs_next(&reads, 24, &first, &length));
	assert_int_equal(first, 7 * 16 - 8);
	assert_int_equal(length, 32);
	assert_true(pairs_next(&reads, 4096 * 16 - 1, &first, &length));
	assert_int_equal(length, 1);
	assert_false(pairs_next(&reads, 4096 * 16, &first, &length));
	assert_int_equal(pairs_add(&reads, 24, 80), 0);
	assert_int_equal(reads.count, 4);
	assert_int_equal(pairs_bytes(&reads), 136 + 8);
	assert_int_equal(pairs_add(&reads, 200, 8), 0);
	assert_int_equal(reads.items[2], 200);
	assert_int_equal(reads.items[4], 4096 * 16 - 8);
	assert_true(pairs_valid(&reads, 16 * 4096));
	assert_false(pairs_valid(&reads, 16 * 4096 - 1));
	reads.items[2] = 100; /* overlaps the first */
	assert_false(pairs_valid(&reads, 16 * 4096));
	free(reads.items);

	for (size_t i = 0; i < 512; i++) /* 2048 ranges */
		bits[i] = 0x55;
	assert_int_equal(ptx_table_ranges(&bitmaps, &span, 0, &reads, &writes, &merged), 0);
	assert_true(merged);
	assert_true(reads.count <= 2 * PTX_RANGES_MAX);
	assert_int_equal(reads.items[0], 0);
	free(reads.items);
	free(writes.items);
}

/* Runs of random lengths, most of them longer than a word, against one granule at a time. */
static void random_ranges(void **state)
{
	struct ptx_span span = {4096, 16 * 5000};
	uint64_t head, bytes = ptx_table_bytes(&span, 1, 1 << 20, &head);
	uint32_t x = 1;

	for (int round = 0; round < 300; round++) {
		_cleanup_free_ uint8_t *table = calloc(1, bytes);
		struct ptx_bitmaps bitmaps = {table + head, NULL};
		unsigned most = 1u << round % 11, ranges = 0, last = 0;
		struct u64s reads, writes;
		bool merged = false;

		for (unsigned i = 0, set = 0; i < 5000; set = !set) {
			unsigned n = 1 + ((x = x * 1664525 + 1013904223) >> 8) % most;

			for (; n && i < 5000; n--, i++)
				table[head + i / 8] |= (uint8_t)(set << i % 8);
		}
		assert_int_equal(ptx_table_ranges(&bitmaps, &span, 0, &reads, &writes, &merged), 0);
		for (unsigned i = 0; i < 5000; i++) {
			unsigned bit = table[head + i / 8] >> i % 8 & 1;

			ranges += bit && !last;
			last = bit;
			assert_true(merged || pairs_touch(&reads, 16ull * i, 16) == bit);
		}
		assert_true(merged ? reads.count <= 2 * PTX_RANGES_MAX && ranges > PTX_RANGES_MAX
				   : reads.count == 2 * ranges);
		free(reads.items);
		free(writes.items);
	}
}

/* As the kernel of shim/pieces.c. */
static void find_kinds(uint8_t *kinds, const uint8_t *bits, size_t count)
{
	for (size_t i = 0; i < count; i++, bits += PTX_PIECE_BYTES) {
		bool any = false, all = true;

		for (size_t k = 0; k < PTX_PIECE_BYTES; k++) {
			any = any || bits[k];
			all = all && bits[k] == 0xff;
		}
		kinds[i] = all ? PTX_PIECE_ALL : any ? PTX_PIECE_MIXED : PTX_PIECE_NONE;
	}
}

static void same_ranges(const struct ptx_bitmaps *whole, const struct ptx_bitmaps *brought,
			const struct ptx_span *spans, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct u64s a[2], b[2];
		bool merged[2] = {false, false};

		assert_int_equal(ptx_table_ranges(whole, spans, i, &a[0], &a[1], &merged[0]), 0);
		assert_int_equal(ptx_table_ranges(brought, spans, i, &b[0], &b[1], &merged[1]), 0);
		assert_int_equal(merged[0], merged[1]);
		for (int k = 0; k < 2; k++) {
			assert_int_equal(a[k].count, b[k].count);
			if (a[k].count)
				assert_memory_equal(a[k].items, b[k].items,
						    a[k].count * sizeof(uint64_t));
			free(a[k].items);
			free(b[k].items);
		}
	}
}

/* Bitmaps of which only some pieces are brought say the same as all of them. */
static void pieces_of_bitmaps(void **state)
{
	const struct ptx_span spans[] = {
		{4096, 9 << 20}, {64 << 20, 100}, {(65 << 20) + 8, (20 << 20) + 24}};
	uint64_t head, bytes = ptx_table_bytes(spans, 3, 1 << 20, &head);
	size_t count = (bytes - head + PTX_PIECE_BYTES - 1) / PTX_PIECE_BYTES;
	uint32_t x = 7;

	for (unsigned round = 0; round < 36; round++) {
		_cleanup_free_ uint8_t *bits = calloc(count, PTX_PIECE_BYTES);
		_cleanup_free_ uint8_t *packed = calloc(count, PTX_PIECE_BYTES);
		_cleanup_free_ uint8_t *kinds = malloc(count);
		uint64_t most = 1ull << (4 + round % 18), all = 8 * (bytes - head);
		struct ptx_pieces p;
		uint32_t copied = 0;

		for (uint64_t i = 0, set = round % 2; i < all; set = !set) {
			uint64_t n = 1 + ((x = x * 1664525 + 1013904223) >> 4) % most;

			for (; n && i < all; n--, i++)
				bits[i / 8] |= (uint8_t)(set << i % 8);
		}
		find_kinds(kinds, bits, count);
		assert_int_equal(ptx_pieces_plan(&p, kinds, count), 0);
		assert_true(p.run_count <= PTX_PIECE_RUNS_MAX);
		for (size_t r = 0; r < p.run_count; r++) {
			memcpy(packed + (size_t)copied * PTX_PIECE_BYTES,
			       bits + (size_t)p.runs[r].first * PTX_PIECE_BYTES,
			       (size_t)p.runs[r].count * PTX_PIECE_BYTES);
			copied += p.runs[r].count;
		}
		assert_int_equal(copied, p.brought);
		if (round % 18 == 17)
			assert_true(copied < count / 2); /* or it would be no use */
		same_ranges(&(struct ptx_bitmaps){bits, NULL},
			    &(struct ptx_bitmaps){packed, p.where}, spans, 3);
		ptx_pieces_free(&p);
	}
}

/* More runs than are copied one by one. */
static void many_runs_of_pieces(void **state)
{
	enum { COUNT = 100000 };
	uint8_t *kinds = calloc(1, COUNT);
	struct ptx_pieces p;

	for (size_t i = 0; i < COUNT; i += 500)
		kinds[i] = i % 1000 ? PTX_PIECE_MIXED : 77; /* what is no kind is brought */
	assert_int_equal(ptx_pieces_plan(&p, kinds, COUNT), 0);
	assert_true(p.run_count && p.run_count <= PTX_PIECE_RUNS_MAX);
	for (size_t i = 0; i < COUNT; i += 500)
		assert_true(p.where[i] < p.brought);
	assert_int_equal(p.where[COUNT - 1], PTX_WHERE_NONE);
	ptx_pieces_free(&p);
	memset(kinds, PTX_PIECE_ALL, COUNT);
	assert_int_equal(ptx_pieces_plan(&p, kinds, COUNT), 0);
	assert_int_equal(p.run_count, 0);
	assert_int_equal(p.where[COUNT / 2], PTX_WHERE_ALL);
	ptx_pieces_free(&p);
	free(kinds);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refuses),
		cmocka_unit_test(keeps_and_drops),
		cmocka_unit_test(tensors),
		cmocka_unit_test(careful),
		cmocka_unit_test(hostile),
		cmocka_unit_test(ranges),
		cmocka_unit_test(random_ranges),
		cmocka_unit_test(pieces_of_bitmaps),
		cmocka_unit_test(many_runs_of_pieces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
