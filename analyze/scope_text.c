/* SPDX-License-Identifier: MIT */
/* A family's scope in words, with what outputs, types, trials and places tell besides. */
#include "analyze/scope_text.h"

#include <errno.h>
#include <string.h>

#include "analyze/contents.h"
#include "analyze/phrase.h"
#include "analyze/shape_rule.h"
#include "analyze/spread.h"
#include "lib/base.h"

#define ALSO_SHOWN 3u

/* What a launch does that shows the difference: "fails" in bucket 3, "differs" in bucket 2. */
struct verb_forms {
	const char *one, *many;
};

static struct verb_forms verb_of(const struct family_verdict *f)
{
	return f->outcome.bucket == 3 ? (struct verb_forms){"fails", "fail"}
				      : (struct verb_forms){"differs", "differ"};
}

static const char *noun(bool of_config, size_t n)
{
	return of_config ? (n == 1 ? "config" : "configs") : (n == 1 ? "launch" : "launches");
}

/* "all 6 configs with X", "the one launch with X", "5 of 6 configs with X" */
static void put_part(FILE *out, const struct scope_clause *c)
{
	if (c->in_failed < c->in)
		fprintf(out, "%zu of %zu %s", c->in_failed, c->in, noun(c->of_config, c->in));
	else if (c->in <= 2)
		fprintf(out, "%s %s", c->in == 1 ? "the one" : "both", noun(c->of_config, c->in));
	else
		fprintf(out, "all %zu %s", c->in, noun(c->of_config, 2));
	fprintf(out, " with %s", c->text);
}

/* ", none of the 12 others", ", not the other one", ", 1 of the 12 others" */
static void put_rest(FILE *out, size_t failed, size_t all)
{
	if (!all)
		return;
	if (failed)
		fprintf(out, ", %zu of the %zu %s", failed, all, all == 1 ? "other" : "others");
	else if (all == 1)
		fputs(", not the other one", out);
	else
		fprintf(out, ", none of the %zu others", all);
}

static void put_also(FILE *out, const struct scope *s)
{
	for (size_t i = 0; i < s->also_count && i < ALSO_SHOWN; i++)
		fprintf(out, "%s%s", i ? ", " : "the same: ", s->also[i]);
	if (s->also_count > ALSO_SHOWN)
		fprintf(out, " and %zu more", s->also_count - ALSO_SHOWN);
}

static void put_clauses(FILE *out, const struct scope *s, struct verb_forms v)
{
	const struct scope_clause *x = &s->clauses[0], *y = &s->clauses[1];

	put_part(out, x);
	fprintf(out, " %s", x->in_failed == 1 ? v.one : v.many);
	put_rest(out, x->out_failed, x->out);
	if (s->clause_count == 2) {
		fprintf(out, "; in %s only launches with %s (%zu of %zu",
			x->in_failed == 1 ? "it" : "these", y->text, y->in_failed, y->in);
		put_rest(out, y->out_failed, y->out);
		fputs(s->also_count ? "; " : "", out);
		put_also(out, s);
		fputc(')', out);
	} else if (s->also_count) {
		fputs(" (", out);
		put_also(out, s);
		fputc(')', out);
	} else if (s->kind == SCOPE_PARTLY && x->of_config && x->in_failed == x->in &&
		   !x->out_failed) {
		fprintf(out, "; which of their launches (%zu in all) is not told by any feature",
			s->launches_failed);
	} else if (s->kind == SCOPE_PARTLY) {
		fputs("; no feature separates without exception", out);
	}
}

static void put_all(FILE *out, bool of_config, size_t n)
{
	if (n <= 2)
		fprintf(out, "%s %s", n == 1 ? "the one" : "both", noun(of_config, n));
	else
		fprintf(out, "all %zu %s", n, noun(of_config, n));
}

static void put_main(FILE *out, const struct scope *s, struct verb_forms v)
{
	if (s->kind == SCOPE_ALL) {
		fprintf(out, "%s in ", v.one);
		put_all(out, true, s->configs);
		fputs(" and ", out);
		put_all(out, false, s->launches);
		fputs(" tested: nothing separates", out);
	} else if (s->kind == SCOPE_OPEN) {
		fprintf(out,
			"%s in %zu of %zu configs, %zu of %zu launches: no feature known "
			"separates them",
			v.one, s->configs_failed, s->configs, s->launches_failed, s->launches);
	} else {
		put_clauses(out, s, v);
	}
}

/* ---- outputs ---- */

struct output_count {
	const char *name;
	enum dtype dtype;
	size_t failed;
};

struct output_counts {
	struct output_count *items;
	size_t count, capacity;
};

