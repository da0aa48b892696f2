/* SPDX-License-Identifier: MIT */
/* What is written is read again: every record type with random contents, and chunks. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "kernelab/bundle.h"
#include "lib/base.h"
#include "lib/bundle/format.h"
#include "tests/lib/record_random.h"
#include "tests/lib/scratch.h"

static int put(struct bundle_writer *w, uint32_t type, const void *record)
{
	switch (type) {
#define R(number, NAME, name, array) \
	case number:                 \
		return bundle_put_##name(w, record);
		RECORDS(R)
#undef R
	}
	return -1;
}

/* Rounds of all types, mixed in one file; numbers that links use are made harmless. */
#define ROUNDS 12

struct written {
	const struct codec_record *row;
	void *record;
};

static size_t write_random(const char *path, struct arena *arena, struct written *all)
{
	const struct codec_record *row;
	struct bundle_writer *w;
	uint64_t state = 42;
	size_t count = 0;

	assert_int_equal(bundle_writer_open(&w, path, BUNDLE_CAPTURE), 0);
	for (int round = 0; round < ROUNDS; round++) {
		enum random_fill fill = round < 2    ? RANDOM_ALL
					: round == 2 ? RANDOM_NONE
						     : RANDOM_SOME;

		for (size_t i = 0; (row = codec_row(i)) && row->type; i++) {
			void *record = arena_take(arena, row->bytes);

			record_random(row, record, arena, fill, &state);
			if (row->type == RECORD_TYPE_AFTER)
				((struct record_after *)record)->seq = 1000000 + (uint64_t)round;
			if (row->type == RECORD_TYPE_LAUNCH)
				((struct record_launch *)record)->seq = 1 + (uint64_t)round;
			if (row->type == RECORD_TYPE_CASE)
				((struct record_case *)record)->number = (uint32_t)round;
			if (row->type == RECORD_TYPE_TRIAL)
				((struct record_trial *)record)->test_case = 1000;
			assert_int_equal(put(w, row->type, record), 0);
			all[count++] = (struct written){row, record};
		}
	}
	assert_int_equal(bundle_writer_close(w), 0);
	return count;
}

static void compare_all(const struct bundle *b, const struct written *all, size_t count)
{
	size_t next[256] = {0};

	for (size_t i = 0; i < count; i++) {
		const struct codec_record *row = all[i].row;
		const struct counted *array = (const void *)((const char *)b + row->array_offset);
		size_t at = next[row->type]++;
		const char *field;

		assert_true(at < array->count);
		field = record_difference(row, all[i].record,
					  (char *)array->items + at * row->bytes);
		if (field)
			fail_msg("%s %zu: field %s differs", row->name, at, field);
	}
}

static void every_record_type_with_random_contents(void **state)
{
	_cleanup_free_ char *path = scratch_path("random.klab");
	struct arena arena = {.limit_bytes = UINT64_MAX};
	struct written all[ROUNDS * 32];
	size_t count = write_random(path, &arena, all);
	struct error err;
	struct bundle *b;

	if (bundle_open(&b, path, &err))
		fail_msg("%s", err.message);
	assert_true(b->complete);
	assert_int_equal(b->kind, BUNDLE_CAPTURE);
	assert_int_equal(b->valid_bytes, b->file_bytes);
	compare_all(b, all, count);
	bundle_close(b);

	/* And the same without the footer: by the scan. */
	assert_int_equal(truncate(path, (off_t)scratch_size(path) - 1), 0);
	if (bundle_open(&b, path, &err))
		fail_msg("%s", err.message);
	assert_false(b->complete);
	assert_true(b->damage[0]);
	compare_all(b, all, count);
	bundle_close(b);
	arena_free(&arena);
}

