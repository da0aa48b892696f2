/* SPDX-License-Identifier: MIT */
/* Roundoff on the way to each output, and exactness, of real kernels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "replay/precision.h"

static struct precision of_text(const char *ptx, const char *entry)
{
	struct precision p;
	struct error err = {0};

	if (precision_find(&p, ptx, strlen(ptx), entry, &err))
		fail_msg("%s", err.message);
	return p;
}

static struct precision of_kernel(const char *entry)
{
	_cleanup_free_ char *path =
		text_format("%s/replay/%s.ptx", getenv("KERNELAB_TEST_DATA"), entry);
	_cleanup_free_ char *ptx = NULL;
	size_t size;

	assert_int_equal(file_read_all(path, 1 << 24, &ptx, &size), 0);
	return of_text(ptx, entry);
}

/* f32 sums of f16 products; the cast to f16 goes through shared memory, but is the last step. */
static void a_matmul_sums_in_f32(void **state)
{
	struct precision p = of_kernel("matmul_k");

	assert_true(p.exact);
	assert_true(p.inner[2] == 0x1p-24);
	assert_true(p.cast[2] == 0x1p-11);
	assert_true(p.inner[0] == 0 && p.inner[1] == 0);
}

/* Shared memory serves the sums first and the cast output afterwards. */
static void what_is_stored_later_is_not_read_before(void **state)
{
	struct precision p = of_kernel("layernorm_k");

	assert_true(p.inner[3] == 0x1p-24);
	assert_true(p.cast[3] == 0x1p-8);
	assert_false(p.exact);
}

/* The order of such additions is not determined; of integers, and of maxima, it does not matter. */
static void atomic_additions_of_floats_are_found(void **state)
{
	static const struct {
		const char *statement;
		bool added;
	} rows[] = {{"red.global.add.f32 [%rd1], %f1;", true},
		    {"atom.global.gpu.acq_rel.add.noftz.f16x2 %r1, [%rd1], %r2;", true},
		    {"red.global.add.v4.f32 [%rd1], {%f1, %f1, %f1, %f1};", true},
		    {"atom.global.cas.b32 %r1, [%rd1], %r2, %r3;", true},
		    {"red.global.add.u32 [%rd1], %r1;", false},
		    {"atom.global.exch.b32 %r1, [%rd1], %r2;", false},
		    {"st.global.f32 [%rd1], %f1;", false}};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		_cleanup_free_ char *ptx = text_format(
			".version 8.0\n.target sm_90\n.address_size 64\n"
			".visible .entry k(\n.param .u64 k_param_0,\n.param .u64 k_param_1\n)\n{\n"
			"\tld.param.u64 %%rd1, [k_param_1];\n\t%s\n\tret;\n}\n",
			rows[i].statement);
		struct precision p = of_text(ptx, "k");

		assert_int_equal(p.added[1], rows[i].added);
		assert_false(p.added[0]);
	}
}

static void approximations_are_not_exact(void **state)
{
	assert_false(of_kernel("softmax_k").exact);
	assert_true(of_kernel("softmax_k").inner[1] == 0x1p-24);
	assert_true(of_kernel("atomic_k").exact);
}

#define HEAD                                                                            \
	".visible .entry k(\n.param .u64 p0,\n.param .u64 p1\n)\n{\n.reg .f32 %f<9>;\n" \
	"ld.param.u64 %rd1, [p0];\nld.param.u64 %rd2, [p1];\nld.global.f32 %f1, [%rd1];\n"
#define TAIL         "ret;\n}\n"
#define KERNEL(body) HEAD body TAIL

/* A cast on the way, as of the probabilities in attention, counts. */
static void casts_on_the_way_count(void **state)
{
	struct precision p = of_text(KERNEL("cvt.rn.bf16.f32 %rs1, %f1;\n"
					    "cvt.f32.bf16 %f2, %rs1;\n"
					    "add.f32 %f3, %f2, %f2;\n"
					    "st.global.f32 [%rd2], %f3;\n"),
				     "k");

	assert_true(p.inner[1] == 0x1p-8);
	assert_true(p.cast[1] == 0);
	assert_false(p.exact);
	p = of_text(KERNEL("add.f16 %rs1, %rs2, %rs3;\nst.global.b16 [%rd2], %rs1;\n"), "k");
	assert_true(p.inner[1] == 0x1p-11);
	assert_false(p.exact);
}

