/* SPDX-License-Identifier: MIT */
/* Grids of configs that were never launched, on launches made by hand. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base.h"
#include "replay/grid.h"
#include "replay/pair.h"

#define CONFIGS  4
#define LAUNCHES 70
#define ARGS     5

/* matmul(A, M, N, K, stride), launched as cdiv(M, BM) * cdiv(N, BN) x SPLIT x 1 or otherwise. */
struct small {
	struct suite_family family;
	struct suite_config configs[CONFIGS];
	struct suite_member members[CONFIGS];
	struct note notes[CONFIGS];
	char constexprs[CONFIGS][120];
	struct record_image images[CONFIGS];
	struct suite suite;
	struct record_launch launches[CONFIGS * LAUNCHES];
	const struct record_launch *lists[CONFIGS][LAUNCHES];
	int32_t params[CONFIGS * LAUNCHES][6];
	size_t launch_count;
};

static struct record_arg args[ARGS] = {{.name = "A", .type = "!tt.ptr<f32>", .pointer = true},
				       {.name = "M", .type = "i32"},
				       {.name = "N", .type = "i32"},
				       {.name = "K", .type = "i32"},
				       {.name = "stride_am", .type = "i32"}};
static struct signature signature = {.args = args, .arg_count = ARGS};
static struct triton_kernel triton = {.signature = &signature};
static struct record_param layout[ARGS] = {{.offset = 0, .size = 8},
					   {.offset = 8, .size = 4},
					   {.offset = 12, .size = 4},
					   {.offset = 16, .size = 4},
					   {.offset = 20, .size = 4}};
static struct record_kernel kernel = {.params = {layout, ARGS}};

static struct suite_member *add_config(struct small *s, int bm, int bn, int split)
{
	size_t i = s->family.config_count++;

	snprintf(s->constexprs[i], sizeof(s->constexprs[i]),
		 "{\"BM\": %d, \"BN\": %d, \"SPLIT\": %d, \"ACT\": \"clamp\"}", bm, bn, split);
	s->notes[i].constexprs_json = s->constexprs[i];
	s->images[i].id = (struct hash128){(uint64_t)bm, (uint64_t)bn};
	s->members[i] = (struct suite_member){.kernel = &kernel,
					      .image = &s->images[i],
					      .entry = "matmul",
					      .triton = &triton,
					      .note = &s->notes[i],
					      .launches = s->lists[i]};
	s->configs[i] = (struct suite_config){.key = {(uint64_t)bm, (uint64_t)bn},
					      .options = s->constexprs[i],
					      .members = &s->members[i],
					      .member_count = 1};
	s->family.configs = s->configs;
	s->family.name = "matmul";
	s->family.metadata = true;
	s->suite.families = &s->family;
	s->suite.family_count = 1;
	return &s->members[i];
}

static const struct record_launch *add_launch(struct small *s, struct suite_member *m, int rows,
					      int columns, uint32_t x, uint32_t y)
{
	size_t n = s->launch_count++;
	int32_t *p = s->params[n];

	p[2] = rows;
	p[3] = columns;
	p[4] = 4096;
	p[5] = columns;
	s->launches[n] = (struct record_launch){.grid = {x, y, 1}, .params = {p, 24}};
	s->lists[m - s->members][m->launch_count++] = &s->launches[n];
	return &s->launches[n];
}

static int cdiv(int n, int by)
{
	return (n + by - 1) / by;
}

static const struct record_launch *add_matmul(struct small *s, struct suite_member *m, int rows,
					      int columns)
{
	int bm = 0, bn = 0, split = 0;

	assert_int_equal(sscanf(m->note->constexprs_json, "{\"BM\": %d, \"BN\": %d, \"SPLIT\": %d",
				&bm, &bn, &split),
			 3);
	return add_launch(s, m, rows, columns, (uint32_t)(cdiv(rows, bm) * cdiv(columns, bn)),
			  (uint32_t)split);
}

/* The grid of `target` on the launch of `base`; the text, or the reason, to `said`. */
static bool infer(const struct small *s, const struct record_launch *launch,
		  const struct suite_member *base, const struct suite_member *target,
		  uint32_t grid[3], char *said, size_t size)
{
	const struct grid_question q = {
		.families = {&s->family}, .launch = launch, .base = base, .target = target};
	struct error err = {0};
	char *how;
	int rc = grid_infer(grid, &how, &q, &err);

	snprintf(said, size, "%s", rc ? err.message : how);
	free(how);
	assert_true(!rc || rc == -ENOENT);
	return !rc;
}

