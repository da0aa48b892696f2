/* SPDX-License-Identifier: MIT */
/* Contents on a device: what is changed there equals the host's, and what is restored or shared. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernelab/dtype.h"
#include "lib/base.h"
#include "replay/process.h"
#include "replay/replay.h"
#include "replay/memory.h"
#include "replay/board.h"
#include "tests/replay/change_host.h"

#define BASE   0x340000000ull
#define CHUNKS (size_t)(MAP_BYTES / CHUNK_BYTES)

static struct driver driver;
static struct memory memory;
static struct board board;
static CUstream stream;
static struct cost cost;
static struct stopwatch watch;
static struct range piece = {BASE, MAP_BYTES};
static struct page *pages[CHUNKS];
static struct hash128 identity[CHUNKS];
static const struct contents contents = {
	{&piece, 1, 1}, .pages = pages, .identity = identity, .chunks = CHUNKS};

static const enum dtype floats[] = {DTYPE_F64,    DTYPE_F32,    DTYPE_F16,        DTYPE_BF16,
				    DTYPE_F8E4M3, DTYPE_F8E5M2, DTYPE_F8E4M3FNUZ, DTYPE_F8E5M2FNUZ};

static uint64_t random_word(void)
{
	static uint64_t x = 88172645463325252ull;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}

static int open_device(void **state)
{
	struct error err = {0};
	CUcontext context;
	CUdevice device;
	const char *path = getenv("KERNELAB_DRIVER");
	const struct ranges wanted = {&piece, 1, 1};
	const struct reservations reservations = {.device = wanted};

	stopwatch_start(&watch, &cost, ACTIVITY_HOST);
	assert_int_equal(driver_open(&driver, path ? path : "libcuda.so.1", &err), 0);
	assert_int_equal(driver.cuInit(0), 0);
	assert_int_equal(driver.cuDeviceGet(&device, 0), 0);
	assert_int_equal(driver.cuDevicePrimaryCtxRetain(&context, device), 0);
	assert_int_equal(driver.cuCtxSetCurrent(context), 0);
	piece.size = RESERVE_BYTES;
	assert_int_equal(memory_reserve(&memory, &driver, device, &watch, &reservations, &err), 0);
	piece.size = MAP_BYTES;
	assert_int_equal(driver.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), 0);
	assert_int_equal(board_open(&board, &driver, stream, &watch, &err), 0);
	assert_int_equal(memory_map(&memory, &wanted, &err), 0);
	for (size_t i = 0; i < CHUNKS; i++) {
		pages[i] = page_new();
		for (size_t k = 0; k < CHUNK_BYTES; k += 8) {
			uint64_t word = random_word();

			memcpy(pages[i]->data + k, &word, 8);
		}
		identity[i] = hash_bytes(pages[i]->data, CHUNK_BYTES);
	}
	assert_int_equal(board_take(&board, &contents, &err), 0);
	return 0;
}

static struct snapshot look(enum bank bank)
{
	struct error err = {0};
	struct snapshot s;

	assert_int_equal(board_compare(&board, bank, &err), 0);
	assert_int_equal(driver.cuStreamSynchronize(stream), 0);
	assert_int_equal(snapshot_init(&s, &contents), 0);
	assert_int_equal(board_read(&board, bank, NULL, BANK_BEFORE, &s, &err), 0);
	return s;
}

/* Every restored byte is as before. */
static void restored(void)
{
	struct error err = {0};
	struct snapshot s;

	assert_int_equal(board_restore(&board, &err), 0);
	s = look(BANK_BEFORE);
	for (size_t i = 0; i < CHUNKS; i++)
		assert_null(s.chunks[i]);
	snapshot_free(&s);
}

/* Bytes of `set` for which pick() says so, in runs that begin and end anywhere. */
static void scatter(struct byteset *set, uint64_t period, uint64_t run)
{
	assert_int_equal(byteset_init(set, &contents.pieces), 0);
	for (uint64_t at = 17; at + run < MAP_BYTES / 2; at += period + at % 97)
		assert_int_equal(byteset_add(set, BASE + at, run), 0);
}

