/* SPDX-License-Identifier: MIT */
/* Whole replays on the software device: good and broken kernels, seen through the result bundle. */
#include "tests/replay/replayed.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernelab/dtype.h"
#include "lib/base.h"
#include "replay/process.h"

static void trials_and_types_are_options(void **state)
{
	const char *types[] = {"k.X=bf16", "k.Y=i32"};
	struct replay_options o;
	uint32_t trials;

	fixture_write(&(struct fixture){.path = a_path});
	replay_options_init(&o);
	o.b = "recorded";
	o.trials = TRIALS_PERTURBED;
	o.dtypes = types;
	o.dtype_count = 1;
	assert_int_equal(run(&o), 0);
	open_result();
	assert_int_equal(result->trials.count, 6 + 4 + 8); /* repeats, void poison, perturbed */
	assert_int_equal(trial(SIDE_A, TRIAL_POISON, 0)->status, TRIAL_STATUS_VOID);
	assert_int_equal(result->cases.items[0].extents.items[0].dtype, DTYPE_F32);
	assert_true(trial(SIDE_A, TRIAL_PERTURBED, 0)->step == 0x1p-8);
	close_result(NULL);
	types[0] = "k.X=i32";
	o.dtype_count = 2;
	assert_int_equal(run(&o), 0);
	open_result();
	assert_int_equal(trial(SIDE_A, TRIAL_PERTURBED, 0)->status, TRIAL_STATUS_VOID);
	assert_int_equal(result->cases.items[0].extents.items[0].dtype, DTYPE_I32);
	close_result(NULL);
	types[0] = "k.Z=bf16";
	assert_int_equal(run(&o), -EINVAL);
	types[0] = "k.Y=bf17";
	assert_int_equal(run(&o), -EINVAL);
	assert_int_equal(replay_trials_parse("all", &trials), 0);
	assert_int_equal(trials, TRIALS_ALL);
	assert_int_equal(replay_trials_parse("poison,back-to-back", &trials), 0);
	assert_int_equal(trials, TRIALS_POISON | TRIALS_BACK_TO_BACK);
	assert_int_equal(replay_trials_parse("none", &trials), 0);
	assert_int_equal(trials, 0);
	assert_int_equal(replay_trials_parse("poison,", &trials), -EINVAL);
	assert_int_equal(replay_trials_parse("poisons", &trials), -EINVAL);
}

static void different_values_are_kept(void **state)
{
	replay(&(struct fixture){.path = a_path},
	       &(struct fixture){.path = b_path, .recorded = BODY_OTHER, .no_data = true});
	check_extent(check_case(FIDELITY_FAITHFUL), 0);
	assert_int_equal(result->configs.items[0].pairing, PAIRING_EXACT);
	assert_false(result->configs.items[0].same_ptx);
	assert_false(same_contents(trial(SIDE_A, TRIAL_REPEAT, 0), trial(SIDE_B, TRIAL_REPEAT, 0)));
	assert_true(value(trial(SIDE_B, TRIAL_REPEAT, 2), 999) == 1501.5f);
	assert_true(value(trial(SIDE_A, TRIAL_REPEAT, 2), 999) == 1001.0f);
}

/* The recorded buffer holds the right answer: only poison shows that B leaves an element out. */
static void skipped_elements_are_unwritten(void **state)
{
	replay(&(struct fixture){.path = a_path, .stale = true},
	       &(struct fixture){.path = b_path, .recorded = BODY_SKIP, .no_data = true});
	check_extent(check_case(FIDELITY_FAITHFUL), 0);
	assert_true(same_contents(trial(SIDE_A, TRIAL_REPEAT, 0), trial(SIDE_B, TRIAL_REPEAT, 0)));
	assert_int_equal(trial(SIDE_A, TRIAL_POISON, 1)->unwritten_bytes, 0);
	assert_int_equal(trial(SIDE_B, TRIAL_POISON, 1)->unwritten_bytes, 4);
	assert_int_equal(trial(SIDE_B, TRIAL_POISON, 1)->unwritten_address,
			 FIXTURE_Y + 4 * (FIXTURE_ELEMENTS - 1));
}

