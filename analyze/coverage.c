/* SPDX-License-Identifier: MIT */
/* Counting configs, cases and shape classes; what makes a verdict weaker than it looks. */
#include "analyze/coverage.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "analyze/thresholds.h"
#include "lib/base.h"

int family_note(struct family_verdict *f, const char *format, ...)
{
	va_list args;
	char *text = NULL;
	int n;

	if (array_reserve(&f->notes, f->note_count, &f->note_capacity, sizeof(*f->notes)))
		return -ENOMEM;
	va_start(args, format);
	n = vasprintf(&text, format, args);
	va_end(args);
	if (n < 0)
		return -ENOMEM;
	f->notes[f->note_count++] = text;
	return 0;
}

struct shape {
	struct hash128 id;
	bool tested;
};

static int compare_shapes(const void *x, const void *y)
{
	const struct shape *a = x, *b = y;

	return hash_compare(a->id, b->id);
}

/* Specialisations of a config (argument divisibility) are one config; they are neighbours. */
static void count_configs(struct family_verdict *f)
{
	for (size_t i = 0, k; i < f->config_count; i = k) {
		bool tested = false;

		for (k = i; k < f->config_count &&
			    hash_equal(f->configs[i].record->key, f->configs[k].record->key);
		     k++)
			tested |= f->configs[k].outcome.bucket > 0;
		f->coverage.configs++;
		f->coverage.configs_tested += tested;
	}
}

static bool is_derived(const struct case_verdict *v)
{
	return v->record->derived && *v->record->derived;
}

/* Distinct shape classes, and those of which a case was tested. */
static int count_classes(struct family_verdict *f)
{
	_cleanup_free_ struct shape *shapes = calloc(f->coverage.cases + 1, sizeof(*shapes));
	size_t n = 0;

	if (!shapes)
		return -ENOMEM;
	for (size_t i = 0; i < f->config_count; i++)
		for (size_t k = 0; k < f->configs[i].case_count; k++) {
			const struct case_verdict *v = &f->configs[i].cases[k];

			if (!is_derived(v))
				shapes[n++] = (struct shape){v->record->shape_class,
							     v->outcome.bucket > 0};
		}
	qsort(shapes, n, sizeof(*shapes), compare_shapes);
	for (size_t i = 0, k; i < n; i = k) {
		bool tested = false;

		for (k = i; k < n && hash_equal(shapes[i].id, shapes[k].id); k++)
			tested |= shapes[k].tested;
		f->coverage.classes++;
		f->coverage.classes_tested += tested;
	}
	return 0;
}

static void count_case(struct family_coverage *c, const struct case_verdict *v)
{
	if (is_derived(v)) {
		c->derived++;
		c->derived_tested += v->outcome.bucket > 0;
		return;
	}
	c->cases++;
	c->tested += v->outcome.bucket > 0;
	c->faithful += v->record->fidelity == FIDELITY_FAITHFUL;
	c->nondeterministic += v->record->fidelity == FIDELITY_NONDETERMINISTIC;
	c->unfaithful += v->record->fidelity == FIDELITY_UNFAITHFUL;
	c->fidelity_untested += v->record->fidelity == FIDELITY_UNTESTED;
}

/* Where equality or closeness rests on outputs that hold little. */
struct weakness {
	uint64_t outputs, zeros, constant, single;
	const char *zeros_name, *constant_name;
};

static void find_weakness(struct weakness *w, const struct case_verdict *v)
{
	if (v->outcome.bucket && (v->repeats[SIDE_A] == 1 || v->repeats[SIDE_B] == 1))
		w->single++;
	for (size_t i = 0; i < v->output_count; i++) {
		const struct metrics *m = &v->outputs[i].metrics;

		if (!m->elements || !v->outcome.bucket)
			continue;
		w->outputs++;
		if (m->constant && m->elements > 1) {
			w->constant_name = w->constant++ ? w->constant_name : v->outputs[i].name;
		} else if ((double)m->zero_both >
			   threshold(THRESHOLD_WEAK_ZEROS) * (double)m->elements) {
			w->zeros_name = w->zeros++ ? w->zeros_name : v->outputs[i].name;
		}
	}
}

