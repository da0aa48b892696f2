/* SPDX-License-Identifier: MIT */
/* Lines on policy, baseline and what has changed since an earlier report. */
#include "analyze/remark.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

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

int remarks(const struct analysis *a, remark_line *line, void *data)
{
	struct teller t = {a, line, data};
	int e = tell_policy(&t);

	if (!e)
		e = tell_baseline(&t);
	return e ? e : tell_since(&t);
}
