/* SPDX-License-Identifier: MIT */
/* Fuzz target: a file, records whose checksums hold, or one payload. Nothing may crash or leak. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernelab/bundle.h"
#include "lib/base.h"
#include "lib/bundle/codec.h"
#include "lib/bundle/verify.h"
#include "tests/lib/forge.h"
#include "tests/lib/fuzz.h"
#include "tests/lib/record_random.h"

static void must(bool holds, const char *what)
{
	if (!holds) {
		fprintf(stderr, "fuzz_bundle: %s\n", what);
		abort();
	}
}

/* Everything that a user of a bundle does with it. */
static void use(const struct bundle *b)
{
	struct verify_totals totals;
	struct hash128 none = {0, 0};

	bundle_verify(b, &(struct verify_calls){0}, &totals);
	for (size_t i = 0; i < b->files.count; i++) {
		struct error err;
		char *data;
		size_t size;

		/* zero chunks cost nothing in a file: do not allocate gigabytes here */
		if (b->files.items[i].size < 1 << 20 &&
		    !bundle_read_file(b, &b->files.items[i], &data, &size, &err))
			free(data);
	}
	must(b->valid_bytes <= b->file_bytes, "valid_bytes beyond the file");
	must(b->complete || b->damage[0], "not complete, without a reason");
	bundle_file(b, none, ".json");
	bundle_fact(b, "x");
}

static void open_and_use(const void *data, size_t size)
{
	static int fd = -1;
	static char path[64];
	struct error err = {0};
	struct bundle *b;

	if (fd < 0) {
		fd = memfd_create("fuzz", MFD_CLOEXEC);
		must(fd >= 0, "memfd_create");
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	must(!ftruncate(fd, 0) && pwrite(fd, data, size, 0) == (ssize_t)size, "pwrite");
	if (bundle_open(&b, path, &err)) {
		must(err.code > 0 && !strncmp(err.message, path, strlen(path)),
		     "an error without code or file name");
		return;
	}
	use(b);
	bundle_close(b);
}

/* Records [type, length low, length high, payload]…; the last bit of the first byte: with index? */
static void open_forged(const uint8_t *data, size_t size)
{
	bool with_index = size && data[0] & 1;
	size_t at = 1;
	struct forge f;

	forge_start(&f, size && data[0] & 2 ? BUNDLE_RESULT : BUNDLE_CAPTURE);
	while (at + 3 <= size) {
		uint32_t type = data[at];
		size_t length = data[at + 1] | (size_t)data[at + 2] << 8;

		at += 3;
		if (length > size - at)
			length = size - at;
		if (type == RECORD_TYPE_CHUNK && length > 1)
			forge_chunk(&f, hash_bytes(data + at + 1, length - 1), (uint32_t)length - 1,
				    data[at], data + at + 1, (uint32_t)length - 1);
		else
			forge_record(&f, type, 0, data + at, length);
		at += length;
	}
	if (with_index)
		forge_end(&f);
	open_and_use(f.data, f.size);
	forge_free(&f);
}

/* What decodes encodes again to something that decodes to the same. */
static void decode(const uint8_t *data, size_t size)
{
	const struct codec_record *row = codec_record(size ? data[0] : 0);
	struct arena arena = {.limit_bytes = 64 << 20};
	struct intern lists = {0};
	_cleanup_free_ void *record = NULL;
	_cleanup_free_ void *again = NULL;
	_cleanup_free_ char *encoded = NULL;
	size_t encoded_size;
	struct error err;

	if (!row)
		return;
	record = calloc(1, row->bytes);
	again = calloc(1, row->bytes);
	must(record && again, "calloc");
	if (!codec_decode(row, data + 1, size - 1, 0, &arena, &lists, record, &err)) {
		must(!codec_encode(row, record, &encoded, &encoded_size), "encode");
		must(!codec_decode(row, encoded, encoded_size, 0, &arena, &lists, again, &err),
		     "decode");
		must(!record_difference(row, record, again), "a field changed");
	} else {
		must(err.code > 0 && err.message[0], "an error without code or words");
	}
	intern_free(&lists);
	arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	switch (data[0]) {
	case FUZZ_FORGED:
		open_forged(data + 1, size - 1);
		break;
	case FUZZ_PAYLOAD:
		decode(data + 1, size - 1);
		break;
	default: /* FUZZ_FILE */
		open_and_use(data + 1, size - 1);
	}
	return 0;
}
