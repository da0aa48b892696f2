/* SPDX-License-Identifier: MIT */
/* Sets of bytes against a plain array of flags, on random data. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "replay/byteset.h"

#define PIECE MAP_BYTES

static struct range two_pieces[] = {{0x10000000, PIECE}, {0x20000000, PIECE}};
static const struct ranges pieces = {two_pieces, 2, 2};

static uint64_t seed = 12345;

static uint32_t random32(void)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(seed >> 33);
}

static uint64_t address_of(size_t i)
{
	return i < PIECE ? two_pieces[0].base + i : two_pieces[1].base + (i - PIECE);
}

/* Runs of the set must be exactly those of the flags. */
static void check_equal(const struct byteset *s, const uint8_t *flags)
{
	uint64_t cursor = 0, count = 0;
	struct range run;

	for (size_t i = 0; i < 2 * PIECE;) {
		size_t end = i + 1;
		size_t piece_end = i < PIECE ? PIECE : 2 * PIECE;

		if (!flags[i]) {
			i++;
			continue;
		}
		while (end < piece_end && flags[end])
			end++;
		assert_true(byteset_next(s, &cursor, &run));
		assert_int_equal(run.base, address_of(i));
		assert_int_equal(run.size, end - i);
		count += end - i;
		i = end;
	}
	assert_false(byteset_next(s, &cursor, &run));
	assert_int_equal(byteset_count(s), count);
}

static void agrees_with_flags(void **state)
{
	uint8_t *flags = calloc(2, PIECE);
	struct byteset s;

	assert_int_equal(byteset_init(&s, &pieces), 0);
	assert_true(byteset_is_empty(&s));
	for (int round = 0; round < 200; round++) {
		size_t i = random32() % (2 * PIECE), n = random32() % 900000;
		bool add = random32() % 3;

		if (round % 5 == 0)
			n = random32() % 3;
		if (i < PIECE && i + n > PIECE)
			n = PIECE - i;
		if (i + n > 2 * PIECE)
			n = 2 * PIECE - i;
		if (add)
			assert_int_equal(byteset_add(&s, address_of(i), n), 0);
		else
			assert_int_equal(byteset_remove(&s, address_of(i), n), 0);
		if (n)
			memset(flags + i, add, n);
	}
	check_equal(&s, flags);
	for (int i = 0; i < 1000; i++) {
		size_t at = random32() % (2 * PIECE);

		assert_int_equal(byteset_has(&s, address_of(at)), flags[at]);
	}
	assert_false(byteset_has(&s, 0x1));
	byteset_free(&s);
	free(flags);
}

static void compares_every_byte(void **state)
{
	uint64_t *x = calloc(1, CHUNK_BYTES), *y = calloc(1, CHUNK_BYTES);
	uint8_t *a = (uint8_t *)x, *b = (uint8_t *)y, *flags = calloc(2, PIECE);
	struct byteset differ, agree;

	for (size_t i = 0; i < CHUNK_BYTES; i++) {
		a[i] = (uint8_t)random32();
		b[i] = random32() % 4 ? a[i] : (uint8_t)(a[i] ^ (1u << random32() % 8));
		flags[CHUNK_BYTES + i] = a[i] != b[i];
	}
	assert_int_equal(byteset_init(&differ, &pieces), 0);
	assert_int_equal(byteset_init(&agree, &pieces), 0);
	assert_int_equal(byteset_add_compare(&differ, 1, x, y, false), 0);
	check_equal(&differ, flags);
	assert_int_equal(byteset_add_compare(&agree, 1, x, y, true), 0);
	assert_int_equal(byteset_count(&agree), CHUNK_BYTES - byteset_count(&differ));
	assert_int_equal(byteset_and(&agree, &differ), 0);
	assert_true(byteset_is_empty(&agree));
	assert_int_equal(byteset_or(&agree, &differ), 0);
	check_equal(&agree, flags);
	assert_int_equal(byteset_minus(&agree, &differ), 0);
	assert_true(byteset_is_empty(&agree));
	/* What agrees and what differs is all there is, by whichever way it is put together. */
	assert_int_equal(byteset_add_compare(&agree, 1, x, y, true), 0);
	assert_false(byteset_chunk_full(&agree, 1));
	assert_int_equal(byteset_or(&agree, &differ), 0);
	assert_true(byteset_chunk_full(&agree, 1));
	assert_int_equal(byteset_minus(&agree, &differ), 0);
	assert_int_equal(byteset_add_compare(&agree, 1, x, y, false), 0);
	assert_true(byteset_chunk_full(&agree, 1));
	assert_int_equal(byteset_count(&agree), CHUNK_BYTES);
	assert_int_equal(byteset_chunk(&differ, two_pieces[1].base), PIECE / CHUNK_BYTES);
	assert_int_equal(byteset_address(&differ, PIECE / CHUNK_BYTES), two_pieces[1].base);
	byteset_free(&differ);
	byteset_free(&agree);
	free(x);
	free(y);
	free(flags);
}

/* Long runs, so that many chunks are set whole. */
static void fill_both(struct byteset *s, uint8_t *flags)
{
	assert_int_equal(byteset_init(s, &pieces), 0);
	memset(flags, 0, 2 * PIECE);
	for (int round = 0; round < 6; round++) {
		size_t i = random32() % PIECE + (round % 2 ? PIECE : 0);
		size_t end = i < PIECE ? PIECE : 2 * PIECE, n = random32() % PIECE;

		i -= round % 3 ? 0 : i % CHUNK_BYTES;
		n = n < end - i ? n : end - i;
		assert_int_equal(byteset_add(s, address_of(i), n), 0);
		memset(flags + i, 1, n);
	}
}

static void combines_whole_chunks(void **state)
{
	uint8_t *x = malloc(2 * PIECE), *y = malloc(2 * PIECE);
	size_t whole = 0;

	for (int round = 0; round < 24; round++) {
		struct byteset a, b;
		int rc;

		fill_both(&a, x);
		fill_both(&b, y);
		for (size_t i = 0; i < a.chunks; i++)
			whole += byteset_chunk_full(&a, i) && b.words[i];
		rc = round % 3 == 0   ? byteset_or(&a, &b)
		     : round % 3 == 1 ? byteset_and(&a, &b)
				      : byteset_minus(&a, &b);
		assert_int_equal(rc, 0);
		for (size_t i = 0; i < 2 * PIECE; i++)
			x[i] = round % 3 == 0   ? x[i] | y[i]
			       : round % 3 == 1 ? x[i] & y[i]
						: x[i] & !y[i];
		check_equal(&a, x);
		check_equal(&b, y); /* whole chunks of both are not one and the same memory */
		assert_int_equal(byteset_add(&a, address_of(0), 2 * CHUNK_BYTES), 0);
		assert_int_equal(byteset_remove(&a, address_of(17), CHUNK_BYTES), 0);
		memset(x, 1, 2 * CHUNK_BYTES);
		memset(x + 17, 0, CHUNK_BYTES);
		check_equal(&a, x);
		check_equal(&b, y);
		byteset_free(&a);
		byteset_free(&b);
	}
	assert_true(whole > 0);
	free(x);
	free(y);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_flags),
		cmocka_unit_test(compares_every_byte),
		cmocka_unit_test(combines_whole_chunks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
