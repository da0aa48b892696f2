/* SPDX-License-Identifier: MIT */
/* Chunk arithmetic, codecs, deduplication, contents at odd addresses, several threads. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <lz4.h>

#include "kernelab/bundle.h"
#include "lib/base.h"
#include "lib/bundle/chunk.h"
#include "lib/bundle/reader.h"
#include "tests/lib/record_random.h"
#include "tests/lib/scratch.h"

static void arithmetic(void **state)
{
	static const uint64_t bases[] = {
		0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, 0x7f1234567890, UINT64_MAX - 3 * CHUNK_BYTES};
	static const uint64_t sizes[] = {
		1, 2, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 3 * CHUNK_BYTES};

	assert_int_equal(chunk_count(5, 0), 0);
	for (size_t i = 0; i < ARRAY_LENGTH(bases); i++) {
		for (size_t j = 0; j < ARRAY_LENGTH(sizes); j++) {
			uint64_t count = chunk_count(bases[i], sizes[j]), at = bases[i], sum = 0;

			for (uint64_t n = 0; n < count; n++) {
				uint64_t address;
				uint32_t bytes;

				chunk_range(bases[i], sizes[j], n, &address, &bytes);
				assert_int_equal(address, at);
				assert_in_range(bytes, 1, CHUNK_BYTES);
				/* inside one chunk, and cut nowhere else */
				assert_int_equal(address / CHUNK_BYTES,
						 (address + bytes - 1) / CHUNK_BYTES);
				if (n + 1 < count)
					assert_int_equal((address + bytes) % CHUNK_BYTES, 0);
				at += bytes;
				sum += bytes;
			}
			assert_int_equal(sum, sizes[j]);
		}
	}
	/* the last byte of the address space */
	assert_int_equal(chunk_count(UINT64_MAX, 1), 1);
	assert_int_equal(chunk_count(1, UINT64_MAX), UINT64_MAX / CHUNK_BYTES + 1);
}

static void fill_random(void *data, size_t size, uint64_t seed)
{
	uint64_t state = seed * 2 + 1;

	for (size_t i = 0; i < size; i++)
		((unsigned char *)data)[i] = (unsigned char)random_next(&state);
}

static uint32_t codec_of(const struct bundle *b, struct hash128 key, uint32_t size)
{
	const struct format_index_chunk *c = chunk_table_find(&b->priv->chunks, key, size);

	assert_non_null(c);
	return c->codec;
}

