/* SPDX-License-Identifier: MIT */
/* Makes a golden bundle of the current format version: every record type with every field. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "kernelab/bundle.h"
#include "lib/base.h"
#include "tests/lib/dump.h"
#include "tests/lib/record_random.h"

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

static int put_chunks(struct bundle_writer *w)
{
	static char zeros[CHUNK_BYTES], text[5000];
	struct hash128 keys[4];

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)(i % 100);
	if (bundle_put_content(w, CHUNK_BYTES - 200, zeros, CHUNK_BYTES, keys))
		return -1;
	if (bundle_put_chunk(w, text, sizeof(text), keys))
		return -1;
	return bundle_put_chunk(w, "stored", 6, keys);
}

static int write_golden(const char *path)
{
	struct arena arena = {.limit_bytes = UINT64_MAX};
	const struct codec_record *row;
	uint64_t state = 1;
	struct bundle_writer *w;
	int status = bundle_writer_open(&w, path, BUNDLE_CAPTURE);

	if (status)
		return status;
	status = put_chunks(w);
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; (row = codec_row(i)) && row->type && !status; i++) {
			void *record = arena_take(&arena, row->bytes);

			if (!record)
				return -1;
			record_random(row, record, &arena, RANDOM_SHORT, &state);
			/* changes and contents would have to fit other records */
			if (row->type == RECORD_TYPE_AFTER)
				((struct record_after *)record)->seq = 1000;
			if (row->type == RECORD_TYPE_TRIAL)
				((struct record_trial *)record)->test_case = 1000;
			status = put(w, row->type, record);
		}
	}
	arena_free(&arena);
	return status ? status : bundle_writer_close(w);
}

/* golden_make FILE.klab FILE.txt; with an existing FILE.klab only the text is made. */
int main(int argc, char **argv)
{
	_cleanup_file_ FILE *to = NULL;
	struct bundle *b;
	struct error err;
	int status;

	if (argc != 3)
		return 2;
	status = write_golden(argv[1]);
	if (status && status != -EEXIST) {
		fprintf(stderr, "%s: %s\n", argv[1], strerror(-status));
		return 2;
	}
	if (bundle_open(&b, argv[1], &err)) {
		fprintf(stderr, "%s\n", err.message);
		return 2;
	}
	to = fopen(argv[2], "w");
	if (!to)
		return 2;
	bundle_dump(b, to);
	bundle_close(b);
	return 0;
}
