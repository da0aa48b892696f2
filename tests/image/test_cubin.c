/* SPDX-License-Identifier: MIT */
/* Cubins with known contents, PTX as text, and metadata: what is read and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "lib/base.h"
#include "lib/image/cubin.h"
#include "lib/image/ptx_text.h"
#include "lib/image/triton.h"

#define MAX_BYTES (1u << 20)

static const char *data_folder;

static char *load(const char *name, size_t *size)
{
	_cleanup_free_ char *path = text_format("%s/cubins/%s", data_folder, name);
	char *data = NULL;

	assert_int_equal(file_read_all(path, MAX_BYTES, &data, size), 0);
	return data;
}

static struct cubin *parse(const char *name)
{
	_cleanup_free_ char *data = NULL;
	struct cubin *c = NULL;
	struct error e;
	size_t size;

	data = load(name, &size);
	if (cubin_parse(&c, data, size, &e) < 0)
		fail_msg("%s: %s", name, e.message);
	return c;
}

static void param_is(const struct cubin_kernel *k, size_t index, uint32_t offset, uint32_t size)
{
	assert_true(index < k->param_count);
	assert_int_equal(k->params[index].offset, offset);
	assert_int_equal(k->params[index].size, size);
}

/* params.ptx: layouts as PTX gives them, in both forms of the record. */
static void test_params(void **state)
{
	static const char *const names[] = {"params-12.4-sm_90.cubin", "params-13.4-sm_90.cubin"};

	for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
		struct cubin *c = parse(names[i]);
		const struct cubin_kernel *big = cubin_kernel(c, "big"),
					  *small = cubin_kernel(c, "small");

		assert_int_equal(c->kernel_count, 2);
		assert_int_equal(c->arch, 90);
		assert_non_null(big);
		assert_non_null(small);
		assert_null(cubin_kernel(c, "bi"));
		assert_int_equal(big->param_count, 5);
		param_is(big, 0, 0, 20000);
		param_is(big, 1, 20000, 4);
		param_is(big, 2, 20004, 5000);
		param_is(big, 3, 25008, 8);
		param_is(big, 4, 25024, 48);
		assert_int_equal(big->params_bytes, 25072);
		assert_int_equal(small->param_count, 3);
		param_is(small, 0, 0, 4);
		/* sm_90 puts parameters at 0x210 of a constant bank: 0x210 + 48 is 64-aligned */
		param_is(small, 1, 48, 128);
		param_is(small, 2, 176, 8);
		assert_int_equal(small->max_threads, 512);
		assert_int_equal(big->max_threads, 0);
		cubin_free(c);
	}
}

/* memory.ptx: figures as ptxas -v printed them. */
static void test_memory(void **state)
{
	static const struct {
		const char *name;
		uint32_t arch;
		const char *tool;
	} rows[] = {
		{"memory-12.4-sm_80.cubin", 80, NULL},
		{"memory-12.8-sm_90.cubin", 90, NULL},
		{"memory-13.4-sm_90.cubin", 90, "13.4.59"},
		{"memory-13.4-sm_100.cubin", 100, "13.4.59"},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct cubin *c = parse(rows[i].name);
		const struct cubin_kernel *stat = cubin_kernel(c, "stat");

		assert_int_equal(c->kernel_count, 3);
		assert_int_equal(c->arch, rows[i].arch);
		if (rows[i].tool)
			assert_string_equal(c->tool, rows[i].tool);
		else
			assert_null(c->tool);
		assert_int_equal(stat->registers, 10);
		assert_int_equal(stat->static_shared_bytes, 400);
		assert_int_equal(stat->max_threads, 64);
		assert_int_equal(cubin_kernel(c, "onlydynamic")->static_shared_bytes, 0);
		assert_int_equal(cubin_kernel(c, "onlydynamic")->registers, 8);
		assert_int_equal(cubin_kernel(c, "none")->static_shared_bytes, 0);
		assert_int_equal(cubin_kernel(c, "none")->registers, 6);
		assert_int_equal(cubin_kernel(c, "none")->max_threads, 192);
		assert_null(c->ptx); /* no -lineinfo */
		cubin_free(c);
	}
}

/* One entry of a constant table is another: the instructions are equal, the code is not. */
static void test_code_hash(void **state)
{
	struct cubin *a = parse("memory-12.8-sm_90.cubin"), *b = parse("memory-12.8-sm_90.cubin");
	struct cubin *t = parse("table-12.8-sm_90.cubin");

	assert_true(hash_equal(cubin_kernel(a, "stat")->code, cubin_kernel(b, "stat")->code));
	assert_false(hash_equal(cubin_kernel(a, "stat")->code, cubin_kernel(a, "none")->code));
	assert_false(hash_equal(cubin_kernel(a, "stat")->code, cubin_kernel(t, "stat")->code));
	cubin_free(a);
	cubin_free(b);
	cubin_free(t);
}

