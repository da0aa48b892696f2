/* SPDX-License-Identifier: MIT */
/* Files whose checksums hold and whose contents lie: each is refused with its place and reason. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <lz4.h>

#include "kernelab/bundle.h"
#include "lib/base.h"
#include "lib/bundle/codec.h"
#include "lib/bundle/format.h"
#include "tests/lib/forge.h"
#include "tests/lib/scratch.h"

/* Opens what was forged; with and without index it must come to the same. */
static int open_forged(struct forge *f, struct bundle **b, struct error *err)
{
	_cleanup_free_ char *path = scratch_path("forged.klab");

	scratch_write(path, f->data, f->size);
	return bundle_open(b, path, err);
}

static void refused(struct forge *f, int code, const char *words)
{
	struct bundle *b;
	struct error err = {0};
	int status = open_forged(f, &b, &err);

	if (status != -code)
		fail_msg("status %d, not %d, for: %s (%s)", status, -code, words, err.message);
	if (!strstr(err.message, words))
		fail_msg("'%s' lacks '%s'", err.message, words);
	forge_free(f);
}

/* ---- MessagePack ---- */

struct bad_payload {
	uint32_t type;
	const char *bytes;
	size_t size;
	const char *words; /* in the message */
	int at;            /* err.offset - offset of the payload; -1: not checked */
};

#define P(type, bytes, words, at)                                       \
	{                                                               \
		RECORD_TYPE_##type, bytes, sizeof(bytes) - 1, words, at \
	}

static const struct bad_payload bad_payloads[] = {
	P(FACT, "", "ends before a value", 0),
	P(FACT, "\xc0", "type 0xc0 is not used", 0),
	P(FACT, "\x90", "an array where a map is wanted", 0),
	P(FACT, "\x80\x80", "1 bytes behind the record", 1),
	P(FACT, "\x81\x01", "field name: ends before a value", 2),
	P(FACT, "\x81\x09\xa1x", "unknown field number 9", 2),
	P(FACT, "\x81\x00\xa1x", "unknown field number 0", 2),
	P(FACT, "\x81\xff\xa1x", "a negative number where an unsigned number", 1),
	P(FACT, "\x81\xa1\x01\xa1x", "text where an unsigned number", 1),
	P(FACT, "\x82\x01\xa1x\x01\xa1x", "field number 1 behind 1", 5),
	P(FACT, "\x82\x02\xa1x\x01\xa1x", "field number 1 behind 2", 5),
	P(FACT, "\x81\x01\x05", "field name: an unsigned number where text is wanted", 2),
	P(FACT, "\x81\x01\xc4\x01x", "bytes where text", 2),
	P(FACT, "\x81\x01\xa2x", "text of 2, with 1 bytes left", 2),
	P(FACT, "\x81\x01\xdb\xff\xff\xff\xffx", "text of 4294967295", 2),
	P(FACT, "\x81\x01\xd9", "ends within a value", 3),
	P(FACT, "\x81\x01\xa3x\0y", "text with a NUL", 3),
	P(FACT, "\x81\x01\xa2\xc0\x80", "not UTF-8", 3),
	P(FACT, "\x81\x01\xa3\xed\xa0\x80", "not UTF-8", 3),
	P(FACT, "\x81\x01\xa1\xff", "not UTF-8", 3),
	P(FACT, "\xdf\xff\xff\xff\xff", "a map of 4294967295", 0),
	P(FACT, "\x81\x01\xc7\x01\x01x", "type 0xc7 is not used", 2),
	P(RUN, "\x81\x02\xdd\xff\xff\xff\xff", "an array of 4294967295", 2),
	P(RUN, "\x81\x02\x92\xa1x\x01", "field command: an unsigned number where text", 5),
	P(RUN, "\x81\x07\x01", "field no_data: an unsigned number where a boolean", 2),
	P(DEVICE, "\x81\x01\xcf\0\0\0\1\0\0\0\0", "4294967296 does not fit 32 bits", -1),
	P(DEVICE, "\x81\x01\xff", "a negative number where", 2),
	P(DEVICE, "\x81\x01\xcb\0\0\0\0\0\0\0\0", "a float where", 2),
	P(IMAGE,
	  "\x81\x01\xc4\x0f"
	  "123456789012345",
	  "hash of 15 bytes", -1),
	P(IMAGE,
	  "\x81\x04\xc4\x11"
	  "12345678901234567",
	  "hashes of 17 bytes", -1),
	P(LAUNCH, "\x81\x03\x92\x01\x02", "2 numbers where 3 are wanted", -1),
	P(LAUNCH, "\x81\x03\x93\x01\x02\xa1x", "field grid: text where", 5),
	P(LAUNCH, "\x81\x0e\x91\x81\x63\x01",
	  "region record, field (number): unknown field number 99", -1),
	P(LAUNCH, "\x81\x0e\x91\x01", "an unsigned number where a map", 3),
	P(AFTER, "\x81\x02\xcf\xff\xff\xff\xff\xff\xff\xff\xff", "no signed 64-bit number", -1),
	P(AFTER, "\x81\x04\x91\x90", "change record", 3),
	P(TRIAL, "\x81\x07\x01", "an unsigned number where a float", 2),
	P(FILE, "\x81\x04\xce\x40\x00\x00\x01", "file of 1073741825 bytes", -1),
	P(LAUNCH, "\x81\x0e\x91\x82\x01\xcf\xff\xff\xff\xff\xff\xff\xff\xff\x02\x02",
	  "reach beyond the address space", -1),
	P(IMAGE,
	  "\x82\x03\x01\x04\xc4\x20"
	  "12345678901234567890123456789012",
	  "2 chunk keys for 1 chunks", -1),
};

