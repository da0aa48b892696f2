/* SPDX-License-Identifier: MIT */
/* Writes that fail or come back short: the file ends with a whole record and nothing is raised. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <fcntl.h>
#include <unistd.h>

#include <cmocka.h>

#include "kernelab/bundle.h"
#include "lib/base.h"
#include "tests/lib/record_random.h"
#include "tests/lib/scratch.h"

/* ---- a disk with so many bytes left, that takes little at a time and is interrupted ---- */

static struct {
	bool on;
	uint64_t left;
	size_t most; /* bytes a call */
	unsigned calls;
} disk;

static ssize_t real_pwritev(int fd, const struct iovec *parts, int count, off_t offset)
{
	return syscall(SYS_pwritev, fd, parts, count, offset, 0);
}

static ssize_t poor_pwritev(int fd, const struct iovec *parts, int count, off_t offset)
{
	struct iovec one = parts[0];
	ssize_t n;

	if (!disk.on)
		return real_pwritev(fd, parts, count, offset);
	if (disk.calls++ % 3 == 0) {
		errno = EINTR;
		return -1;
	}
	if (!disk.left) {
		errno = ENOSPC;
		return -1;
	}
	if (one.iov_len > disk.most)
		one.iov_len = disk.most;
	if (one.iov_len > disk.left)
		one.iov_len = disk.left;
	n = real_pwritev(fd, &one, 1, offset);
	if (n > 0)
		disk.left -= (uint64_t)n;
	return n;
}

/* In front of libc's, for the writer's archive too; the name depends on _FILE_OFFSET_BITS. */
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset)
{
	return poor_pwritev(fd, parts, count, offset);
}

#ifndef __USE_FILE_OFFSET64
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t offset)
{
	return poor_pwritev(fd, parts, count, (off_t)offset);
}
#endif

/* Writes until it fails; returns the failure and how many facts and chunks went in before. */
static int fill(struct bundle_writer *w, size_t limit, size_t *facts, size_t *chunks)
{
	char noise[400];
	uint64_t state = 1;

	*facts = *chunks = 0;
	for (size_t i = 0; i < limit; i++) {
		struct record_fact fact = {.name = "name", .value = "a value of some length"};
		struct hash128 key;
		int status;

		for (size_t j = 0; j < sizeof(noise); j++)
			noise[j] = (char)random_next(&state);
		status = bundle_put_fact(w, &fact);
		if (status)
			return status;
		++*facts;
		status = bundle_put_chunk(w, noise, sizeof(noise), &key);
		if (status)
			return status;
		++*chunks;
	}
	return 0;
}

static void check_stopped(const char *path, struct bundle_writer *w, int status, size_t facts,
			  size_t chunks)
{
	uint64_t count, raw, stored, size = bundle_writer_size(w);
	struct record_fact fact = {.name = "later"};
	struct hash128 key;
	struct bundle *b;
	struct error err;

	/* broken from then on, also where there is room again */
	disk.left = 1 << 20;
	assert_int_equal(bundle_put_fact(w, &fact), status);
	assert_int_equal(bundle_put_chunk(w, "abc", 3, &key), status);
	assert_int_equal(bundle_writer_close(w), status);
	disk.on = false;
	assert_int_equal(scratch_size(path), size);
	if (bundle_open(&b, path, &err))
		fail_msg("%s", err.message);
	assert_false(b->complete);
	assert_int_equal(b->valid_bytes, size);
	assert_int_equal(b->facts.count, facts);
	bundle_chunk_totals(b, &count, &raw, &stored);
	assert_int_equal(count, chunks);
	bundle_close(b);
}

static void disk_full(void **state)
{
	/* every place inside a pair of records */
	for (uint64_t left = 64; left < 64 + 700; left += 7) {
		_cleanup_free_ char *path = scratch_path("full.klab");
		struct bundle_writer *w;
		size_t facts, chunks;
		int status;

		disk.on = true;
		disk.left = left + 1000;
		disk.most = 50;
		assert_int_equal(bundle_writer_open(&w, path, BUNDLE_CAPTURE), 0);
		status = fill(w, 1000, &facts, &chunks);
		assert_int_equal(status, -ENOSPC);
		check_stopped(path, w, status, facts, chunks);
		unlink(path);
	}
}

