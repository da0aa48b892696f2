/* SPDX-License-Identifier: MIT */
/* Fidelity where some elements vary: rare values are allowed for as far as repeats show them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "kernelab/dtype.h"
#include "replay/fidelity.h"
#include "replay/odd.h"

#define BASE    0x10000000ull
#define OUTPUT  0x1002u /* so that some elements lie in two chunks */
#define REPEATS 100u
#define MOST    140000u /* elements: three chunks of them */

/* A launch with one f32 output, and what each run of it leaves; run 0 is the recorded one. */
struct launch {
	struct range piece;
	struct contents contents;
	struct page **pages;
	uint32_t elements;
	uint32_t (*value)(uint32_t run, uint32_t element);
};

static void fill(const struct launch *l, uint32_t run, struct snapshot *out)
{
	uint8_t *memory = calloc(1, MAP_BYTES);

	for (uint32_t i = 0; i < l->elements; i++) {
		uint32_t v = l->value(run, i);

		memcpy(memory + OUTPUT + 4 * (size_t)i, &v, 4);
	}
	assert_int_equal(snapshot_init(out, &l->contents), 0);
	for (size_t i = 0; i < l->contents.chunks; i++)
		assert_int_equal(snapshot_put(out, i, memory + i * CHUNK_BYTES), 0);
	free(memory);
}

/*
 * Judges outputs that hold so many values of four bytes, with that many repeats; counts (may be
 * NULL) as of odd_count over all elements.
 */
static enum fidelity judge_extents(const struct extents *extents, uint32_t elements,
				   uint32_t (*value)(uint32_t, uint32_t), size_t repeats,
				   uint64_t *counts)
{
	struct launch l = {.piece = {BASE, MAP_BYTES}, .elements = elements, .value = value};
	struct snapshot runs[REPEATS + 1];
	const struct snapshot *all[REPEATS + 1];
	struct byteset written, noise;
	struct ranges none = {0};
	enum fidelity f;
	char reason[400];

	l.contents.pieces = (struct ranges){.items = &l.piece, .count = 1};
	l.contents.chunks = MAP_BYTES / CHUNK_BYTES;
	l.pages = calloc(l.contents.chunks, sizeof(struct page *));
	l.contents.pages = l.pages;
	for (size_t i = 0; i < l.contents.chunks; i++)
		l.pages[i] = page_uniform(0);
	assert_int_equal(byteset_init(&written, &l.contents.pieces), 0);
	assert_int_equal(byteset_init(&noise, &l.contents.pieces), 0);
	assert_int_equal(byteset_add(&written, BASE + OUTPUT, 4 * (uint64_t)elements), 0);
	for (uint32_t r = 0; r <= repeats; r++) {
		fill(&l, r, &runs[r]);
		all[r] = &runs[r];
		if (r > 1)
			assert_int_equal(snapshot_differ(&noise, &runs[1], &runs[r]), 0);
	}
	struct fidelity_evidence e = {.recorded = runs,
				      .repeats = runs + 1,
				      .repeat_count = repeats,
				      .written = &written,
				      .noise = &noise,
				      .extents = extents,
				      .scratch = &none};
	assert_int_equal(fidelity_judge(&e, &f, reason, sizeof(reason)), 0);
	assert_int_equal(f == FIDELITY_FAITHFUL, !reason[0]);
	if (counts)
		assert_int_equal(odd_count(counts, all, repeats + 1, &written, extents), 0);
	for (size_t r = 0; r <= repeats; r++)
		snapshot_free(&runs[r]);
	for (size_t i = 0; i < l.contents.chunks; i++)
		page_unref(l.pages[i]);
	free(l.pages);
	byteset_free(&written);
	byteset_free(&noise);
	return f;
}