static void equals_host(const struct change *change)
{
	_cleanup_free_ uint8_t *wanted = malloc(CHUNK_BYTES);
	struct error err = {0};
	struct snapshot s;

	assert_int_equal(board_plan_change(&board, change, &err), 0);
	assert_int_equal(board_restore(&board, &err), 0);
	assert_int_equal(board_change(&board, change, &err), 0);
	s = look(BANK_BEFORE);
	for (size_t i = 0; i < CHUNKS; i++) {
		memcpy(wanted, pages[i]->data, CHUNK_BYTES);
		change_chunk(change, i, BASE + i * CHUNK_BYTES, wanted);
		assert_memory_equal(snapshot_chunk(&s, i), wanted, CHUNK_BYTES);
	}
	snapshot_free(&s);
}

/* Random bits hold every class of number: denormals, infinities, NaN, masks. */
static void changes_as_the_host(void **state)
{
	struct byteset keep, zero;

	scatter(&keep, 500, 300);
	assert_int_equal(byteset_add(&keep, BASE + CHUNK_BYTES, CHUNK_BYTES / 2), 0);
	scatter(&zero, 4096, 4096);
	for (size_t k = 0; k < ARRAY_LENGTH(floats); k++) {
		uint32_t bytes = dtype_bytes(floats[k]);
		/* The second one straddles chunks, the first begins and ends within one. */
		struct float_input items[] = {
			{BASE + 64 * bytes, 1000 * bytes, floats[k], BASE + 8 * bytes},
			{BASE + 40000 + 3 * bytes, CHUNK_BYTES + CHUNK_BYTES / 2 - 5 * bytes,
			 floats[k], BASE + 40000},
		};
		struct float_inputs inputs = {items, 2, 2};
		struct change c = {.inputs = &inputs, .keep = k % 2 ? &keep : NULL};

		c.kind = CHANGE_PERTURB;
		c.step = dtype_roundoff(floats[k]);
		c.seed = 0x6b65726e656c6162ull + k;
		equals_host(&c);
		c.step = 0x1p-8;
		c.seed++;
		equals_host(&c);
		c.kind = CHANGE_INTEGERS;
		equals_host(&c);
		c.kind = CHANGE_SCALE;
		c.zero = k % 3 ? &zero : NULL;
		for (int e = -70; e <= 40; e += 22) {
			c.exponent = e;
			c.step = e % 4 ? 0 : dtype_roundoff(floats[k]);
			equals_host(&c);
		}
	}
	byteset_free(&keep);
	byteset_free(&zero);
	restored();
}

static void fills_what_is_set(void **state)
{
	struct error err = {0};
	struct byteset set;
	struct snapshot s;

	scatter(&set, 900, 333);
	assert_int_equal(byteset_add(&set, BASE + 5 * CHUNK_BYTES - 9, CHUNK_BYTES + 20), 0);
	assert_int_equal(board_plan_fill(&board, &set, &err), 0);
	assert_int_equal(board_restore(&board, &err), 0);
	assert_int_equal(board_fill(&board, 0xa5, &err), 0);
	assert_int_equal(board_keep_filled(&board, &set, 0xa5, &err), 0);
	s = look(BANK_BEFORE);
	for (size_t i = 0; i < CHUNKS; i++)
		for (uint32_t k = 0; k < CHUNK_BYTES; k++)
			assert_int_equal(snapshot_byte(&s, i, k),
					 byteset_has(&set, BASE + i * CHUNK_BYTES + k)
						 ? 0xa5
						 : pages[i]->data[k]);
	snapshot_free(&s);
	/* What stays as filled is known without being read. */
	uint64_t before = cost.downloaded_bytes;

	s = look(BANK_FILLED);
	assert_true(cost.downloaded_bytes - before < CHUNK_BYTES);
	assert_int_equal(s.chunks[5]->uniform, 0xa5);
	assert_int_equal(snapshot_byte(&s, 4, CHUNK_BYTES - 1), 0xa5);
	snapshot_free(&s);
	byteset_free(&set);
	restored();
}

