/* SPDX-License-Identifier: MIT */
/* The kernel suite: grouping, launches, what was not recorded, damaged metadata, killed captures.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "lib/base.h"
#include "lib/image/suite.h"
#include "tests/image/entry_bundle.h"

static const char *data_folder;
static char folder[] = "/tmp/kernelab-suite-XXXXXX";

static char *stem(const char *name)
{
	return text_format("%s/versions/%s", data_folder, name);
}

static struct bundle *reopen(struct bundle_writer *w, const char *path, bool killed)
{
	struct bundle *b = NULL;
	struct error e;

	if (killed)
		bundle_writer_abandon(w);
	else
		assert_int_equal(bundle_writer_close(w), 0);
	if (bundle_open(&b, path, &e) < 0)
		fail_msg("%s", e.message);
	unlink(path);
	return b;
}

static struct bundle_writer *begin(char **path, const char *name)
{
	struct bundle_writer *w = NULL;

	*path = text_format("%s/%s", folder, name);
	assert_int_equal(bundle_writer_open(&w, *path, BUNDLE_CAPTURE), 0);
	return w;
}

/* Triton 3.4 and 3.5: one config of one family, two images; TLX: two more families. */
static struct bundle *capture(void)
{
	_cleanup_free_ char *a = stem("triton-3.4.0/add_kernel"),
			    *b = stem("triton-3.5.1/add_kernel");
	_cleanup_free_ char *c = stem("triton-3.9.0/add_kernel"),
			    *t = stem("fbtriton-3.7.4/tlx_ws");
	_cleanup_free_ char *path = NULL;
	struct record_unrecorded u = {
		.name = "gemm", .origin = ORIGIN_OTHER, .launches = 7, .reason = "origin"};
	struct bundle_writer *w = begin(&path, "capture.klab");

	entry_bundle_add(w, a, 0, 0);
	entry_bundle_add(w, b, 1, 0);
	entry_bundle_add(w, c, 2, 0);
	entry_bundle_add(w, t, UINT32_MAX, 0);
	entry_bundle_launch(w, 5, 0, 4);
	entry_bundle_launch(w, 3, 0, 2);
	entry_bundle_launch(w, 9, 2, 2);
	entry_bundle_class(w, 0, 4, 10, "per-class");
	entry_bundle_class(w, 0, 2, 1, NULL);
	entry_bundle_class(w, 2, 2, 3, "per-class");
	bundle_put_unrecorded(w, &u);
	bundle_put_unrecorded(w, &u);
	return reopen(w, path, false);
}

static void test_grouping(void **state)
{
	struct bundle *b = capture();
	const struct suite_family *add;
	const struct suite_config *c;
	struct suite *s = NULL;

	assert_int_equal(suite_build(&s, &b, 1, NULL), 0);
	assert_int_equal(s->family_count, 2);
	add = &s->families[0];
	assert_string_equal(add->name, "add_kernel");
	assert_string_equal(s->families[1].name, "tlx_ws");
	assert_string_equal(add->source, "/home/user/kernel_version.py");
	assert_int_equal(add->arg_count, 5);
	assert_int_equal(add->config_count, 2);
	c = add->configs[0].member_count == 2 ? &add->configs[0] : &add->configs[1];
	assert_int_equal(c->member_count, 2);
	assert_int_equal(c->special_count, 1);
	assert_false(hash_equal(c->members[0].code_hash, c->members[1].code_hash));
	assert_ptr_equal(suite_family(s, add->key), add);
	assert_ptr_equal(suite_config(add, c->key), c);
	assert_null(suite_family(s, c->key));
	/* TLX: loaded, never used */
	assert_int_equal(s->families[1].configs[0].members[0].launch_count, 0);
	assert_null(s->families[1].configs[0].members[0].kernel);
	suite_free(s);
	bundle_close(b);
}

static void test_launches(void **state)
{
	struct bundle *b = capture();
	const struct suite_member *m = NULL;
	struct suite *s = NULL;

	assert_int_equal(suite_build(&s, &b, 1, NULL), 0);
	assert_int_equal(s->seen, 14);
	assert_int_equal(s->recorded, 3);
	assert_int_equal(s->families[0].class_count, 3);
	for (size_t c = 0; c < 2; c++) {
		for (size_t i = 0; i < s->families[0].configs[c].member_count; i++) {
			if (s->families[0].configs[c].members[i].launch_count == 2)
				m = &s->families[0].configs[c].members[i];
		}
	}
	assert_non_null(m);
	assert_int_equal(m->launches[0]->seq, 3); /* by seq, not by record */
	assert_int_equal(m->launches[1]->seq, 5);
	assert_int_equal(m->class_count, 2);
	assert_int_equal(m->classes[0].grid[0], 2);
	assert_int_equal(m->classes[1].seen, 10);
	assert_int_equal(m->classes[1].recorded, 1);
	assert_string_equal(m->classes[1].reason, "per-class");
	assert_int_equal(s->unlisted, 14);
	assert_int_equal(s->missing_count, 2);
	assert_string_equal(s->missing[0].name, "gemm");
	assert_int_equal(s->missing[0].launches, 14);
	assert_string_equal(s->missing[1].reason, "per-class");
	assert_int_equal(s->missing[1].launches, 11);
	suite_free(s);
	bundle_close(b);
}

