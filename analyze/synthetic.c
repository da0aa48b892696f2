/* SPDX-License-Identifier: MIT */
/* Synthetic siblings: A with other num_warps, as far as its results are A's but for rounding. */
#include "analyze/synthetic.h"

#include <stdio.h>

#include "analyze/decide.h"
#include "analyze/noise_judge.h"

#define SYNTHETIC_MOST 2

/* Judges a sibling beside A by the floor that A's perturbed runs alone give. */
static int judge(const struct job *j, const struct record_content *sibling, struct outcome *o,
		 struct error *err)
{
	struct noise_input in = j->input;
	struct noise_pair pair = {.a = in.plain, .b = sibling, .launches = 1};
	struct chain chain = {0};
	struct metrics m;
	struct noise noise;
	struct noise_case c = {.input = &in,
			       .noise = &noise,
			       .pair = &pair,
			       .plain = true,
			       .inputs = "recorded inputs"};
	int e;

	in.other_count = in.fellow_count = in.synthetic = in.left_out = 0;
	e = contents_compare(j->result->bundle, in.extent, in.dtype, in.plain, sibling, NULL, 0,
			     j->buffers, &m, err);
	if (e)
		return e;
	metrics_judge(&m, NULL, false, &chain, o);
	if (!noise_judges(&m))
		return 0;
	e = noise_measure(&in, &pair, 1, &noise, err);
	if (e)
		return e;
	c.pooled = pair.compared;
	c.pooled_flips = pair.flips;
	noise_judge(&c, &m, &chain, o);
	return 0;
}

int synthetic_admit(struct job *j, struct error *err)
{
	struct noise_input *in = &j->input;

	if (in->other_count || j->around.plain != j->trials->repeats[SIDE_A][0])
		return 0;
	for (uint32_t i = 0; i < SYNTHETIC_MOST; i++) {
		const struct record_trial *t = trials_find(j->test_case, SIDE_A, TRIAL_SIBLING, i);
		struct outcome o = {.bucket = 1};
		int e = 0;

		if (!t || t->status != TRIAL_STATUS_OK)
			continue;
		if (!contents_equal(in->plain, content_of(t, j->extent)))
			e = judge(j, content_of(t, j->extent), &o, err);
		if (e)
			return e;
		if (o.bucket < 3) {
			in->others[in->other_count++] = content_of(t, j->extent);
			in->synthetic++;
		} else if (!in->left_out++) {
			snprintf(in->left_out_why, sizeof(in->left_out_why), "%.40s, rule %s",
				 t->how ? t->how : "", rule_number(o.rule));
		}
	}
	return 0;
}
