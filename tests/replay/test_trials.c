/* SPDX-License-Identifier: MIT */
/* Trials of whole replays on the software device, seen through the result bundle. */
#include "tests/replay/replayed.h"

#include <errno.h>
#include <string.h>

#include "kernelab/dtype.h"
#include "lib/base.h"

static void a_against_a_is_equal(void **state)
{
	replay(&(struct fixture){.path = a_path}, NULL);
	check_extent(check_case(FIDELITY_FAITHFUL), 0);
	assert_int_equal(result->families.count, 1);
	assert_string_equal(result->families.items[0].name, "k");
	assert_int_equal(result->families.items[0].args.count, 3);
	assert_int_equal(result->configs.count, 1);
	assert_true(result->configs.items[0].tested);
	assert_true(result->configs.items[0].same_code);
	assert_int_equal(count_trials(SIDE_A), 5);
	assert_int_equal(count_trials(SIDE_B), 5);
	for (size_t i = 0; i < result->trials.count; i++) {
		const struct record_trial *t = &result->trials.items[i];

		if (t->kind == TRIAL_GUARD || (t->kind == TRIAL_SCALED && t->index == 16))
			/* nothing around is free; no state */
			assert_int_equal(t->status, TRIAL_STATUS_VOID);
		else
			assert_int_equal(t->status, TRIAL_STATUS_OK);
		assert_int_equal(t->stray_bytes, 0);
		assert_int_equal(t->unwritten_bytes, 0);
		if (t->kind <= TRIAL_POISON || t->kind == TRIAL_BACK_TO_BACK)
			assert_true(same_contents(t, &result->trials.items[0]));
	}
	assert_true(value(&result->trials.items[0], 999) == 1001.0f);
	assert_int_equal(summary.faithful, 1);
	assert_int_equal(summary.configs_tested, 1);
	if (result->devices.items[0].software)
		assert_string_equal(bundle_fact(result, "replay.level"),
				    "PTX level: ptxas not executed");
}

static void replay_storing_all(const struct fixture *a)
{
	struct replay_options o;

	fixture_write(a);
	replay_options_init(&o);
	o.b = "recorded";
	o.store_all = true;
	assert_int_equal(run(&o), 0);
	open_result();
}

/* y = 2 x moves with x by 2^-24 of it, in some direction; the four runs differ, A and B do not. */
static void perturbed_inputs_move_the_output(void **state)
{
	replay_storing_all(&(struct fixture){.path = a_path});
	check_extent(check_case(FIDELITY_FAITHFUL), 0);
	for (uint32_t k = 0; k < 4; k++) {
		const struct record_trial *a = trial(SIDE_A, TRIAL_PERTURBED, k);
		size_t up = 0, down = 0;

		assert_int_equal(a->status, TRIAL_STATUS_OK);
		assert_true(a->step == 0x1p-24);
		assert_true(same_contents(a, trial(SIDE_B, TRIAL_PERTURBED, k)));
		for (uint32_t other = 0; other < k; other++)
			assert_false(same_contents(a, trial(SIDE_A, TRIAL_PERTURBED, other)));
		for (uint32_t i = 1; i < FIXTURE_ELEMENTS; i++) {
			double plain = (double)value(trial(SIDE_A, TRIAL_REPEAT, 0), i);
			double moved = (double)value(a, i) / plain - 1;

			assert_true(moved >= -0x1p-23 && moved <= 0x1p-23);
			up += moved > 0;
			down += moved < 0;
		}
		assert_in_range(up, 250, 500); /* of 999, three in four move */
		assert_in_range(down, 250, 500);
	}
}

