/* SPDX-License-Identifier: MIT */
/* Arguments that bound masks, in real IR of several Triton versions and in small hand-made ones. */
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
#include "replay/bounds.h"

static char *read_text(const char *name, size_t *size)
{
	_cleanup_free_ char *path = text_format("%s/%s", getenv("KERNELAB_TEST_DATA"), name);
	FILE *f = fopen(path, "r");
	char *text = malloc(1 << 20);

	if (!f)
		fail_msg("%s", path);
	*size = fread(text, 1, 1 << 20, f);
	fclose(f);
	return text;
}

static void real_kernels(void **state)
{
	static const struct {
		const char *name;
		size_t args;
		uint64_t bounding;
		size_t arg;
		uint32_t block;
	} rows[] = {
		{"image/versions/triton-3.0.0/add_kernel.ttir", 6, 8, 3, 256},
		{"image/versions/triton-3.3.1/add_kernel.ttir", 5, 8, 3, 256},
		{"image/versions/triton-3.9.0/add_kernel.ttir", 5, 8, 3, 256},
		{"shim/cache/LZSXCBGASERYHYGZX34KGKVIYILGU4KSO7F3ID6DRVOFFDPPA65A/softmax_k.ttir",
		 3, 4, 2, 1024},
		{"shim/cache/YPBJEK4ADOTK3G6POU52VLDGLGQ3FQSBBAAOWXIQMBGL4QYAFWRA/tma_k.ttir", 10,
		 0, 0, 0},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		size_t size;
		_cleanup_free_ char *text = read_text(rows[i].name, &size);
		struct bounds b;

		assert_int_equal(bounds_find(&b, text, size, NULL), 0);
		assert_int_equal(b.arg_count, rows[i].args);
		assert_int_equal(b.bounding, rows[i].bounding);
		assert_int_equal(b.block[rows[i].arg], rows[i].block);
	}
}

#define FUNCTION                                                                         \
	"module {\n  tt.func public @k(%p: !tt.ptr<f32> loc(\"a) %x: i32 (\"), %n: i32 " \
	"{tt.divisibility = 16 : i32} loc(\"n\"(#loc)), %m: i64) {\n"                    \
	"    %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>\n"    \
	"    %s = tt.splat %n : i32 -> tensor<64xi32>\n"                                 \
	"    %j = arith.addi %b, %i : tensor<64xi32>\n"                                  \
	"    %t = tt.splat %m : i64 -> tensor<64xi64>\n"
#define END  "    tt.return\n  }\n}\n"
#define LOAD "    %v = tt.load %q, %c, %z : tensor<64x!tt.ptr<f32>>\n"

static void comparisons(void **state)
{
	static const struct {
		const char *body;
		uint64_t bounding;
	} rows[] = {
		{"    %c = arith.cmpi slt, %j, %s : tensor<64xi32>\n" LOAD, 2},
		{"    %c = arith.cmpi ule, %j, %s : tensor<64xi32>\n" LOAD, 2},
		{"    %c = arith.cmpi sgt, %s, %j : tensor<64xi32>\n" LOAD, 2},
		{"    %c = arith.cmpi sge, %j, %s : tensor<64xi32>\n" LOAD, 0}, /* above it */
		{"    %c = arith.cmpi slt, %s, %j : tensor<64xi32>\n" LOAD, 0},
		{"    %c = arith.cmpi eq, %j, %s : tensor<64xi32>\n" LOAD, 0},
		{"    %c = arith.cmpi slt, %j, %s : tensor<64xi32>\n", 0}, /* no mask of anything */
		{"    %c = arith.cmpi slt, %j, %s : tensor<64xi32>\n    tt.store %q, %c : x\n", 0},
		{"    %c = arith.cmpi slt, %j, %s : tensor<64xi32>\n    tt.store %q, %v, %c : x\n",
		 2},
		{"    %c = arith.cmpi slt, %j, %s : tensor<64xi32>\n"
		 "    %o = tt.atomic_rmw fadd, acq_rel, gpu, %q, %v, %c : x\n",
		 2},
		{"    %a = arith.cmpi slt, %j, %s : tensor<64xi32>\n"
		 "    %d = arith.cmpi slt, %j, %t : tensor<64xi64>\n"
		 "    %c = arith.andi %a, %d : tensor<64xi1>\n" LOAD,
		 6},
		{"    %a = arith.cmpi slt, %j, %s : tensor<64xi32>\n"
		 "    %c = arith.ori %a, %d : tensor<64xi1>\n" LOAD,
		 0},
		{"    %l = arith.subi %s, %k : tensor<64xi32>\n"
		 "    %c = arith.cmpi slt, %j, %l : tensor<64xi32>\n" LOAD,
		 2},
		{"    %l = arith.subi %k, %s : tensor<64xi32>\n"
		 "    %c = arith.cmpi slt, %j, %l : tensor<64xi32>\n" LOAD,
		 0},
		{"    %c = arith.cmpi slt, %j, %s : tensor<64xi32>\n"
		 "    %c = arith.constant dense<true> : tensor<64xi1>\n" LOAD, /* a sibling's name
										*/
		 0},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		_cleanup_free_ char *text = text_format("%s%s%s", FUNCTION, rows[i].body, END);
		struct bounds b;

		assert_int_equal(bounds_find(&b, text, strlen(text), NULL), 0);
		assert_int_equal(b.arg_count, 3);
		if (b.bounding != rows[i].bounding)
			fail_msg("row %zu: %llx", i, (unsigned long long)b.bounding);
		assert_int_equal(b.block[1], rows[i].bounding & 2 ? 64 : b.block[1]);
	}
}

/* Every prefix of real IR, exactly as long as its memory. */
static void cut_texts(void **state)
{
	size_t size;
	_cleanup_free_ char *text = read_text("image/versions/triton-3.3.1/add_kernel.ttir", &size);
	struct bounds b;

	for (size_t n = 1; n <= size; n++) {
		char *part = malloc(n);

		memcpy(part, text, n);
		bounds_find(&b, part, n, NULL);
		free(part);
	}
	assert_int_equal(bounds_find(&b, "module {}", 9, NULL), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(real_kernels),
		cmocka_unit_test(comparisons),
		cmocka_unit_test(cut_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