static struct output_count *count_output(struct output_counts *list, const struct output_verdict *o)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->items[i].name, o->name) && list->items[i].dtype == o->dtype)
			return &list->items[i];
	if (array_reserve(&list->items, list->count, &list->capacity, sizeof(*list->items)))
		return NULL;
	list->items[list->count] = (struct output_count){o->name, o->dtype, 0};
	return &list->items[list->count++];
}

static void put_outputs(FILE *out, const struct output_counts *list, bool failed)
{
	const char *gap = "";

	for (size_t i = 0; i < list->count; i++)
		if ((list->items[i].failed > 0) == failed) {
			fprintf(out, "%s%s (%s)", gap, list->items[i].name,
				dtype_name(list->items[i].dtype));
			gap = ", ";
		}
}

/* In which failing launches each output shows it; none where a launch fails as a whole. */
static int count_outputs(const struct traits *t, int bucket, struct output_counts *list)
{
	for (size_t i = 0; i < t->unit_count; i++) {
		const struct case_verdict *c = t->units[i].launch;

		if (!t->units[i].failed)
			continue;
		if (c->worst_output >= c->output_count) {
			list->count = 0;
			return 0;
		}
		for (size_t k = 0; k < c->output_count; k++) {
			struct output_count *x = count_output(list, &c->outputs[k]);

			if (!x)
				return -ENOMEM;
			x->failed += c->outputs[k].outcome.bucket == bucket &&
				     !c->outputs[k].outcome.unproven;
		}
	}
	return 0;
}

/* Where some outputs show it in some failing launch, and others never. */
static char *outputs_text(const struct traits *t, int bucket)
{
	struct output_counts list = {0};
	size_t failed = 0, size;
	char *text = NULL;
	FILE *out;

	if (count_outputs(t, bucket, &list))
		goto end;
	for (size_t i = 0; i < list.count; i++)
		failed += list.items[i].failed > 0;
	if (!failed || failed == list.count) {
		text = strdup("");
		goto end;
	}
	out = open_memstream(&text, &size);
	if (!out)
		goto end;
	fputs("only output ", out);
	put_outputs(out, &list, true);
	fputs(", not ", out);
	put_outputs(out, &list, false);
	if (fclose(out)) {
		free(text);
		text = NULL;
	}
end:
	free(list.items);
	return text;
}

/* ---- types: families of one source ---- */

static bool text_equal(const char *x, const char *y)
{
	return !strcmp(x ? x : "", y ? y : "");
}

static enum dtype first_output(const struct family_verdict *f)
{
	for (size_t i = 0; i < f->config_count; i++)
		for (size_t k = 0; k < f->configs[i].case_count; k++)
			if (f->configs[i].cases[k].output_count)
				return f->configs[i].cases[k].outputs[0].dtype;
	return DTYPE_UNKNOWN;
}

/* The types that tell families of one source apart: all arguments', as "f16, f32". */
static void types_of(const struct family_verdict *f, char *out, size_t size)
{
	bool seen[DTYPE_COUNT] = {0};
	size_t n = 0;

	*out = '\0';
	for (size_t i = 0; i < f->record->args.count; i++) {
		const struct record_arg *x = &f->record->args.items[i];

		if (!x->pointer || x->dtype >= DTYPE_COUNT || seen[x->dtype] ||
		    !dtype_is_float((enum dtype)x->dtype))
			continue;
		seen[x->dtype] = true;
		if (n < size)
			n += (size_t)snprintf(out + n, size - n, "%s%s", n ? "/" : "",
					      dtype_name((enum dtype)x->dtype));
	}
	if (!*out)
		snprintf(out, size, "%s", dtype_name(first_output(f)));
}

static bool relative(const struct family_verdict *f, const struct family_verdict *x)
{
	return f != x && f->record->source && *f->record->source &&
	       text_equal(f->record->name, x->record->name) &&
	       text_equal(f->record->source, x->record->source) &&
	       f->record->line == x->record->line && !x->outcome.unproven;
}

static char *types_text(const struct analysis *a, const struct family_verdict *f)
{
	struct verb_forms v = verb_of(f);
	char own[64], types[64], *text = NULL;
	const char *gap = "";
	size_t relatives = 0, alike = 0, size;
	FILE *out;

	for (size_t i = 0; i < a->family_count; i++)
		if (relative(f, &a->families[i])) {
			relatives++;
			alike += a->families[i].outcome.bucket >= f->outcome.bucket;
		}
	if (!relatives)
		return strdup("");
	out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	types_of(f, own, sizeof(own));
	fprintf(out, alike ? "%s as %s" : "%s only as %s", v.one, own);
	for (size_t i = 0; alike && i < a->family_count; i++)
		if (relative(f, &a->families[i]) &&
		    a->families[i].outcome.bucket >= f->outcome.bucket) {
			types_of(&a->families[i], types, sizeof(types));
			fprintf(out, " and as %s", types);
		}
	for (size_t i = 0; i < a->family_count; i++)
		if (relative(f, &a->families[i]) &&
		    a->families[i].outcome.bucket < f->outcome.bucket) {
			types_of(&a->families[i], types, sizeof(types));
			fprintf(out, "%s%s", *gap ? gap : ", not as ", types);
			gap = ", ";
		}
	fputs(" (families of the same source)", out);
	return fclose(out) ? NULL : text;
}