static void writes_elsewhere_are_stray(void **state)
{
	replay(&(struct fixture){.path = a_path},
	       &(struct fixture){.path = b_path, .recorded = BODY_STRAY, .no_data = true});
	check_extent(check_case(FIDELITY_FAITHFUL), 0);
	assert_int_equal(trial(SIDE_A, TRIAL_REPEAT, 0)->stray_bytes, 0);
	assert_true(trial(SIDE_B, TRIAL_REPEAT, 0)->stray_bytes >= FIXTURE_ELEMENTS);
	assert_in_range(trial(SIDE_B, TRIAL_REPEAT, 0)->stray_address, FIXTURE_Y + 16384,
			FIXTURE_Y + 16384 + 3);
}

static void a_fault_costs_one_trial(void **state)
{
	replay(&(struct fixture){.path = a_path, .launches = 2},
	       &(struct fixture){.path = b_path, .recorded = BODY_FAULT, .no_data = true});
	assert_int_equal(result->cases.count, 2);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(result->cases.items[i].fidelity, FIDELITY_FAITHFUL);
	assert_int_equal(trial(SIDE_B, TRIAL_REPEAT, 0)->status, TRIAL_STATUS_FAULT);
	assert_true(trial(SIDE_B, TRIAL_REPEAT, 0)->reason[0]);
	assert_int_equal(count_trials(SIDE_A), 10);
	assert_int_equal(count_trials(SIDE_B), 2);
	assert_int_equal(summary.failures, 2);
	assert_true(result->configs.items[0].tested);
}

static void a_hang_is_ended(void **state)
{
	replay(&(struct fixture){.path = a_path},
	       &(struct fixture){.path = b_path, .recorded = BODY_LOOP, .no_data = true});
	check_extent(check_case(FIDELITY_FAITHFUL), 0);
	assert_int_equal(trial(SIDE_B, TRIAL_REPEAT, 0)->status, TRIAL_STATUS_HANG);
	assert_int_equal(count_trials(SIDE_A), 5);
}

/* Y is zero in the recording, so B = 2 x + y looks right until y is poisoned. */
static void b_that_reads_its_output_shows(void **state)
{
	replay(&(struct fixture){.path = a_path},
	       &(struct fixture){.path = b_path, .recorded = BODY_READS, .no_data = true});
	check_extent(check_case(FIDELITY_FAITHFUL), 0);
	assert_true(same_contents(trial(SIDE_A, TRIAL_REPEAT, 0), trial(SIDE_B, TRIAL_REPEAT, 0)));
	assert_true(same_contents(trial(SIDE_A, TRIAL_POISON, 0), trial(SIDE_A, TRIAL_POISON, 1)));
	assert_false(same_contents(trial(SIDE_B, TRIAL_POISON, 0), trial(SIDE_B, TRIAL_POISON, 1)));
}

static void in_place_outputs_are_not_poisoned(void **state)
{
	replay(&(struct fixture){.path = a_path, .recorded = BODY_READS}, NULL);
	check_extent(check_case(FIDELITY_FAITHFUL), EXTENT_IN_PLACE);
	for (uint32_t k = 0; k < 2; k++) {
		assert_int_equal(trial(SIDE_A, TRIAL_POISON, k)->status, TRIAL_STATUS_VOID);
		assert_int_equal(trial(SIDE_B, TRIAL_POISON, k)->status, TRIAL_STATUS_VOID);
	}
}

/* A reads its output as an index: poison makes it fault; the case is run again with less. */
static void a_that_cannot_bear_poison_is_still_tested(void **state)
{
	replay(&(struct fixture){.path = a_path, .recorded = BODY_INDEX}, NULL);
	const struct record_case *c = check_case(FIDELITY_FAITHFUL);

	check_extent(c, 0);
	assert_non_null(strstr(c->fidelity_reason, "changed bytes only"));
	assert_int_equal(trial(SIDE_A, TRIAL_POISON, 0)->status, TRIAL_STATUS_VOID);
	assert_int_equal(count_trials(SIDE_A), 5);
	assert_int_equal(count_trials(SIDE_B), 5);
	assert_true(summary.restarts >= 1);
}