/* y = 2 x + y at each point; where B differs there A alone runs on moved inputs too. */
static void scaled_inputs_scale_the_output(void **state)
{
	replay_storing_all(&(struct fixture){.path = a_path});
	assert_true(value(trial(SIDE_A, TRIAL_REPEAT, 0), 999) == 1001.0f);
	assert_true(value(trial(SIDE_A, TRIAL_SCALED, 0), 999) == 1001.0f / 1024);
	assert_true(value(trial(SIDE_B, TRIAL_SCALED, 8), 999) == 1001.0f * 64);
	assert_true(trial(SIDE_B, TRIAL_SCALED, 8)->scale == 64);
	assert_string_equal(trial(SIDE_A, TRIAL_SCALED, 16)->reason,
			    "no floats are updated in place");
	for (size_t i = 0; i < result->trials.count; i++) /* equal: no noise floor is needed */
		assert_false(result->trials.items[i].kind == TRIAL_SCALED &&
			     result->trials.items[i].step > 0);
	close_result(NULL);
	replay(&(struct fixture){.path = a_path, .recorded = BODY_READS, .stale = true},
	       &(struct fixture){.path = b_path, .recorded = BODY_OTHER, .no_data = true});
	assert_true(value(trial(SIDE_A, TRIAL_SCALED, 0), 999) ==
		    value(trial(SIDE_A, TRIAL_REPEAT, 0), 999) / 1024);
	assert_true(trial(SIDE_A, TRIAL_SCALED, 16)->zeroed);
	assert_true(2 * value(trial(SIDE_A, TRIAL_SCALED, 16), 999) ==
		    value(trial(SIDE_A, TRIAL_SCALED, 0), 999));
	for (uint32_t k = 1; k <= 4; k++) {
		const struct record_trial *moved = trial(SIDE_A, TRIAL_SCALED, k);

		assert_true(moved->step == 0x1p-24 && moved->scale == 0x1p-10);
		assert_false(same_contents(moved, trial(SIDE_A, TRIAL_SCALED, 0)));
	}
}

/* The trials whose outputs may stay on the device, and what is in the result of each. */
static void each_spared(void (*check)(const struct record_trial *t))
{
	for (size_t i = 0; i < result->trials.count; i++) {
		const struct record_trial *t = &result->trials.items[i];

		if (t->status == TRIAL_STATUS_OK &&
		    (t->kind == TRIAL_PERTURBED || t->kind == TRIAL_EXACT_INTEGER ||
		     t->kind == TRIAL_SCALED))
			check(trial((enum side)t->side, (enum trial_kind)t->kind, t->index));
		else
			assert_false(t->unstored);
	}
}

static void is_unstored(const struct record_trial *t)
{
	assert_true(t->unstored);
	assert_int_equal(t->contents.count, 0);
}

static void is_stored(const struct record_trial *t)
{
	assert_false(t->unstored);
	assert_int_equal(t->contents.count, 1);
}

/* As long as A and B are equal nothing of these trials is read back. */
static void equal_outputs_are_not_stored(void **state)
{
	uint64_t bytes;

	replay(&(struct fixture){.path = a_path}, NULL);
	each_spared(is_unstored);
	assert_int_equal(trial(SIDE_B, TRIAL_PERTURBED, 3)->status, TRIAL_STATUS_OK);
	assert_int_equal(trial(SIDE_B, TRIAL_SCALED, 8)->status, TRIAL_STATUS_OK);
	assert_int_equal(trial(SIDE_B, TRIAL_EXACT_INTEGER, 0)->status, TRIAL_STATUS_OK);
	bytes = summary.cost.downloaded_bytes;
	close_result(NULL);
	replay_storing_all(&(struct fixture){.path = a_path});
	each_spared(is_stored);
	/* 4 perturbed, integers, 2 scaled: a chunk each of A */
	assert_true(summary.cost.downloaded_bytes - bytes > 6 * CHUNK_BYTES);
}