static void each_codec_is_used_and_read(void **state)
{
	_cleanup_free_ char *path = scratch_path("codecs.klab");
	_cleanup_free_ char *zero = calloc(1, CHUNK_BYTES);
	_cleanup_free_ char *noise = malloc(CHUNK_BYTES);
	_cleanup_free_ char *text = malloc(CHUNK_BYTES);
	_cleanup_free_ char *back = malloc(CHUNK_BYTES);
	struct hash128 keys[4];
	uint64_t count, raw, stored, before;
	struct bundle_writer *w;
	struct bundle *b;
	struct error err;

	fill_random(noise, CHUNK_BYTES, 3);
	for (size_t i = 0; i < CHUNK_BYTES; i++)
		text[i] = (char)(i % 1000);
	assert_int_equal(bundle_writer_open(&w, path, BUNDLE_CAPTURE), 0);
	before = bundle_writer_size(w);
	assert_int_equal(bundle_put_chunk(w, zero, CHUNK_BYTES, &keys[0]), 0);
	assert_in_range(bundle_writer_size(w) - before, 1, 100);
	assert_int_equal(bundle_put_chunk(w, noise, CHUNK_BYTES, &keys[1]), 0);
	assert_int_equal(bundle_put_chunk(w, text, CHUNK_BYTES, &keys[2]), 0);
	assert_int_equal(bundle_put_chunk(w, zero, 77, &keys[3]), 0);
	before = bundle_writer_size(w);
	for (int i = 0; i < 3; i++) {
		struct hash128 again;

		assert_int_equal(bundle_put_chunk(w, noise, CHUNK_BYTES, &again), 0);
		assert_true(hash_equal(again, keys[1]));
		assert_int_equal(bundle_put_chunk(w, zero, CHUNK_BYTES, &again), 0);
		assert_true(hash_equal(again, keys[0]));
	}
	assert_int_equal(bundle_writer_size(w), before);
	assert_int_equal(bundle_put_chunk(w, noise, 0, &keys[3]), -EINVAL);
	assert_int_equal(bundle_put_chunk(w, noise, CHUNK_BYTES + 1, &keys[3]), -EINVAL);
	assert_int_equal(bundle_writer_close(w), 0);

	assert_true(hash_equal(keys[0], hash_bytes(zero, CHUNK_BYTES)));
	assert_int_equal(bundle_open(&b, path, NULL), 0);
	bundle_chunk_totals(b, &count, &raw, &stored);
	assert_int_equal(count, 4);
	assert_int_equal(raw, 3 * CHUNK_BYTES + 77);
	assert_in_range(stored, CHUNK_BYTES, CHUNK_BYTES + CHUNK_BYTES / 8);
	assert_int_equal(codec_of(b, keys[0], CHUNK_BYTES), CHUNK_ZERO);
	assert_int_equal(codec_of(b, keys[1], CHUNK_BYTES), CHUNK_STORED);
	assert_int_equal(codec_of(b, keys[2], CHUNK_BYTES), CHUNK_LZ4);
	assert_int_equal(codec_of(b, keys[3], 77), CHUNK_ZERO);
	assert_int_equal(bundle_read_chunk(b, keys[1], back, CHUNK_BYTES, &err), 0);
	assert_memory_equal(back, noise, CHUNK_BYTES);
	assert_int_equal(bundle_read_chunk(b, keys[2], back, CHUNK_BYTES, &err), 0);
	assert_memory_equal(back, text, CHUNK_BYTES);
	assert_int_equal(bundle_read_chunk(b, keys[0], back, CHUNK_BYTES, &err), 0);
	assert_memory_equal(back, zero, CHUNK_BYTES);
	assert_int_equal(bundle_read_chunk(b, keys[1], back, 5, &err), -EBADMSG);
	assert_int_equal(bundle_read_chunk(b, (struct hash128){1, 2}, back, 5, &err), -ENOENT);
	bundle_close(b);
}

/* One chunk border at each end, and sizes up to it. */
static void contents_at_odd_addresses(void **state)
{
	_cleanup_free_ char *path = scratch_path("contents.klab");
	static const uint64_t sizes[] = {1, 100, CHUNK_BYTES, 2 * CHUNK_BYTES + 5};
	static const uint64_t bases[] = {0, 0x7f0000000010, 9ULL * CHUNK_BYTES - 3};
	_cleanup_free_ char *data = malloc(3 * CHUNK_BYTES);
	_cleanup_free_ char *back = malloc(3 * CHUNK_BYTES);
	struct hash128 keys[3][4][8];
	struct bundle_writer *w;
	struct bundle *b;
	struct error err;

	fill_random(data, 3 * CHUNK_BYTES, 9);
	memset(data + CHUNK_BYTES, 0, 1000);
	assert_int_equal(bundle_writer_open(&w, path, BUNDLE_CAPTURE), 0);
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 4; j++)
			assert_int_equal(
				bundle_put_content(w, bases[i], data, sizes[j], keys[i][j]), 0);
	assert_int_equal(bundle_put_content(w, UINT64_MAX, data, 2, keys[0][0]), -EINVAL);
	assert_int_equal(bundle_writer_close(w), 0);
	assert_int_equal(bundle_open(&b, path, NULL), 0);
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 4; j++) {
			struct hashes h = {keys[i][j], chunk_count(bases[i], sizes[j])};

			memset(back, 0xee, 3 * CHUNK_BYTES);
			if (bundle_read_content(b, bases[i], sizes[j], &h, back, &err))
				fail_msg("%s", err.message);
			assert_memory_equal(back, data, sizes[j]);
			assert_int_equal((unsigned char)back[sizes[j]], 0xee);
			h.count++;
			assert_int_equal(bundle_read_content(b, bases[i], sizes[j], &h, back, &err),
					 -EINVAL);
		}
	}
	bundle_close(b);
}

