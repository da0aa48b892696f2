/* SPDX-License-Identifier: MIT */
/* Signatures and origins out of Triton IR, and its canonical form. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "kernelab/dtype.h"
#include "lib/base.h"
#include "lib/image/canonical.h"
#include "lib/image/shapes.h"
#include "lib/ir.h"
#include "lib/origin.h"
#include "lib/signature.h"

static struct signature *parse(const char *text)
{
	struct signature *s = NULL;
	struct error e;
	/* a copy without NUL behind it, so that ASan sees any read beyond */
	size_t size = strlen(text);
	char *copy = malloc(size ? size : 1);

	memcpy(copy, text, size);
	if (signature_parse(&s, copy, size, &e) < 0)
		fail_msg("%s at %llu in %s", e.message, (unsigned long long)e.offset, text);
	free(copy);
	return s;
}

static void test_names(void **state)
{
	struct signature *s = parse(
		"#loc = loc(\"/home/me/k.py\":8:0)\n#loc3 = loc(\"n\"(#loc))\nmodule {\n"
		"  tt.func public @k(%A: !tt.ptr<bf16> {tt.divisibility = 16 : i32} "
		"loc(\"A\"(#loc)), "
		"%n_0: i32 loc(#loc3), %d: !tt.tensordesc<tensor<64x32xf16>> loc(\"d\"(#loc)), "
		"%e: f32) attributes {noinline = false} {\n    tt.return loc(#loc1)\n  } "
		"loc(#loc)\n}\n");

	assert_string_equal(s->entry, "k");
	assert_string_equal(s->source_file, "/home/me/k.py");
	assert_int_equal(s->source_line, 8);
	assert_int_equal(s->arg_count, 4);
	assert_string_equal(s->args[0].name, "A");
	assert_string_equal(s->args[0].type, "!tt.ptr<bf16>");
	assert_int_equal(s->args[0].dtype, DTYPE_BF16);
	assert_int_equal(s->args[0].divisibility, 16);
	assert_true(s->args[0].pointer);
	assert_string_equal(s->args[1].name, "n"); /* the alias's, not the SSA name n_0 */
	assert_int_equal(s->args[1].divisibility, 0);
	assert_int_equal(s->args[2].dtype, DTYPE_F16);
	assert_false(s->args[2].pointer);
	assert_true(signature_is_descriptor(s->args[2].type));
	assert_string_equal(s->args[3].name, "e"); /* no location: the SSA name */
	signature_free(s);
}

/* Triton 2.x and 3.0 to 3.4: no names, address spaces, quoted attributes. */
static void test_older(void **state)
{
	struct signature *s =
		parse("tt.func public @k_0d1d2(%arg0: !tt.ptr<f32, 1> {\"tt.divisibility\" = 16 : "
		      "i32, x = [1, 2]} "
		      "loc(\"/a b/k.py\":10:0), %arg1: i64 {tt.pointer_range = 32 : i32, "
		      "tt.divisibility = 8 : "
		      "i32} loc(\"/a b/k.py\":10:0)) -> i32 { tt.return } loc(\"/a b/k.py\":10:0)");

	assert_string_equal(s->args[0].name, "arg0");
	assert_int_equal(s->args[0].dtype, DTYPE_F32);
	assert_int_equal(s->args[0].divisibility, 16);
	assert_int_equal(s->args[1].divisibility, 8);
	assert_string_equal(s->source_file, "/a b/k.py");
	assert_int_equal(s->source_line, 10);
	signature_free(s);
	s = parse("tt.func @\"odd name\"() { tt.return } loc(unknown)");
	assert_string_equal(s->entry, "odd name");
	assert_int_equal(s->arg_count, 0);
	assert_string_equal(s->source_file, "");
	signature_free(s);
}

static void place_is(const char *location, const char *file, uint32_t line)
{
	char *text = text_format(
		"tt.func private @h(%%x: i32) {\n}\n"
		"tt.func public @k() {\n  x.y {z = \"}\"} : () -> () loc(#loc9)\n} loc(%s)\n"
		"#loc2 = loc(#loc1)\n#loc1 = loc(\"one.py\":1:0)\n"
		"#ring = loc(callsite(#ring at #ring))\n#two = loc(fused[#ring, #ring])\n",
		location);
	struct signature *s = parse(text);

	assert_string_equal(s->entry, "k");
	assert_string_equal(s->source_file, file);
	assert_int_equal(s->source_line, line);
	signature_free(s);
	free(text);
}

static void test_locations(void **state)
{
	place_is("#loc1", "one.py", 1);
	place_is("#loc2", "one.py", 1);
	place_is("\"k\"(#loc2)", "one.py", 1);
	place_is("\"k\"(\"x.py\":7:3)", "x.py", 7);
	place_is("callsite(\"f\"(\"x.py\":7:3) at #loc1)", "x.py", 7);
	place_is("fused[unknown, #loc2, \"x.py\":7:3]", "one.py", 1);
	place_is("fused<#di<a = \"]\">>[\"x.py\":7:3]", "x.py", 7);
	place_is("\"x.py\":7:3 to :9", "x.py", 7);
	place_is("unknown", "", 0);
	place_is("#missing", "", 0);
	place_is("#ring", "", 0); /* ends */
	place_is("#two", "", 0);
	place_is("\"only a name\"", "", 0);
}