/* B differs in one of the last trials: then those before are there too, run again. */
static void a_late_difference_stores_all(void **state)
{
	replay(&(struct fixture){.path = a_path},
	       &(struct fixture){.path = b_path, .recorded = BODY_GREAT, .no_data = true});
	each_spared(is_stored);
	for (uint32_t k = 0; k < 4; k++)
		assert_true(same_contents(trial(SIDE_A, TRIAL_PERTURBED, k),
					  trial(SIDE_B, TRIAL_PERTURBED, k)));
	assert_false(same_contents(trial(SIDE_A, TRIAL_PERTURBED, 0),
				   trial(SIDE_A, TRIAL_PERTURBED, 1)));
	assert_true(value(trial(SIDE_A, TRIAL_SCALED, 8), 999) == 1001.0f * 64);
	assert_true(value(trial(SIDE_B, TRIAL_SCALED, 8), 999) == 1001.0f * 96);
	assert_true(value(trial(SIDE_B, TRIAL_SCALED, 0), 999) == 1001.0f / 1024);
	assert_true(trial(SIDE_A, TRIAL_SCALED, 9)->step > 0); /* the noise floor there */
}

/* B differs from the start: nothing is run twice. */
static void an_early_difference_spares_nothing(void **state)
{
	replay(&(struct fixture){.path = a_path},
	       &(struct fixture){.path = b_path, .recorded = BODY_OTHER, .no_data = true});
	each_spared(is_stored);
	for (size_t i = 0; i < result->trials.count; i++)
		assert_false(result->trials.items[i].unstored);
}

static void integers_stay_exact(void **state)
{
	const struct record_trial *a;

	replay(&(struct fixture){.path = a_path},
	       &(struct fixture){.path = b_path, .recorded = BODY_OTHER, .no_data = true});
	a = trial(SIDE_A, TRIAL_EXACT_INTEGER, 0);
	assert_int_equal(a->status, TRIAL_STATUS_OK);
	for (uint32_t i = 0; i < FIXTURE_ELEMENTS; i++) {
		float y = value(a, i);

		assert_true(y == 0 || y == 2 || y == 4 || y == 6 || y == 8 || y == 10 || y == 12 ||
			    y == 14);
		assert_true(value(trial(SIDE_B, TRIAL_EXACT_INTEGER, 0), i) == y + y / 2);
	}
}

/* One element past the end: among neighbours, at the end of an allocation, of its pages. */
static void writes_past_the_end_are_seen(void **state)
{
	static const struct {
		uint64_t y, size;
		bool measured, plain;    /* plain: seen without the guard trial */
	} rows[] = {{0, 0, true, false}, /* the neighbour holds the same zero */
		    {FIXTURE_BASE + 0x180000, 0x180000 + 4 * FIXTURE_ELEMENTS, false, true},
		    {FIXTURE_BASE + 0x180000, 0x180000 + 4 * FIXTURE_ELEMENTS, true, true}};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct fixture a = {.path = a_path,
				    .measured = rows[i].measured,
				    .y = rows[i].y,
				    .size = rows[i].size};
		struct fixture b = a;
		uint64_t end = (a.y ? a.y : FIXTURE_Y) + 4 * FIXTURE_ELEMENTS;

		b.path = b_path;
		b.recorded = BODY_PAST;
		b.no_data = true;
		replay(&a, &b);
		assert_int_equal(result->cases.items[0].fidelity, FIDELITY_FAITHFUL);
		assert_int_equal(trial(SIDE_A, TRIAL_GUARD, 0)->status, TRIAL_STATUS_OK);
		assert_int_equal(trial(SIDE_A, TRIAL_GUARD, 0)->stray_bytes, 0);
		assert_int_equal(trial(SIDE_B, TRIAL_GUARD, 0)->stray_bytes, 4);
		assert_int_equal(trial(SIDE_B, TRIAL_GUARD, 0)->stray_address, end);
		assert_int_equal(trial(SIDE_B, TRIAL_REPEAT, 0)->stray_bytes,
				 rows[i].plain ? 4 : 0);
		close_result(NULL);
	}
	/* The allocation ends with its pages: behind it there is nothing. */
	replay(&(struct fixture){.path = a_path, .y = FIXTURE_BASE + FIXTURE_BYTES - 4000},
	       &(struct fixture){.path = b_path,
				 .recorded = BODY_PAST,
				 .no_data = true,
				 .y = FIXTURE_BASE + FIXTURE_BYTES - 4000});
	assert_int_equal(trial(SIDE_B, TRIAL_REPEAT, 0)->status, TRIAL_STATUS_FAULT);
	assert_int_equal(result->cases.items[0].fidelity, FIDELITY_FAITHFUL);
}

