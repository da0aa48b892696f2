/* SPDX-License-Identifier: MIT */
/* Address ranges: rounding, merging, what is reserved and what is mapped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "replay/layout.h"

static void merges_overlapping_and_touching(void **state)
{
	struct ranges r = {0};

	assert_int_equal(ranges_add(&r, 0x3000, 0x1000), 0);
	assert_int_equal(ranges_add(&r, 0x1000, 0x1000), 0);
	assert_int_equal(ranges_add(&r, 0x1800, 0x100), 0);
	assert_int_equal(ranges_add(&r, 0x2000, 0x1000), 0);
	assert_int_equal(ranges_add(&r, 0x9000, 0x10), 0);
	assert_int_equal(ranges_add(&r, 0x7000, 0), 0);
	ranges_merge(&r);
	assert_int_equal(r.count, 2);
	assert_int_equal(r.items[0].base, 0x1000);
	assert_int_equal(r.items[0].size, 0x3000);
	assert_int_equal(r.items[1].base, 0x9000);
	assert_int_equal(ranges_bytes(&r), 0x3010);
	assert_ptr_equal(ranges_find(&r, 0x3fff, 1), &r.items[0]);
	assert_ptr_equal(ranges_find(&r, 0x1000, 0x3000), &r.items[0]);
	assert_null(ranges_find(&r, 0x3fff, 2));
	assert_null(ranges_find(&r, 0xfff, 1));
	assert_null(ranges_find(&r, 0x1000, UINT64_MAX));
	ranges_free(&r);
}

static void refuses_wrapping(void **state)
{
	struct ranges r = {0};

	assert_int_equal(ranges_add(&r, UINT64_MAX - 5, 10), -EOVERFLOW);
	assert_int_equal(ranges_add_rounded(&r, UINT64_MAX - 5, 2, RESERVE_BYTES), -EOVERFLOW);
	assert_int_equal(r.count, 0);
	ranges_free(&r);
}

static void reserves_granules_and_whole_reservations(void **state)
{
	struct record_region regions[] = {
		{.base = 0x7f0002200000, .size = 0x200000, .memory = MEMORY_ALLOCATION},
		{.base = 0x7f0003fffff0, .size = 0x20, .memory = MEMORY_ALLOCATION},
		{.base = 0x302400000,
		 .size = 0x200000,
		 .memory = MEMORY_VMM,
		 .reservation_base = 0x302000000,
		 .reservation_size = 0x2740000000},
		{.base = 0x123, .size = 4, .memory = MEMORY_GLOBAL, .name = "counter"},
	};
	struct reservations all = {0};
	struct ranges reserve, pieces = {0};

	assert_int_equal(layout_add_reservations(&all, regions, 4), 0);
	assert_int_equal(layout_settle(&all), 0);
	assert_int_equal(all.host.count, 0);
	reserve = all.device;
	assert_int_equal(reserve.count, 2);
	assert_int_equal(reserve.items[0].base, 0x302000000);
	assert_int_equal(reserve.items[0].size, 0x2740000000);
	assert_int_equal(reserve.items[1].base, 0x7f0002000000);
	assert_int_equal(reserve.items[1].size, 2 * RESERVE_BYTES);
	assert_int_equal(layout_pieces(&pieces, regions, 4), 0);
	assert_int_equal(pieces.count, 4);
	assert_int_equal(pieces.items[3].base, STAND_IN_BASE); /* holds the variable's stand-in */
	assert_int_equal(layout_address(regions, 3), STAND_IN_BASE + 0x123);
	assert_int_equal(layout_address(regions, 0), 0x7f0002200000);
	assert_int_equal(pieces.items[0].base, 0x302400000);
	assert_int_equal(pieces.items[0].size, MAP_BYTES);
	assert_int_equal(pieces.items[1].base, 0x7f0002200000);
	assert_int_equal(pieces.items[1].size, MAP_BYTES);
	assert_int_equal(pieces.items[2].base, 0x7f0003e00000);
	assert_int_equal(pieces.items[2].size, 2 * MAP_BYTES);
	for (size_t i = 0; i < pieces.count - 1; i++)
		assert_non_null(ranges_find(&reserve, pieces.items[i].base, pieces.items[i].size));
	reservations_free(&all);
	ranges_free(&pieces);
}

/* Host memory lies in the process; but where the driver's granule holds device memory too. */
static void host_memory_apart_from_device_memory(void **state)
{
	struct record_region regions[] = {
		{.base = 0x7f0001000000, .size = 4096, .memory = MEMORY_HOST},
		{.base = 0x7f0010001000, .size = 100, .memory = MEMORY_HOST},
		{.base = 0x7f0011800000, .size = 0x200000, .memory = MEMORY_MANAGED},
		/* touches the granule of the one before, once that is the device's */
		{.base = 0x7f000ffff000, .size = 8, .memory = MEMORY_HOST},
	};
	struct reservations r = {0};

	assert_int_equal(layout_add_reservations(&r, regions, 4), 0);
	assert_int_equal(layout_settle(&r), 0);
	assert_int_equal(r.host.count, 1);
	assert_int_equal(r.host.items[0].base, 0x7f0001000000);
	assert_int_equal(r.host.items[0].size, MAP_BYTES);
	assert_int_equal(r.device.count, 1);
	assert_int_equal(r.device.items[0].base, 0x7f000e000000);
	assert_int_equal(r.device.items[0].size, 2 * RESERVE_BYTES);
	assert_int_equal(r.host_as_device.count, 1);
	assert_int_equal(ranges_bytes(&r.host_as_device), 2 * MAP_BYTES);
	reservations_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(merges_overlapping_and_touching),
		cmocka_unit_test(refuses_wrapping),
		cmocka_unit_test(reserves_granules_and_whole_reservations),
		cmocka_unit_test(host_memory_apart_from_device_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
