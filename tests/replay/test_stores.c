/* SPDX-License-Identifier: MIT */
/* Which parameters real and hand-written PTX stores through. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "replay/stored_type.h"
#include "replay/stores.h"

/* Pointer parameters (or descriptors) that the kernel stores through, by hand from its source. */
static const struct {
	const char *entry;
	uint64_t pointers, stored;
} kernels[] = {
	{"softmax_k", 0x3, 0x2},    /* X, Y */
	{"atomic_k", 0x3, 0x2},     /* X, sum: atom.add */
	{"layernorm_k", 0xf, 0x8},  /* X, W, B, Y */
	{"matmul_k", 0x7, 0x4},     /* A, B, C */
	{"tma_k", 0x1 | 0x20, 0x20} /* two descriptors: cp.async.bulk.tensor */
};

static void finds_the_outputs_of_real_kernels(void **state)
{
	const char *folder = getenv("KERNELAB_TEST_DATA");

	assert_non_null(folder);
	for (size_t i = 0; i < ARRAY_LENGTH(kernels); i++) {
		_cleanup_free_ char *path =
			text_format("%s/replay/%s.ptx", folder, kernels[i].entry);
		_cleanup_free_ char *text = NULL;
		struct stores s;
		struct error err;
		size_t size;

		assert_int_equal(file_read_all(path, 1 << 20, &text, &size), 0);
		if (stores_find(&s, text, size, kernels[i].entry, &err))
			fail_msg("%s", err.message);
		assert_int_equal(s.params & kernels[i].pointers, kernels[i].stored);
		assert_false(s.unknown);
		assert_true(s.statements > 40);
		assert_int_equal(stores_find(&s, text, size, "other_k", &err), -ENOENT);
	}
}

static struct stores find(const char *body)
{
	_cleanup_free_ char *text = text_format(".version 8.0\n.target sm_90\n.address_size 64\n"
						".visible .entry k(.param .u64 k_0, .param .u64 "
						"k_1, .param .u32 k_2)\n{\n%s\nret;\n}\n",
						body);
	struct stores s;
	struct error err;

	if (stores_find(&s, text, strlen(text), "k", &err))
		fail_msg("%s", err.message);
	return s;
}

static void follows_moves_and_loops(void **state)
{
	/* The register gets its value behind the store: a loop. */
	struct stores s = find("$L0:\n.loc 1 2 3\nst.global.u32 [%rd3+4], %r1;\n"
			       "ld.param.u64 %rd1, [k_1];\n{ mov.b64 %rd2, %rd1;\n}\n"
			       "@%p1 add.s64 %rd3, %rd2, 8; bra $L0;");

	assert_int_equal(s.params, 2);
	assert_false(s.unknown);
}

static void a_loaded_value_is_no_address(void **state)
{
	struct stores s = find("ld.param.u64 %rd1, [k_0]; ld.param.u64 %rd9, [k_1];\n"
			       "ld.global.u64 %rd2, [%rd1]; st.global.u64 [%rd9], %rd2;");

	assert_int_equal(s.params, 2);
	assert_false(s.unknown);
	s = find("ld.param.u64 %rd1, [k_0]; ld.global.u64 %rd2, [%rd1]; st.global.u64 [%rd2], 1;");
	assert_int_equal(s.params, 0);
	assert_true(s.unknown);
}

static void knows_what_is_no_global_store(void **state)
{
	struct stores s =
		find("ld.param.u64 %rd1, [k_0]; st.shared.b32 [%rd1], 1;\n"
		     "st.local.b32 [%rd1], 1; // st.global.b32 [%rd1], 1;\n"
		     "/* red.global.add.u32 [%rd1], 1; */ atom.shared.add.u32 %r1, [%rd1], 1;");

	assert_int_equal(s.params, 0);
	assert_false(s.unknown);
	s = find("ld.param.u64 %rd1, [k_0]; red.global.add.u32 [%rd1], 1;");
	assert_int_equal(s.params, 1);
	s = find("ld.param.u64 %rd1, [k_0]; st.u32 [%rd1], 1;");
	assert_int_equal(s.params, 1);
	s = find("call.uni helper, (a);");
	assert_true(s.unknown);
	s = find("call.uni __assertfail, (a);");
	assert_false(s.unknown);
}