static void payloads_that_lie(void **state)
{
	for (size_t i = 0; i < ARRAY_LENGTH(bad_payloads); i++) {
		const struct bad_payload *p = &bad_payloads[i];
		const char good[] = "\x81\x01\xa1x";

		for (int with_index = 0; with_index < 2; with_index++) {
			struct error err = {0};
			struct bundle *b;
			struct forge f;
			int status;

			forge_start(&f, BUNDLE_CAPTURE);
			forge_record(&f, RECORD_TYPE_FACT, 0, good, sizeof(good) - 1);
			forge_record(&f, p->type, 0, p->bytes, p->size);
			if (with_index)
				forge_end(&f);
			status = open_forged(&f, &b, &err);
			if (status != -EBADMSG && status != -EINVAL)
				fail_msg("payload %zu (%s): status %d", i, p->words, status);
			if (!strstr(err.message, p->words))
				fail_msg("payload %zu: '%s' lacks '%s'", i, err.message, p->words);
			if (p->at >= 0)
				assert_int_equal(err.offset, 64 + 40 + 4 + 40 + p->at);
			forge_free(&f);
		}
	}
}

/* One byte each in the file, a struct each in memory. */
static void records_that_swell(void **state)
{
	size_t count = 4u << 20;
	char *payload = malloc(count + 7);
	struct forge f;

	memcpy(payload, "\x81\x0e\xdd", 3);
	for (int i = 0; i < 4; i++)
		payload[3 + i] = (char)(count >> (24 - 8 * i));
	memset(payload + 7, 0x80, count);
	forge_start(&f, BUNDLE_CAPTURE);
	forge_record(&f, RECORD_TYPE_LAUNCH, 0, payload, count + 7);
	free(payload);
	forge_end(&f);
	refused(&f, EFBIG, "too many for a file of this size");
}

/* ---- frames ---- */

static void frames_that_are_not_known(void **state)
{
	struct forge f;

	forge_start(&f, BUNDLE_CAPTURE);
	forge_record(&f, 50, 0, "\x80", 1);
	refused(&f, ENOTSUP, "record of unknown type 50 at offset 64");

	forge_start(&f, BUNDLE_CAPTURE);
	forge_record(&f, RECORD_TYPE_FACT, 4, "\x80", 1);
	refused(&f, ENOTSUP, "fact record with unknown flags 0x4 at offset 64");

	forge_start(&f, BUNDLE_CAPTURE);
	forge_record(&f, RECORD_TYPE_FOOTER, 0, "\x80", 1);
	refused(&f, ENOTSUP, "footer record of 1 bytes");

	forge_start(&f, BUNDLE_CAPTURE);
	forge_end(&f);
	forge_record(&f, RECORD_TYPE_FACT, 0, "\x80", 1);
	refused(&f, EBADMSG, "fact record behind the footer");

	/* all good records behind one that is not whole are seen, far behind too */
	forge_start(&f, BUNDLE_CAPTURE);
	forge_record(&f, RECORD_TYPE_FACT, 0, "\x80", 1);
	f.data[70] ^= 1;
	for (int i = 0; i < 60; i++) {
		static const char noise[1 << 16] = "KREC";

		forge_chunk(&f, hash_bytes(&i, 4), sizeof(noise), CHUNK_STORED, noise,
			    sizeof(noise));
		if (i < 59) /* not whole: its head is spoilt */
			f.data[f.size - sizeof(noise) - 20] ^= 1;
	}
	refused(&f, EBADMSG,
		"damaged record at offset 64: frame checksum mismatch; whole records "
		"follow from offset");
}