/* A read past the end of X that does not matter on what was recorded there. */
static void reads_past_the_end_are_seen(void **state)
{
	const struct record_trial *b;

	replay(&(struct fixture){.path = a_path, .measured = true},
	       &(struct fixture){.path = b_path, .recorded = BODY_OVER, .no_data = true});
	b = trial(SIDE_B, TRIAL_GUARD, 0);
	assert_int_equal(b->stray_bytes, 0);
	assert_true(same_contents(trial(SIDE_A, TRIAL_REPEAT, 0), trial(SIDE_B, TRIAL_REPEAT, 0)));
	assert_true(same_contents(trial(SIDE_A, TRIAL_REPEAT, 0), trial(SIDE_A, TRIAL_GUARD, 0)));
	assert_false(same_contents(trial(SIDE_B, TRIAL_REPEAT, 0), b));
}

static size_t count_kind(enum side side, enum trial_kind kind)
{
	size_t n = 0;

	for (size_t i = 0; i < result->trials.count; i++)
		n += result->trials.items[i].side == side && result->trials.items[i].kind == kind;
	return n;
}

/* B gives another result in the guard trial: ten runs of each of two patterns tell why. */
static void reads_are_told_from_chance(void **state)
{
	const struct record_trial *plain;
	size_t odd[2] = {0};

	replay(&(struct fixture){.path = a_path, .measured = true},
	       &(struct fixture){.path = b_path, .recorded = BODY_OVER, .no_data = true});
	plain = trial(SIDE_B, TRIAL_REPEAT, 0);
	assert_int_equal(count_kind(SIDE_B, TRIAL_GUARD), 1 + 20);
	for (uint32_t k = 0; k < 20; k++)
		assert_int_equal(same_contents(trial(SIDE_B, TRIAL_GUARD, 2 + k), plain), k % 2);
	assert_int_equal(count_kind(SIDE_A, TRIAL_GUARD), 1);
	assert_int_equal(count_kind(SIDE_A, TRIAL_REPEAT), 3);
	close_result(NULL);
	/* The tenth launch is the guard trial's. A then is run as often as it may take. */
	replay(&(struct fixture){.path = a_path, .measured = true},
	       &(struct fixture){.path = b_path, .recorded = BODY_RARE, .no_data = true});
	plain = trial(SIDE_B, TRIAL_REPEAT, 0);
	assert_false(same_contents(trial(SIDE_B, TRIAL_GUARD, 0), plain));
	assert_int_equal(count_kind(SIDE_B, TRIAL_GUARD), 1 + 20);
	for (uint32_t k = 0; k < 20; k++)
		odd[k % 2] += !same_contents(trial(SIDE_B, TRIAL_GUARD, 2 + k), plain);
	assert_int_equal(odd[0], 0);
	assert_int_equal(odd[1], 2);
	assert_int_equal(count_kind(SIDE_A, TRIAL_GUARD), 1 + 100);
	assert_int_equal(count_kind(SIDE_A, TRIAL_REPEAT), 100);
}