static void rejected(const char *text, int code)
{
	struct signature *s = NULL;
	struct error e = {0};

	assert_int_equal(signature_parse(&s, text, strlen(text), &e), -code);
	assert_int_equal(e.code, code);
	assert_true(*e.message);
}

static void test_bad(void **state)
{
	rejected("", ENOENT);
	rejected("module { tt.func private @h(%x: i32) { } }", ENOENT);
	rejected("\"tt.func public @k()\"", ENOENT);
	rejected("tt.func public @", EINVAL);
	rejected("tt.func public k()", EINVAL);
	rejected("tt.func public @k", EINVAL);
	rejected("tt.func public @k(%A", EINVAL);
	rejected("tt.func public @k(%A: ", EINVAL);
	rejected("tt.func public @k(%A: i32", EINVAL);
	rejected("tt.func public @k(%A: i32 {tt.divisibility = 16", EINVAL);
	rejected("tt.func public @k(%A: i32 loc(\"A\"", EINVAL);
	rejected("tt.func public @k(%A: !tt.ptr<f32", EINVAL);
	rejected("tt.func public @k(%A: i32 %B: i32)", EINVAL);
	rejected("tt.func public @k(A: i32)", EINVAL);
}

static void test_bytes(void **state)
{
	assert_int_equal(signature_type_bytes("!tt.ptr<f32>"), 8);
	assert_int_equal(signature_type_bytes("!tt.tensordesc<tensor<64x64xf16>>"), 128);
	assert_int_equal(signature_type_bytes("i1"), 1);
	assert_int_equal(signature_type_bytes("bf16"), 2);
	assert_int_equal(signature_type_bytes("f32"), 4);
	assert_int_equal(signature_type_bytes("i64"), 8);
	assert_int_equal(signature_type_bytes("index"), 0);
	assert_int_equal(signature_type_bytes("tensor<4xf32>"), 0);
}

#define GENERATED "/tmp/i/aa/caagyl65fq3qxr7mbpbz4kknnrwx274lpicgtcjkjufafs7xmqvz.py"

static enum origin origin_of(const char *entry, const char *file, const char *body)
{
	char *text =
		text_format("#loc = loc(\"%s\":18:0)\nmodule {\n  tt.func public @%s() {\n    %s\n"
			    "  } loc(#loc)\n}\n",
			    file, entry, body);
	struct origin_evidence e = {.source = text, .source_size = strlen(text)};
	const char *how = NULL;
	enum origin o = origin_decide(&e, &how);

	assert_non_null(how);
	free(text);
	return o;
}

static void test_origin_source(void **state)
{
	assert_int_equal(origin_of("triton_poi_fused_0", GENERATED, ""), ORIGIN_INDUCTOR);
	/* Inductor copies user-written kernels into its files under their own names */
	assert_int_equal(origin_of("my_kernel", GENERATED, ""), ORIGIN_TRITON);
	/* a person's kernel whose name looks like Inductor's */
	assert_int_equal(origin_of("triton_mm", "/home/me/gemm.py", ""), ORIGIN_TRITON);
	assert_int_equal(origin_of("k", "/home/me/k.py", "%0 = tlx.require_layout %x : i32"),
			 ORIGIN_TLX);
	assert_int_equal(origin_of("k", "/home/me/k.py", "\"tlx.local_alias\"() : () -> ()"),
			 ORIGIN_TLX);
	/* tlx. in file names and symbols says nothing */
	assert_int_equal(origin_of("k", "tlx.py", "tt.call @tlx.helper() loc(\"tlx.py\":3:0)"),
			 ORIGIN_TRITON);
}