static void chunks_are_copied_once(void **state)
{
	_cleanup_free_ char *from = scratch_path("from.klab");
	_cleanup_free_ char *to = scratch_path("to.klab");
	char data[5000], back[5000];
	struct bundle_writer *w;
	struct hash128 key;
	struct bundle *b;
	struct error err;
	uint64_t size;

	fill_random(data, sizeof(data), 4);
	assert_int_equal(bundle_writer_open(&w, from, BUNDLE_CAPTURE), 0);
	assert_int_equal(bundle_put_chunk(w, data, sizeof(data), &key), 0);
	assert_int_equal(bundle_writer_close(w), 0);
	assert_int_equal(bundle_open(&b, from, NULL), 0);
	assert_int_equal(bundle_writer_open(&w, to, BUNDLE_RESULT), 0);
	assert_int_equal(bundle_copy_chunk(w, b, key, &err), 0);
	size = bundle_writer_size(w);
	assert_int_equal(bundle_copy_chunk(w, b, key, &err), 0);
	assert_int_equal(bundle_writer_size(w), size);
	assert_int_equal(bundle_copy_chunk(w, b, (struct hash128){1, 1}, &err), -ENOENT);
	assert_int_equal(bundle_writer_close(w), 0);
	bundle_close(b);
	assert_int_equal(bundle_open(&b, to, NULL), 0);
	assert_int_equal(bundle_read_chunk(b, key, back, sizeof(back), &err), 0);
	assert_memory_equal(back, data, sizeof(data));
	bundle_close(b);
}

static void images_and_files(void **state)
{
	_cleanup_free_ char *path = scratch_path("images.klab");
	char text[] = "#loc = loc(\"k.py\":1:0)";
	struct record_image image = {.size = sizeof(text)};
	struct record_file file = {.name = "k.source", .size = sizeof(text) - 1};
	struct hash128 key, file_key;
	struct bundle_writer *w;
	struct bundle *b;
	struct error err;
	char *string;
	void *data;
	size_t size;

	image.id = hash_bytes(text, sizeof(text));
	assert_int_equal(bundle_writer_open(&w, path, BUNDLE_CAPTURE), 0);
	assert_int_equal(bundle_put_content(w, 0, text, sizeof(text), &key), 0);
	assert_int_equal(bundle_put_content(w, 0, text, sizeof(text) - 1, &file_key), 0);
	image.chunks = (struct hashes){&key, 1};
	file.chunks = (struct hashes){&file_key, 1};
	assert_int_equal(bundle_put_image(w, &image), 0);
	assert_int_equal(bundle_put_file(w, &file), 0);
	image.id.low ^= 1; /* bytes that are not those of the id */
	assert_int_equal(bundle_put_image(w, &image), 0);
	assert_int_equal(bundle_put_file(w, &(struct record_file){.name = "empty"}), 0);
	assert_int_equal(bundle_put_file(w, &(struct record_file){.name = "lost", .size = 5}), 0);
	assert_int_equal(bundle_writer_close(w), 0);
	assert_int_equal(bundle_open(&b, path, NULL), 0);
	assert_int_equal(bundle_read_image(b, &b->images.items[0], &data, &size, &err), 0);
	assert_int_equal(size, sizeof(text));
	assert_memory_equal(data, text, size);
	free(data);
	assert_int_equal(bundle_read_image(b, &b->images.items[1], &data, &size, &err), -EBADMSG);
	assert_int_equal(bundle_read_file(b, &b->files.items[0], &string, &size, &err), 0);
	assert_string_equal(string, text);
	free(string);
	assert_int_equal(bundle_read_file(b, &b->files.items[1], &string, &size, &err), 0);
	assert_int_equal(size, 0);
	assert_string_equal(string, "");
	free(string);
	assert_int_equal(bundle_read_file(b, &b->files.items[2], &string, &size, &err), -ENOENT);
	assert_non_null(strstr(err.message, "lost"));
	bundle_close(b);
}

/* ---- threads ---- */

#define THREADS 6
#define SHARED  40 /* chunks that every thread writes */
#define OWN     10
#define SAME    30

static struct bundle_writer *shared_writer;
static pthread_barrier_t together;
static _Atomic bool slow;

/* In front of liblz4's: packing takes so long that threads with one new chunk meet in it. */
int LZ4_compress_fast_extState(void *lz4_state, const char *from, char *to, int size, int room,
			       int acceleration)
{
	static __typeof__(LZ4_compress_fast_extState) *_Atomic real;

	if (!real)
		real = (__typeof__(LZ4_compress_fast_extState) *)dlsym(
			RTLD_NEXT, "LZ4_compress_fast_extState");
	if (slow)
		usleep(3000);
	return real(lz4_state, from, to, size, room, acceleration);
}

