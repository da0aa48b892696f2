/* SPDX-License-Identifier: MIT */
/* Whole replays of fixtures, and what the checks look at. */
#include "tests/replay/replayed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernelab/dtype.h"
#include "lib/base.h"
#include "replay/process.h"

static char folder[] = "/tmp/kernelab-replay-XXXXXX";
char a_path[64], b_path[64], result_path[64];

/* What the checks look at. */
struct bundle *result;
struct replay_summary summary;

void open_result(void)
{
	struct error err;

	if (bundle_open(&result, result_path, &err))
		fail_msg("%s", err.message);
	assert_true(result->complete);
	assert_int_equal(result->kind, BUNDLE_RESULT);
	assert_int_equal(result->runs.count, 1);
	assert_int_equal(result->sides.count, 2);
	assert_int_equal(result->ends.count, 1);
}

/* With KERNELAB_TEST_GPU=1 the same on a real device. */
bool on_gpu(void)
{
	const char *text = getenv("KERNELAB_TEST_GPU");

	return text && !strcmp(text, "1");
}

int run(struct replay_options *o)
{
	const char *bundles[] = {a_path};
	struct error err;
	int rc;

	unlink(result_path);
	o->bundles = bundles;
	o->bundle_count = 1;
	o->result = result_path;
	o->progress_fd = -1;
	if (on_gpu())
		o->device = REPLAY_DEVICE_GPU;
	rc = replay_run(o, &summary, &err);
	if (rc)
		assert_true(err.message[0]);
	return rc;
}

void replay(const struct fixture *a, const struct fixture *b)
{
	struct replay_options o;

	fixture_write(a);
	if (b)
		fixture_write(b);
	replay_options_init(&o);
	o.b = b ? b_path : "recorded";
	o.timeout_s = 2;
	assert_int_equal(run(&o), 0);
	open_result();
}

int close_result(void **state)
{
	bundle_close(result);
	result = NULL;
	return 0;
}

const struct record_trial *trial(enum side side, enum trial_kind kind, uint32_t index)
{
	const struct record_trial *found = NULL;

	for (size_t i = 0; i < result->trials.count; i++) {
		const struct record_trial *t = &result->trials.items[i];

		if (t->side == side && t->kind == kind && t->index == index &&
		    (!found || found->unstored))
			found = t;
	}
	if (found)
		return found;
	fail_msg("no trial: side %s, %s %u", side_name(side), trial_kind_name(kind), index);
	return NULL;
}

/* Repeats and poison. */
size_t count_trials(enum side side)
{
	size_t n = 0;

	for (size_t i = 0; i < result->trials.count; i++)
		n += result->trials.items[i].side == side &&
		     result->trials.items[i].kind <= TRIAL_POISON;
	return n;
}

/* The one extent: Y, whole. */
const struct record_case *check_case(enum fidelity fidelity)
{
	const struct record_case *c = &result->cases.items[0];

	assert_int_equal(result->cases.count, 1);
	if (c->fidelity != fidelity)
		fail_msg("fidelity %s: %s", fidelity_name(c->fidelity),
			 c->fidelity_reason ? c->fidelity_reason : "");
	assert_int_equal(c->seq, 1);
	assert_string_equal(c->bundle, "a.klab");
	assert_non_null(strstr(c->repro, "kernelab diff "));
	assert_non_null(strstr(c->repro, " --launch 1"));
	return c;
}

void check_extent(const struct record_case *c, uint32_t flags)
{
	assert_int_equal(c->extents.count, 1);
	assert_int_equal(c->extents.items[0].address, FIXTURE_Y);
	assert_int_equal(c->extents.items[0].size, 4 * FIXTURE_ELEMENTS);
	assert_int_equal(c->extents.items[0].arg, 2);
	assert_int_equal(c->extents.items[0].dtype, DTYPE_F32);
	assert_int_equal(c->extents.items[0].flags, flags);
}

bool same_contents(const struct record_trial *x, const struct record_trial *y)
{
	assert_int_equal(x->contents.count, y->contents.count);
	for (size_t i = 0; i < x->contents.count; i++) {
		const struct hashes *p = &x->contents.items[i].chunks,
				    *q = &y->contents.items[i].chunks;

		assert_int_equal(p->count, q->count);
		for (size_t j = 0; j < p->count; j++)
			if (!hash_equal(p->items[j], q->items[j]))
				return false;
	}
	return true;
}

float value(const struct record_trial *t, uint32_t i)
{
	float y[FIXTURE_ELEMENTS];
	struct error err;

	if (bundle_read_content(result, FIXTURE_Y, sizeof(y), &t->contents.items[0].chunks, y,
				&err))
		fail_msg("%s", err.message);
	return y[i];
}

int make_folder(void **state)
{
	if (!mkdtemp(folder))
		return -1;
	snprintf(a_path, sizeof(a_path), "%s/a.klab", folder);
	snprintf(b_path, sizeof(b_path), "%s/b.klab", folder);
	snprintf(result_path, sizeof(result_path), "%s/result.klab", folder);
	return 0;
}

int remove_folder(void **state)
{
	unlink(a_path);
	unlink(b_path);
	unlink(result_path);
	return rmdir(folder);
}

int run_group(const struct CMUnitTest *tests, size_t count)
{
	if (on_gpu()) {
		struct replay_options o;
		char *path = NULL, how[200];
		size_t devices;

		replay_options_init(&o);
		o.device = REPLAY_DEVICE_GPU;
		if (driver_choose(&o, &path, &devices, how, sizeof(how), NULL))
			return 77;
		free(path);
	}
	return _cmocka_run_group_tests("replays", tests, count, make_folder, remove_folder);
}