static void follows_a_sweep(void **state)
{
	static struct small s;
	struct suite_member *a = add_config(&s, 64, 32, 1), *b = add_config(&s, 32, 128, 2),
			    *c = add_config(&s, 128, 64, 1), *target = add_config(&s, 16, 256, 4);
	const struct record_launch *launch;
	uint32_t grid[3];
	char said[600];

	add_matmul(&s, a, 1000, 600);
	add_matmul(&s, b, 1000, 600);
	launch = add_matmul(&s, c, 1000, 600);
	if (!infer(&s, launch, c, target, grid, said, sizeof(said)))
		fail_msg("%s", said);
	assert_int_equal(grid[0], 63 * 3);
	assert_int_equal(grid[1], 4);
	assert_int_equal(grid[2], 1);
	assert_string_equal(said,
			    "189x4x1 = cdiv(M, BM)·cdiv(N, BN) x SPLIT x 1, as in 3 launches");
}

static void says_what_the_launches_do_not_tell(void **state)
{
	static struct small s;
	struct suite_member *a = add_config(&s, 64, 32, 1), *b = add_config(&s, 32, 32, 1),
			    *target = add_config(&s, 16, 64, 1), *split = add_config(&s, 16, 32, 4);
	const struct record_launch *launch = add_matmul(&s, a, 1024, 64);
	uint32_t grid[3];
	char said[600];

	assert_false(infer(&s, launch, a, target, grid, said, sizeof(said)));
	assert_non_null(strstr(said, "fewer than two"));
	add_matmul(&s, b, 1024, 64); /* BN stayed: 2 may be cdiv(N, BN) or cdiv(64, BM) … */
	assert_false(infer(&s, launch, a, split, grid, said, sizeof(said)));
	assert_non_null(strstr(said, "of its grid may follow from SPLIT, which is 1"));
	assert_false(infer(&s, launch, a, target, grid, said, sizeof(said)));
	assert_non_null(strstr(said, "x of its grid"));
	target->note = NULL;
	assert_false(infer(&s, launch, a, target, grid, said, sizeof(said)));
	assert_non_null(strstr(said, "not noted"));
}

/* Of a config whose neighbours were launched on the same sizes with these x of their grids. */
static bool infer_beside(uint32_t x_of_one, uint32_t x_of_other, uint32_t grid[3], char *said,
			 size_t size)
{
	struct small s = {0};
	struct suite_member *a = add_config(&s, 64, 32, 1), *b = add_config(&s, 32, 128, 1),
			    *target = add_config(&s, 16, 256, 1);
	const struct record_launch *launch = add_launch(&s, a, 1000, 600, x_of_one, 1);

	add_launch(&s, b, 1000, 600, x_of_other, 1);
	return infer(&s, launch, a, target, grid, said, size);
}

static void refuses_what_is_no_product(void **state)
{
	uint32_t grid[3];
	char said[600];

	/* min(132, …) and the like */
	assert_false(infer_beside(132, 131, grid, said, sizeof(said)));
	assert_non_null(strstr(said, "x of its grid is no product"));
}

/* A program for each multiprocessor, whatever the block: the same in all launches. */
static void follows_a_persistent_kernel(void **state)
{
	uint32_t grid[3];
	char said[600];

	if (!infer_beside(132, 132, grid, said, sizeof(said)))
		fail_msg("%s", said);
	assert_int_equal(grid[0], 132);
}

/* Arguments that vary tell as well as configs. */
static void follows_sizes(void **state)
{
	static struct small s;
	struct suite_member *a = add_config(&s, 64, 32, 1), *target = add_config(&s, 16, 32, 1);
	const struct record_launch *launch = add_launch(&s, a, 1000, 600, 16, 1);
	uint32_t grid[3];
	char said[600];

	add_launch(&s, a, 777, 600, 13, 1);
	if (!infer(&s, launch, a, target, grid, said, sizeof(said)))
		fail_msg("%s", said);
	assert_int_equal(grid[0], 63);
	assert_non_null(strstr(said, "cdiv(M, BM)"));
}