/* All threads at once with the same new chunk. */
static const char *write_the_same(void)
{
	_cleanup_free_ char *data = malloc(CHUNK_BYTES);

	slow = true;
	for (uint64_t i = 0; i < SAME; i++) {
		struct hash128 key;

		for (size_t j = 0; j < CHUNK_BYTES; j++)
			data[j] = (char)((j * (i + 3)) >> 7);
		pthread_barrier_wait(&together);
		if (bundle_put_chunk(shared_writer, data, CHUNK_BYTES, &key))
			return "same chunk";
	}
	return NULL;
}

static void *write_chunks(void *argument)
{
	uint64_t id = (uint64_t)(uintptr_t)argument;
	char data[3000];

	for (uint64_t i = 0; i < SHARED + OWN; i++) {
		struct record_after after = {.seq = id * 1000 + i};
		struct record_change change = {.region = 0, .chunk = i};

		fill_random(data, sizeof(data), i < SHARED ? i + 1 : 5000 + id * 100 + i);
		if (bundle_put_chunk(shared_writer, data, sizeof(data), &change.key))
			return "chunk";
		after.changes.items = &change;
		after.changes.count = 1;
		if (bundle_put_after(shared_writer, &after))
			return "after";
	}
	return (void *)write_the_same();
}

/* A key that a record names is in the file before that record, whichever thread wrote the chunk. */
static void check_order(const struct bundle *b)
{
	uint64_t last[THREADS] = {0};

	for (size_t i = 0; i < b->afters.count; i++) {
		const struct record_after *a = &b->afters.items[i];
		const struct format_index_chunk *c =
			chunk_table_find_key(&b->priv->chunks, a->changes.items[0].key);

		assert_non_null(c);
		assert_true(c->offset < b->priv->records.items[i].offset);
		assert_true(a->seq % 1000 == 0 || a->seq == last[a->seq / 1000] + 1);
		last[a->seq / 1000] = a->seq;
	}
}

static void several_threads(void **state)
{
	_cleanup_free_ char *path = scratch_path("threads.klab");
	pthread_t threads[THREADS];
	uint64_t count, raw, stored;
	struct bundle *b;

	pthread_barrier_init(&together, NULL, THREADS);
	assert_int_equal(bundle_writer_open(&shared_writer, path, BUNDLE_CAPTURE), 0);
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, write_chunks, (void *)i), 0);
	for (int i = 0; i < THREADS; i++) {
		void *failed;

		pthread_join(threads[i], &failed);
		assert_null(failed);
	}
	slow = false;
	assert_int_equal(bundle_writer_close(shared_writer), 0);
	assert_int_equal(bundle_open(&b, path, NULL), 0);
	bundle_chunk_totals(b, &count, &raw, &stored);
	assert_int_equal(count, SHARED + THREADS * OWN + SAME);
	assert_int_equal(b->afters.count, THREADS * (SHARED + OWN));
	check_order(b);
	bundle_close(b);
}

static void a_forked_child_writes_nothing(void **state)
{
	_cleanup_free_ char *path = scratch_path("fork.klab");
	struct record_fact fact = {.name = "a"};
	struct bundle_writer *w;
	struct hash128 key;
	struct bundle *b;
	int status;
	pid_t child;

	assert_int_equal(bundle_writer_open(&w, path, BUNDLE_CAPTURE), 0);
	assert_int_equal(bundle_put_fact(w, &fact), 0);
	child = fork();
	if (!child) {
		bool good = bundle_put_fact(w, &fact) == -ECHILD &&
			    bundle_put_chunk(w, "abc", 3, &key) == -ECHILD;

		bundle_writer_abandon(w);
		_exit(good ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(bundle_put_fact(w, &fact), 0);
	assert_int_equal(bundle_writer_close(w), 0);
	assert_int_equal(bundle_open(&b, path, NULL), 0);
	assert_true(b->complete);
	assert_int_equal(b->facts.count, 2);
	bundle_close(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arithmetic),
		cmocka_unit_test(each_codec_is_used_and_read),
		cmocka_unit_test(contents_at_odd_addresses),
		cmocka_unit_test(chunks_are_copied_once),
		cmocka_unit_test(images_and_files),
		cmocka_unit_test(several_threads),
		cmocka_unit_test(a_forked_child_writes_nothing),
	};

	return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
