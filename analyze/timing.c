/* SPDX-License-Identifier: MIT */
/* Sums of kernel times over launches that both sides ran. */
#include "analyze/timing.h"

#include "lib/base.h"

static void add_times(struct timing *t, const struct config_verdict *c)
{
	for (size_t i = 0; i < c->case_count; i++) {
		const double *us = c->cases[i].time_us;

		if (us[SIDE_A] <= 0 || us[SIDE_B] <= 0)
			continue;
		t->us[SIDE_A] += us[SIDE_A];
		t->us[SIDE_B] += us[SIDE_B];
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

const struct config_verdict *family_slowest(const struct family_verdict *f)
{
	const struct config_verdict *slowest = NULL;
	double worst = 1.1;

	for (size_t i = 0; i < f->config_count; i++) {
		struct timing t = config_timing(&f->configs[i]);

		if (timing_ratio(&t) <= worst)
			continue;
		worst = timing_ratio(&t);
		slowest = &f->configs[i];
	}
	return slowest;
}