static void wrong_recordings_are_unfaithful(void **state)
{
	replay(&(struct fixture){.path = a_path, .wrong_after = true}, NULL);
	assert_non_null(strstr(check_case(FIDELITY_UNFAITHFUL)->fidelity_reason, "differ"));
	assert_false(result->configs.items[0].tested);
	assert_non_null(strstr(result->configs.items[0].reason, "launch 1"));
	close_result(NULL);
	replay(&(struct fixture){.path = a_path, .no_after = true}, NULL);
	assert_non_null(strstr(check_case(FIDELITY_UNFAITHFUL)->fidelity_reason, "after launch"));
	close_result(NULL);
	replay(&(struct fixture){.path = a_path, .recorded = BODY_FAULT}, NULL);
	assert_non_null(strstr(check_case(FIDELITY_UNFAITHFUL)->fidelity_reason, "A fails"));
	assert_int_equal(count_trials(SIDE_B), 0);
	close_result(NULL);
	replay(&(struct fixture){.path = a_path, .failed = true}, NULL);
	assert_non_null(strstr(check_case(FIDELITY_UNTESTED)->fidelity_reason, "failed when"));
	close_result(NULL);
	replay(&(struct fixture){.path = a_path, .no_data = true}, NULL);
	assert_non_null(strstr(check_case(FIDELITY_UNTESTED)->fidelity_reason, "--no-data"));
}

/* One element varies: A is repeated more often, and the recording need not match there. */
static void a_varying_kernel_is_nondeterministic(void **state)
{
	const struct record_case *c;

	replay(&(struct fixture){.path = a_path, .recorded = BODY_NOISE}, NULL);
	c = check_case(FIDELITY_NONDETERMINISTIC);
	check_extent(c, 0);
	assert_int_equal(count_trials(SIDE_A), 20 + 2);
	assert_int_equal(count_trials(SIDE_B), 3 + 2);
	assert_false(same_contents(trial(SIDE_A, TRIAL_REPEAT, 0), trial(SIDE_A, TRIAL_REPEAT, 1)));
	assert_int_equal(trial(SIDE_A, TRIAL_POISON, 0)->status, TRIAL_STATUS_OK);
	close_result(NULL);
	/* elsewhere it must match all the same */
	replay(&(struct fixture){.path = a_path, .recorded = BODY_NOISE, .wrong_after = true},
	       NULL);
	assert_non_null(strstr(check_case(FIDELITY_UNFAITHFUL)->fidelity_reason,
			       "where the 100 repeats agree"));
	assert_int_equal(count_trials(SIDE_A), 100 + 2);
}

/* What was recorded is what A gives now and then: it takes more than three repeats to see that. */
static void a_rare_result_is_reproduced(void **state)
{
	replay(&(struct fixture){.path = a_path, .recorded = BODY_RARE, .rare = true}, NULL);
	assert_int_equal(result->cases.items[0].fidelity, FIDELITY_FAITHFUL);
	assert_in_range(count_trials(SIDE_A), 4, 3 + 20 + 2);
	close_result(NULL);
	replay(
		&(struct fixture){
			.path = a_path, .recorded = BODY_RARE, .rare = true, .wrong_after = true},
		NULL);
	assert_int_equal(result->cases.items[0].fidelity, FIDELITY_UNFAITHFUL);
}

/* B varies, A does not: A is repeated more often before B alone is called nondeterministic. */
static void a_is_repeated_where_b_varies(void **state)
{
	replay(&(struct fixture){.path = a_path},
	       &(struct fixture){.path = b_path, .recorded = BODY_NOISE, .no_data = true});
	check_extent(check_case(FIDELITY_FAITHFUL), 0);
	assert_int_equal(count_trials(SIDE_A), 100 + 2);
	assert_int_equal(count_trials(SIDE_B), 3 + 2);
	assert_true(same_contents(trial(SIDE_A, TRIAL_REPEAT, 0), trial(SIDE_A, TRIAL_REPEAT, 99)));
}

static const struct record_config *config(uint32_t number)
{
	for (size_t i = 0; i < result->configs.count; i++)
		if (result->configs.items[i].number == number)
			return &result->configs.items[i];
	fail_msg("no config %u", number);
	return NULL;
}