static void text_that_is_not_utf8_is_repaired(void **state)
{
	_cleanup_free_ char *path = scratch_path("utf8.klab");
	struct record_fact fact = {.name = "a\xff"
					   "b\xc3",
				   .value = "\xed\xa0\x80",
				   .how = "ü"};
	struct bundle_writer *w;
	struct bundle *b;
	struct error err;

	assert_int_equal(bundle_writer_open(&w, path, BUNDLE_CAPTURE), 0);
	assert_int_equal(bundle_put_fact(w, &fact), 0);
	assert_int_equal(bundle_writer_close(w), 0);
	assert_int_equal(bundle_open(&b, path, &err), 0);
	assert_string_equal(b->facts.items[0].name, "a\xef\xbf\xbd"
						    "b\xef\xbf\xbd");
	assert_string_equal(b->facts.items[0].value, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	assert_string_equal(b->facts.items[0].how, "ü");
	bundle_close(b);
}

static void impossible_records_are_refused_by_the_writer(void **state)
{
	_cleanup_free_ char *path = scratch_path("refused.klab");
	struct hash128 keys[3] = {{1, 2}, {3, 4}, {5, 6}};
	struct record_region region = {.base = 0x1000, .size = 100, .chunks = {keys, 2}};
	struct record_launch launch = {.seq = 1, .regions = {&region, 1}};
	struct record_fact missing = {.name = "x"};
	uint64_t pairs[] = {50, 51};
	struct bundle_writer *w;
	struct bundle *b;
	uint64_t size;

	assert_int_equal(bundle_writer_open(&w, path, BUNDLE_RESULT), 0);
	size = bundle_writer_size(w);
	assert_int_equal(bundle_put_launch(w, &launch), -EINVAL);
	region = (struct record_region){.base = UINT64_MAX - 3, .size = 5};
	assert_int_equal(bundle_put_launch(w, &launch), -EINVAL);
	/* extents: beyond the region, in a launch that is not measured, over a chunk without key */
	region = (struct record_region){.base = 0x1000, .size = 100, .reads = {pairs, 2}};
	launch.measured = true;
	assert_int_equal(bundle_put_launch(w, &launch), -EINVAL);
	pairs[1] = 50;
	launch.measured = false;
	assert_int_equal(bundle_put_launch(w, &launch), -EINVAL);
	region.chunks = (struct hashes){&(struct hash128){0}, 1};
	launch.measured = true;
	assert_int_equal(bundle_put_launch(w, &launch), -EINVAL);
	region.reads.count = 0;
	launch.measured = false;
	assert_int_equal(bundle_put_launch(w, &launch), -EINVAL);
	launch = (struct record_launch){.params = {NULL, 8}};
	assert_int_equal(bundle_put_launch(w, &launch), -EINVAL);
	assert_int_equal(bundle_writer_size(w), size);
	/* and it is not broken by that */
	assert_int_equal(bundle_put_fact(w, &missing), 0);
	assert_int_equal(bundle_writer_close(w), 0);
	assert_int_equal(bundle_open(&b, path, NULL), 0);
	assert_int_equal(b->kind, BUNDLE_RESULT);
	assert_int_equal(b->facts.count, 1);
	assert_null(b->facts.items[0].value);
	bundle_close(b);
}

static void a_closed_bundle_is_continued(void **state)
{
	_cleanup_free_ char *path = scratch_path("continued.klab");
	struct record_fact fact = {.name = "x", .value = "first"};
	struct bundle_writer *w;
	struct hash128 key, again;
	struct bundle *b;
	struct error err;
	char data[8] = {0};
	uint64_t size;

	assert_int_equal(bundle_writer_open(&w, path, BUNDLE_RESULT), 0);
	assert_int_equal(bundle_put_fact(w, &fact), 0);
	assert_int_equal(bundle_put_chunk(w, "content", 8, &key), 0);
	size = bundle_writer_size(w);
	assert_int_equal(bundle_writer_close(w), 0);

	if (bundle_writer_append(&w, path, &err))
		fail_msg("%s", err.message);
	assert_int_equal(bundle_writer_size(w), size);
	assert_int_equal(scratch_size(path), size);
	fact.value = "second";
	assert_int_equal(bundle_put_chunk(w, "content", 8, &again), 0);
	assert_int_equal(bundle_writer_size(w), size); /* it is known to be there */
	assert_int_equal(bundle_put_fact(w, &fact), 0);
	assert_int_equal(bundle_writer_close(w), 0);

	if (bundle_open(&b, path, &err))
		fail_msg("%s", err.message);
	assert_true(b->complete);
	assert_int_equal(b->facts.count, 2);
	assert_string_equal(bundle_fact(b, "x"), "second");
	assert_int_equal(bundle_read_chunk(b, key, data, 8, &err), 0);
	assert_string_equal(data, "content");
	bundle_close(b);

	size = scratch_size(path);
	assert_int_equal(truncate(path, (off_t)size - 1), 0);
	assert_int_equal(bundle_writer_append(&w, path, &err), -EBADMSG);
	assert_int_equal(scratch_size(path), size - 1);
}

static void an_existing_file_is_not_touched(void **state)
{
	_cleanup_free_ char *path = scratch_path("there.klab");
	struct bundle_writer *w;

	scratch_write(path, "mine", 4);
	assert_int_equal(bundle_writer_open(&w, path, BUNDLE_CAPTURE), -EEXIST);
	assert_int_equal(scratch_size(path), 4);
	assert_int_equal(bundle_writer_open(&w, "/nonexistent/x.klab", BUNDLE_CAPTURE), -ENOENT);
}

static void a_bundle_is_private(void **state)
{
	_cleanup_free_ char *path = scratch_path("private.klab");
	struct bundle_writer *w;
	struct stat st;

	assert_int_equal(bundle_writer_open(&w, path, BUNDLE_CAPTURE), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0077, 0);
	assert_int_equal(bundle_writer_close(w), 0);
}

static void look_ups(void **state)
{
	_cleanup_free_ char *path = scratch_path("lookup.klab");
	struct hash128 one = {1, 1}, two = {2, 2}, none = {0, 0};
	struct bundle_writer *w;
	struct bundle *b;

	assert_int_equal(bundle_writer_open(&w, path, BUNDLE_CAPTURE), 0);
	for (uint64_t seq = 1000; seq > 0; seq--) {
		struct record_launch l = {.seq = seq * 3, .kernel = (uint32_t)seq};
		struct record_after a = {.seq = seq * 3, .result = (int64_t)seq};
		struct record_kernel k = {.number = (uint32_t)(seq - 1), .entry = "k"};

		assert_int_equal(bundle_put_launch(w, &l), 0);
		assert_int_equal(bundle_put_after(w, &a), 0);
		assert_int_equal(bundle_put_kernel(w, &k), 0);
	}
	bundle_put_image(w, &(struct record_image){.id = two, .path = "2"});
	bundle_put_image(w, &(struct record_image){.id = one, .path = "1"});
	bundle_put_file(w, &(struct record_file){.image = two, .name = "k.json"});
	bundle_put_file(w, &(struct record_file){.image = one, .name = "k.source"});
	bundle_put_file(w, &(struct record_file){.image = one, .name = "k.json", .path = "p"});
	bundle_put_file(w, &(struct record_file){.name = "run.py"});
	bundle_put_fact(w, &(struct record_fact){.name = "a", .value = "old"});
	bundle_put_fact(w, &(struct record_fact){.name = "a", .value = "new"});
	assert_int_equal(bundle_writer_close(w), 0);
	assert_int_equal(bundle_open(&b, path, NULL), 0);
	assert_int_equal(bundle_launch(b, 33)->kernel, 11);
	assert_int_equal(bundle_after(b, 3000)->result, 1000);
	assert_int_equal(bundle_kernel(b, 0)->number, 0);
	assert_null(bundle_launch(b, 34));
	assert_null(bundle_after(b, 0));
	assert_null(bundle_kernel(b, 1000));
	assert_string_equal(bundle_image(b, one)->path, "1");
	assert_null(bundle_image(b, none));
	assert_string_equal(bundle_file(b, one, ".json")->path, "p");
	assert_null(bundle_file(b, two, ".source"));
	assert_string_equal(bundle_file(b, none, ".py")->name, "run.py");
	assert_string_equal(bundle_fact(b, "a"), "new");
	assert_null(bundle_fact(b, "b"));
	bundle_close(b);
}

/* Repeats of a replay name the same contents again and again. */
static void equal_key_lists_share_memory(void **state)
{
	_cleanup_free_ char *path = scratch_path("lists.klab");
	struct hash128 keys[2][500] = {0};
	struct bundle_writer *w;
	const struct hash128 *kept[2];
	struct bundle *b;

	assert_int_equal(bundle_writer_open(&w, path, BUNDLE_RESULT), 0);
	keys[1][499].low = 1;
	for (uint32_t i = 0; i < 1000; i++) {
		struct record_content c = {.chunks = {keys[i % 2], 500}};

		assert_int_equal(bundle_put_trial(w, &(struct record_trial){.index = i,
									    .contents = {&c, 1}}),
				 0);
	}
	assert_int_equal(bundle_writer_close(w), 0);
	assert_int_equal(bundle_open(&b, path, NULL), 0);
	assert_int_equal(b->trials.count, 1000);
	for (size_t i = 0; i < 1000; i++) {
		const struct hashes *h = &b->trials.items[i].contents.items[0].chunks;

		if (i < 2)
			kept[i] = h->items;
		assert_ptr_equal(h->items, kept[i % 2]);
		assert_int_equal(h->count, 500);
	}
	assert_ptr_not_equal(kept[0], kept[1]);
	assert_memory_equal(kept[0], keys[0], sizeof(keys[0]));
	assert_memory_equal(kept[1], keys[1], sizeof(keys[1]));
	bundle_close(b);
}

static void names_of_driver_cubins(void **state)
{
	static char *const others[] = {"driver.sm_90", "driver.sm_90.ptx", "driver.sm_90.cubins",
				       "driver.sm_.cubin", "k.cubin"};
	struct record_file f = {.name = "driver.sm_90.cubin"};
	unsigned sm = 0;

	assert_true(file_is_driver_cubin(&f, &sm));
	assert_int_equal(sm, 90);
	f.name = "driver.sm_120.cubin.2";
	assert_true(file_is_driver_cubin(&f, &sm));
	assert_int_equal(sm, 120);
	for (size_t i = 0; i < ARRAY_LENGTH(others); i++) {
		f.name = others[i];
		assert_false(file_is_driver_cubin(&f, &sm));
	}
	f.name = NULL;
	assert_false(file_is_driver_cubin(&f, &sm));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_record_type_with_random_contents),
		cmocka_unit_test(text_that_is_not_utf8_is_repaired),
		cmocka_unit_test(impossible_records_are_refused_by_the_writer),
		cmocka_unit_test(a_closed_bundle_is_continued),
		cmocka_unit_test(an_existing_file_is_not_touched),
		cmocka_unit_test(a_bundle_is_private),
		cmocka_unit_test(look_ups),
		cmocka_unit_test(names_of_driver_cubins),
		cmocka_unit_test(equal_key_lists_share_memory),
	};

	return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