/* Errors that are documented of functions, on the way to an output only. */
static void functions_have_their_error(void **state)
{
	struct precision p = of_text(KERNEL("ex2.approx.ftz.f32 %f2, %f1;\n"
					    "rcp.approx.ftz.f32 %f3, %f2;\n"
					    "tanh.approx.f32 %f4, %f1;\n"
					    "st.global.f32 [%rd2], %f3;\n"),
				     "k");

	assert_true(p.function[1] == 0x1p-22);
	assert_true(p.inner[1] == 0x1p-24);
	assert_true(p.function[0] == 0);
	p = of_text(KERNEL("div.rn.f32 %f4, %f1, %f1;\nst.global.f32 [%rd2], %f4;\n"), "k");
	assert_true(p.function[1] == 0);
	assert_true(of_kernel("softmax_k").function[1] == 0x1p-22);
	assert_true(of_kernel("matmul_k").function[2] == 0);
}

/* Each as documented, no less and hardly more. */
static void errors_are_those_of_the_document(void **state)
{
	static const struct {
		const char *opcode;
		double log2;
	} known[] = {{"tanh.approx.bf16x2", -8},   {"tanh.approx.f16", -10.987},
		     {"tanh.approx.f32", -11},     {"ex2.approx.ftz.bf16", -7},
		     {"ex2.approx.f16x2", -9.9},   {"ex2.approx.f32", -22},
		     {"lg2.approx.ftz.f32", -22},  {"sin.approx.f32", -20.5},
		     {"cos.approx.f32", -20.5},    {"rsqrt.approx.ftz.f32", -22.9},
		     {"sqrt.approx.ftz.f32", -23}, {"rcp.approx.f32", -23},
		     {"div.approx.f32", -22},      {"div.full.f32", -22}};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		_cleanup_free_ char *ptx =
			text_format("%s%s %%f2, %%f1;\nst.global.f32 [%%rd2], %%f2;\n%s", HEAD,
				    known[i].opcode, TAIL);
		struct precision p = of_text(ptx, "k");
		double error = p.function[1];
		bool periodic = strstr(known[i].opcode, "sin.") || strstr(known[i].opcode, "cos.");

		assert_int_equal(p.periodic[1], periodic);
		if (log2(error) < known[i].log2 || log2(error) > known[i].log2 + 0.01)
			fail_msg("%s: 2^%g", known[i].opcode, log2(error));
	}
}

static void constants_must_be_small_integers(void **state)
{
	assert_true(
		of_text(KERNEL("mul.f32 %f2, %f1, 0f40000000;\nst.global.f32 [%rd2], %f2;\n"), "k")
			.exact);
	assert_false(
		of_text(KERNEL("mul.f32 %f2, %f1, 0f3F000001;\nst.global.f32 [%rd2], %f2;\n"), "k")
			.exact);
}

/* A loop carries shared memory from its end to its beginning. */
static void loops_carry_shared_memory(void **state)
{
	struct precision p = of_text(KERNEL("$L_loop:\n"
					    "ld.shared.b16 %rs2, [%r1];\n"
					    "cvt.f32.bf16 %f2, %rs2;\n"
					    "add.f32 %f3, %f3, %f2;\n"
					    "cvt.rn.bf16.f32 %rs1, %f1;\n"
					    "st.shared.b16 [%r1], %rs1;\n"
					    "@%p1 bra $L_loop;\n"
					    "st.global.f32 [%rd2], %f3;\n"),
				     "k");

	assert_true(p.inner[1] == 0x1p-8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_matmul_sums_in_f32),
		cmocka_unit_test(what_is_stored_later_is_not_read_before),
		cmocka_unit_test(approximations_are_not_exact),
		cmocka_unit_test(atomic_additions_of_floats_are_found),
		cmocka_unit_test(casts_on_the_way_count),
		cmocka_unit_test(functions_have_their_error),
		cmocka_unit_test(errors_are_those_of_the_document),
		cmocka_unit_test(constants_must_be_small_integers),
		cmocka_unit_test(loops_carry_shared_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
