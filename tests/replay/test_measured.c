/* SPDX-License-Identifier: MIT */
/* Contents of a measured launch: chunks that were not recorded, neighbours that changed meanwhile.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base.h"
#include "replay/contents.h"

#define BASE 0x302000000ull

/* Of three chunks the middle one is recorded; 64 bytes in it are written. */
static void write_bundle(const char *path, bool measured)
{
	static uint8_t before[CHUNK_BYTES], after[CHUNK_BYTES];
	uint64_t writes[] = {CHUNK_BYTES + 1024, 64};
	struct hash128 keys[3] = {0};
	struct record_region region = {.base = BASE, .size = 3 * CHUNK_BYTES, .chunks = {keys, 3}};
	struct record_launch launch = {.seq = 7, .measured = measured, .regions = {&region, 1}};
	struct record_change change = {.chunk = 1};
	struct record_after changed = {.seq = 7, .changes = {&change, 1}};
	struct bundle_writer *w;

	memset(before, 1, sizeof(before));
	memset(after, 2, sizeof(after)); /* all of it differs: another stream was at work too */
	assert_int_equal(bundle_writer_open(&w, path, BUNDLE_CAPTURE), 0);
	assert_true(bundle_put_chunk(w, before, CHUNK_BYTES, &keys[1]) >= 0);
	assert_true(bundle_put_chunk(w, after, CHUNK_BYTES, &change.key) >= 0);
	if (measured)
		region.writes = (struct u64s){writes, 2};
	else
		keys[0] = keys[2] = keys[1];
	assert_int_equal(bundle_put_launch(w, &launch), 0);
	assert_int_equal(bundle_put_after(w, &changed), 0);
	assert_int_equal(bundle_writer_close(w), 0);
}

/* What a run left already, all of a chunk, is not read from the bundle; another outcome is. */
static void shares_what_is_alike(const struct contents *contents, const struct bundle *b)
{
	_cleanup_free_ uint8_t *data = malloc(CHUNK_BYTES);
	struct snapshot like, recorded;
	struct error err = {0};

	for (int other = 0; other < 2; other++) {
		memset(data, 2, CHUNK_BYTES);
		data[1024] += (uint8_t)other;
		assert_int_equal(snapshot_init(&like, contents), 0);
		assert_int_equal(snapshot_put(&like, 1, data), 0);
		assert_int_equal(snapshot_recorded(&recorded, contents, &like, b,
						   &b->launches.items[0], &err),
				 0);
		assert_int_equal(recorded.chunks[1] == like.chunks[1], !other);
		assert_int_equal(snapshot_byte(&recorded, 1, 1024), 2);
		snapshot_free(&recorded);
		snapshot_free(&like);
	}
}

static void check(bool measured, uint64_t expected_changed, uint8_t expected_outside)
{
	char path[] = "/tmp/kernelab-measured-XXXXXX";
	struct contents contents;
	struct snapshot recorded;
	struct byteset changed;
	struct error err = {0};
	struct bundle *b;

	assert_true(close(mkstemp(path)) == 0 && unlink(path) == 0);
	write_bundle(path, measured);
	assert_int_equal(bundle_open(&b, path, &err), 0);
	assert_int_equal(contents_load(&contents, NULL, b, &b->launches.items[0], &err), 0);
	assert_int_equal(contents_chunk(&contents, 0)[5], expected_outside);
	assert_int_equal(contents_chunk(&contents, 1)[5], 1);
	assert_int_equal(contents_chunk(&contents, 2)[5], expected_outside);
	assert_int_equal(
		snapshot_recorded(&recorded, &contents, NULL, b, &b->launches.items[0], &err), 0);
	assert_int_equal(byteset_init(&changed, &contents.pieces), 0);
	assert_int_equal(snapshot_changed(&changed, &recorded), 0);
	assert_int_equal(byteset_count(&changed), expected_changed);
	assert_true(byteset_has(&changed, BASE + CHUNK_BYTES + 1024));
	byteset_free(&changed);
	shares_what_is_alike(&contents, b);
	snapshot_free(&recorded);
	contents_free(&contents);
	bundle_close(b);
	unlink(path);
}

static void only_what_it_writes_counts(void **state)
{
	check(true, 64, GUARD_BYTE);
}

static void all_counts_without_extents(void **state)
{
	check(false, CHUNK_BYTES, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_what_it_writes_counts),
		cmocka_unit_test(all_counts_without_extents),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
