/* SPDX-License-Identifier: MIT */
/* Which kernel of B goes with which of A, on suites made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "replay/pair.h"

#define MAX_MEMBERS 4

/* A suite of one family "k" with up to two configs, each with a few members. */
struct small {
	struct suite suite;
	struct suite_family family;
	struct suite_config configs[2];
	struct suite_member members[2][MAX_MEMBERS];
	struct record_image images[2][MAX_MEMBERS];
	struct record_launch launches[2][MAX_MEMBERS];
	const struct record_launch *lists[2][MAX_MEMBERS];
	struct suite_class classes[2][MAX_MEMBERS];
};

static struct hash128 key(uint64_t n)
{
	return (struct hash128){n, n};
}

static void begin(struct small *s, size_t configs)
{
	*s = (struct small){0};
	s->family = (struct suite_family){.key = key(1),
					  .name = "k",
					  .metadata = true,
					  .configs = s->configs,
					  .config_count = configs};
	s->suite.families = &s->family;
	s->suite.family_count = 1;
	for (size_t i = 0; i < configs; i++)
		s->configs[i] = (struct suite_config){.key = key(10 + i),
						      .loose = key(20 + i),
						      .options = "num_warps=4",
						      .members = s->members[i]};
}

static struct suite_member *add(struct small *s, size_t config, uint64_t image, uint64_t special,
				uint64_t seq, uint32_t grid)
{
	size_t n = s->configs[config].member_count++;
	struct suite_member *m = &s->members[config][n];

	s->images[config][n].id = key(image);
	s->launches[config][n] = (struct record_launch){.seq = seq, .grid = {grid, 1, 1}};
	s->lists[config][n] = &s->launches[config][n];
	s->classes[config][n] = (struct suite_class){.grid = {grid, 1, 1}};
	*m = (struct suite_member){.image = &s->images[config][n],
				   .entry = "k",
				   .special = key(special),
				   .launches = &s->lists[config][n],
				   .launch_count = seq ? 1 : 0,
				   .classes = &s->classes[config][n],
				   .class_count = seq ? 1 : 0,
				   .seen = seq ? 1 : 0};
	return m;
}

static void pairs_by_config(void **state)
{
	static struct small a, b;
	struct suite_member *b0, *b1;
	struct pairs p;

	begin(&a, 2);
	begin(&b, 2);
	add(&a, 0, 100, 1, 5, 8);
	add(&a, 1, 101, 1, 6, 8);
	b1 = add(&b, 1, 201, 1, 5, 8);
	b0 = add(&b, 0, 200, 1, 9, 8);
	assert_int_equal(pairs_build(&p, &a.suite, &a.suite, &b.suite, NULL), 0);
	assert_int_equal(p.count, 2);
	assert_ptr_equal(p.items[0].b, b0);
	assert_ptr_equal(p.items[1].b, b1);
	assert_ptr_equal(p.items[0].a, p.items[0].base);
	assert_int_equal(p.items[0].pairing, PAIRING_EXACT);
	assert_null(p.items[0].reason);
	assert_int_equal(p.items[0].launch_count, 1);
	pairs_free(&p);
}

static void prefers_equal_specialisation(void **state)
{
	static struct small a, b;
	struct suite_member *right;
	struct pairs p;

	begin(&a, 1);
	begin(&b, 1);
	add(&a, 0, 100, 7, 5, 8);
	add(&b, 0, 200, 6, 1, 8);
	right = add(&b, 0, 201, 7, 2, 9);
	assert_int_equal(pairs_build(&p, &a.suite, &a.suite, &b.suite, NULL), 0);
	assert_ptr_equal(p.items[0].b, right);
	assert_int_equal(p.count, 2); /* the other of B is listed */
	assert_int_equal(p.items[1].pairing, PAIRING_B_ONLY);
	assert_true(p.items[1].reason[0]);
	pairs_free(&p);
}