static void survives_cut_text(void **state)
{
	const char *folder = getenv("KERNELAB_TEST_DATA");
	_cleanup_free_ char *path = text_format("%s/replay/softmax_k.ptx", folder);
	_cleanup_free_ char *text = NULL;
	struct stores s;
	size_t size;

	assert_int_equal(file_read_all(path, 1 << 20, &text, &size), 0);
	for (size_t n = 0; n < size; n += 7) {
		_cleanup_free_ char *cut = malloc(n ? n : 1);

		memcpy(cut, text, n);
		stores_find(&s, cut, n, "softmax_k", NULL);
	}
}

static enum dtype type_of(const char *ir)
{
	return ir_stored_type(ir, strlen(ir));
}

static void stored_types_of_ir(void **state)
{
	assert_int_equal(type_of(""), DTYPE_UNKNOWN);
	assert_int_equal(
		type_of("    tt.store %15, %16, %8 : tensor<128x64x!tt.ptr<bf16>> loc(#l)\n"
			"    tt.store %1, %2 : !tt.ptr<bf16> loc(#l)\n"
			"    %3 = tt.load %4 : !tt.ptr<i64> loc(#l)\n"),
		DTYPE_BF16);
	assert_int_equal(type_of("tt.store %1, %2 : !tt.ptr<bf16>\ntt.store %1, %2 : !tt.ptr<f32>"),
			 DTYPE_UNKNOWN);
	assert_int_equal(type_of("%1 = tt.atomic_rmw fadd, acq_rel, gpu, %S, %0, %true : "
				 "(!tt.ptr<f32>, f32, i1) -> f32 loc(#loc1)"),
			 DTYPE_F32);
	assert_int_equal(type_of("tt.descriptor_store %d[%a, %b], %v : "
				 "!tt.tensordesc<tensor<128x64xf16>>, tensor<128x64xf16>"),
			 DTYPE_F16);
	assert_int_equal(type_of("tt.descriptor_store %d[%a], %v : !tt.tensordesc<oddity>"),
			 DTYPE_UNKNOWN);
	assert_int_equal(type_of("tt.store %1, %2 : !tt.ptr<"), DTYPE_UNKNOWN);
}

static void stored_types_of_ptx(void **state)
{
	static const char *const bodies[] = {
		"st.global.f32 [%rd1], %f1;\nst.global.v4.f32 [%rd1], {%f1,%f1,%f1,%f1};",
		"st.global.f32 [%rd1], %f1;\nst.global.b32 [%rd1], %r1;",
		"red.global.add.f64 [%rd1], %fd1;\nst.shared.b32 [%r1], %r2;"};
	static const enum dtype expected[] = {DTYPE_F32, DTYPE_UNKNOWN, DTYPE_F64};

	for (size_t i = 0; i < 3; i++) {
		char text[512];
		struct stores s;

		snprintf(text, sizeof(text),
			 ".visible .entry k(.param .u64 k_param_0)\n{\nld.param.u64 %%rd1, "
			 "[k_param_0];\n%s\nret;\n}\n",
			 bodies[i]);
		assert_int_equal(stores_find(&s, text, strlen(text), "k", NULL), 0);
		assert_int_equal(s.dtype, expected[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stored_types_of_ir),
		cmocka_unit_test(stored_types_of_ptx),
		cmocka_unit_test(finds_the_outputs_of_real_kernels),
		cmocka_unit_test(follows_moves_and_loops),
		cmocka_unit_test(a_loaded_value_is_no_address),
		cmocka_unit_test(knows_what_is_no_global_store),
		cmocka_unit_test(survives_cut_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
