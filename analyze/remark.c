/* SPDX-License-Identifier: MIT */
/* Lines on policy, baseline, what has changed since an earlier report, coverage and tests. */
#include "analyze/remark.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/phrase.h"
#include "analyze/since.h"
#include "analyze/thresholds.h"
#include "lib/base.h"

struct teller {
	const struct analysis *a;
	remark_line *line;
	void *data;
};

__attribute__((format(printf, 3, 4))) static int tell(const struct teller *t, int level,
						      const char *format, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list args;
	int n;

	va_start(args, format);
	n = vasprintf(&text, format, args);
	va_end(args);
	if (n < 0) {
		text = NULL;
		return -ENOMEM;
	}
	t->line(t->data, level, phrase_clean(text));
	return 0;
}

static int tell_environment(const struct teller *t)
{
	const struct analysis *a = t->a;
	int e = a->environment_count ? tell(t, 0, "Beside the compiler another environment:") : 0;

	for (size_t i = 0; !e && i < a->environment_count; i++)
		e = tell(t, 1, "%.80s: %.400s", a->environment[i].name, a->environment[i].text);
	return e;
}

static int tell_policy(const struct teller *t)
{
	int e = t->a->policy ? tell(t, 0, "Thresholds changed by policy %s:", t->a->policy) : 0;

	for (int i = 0; !e && i < THRESHOLD_COUNT; i++) {
		const struct threshold_row *r = threshold_row((enum threshold)i);

		if (r->value < r->initial || r->value > r->initial)
			e = tell(t, 1, "%s: %.6g instead of %.6g", r->name, r->value, r->initial);
	}
	return e;
}

static int tell_baseline(const struct teller *t)
{
	const struct analysis *a = t->a;
	int e = 0;

	if (!a->baseline)
		return 0;
	e = tell(t, 0, "Accepted by baseline %s (marked *): %zu %s", a->baseline, a->accepted,
		 a->accepted == 1 ? "family" : "families");
	for (size_t i = 0; !e && i < a->family_count; i++) {
		char name[PHRASE_BYTES];

		if (a->families[i].accepted)
			e = tell(t, 1, "%s: %s", phrase_family(name, a, &a->families[i]),
				 a->families[i].accepted);
	}
	for (size_t i = 0; !e && i < a->baseline_note_count; i++)
		e = tell(t, 1, "not accepted: %s", a->baseline_notes[i]);
	return e;
}

static int tell_change(const struct teller *t, const struct family_verdict *f)
{
	const struct outcome *o = &f->outcome;
	char name[PHRASE_BYTES];
	int order = f->before.known ? since_compare(f) : 0;

	phrase_family(name, t->a, f);
	if (!f->before.known)
		return tell(t, 1, "new: %s, bucket %d%s by rule %s", name, o->bucket,
			    o->unproven ? " unproven" : "", rule_number(o->rule));
	if (!order)
		return 0;
	return tell(t, 1, "%s: %s, bucket %d%s by rule %s, was %d%s by rule %s",
		    order > 0 ? "worse" : "better", name, o->bucket, o->unproven ? " unproven" : "",
		    rule_number(o->rule), f->before.bucket, f->before.unproven ? " unproven" : "",
		    f->before.rule);
}

static int tell_since(const struct teller *t)
{
	const struct since *s = &t->a->since;
	int e;

	if (!s->path)
		return 0;
	e = tell(t, 0, "Since %s: %zu worse, %zu better, %zu in the same bucket, %zu new, %zu gone",
		 s->path, s->worse, s->better, s->same, s->added, s->gone_count);
	for (size_t i = 0; !e && i < t->a->family_count; i++)
		e = tell_change(t, &t->a->families[i]);
	for (size_t i = 0; !e && i < s->gone_count; i++)
		e = tell(t, 1, "gone: %s", s->gone[i]);
	return e;
}

/* "Tested of what the model uses: 12 of 14 shape classes, …", and by what where not all by itself.
 */