static void breaks_ties_by_position_then_grid(void **state)
{
	static struct small a, b;
	struct suite_member *first, *second;
	struct pairs p;

	begin(&a, 1);
	begin(&b, 1);
	add(&a, 0, 100, 1, 50, 8);
	add(&a, 0, 101, 1, 40, 8);
	second = add(&b, 0, 200, 1, 9, 8);
	first = add(&b, 0, 201, 1, 3, 8);
	assert_int_equal(pairs_build(&p, &a.suite, &a.suite, &b.suite, NULL), 0);
	assert_int_equal(p.count, 2);
	assert_ptr_equal(p.items[0].b, second);
	assert_ptr_equal(p.items[1].b, first);
	pairs_free(&p);

	begin(&a, 1);
	begin(&b, 1);
	add(&a, 0, 100, 1, 50, 8);
	add(&b, 0, 200, 1, 9, 16);
	second = add(&b, 0, 201, 1, 3, 8);
	assert_int_equal(pairs_build(&p, &a.suite, &a.suite, &b.suite, NULL), 0);
	assert_ptr_equal(p.items[0].b, second);
	pairs_free(&p);
}

static void names_what_stays_ambiguous(void **state)
{
	static struct small a, b;
	struct pairs p;

	begin(&a, 1);
	begin(&b, 1);
	add(&a, 0, 100, 1, 50, 8);
	add(&b, 0, 200, 1, 9, 8);
	add(&b, 0, 201, 1, 3, 8);
	assert_int_equal(pairs_build(&p, &a.suite, &a.suite, &b.suite, NULL), 0);
	assert_null(p.items[0].b);
	assert_int_equal(p.items[0].pairing, PAIRING_AMBIGUOUS);
	assert_non_null(strstr(p.items[0].reason, "2 images"));
	assert_int_equal(p.count, 3);
	pairs_free(&p);
	/* equal machine code is no ambiguity */
	b.members[0][0].code_hash = b.members[0][1].code_hash = key(77);
	assert_int_equal(pairs_build(&p, &a.suite, &a.suite, &b.suite, NULL), 0);
	assert_non_null(p.items[0].b);
	pairs_free(&p);
}

static void pairs_loosely_across_versions(void **state)
{
	static struct small a, b;
	struct suite_member *m;
	struct pairs p;

	begin(&a, 1);
	begin(&b, 1);
	add(&a, 0, 100, 1, 50, 8);
	m = add(&b, 0, 200, 1, 9, 8);
	b.family.key = key(2); /* the source moved by a line */
	b.configs[0].key = key(99);
	assert_int_equal(pairs_build(&p, &a.suite, &a.suite, &b.suite, NULL), 0);
	assert_ptr_equal(p.items[0].b, m);
	assert_int_equal(p.items[0].pairing, PAIRING_SOURCE_CHANGED);
	assert_int_equal(p.count, 1);
	pairs_free(&p);
	b.configs[0].loose = key(98);
	assert_int_equal(pairs_build(&p, &a.suite, &a.suite, &b.suite, NULL), 0);
	assert_null(p.items[0].b);
	assert_int_equal(p.count, 2);
	pairs_free(&p);
}

/* Two configs of equal loose key: none may be taken, unless all but one are paired exactly. */
static void loose_key_must_be_unique(void **state)
{
	static struct small a, b;
	struct suite_member *m;
	struct pairs p;

	begin(&a, 2);
	begin(&b, 2);
	a.configs[1].loose = a.configs[0].loose;
	b.configs[0].loose = b.configs[1].loose = a.configs[0].loose;
	add(&a, 0, 100, 1, 50, 8);
	add(&a, 1, 101, 1, 60, 8);
	m = add(&b, 0, 200, 1, 5, 8);
	add(&b, 1, 201, 1, 6, 8);
	b.configs[0].key = key(98);
	b.configs[1].key = key(99);
	assert_int_equal(pairs_build(&p, &a.suite, &a.suite, &b.suite, NULL), 0);
	for (size_t i = 0; i < 2; i++) {
		assert_null(p.items[i].b);
		assert_int_equal(p.items[i].pairing, PAIRING_AMBIGUOUS);
		assert_non_null(strstr(p.items[i].reason, "2 recorded configs and 2 of B"));
	}
	pairs_free(&p);
	b.configs[1].key = a.configs[1].key; /* exact: leaves one on either side */
	assert_int_equal(pairs_build(&p, &a.suite, &a.suite, &b.suite, NULL), 0);
	assert_ptr_equal(p.items[0].b, m);
	assert_int_equal(p.items[0].pairing, PAIRING_SOURCE_CHANGED);
	assert_int_equal(p.items[1].pairing, PAIRING_EXACT);
	assert_int_equal(p.count, 2);
	pairs_free(&p);
}

