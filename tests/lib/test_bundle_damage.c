/* SPDX-License-Identifier: MIT */
/* Small bundles cut and flipped at every byte: never a crash, never silently other contents. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base.h"
#include "lib/bundle/codec.h"
#include "lib/bundle/format.h"
#include "tests/lib/scratch.h"
#include "tests/lib/small_bundle.h"

#define RECORDS_MAX 64u

struct specimen {
	char *path; /* of the file that is damaged */
	char *data; /* whole */
	size_t size;
	struct small_record records[RECORDS_MAX];
	size_t count; /* with index and footer */
	size_t structured;
	struct bundle *whole;
};

static void specimen_make(struct specimen *s, void (*write_bundle)(const char *))
{
	_cleanup_free_ char *path = scratch_path("whole.klab");
	struct error err;

	write_bundle(path);
	s->data = scratch_read(path, &s->size);
	s->count = small_bundle_walk(s->data, s->size, s->records, RECORDS_MAX);
	assert_int_equal(s->records[s->count - 1].end, s->size);
	s->structured = s->records[s->count - 1].structured_before;
	if (bundle_open(&s->whole, path, &err))
		fail_msg("%s", err.message);
	assert_true(s->whole->complete);
	assert_int_equal(bundle_record_count(s->whole), s->structured);
	remove(path);
	s->path = scratch_path("damaged.klab");
}

static void specimen_free(struct specimen *s)
{
	bundle_close(s->whole);
	free(s->path);
	free(s->data);
}

/* Index of the record that holds byte `at`, or SIZE_MAX for the header. */
static size_t record_at(const struct specimen *s, size_t at)
{
	for (size_t i = 0; i < s->count; i++)
		if (at >= s->records[i].offset && at < s->records[i].end)
			return i;
	return SIZE_MAX;
}

/* ---- cut ---- */

static void check_cut(const struct specimen *s, size_t size)
{
	struct bundle *b;
	struct error err;
	size_t whole_records;
	int status;

	scratch_write(s->path, s->data, size);
	status = bundle_open(&b, s->path, &err);
	if (size < sizeof(struct format_header)) {
		assert_int_equal(status, -EINVAL);
		assert_non_null(strstr(err.message, s->path));
		assert_non_null(strstr(err.message, "not a kernelab bundle"));
		return;
	}
	if (status)
		fail_msg("cut at %zu: %s", size, err.message);
	for (whole_records = 0; whole_records < s->count; whole_records++)
		if (s->records[whole_records].end > size)
			break;
	assert_false(b->complete);
	assert_true(b->damage[0]);
	assert_int_equal(b->file_bytes, size);
	assert_int_equal(b->valid_bytes, s->records[whole_records].offset);
	assert_int_equal(bundle_record_count(b), s->records[whole_records].structured_before);
	assert_true(bundle_records_equal(s->whole, b));
	if (whole_records >= s->count - 2)
		assert_int_equal(bundle_chunks_compare(s->whole, b), CHUNKS_EQUAL);
	bundle_close(b);
}

static void cut_everywhere(void (*write_bundle)(const char *))
{
	struct specimen s;

	specimen_make(&s, write_bundle);
	for (size_t size = 0; size < s.size; size++)
		check_cut(&s, size);
	specimen_free(&s);
}

static void cut_at_every_byte(void **state)
{
	cut_everywhere(small_bundle_write);
	cut_everywhere(small_result_write);
}

/* ---- flipped ---- */

/*
 * Is `at` among the bytes of a chunk that only its key covers? LZ4 may give the same from other
 * bytes: then nothing has changed.
 */
static bool in_stored_bytes(const struct small_record *r, size_t at)
{
	return r->type == RECORD_TYPE_CHUNK &&
	       at >= r->offset + sizeof(struct format_frame) + sizeof(struct format_chunk);
}

static void no_silent_change(const struct specimen *s, const struct bundle *b, size_t at)
{
	enum chunks_state chunks = bundle_chunks_compare(s->whole, b);

	if (!bundle_records_equal(s->whole, b))
		fail_msg("byte %zu: a record reads differently", at);
	if (chunks == CHUNKS_WRONG)
		fail_msg("byte %zu: a chunk reads differently", at);
	if (!b->complete)
		return;
	if (bundle_record_count(b) != s->structured)
		fail_msg("byte %zu: complete, with fewer records", at);
	if (chunks == CHUNKS_EQUAL && !in_stored_bytes(&s->records[record_at(s, at)], at))
		fail_msg("byte %zu: the change was not noticed at all", at);
}

