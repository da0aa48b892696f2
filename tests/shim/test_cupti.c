/* SPDX-License-Identifier: MIT */
/* capture --cupti: what the driver makes of PTX stands in the bundle, and who is in the way. */
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "tests/shim/cmocka_all.h"
#include "tests/shim/run_client.h"

static struct client_run run;
static char *code; /* what the soft libcupti tells of */
static size_t code_size;

static int clean(void **state)
{
	client_clean(&run);
	return 0;
}

/* Each variable at most once, "" for none. */
static const struct bundle *capture(const char *mode, const char *one, const char *two)
{
	const char *environment[] = {
		"KERNELAB_ORIGIN=all", "KERNELAB_CUPTI=1", "KERNELAB_CACHE_ROOTS=", one, two, NULL};

	client_run(&run, mode, "softmax_k", environment);
	assert_int_equal(run.status, 0);
	assert_int_equal(run.count, 1);
	assert_true(run.bundles[0]->ends.items[0].clean);
	return run.bundles[0];
}

static void assert_code(const struct bundle *b, const struct record_image *image)
{
	const struct record_file *file = bundle_driver_cubin(b, image->id, 90);
	_cleanup_free_ char *data = NULL;
	size_t size;

	assert_int_equal(image->kind, IMAGE_PTX);
	assert_non_null(file);
	assert_null(bundle_driver_cubin(b, image->id, 80));
	assert_int_equal(bundle_read_file(b, file, &data, &size, NULL), 0);
	assert_int_equal(size, code_size);
	assert_memory_equal(data, code, size);
}

static void assert_library(const struct bundle *b)
{
	const char *path = bundle_fact(b, "capture.cupti");

	assert_non_null(path);
	assert_non_null(strstr(path, "libcupti.so.13"));
}

static void code_of_modules(void **state)
{
	static const char *const modes[] = {"module", "library"};
	static const char *const lazy[] = {"FAKE_LAZY=0", "FAKE_LAZY=1"};

	for (size_t i = 0; i < 4; i++) {
		const struct bundle *b = capture(modes[i / 2], lazy[i % 2], "A=");

		assert_int_equal(b->images.count, 1);
		assert_code(b, &b->images.items[0]);
		assert_int_equal(b->files.count, 1);
		assert_library(b);
		assert_null(bundle_fact(b, "capture.cupti_refused"));
		assert_int_equal(b->launches.count, 1);
		client_clean(&run);
	}
	capture("module", "A=", "B="); /* for the teardown */
}

static void code_is_written_once(void **state)
{
	const struct bundle *b = capture("threads", "A=", "B=");

	assert_int_equal(b->images.count, 1);
	assert_int_equal(b->files.count, 1);
	assert_code(b, &b->images.items[0]);
}

static void not_without_being_asked(void **state)
{
	const struct bundle *b = capture("module", "KERNELAB_CUPTI=0", "A=");

	assert_int_equal(b->files.count, 0);
	assert_null(bundle_fact(b, "capture.cupti"));
}

/* Nobody but the profiler is subscribed outside of our loads, whoever comes first. */
static void profilers_are_not_disturbed(void **state)
{
	const struct bundle *b = capture("profiler-first", "A=", "B=");

	assert_int_equal(b->images.count, 2);
	assert_null(bundle_driver_cubin(b, b->images.items[0].id, 90));
	assert_code(b, &b->images.items[1]);
	assert_non_null(strstr(bundle_fact(b, "capture.cupti_refused"), "profiler"));
	client_clean(&run);

	b = capture("profiler-later", "A=", "B=");
	assert_int_equal(b->images.count, 3);
	assert_code(b, &b->images.items[0]);
	assert_null(bundle_driver_cubin(b, b->images.items[1].id, 90));
	assert_code(b, &b->images.items[2]);
}