/* One run of each length and place within 16 bytes, and one that the driver fills. */
static void fills_runs_of_any_length(void **state)
{
	struct error err = {0};
	struct byteset set;
	struct snapshot s;
	uint64_t at = BASE + 3;

	assert_int_equal(byteset_init(&set, &contents.pieces), 0);
	for (uint64_t size = 1; size < 70; size++)
		for (uint64_t offset = 0; offset < 16; offset++, at = (at + size + 33) & ~15ull)
			assert_int_equal(byteset_add(&set, at + offset, size), 0);
	assert_true(at < BASE + CHUNK_BYTES);
	assert_int_equal(byteset_add(&set, BASE + CHUNK_BYTES + 5, MAP_BYTES / 2 + 7), 0);
	assert_int_equal(board_plan_fill(&board, &set, &err), 0);
	assert_int_equal(board_restore(&board, &err), 0);
	assert_int_equal(board_fill(&board, 0x5a, &err), 0);
	s = look(BANK_BEFORE);
	for (size_t i = 0; i < CHUNKS; i++)
		for (uint32_t k = 0; k < CHUNK_BYTES; k++)
			if (snapshot_byte(&s, i, k) !=
			    (byteset_has(&set, BASE + i * CHUNK_BYTES + k) ? 0x5a
									   : pages[i]->data[k]))
				fail_msg("byte %u of chunk %zu", k, i);
	snapshot_free(&s);
	byteset_free(&set);
	restored();
}

/* By definition, element by element. */
static bool is_found(enum look look, enum dtype dtype, const uint8_t *element)
{
	double v = float_class(dtype, element) == FLOAT_FINITE ? float_value(dtype, element) : NAN;

	if (look == LOOK_NOT_FINITE)
		return isnan(v);
	return !(fabs(v) < 0x1p24 && v == (double)(int64_t)v);
}

/* Puts elements that are not found into live memory, and one other value into a third of the
 * chunks. */
static void write_elements(enum dtype dtype, uint64_t first, const uint8_t *value, uint32_t bytes)
{
	_cleanup_free_ uint8_t *data = calloc(1, CHUNK_BYTES);

	for (size_t i = 0; i < CHUNKS; i++) {
		uint64_t at = i ? first % bytes : first;

		memset(data, 0, CHUNK_BYTES);
		at += random_word() % ((CHUNK_BYTES - at) / bytes) * bytes;
		if (i % 3 == 1)
			memcpy(data + at, value, bytes);
		assert_int_equal(driver.cuMemcpyHtoD_v2(BASE + i * CHUNK_BYTES, data, CHUNK_BYTES),
				 0);
	}
}

/* Each class of value of each type, anywhere in an extent that begins between multiples of 16. */
static void looks_as_the_host(void **state)
{
	static const double values[] = {0.5,   1,          1.5,    3,      448,
					65504, 0x1p23 + 1, 0x1p24, 0x1p40, 0x1p-20};
	struct error err = {0};
	struct byteset written;

	assert_int_equal(byteset_init(&written, &contents.pieces), 0);
	assert_int_equal(byteset_add(&written, BASE, MAP_BYTES), 0);
	for (size_t k = 0; k < 40 * ARRAY_LENGTH(floats); k++) {
		enum dtype dtype = floats[k / 40];
		uint32_t bytes = dtype_bytes(dtype);
		struct record_extent x = {
			.address = BASE + 3 * bytes, .size = MAP_BYTES - 8 * bytes, .dtype = dtype};
		struct extents extents = {&x, 1, 1};
		enum look look = k % 2 ? LOOK_NOT_FINITE : LOOK_NOT_EXACT;
		uint64_t word = random_word();
		uint8_t value[8];
		bool can;

		memcpy(value, &word, 8);
		if (k % 40 < 20 && dtype == DTYPE_F64)
			memcpy(value, &values[k % 20 / 2], 8);
		if (k % 40 < 20 && dtype == DTYPE_F32)
			memcpy(value, &(float){(float)values[k % 20 / 2]}, 4);
		if (k % 40 < 8 && bytes == 1) /* negative zero, NaN, greatest */
			value[0] = (uint8_t[]){0x80, 0x7f, 0x7e, 0x7c}[k % 8 / 2];
		assert_int_equal(board_take(&board, &contents, &err), 0);
		write_elements(dtype, 3 * bytes, value, bytes);
		assert_int_equal(board_plan_look(&board, &extents, &written, &can, &err), 0);
		assert_true(can);
		assert_int_equal(board_look(&board, look, &err), 0);
		assert_int_equal(driver.cuStreamSynchronize(stream), 0);
		for (size_t i = 0; i < CHUNKS; i++)
			assert_int_equal(board.finds[i],
					 i % 3 == 1 && is_found(look, dtype, value));
	}
	byteset_free(&written);
	restored();
}