/* A kernel of another source that nobody launched: its block and shared memory are not known. */
static void another_source_needs_a_launch(void **state)
{
	static struct triton_kernel triton;
	static struct small a, b;
	struct suite_member *m;
	struct pairs p;

	begin(&a, 1);
	begin(&b, 1);
	add(&a, 0, 100, 1, 50, 8);
	m = add(&b, 0, 200, 1, 0, 8);
	m->triton = &triton;
	assert_int_equal(pairs_build(&p, &a.suite, &a.suite, &b.suite, NULL), 0);
	assert_null(p.items[0].reason); /* exact */
	pairs_free(&p);
	b.configs[0].key = key(99);
	assert_int_equal(pairs_build(&p, &a.suite, &a.suite, &b.suite, NULL), 0);
	assert_non_null(strstr(p.items[0].reason, "B geometry unknown"));
	pairs_free(&p);
	a.members[0][0].ptx_hash = m->ptx_hash = key(5); /* the same code after all */
	assert_int_equal(pairs_build(&p, &a.suite, &a.suite, &b.suite, NULL), 0);
	assert_null(p.items[0].reason);
	pairs_free(&p);
}

static void without_metadata_only_one_to_one(void **state)
{
	static struct small a, b;
	struct suite_member *m;
	struct pairs p;

	begin(&a, 1);
	begin(&b, 1);
	a.family.metadata = b.family.metadata = false;
	a.configs[0].loose = b.configs[0].loose = (struct hash128){0};
	add(&a, 0, 100, 0, 50, 8);
	m = add(&b, 0, 200, 0, 9, 8);
	b.configs[0].key = key(99); /* the machine code's hash */
	assert_int_equal(pairs_build(&p, &a.suite, &a.suite, &b.suite, NULL), 0);
	assert_ptr_equal(p.items[0].b, m);
	pairs_free(&p);
	b.family.config_count = 2;
	b.configs[1] = b.configs[0];
	b.configs[1].key = key(98);
	assert_int_equal(pairs_build(&p, &a.suite, &a.suite, &b.suite, NULL), 0);
	assert_null(p.items[0].b);
	assert_non_null(strstr(p.items[0].reason, "no metadata"));
	pairs_free(&p);
}

static void one_image_in_two_bundles_is_one_pair(void **state)
{
	static struct small a;
	struct pairs p;

	begin(&a, 1);
	add(&a, 0, 100, 1, 50, 8);
	add(&a, 0, 100, 1, 60, 8)->bundle = 1;
	add(&a, 0, 101, 2, 0, 8);
	assert_int_equal(pairs_build(&p, &a.suite, &a.suite, &a.suite, NULL), 0);
	assert_int_equal(p.count, 2);
	assert_int_equal(p.items[0].launch_count, 2);
	assert_int_equal(p.items[0].launches[1].bundle, 1);
	assert_ptr_equal(p.items[0].a, p.items[0].b);
	assert_null(p.items[1].reason); /* an image that was loaded only */
	assert_non_null(strstr(p.items[1].stand_in, "never launched"));
	assert_ptr_equal(p.items[1].base, p.items[0].base);
	assert_ptr_equal(p.items[1].a, &a.members[0][2]);
	assert_int_equal(p.items[1].launch_count, 2);
	pairs_free(&p);
}

