/* SPDX-License-Identifier: MIT */
/* Notes of the Python glue: a real one, hostile ones, and what identity is made of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "lib/base.h"
#include "lib/image/note.h"

static const char *data_folder;

static struct note *parse(const char *text)
{
	struct span span = {text, strlen(text)};
	struct note *n = NULL;
	struct error e;

	if (note_parse(&n, &span, &e))
		fail_msg("%s", e.message);
	return n;
}

static void test_real(void **state)
{
	_cleanup_free_ char *path = text_format("%s/notes/scale_k.glue", data_folder), *text = NULL;
	struct note *n;
	size_t size;

	assert_int_equal(file_read_all(path, 1u << 20, &text, &size), 0);
	n = parse(text);
	assert_string_equal(n->constexprs, "BLOCK=128 ACT=clamp");
	assert_string_equal(n->constexprs_json, "{\"BLOCK\":128,\"ACT\":\"clamp\"}");
	assert_string_equal(n->tensors,
			    "X float32 20x50 strides 50,1, Y float32 20x50 strides 50,1");
	assert_string_equal(n->file, "/home/user/model/jit_program.py");
	assert_int_equal(n->line, 21);
	assert_int_equal(strlen(n->python_hash), 64);
	assert_false(hash_is_zero(n->values));
	note_free(n);
}

#define NOTE(rest) "{\"schema\":\"kernelab-glue/1\"" rest "}"
#define ONE(name, value) \
	NOTE(",\"constexprs\":[{\"name\":\"" name "\",\"path\":[1],\"value\":" value "}]")

static void test_values(void **state)
{
	static const struct {
		const char *note, *shown;
	} rows[] = {
		{ONE("B", "64"), "B=64"},
		{ONE("B", "null"), "B=None"},
		{ONE("B", "true"), "B=True"},
		{ONE("B", "0.5"), "B=0.5"},
		{ONE("T", "{\"dtype\":\"fp16\"}"), "T=fp16"},
		{ONE("C", "{\"constexpr\":3}"), "C=3"},
		{ONE("S", "{\"tuple\":[1,2]}"), "S={\"tuple\":[1,2]}"},
		{ONE("L", "\"abcdefghijklmnopqrstuvwxyz\""), "L=abcdefghijklmnopqrstuvwx…"},
		{NOTE(",\"constexprs\":[]"), ""},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct note *n = parse(rows[i].note);

		assert_string_equal(n->constexprs, rows[i].shown);
		assert_false(hash_is_zero(n->values));
		note_free(n);
	}
}

static void test_identity(void **state)
{
	struct note *a = parse(ONE("B", "64")), *b = parse(ONE("B", "128")),
		    *c = parse(ONE("C", "64")), *again = parse(ONE("B", "64")),
		    *ir = parse(NOTE(",\"ir\":true"));

	assert_true(hash_equal(a->values, again->values));
	assert_false(hash_equal(a->values, b->values));
	assert_false(hash_equal(a->values, c->values));
	/* Compiled from IR: that nothing is known is no list of no constexprs. */
	assert_true(hash_is_zero(ir->values));
	note_free(a);
	note_free(b);
	note_free(c);
	note_free(again);
	note_free(ir);
}

static void test_bad(void **state)
{
	static const char *const bad[] = {
		"",
		"[]",
		"7",
		"{}",
		"{\"schema\":\"kernelab-glue/2\"}",
		"{\"schema\":7}",
		NOTE(",\"constexprs\":[7]"),
		NOTE(",\"constexprs\":[{\"name\":\"B\"}]"),
		NOTE(",\"constexprs\":[{\"name\":7,\"value\":1}]"),
		NOTE(",\"tensors\":[1]"),
	};

	for (size_t i = 0; i < ARRAY_LENGTH(bad); i++) {
		struct span span = {bad[i], strlen(bad[i])};
		struct note *n = NULL;
		struct error e;

		assert_int_equal(note_parse(&n, &span, &e), -EINVAL);
		assert_null(n);
		assert_non_null(strstr(e.message, "note of the glue"));
	}
	/* Odd, but harmless. */
	note_free(parse(NOTE(",\"tensors\":{\"X\":7,\"Y\":{\"shape\":[\"a\"],\"stride\":7}}")));
	note_free(parse(NOTE(",\"functions\":[{\"file\":7,\"line\":-1}],\"function_sha256\":[]")));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_real),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_identity),
		cmocka_unit_test(test_bad),
	};

	if (argc != 2)
		return 1;
	data_folder = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