/* Elements that lie between addresses of their type are for the host to look at. */
static void looks_at_no_crooked_elements(void **state)
{
	struct error err = {0};
	struct byteset written;
	struct record_extent x = {.address = BASE + 2, .size = 64, .dtype = DTYPE_F32};
	struct extents extents = {&x, 1, 1};
	bool can;

	assert_int_equal(byteset_init(&written, &contents.pieces), 0);
	assert_int_equal(byteset_add(&written, BASE, MAP_BYTES), 0);
	assert_int_equal(board_take(&board, &contents, &err), 0);
	assert_int_equal(board_plan_look(&board, &extents, &written, &can, &err), 0);
	assert_false(can);
	byteset_free(&written);
	restored();
}

/* What a bank has room for is read when it is asked for, or never. */
static void outputs_stay_on_the_device(void **state)
{
	struct error err = {0};
	struct snapshot a, b, c;
	uint64_t bytes;

	restored();
	for (size_t i = 2; i < 7; i++)
		assert_int_equal(driver.cuMemsetD8_v2(BASE + i * CHUNK_BYTES + 100, (uint8_t)i, 64),
				 0);
	assert_int_equal(board_compare(&board, BANK_A, &err), 0);
	assert_int_equal(driver.cuStreamSynchronize(stream), 0);
	assert_int_equal(snapshot_init(&a, &contents), 0);
	bytes = cost.downloaded_bytes;
	assert_int_equal(board_read(&board, BANK_A, NULL, BANK_SIDE, &a, &err), 0);
	assert_int_equal(board_keep(&board, BANK_SIDE, &a, &err), 0);
	b = look(BANK_SIDE);
	assert_ptr_equal(a.chunks[4], b.chunks[4]);
	assert_true(cost.downloaded_bytes - bytes < CHUNK_BYTES);
	snapshot_free(&b);

	/* Another outcome: the first one is still there to be compared with. */
	assert_int_equal(driver.cuMemsetD8_v2(BASE + 4 * CHUNK_BYTES + 100, 0x44, 1), 0);
	b = look(BANK_SIDE);
	assert_int_equal(snapshot_byte(&b, 4, 100), 0x44);
	bytes = cost.downloaded_bytes;
	assert_int_equal(snapshot_byte(&a, 4, 100), 4);
	assert_int_equal(cost.downloaded_bytes - bytes, CHUNK_BYTES);
	assert_int_equal(board_fetch(&board, &a, &err), 0);
	assert_int_equal(cost.downloaded_bytes - bytes, 5 * CHUNK_BYTES);
	assert_int_equal(snapshot_byte(&a, 6, 163), 6);
	snapshot_free(&b);
	snapshot_free(&a);

	/* The bank takes another picture: whoever has pages of the old one gets their bytes. */
	assert_int_equal(board_compare(&board, BANK_A, &err), 0);
	assert_int_equal(driver.cuStreamSynchronize(stream), 0);
	assert_int_equal(snapshot_init(&a, &contents), 0);
	assert_int_equal(board_read(&board, BANK_A, NULL, BANK_SIDE, &a, &err), 0);
	assert_int_equal(board_keep(&board, BANK_SIDE, &a, &err), 0);
	assert_int_equal(driver.cuMemsetD8_v2(BASE + 5 * CHUNK_BYTES + 100, 0x55, 1), 0);
	c = look(BANK_A);
	assert_int_equal(board_keep(&board, BANK_SIDE, &c, &err), 0);
	assert_int_equal(snapshot_byte(&a, 5, 100), 5);
	assert_int_equal(snapshot_byte(&c, 5, 100), 0x55);
	assert_int_equal(board_fetched(&board, &err), 0);
	snapshot_free(&a);
	snapshot_free(&c);
	restored();
}