/* The same of poisoned outputs: what B reads there, and what it gives by chance. */
static void poison_is_told_from_chance(void **state)
{
	struct replay_options o;

	replay(&(struct fixture){.path = a_path},
	       &(struct fixture){.path = b_path, .recorded = BODY_READS, .no_data = true});
	assert_int_equal(count_kind(SIDE_B, TRIAL_POISON), 2 + 20);
	for (uint32_t k = 0; k < 20; k++)
		assert_int_equal(same_contents(trial(SIDE_B, TRIAL_POISON, 2 + k),
					       trial(SIDE_B, TRIAL_POISON, 0)),
				 k % 2 == 0);
	close_result(NULL);
	/* The tenth launch is the second pattern's; A then is run as often as it may take. */
	fixture_write(&(struct fixture){.path = a_path});
	fixture_write(&(struct fixture){.path = b_path, .recorded = BODY_RARE, .no_data = true});
	replay_options_init(&o);
	o.b = b_path;
	o.repeats = 8;
	o.trials = TRIALS_POISON;
	assert_int_equal(run(&o), 0);
	open_result();
	assert_false(same_contents(trial(SIDE_B, TRIAL_POISON, 1), trial(SIDE_B, TRIAL_POISON, 0)));
	assert_int_equal(count_kind(SIDE_B, TRIAL_POISON), 2 + 20);
	assert_int_equal(count_kind(SIDE_A, TRIAL_REPEAT), 100);
	assert_int_equal(count_kind(SIDE_A, TRIAL_POISON), 2 + 100);
}

/* What no result shows: a barrier that is missing in B's PTX. */
static void races_are_seen_in_the_ptx(void **state)
{
	const struct record_trial *b;

	replay(&(struct fixture){.path = a_path, .recorded = BODY_TILE},
	       &(struct fixture){.path = b_path, .recorded = BODY_RACE, .no_data = true});
	b = trial(SIDE_B, TRIAL_RACE, 0);
	assert_int_equal(trial(SIDE_A, TRIAL_RACE, 0)->status, TRIAL_STATUS_OK);
	assert_int_equal(trial(SIDE_A, TRIAL_RACE, 0)->races, 0);
	assert_int_equal(b->status, TRIAL_STATUS_OK);
	assert_int_not_equal(b->races, 0);
	assert_non_null(strstr(b->race, "ld.shared.f32 %f4, [%r9]"));
	assert_true(same_contents(trial(SIDE_A, TRIAL_REPEAT, 0), trial(SIDE_B, TRIAL_REPEAT, 0)));
	close_result(NULL);
	/* The same PTX on both sides, or no shared memory: there is nothing to look for. */
	replay(&(struct fixture){.path = a_path, .recorded = BODY_TILE}, NULL);
	assert_int_equal(count_kind(SIDE_B, TRIAL_RACE), 0);
	close_result(NULL);
	replay(&(struct fixture){.path = a_path},
	       &(struct fixture){.path = b_path, .recorded = BODY_OTHER, .no_data = true});
	assert_int_equal(count_kind(SIDE_B, TRIAL_RACE), 0);
}

/* B gives another result in the seventh disturbed run, its tenth launch; A is run on after it. */
static void disturbed_runs_tell_who_varies(void **state)
{
	const struct record_trial *plain;
	struct replay_options o;
	size_t odd = 0;

	fixture_write(&(struct fixture){.path = a_path, .recorded = BODY_TILE});
	fixture_write(&(struct fixture){.path = b_path, .recorded = BODY_RARE, .no_data = true});
	replay_options_init(&o);
	o.b = b_path;
	o.trials = TRIALS_DISTURBED;
	assert_int_equal(run(&o), 0);
	open_result();
	plain = trial(SIDE_B, TRIAL_REPEAT, 0);
	assert_int_equal(count_kind(SIDE_B, TRIAL_DISTURBED), 16);
	for (uint32_t k = 0; k < 16; k++) {
		const struct record_trial *b = trial(SIDE_B, TRIAL_DISTURBED, k);

		assert_int_equal(b->status, TRIAL_STATUS_OK);
		assert_true(b->how && b->how[0]);
		odd += !same_contents(b, plain);
		assert_true(same_contents(trial(SIDE_A, TRIAL_DISTURBED, k), plain));
	}
	assert_int_equal(odd, 1);
	assert_int_equal(count_kind(SIDE_A, TRIAL_REPEAT), 100);
	assert_int_equal(count_kind(SIDE_A, TRIAL_DISTURBED), 16 + 100);
	close_result(NULL);
	/* Neither has shared memory: no warp waits for another. */
	fixture_write(&(struct fixture){.path = a_path});
	fixture_write(&(struct fixture){.path = b_path, .recorded = BODY_OTHER, .no_data = true});
	assert_int_equal(run(&o), 0);
	open_result();
	assert_int_equal(count_kind(SIDE_B, TRIAL_DISTURBED), 0);
}