/* Block shapes decide the grid; num_warps does not. */
static void never_launched_configs_need_a_grid(void **state)
{
	static struct small a;
	struct pairs p;

	begin(&a, 2);
	add(&a, 0, 100, 1, 50, 8);
	add(&a, 1, 101, 1, 0, 8);
	a.configs[0].options = "num_warps=4 num_stages=2 64x32 32x16";
	a.configs[1].options = "num_warps=8 num_stages=3 64x32 32x16";
	assert_int_equal(pairs_build(&p, &a.suite, &a.suite, &a.suite, NULL), 0);
	assert_ptr_equal(p.items[1].base, p.items[0].base);
	assert_ptr_equal(p.items[1].on, &a.configs[0]);
	pairs_free(&p);
	a.configs[1].options = "num_warps=8 num_stages=3 64x32 32x32";
	assert_int_equal(pairs_build(&p, &a.suite, &a.suite, &a.suite, NULL), 0);
	assert_non_null(strstr(p.items[1].reason, "grid unknown"));
	pairs_free(&p);
	a.configs[0].options = a.configs[1].options = "num_warps=8 64x32 …";
	assert_int_equal(pairs_build(&p, &a.suite, &a.suite, &a.suite, NULL), 0);
	assert_non_null(strstr(p.items[1].reason, "grid unknown"));
	pairs_free(&p);
}

/* The most launched config; where B did not launch its own, one with its shapes. */
static void configs_of_b_run_on_the_winner(void **state)
{
	static const struct note note;
	static struct small a, b;
	struct suite_member *winner;
	struct pairs p;

	begin(&a, 2);
	begin(&b, 1);
	add(&a, 0, 100, 1, 5, 8);
	winner = add(&a, 1, 101, 1, 6, 8);
	winner->seen = 90;
	add(&b, 0, 200, 1, 5, 16);
	a.configs[0].options = "num_warps=4 32x32";
	a.configs[1].options = "num_warps=4 64x64";
	b.configs[0].options = "num_warps=8 32x32";
	b.configs[0].key = key(12);
	b.configs[0].loose = key(22);
	assert_int_equal(pairs_build(&p, &a.suite, &a.suite, &b.suite, NULL), 0);
	assert_int_equal(p.count, 3);
	assert_int_equal(p.items[2].pairing, PAIRING_B_ONLY);
	assert_ptr_equal(p.items[2].a, winner);
	assert_ptr_equal(p.items[2].base, winner);
	pairs_free(&p);
	b.members[0][0].launch_count = 0;
	assert_int_equal(pairs_build(&p, &a.suite, &a.suite, &b.suite, NULL), 0);
	assert_non_null(strstr(p.items[2].reason, "grid unknown")); /* SPLIT_K may be another */
	pairs_free(&p);
	b.members[0][0].note = &note;
	assert_int_equal(pairs_build(&p, &a.suite, &a.suite, &b.suite, NULL), 0);
	assert_ptr_equal(p.items[2].a, &a.members[0][0]);
	pairs_free(&p);
	b.configs[0].options = "num_warps=8 32x32 SPLIT_K=2";
	assert_int_equal(pairs_build(&p, &a.suite, &a.suite, &b.suite, NULL), 0);
	assert_non_null(strstr(p.items[2].reason, "grid unknown"));
	pairs_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pairs_by_config),
		cmocka_unit_test(prefers_equal_specialisation),
		cmocka_unit_test(breaks_ties_by_position_then_grid),
		cmocka_unit_test(names_what_stays_ambiguous),
		cmocka_unit_test(pairs_loosely_across_versions),
		cmocka_unit_test(loose_key_must_be_unique),
		cmocka_unit_test(another_source_needs_a_launch),
		cmocka_unit_test(without_metadata_only_one_to_one),
		cmocka_unit_test(one_image_in_two_bundles_is_one_pair),
		cmocka_unit_test(never_launched_configs_need_a_grid),
		cmocka_unit_test(configs_of_b_run_on_the_winner),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