/* One changed byte costs one slice to restore, and one chunk to read. */
static void only_changes_move(void **state)
{
	struct error err = {0};
	struct snapshot first, again;
	uint64_t bytes;

	restored();
	assert_int_equal(driver.cuMemsetD8_v2(BASE + 3 * CHUNK_BYTES + 70000, 1, 1), 0);
	assert_int_equal(driver.cuMemsetD8_v2(BASE + 3 * CHUNK_BYTES + 70001, 2, 1), 0);
	bytes = cost.downloaded_bytes;
	first = look(BANK_BEFORE);
	assert_true(cost.downloaded_bytes - bytes < 2 * CHUNK_BYTES);
	assert_non_null(first.chunks[3]);
	assert_int_equal(board_keep(&board, BANK_A, &first, &err), 0);

	/* The same outcome shares its pages, nothing is read. */
	bytes = cost.downloaded_bytes;
	again = look(BANK_A);
	assert_ptr_equal(again.chunks[3], first.chunks[3]);
	assert_true(cost.downloaded_bytes - bytes < CHUNK_BYTES);
	snapshot_free(&again);

	/* Another outcome in the same place is read. */
	assert_int_equal(driver.cuMemsetD8_v2(BASE + 3 * CHUNK_BYTES + 70001, 3, 1), 0);
	again = look(BANK_A);
	assert_ptr_not_equal(again.chunks[3], first.chunks[3]);
	assert_int_equal(snapshot_byte(&again, 3, 70001), 3);
	snapshot_free(&again);
	snapshot_free(&first);

	bytes = cost.restored_bytes;
	restored();
	assert_int_equal(cost.restored_bytes - bytes, SLICE_BYTES);
}

/* A second launch with the same contents sends none of them. */
static void contents_are_sent_once(void **state)
{
	struct error err = {0};
	uint64_t bytes = cost.input_bytes;

	assert_int_equal(bytes, MAP_BYTES);
	assert_int_equal(board_take(&board, &contents, &err), 0);
	assert_int_equal(cost.input_bytes, bytes);
	restored();
	identity[2] = hash_bytes("another", 7);
	pages[2]->data[0] ^= 1;
	assert_int_equal(board_take(&board, &contents, &err), 0);
	assert_int_equal(cost.input_bytes, bytes + CHUNK_BYTES);
	restored();
}

static CUresult CUDAAPI no_upload(CUdeviceptr to, const void *from, size_t bytes, CUstream on)
{
	return CUDA_ERROR_UNKNOWN;
}

/* What could not be sent is not found on the device later. */
static void failed_uploads_are_forgotten(void **state)
{
	__typeof__(driver.cuMemcpyHtoDAsync_v2) upload = driver.cuMemcpyHtoDAsync_v2;
	struct error err = {0};
	uint64_t bytes;

	identity[4] = hash_bytes("a third", 7);
	pages[4]->data[0] ^= 1;
	driver.cuMemcpyHtoDAsync_v2 = no_upload;
	assert_int_equal(board_take(&board, &contents, &err), -EIO);
	driver.cuMemcpyHtoDAsync_v2 = upload;
	bytes = cost.input_bytes;
	assert_int_equal(board_take(&board, &contents, &err), 0);
	assert_int_equal(cost.input_bytes, bytes + CHUNK_BYTES);
	restored();
}

static bool gpu_is_here(void)
{
	struct replay_options o;
	char *path = NULL, how[200];
	size_t devices;
	bool here;

	replay_options_init(&o);
	o.device = REPLAY_DEVICE_GPU;
	here = !driver_choose(&o, &path, &devices, how, sizeof(how), NULL);
	free(path);
	return here;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(changes_as_the_host),
		cmocka_unit_test(fills_what_is_set),
		cmocka_unit_test(fills_runs_of_any_length),
		cmocka_unit_test(looks_as_the_host),
		cmocka_unit_test(looks_at_no_crooked_elements),
		cmocka_unit_test(outputs_stay_on_the_device),
		cmocka_unit_test(only_changes_move),
		cmocka_unit_test(contents_are_sent_once),
		cmocka_unit_test(failed_uploads_are_forgotten),
	};

	if (!getenv("KERNELAB_DRIVER") && !gpu_is_here())
		return 77;
	return cmocka_run_group_tests(tests, open_device, NULL);
}