static int tell_use(const struct teller *t)
{
	const struct use_count *c = t->a->use;
	_cleanup_free_ char *line = strdup("");
	int e = 0;

	for (int d = 0; line && d < USE_DIMENSION_COUNT; d++) {
		char *longer;

		if (!c[d].used)
			continue;
		longer = text_format("%s%s%zu of %zu %s", line, *line ? ", " : "", c[d].tested,
				     c[d].used, use_dimension_name((enum use_dimension)d));
		free(line);
		line = longer;
	}
	if (!line)
		return -ENOMEM;
	if (*line)
		e = tell(t, 0, "Tested of what the model uses: %s", line);
	for (int d = 0; !e && d < USE_DIMENSION_COUNT; d++)
		if (c[d].used > c[d].by_model)
			e = tell(t, 1,
				 "%s: %zu by its own launches, %zu by existing tests, %zu by "
				 "derived "
				 "launches",
				 use_dimension_name((enum use_dimension)d), c[d].by_model,
				 c[d].by_tests, c[d].by_derived);
	return e;
}

/* Launches at the edges that the recording lacks, and in how many families they alone fail. */
static int tell_derived(const struct teller *t)
{
	uint32_t made = 0, tested = 0;
	size_t worst = 0;

	for (size_t i = 0; i < t->a->family_count; i++) {
		const struct family_verdict *f = &t->a->families[i];
		const struct case_verdict *c = family_worst_case(f);

		made += f->coverage.derived;
		tested += f->coverage.derived_tested;
		worst += f->outcome.bucket > 1 && c && c->record->derived && *c->record->derived;
	}
	if (!made)
		return 0;
	return tell(t, 0,
		    "Derived boundary launches: %" PRIu32 " of %" PRIu32
		    " tested; the verdict rests on one in %zu %s",
		    tested, made, worst, worst == 1 ? "family" : "families");
}

/* Of the tests that ran on both sides, those whose outcome is another one. */
static int tell_changed_tests(const struct teller *t)
{
	static const char *const names[] = {"passes", "fails", "is skipped"};
	const struct junit *a = &t->a->tests[SIDE_A], *b = &t->a->tests[SIDE_B];
	int e = 0;

	for (size_t i = 0; !e && b->path && i < a->count; i++) {
		const struct junit_test *x = junit_find(b, a->tests[i].name);

		if (!x)
			e = tell(t, 1, "%s: %s under A, not run under B", a->tests[i].name,
				 names[a->tests[i].outcome]);
		else if (x->outcome != a->tests[i].outcome)
			e = tell(t, 1, "%s: %s under A, %s under B", a->tests[i].name,
				 names[a->tests[i].outcome], names[x->outcome]);
	}
	for (size_t i = 0; !e && a->path && i < b->count; i++)
		if (!junit_find(a, b->tests[i].name))
			e = tell(t, 1, "%s: not run under A, %s under B", b->tests[i].name,
				 names[b->tests[i].outcome]);
	return e;
}

static int tell_tests(const struct teller *t)
{
	int e = 0;

	for (uint32_t s = 0; !e && s < SIDE_COUNT; s++) {
		const struct junit *j = &t->a->tests[s];

		if (j->path)
			e = tell(
				t, 0,
				"Existing tests under %s (%s): %zu pass, %zu fail, %zu are skipped",
				side_name(s), j->path, j->outcomes[JUNIT_PASSED],
				j->outcomes[JUNIT_FAILED], j->outcomes[JUNIT_SKIPPED]);
	}
	return e ? e : tell_changed_tests(t);
}

int remarks(const struct analysis *a, remark_line *line, void *data)
{
	struct teller t = {a, line, data};
	int e = tell_environment(&t);

	if (!e)
		e = tell_policy(&t);
	if (!e)
		e = tell_baseline(&t);
	if (!e)
		e = tell_since(&t);
	if (!e)
		e = tell_use(&t);
	if (!e)
		e = tell_derived(&t);
	return e ? e : tell_tests(&t);
}