static void test_origin_names(void **state)
{
	struct origin_evidence e = {.entry = "triton_red_fused_sum_5"};
	const char *how;

	assert_int_equal(origin_decide(&e, &how), ORIGIN_INDUCTOR);
	e.entry = "ampere_sgemm_128x64";
	assert_int_equal(origin_decide(&e, &how), ORIGIN_OTHER);
	e.image_path = "/c/XGCHO6ZIKQQU33BTXIAB4WBUAIZZIC52WOLGMIRXEAL7Y5DJYYMQ/k.cubin";
	assert_int_equal(origin_decide(&e, &how), ORIGIN_TRITON);
	e.image_path = "/c/XGCHO6ZIKQQU33BTXIAB4WBUAIZZIC52WOLGMIRXEAL7Y5DJYYM/k.cubin";
	assert_int_equal(origin_decide(&e, &how), ORIGIN_OTHER);
	e.caller = "/x/cuda_utils.cpython-312-x86_64-linux-gnu.so";
	assert_int_equal(origin_decide(&e, &how), ORIGIN_TRITON);
	assert_int_equal(origin_decide(&(struct origin_evidence){0}, NULL), ORIGIN_OTHER);
	assert_true(origin_inductor_entry("triton_"));
	assert_true(origin_inductor_entry("triton_mm_17"));
	assert_true(origin_inductor_entry("triton_flex_attention"));
	assert_true(origin_inductor_entry("triton_poi_0"));
	assert_false(origin_inductor_entry("triton_softmax"));
	assert_false(origin_inductor_entry("triton_mma"));
	assert_false(origin_inductor_entry("triton_poison"));
	assert_true(origin_inductor_file(GENERATED));
	assert_false(
		origin_inductor_file("/tmp/i/ab/"
				     "caagyl65fq3qxr7mbpbz4kknnrwx274lpicgtcjkjufafs7xmqvz.py"));
	assert_false(
		origin_inductor_file("caagyl65fq3qxr7mbpbz4kknnrwx274lpicgtcjkjufafs7xmqvz.py"));
	assert_false(origin_inductor_file(""));
}

static void same(const char *a, const char *b, bool equal)
{
	char *x, *y;
	size_t n, m;

	assert_int_equal(canonical_source(a, strlen(a), &x, &n), 0);
	assert_int_equal(canonical_source(b, strlen(b), &y, &m), 0);
	if ((n == m && !memcmp(x, y, n)) != equal)
		fail_msg("%s\n%s", x, y);
	free(x);
	free(y);
}

static void test_canonical(void **state)
{
	/* names, locations, specialisation */
	same("#loc = loc(\"a.py\":1:0)\ntt.func public @k(%A: i32 {tt.divisibility = 16 : i32} "
	     "loc(\"A\"(#loc)), "
	     "%n: i32 loc(#loc1)) {\n  %x = a.b %A, %n : i32 loc(#loc2)\n  %y:2 = a.c %x#1 "
	     "loc(#loc2)\n} loc(#loc)\n",
	     "tt.func public @k(%arg0: i32, %arg1: i32 {tt.pointer_range = 32 : i32}) {\n"
	     "  %0 = a.b %arg0, %arg1 : i32\n  %1:2 = a.c %0#1\n}\n#loc7 = loc(\"b.py\":2:0)\n",
	     true);
	/* a name that a sibling region uses again */
	same("tt.func public @k() {\n  %x = a.b\n  %x = a.c\n  a.d %x\n}",
	     "tt.func public @k() {\n  %x = a.b\n  %y = a.c\n  a.d %y\n}", true);
	/* operands in other order */
	same("tt.func public @k(%a: i32, %b: i32) { a.b %a, %b }",
	     "tt.func public @k(%a: i32, %b: i32) { a.b %b, %a }", false);
	/* other attributes of arguments, hints in the body, strings and constants stay */
	same("tt.func public @k(%a: i32 {x.y = 1 : i32, tt.divisibility = 16 : i32})",
	     "tt.func public @k(%a: i32 {x.y = 1 : i32})", true);
	same("tt.func public @k(%a: i32 {x.y = 1 : i32})", "tt.func public @k(%a: i32)", false);
	same("tt.func public @k() { a.b {tt.divisibility = 16 : i32} }",
	     "tt.func public @k() { a.b }", false);
	same("tt.func public @k() { a.b \"loc(#loc1)\" }", "tt.func public @k() { a.b \"\" }",
	     false);
	same("a 1", "a 2", false);
	same("", "#loc = loc(unknown)", true);
}

static void test_shapes(void **state)
{
	const char text[] =
		"tensor<64x32xf32> tensor<64x32xbf16> tensor<128x!tt.ptr<f32>> \"tensor<7xf32>\" "
		"tensor<1x32xi1> tensor<f32> tensor<32x64x2xi8, #enc>";
	struct shape *shapes;
	size_t count;
	char *shown;

	assert_int_equal(shapes_find(text, sizeof(text) - 1, &shapes, &count), 0);
	assert_int_equal(count, 4);
	assert_int_equal(shapes[0].rank, 1);
	assert_int_equal(shapes[0].dims[0], 128);
	assert_int_equal(shapes[3].rank, 3);
	shown = shapes_text(shapes, 3, 6); /* highest rank, those with a 1 left out */
	assert_string_equal(shown, "64x32");
	free(shown);
	shown = shapes_text(shapes + 1, 1, 6);
	assert_string_equal(shown, "1x32");
	free(shown);
	shown = shapes_text(shapes, 2, 0);
	assert_string_equal(shown, " …");
	free(shown);
	free(shapes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),        cmocka_unit_test(test_older),
		cmocka_unit_test(test_locations),    cmocka_unit_test(test_bad),
		cmocka_unit_test(test_bytes),        cmocka_unit_test(test_origin_source),
		cmocka_unit_test(test_origin_names), cmocka_unit_test(test_canonical),
		cmocka_unit_test(test_shapes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