static void flip(const struct specimen *s, size_t size, size_t at, unsigned char mask,
		 void (*check)(const struct specimen *, size_t, size_t, int, struct bundle *,
			       struct error *))
{
	_cleanup_free_ char *copy = malloc(size);
	struct bundle *b = NULL;
	struct error err = {0};
	int status;

	memcpy(copy, s->data, size);
	copy[at] = (char)(copy[at] ^ mask);
	scratch_write(s->path, copy, size);
	status = bundle_open(&b, s->path, &err);
	check(s, size, at, status, b, &err);
	bundle_close(b);
}

/* With index: damage in a structured record is an error there, in a chunk when it is read. */
static void check_with_index(const struct specimen *s, size_t size, size_t at, int status,
			     struct bundle *b, struct error *err)
{
	size_t i = record_at(s, at);
	uint32_t type = i == SIZE_MAX ? 0 : s->records[i].type;

	if (!status)
		no_silent_change(s, b, at);
	if (i == SIZE_MAX) {
		assert_true(status < 0);
	} else if (type == RECORD_TYPE_CHUNK) {
		assert_int_equal(status, 0);
		assert_true(b->complete);
	} else if (type == RECORD_TYPE_INDEX || type == RECORD_TYPE_FOOTER) {
		assert_int_equal(status, 0);
		assert_false(b->complete);
		assert_int_equal(bundle_record_count(b), s->structured);
		assert_int_equal(bundle_chunks_compare(s->whole, b), CHUNKS_EQUAL);
	} else {
		assert_int_equal(status, -EBADMSG);
		assert_int_equal(err->offset, s->records[i].offset);
		assert_non_null(strstr(err->message, "damaged record at offset"));
	}
}

/* Without: damage with whole records behind it is an error, at the end it is an end. */
static void check_without_index(const struct specimen *s, size_t size, size_t at, int status,
				struct bundle *b, struct error *err)
{
	size_t i = record_at(s, at), last = s->count - 3;

	if (!status)
		no_silent_change(s, b, at);
	if (i == SIZE_MAX) {
		assert_true(status < 0);
	} else if (in_stored_bytes(&s->records[i], at)) {
		assert_int_equal(status, 0);
		assert_int_equal(bundle_record_count(b), s->structured);
	} else if (i == last) {
		assert_int_equal(status, 0);
		assert_int_equal(b->valid_bytes, s->records[i].offset);
		assert_int_equal(bundle_record_count(b), s->structured - 1);
	} else {
		assert_int_equal(status, -EBADMSG);
		assert_int_equal(err->offset, s->records[i].offset);
		assert_non_null(strstr(err->message, "whole records follow"));
	}
}

static void flip_everywhere(void (*write_bundle)(const char *))
{
	struct specimen s;
	size_t without;

	specimen_make(&s, write_bundle);
	without = s.records[s.count - 2].offset;
	for (size_t at = 0; at < s.size; at++) {
		flip(&s, s.size, at, (unsigned char)(1u << at % 8), check_with_index);
		flip(&s, s.size, at, 0xff, check_with_index);
		if (at < without) {
			flip(&s, without, at, (unsigned char)(1u << (at + 3) % 8),
			     check_without_index);
			flip(&s, without, at, 0xff, check_without_index);
		}
	}
	specimen_free(&s);
}

static void flip_at_every_byte(void **state)
{
	flip_everywhere(small_bundle_write);
	flip_everywhere(small_result_write);
}

/* ---- other tails ---- */

static void bytes_behind_the_footer(void **state)
{
	struct specimen s;
	struct bundle *b;
	char *longer;

	specimen_make(&s, small_bundle_write);
	longer = calloc(1, s.size * 2 + 4096);
	memcpy(longer, s.data, s.size);
	scratch_write(s.path, longer, s.size + 4096);
	assert_int_equal(bundle_open(&b, s.path, NULL), 0);
	assert_false(b->complete);
	assert_int_equal(b->valid_bytes, s.size);
	assert_int_equal(bundle_record_count(b), s.structured);
	bundle_close(b);

	/* The same bundle twice in a file: the second one's records are not at their offsets. */
	memcpy(longer + s.size, s.data, s.size);
	scratch_write(s.path, longer, s.size * 2);
	assert_int_equal(bundle_open(&b, s.path, NULL), 0);
	assert_false(b->complete);
	assert_int_equal(bundle_record_count(b), s.structured);
	bundle_close(b);
	free(longer);
	specimen_free(&s);
}