/* ---- trials ---- */

static const struct record_trial *trial_of(const struct bundle *b, uint32_t number, uint32_t side,
					   const struct record_content *content)
{
	for (size_t i = 0; i < b->trials.count; i++) {
		const struct record_trial *t = &b->trials.items[i];

		if (t->test_case != number || t->side != side || !t->contents.count)
			continue;
		if (!content && t->kind == TRIAL_REPEAT && t->status == TRIAL_STATUS_OK)
			return t;
		if (content && content >= t->contents.items &&
		    content < t->contents.items + t->contents.count)
			return t;
	}
	return NULL;
}

/* True where A and B are equal on the recorded inputs, in this output. */
static bool plain_equal(const struct case_verdict *c, size_t output)
{
	const struct bundle *b = c->result->bundle;
	const struct record_trial *x = trial_of(b, c->record->number, SIDE_A, NULL);
	const struct record_trial *y = trial_of(b, c->record->number, SIDE_B, NULL);

	return x && y && output < x->contents.count && output < y->contents.count &&
	       contents_equal(&x->contents.items[output], &y->contents.items[output]);
}

/* Of the launch that the verdict rests on. */
static char *trials_text(const struct family_verdict *f)
{
	const struct case_verdict *c = family_worst_case(f);
	const struct output_verdict *o = family_worst_output(f);
	const struct record_trial *t;

	if (!c || !o || !o->pair[SIDE_B] || f->outcome.rule == RULE_DETERMINISM)
		return strdup("");
	t = trial_of(c->result->bundle, c->record->number, SIDE_B, o->pair[SIDE_B]);
	if (!t || t->kind == TRIAL_REPEAT)
		return strdup("");
	if (!plain_equal(c, c->worst_output))
		return text_format("strongest in the %s trial", trial_kind_name(t->kind));
	return text_format("shown by the %s trial, while A and B are equal on the recorded inputs",
			   trial_kind_name(t->kind));
}

/* ---- place ---- */

static int place_text(const struct family_verdict *f, char **text)
{
	const struct case_verdict *c = family_worst_case(f);
	const struct output_verdict *o = family_worst_output(f);
	char place[256];
	struct shape shape;
	struct spread s;
	struct error err;
	uint32_t bytes;
	int e;

	*text = NULL;
	if (f->outcome.bucket < 3 || !c || !o || !o->pair[SIDE_A] || !o->pair[SIDE_B] ||
	    o->dtype == DTYPE_UNKNOWN)
		return 0;
	bytes = dtype_bytes(o->dtype);
	output_shape(c->result, f->record, c->record, f->configs[f->worst_config].record->options,
		     o->extent, o->dtype, &shape);
	e = spread_find(&s, c->result->bundle, o->extent, bytes, o->pair[SIDE_A], o->pair[SIDE_B],
			&shape, &err);
	if (e)
		return e == -ENOMEM ? e : 0;
	spread_text(&s, &shape, place, sizeof(place));
	if (!*place)
		return 0;
	*text = text_format("in the worst launch %s", place);
	return *text ? 0 : -ENOMEM;
}

/* An empty text says nothing. */
static int keep(char **field, char *text)
{
	if (!text)
		return -ENOMEM;
	if (*text)
		*field = text;
	else
		free(text);
	return 0;
}

int scope_text(const struct analysis *a, struct family_verdict *f, const struct traits *t)
{
	struct scope *s = &f->scope;
	size_t size;
	FILE *out;
	int e = keep(&s->outputs, outputs_text(t, f->outcome.bucket));

	if (!e)
		e = keep(&s->types, types_text(a, f));
	if (!e)
		e = keep(&s->trials, trials_text(f));
	if (!e)
		e = place_text(f, &s->place);
	if (e)
		return e;
	out = open_memstream(&s->text, &size);
	if (!out)
		return -ENOMEM;
	put_main(out, s, verb_of(f));
	for (size_t i = 0; i < 4; i++) {
		const char *more[] = {s->outputs, s->types, s->trials, s->place};

		if (more[i])
			fprintf(out, "; %s", more[i]);
	}
	if (fclose(out))
		return -ENOMEM;
	phrase_clean(s->text);
	return 0;
}