/* Of one f32 output. */
static enum fidelity judge(uint32_t elements, uint32_t (*value)(uint32_t, uint32_t), size_t repeats,
			   uint64_t *counts)
{
	struct record_extent extent = {
		.address = BASE + OUTPUT, .size = 4 * (uint64_t)elements, .dtype = DTYPE_F32};
	const struct extents one = {.items = &extent, .count = 1};

	return judge_extents(&one, elements, value, repeats, counts);
}

/* By a hash of run and element: 1 for `rare` of 256, else 0. */
static uint32_t sometimes(uint32_t run, uint32_t element, uint32_t rare)
{
	uint32_t x = (run * 0x9e3779b1u) ^ (element * 0x85ebca6bu);

	x = (x ^ x >> 15) * 0x2c1b3c6du;
	x = (x ^ x >> 12) * 0x297a2d39u;
	return (x ^ x >> 15) % 256 < rare;
}

/* Sums in varying order: of twelve four are rarely another value, four often, four never. */
static uint32_t few_sums(uint32_t run, uint32_t i)
{
	if (i < 2) /* of no repeat, but of the recorded run */
		return run == 0;
	if (i < 4) /* of one repeat each */
		return run == 5 * (i - 1);
	return i < 8 ? sometimes(run, i, 128) : 7;
}

/* So with a wrong value where none varies: eight of twelve. */
static uint32_t few_sums_wrong(uint32_t run, uint32_t i)
{
	return run == 0 && i >= 4 ? 1000 + i : few_sums(run, i);
}

/* One counter that always varies, none that rarely does, and one element of another value. */
static uint32_t counter_and_wrong(uint32_t run, uint32_t i)
{
	return i == 0 ? run : i == 1 && run == 0 ? 99 : 7;
}

static uint32_t stable_and_wrong(uint32_t run, uint32_t i)
{
	return i == 1 && run == 0 ? 99 : 7;
}

/* Of 4000 elements some rarely vary; of the stable ones 300 are not what was recorded. */
static uint32_t many_rare(uint32_t run, uint32_t i)
{
	return i % 4 ? 7 : 7 + sometimes(run, i, 1);
}

static uint32_t many_wrong(uint32_t run, uint32_t i)
{
	return run == 0 && i >= 1000 && i < 1300 ? 99 : many_rare(run, i);
}

/* Most vary, as in a sum by atomics; 400 that never do are not what was recorded: over a tenth. */
static uint32_t noisy_wrong(uint32_t run, uint32_t i)
{
	if (i < 3600)
		return sometimes(run, i, 100);
	return run == 0 ? 0xa5a5a5a5 : 0; /* all four bytes */
}

/* 350 are below a tenth: a kernel beside other work gives sums that it never gives alone. */
static uint32_t noisy_beside_others(uint32_t run, uint32_t i)
{
	return i < 3650 ? sometimes(run, i, 100) : run == 0 ? 0xa5a5a5a5 : 0;
}

static void rare_values_of_few_elements_are_allowed_for(void **state)
{
	assert_int_equal(judge(4000, noisy_beside_others, 20, NULL), FIDELITY_NONDETERMINISTIC);
	assert_int_equal(judge(12, few_sums, 20, NULL), FIDELITY_NONDETERMINISTIC);
	assert_int_equal(judge(12, few_sums_wrong, 20, NULL), FIDELITY_UNFAITHFUL);
	assert_int_equal(judge(12, few_sums_wrong, REPEATS, NULL), FIDELITY_UNFAITHFUL);
}

static void repeats_without_rare_values_allow_for_none(void **state)
{
	assert_int_equal(judge(1000, counter_and_wrong, 20, NULL), FIDELITY_UNFAITHFUL);
	assert_int_equal(judge(12, stable_and_wrong, REPEATS, NULL), FIDELITY_UNFAITHFUL);
	assert_int_equal(judge(12, stable_and_wrong, 1, NULL), FIDELITY_UNFAITHFUL);
}