/* n = 1000 in blocks of 128: the whole blocks, which only B gets wrong, are not recorded. */
static void boundary_launches_are_derived(void **state)
{
	const struct record_case *c;

	replay(&(struct fixture){.path = a_path, .block = 128},
	       &(struct fixture){
		       .path = b_path, .recorded = BODY_EDGE, .no_data = true, .block = 128});
	assert_int_equal(result->cases.count, 2);
	c = &result->cases.items[1];
	assert_int_equal(c->fidelity, FIDELITY_DERIVED);
	assert_string_equal(c->derived, "n: 896 in place of 1000");
	assert_int_equal(c->seq, result->cases.items[0].seq);
	assert_non_null(strstr(c->params, "n=896"));
	assert_int_equal(c->extents.items[0].size, 896 * 4);
	assert_int_equal(summary.cases, 1);
	assert_int_equal(summary.derived, 1);
	for (size_t i = 0; i < result->trials.count; i++) {
		const struct record_trial *t = &result->trials.items[i];

		if (t->side == SIDE_B && t->kind == TRIAL_POISON && t->index == 1)
			assert_int_equal(t->unwritten_bytes, t->test_case == 1 ? 4 : 0);
	}
}

/* One less makes a tail; specialised images keep their divisibility, or nothing is derived. */
static void derived_launches_stay_specialised(void **state)
{
	static const struct {
		uint32_t block, divisible;
		const char *derived;
	} rows[] = {{100, 0, "n: 999 in place of 1000"},
		    {100, 8, "n: 992 in place of 1000"},
		    {128, 8, "n: 896 in place of 1000"},
		    {128, 256, NULL},
		    {2048, 0, NULL},
		    {0, 0, NULL}};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		replay(&(struct fixture){.path = a_path,
					 .block = rows[i].block,
					 .divisible = rows[i].divisible},
		       NULL);
		assert_int_equal(result->cases.count, rows[i].derived ? 2 : 1);
		if (rows[i].derived)
			assert_string_equal(result->cases.items[1].derived, rows[i].derived);
		close_result(NULL);
	}
}

/* y = 2 x + y: four launches add 2 x four times. */
static void in_place_kernels_run_in_a_row(void **state)
{
	const struct record_trial *a;

	replay(&(struct fixture){.path = a_path, .recorded = BODY_READS}, NULL);
	a = trial(SIDE_A, TRIAL_BACK_TO_BACK, 0);
	assert_int_equal(a->launches, 4);
	assert_true(value(a, 999) == 4 * value(trial(SIDE_A, TRIAL_REPEAT, 0), 999));
	assert_int_equal(a->stray_bytes, 0);
	assert_true(same_contents(a, trial(SIDE_B, TRIAL_BACK_TO_BACK, 0)));
}

/* The same memory and scalars give the same identity, whatever the outputs held. */
static void inputs_have_an_identity(void **state)
{
	struct hash128 first;

	replay(&(struct fixture){.path = a_path}, NULL);
	first = result->cases.items[0].inputs;
	assert_false(hash_is_zero(first));
	close_result(NULL);
	replay(&(struct fixture){.path = a_path, .stale = true}, NULL);
	assert_true(hash_equal(first, result->cases.items[0].inputs));
	close_result(NULL);
	replay(&(struct fixture){.path = a_path, .recorded = BODY_READS}, NULL);
	first = result->cases.items[0].inputs;
	close_result(NULL);
	replay(&(struct fixture){.path = a_path, .recorded = BODY_READS, .stale = true}, NULL);
	assert_false(hash_equal(first, result->cases.items[0].inputs)); /* read as well */
}

