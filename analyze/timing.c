/* SPDX-License-Identifier: MIT */
/* Sums of kernel times over launches that both sides ran. */
#include "analyze/timing.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "lib/base.h"

#define TOLD 1.1 /* ratio from which a difference is told */

static int compare_times(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return (a > b) - (a < b);
}

int timing_take(struct case_verdict *v, uint32_t side, const struct record_trial *const *repeats,
		uint32_t count)
{
	_cleanup_free_ double *scratch = calloc(count + 1, sizeof(*scratch));
	uint32_t n = 0;

	if (!scratch)
		return -ENOMEM;

	for (uint32_t i = count >= 3; i < count; i++)
		if (repeats[i]->time_us > 0 && isfinite(repeats[i]->time_us))
			scratch[n++] = repeats[i]->time_us;
	qsort(scratch, n, sizeof(*scratch), compare_times);
	v->time_us[side] = n ? scratch[(n - 1) / 2] : 0;
	v->least_us[side] = n ? scratch[0] : 0;
	v->most_us[side] = n ? scratch[n - 1] : 0;
	return 0;
}

static void add_times(struct timing *t, const struct config_verdict *c)
{
	for (size_t i = 0; i < c->case_count; i++) {
		const double *us = c->cases[i].time_us;

		if (us[SIDE_A] <= 0 || us[SIDE_B] <= 0)
			continue;
		for (int s = 0; s < SIDE_COUNT; s++) {
			t->us[s] += us[s];
			t->least_us[s] += c->cases[i].least_us[s];
			t->most_us[s] += c->cases[i].most_us[s];
		}
		t->launches++;
	}
}

struct timing config_timing(const struct config_verdict *c)
{
	struct timing t = {0};

	add_times(&t, c);
	return t;
}

struct timing family_timing(const struct family_verdict *f)
{
	struct timing t = {0};

	for (size_t i = 0; i < f->config_count; i++)
		add_times(&t, &f->configs[i]);
	return t;
}

double timing_ratio(const struct timing *t)
{
	return t->launches ? t->us[SIDE_B] / t->us[SIDE_A] : 0;
}

int timing_order(const struct timing *t)
{
	double ratio = timing_ratio(t);

	if (ratio > TOLD && t->least_us[SIDE_B] > t->most_us[SIDE_A])
		return 1;
	return t->launches && ratio * TOLD < 1 && t->least_us[SIDE_A] > t->most_us[SIDE_B] ? -1 : 0;
}

const char *timing_remark(const struct timing *t)
{
	static const char *const remarks[] = {", B is faster beyond the spread of the repeats", "",
					      ", B is slower beyond the spread of the repeats"};

	return remarks[1 + timing_order(t)];
}

const struct config_verdict *family_slowest(const struct family_verdict *f)
{
	const struct config_verdict *slowest = NULL;
	double worst = 0;

	for (size_t i = 0; i < f->config_count; i++) {
		struct timing t = config_timing(&f->configs[i]);

		if (timing_order(&t) <= 0 || timing_ratio(&t) <= worst)
			continue;
		worst = timing_ratio(&t);
		slowest = &f->configs[i];
	}
	return slowest;
}