/* What only A has is untested; what only B has runs against A's winner, in B's own geometry. */
static void configs_of_one_side_are_listed(void **state)
{
	const struct record_config *c;

	replay(&(struct fixture){.path = a_path}, &(struct fixture){.path = b_path,
								    .recorded = BODY_OTHER,
								    .no_data = true,
								    .options = "\"num_warps\": 8"});
	assert_int_equal(result->configs.count, 2);
	c = config(0);
	assert_int_equal(c->pairing, PAIRING_A_ONLY);
	assert_false(c->tested);
	assert_true(c->reason[0]);
	c = config(1);
	assert_int_equal(c->pairing, PAIRING_B_ONLY);
	assert_true(c->tested);
	assert_non_null(strstr(c->stand_in, "compared with config num_warps=4"));
	check_case(FIDELITY_FAITHFUL);
	assert_int_equal(result->cases.items[0].config, 1);
	assert_true(value(trial(SIDE_A, TRIAL_REPEAT, 0), 999) == 1001.0f);
	assert_true(value(trial(SIDE_B, TRIAL_REPEAT, 0), 999) == 1501.5f);
}

/* Specialised for a multiple of 16, which 1000 is not: nothing to run it on. */
static void other_specialisations_do_not_stand_in(void **state)
{
	replay(&(struct fixture){.path = a_path}, &(struct fixture){.path = b_path,
								    .no_data = true,
								    .divisible = 16,
								    .options = "\"num_warps\": 8"});
	assert_false(config(1)->tested);
	assert_non_null(strstr(config(1)->reason, "specialised for other arguments"));
}

/* Kernels of A from elsewhere: fidelity is still that of the recorded kernel. */
static void a_may_come_from_another_bundle(void **state)
{
	struct replay_options o;

	fixture_write(&(struct fixture){.path = a_path});
	fixture_write(&(struct fixture){.path = b_path, .recorded = BODY_OTHER, .no_data = true});
	replay_options_init(&o);
	o.a = b_path;
	o.b = b_path;
	assert_int_equal(run(&o), 0);
	open_result();
	check_extent(check_case(FIDELITY_FAITHFUL), 0);
	assert_true(value(trial(SIDE_A, TRIAL_REPEAT, 0), 999) == 1501.5f);
	assert_true(same_contents(trial(SIDE_A, TRIAL_REPEAT, 0), trial(SIDE_B, TRIAL_REPEAT, 0)));
}

static void wrong_options_are_errors(void **state)
{
	struct replay_options o;

	fixture_write(&(struct fixture){.path = a_path});
	replay_options_init(&o);
	o.b = "ptxas:/nonexistent/ptxas";
	assert_int_equal(run(&o), -EINVAL);
	o.b = "/nonexistent/bundle";
	assert_int_equal(run(&o), -ENOENT);
	o.b = "recorded";
	o.family = "nothing_like_it";
	assert_int_equal(run(&o), -ENOENT);
	o.family = "(";
	assert_int_equal(run(&o), -EINVAL);
	o.family = NULL;
	o.launch = 77;
	assert_int_equal(run(&o), -ENOENT);
	o.launch = 0;
	o.repeats = 0;
	assert_int_equal(run(&o), -EINVAL);
	o.repeats = 3;
	o.driver = "/nonexistent/libcuda.so.1";
	assert_int_equal(run(&o), -ENODEV);
	assert_int_not_equal(access(result_path, F_OK), 0); /* nothing is left behind */
}

static void nothing_is_overwritten(void **state)
{
	const char *bundles[] = {a_path};
	struct replay_options o;
	struct error err;
	FILE *f = fopen(result_path, "w");

	assert_non_null(f);
	fclose(f);
	fixture_write(&(struct fixture){.path = a_path});
	replay_options_init(&o);
	o.b = "recorded";
	o.bundles = bundles;
	o.bundle_count = 1;
	o.result = result_path;
	o.progress_fd = -1;
	assert_int_equal(replay_run(&o, &summary, &err), -EEXIST);
}