static void headers_that_are_not_known(void **state)
{
	static const struct {
		size_t at;
		uint32_t value;
		const char *words;
	} cases[] = {
		{8, 2, "format version 2; this kernelab reads version 1"},
		{8, 0, "format version 0"},
		{12, 72, "header of 72 bytes"},
		{16, 3, "unknown kind of bundle 3"},
		{20, 4096, "chunks of 4096 bytes"},
		{48, 1, "reserved field"},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		struct forge f;
		uint64_t sum;

		forge_start(&f, BUNDLE_CAPTURE);
		memcpy(f.data + cases[i].at, &cases[i].value, 4);
		sum = format_checksum(0, f.data, 56);
		memcpy(f.data + 56, &sum, 8);
		refused(&f, i == 2 ? EINVAL : ENOTSUP, cases[i].words);
	}
}

/* ---- index ---- */

static void start_indexed(struct forge *f)
{
	forge_start(f, BUNDLE_CAPTURE);
	forge_record(f, RECORD_TYPE_FACT, 0, "\x80", 1);
	forge_chunk(f, hash_bytes("abc", 3), 3, CHUNK_STORED, "abc", 3);
	forge_record(f, RECORD_TYPE_FACT, 0, "\x80", 1);
}

static void indexes_that_lie(void **state)
{
	struct bundle *b;
	struct forge f;
	struct error err;

	start_indexed(&f);
	forge_end(&f);
	assert_int_equal(open_forged(&f, &b, &err), 0);
	assert_true(b->complete);
	bundle_close(b);
	forge_free(&f);

#define LIE_AS(error, change, words) \
	start_indexed(&f);           \
	change;                      \
	forge_end(&f);               \
	refused(&f, error, words)
#define LIE(change, words) LIE_AS(EBADMSG, change, words)

	LIE(f.records[1].offset = 64, "record entry 1 is impossible"); /* twice the same */
	LIE(f.records[0].offset = 0, "record entry 0 is impossible");
	LIE(f.records[1].offset = UINT64_MAX - 10, "record entry 1 is impossible");
	LIE(f.records[1].payload_bytes = UINT64_MAX - 10, "record entry 1 is impossible");
	LIE(f.records[1].payload_bytes = 100 << 20, "record entry 1 is impossible");
	LIE(f.records[1].type = RECORD_TYPE_CHUNK, "record entry 1 is impossible");
	LIE_AS(ENOTSUP, f.records[1].type = 50, "record of unknown type 50, as a newer kernelab");
	LIE(f.records[1].reserved = 1, "record entry 1 is impossible");
	LIE(f.records[1].type = RECORD_TYPE_RUN, "is not the one that the index lists");
	LIE(f.records[0].offset = 65, "damaged record at offset 65");
	LIE(f.index_records = 1, "lists 108 bytes of records");
	LIE(f.index_chunks = 0, "bytes of records, the file has");
	LIE(f.chunks[0].offset = 1 << 30, "chunk entry 0 is impossible");
	LIE(f.chunks[0].raw_bytes = 0, "chunk entry 0 is impossible");
	LIE(f.chunks[0].raw_bytes = CHUNK_BYTES + 1, "chunk entry 0 is impossible");
	LIE(f.chunks[0].stored_bytes = 2, "chunk entry 0 is impossible");
	LIE(f.chunks[0].codec = 3, "chunk entry 0 is impossible");
	LIE((f.chunks[1] = f.chunks[0], f.index_chunks = 2), "chunk entry 1 is impossible");
#undef LIE
#undef LIE_AS
}

static void footers_that_lie(void **state)
{
	for (int i = 0; i < 4; i++) {
		struct format_footer footer = {.magic = FORMAT_FOOTER_MAGIC};
		struct format_index counts = {i == 3 ? UINT64_MAX / 24 + 1 : 0, 0};
		struct forge f;

		forge_start(&f, BUNDLE_CAPTURE);
		forge_record(&f, RECORD_TYPE_INDEX, 0, &counts, sizeof(counts));
		footer.index_offset = i == 0 ? 0 : i == 1 ? UINT64_MAX : 64;
		footer.index_bytes = i == 2 ? UINT64_MAX - 55 : sizeof(counts);
		forge_record(&f, RECORD_TYPE_FOOTER, 0, &footer, sizeof(footer));
		refused(&f, EBADMSG,
			i == 3 ? "records and 0 chunks do not make" : "points nowhere");
	}
}