static void short_writes_are_continued(void **state)
{
	_cleanup_free_ char *path = scratch_path("short.klab");
	struct bundle_writer *w;
	size_t facts, chunks;
	struct bundle *b;

	disk.on = true;
	disk.left = UINT64_MAX;
	disk.most = 1;
	assert_int_equal(bundle_writer_open(&w, path, BUNDLE_CAPTURE), 0);
	assert_int_equal(fill(w, 5, &facts, &chunks), 0);
	assert_int_equal(bundle_writer_close(w), 0);
	disk.on = false;
	assert_int_equal(bundle_open(&b, path, NULL), 0);
	assert_true(b->complete);
	assert_int_equal(b->facts.count, 5);
	bundle_close(b);
}

/* No room for the index: what was recorded stays readable. */
static void full_at_the_end(void **state)
{
	_cleanup_free_ char *path = scratch_path("end.klab");
	struct bundle_writer *w;
	size_t facts, chunks;
	struct bundle *b;

	assert_int_equal(bundle_writer_open(&w, path, BUNDLE_CAPTURE), 0);
	assert_int_equal(fill(w, 5, &facts, &chunks), 0);
	disk.on = true;
	disk.left = 100;
	disk.most = 1000;
	assert_int_equal(bundle_writer_close(w), -ENOSPC);
	disk.on = false;
	assert_int_equal(bundle_open(&b, path, NULL), 0);
	assert_false(b->complete);
	assert_int_equal(b->valid_bytes, b->file_bytes);
	assert_int_equal(b->facts.count, 5);
	bundle_close(b);
}

/* SIGXFSZ keeps its default action here, which would end the program. */
static void file_size_limit(void **state)
{
	_cleanup_free_ char *path = scratch_path("limit.klab");
	struct rlimit old, limit;
	struct bundle_writer *w;
	size_t facts, chunks;
	int status;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = (struct rlimit){10000, old.rlim_max};
	signal(SIGXFSZ, SIG_DFL);
	assert_int_equal(bundle_writer_open(&w, path, BUNDLE_CAPTURE), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	status = fill(w, 1000, &facts, &chunks);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(status, -EFBIG);
	check_stopped(path, w, status, facts, chunks);
}

/* The program closed our descriptor and opened a file of its own, which got the number. */
static void a_strange_descriptor_is_left_alone(void **state)
{
	_cleanup_free_ char *path = scratch_path("closed.klab");
	_cleanup_free_ char *other = scratch_path("precious");
	struct record_fact fact = {.name = "a"};
	struct bundle_writer *w;
	int low = dup(0), fd;

	close(low); /* the number that the writer's file gets */
	assert_int_equal(bundle_writer_open(&w, path, BUNDLE_CAPTURE), 0);
	assert_int_equal(bundle_put_fact(w, &fact), 0);
	close(low);
	scratch_write(other, "precious", 8);
	fd = open(other, O_RDWR | O_CLOEXEC);
	assert_int_equal(fd, low);
	assert_int_equal(bundle_put_fact(w, &fact), -EBADF);
	assert_int_equal(bundle_put_fact(w, &fact), -EBADF);
	assert_int_equal(scratch_size(other), 8);
	assert_int_equal(bundle_writer_close(w), -EBADF);
	/* not closed either */
	assert_int_equal(write(fd, "!", 1), 1);
	close(fd);
}

/* The program runs with a standard stream closed and prints: not into the bundle. */
static void never_a_standard_stream(void **state)
{
	struct record_fact fact = {.name = "a"};

	for (int stream = 0; stream < 3; stream++) {
		_cleanup_free_ char *path = scratch_path("stream.klab");
		int saved = fcntl(stream, F_DUPFD_CLOEXEC, 10);
		struct bundle_writer *w;
		struct bundle *b;
		ssize_t written;
		int status;

		close(stream);
		status = bundle_writer_open(&w, path, BUNDLE_CAPTURE);
		written = pwrite(stream, "printed", 7, 0);
		dup2(saved, stream);
		close(saved);
		assert_int_equal(status, 0);
		assert_int_equal(written, -1);
		assert_int_equal(bundle_put_fact(w, &fact), 0);
		assert_int_equal(bundle_writer_close(w), 0);
		assert_int_equal(bundle_open(&b, path, NULL), 0);
		assert_int_equal(b->facts.count, 1);
		bundle_close(b);
		unlink(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(disk_full),
		cmocka_unit_test(short_writes_are_continued),
		cmocka_unit_test(full_at_the_end),
		cmocka_unit_test(file_size_limit),
		cmocka_unit_test(a_strange_descriptor_is_left_alone),
		cmocka_unit_test(never_a_standard_stream),
	};

	return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
