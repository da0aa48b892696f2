/* SPDX-License-Identifier: MIT */
/* Which code is run for an image of PTX: the driver's of the recorded run, or the image. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base.h"
#include "replay/code.h"
#include "tests/shim/cmocka_all.h"

static const char path[] = "code.klab";
static struct bundle *b;

static struct hash128 put_image(struct bundle_writer *w, const char *text)
{
	struct hash128 key;
	struct record_image image = {.id = hash_bytes(text, strlen(text)),
				     .kind = IMAGE_PTX,
				     .size = strlen(text),
				     .chunks = {&key, 1}};

	assert_int_equal(bundle_put_content(w, 0, text, strlen(text), &key), 0);
	assert_int_equal(bundle_put_image(w, &image), 0);
	return image.id;
}

static void put_code(struct bundle_writer *w, struct hash128 image, const char *name,
		     const char *text)
{
	struct hash128 key;
	struct record_file file = {
		.image = image, .name = name, .size = strlen(text), .chunks = {&key, 1}};

	assert_int_equal(bundle_put_content(w, 0, text, strlen(text), &key), 0);
	assert_int_equal(bundle_put_file(w, &file), 0);
}

static void assert_reads(const struct record_image *image, unsigned sm, const char *text)
{
	_cleanup_free_ void *data = NULL;
	struct error err = {0};
	size_t size;

	assert_int_equal(code_read(b, image, sm, &data, &size, &err), 0);
	assert_int_equal(size, strlen(text));
	assert_memory_equal(data, text, size);
}

static void code_of_this_gpu(void **state)
{
	const struct record_image *none = &b->images.items[0], *one = &b->images.items[1];
	const struct record_image *several = &b->images.items[2], *same = &b->images.items[3];

	assert_reads(none, 90, "none");
	assert_reads(one, 90, "code for 90");
	assert_reads(one, 100, "code for 100");
	assert_reads(one, 80, "one");
	assert_reads(one, 0, "one"); /* the software device */
	assert_reads(several, 90, "several");
	assert_reads(several, 80, "code for 80");
	assert_reads(same, 90, "code for 90");
}

static void same_code_is_one(void **state)
{
	const struct record_image *one = &b->images.items[1], *same = &b->images.items[3];

	assert_true(hash_equal(code_id(b, one->id, 90), code_id(b, same->id, 90)));
	assert_false(hash_equal(code_id(b, one->id, 90), code_id(b, one->id, 100)));
	assert_true(hash_equal(code_id(b, one->id, 80), one->id));
	assert_true(hash_equal(code_id(b, one->id, 0), one->id));
}

static struct hash128 all_of(const struct record_image *image)
{
	struct hash_state *h = hash_state_new();
	struct hash128 hash;

	assert_non_null(h);
	code_add(h, b, image->id);
	hash = hash_state_end(h);
	hash_state_free(h);
	return hash;
}

/* A replay is not gone on with by other code. */
static void all_code_counts(void **state)
{
	const struct record_image *i = b->images.items;
	struct hash_state *h = hash_state_new();
	struct hash128 empty = hash_state_end(h);

	hash_state_free(h);
	assert_true(hash_equal(all_of(&i[0]), empty));
	assert_false(hash_equal(all_of(&i[1]), empty));
	assert_false(hash_equal(all_of(&i[1]), all_of(&i[2])));
	assert_false(hash_equal(all_of(&i[1]), all_of(&i[3])));
}

static void counts(void **state)
{
	size_t images, with;

	bundle_count_driver_cubins(b, &images, &with);
	assert_int_equal(images, 4);
	assert_int_equal(with, 3);
}

static int setup(void **state)
{
	struct bundle_writer *w;
	struct hash128 one, several, same;
	struct error err = {0};

	unlink(path);
	if (bundle_writer_open(&w, path, BUNDLE_CAPTURE))
		return -1;
	put_image(w, "none");
	one = put_image(w, "one");
	several = put_image(w, "several");
	same = put_image(w, "same");
	put_code(w, one, "driver.sm_90.cubin", "code for 90");
	put_code(w, one, "driver.sm_100.cubin", "code for 100");
	put_code(w, several, "driver.sm_90.cubin", "code for 90");
	put_code(w, several, "driver.sm_90.cubin.2", "other code for 90");
	put_code(w, several, "driver.sm_80.cubin", "code for 80");
	put_code(w, same, "driver.sm_90.cubin", "code for 90");
	return bundle_writer_close(w) || bundle_open(&b, path, &err) ? -1 : 0;
}

static int teardown(void **state)
{
	bundle_close(b);
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(code_of_this_gpu),
		cmocka_unit_test(same_code_is_one),
		cmocka_unit_test(all_code_counts),
		cmocka_unit_test(counts),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
