/* SPDX-License-Identifier: MIT */
/* Written bytes become few extents with the right argument and whole elements. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "kernelab/dtype.h"
#include "replay/extents.h"

#define BASE 0x10000000ull

static struct range one_piece[] = {{BASE, MAP_BYTES}};
static const struct ranges pieces = {one_piece, 1, 1};

static struct pointer pointer(uint64_t offset, uint32_t arg, enum dtype dtype)
{
	return (struct pointer){.address = BASE + offset,
				.limit = BASE + MAP_BYTES,
				.arg = arg,
				.dtype = dtype,
				.stored = true};
}

static void rounds_to_elements_of_the_pointer(void **state)
{
	struct pointer p[] = {pointer(0x102, 1, DTYPE_F32)};
	struct extents e;
	struct byteset s;

	assert_int_equal(byteset_init(&s, &pieces), 0);
	byteset_add(&s, BASE + 0x107, 1); /* second element, second byte */
	byteset_add(&s, BASE + 0x10a, 1); /* third element, first byte */
	assert_int_equal(extents_build(&e, &s, p, 1), 0);
	assert_int_equal(e.count, 1);
	assert_int_equal(e.items[0].address, BASE + 0x106);
	assert_int_equal(e.items[0].size, 8);
	assert_int_equal(e.items[0].arg, 1);
	assert_int_equal(e.items[0].dtype, DTYPE_F32);
	assert_int_equal(extents_find(&e, BASE + 0x106), 0);
	assert_int_equal(extents_find(&e, BASE + 0x10d), 0);
	assert_true(extents_find(&e, BASE + 0x10e) == SIZE_MAX);
	assert_true(extents_find(&e, BASE + 0x105) == SIZE_MAX);
	extents_free(&e);
	byteset_free(&s);
}

static void splits_a_run_at_the_next_pointer(void **state)
{
	struct pointer p[] = {pointer(0x1000, 1, DTYPE_F32), pointer(0x2000, 2, DTYPE_BF16)};
	struct extents e;
	struct byteset s;

	assert_int_equal(byteset_init(&s, &pieces), 0);
	byteset_add(&s, BASE + 0x1000, 0x2000);
	byteset_add(&s, BASE + 0x10, 3); /* before any pointer */
	assert_int_equal(extents_build(&e, &s, p, 2), 0);
	assert_int_equal(e.count, 3);
	assert_int_equal(e.items[0].arg, 0);
	assert_int_equal(e.items[0].size, 3);
	assert_int_equal(e.items[1].address, BASE + 0x1000);
	assert_int_equal(e.items[1].size, 0x1000);
	assert_int_equal(e.items[1].arg, 1);
	assert_int_equal(e.items[2].address, BASE + 0x2000);
	assert_int_equal(e.items[2].arg, 2);
	assert_int_equal(e.items[2].dtype, DTYPE_BF16);
	extents_free(&e);
	byteset_free(&s);
}

/* Every third element unchanged: one extent, not thousands. */
static void fills_scattered_gaps(void **state)
{
	struct pointer p[] = {pointer(0, 1, DTYPE_F32)};
	struct extents e;
	struct byteset s;

	assert_int_equal(byteset_init(&s, &pieces), 0);
	for (uint64_t i = 0; i < 100000; i++)
		if (i % 3)
			byteset_add(&s, BASE + 4 * i, 3);
	assert_int_equal(extents_build(&e, &s, p, 1), 0);
	assert_int_equal(e.count, 1);
	assert_int_equal(e.items[0].address, BASE + 4);
	assert_int_equal(e.items[0].size, 4 * 99998);
	extents_free(&e);
	byteset_free(&s);
}

/* Sparse writes far apart: never more than the cap, nothing lost, smallest gaps first. */
static void caps_the_number(void **state)
{
	struct pointer p[] = {pointer(0, 1, DTYPE_F32)};
	struct extents e;
	struct byteset s;

	assert_int_equal(byteset_init(&s, &pieces), 0);
	for (uint64_t i = 0; i < 500; i++)
		byteset_add(&s, BASE + 4000 * i, 4);
	byteset_add(&s, BASE + 4000 * 520, 4); /* a wide gap stays */
	assert_int_equal(extents_build(&e, &s, p, 1), 0);
	assert_true(e.count >= 2 && e.count <= EXTENTS_PER_POINTER);
	for (uint64_t i = 0; i < 500; i++)
		assert_true(extents_find(&e, BASE + 4000 * i) != SIZE_MAX);
	assert_true(extents_find(&e, BASE + 4000 * 510) == SIZE_MAX);
	extents_free(&e);
	byteset_free(&s);
}

static void sorts_pointers_and_prefers_arguments(void **state)
{
	struct pointer p[] = {pointer(0x200, 0, DTYPE_UNKNOWN), pointer(0x100, 2, DTYPE_F32),
			      pointer(0x200, 3, DTYPE_F16), pointer(0x100, 1, DTYPE_F32)};
	size_t n = 4;

	p[3].stored = false;
	pointers_sort(p, &n);
	assert_int_equal(n, 2);
	assert_int_equal(p[0].arg, 2); /* stored through, its alias is not */
	assert_int_equal(p[1].arg, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rounds_to_elements_of_the_pointer),
		cmocka_unit_test(splits_a_run_at_the_next_pointer),
		cmocka_unit_test(fills_scattered_gaps),
		cmocka_unit_test(caps_the_number),
		cmocka_unit_test(sorts_pointers_and_prefers_arguments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
