/* SPDX-License-Identifier: MIT */
/* verify finds each fault that opening a bundle leaves to it, and none in a good one. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "kernelab/bundle.h"
#include "lib/base.h"
#include "lib/bundle/verify.h"
#include "tests/lib/forge.h"
#include "tests/lib/scratch.h"
#include "tests/lib/small_bundle.h"

struct faults {
	size_t count;
	char text[4000];
};

static void collect(void *user, const char *fault)
{
	struct faults *f = user;
	size_t used = strlen(f->text);

	f->count++;
	snprintf(f->text + used, sizeof(f->text) - used, "%s\n", fault);
}

static struct faults verify_file(const char *path, struct verify_totals *totals)
{
	struct faults f = {0};
	struct bundle *b;
	struct error err;

	if (bundle_open(&b, path, &err))
		fail_msg("%s", err.message);
	assert_int_equal(
		bundle_verify(b, &(struct verify_calls){.report = collect, .user = &f}, totals), 0);
	assert_int_equal(totals->faults + totals->unfinished, f.count);
	bundle_close(b);
	return f;
}

static void good_bundles_have_no_fault(void **state)
{
	void (*const write_bundle[])(const char *) = {small_bundle_write, small_result_write};

	for (int i = 0; i < 2; i++) {
		_cleanup_free_ char *path = scratch_path("good.klab");
		struct verify_totals totals;
		struct faults f;

		write_bundle[i](path);
		f = verify_file(path, &totals);
		assert_string_equal(f.text, "");
		assert_int_equal(totals.records, i ? 6 : 9);
		assert_int_equal(totals.chunks, i ? 2 : 5);
		unlink(path);
	}
}

/* Writes records with write(), closes, and expects exactly one fault that holds the words. */
static void one_fault(void (*write)(struct bundle_writer *w), const char *words)
{
	_cleanup_free_ char *path = scratch_path("fault.klab");
	struct verify_totals totals;
	struct bundle_writer *w;
	struct faults f;

	assert_int_equal(bundle_writer_open(&w, path, BUNDLE_CAPTURE), 0);
	write(w);
	assert_int_equal(bundle_writer_close(w), 0);
	f = verify_file(path, &totals);
	unlink(path);
	if (f.count != 1 || !strstr(f.text, words))
		fail_msg("%zu faults, not one '%s': %s", f.count, words, f.text);
}

static struct hash128 missing = {5, 6};

static void put_kernel(struct bundle_writer *w, uint32_t number)
{
	struct record_param param = {.offset = 8, .size = 8};

	/* an image without bytes (--no-data of a later day) is no fault */
	bundle_put_image(w, &(struct record_image){.id = {number + 1, 1}});
	bundle_put_kernel(w, &(struct record_kernel){.number = number,
						     .image = {number + 1, 1},
						     .params = {&param, 1}});
}

static void image_twice(struct bundle_writer *w)
{
	bundle_put_image(w, &(struct record_image){.id = {1, 1}});
	bundle_put_image(w, &(struct record_image){.id = {1, 1}});
}

static void kernel_without_image(struct bundle_writer *w)
{
	bundle_put_kernel(w, &(struct record_kernel){.number = 4, .image = {1, 1}});
}

static void kernel_twice(struct bundle_writer *w)
{
	put_kernel(w, 4);
	bundle_put_kernel(w, &(struct record_kernel){.number = 4, .image = {5, 1}});
}

static void class_without_kernel(struct bundle_writer *w)
{
	bundle_put_class(w, &(struct record_class){.kernel = 9});
}

static void file_without_image(struct bundle_writer *w)
{
	bundle_put_file(w, &(struct record_file){.name = "k.json", .image = {1, 1}});
}

static void file_with_folder(struct bundle_writer *w)
{
	bundle_put_file(w, &(struct record_file){.name = "../k.json"});
}

static void file_without_chunk(struct bundle_writer *w)
{
	bundle_put_file(
		w, &(struct record_file){.name = "k.json", .size = 5, .chunks = {&missing, 1}});
}

static void launch_without_kernel(struct bundle_writer *w)
{
	bundle_put_launch(w, &(struct record_launch){.seq = 3, .kernel = 4});
}

static void launch_twice(struct bundle_writer *w)
{
	put_kernel(w, 0);
	bundle_put_launch(w, &(struct record_launch){.seq = 3});
	bundle_put_launch(w, &(struct record_launch){.seq = 3});
}

static void params_too_short(struct bundle_writer *w)
{
	put_kernel(w, 0);
	bundle_put_launch(w, &(struct record_launch){.seq = 3, .params = {"12345678", 8}});
}

static void region_without_chunk(struct bundle_writer *w)
{
	struct record_region r = {.base = 16, .size = 5, .chunks = {&missing, 1}};

	put_kernel(w, 0);
	bundle_put_launch(w, &(struct record_launch){.seq = 3, .regions = {&r, 1}});
}

/* The key is there, with another size. */
static void region_with_other_size(struct bundle_writer *w)
{
	struct hash128 key;
	struct record_region r = {.base = 16, .size = 5, .chunks = {&key, 1}};

	put_kernel(w, 0);
	bundle_put_chunk(w, "abcd", 4, &key);
	bundle_put_launch(w, &(struct record_launch){.seq = 3, .regions = {&r, 1}});
}

static void after_without_launch(struct bundle_writer *w)
{
	bundle_put_after(w, &(struct record_after){.seq = 77});
}

static void change_without_chunk(struct bundle_writer *w)
{
	struct record_region r = {.base = 16, .size = 5};
	struct record_change c = {.key = missing};

	put_kernel(w, 0);
	bundle_put_launch(w, &(struct record_launch){.seq = 3, .regions = {&r, 1}});
	bundle_put_after(w, &(struct record_after){.seq = 3, .changes = {&c, 1}});
}