static double reference_value(const struct record_reference *r, size_t i)
{
	double v;

	memcpy(&v, (const uint8_t *)r->values.data + 8 * i, 8);
	return v;
}

static void replay_with_reference(enum body b, double seconds)
{
	struct replay_options o;

	fixture_write(&(struct fixture){.path = a_path, .recorded = BODY_THIRD});
	fixture_write(&(struct fixture){.path = b_path, .recorded = b, .no_data = true});
	replay_options_init(&o);
	o.b = b_path;
	o.trials = 0;
	o.reference_s = seconds;
	assert_int_equal(run(&o), 0);
	open_result();
}

/* 2 x / 3 in double where B differs; nothing where it does not, or nobody asks. */
static void differing_elements_have_a_reference(void **state)
{
	const struct record_reference *r;

	replay_with_reference(BODY_COARSE, 10);
	assert_int_equal(result->references.count, 1);
	r = &result->references.items[0];
	assert_string_equal(r->reason ? r->reason : "", "");
	assert_int_equal(r->differing, FIXTURE_ELEMENTS);
	assert_int_equal(r->elements.count, FIXTURE_ELEMENTS);
	assert_int_equal(r->values.size, 8 * FIXTURE_ELEMENTS);
	assert_true(r->operations >= 2 * FIXTURE_ELEMENTS);
	assert_int_equal(r->lost_places, 0);
	assert_true(r->blocks <= r->all_blocks && r->blocks > 0);
	for (uint32_t i = 0; i < FIXTURE_ELEMENTS; i++) {
		double want = 2.0 * ((double)i * 0.5 + 1.0) / 3.0;

		assert_int_equal(r->elements.items[i], i);
		assert_true(reference_value(r, i) == want);
	}
	close_result(NULL);
	replay_with_reference(BODY_COARSE, 0);
	assert_int_equal(result->references.count, 0);
	close_result(NULL);
	replay_with_reference(BODY_THIRD, 10);
	assert_int_equal(result->references.count, 0);
}

/* One element alone: the block that writes it is enough. */
static void a_reference_needs_few_blocks(void **state)
{
	const struct record_reference *r;
	struct replay_options o;

	fixture_write(&(struct fixture){.path = a_path});
	fixture_write(&(struct fixture){.path = b_path, .recorded = BODY_SKIP, .no_data = true});
	replay_options_init(&o);
	o.b = b_path;
	o.trials = 0;
	o.reference_s = 10;
	assert_int_equal(run(&o), 0);
	open_result();
	assert_int_equal(result->references.count, 1);
	r = &result->references.items[0];
	assert_int_equal(r->differing, 1);
	assert_int_equal(r->elements.items[0], 999);
	assert_true(reference_value(r, 0) == 1001.0);
	assert_int_equal(r->blocks, 1);
	assert_in_range(r->all_blocks, 2, FIXTURE_ELEMENTS);
}

#define T(f) cmocka_unit_test_teardown(f, close_result)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(differing_elements_have_a_reference),
		T(a_reference_needs_few_blocks),
		T(a_against_a_is_equal),
		T(perturbed_inputs_move_the_output),
		T(scaled_inputs_scale_the_output),
		T(integers_stay_exact),
		T(writes_past_the_end_are_seen),
		T(reads_past_the_end_are_seen),
		T(reads_are_told_from_chance),
		T(poison_is_told_from_chance),
		T(races_are_seen_in_the_ptx),
		T(disturbed_runs_tell_who_varies),
		T(boundary_launches_are_derived),
		T(derived_launches_stay_specialised),
		T(in_place_kernels_run_in_a_row),
		T(inputs_have_an_identity),
		T(equal_outputs_are_not_stored),
		T(a_late_difference_stores_all),
		T(an_early_difference_spares_nothing),
	};

	return run_group(tests, ARRAY_LENGTH(tests));
}
