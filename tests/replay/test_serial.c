/* SPDX-License-Identifier: MIT */
/* Lengths of serial sums, from recorded Triton IR and from small texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base.h"
#include "replay/serial.h"

static uint64_t of_text(const char *text, const int64_t *values, size_t count)
{
	struct serial_argument arguments[8] = {0};
	uint64_t length;

	for (size_t i = 0; i < count; i++) /* negative: no integer */
		arguments[i] = (struct serial_argument){values[i] >= 0, values[i]};
	assert_int_equal(serial_find(&length, text, strlen(text), arguments, count), 0);
	return length;
}

#define HEAD                                                                        \
	"module {\n  tt.func public @k(%x: !tt.ptr<f32> loc(\"x\"(#loc)), %n: i32 " \
	"loc(\"n\"(#loc))) {\n"
#define LOOP(high)                                                                             \
	"    %c0 = arith.constant 0 : i32 loc(#loc1)\n    %c1 = arith.constant 1 : i32\n"      \
	"    %c63 = arith.constant 63 : i32\n    %c64 = arith.constant 64 : i32\n"             \
	"    %0 = arith.addi %n, %c63 : i32\n    %1 = arith.divsi %0, %c64 : i32\n"            \
	"    %acc:2 = scf.for %k = %c0 to " high " step %c1 iter_args(%p = %a, %s = %cst) -> " \
	"(tensor<64x!tt.ptr<f32>>, tensor<64x64xf32>)  : i32 {\n"
#define TAIL "      scf.yield %p, %t\n    } loc(#loc9)\n    tt.return\n  }\n}\n"

static void test_loops(void **state)
{
	static const int64_t values[] = {-1, 10000};

	assert_int_equal(
		of_text(HEAD LOOP("%1") "      %t = arith.addf %s, %v : tensor<64x64xf32>\n" TAIL,
			values, 2),
		157);
	assert_int_equal(
		of_text(HEAD LOOP("%1") "      %t = tt.dot %v, %w, %s, inputPrecision = ieee : "
					"tensor<64x32xf32> * tensor<32x64xf32> -> "
					"tensor<64x64xf32> loc(#loc3)\n" TAIL,
			values, 2),
		157 * 32);
	/* a bound that nobody knows; a loop that adds nothing up; no loop; no Triton IR */
	assert_int_equal(
		of_text(HEAD LOOP("%q") "      %t = arith.addf %s, %v : tensor<64x64xf32>\n" TAIL,
			values, 2),
		0);
	assert_int_equal(
		of_text(HEAD LOOP("%1") "      %t = arith.mulf %s, %v : tensor<64x64xf32>\n" TAIL,
			values, 2),
		1);
	assert_int_equal(of_text(HEAD "    %t = arith.addf %s, %v : tensor<64xf32>\n  }\n}\n",
				 values, 2),
			 1);
	assert_int_equal(of_text("nothing", values, 2), 0);
	assert_int_equal(of_text("tt.func public @k(%x", values, 2), 1);
}

/* One loop within another, each carrying floats; the inner one's count by a minimum. */
static void test_nested(void **state)
{
	static const int64_t values[] = {-1, 100};
	const char *text = HEAD
		"    %c0 = arith.constant 0 : i32\n    %c1 = arith.constant 1 : i32\n"
		"    %c7 = arith.constant 7 : i32\n    %m = arith.minsi %n, %c7 : i32\n"
		"    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (f32)  : i32 {\n"
		"      %q = scf.for %j = %c0 to %m step %c1 iter_args(%u = %s) -> (f32)  : i32 {\n"
		"        %w = arith.addf %u, %v : f32\n        scf.yield %w : f32\n      }\n"
		"      scf.yield %q : f32\n    }\n    tt.return\n  }\n}\n";

	assert_int_equal(of_text(text, values, 2), 700);
}

static void test_recorded(void **state)
{
	_cleanup_free_ char *path =
		text_format("%s/replay/red_sum.ttir", getenv("KERNELAB_TEST_DATA"));
	_cleanup_free_ char *text = NULL;
	uint64_t length;
	size_t size;

	assert_int_equal(file_read_all(path, 1 << 20, &text, &size), 0);
	assert_int_equal(serial_find(&length, text, size, NULL, 0), 0);
	assert_int_equal(length, 4);                /* 128 by 32 */
	for (size_t cut = 0; cut < size; cut += 37) /* whatever is cut off */
		assert_int_equal(serial_find(&length, text, cut, NULL, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loops),
		cmocka_unit_test(test_nested),
		cmocka_unit_test(test_recorded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