static void config_without_family(struct bundle_writer *w)
{
	bundle_put_config(w, &(struct record_config){.number = 2, .family = {1, 1}});
}

static void case_without_config(struct bundle_writer *w)
{
	bundle_put_case(w, &(struct record_case){.number = 2, .config = 8});
}

static void extent_without_argument(struct bundle_writer *w)
{
	struct record_extent e = {.address = 1, .size = 1, .arg = 1};

	bundle_put_family(w, &(struct record_family){.key = {1, 1}});
	bundle_put_config(w, &(struct record_config){.family = {1, 1}});
	bundle_put_case(w, &(struct record_case){.number = 2, .extents = {&e, 1}});
}

static void trial_without_case(struct bundle_writer *w)
{
	bundle_put_trial(w, &(struct record_trial){.test_case = 2});
}

static void reference_without_case(struct bundle_writer *w)
{
	bundle_put_reference(w, &(struct record_reference){.test_case = 3});
}

static void put_reference_of_a_case(struct bundle_writer *w, uint32_t extent, size_t bytes)
{
	struct record_extent e = {.address = 1, .size = 8};
	uint64_t element = 1;

	bundle_put_family(w, &(struct record_family){.key = {1, 1}});
	bundle_put_config(w, &(struct record_config){.family = {1, 1}});
	bundle_put_case(w, &(struct record_case){.number = 2, .extents = {&e, 1}});
	bundle_put_reference(w, &(struct record_reference){.test_case = 2,
							   .extent = extent,
							   .elements = {&element, 1},
							   .values = {"12345678", bytes}});
}

static void reference_without_extent(struct bundle_writer *w)
{
	put_reference_of_a_case(w, 1, 8);
}

static void reference_without_values(struct bundle_writer *w)
{
	put_reference_of_a_case(w, 0, 7);
}

static void each_fault_is_found(void **state)
{
	one_fault(image_twice, "is there twice");
	one_fault(kernel_without_image, "kernel 4 (?): its image is not in the bundle");
	one_fault(kernel_twice, "kernel 4 is there twice");
	one_fault(class_without_kernel, "no kernel 9");
	one_fault(file_without_image, "file k.json: its image");
	one_fault(file_with_folder, "a name with a folder");
	one_fault(file_without_chunk, "file k.json: chunk 0");
	one_fault(launch_without_kernel, "launch 3: no kernel 4");
	one_fault(launch_twice, "launch 3 is there twice");
	one_fault(params_too_short, "ends at byte 16 of a parameter buffer of 8");
	one_fault(region_without_chunk, "launch 3, region 0: chunk 0");
	one_fault(region_with_other_size, "5 bytes) is not in the bundle");
	one_fault(after_without_launch, "after launch 77");
	one_fault(change_without_chunk, "after launch 3: chunk 0 of region 0");
	one_fault(config_without_family, "config 2: its family");
	one_fault(case_without_config, "case 2: no config 8");
	one_fault(extent_without_argument, "argument 1 of 0");
	one_fault(trial_without_case, "no case 2");
	one_fault(reference_without_case, "reference 0: no case 3");
	one_fault(reference_without_extent, "reference 0 of case 2: no extent 1");
	one_fault(reference_without_values, "7 bytes of values of 1 elements");
}

/* What a stopped replay had not written yet is no fault. */
static void a_stopped_replay_is_unfinished(void **state)
{
	_cleanup_free_ char *path = scratch_path("stopped.klab");
	_cleanup_free_ char *data = NULL;
	struct verify_totals totals;
	struct bundle_writer *w;
	struct faults f;
	size_t size;

	assert_int_equal(bundle_writer_open(&w, path, BUNDLE_RESULT), 0);
	trial_without_case(w);
	reference_without_case(w);
	case_without_config(w);
	assert_int_equal(bundle_writer_close(w), 0);
	data = scratch_read(path, &size);
	scratch_write(path, data, size - 1);
	f = verify_file(path, &totals);
	unlink(path);
	assert_non_null(strstr(f.text, "not complete, whole up to byte"));
	assert_int_equal(f.count, 1);
	assert_int_equal(totals.faults, 0);
	assert_true(totals.unfinished);
	assert_int_equal(totals.behind, 2); /* the trial's case is there */
}

static void damage_is_found(void **state)
{
	_cleanup_free_ char *path = scratch_path("damage.klab");
	_cleanup_free_ char *data = NULL;
	struct verify_totals totals;
	struct faults f;
	size_t size;

	small_bundle_write(path);
	data = scratch_read(path, &size);
	scratch_write(path, data, size - 1);
	f = verify_file(path, &totals);
	assert_int_equal(f.count, 1);
	assert_non_null(strstr(f.text, "not complete, whole up to byte"));

	/* the image's first stored byte: its chunk, and the image itself */
	for (size_t at = 64; at < size; at++) {
		uint32_t type;

		memcpy(&type, data + at + 4, 4);
		if (memcmp(data + at, "KREC", 4) != 0 || type != RECORD_TYPE_CHUNK)
			continue;
		data[at + 40 + 24] ^= 0x40;
		break;
	}
	scratch_write(path, data, size);
	f = verify_file(path, &totals);
	assert_int_equal(f.count, 2);
	assert_non_null(strstr(f.text, "damaged chunk"));
	assert_non_null(strstr(f.text, "image "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_bundles_have_no_fault),
		cmocka_unit_test(each_fault_is_found),
		cmocka_unit_test(a_stopped_replay_is_unfinished),
		cmocka_unit_test(damage_is_found),
	};

	return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