static void many_wrong_elements_are_unfaithful(void **state)
{
	assert_int_equal(judge(4000, many_rare, REPEATS, NULL), FIDELITY_NONDETERMINISTIC);
	assert_int_equal(judge(4000, many_wrong, REPEATS, NULL), FIDELITY_UNFAITHFUL);
	assert_int_equal(judge(4000, many_wrong, 20, NULL), FIDELITY_UNFAITHFUL);
	assert_int_equal(judge(4000, noisy_wrong, 20, NULL), FIDELITY_UNFAITHFUL);
}

/* Every run is like the others: each in its turn as the recorded one is allowed for. */
static uint32_t turn;

static uint32_t in_turn(uint32_t run, uint32_t i)
{
	return i % 3 ? 7 : sometimes((run + turn) % 21, i, 6);
}

static void equal_runs_are_never_told_apart(void **state)
{
	for (turn = 0; turn < 21; turn++) {
		assert_int_not_equal(judge(12, in_turn, 20, NULL), FIDELITY_UNFAITHFUL);
		assert_int_not_equal(judge(600, in_turn, 20, NULL), FIDELITY_UNFAITHFUL);
	}
}

/* Element i is odd in run i % 5, but each seventh in two runs, over several chunks. */
static uint32_t by_turns(uint32_t run, uint32_t i)
{
	return run == i % 5 || (i % 7 == 0 && run == (i + 1) % 5) ? i : 0x10000000u + i;
}

static void counts_the_odd_one(void **state)
{
	uint64_t counts[5], expected[5] = {0};

	for (uint32_t i = 0; i < MOST; i++)
		expected[i % 5] += i % 7 != 0;
	judge(MOST, by_turns, 4, counts);
	assert_memory_equal(counts, expected, sizeof(counts));
}

/* An f64 and the f32 behind it vary; the next f32 does not, but is not what was recorded. */
static uint32_t neighbours(uint32_t run, uint32_t i)
{
	return i < 3 ? run * 0x01010101 : run == 0 ? 0xa5a5a5a5 : 0;
}

static void elements_end_at_their_output(void **state)
{
	struct record_extent items[] = {
		{.address = BASE + OUTPUT, .size = 8, .dtype = DTYPE_F64},
		{.address = BASE + OUTPUT + 8, .size = 8, .dtype = DTYPE_F32}};
	const struct extents two = {.items = items, .count = 2};

	assert_int_equal(judge_extents(&two, 4, neighbours, 20, NULL), FIDELITY_UNFAITHFUL);
	assert_int_equal(judge_extents(&two, 3, neighbours, 20, NULL), FIDELITY_NONDETERMINISTIC);
}

static void what_is_plausible(void **state)
{
	const uint64_t none[] = {1, 0, 0, 0}, no_more[] = {0, 0, 0, 0}, twice[] = {600, 300, 0, 0};
	uint64_t counts[101] = {2, 1};

	assert_false(odd_plausible(none, 4));
	assert_true(odd_plausible(no_more, 4));
	assert_true(odd_plausible(twice, 4));
	/* of 3 odd values 2 in one of 101 runs: 3e-4; of 4 odd values 3: 4e-6, and 2^-16 is 1.5e-5
	 */
	assert_true(odd_plausible(counts, 101));
	counts[0] = 3;
	assert_false(odd_plausible(counts, 101));
	for (size_t i = 1; i < 101; i++)
		counts[i] = 1000;
	counts[0] = 2001;
	assert_false(odd_plausible(counts, 101));
	counts[0] = 2000;
	assert_true(odd_plausible(counts, 101));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rare_values_of_few_elements_are_allowed_for),
		cmocka_unit_test(repeats_without_rare_values_allow_for_none),
		cmocka_unit_test(many_wrong_elements_are_unfaithful),
		cmocka_unit_test(equal_runs_are_never_told_apart),
		cmocka_unit_test(counts_the_odd_one),
		cmocka_unit_test(elements_end_at_their_output),
		cmocka_unit_test(what_is_plausible),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
