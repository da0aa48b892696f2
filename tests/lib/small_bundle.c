/* SPDX-License-Identifier: MIT */
/* Contents of a size that damage at every byte can be tried on. */
#include "tests/lib/small_bundle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "lib/bundle/codec.h"
#include "lib/bundle/reader.h"
#include "tests/lib/record_random.h"

#define MUST(call)                                             \
	do {                                                   \
		if (call) {                                    \
			fprintf(stderr, "%s failed\n", #call); \
			abort();                               \
		}                                              \
	} while (0)

/* 512 bytes around a chunk border, so two chunks; the second one is zero. */
#define REGION_BASE (7ULL * CHUNK_BYTES - 256)
#define REGION_SIZE 512u

static void put_image(struct bundle_writer *w, struct hash128 *id)
{
	static char bytes[300];
	struct record_image image = {.kind = IMAGE_CUBIN,
				     .size = sizeof(bytes),
				     .origin = ORIGIN_TRITON,
				     .loader = "cuModuleLoadData"};
	struct record_file file = {.name = "k.source", .size = 6};
	struct hash128 key, file_key;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(i / 10); /* LZ4 gains */
	*id = image.id = file.image = hash_bytes(bytes, sizeof(bytes));
	MUST(bundle_put_content(w, 0, bytes, sizeof(bytes), &key));
	image.chunks = (struct hashes){&key, 1};
	MUST(bundle_put_image(w, &image));
	MUST(bundle_put_content(w, 0, "module", 6, &file_key)); /* too short for LZ4: stored */
	file.chunks = (struct hashes){&file_key, 1};
	MUST(bundle_put_file(w, &file));
}

static void put_launch(struct bundle_writer *w)
{
	uint64_t state = 7, offsets[] = {0, 8};
	unsigned char bytes[REGION_SIZE] = {0}, params[16] = {1, 2, 3};
	struct hash128 keys[2], changed;
	struct record_attribute attribute = {.id = 4, .value = {"\2\1\1", 3}};
	struct record_region regions[] = {
		{.base = REGION_BASE,
		 .size = REGION_SIZE,
		 .memory = MEMORY_VMM,
		 .param_offsets = {offsets, 2},
		 .chunks = {keys, 2}},
		{.base = 0x10, .size = 99, .memory = MEMORY_GLOBAL, .name = "lock", .note = "gone"},
	};
	struct record_change change = {.region = 0, .chunk = 1};

	for (size_t i = 0; i < REGION_SIZE / 2; i++)
		bytes[i] = (unsigned char)random_next(&state);
	MUST(bundle_put_content(w, REGION_BASE, bytes, REGION_SIZE, keys));
	MUST(bundle_put_launch(w, &(struct record_launch){.seq = 17,
							  .kernel = 3,
							  .grid = {1, 2, 3},
							  .block = {128, 1, 1},
							  .attributes = {&attribute, 1},
							  .params = {params, sizeof(params)},
							  .regions = {regions, 2}}));
	memset(bytes + REGION_SIZE / 2, 1, REGION_SIZE / 2);
	MUST(bundle_put_chunk(w, bytes + REGION_SIZE / 2, REGION_SIZE / 2, &changed));
	change.key = changed;
	MUST(bundle_put_after(
		w, &(struct record_after){.seq = 17, .sync_result = -1, .changes = {&change, 1}}));
}

void small_bundle_write(const char *path)
{
	const char *command[] = {"python3", "", "train.py"};
	struct record_param params[] = {{.offset = 0, .size = 8}, {.offset = 8, .size = 8}};
	struct bundle_writer *w;
	struct hash128 id;

	MUST(bundle_writer_open(&w, path, BUNDLE_CAPTURE));
	MUST(bundle_put_run(w, &(struct record_run){.tool_version = "0", .command = {command, 3}}));
	MUST(bundle_put_fact(w, &(struct record_fact){.name = "torch.version", .value = "2.11"}));
	put_image(w, &id);
	MUST(bundle_put_kernel(
		w, &(struct record_kernel){
			   .number = 3, .image = id, .entry = "k", .params = {params, 2}}));
	put_launch(w);
	MUST(bundle_put_class(w, &(struct record_class){.kernel = 3, .seen = 9, .recorded = 1}));
	MUST(bundle_put_end(w, &(struct record_end){.clean = true, .launches = 9}));
	MUST(bundle_writer_close(w));
}

void small_result_write(const char *path)
{
	struct record_arg arg = {.name = "x_ptr", .type = "!tt.ptr<f32>", .pointer = true};
	struct record_extent extent = {.address = REGION_BASE, .size = REGION_SIZE, .arg = 1};
	struct hash128 keys[2], family = {1, 2};
	struct record_content content = {.chunks = {keys, 2}};
	char bytes[REGION_SIZE];
	struct bundle_writer *w;

	MUST(bundle_writer_open(&w, path, BUNDLE_RESULT));
	MUST(bundle_put_side(w, &(struct record_side){.side = SIDE_B, .source = "b"}));
	MUST(bundle_put_family(w, &(struct record_family){.key = family, .args = {&arg, 1}}));
	MUST(bundle_put_config(w, &(struct record_config){.number = 5, .family = family}));
	MUST(bundle_put_case(
		w, &(struct record_case){.number = 6, .config = 5, .extents = {&extent, 1}}));
	for (int side = 0; side < SIDE_COUNT; side++) {
		memset(bytes, side + 1, sizeof(bytes));
		MUST(bundle_put_content(w, REGION_BASE, bytes, REGION_SIZE, keys));
		MUST(bundle_put_trial(w, &(struct record_trial){.test_case = 6,
								.side = (uint32_t)side,
								.time_us = 1.5,
								.contents = {&content, 1}}));
	}
	MUST(bundle_writer_close(w));
}

size_t small_bundle_walk(const char *data, size_t size, struct small_record *records, size_t room)
{
	uint64_t at = sizeof(struct format_header);
	size_t count = 0, structured = 0;

	while (at < size && count < room) {
		struct format_frame f;

		memcpy(&f, data + at, sizeof(f));
		records[count] = (struct small_record){at, at + sizeof(f) + f.payload_bytes, f.type,
						       structured};
		structured += codec_record(f.type) != NULL;
		at = records[count++].end;
	}
	return count;
}

static const struct counted *array_of(const struct bundle *b, const struct codec_record *row)
{
	return (const void *)((const char *)b + row->array_offset);
}

size_t bundle_record_count(const struct bundle *b)
{
	const struct codec_record *row;
	size_t count = 0;

	for (size_t i = 0; (row = codec_row(i)) && row->type; i++)
		count += array_of(b, row)->count;
	return count;
}

bool bundle_records_equal(const struct bundle *whole, const struct bundle *part)
{
	const struct codec_record *row;

	for (size_t i = 0; (row = codec_row(i)) && row->type; i++) {
		const struct counted *a = array_of(whole, row), *b = array_of(part, row);

		if (b->count > a->count)
			return false;
		for (size_t j = 0; j < b->count; j++)
			if (record_difference(row, (char *)a->items + j * row->bytes,
					      (char *)b->items + j * row->bytes))
				return false;
	}
	return true;
}

enum chunks_state bundle_chunks_compare(const struct bundle *whole, const struct bundle *b)
{
	const struct chunk_table *t = &whole->priv->chunks;
	enum chunks_state state = CHUNKS_EQUAL;
	_cleanup_free_ char *x = malloc(CHUNK_BYTES);
	_cleanup_free_ char *y = malloc(CHUNK_BYTES);

	for (size_t i = 0; i < t->count; i++) {
		uint32_t size = t->items[i].raw_bytes;

		MUST(bundle_read_chunk(whole, t->items[i].key, x, size, NULL));
		if (bundle_read_chunk(b, t->items[i].key, y, size, NULL))
			state = CHUNKS_UNREADABLE;
		else if (memcmp(x, y, size) != 0)
			return CHUNKS_WRONG;
	}
	return state;
}