static int note_weakness(struct family_verdict *f, const struct weakness *w)
{
	int e = 0;

	if (w->constant)
		e = family_note(f, "weak evidence: %ju of %ju outputs are constant (e.g. %s)",
				(uintmax_t)w->constant, (uintmax_t)w->outputs, w->constant_name);
	if (!e && w->zeros)
		e = family_note(f,
				"weak evidence: more than %.0f %% zeros in %ju of %ju outputs "
				"(e.g. %s)",
				100 * threshold(THRESHOLD_WEAK_ZEROS), (uintmax_t)w->zeros,
				(uintmax_t)w->outputs, w->zeros_name);
	if (!e && w->single)
		e = family_note(f, "determinism not tested: a single repeat in %ju of the launches",
				(uintmax_t)w->single);
	return e;
}

static const char *config_text(const struct config_verdict *c)
{
	return c->record->options && *c->record->options ? c->record->options : "(no options)";
}

/* Untested configs beside tested ones do not change the bucket: they are named. */
static int note_untested(struct family_verdict *f)
{
	int e = 0;

	if (!f->coverage.configs_tested)
		return 0;
	for (size_t i = 0; !e && i < f->config_count; i++)
		if (!f->configs[i].outcome.bucket)
			e = family_note(f, "config %s is untested: %s", config_text(&f->configs[i]),
					f->configs[i].outcome.evidence);
	return e;
}

static bool known(const char *text)
{
	return text && *text;
}

/* What the Python glue's hashes say of configs whose IR differs: only where all of them have both.
 */
static const char *python_of(const struct family_verdict *f, size_t changed)
{
	size_t same = 0, other = 0;

	for (size_t i = 0; i < f->config_count; i++) {
		const struct record_config *c = f->configs[i].record;

		if (c->pairing != PAIRING_SOURCE_CHANGED || !known(c->a_python) ||
		    !known(c->b_python))
			continue;
		if (strcmp(c->a_python, c->b_python) != 0)
			other++;
		else
			same++;
	}
	if (same == changed)
		return ": the Python source is the same, so the compiler's frontend made other IR";
	if (other == changed)
		return ": the Python source itself is another";
	return ": the source changed, or what Triton's frontend makes of it";
}

static int note_circumstances(struct family_verdict *f)
{
	size_t changed = 0, nondeterministic = 0;
	int e = 0;

	for (size_t i = 0; i < f->config_count; i++) {
		changed += f->configs[i].record->pairing == PAIRING_SOURCE_CHANGED;
		nondeterministic += f->configs[i].outcome.nondeterministic;
	}
	for (size_t i = 0; !e && i < f->config_count; i++)
		if (f->configs[i].record->stand_in && *f->configs[i].record->stand_in)
			e = family_note(f, "config %s: %s", config_text(&f->configs[i]),
					f->configs[i].record->stand_in);
	if (e)
		return e;
	if (changed == f->config_count && changed)
		e = family_note(f, "first IR differs between A and B%s", python_of(f, changed));
	else if (changed)
		e = family_note(f, "first IR differs between A and B in %zu of %zu configs%s",
				changed, f->config_count, python_of(f, changed));
	if (!e && nondeterministic)
		e = family_note(f,
				"nondeterministic: A itself varies from run to run in %zu of %zu "
				"configs; compared with the range of its repeats",
				nondeterministic, f->config_count);
	return e;
}

int family_cover(struct family_verdict *f)
{
	struct weakness w = {0};
	int e;

	f->coverage = (struct family_coverage){0};
	count_configs(f);
	for (size_t i = 0; i < f->config_count; i++) {
		for (size_t k = 0; k < f->configs[i].case_count; k++) {
			count_case(&f->coverage, &f->configs[i].cases[k]);
			find_weakness(&w, &f->configs[i].cases[k]);
		}
	}
	e = count_classes(f);
	if (!e)
		e = note_circumstances(f);
	if (!e)
		e = note_untested(f);
	return e ? e : note_weakness(f, &w);
}
