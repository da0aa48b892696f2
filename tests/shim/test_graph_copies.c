/* SPDX-License-Identifier: MIT */
/* Which chunks around a kernel of a graph are copied. */
#include <stdlib.h>

#include "drv/driver.h"
#include "lib/pairs.h"
#include "shim/graph_copies.h"
#include "shim/hooks.h"
#include "tests/shim/cmocka_all.h"

#define BASE 0x302000000ull
#define RUNS 70u /* more than are copied one by one */
#define FAR  1000u

struct driver real;

static struct regions regions;

/* One region: every second of its first chunks written, all of these read, and one far away. */
static void setup_region(void)
{
	struct record_region *g = calloc(1, sizeof(*g));

	assert_non_null(g);
	g->base = BASE;
	g->size = (FAR + 1) * (uint64_t)CHUNK_BYTES;
	assert_int_equal(pairs_add(&g->reads, 0, 2 * RUNS * (uint64_t)CHUNK_BYTES), 0);
	for (uint64_t i = 0; i < RUNS; i++)
		assert_int_equal(pairs_add(&g->writes, 2 * i * CHUNK_BYTES, 16), 0);
	assert_int_equal(pairs_add(&g->writes, FAR * (uint64_t)CHUNK_BYTES, 16), 0);
	regions = (struct regions){.items = g, .count = 1, .capacity = 1, .measured = true};
}

/* Before it two runs, behind it one that spans them all. */
static void many_runs_are_one(void **state)
{
	struct graph_copies c = {0};

	setup_region();
	assert_int_equal(graph_copies_plan(&c, &regions, UINT64_MAX), 0);
	assert_null(regions.items[0].note);
	assert_int_equal(c.count, 3);
	assert_false(c.items[0].after || c.items[1].after);
	assert_int_equal(c.items[0].end, 2 * RUNS);
	assert_int_equal(c.items[1].first, FAR);
	assert_true(c.items[2].after);
	assert_int_equal(c.items[2].first, 0);
	assert_int_equal(c.items[2].end, FAR + 1);
	assert_true(graph_copies_cover(&c, &regions));
	graph_copies_free(&c);
	regions_free(&regions);
}

/* A region that is too large on one side is copied on neither: it has a note instead of keys. */
static void too_large_behind_it(void **state)
{
	struct graph_copies c = {0};

	setup_region();
	assert_int_equal(graph_copies_plan(&c, &regions, 500 * (uint64_t)CHUNK_BYTES), 0);
	assert_non_null(regions.items[0].note);
	assert_int_equal(c.count, 0);
	assert_int_equal(c.bytes, 0);
	graph_copies_free(&c);
	regions_free(&regions);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_runs_are_one),
		cmocka_unit_test(too_large_behind_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