/* The text counts the launches that were looked at: the first 64 different ones, and their like. */
static void counts_what_it_looked_at(void **state)
{
	static struct small s;
	struct suite_member *a = add_config(&s, 64, 32, 1), *target = add_config(&s, 16, 32, 1);
	const struct record_launch *launch = add_matmul(&s, a, 1000, 600);
	uint32_t grid[3];
	char said[600];

	add_matmul(&s, a, 1000, 600);
	for (int i = 1; i < LAUNCHES - 1; i++)
		add_matmul(&s, a, 1000 - i, 600);
	if (!infer(&s, launch, a, target, grid, said, sizeof(said)))
		fail_msg("%s", said);
	assert_non_null(strstr(said, ", as in 65 launches"));
}

/* A name that is left out could be what the grid follows from. */
static void refuses_too_many_names(void **state)
{
	static struct small s;
	struct suite_member *a = add_config(&s, 64, 32, 1), *b = add_config(&s, 32, 32, 1);
	const struct record_launch *launch = add_launch(&s, a, 1000, 600, 132, 1);
	char many[1000], said[600];
	size_t used = (size_t)snprintf(many, sizeof(many), "{\"BM\": 64");
	uint32_t grid[3];

	add_launch(&s, b, 1000, 600, 132, 1);
	for (int i = 0; i < 46; i++)
		used += (size_t)snprintf(many + used, sizeof(many) - used, ", \"C%d\": 64", i);
	snprintf(many + used, sizeof(many) - used, "}");
	s.notes[1].constexprs_json = many;
	assert_false(infer(&s, launch, a, b, grid, said, sizeof(said)));
	assert_non_null(strstr(said, "more than 48"));
}

static void add_sweep(struct small *s)
{
	static const int shapes[][3] = {{64, 32, 1}, {32, 128, 2}, {128, 64, 1}};

	for (size_t i = 0; i < ARRAY_LENGTH(shapes); i++) {
		struct suite_member *m = add_config(s, shapes[i][0], shapes[i][1], shapes[i][2]);

		add_matmul(s, m, 1000, 600);
		m->seen = 1 + i;
	}
}

static void expect_grid(const struct pair *p, const struct suite_config *on)
{
	assert_null(p->reason);
	assert_ptr_equal(p->on, on);
	assert_int_equal(p->launch_count, 1);
	assert_int_equal(p->launches[0].grid[0], 189);
	assert_int_equal(p->launches[0].grid[1], 4);
	assert_non_null(strstr(p->stand_in, "grid 189x4x1 = cdiv(M, BM)·cdiv(N, BN) x SPLIT x 1"));
}

/* What was never launched runs on the most launched config's launches; so does what only B has. */
static void pairs_have_inferred_grids(void **state)
{
	static struct small all, some, only;
	struct pairs p;

	add_sweep(&all);
	add_config(&all, 16, 256, 4);
	assert_int_equal(pairs_build(&p, &all.suite, &all.suite, &all.suite, NULL), 0);
	assert_int_equal(p.count, 4);
	expect_grid(&p.items[3], &all.configs[2]);
	assert_ptr_equal(p.items[3].a, &all.members[3]);
	pairs_free(&p);

	add_sweep(&some);
	add_config(&only, 16, 256, 4);
	assert_int_equal(pairs_build(&p, &some.suite, &some.suite, &only.suite, NULL), 0);
	assert_int_equal(p.count, 4);
	expect_grid(&p.items[3], &some.configs[2]);
	assert_int_equal(p.items[3].pairing, PAIRING_B_ONLY);
	assert_ptr_equal(p.items[3].a, &some.members[2]);
	assert_ptr_equal(p.items[3].b, &only.members[0]);
	pairs_free(&p);

	some.family.config_count = 1;
	assert_int_equal(pairs_build(&p, &some.suite, &some.suite, &only.suite, NULL), 0);
	assert_null(p.items[1].on);
	assert_int_equal(p.items[1].launch_count, 0);
	assert_non_null(strstr(p.items[1].reason, "grid unknown: fewer than two"));
	pairs_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(follows_a_sweep),
		cmocka_unit_test(says_what_the_launches_do_not_tell),
		cmocka_unit_test(refuses_what_is_no_product),
		cmocka_unit_test(follows_a_persistent_kernel),
		cmocka_unit_test(follows_sizes),
		cmocka_unit_test(counts_what_it_looked_at),
		cmocka_unit_test(refuses_too_many_names),
		cmocka_unit_test(pairs_have_inferred_grids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
