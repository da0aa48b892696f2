/* SPDX-License-Identifier: MIT */
/* Does the residual grow with a size of the launch faster than rounding does? */
#include "analyze/growth.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/thresholds.h"
#include "analyze/words.h"
#include "lib/base.h"

#define VALUES_MIN      3u
#define SPAN_MIN        8
#define CORRELATION_MIN 0.9

struct point {
	int64_t size;
	double residual;
};

static int compare_points(const void *x, const void *y)
{
	const struct point *a = x, *b = y;

	if (a->size != b->size)
		return a->size < b->size ? -1 : 1;
	return (a->residual < b->residual) - (a->residual > b->residual);
}

/* Value of the scalar that is named as w in a launch. */
static bool scalar_of(const struct record_case *c, const struct word *w, int64_t *out)
{
	struct word words[WORDS_MAX];
	size_t n = words_split(c->params, words);

	for (size_t i = 0; i < n; i++)
		if (words[i].value &&
		    words_equal(words[i].name, words[i].name_length, w->name, w->name_length))
			return word_whole(words[i].value, words[i].value_length, out);
	return false;
}

static double residual_of(const struct case_verdict *v)
{
	double most = 0;

	for (size_t i = 0; i < v->output_count; i++)
		if (isfinite(v->outputs[i].recorded[0].figure))
			most = fmax(most, v->outputs[i].recorded[0].figure);
	return most;
}

static size_t gather(const struct family_verdict *f, const struct word *w, struct point *points)
{
	size_t n = 0, kept = 0;

	for (size_t i = 0; i < f->config_count; i++)
		for (size_t k = 0; k < f->configs[i].case_count; k++) {
			const struct case_verdict *v = &f->configs[i].cases[k];
			struct point p = {.residual = residual_of(v)};

			if (p.residual > 0 && scalar_of(v->record, w, &p.size) && p.size > 0)
				points[n++] = p;
		}
	qsort(points, n, sizeof(*points), compare_points);
	for (size_t i = 0; i < n; i++) /* the greatest of each size */
		if (!kept || points[kept - 1].size != points[i].size)
			points[kept++] = points[i];
	return kept;
}

static void fit(const struct point *p, size_t n, struct growth *g)
{
	double x = 0, y = 0, xx = 0, xy = 0, yy = 0;

	for (size_t i = 0; i < n; i++) {
		x += log((double)p[i].size) / (double)n;
		y += log(p[i].residual) / (double)n;
		g->residual = fmax(g->residual, p[i].residual);
	}
	for (size_t i = 0; i < n; i++) {
		double dx = log((double)p[i].size) - x, dy = log(p[i].residual) - y;

		xx += dx * dx;
		xy += dx * dy;
		yy += dy * dy;
	}
	g->exponent = xx > 0 ? xy / xx : 0;
	g->correlation = xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : 0;
	g->values = n;
	g->from = p[0].size;
	g->to = p[n - 1].size;
}

static void consider(const struct family_verdict *f, const struct word *w, struct point *points,
		     struct growth *best)
{
	struct growth g = {0};
	size_t n = gather(f, w, points);

	if (n < VALUES_MIN || points[n - 1].size / points[0].size < SPAN_MIN)
		return;
	fit(points, n, &g);
	if (g.correlation <= CORRELATION_MIN || g.exponent <= best->exponent)
		return;
	snprintf(g.scalar, sizeof(g.scalar), "%.*s", w->name_length, w->name);
	*best = g;
}

struct step growth_step(const struct growth *g)
{
	struct step s = step_of(g->exponent, threshold(THRESHOLD_GROWTH), NULL);

	if (s.state == STEP_FIRED && g->residual <= threshold(THRESHOLD_GROWTH_RESIDUAL)) {
		s.state = STEP_PASSED;
		s.note = "the greatest residual is small";
	}
	return s;
}

static void judge(struct growth *g)
{
	if (!g->values || growth_step(g).state != STEP_FIRED)
		return;
	g->outcome = (struct outcome){.bucket = 3,
				      .rule = RULE_GROWTH,
				      .tag = "grows",
				      .severity = g->exponent / threshold(THRESHOLD_GROWTH)};
	snprintf(g->outcome.evidence, sizeof(g->outcome.evidence),
		 "the residual grows with %s (%" PRId64 " to %" PRId64
		 ", %zu values) by an exponent of %.2g, to %.3g sigma; rounding grows by 0.5 at "
		 "most, a bias by 1",
		 g->scalar, g->from, g->to, g->values, g->exponent, g->residual);
}

int growth_find(const struct family_verdict *f, struct growth *out)
{
	_cleanup_free_ struct point *points = NULL;
	const struct record_case *first = NULL;
	struct word words[WORDS_MAX];
	size_t cases = 0, n;

	*out = (struct growth){0};
	for (size_t i = 0; i < f->config_count; i++) {
		cases += f->configs[i].case_count;
		if (!first && f->configs[i].case_count)
			first = f->configs[i].cases[0].record;
	}
	if (cases < VALUES_MIN)
		return 0;
	points = calloc(cases, sizeof(*points));
	if (!points)
		return -ENOMEM;
	n = words_split(first->params, words);
	for (size_t i = 0; i < n; i++)
		if (words[i].value)
			consider(f, &words[i], points, out);
	judge(out);
	return 0;
}