static void test_bad_cubin(void **state)
{
	_cleanup_free_ char *data = NULL;
	struct cubin *c = NULL;
	struct error e;
	size_t size;

	data = load("memory-12.8-sm_90.cubin", &size);
	assert_true(cubin_detect(data, size));
	assert_false(cubin_detect(data, 63));
	assert_int_equal(cubin_parse(&c, "", 0, &e), -ENOEXEC);
	assert_int_equal(cubin_parse(&c, "//\n.version 8.0\n", 16, &e), -ENOEXEC);
	assert_int_equal(cubin_parse(&c, data, 64, &e), -EINVAL); /* section headers are cut off */
	assert_int_equal(cubin_parse(&c, data, size / 2, &e), -EINVAL);
	assert_true(*e.message);
	data[18] = 62; /* x86-64 */
	assert_int_equal(cubin_parse(&c, data, size, &e), -ENOEXEC);
}

static void ptx_same(const char *a, const char *b, bool equal)
{
	if (hash_equal(ptx_canonical_hash(a, strlen(a)), ptx_canonical_hash(b, strlen(b))) != equal)
		fail_msg("%s\n%s", a, b);
}

static void test_ptx_hash(void **state)
{
	const char section[] = ".version 9.0\0.target sm_90a\0ret;";
	char *text = ptx_recover(section, sizeof(section) - 1);

	assert_string_equal(text, ".version 9.0\n.target sm_90a\nret;");
	free(text);
	ptx_same(".version 8.7\n.target sm_90a\n", ".version 9.0 // x\n.target  sm_90a", true);
	ptx_same(".target sm_90a\n", ".target sm_90\n", false);
	ptx_same("add.s32 %r1, %r2, 3;", "add.s32\t%r1,%r2,3;/* c */", true);
	ptx_same("add.s32 %r1, %r2, 3;", "add.s32 %r1, %r2, 4;", false);
	ptx_same("ret;\n.loc 1 20 3\n", "\n.file 1 \"a // b\"\nret;", true);
	ptx_same("$L__tmp12:\nret;$L__func_end0:\n", "ret;", true);
	ptx_same("bra $L__BB0_1;", "bra $L__BB0_2;", false);
	ptx_same("bra $L__tmp1;", "bra $L__tmp2;", false); /* used, so no debug label */
	ptx_same("ret;.section .debug_info { .b8 1 // }\n.b8 2 }\nx", "ret; x", true);
	ptx_same(".pragma \"nounroll // 1\";", ".pragma \"nounroll // 2\";", false);
	ptx_same(".b8 assertFile_0[3] = {47, 116, 0};", ".b8 assertFile_0[2] = {47, 0};", true);
	ptx_same(".b8 assertMessage_0[2] = {47, 0};", ".b8 assertMessage_0[2] = {48, 0};", false);
	ptx_same("", "", true);
}

static int metadata(const char *json, const char *source, struct error *e)
{
	struct triton_texts t = {.json = {json, strlen(json)}};
	struct triton_kernel *k = NULL;
	int r;

	if (source)
		t.source = (struct span){source, strlen(source)};
	r = triton_kernel_parse(&k, &t, e);
	triton_kernel_free(k);
	return r;
}

static void test_bad_metadata(void **state)
{
	struct error e;

	assert_int_equal(metadata("{\"name\": \"k\", \"num_warps\": 4}", NULL, &e), 0);
	assert_int_equal(metadata("{\"name\": \"k\"", NULL, &e), -EINVAL);
	assert_int_equal(metadata("[]", NULL, &e), -EINVAL);
	assert_int_equal(metadata("{\"num_warps\": 4}", NULL, &e), -EINVAL);
	assert_non_null(strstr(e.message, "name"));
	assert_int_equal(metadata("{\"name\": \"k\"}", NULL, &e), -EINVAL);
	assert_non_null(strstr(e.message, "num_warps"));
	assert_int_equal(metadata("{\"name\": \"k\", \"num_warps\": 0}", NULL, &e), -EINVAL);
	assert_int_equal(metadata("{\"name\": \"k\", \"num_warps\": \"4\"}", NULL, &e), -EINVAL);
	assert_int_equal(metadata("{\"name\": \"k\", \"num_warps\": 4, \"shared\": -1}", NULL, &e),
			 -EINVAL);
	assert_non_null(strstr(e.message, "shared"));
	assert_int_equal(metadata("{\"name\": \"k\", \"num_warps\": 4, \"launch_pdl\": 1}", NULL,
				  &e),
			 -EINVAL);
	assert_int_equal(metadata("{\"name\": \"k\", \"num_warps\": 4}", "module {}", &e), -EINVAL);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_params),    cmocka_unit_test(test_memory),
		cmocka_unit_test(test_code_hash), cmocka_unit_test(test_bad_cubin),
		cmocka_unit_test(test_ptx_hash),  cmocka_unit_test(test_bad_metadata),
	};

	if (argc != 2)
		return 1;
	data_folder = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
