/* SPDX-License-Identifier: MIT */
/* Keeps the last launches that may have begun a sweep. */
#include "shim/sweeps.h"

#include <string.h>

#include "lib/base.h"
#include "shim/kernels.h"
#include "shim/record_launch.h"
#include "shim/recorder.h"

/* Triton's and Inductor's benchmarks launch a config once, five times for an estimate, then more.
 */
#define REPEATS_MIN 3u
/* Triton compiles between the configs of a sweep. */
#define PAUSE_MAX_NS 120000000000u
#define RUNS_MAX     32u

struct sweep_run {
	struct hash128 family, inputs;
	const struct image *image;       /* of the latest config */
	struct shape_class *shape_class; /* its class */
	uint64_t first_seq;              /* of the first config's launch */
	uint64_t latest_ns;
};

static struct sweep_run runs[RUNS_MAX]; /* table_lock */

struct hash128 sweeps_inputs(const struct launch_facts *f)
{
	const struct kernel *k = f->kernel;
	struct hash128 sum = {0};

	for (size_t i = 0; i < k->param_count; i++) {
		const struct record_param *p = &k->params[i];
		unsigned char item[8 + 16];
		struct hash128 h;

		if (k->kinds[i] == PARAM_HIDDEN || k->kinds[i] == PARAM_DESCRIPTOR ||
		    (size_t)p->offset + p->size > f->params_size)
			continue;
		h = hash_bytes(f->params + p->offset, p->size);
		memcpy(item, &sum, 16);
		memcpy(item + 16, &h.low, 8);
		sum = hash_bytes(item, sizeof(item));
	}
	return sum;
}

/* Entry and parameter sizes: configs of one Inductor template are functions of different files. */
static struct hash128 family_of(const struct kernel *k)
{
	struct hash128 h = hash_bytes(k->entry, strlen(k->entry));

	h.high ^= k->image->signature ? k->image->signature->arg_count : k->param_count;
	return h;
}

static struct sweep_run *find(struct hash128 family, struct hash128 inputs)
{
	struct sweep_run *oldest = &runs[0];

	for (size_t i = 0; i < RUNS_MAX; i++) {
		if (runs[i].image && hash_equal(runs[i].family, family) &&
		    hash_equal(runs[i].inputs, inputs))
			return &runs[i];
		if (runs[i].latest_ns < oldest->latest_ns)
			oldest = &runs[i];
	}
	return oldest;
}

/* Whether the run's latest config was tried as an autotuner tries it, just now. */
static bool tried(const struct sweep_run *run, uint64_t now)
{
	classes_fold(run->shape_class);
	return run->shape_class->seen >= REPEATS_MIN && now - run->latest_ns <= PAUSE_MAX_NS;
}

uint64_t sweeps_note(const struct launch_facts *f)
{
	struct hash128 family = family_of(f->kernel);
	uint64_t now = recorder_running_ns(), sweep = 0;
	struct sweep_run *run;

	if (f->turn != TURN_FIRST)
		return 0;
	pthread_mutex_lock(&recorder_table_lock);
	run = find(family, f->inputs);
	if (run->image && hash_equal(run->family, family) && hash_equal(run->inputs, f->inputs) &&
	    run->image != f->kernel->image && tried(run, now))
		sweep = run->first_seq;
	*run = (struct sweep_run){.family = family,
				  .inputs = f->inputs,
				  .image = f->kernel->image,
				  .shape_class = f->shape_class,
				  .first_seq = sweep ? sweep : f->seq,
				  .latest_ns = now};
	pthread_mutex_unlock(&recorder_table_lock);
	return sweep;
}

void sweeps_forget(void)
{
	memset(runs, 0, sizeof(runs));
}