/* A file system that lost the last blocks of a machine that went down: zeros instead of records. */
static void zeros_at_the_end(void **state)
{
	struct specimen s;
	struct bundle *b;

	specimen_make(&s, small_bundle_write);
	for (size_t i = 0; i < s.count; i++) {
		char *copy = calloc(1, s.size);

		memcpy(copy, s.data, s.records[i].offset + 20);
		scratch_write(s.path, copy, s.size);
		assert_int_equal(bundle_open(&b, s.path, NULL), 0);
		assert_false(b->complete);
		assert_int_equal(b->valid_bytes, s.records[i].offset);
		bundle_close(b);
		free(copy);
	}
	specimen_free(&s);
}

/* ---- killed ---- */

/* Facts with their number, each behind a chunk of its own; ends only by a signal. */
static void write_until_killed(const char *path, int ready)
{
	struct bundle_writer *w;

	if (bundle_writer_open(&w, path, BUNDLE_CAPTURE))
		_exit(1);
	for (uint64_t i = 0;; i++) {
		char name[32], noise[5000];
		struct record_fact fact = {.name = name};
		struct hash128 key;

		for (size_t j = 0; j < sizeof(noise); j++)
			noise[j] = (char)((i + 1) * (j * j + 7) >> 5);
		snprintf(name, sizeof(name), "%llu", (unsigned long long)i);
		if (bundle_put_chunk(w, noise, sizeof(noise), &key) || bundle_put_fact(w, &fact))
			_exit(1);
		if (i == 3 && write(ready, "", 1) != 1)
			_exit(1);
		if (i == 1000) /* the parent is late: wait for it */
			pause();
	}
}

static void check_killed(const char *path)
{
	uint64_t chunks, raw, stored;
	struct bundle *b;
	struct error err;

	if (bundle_open(&b, path, &err))
		fail_msg("%s", err.message);
	assert_false(b->complete);
	assert_true(b->facts.count > 3);
	for (size_t i = 0; i < b->facts.count; i++)
		assert_int_equal(strtoull(b->facts.items[i].name, NULL, 10), i);
	bundle_chunk_totals(b, &chunks, &raw, &stored);
	assert_in_range(chunks, b->facts.count, b->facts.count + 1);
	bundle_close(b);
}

static void kill_9(void **state)
{
	for (int round = 0; round < 20; round++) {
		_cleanup_free_ char *path = scratch_path("killed.klab");
		int ready[2], status;
		char byte;
		pid_t child;

		assert_int_equal(pipe(ready), 0);
		child = fork();
		if (!child)
			write_until_killed(path, ready[1]);
		close(ready[1]);
		assert_int_equal(read(ready[0], &byte, 1), 1);
		close(ready[0]);
		usleep((useconds_t)round * 137);
		kill(child, SIGKILL);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		check_killed(path);
		unlink(path);
	}
}

static void what_is_no_bundle(void **state)
{
	_cleanup_free_ char *path = scratch_path("no.klab");
	char text[200] = "not a bundle, but long enough to be one, if it only were one: see ";
	struct bundle *b;
	struct error err;

	assert_int_equal(bundle_open(&b, "/nonexistent.klab", &err), -ENOENT);
	assert_non_null(strstr(err.message, "/nonexistent.klab"));
	assert_int_equal(bundle_open(&b, "/", &err), -EINVAL);
	assert_int_equal(bundle_open(&b, "/dev/zero", &err), -EINVAL);
	scratch_write(path, "", 0);
	assert_int_equal(bundle_open(&b, path, &err), -EINVAL);
	scratch_write(path, text, sizeof(text));
	assert_int_equal(bundle_open(&b, path, &err), -EINVAL);
	assert_non_null(strstr(err.message, "not a kernelab bundle"));
	assert_int_equal(err.offset, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cut_at_every_byte),
		cmocka_unit_test(flip_at_every_byte),
		cmocka_unit_test(bytes_behind_the_footer),
		cmocka_unit_test(zeros_at_the_end),
		cmocka_unit_test(kill_9),
		cmocka_unit_test(what_is_no_bundle),
	};

	return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