/* ---- chunks ---- */

static int read_forged(uint32_t raw_bytes, uint32_t codec, const void *stored,
		       uint32_t stored_bytes, struct hash128 key, struct error *err)
{
	char data[1000];
	struct bundle *b;
	struct forge f;
	int status;

	forge_start(&f, BUNDLE_CAPTURE);
	forge_chunk(&f, key, raw_bytes, codec, stored, stored_bytes);
	status = open_forged(&f, &b, err);
	forge_free(&f);
	if (status)
		return status;
	memset(data, 0x55, sizeof(data));
	status = bundle_read_chunk(b, key, data, raw_bytes, err);
	for (size_t i = raw_bytes; i < sizeof(data); i++)
		assert_int_equal(data[i], 0x55);
	bundle_close(b);
	return status;
}

static void chunks_that_lie(void **state)
{
	char zeros[900] = {0}, packed[900];
	struct hash128 key = hash_bytes(zeros, 500);
	int n = LZ4_compress_default(zeros, packed, 900, sizeof(packed));
	struct error err;

	assert_int_equal(read_forged(500, CHUNK_ZERO, NULL, 0, key, &err), 0);
	/* expands to 900 bytes, says 500 */
	assert_int_equal(read_forged(500, CHUNK_LZ4, packed, (uint32_t)n, key, &err), -EBADMSG);
	assert_non_null(strstr(err.message, "does not expand to its size"));
	/* and to fewer */
	assert_int_equal(read_forged(950, CHUNK_LZ4, packed, (uint32_t)n, key, &err), -EBADMSG);
	/* another key */
	assert_int_equal(read_forged(900, CHUNK_LZ4, packed, (uint32_t)n, key, &err), -EBADMSG);
	assert_non_null(strstr(err.message, "key mismatch"));
	assert_int_equal(read_forged(499, CHUNK_ZERO, NULL, 0, key, &err), -EBADMSG);
	/* sizes that no codec gives */
	assert_int_equal(read_forged(500, CHUNK_ZERO, zeros, 1, key, &err), -ENOTSUP);
	assert_int_equal(read_forged(500, CHUNK_STORED, zeros, 499, key, &err), -ENOTSUP);
	assert_int_equal(read_forged(500, 7, zeros, 500, key, &err), -ENOTSUP);
	assert_int_equal(read_forged(0, CHUNK_ZERO, NULL, 0, key, &err), -ENOTSUP);
}

/* ---- links ---- */

static void links_that_lie(void **state)
{
	/* launch 1 with a region of 16 bytes; after 1 with a change of region 1, or of chunk 1 */
	static const char launch[] = "\x82\x01\x01\x0e\x91\x82\x01\x20\x02\x10";
	static const char region[] = "\x82\x01\x01\x04\x91\x81\x01\x01";
	static const char chunk[] = "\x82\x01\x01\x04\x91\x81\x02\x01";
	/* case 1 without extents; a trial of it with contents */
	static const char test_case[] = "\x81\x01\x01";
	static const char trial[] = "\x82\x01\x01\x08\x91\x80";
	struct forge f;

	for (int i = 0; i < 2; i++) {
		forge_start(&f, BUNDLE_CAPTURE);
		forge_record(&f, RECORD_TYPE_LAUNCH, 0, launch, sizeof(launch) - 1);
		forge_record(&f, RECORD_TYPE_AFTER, 0, i ? chunk : region, sizeof(chunk) - 1);
		refused(&f, EINVAL, i ? "change of chunk 1 of 1" : "change of region 1 of 1");
	}
	forge_start(&f, BUNDLE_RESULT);
	forge_record(&f, RECORD_TYPE_CASE, 0, test_case, sizeof(test_case) - 1);
	forge_record(&f, RECORD_TYPE_TRIAL, 0, trial, sizeof(trial) - 1);
	refused(&f, EINVAL, "1 contents for 0 extents");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(payloads_that_lie),
		cmocka_unit_test(records_that_swell),
		cmocka_unit_test(frames_that_are_not_known),
		cmocka_unit_test(headers_that_are_not_known),
		cmocka_unit_test(indexes_that_lie),
		cmocka_unit_test(footers_that_lie),
		cmocka_unit_test(chunks_that_lie),
		cmocka_unit_test(links_that_lie),
	};

	return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