/* Until so many trials stand in the result that is being written; 30 s at most. */
static void wait_for_trials(size_t wanted)
{
	for (int i = 0; i < 1500; i++) {
		struct bundle *b = NULL;
		size_t n = 0;

		if (!bundle_open(&b, result_path, NULL))
			n = b->trials.count;
		bundle_close(b);
		if (n >= wanted)
			return;
		usleep(20000);
	}
}

/* Kills the other children of `parent`: its worker. */
static void kill_worker(pid_t parent)
{
	_cleanup_free_ char *path =
		text_format("/proc/%d/task/%d/children", (int)parent, (int)parent);
	FILE *f = fopen(path, "r");
	int child;

	while (f && fscanf(f, "%d", &child) == 1)
		if (child != getpid())
			kill(child, SIGKILL);
	if (f)
		fclose(f);
}

/* Something outside ends the worker while B runs. */
static void a_killed_worker_costs_one_trial(void **state)
{
	struct replay_options o;
	int status;
	pid_t killer;

	fixture_write(&(struct fixture){.path = a_path, .launches = 2});
	fixture_write(&(struct fixture){.path = b_path, .recorded = BODY_LOOP, .no_data = true});
	unlink(result_path);
	killer = fork();
	if (!killer) {
		for (size_t n = 5; n <= 11; n += 6) { /* A of both launches, B's dead trial */
			wait_for_trials(n);
			usleep(100000);
			kill_worker(getppid());
		}
		_exit(0);
	}
	replay_options_init(&o);
	o.b = b_path;
	o.timeout_s = 600;
	assert_int_equal(run(&o), 0);
	assert_int_equal(waitpid(killer, &status, 0), killer);
	open_result();
	assert_int_equal(result->cases.count, 2);
	assert_int_equal(count_trials(SIDE_A), 10);
	assert_int_equal(count_trials(SIDE_B), 2);
	assert_int_equal(trial(SIDE_B, TRIAL_REPEAT, 0)->status, TRIAL_STATUS_CRASH);
	assert_non_null(strstr(trial(SIDE_B, TRIAL_REPEAT, 0)->reason, "signal 9"));
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(result->cases.items[i].fidelity, FIDELITY_FAITHFUL);
}

static void interruption_leaves_a_valid_result(void **state)
{
	int status;
	pid_t pid;

	fixture_write(&(struct fixture){.path = a_path, .launches = 3});
	fixture_write(&(struct fixture){.path = b_path, .recorded = BODY_LOOP, .no_data = true});
	unlink(result_path);
	pid = fork();
	if (!pid) {
		const char *bundles[] = {a_path};
		struct replay_options o;
		struct error err;

		replay_options_init(&o);
		o.b = b_path;
		o.bundles = bundles;
		o.bundle_count = 1;
		o.result = result_path;
		o.progress_fd = -1;
		o.timeout_s = 600;
		_exit(replay_run(&o, &summary, &err) == 0 && summary.interrupted ? 0 : 1);
	}
	wait_for_trials(5); /* A's of the first launch */
	kill(pid, SIGINT);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	open_result();
	assert_false(result->ends.items[0].clean);
	assert_string_equal(result->ends.items[0].incomplete, "interrupted");
	assert_true(result->trials.count >= 5);
	assert_int_equal(result->configs.count, 1);
}

#define T(f) cmocka_unit_test_teardown(f, close_result)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(trials_and_types_are_options),
		T(different_values_are_kept),
		T(skipped_elements_are_unwritten),
		T(writes_elsewhere_are_stray),
		T(a_fault_costs_one_trial),
		T(a_hang_is_ended),
		T(b_that_reads_its_output_shows),
		T(in_place_outputs_are_not_poisoned),
		T(a_that_cannot_bear_poison_is_still_tested),
		T(wrong_recordings_are_unfaithful),
		T(a_varying_kernel_is_nondeterministic),
		T(a_is_repeated_where_b_varies),
		T(a_rare_result_is_reproduced),
		T(configs_of_one_side_are_listed),
		T(other_specialisations_do_not_stand_in),
		T(a_may_come_from_another_bundle),
		T(wrong_options_are_errors),
		T(nothing_is_overwritten),
		T(a_killed_worker_costs_one_trial),
		T(interruption_leaves_a_valid_result),
	};

	return run_group(tests, ARRAY_LENGTH(tests));
}