/* Two ranks: the same images in two bundles are one config, with the launches of both. */
static void test_two_bundles(void **state)
{
	struct bundle *b[2] = {capture(), capture()};
	struct suite *s = NULL;

	assert_int_equal(suite_build(&s, b, 2, NULL), 0);
	assert_int_equal(s->family_count, 2);
	assert_int_equal(s->families[0].config_count, 2);
	assert_int_equal(s->seen, 28);
	assert_int_equal(s->families[0].class_count, 3);
	assert_int_equal(s->families[1].configs[0].member_count, 2);
	assert_int_equal(s->families[1].configs[0].members[1].bundle, 1);
	suite_free(s);
	bundle_close(b[0]);
	bundle_close(b[1]);
}

/* A killed capture has launches but no CLASS records. */
static void test_killed(void **state)
{
	_cleanup_free_ char *a = stem("triton-3.4.0/add_kernel"), *path = NULL;
	struct bundle_writer *w = begin(&path, "killed.klab");
	struct suite *s = NULL;
	struct bundle *b;

	entry_bundle_add(w, a, 0, 0);
	entry_bundle_launch(w, 1, 0, 4);
	entry_bundle_launch(w, 2, 0, 4);
	b = reopen(w, path, true);
	assert_false(b->complete);
	assert_int_equal(suite_build(&s, &b, 1, NULL), 0);
	assert_int_equal(s->seen, 2);
	assert_int_equal(s->recorded, 2);
	assert_int_equal(s->families[0].class_count, 1);
	suite_free(s);
	bundle_close(b);
}

/* Without metadata a kernel is a family of its own; with unreadable metadata too, and it says so.
 */
static void test_without_metadata(void **state)
{
	_cleanup_free_ char *a = stem("triton-3.4.0/add_kernel"), *path = NULL;
	struct bundle_writer *w = begin(&path, "plain.klab");
	const char text[] = "{\"name\": \"add_kernel\"";
	struct hash128 chunk, id = entry_bundle_add(w, a, 0, 0), bare;
	struct record_image image = {.kind = IMAGE_CUBIN};
	struct record_kernel kernel = {.number = 1, .entry = "lonely"};
	struct record_file file = {.name = "lonely.json", .size = sizeof(text) - 1};
	const struct suite_member *m;
	struct suite *s = NULL;
	struct bundle *b;

	bundle_put_chunk(w, "no cubin", 8, &chunk);
	image.id = bare = chunk;
	image.size = 8;
	image.chunks = (struct hashes){&chunk, 1};
	kernel.image = file.image = bare;
	bundle_put_image(w, &image);
	bundle_put_chunk(w, text, sizeof(text) - 1, &chunk);
	file.chunks = (struct hashes){&chunk, 1};
	bundle_put_file(w, &file);
	bundle_put_kernel(w, &kernel);
	entry_bundle_launch(w, 1, 1, 1);
	b = reopen(w, path, false);
	assert_int_equal(suite_build(&s, &b, 1, NULL), 0);
	assert_int_equal(s->family_count, 2);
	m = &s->families[1].configs[0].members[0];
	assert_string_equal(s->families[1].name, "lonely");
	assert_false(s->families[1].metadata);
	assert_non_null(strstr(m->problem, "metadata"));
	assert_null(m->code);
	assert_true(hash_equal(s->families[1].configs[0].key, bare));
	assert_true(hash_equal(s->families[0].configs[0].members[0].image->id, id));
	assert_string_equal(s->families[0].configs[0].members[0].problem, "");
	suite_free(s);
	bundle_close(b);
}

static void test_bad_reference(void **state)
{
	_cleanup_free_ char *path = NULL;
	struct bundle_writer *w = begin(&path, "bad.klab");
	struct suite *s = NULL;
	struct bundle *b;
	struct error e;

	entry_bundle_launch(w, 77, 3, 1);
	b = reopen(w, path, false);
	assert_int_equal(suite_build(&s, &b, 1, &e), -EINVAL);
	assert_non_null(strstr(e.message, "launch 77 is of kernel 3"));
	bundle_close(b);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_grouping),         cmocka_unit_test(test_launches),
		cmocka_unit_test(test_two_bundles),      cmocka_unit_test(test_killed),
		cmocka_unit_test(test_without_metadata), cmocka_unit_test(test_bad_reference),
	};
	int failed;

	if (argc != 2 || !mkdtemp(folder))
		return 1;
	data_folder = argv[1];
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(folder);
	return failed;
}