static void without_cupti(void **state)
{
	static const struct {
		const char *variable, *refused;
	} cases[] = {{"SOFT_CUPTI=refuse", "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED (39)"},
		     {"SOFT_CUPTI=no-callback",
		      "cuptiEnableCallback: CUPTI_ERROR_INVALID_PARAMETER"}};

	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		const struct bundle *b = capture("module", cases[i].variable, "A=");

		assert_int_equal(b->files.count, 0);
		assert_int_equal(b->launches.count, 1);
		assert_library(b);
		assert_non_null(strstr(bundle_fact(b, "capture.cupti_refused"), cases[i].refused));
		client_clean(&run);
	}
	capture("module", "A=", "B="); /* for the teardown */
}

/* A library that is none, and none at all (or, where a CUDA toolkit is installed, one that is
 * refused by a driver which is none). */
static void without_a_library(void **state)
{
	const char *folder = setting("DRIVER");
	_cleanup_free_ char *bare = text_format("LD_LIBRARY_PATH=%s", folder);
	_cleanup_free_ char *broken = text_format("%s/no_cupti:%s", bare, folder);
	const struct bundle *b = capture("module", broken, "A=");

	assert_int_equal(b->files.count, 0);
	assert_string_equal(bundle_fact(b, "capture.cupti"), "unavailable");
	client_clean(&run);

	b = capture("module", bare, "A=");
	assert_int_equal(b->files.count, 0);
	assert_non_null(bundle_fact(b, "capture.cupti"));
	assert_true(!strcmp(bundle_fact(b, "capture.cupti"), "unavailable") ||
		    bundle_fact(b, "capture.cupti_refused"));
	assert_int_equal(b->launches.count, 1);
}

static void several_modules_of_a_call(void **state)
{
	const struct bundle *b = capture("module", "SOFT_CUPTI=twice", "A=");

	assert_int_equal(b->files.count, 0);
	assert_non_null(strstr(bundle_fact(b, "capture.cupti_unclear"), "2 modules"));
}

/* Of one image, as when each load had other JIT options. */
static void more_code_than_is_kept(void **state)
{
	const struct bundle *b = capture("threads", "SOFT_CUPTI=differ", "A=");

	assert_int_equal(b->images.count, 1);
	assert_int_equal(b->files.count, 16);
	assert_non_null(bundle_fact(b, "capture.cupti_left"));
	assert_non_null(strstr(bundle_fact(b, "capture.cupti_left"), "more than 16"));
}

/* A fatbin that cannot be read: its code comes from the driver, and with it names of variables. */
static void fatbin_that_is_not_read(void **state)
{
	_cleanup_free_ char *cubin =
		text_format("SOFT_CUPTI_CUBIN=%s/kernels.cubin", setting("FATBINS"));
	_cleanup_free_ char *fatbin =
		text_format("FATBIN=%s/kernels-zstd.fatbin", setting("FATBINS"));
	const struct bundle *b = capture("fatbin", cubin, fatbin);

	assert_int_equal(b->images.count, 1);
	assert_int_equal(b->images.items[0].kind, IMAGE_FATBIN);
	assert_non_null(bundle_driver_cubin(b, b->images.items[0].id, 90));
	assert_non_null(strstr(bundle_fact(b, "capture.module_globals_unknown"), "zstd"));
	assert_non_null(bundle_fact(b, "capture.module_globals_heard"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(code_of_modules, clean),
		cmocka_unit_test_teardown(code_is_written_once, clean),
		cmocka_unit_test_teardown(not_without_being_asked, clean),
		cmocka_unit_test_teardown(profilers_are_not_disturbed, clean),
		cmocka_unit_test_teardown(without_cupti, clean),
		cmocka_unit_test_teardown(without_a_library, clean),
		cmocka_unit_test_teardown(several_modules_of_a_call, clean),
		cmocka_unit_test_teardown(more_code_than_is_kept, clean),
		cmocka_unit_test_teardown(fatbin_that_is_not_read, clean),
	};
	_cleanup_free_ char *path = cache_cubin("softmax_k");
	int status;

	if (file_read_all(path, 1 << 20, &code, &code_size))
		return 2;
	setenv("SOFT_CUPTI_CUBIN", path, 1);
	status = cmocka_run_group_tests(tests, NULL, NULL);
	free(code);
	return status;
}
