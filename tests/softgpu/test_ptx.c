/* SPDX-License-Identifier: MIT */
/* What parsing tells about a module, and what it refuses with which words. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "softgpu/opcodes.h"
#include "tests/softgpu/machine_client.h"

#define HEAD ".version 8.7\n.target sm_90a\n.address_size 64\n"

static void facts(void **state)
{
	struct ptx_module *m = job_module(
		HEAD ".extern .shared .align 16 .b8 rest[];\n"
		     ".global .align 16 .b32 table[3] = {1, -1};\n"
		     ".const .f64 pi = 0d400921FB54442D18;\n"
		     ".visible .entry first(\n\t.param .u64 .ptr .global .align 16 first_param_0,\n"
		     "\t.param .u32 first_param_1,\n\t.param .align 64 .b8 first_param_2[128],\n"
		     "\t.param .f32 first_param_3, .param .u16 first_param_4)\n"
		     ".reqntid 64, 2\n.minnctapersm 1 {\n.shared .align 8 .b8 block[24];\n"
		     ".local .align 8 .b8 depot[24]; ret; }\n"
		     ".entry second() .maxntid 256 .maxnreg 40 { ret; }\n");
	const struct ptx_entry *e = ptx_module_entry(m, "first");
	const int32_t table[] = {1, -1, 0};

	assert_int_equal(m->target, 90);
	assert_int_equal(m->entry_count, 2);
	assert_int_equal(e->param_count, 5);
	assert_int_equal(e->params[1].offset, 8);
	assert_int_equal(e->params[2].offset, 64);
	assert_int_equal(e->params[2].size, 128);
	assert_int_equal(e->params[3].offset, 192);
	assert_int_equal(e->params[4].size, 2);
	assert_int_equal(e->params_bytes, 198);
	assert_int_equal(e->max_threads, 128);
	assert_int_equal(e->required_block[0], 64);
	assert_int_equal(e->required_block[1], 2);
	assert_int_equal(e->static_shared_bytes, 24);
	assert_int_equal(e->local_bytes, 32);
	assert_int_equal(ptx_module_entry(m, "second")->max_threads, 256);
	assert_null(ptx_module_entry(m, "third"));
	assert_int_equal(m->global_count, 2);
	assert_string_equal(m->globals[0].name, "table");
	assert_int_equal(m->globals[0].size, 12);
	assert_int_equal(m->globals[0].align, 16);
	assert_memory_equal(m->globals[0].initial, table, sizeof(table));
	ptx_module_free(m);
}

static void refused(const char *text, int code, unsigned line, const char *part)
{
	struct ptx_module *m = NULL;
	struct error err = {0};

	if (!ptx_module_parse(&m, text, strlen(text), &err))
		fail_msg("not refused: %s", text);
	if (err.code != code || err.offset != line || !strstr(err.message, part))
		fail_msg("code %d, line %d: \"%s\" lacks \"%s\"", err.code, (int)err.offset,
			 err.message, part);
}

static void in_body(const char *body, int code, unsigned line, const char *part)
{
	_cleanup_free_ char *text =
		text_format(HEAD ".entry k(.param .u64 p) {\n"
				 ".reg .b16 %%h<4>; .reg .b32 %%r<4>; .reg .b64 %%d<4>;"
				 " .reg .pred %%p<4>;\n%s\nret; }",
			    body);

	refused(text, code, line, part);
}

static void not_supported(void **state)
{
	in_body("\n  wgmma.fence.sync.aligned;", ENOTSUP, 7,
		"the instruction wgmma.fence.sync.aligned is not supported: "
		"\"wgmma.fence.sync.aligned;\"");
	in_body("add.f128 %r0, %r1, %r2;", ENOTSUP, 6, "this form of add.f128");
	in_body("add.rn.s32 %r0, %r1, %r2;", ENOTSUP, 6, "add.rn.s32");
	in_body("mov.b32 %r0, %unknown;", ENOTSUP, 6, "%unknown");
	in_body("atom.global.add.b32 %r0, [%d0], 1;", ENOTSUP, 6, "atomic operation on .b32");
	in_body("call %d0, (p), f;", ENOTSUP, 6, "indirect call");
	in_body("call.uni missing, ();", ENOTSUP, 6, "missing has no body here");
	refused(HEAD ".func f() { call.uni f; ret; } .entry k() { call.uni f; ret; }", ENOTSUP, 4,
		"recursion");
	refused(HEAD ".tex .u64 t;", ENOTSUP, 4, ".tex");
	refused(".version 8.0\n.target sm_80\n.address_size 32\n", ENOTSUP, 3, "32-bit");
	refused(HEAD ".extern .global .b32 elsewhere;", ENOTSUP, 4, "another module");
}

static void bad_syntax(void **state)
{
	refused("", EINVAL, 1, "no .target");
	refused("\x7f"
		"ELF",
		EINVAL, 1, "unexpected");
	refused(HEAD ".entry k() {\n ret;", EINVAL, 5, "end of file inside a body");
	refused(HEAD ".entry k() { bra nowhere; }", EINVAL, 4, "unknown label nowhere");
	refused(HEAD ".entry k() { a: a: ret; }", EINVAL, 4, "stands twice");
	refused(HEAD ".entry k() { ret; } .entry k() { ret; }", EINVAL, 4, "stands twice");
	in_body("add.s32 %r0, %r1;", EINVAL, 6, "2 operands where 3 to 3 are needed");
	in_body("add.s32 %r0, %d1, %r2;", EINVAL, 6, "a .b64 register where .s32 is needed");
	in_body("add.s32 %r0, %r1, %r9;", ENOTSUP, 6, "%r9");
	in_body("ld.global.v2.b32 %r0, [%d0];", EINVAL, 6, "1 registers for .v2");
	in_body("ld.shared.v8.b64 {%d0, %d0, %d0, %d0, %d0, %d0, %d0, %d0}, [%r0];", EINVAL, 6,
		"more than 32 bytes");
	in_body("red.shared.add.v8.u64 [%r0], {%d0, %d0, %d0, %d0, %d0, %d0, %d0, %d0};", EINVAL, 6,
		"more than 32 bytes");
	in_body("ld.global.b32 %r0, %d0;", EINVAL, 6, "address expected");
	in_body("ld.global.b64 %r0, [%d0];", EINVAL, 6, "does not fit .b64");
	in_body("mov.b32 {%h0, %h1, %h2}, %r0;", EINVAL, 6, "bad vector size");
	in_body("@%r0 ret;", EINVAL, 6, "predicate expected");
	in_body("add.s32 %r0, %r1, %r2", EINVAL, 6, "missing ;");
	in_body("cvt.s32.f32 %r0, %r1;", EINVAL, 6, "needs .rni");
	in_body("add.f32 %r0, %r1, 1;", EINVAL, 6, "integer literal for .f32");
}

static void large_counts(void **state)
{
	refused(HEAD ".entry k() { .reg .b32 %r<4000000000>; ret; }", EINVAL, 4, "register count");
	refused(HEAD ".entry k() { .reg .b32 %r<1048576>; .reg .b32 %s<2>; ret; }", E2BIG, 4,
		"registers");
	refused(HEAD ".shared .b8 s[99999999999999999999];", EINVAL, 4, "array size");
	refused(HEAD ".shared .b8 s[2147483648]; .shared .b8 t[1];", E2BIG, 4, "variables");
	refused(HEAD ".entry k(.param .b8 p[40000]) { ret; }", E2BIG, 4, "parameters");
	refused(HEAD ".entry k() .maxntid 65536, 65536, 65536 { ret; }", EINVAL, 4, "threads");
}

/* A modifier is known, or it stands in the table for being ignored; each row can be matched. */
static void table(void **state)
{
	for (unsigned i = 0; i < opcode_count; i++) {
		const struct opcode *o = &opcodes[i];
		char name[200];
		size_t n = (size_t)snprintf(name, sizeof(name), "%s", o->base);
		struct spelling s;

		/* The first alternative of every group. */
		for (const char *g = o->grammar; *g;) {
			size_t size = strcspn(g, " "), first = strcspn(g, " |?");

			n += (size_t)snprintf(name + n, sizeof(name) - n, ".%.*s", (int)first, g);
			g += size;
			g += strspn(g, " ");
		}
		if (!spelling_match((struct slice){name, n}, o->base, o->grammar, &s))
			fail_msg("%s does not match its own row", name);
		for (const char *c = o->operands; *c; c++)
			if (*c >= '0' && *c <= '2')
				assert_true(*c - '0' < s.type_count);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(facts),      cmocka_unit_test(not_supported),
		cmocka_unit_test(bad_syntax), cmocka_unit_test(large_counts),
		cmocka_unit_test(table),
	};

	return cmocka_run_group_tests_name("softgpu ptx", tests, NULL, NULL);
}
