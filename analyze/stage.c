/* SPDX-License-Identifier: MIT */
/* Which stage of the compiler a fault comes from: ptxas, or what is before it. */
#include "analyze/stage.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analyze/analyze.h"
#include "analyze/phrase.h"
#include "lib/base.h"

/* The failing configs of a family by what differs between A and B. */
struct differences {
	size_t configs, same_code, same_ptx; /* same_ptx: and other code */
	size_t same_ptxas;                   /* of those with another PTX */
	const char *ptxas[SIDE_COUNT];       /* of the last of those with another PTX; or NULL */
};

const char *stage_kind_name(enum stage_kind k)
{
	static const char *const names[] = {"none",     "ptxas",   "before ptxas", "either",
					    "together", "neither", "open"};

	return names[k];
}

/* "12.8?" names a release, not a version: two of them need not be the same ptxas. */
static bool same_version(const char *a, const char *b)
{
	return a && b && *a && !strcmp(a, b) && !strchr(a, '?');
}

static struct differences look(const struct family_verdict *f)
{
	struct differences d = {0};

	for (size_t i = 0; i < f->config_count; i++) {
		const struct record_config *c = f->configs[i].record;

		if (f->configs[i].outcome.bucket != 3 || f->configs[i].outcome.unproven)
			continue;
		d.configs++;
		d.same_code += c->same_code;
		d.same_ptx += c->same_ptx && !c->same_code;
		if (c->same_ptx || c->same_code)
			continue;
		d.same_ptxas += same_version(c->a_ptxas, c->b_ptxas);
		d.ptxas[SIDE_A] = c->a_ptxas;
		d.ptxas[SIDE_B] = c->b_ptxas;
	}
	return d;
}

static const struct record_stage *find_record(const struct analysis *a,
					      const struct family_verdict *f)
{
	const struct record_stage *found = NULL;

	for (size_t i = 0; i < a->result_count; i++) {
		const struct bundle *b = a->results[i]->bundle;

		for (size_t k = 0; k < b->stages.count; k++)
			if (hash_equal(b->stages.items[k].family, f->record->key))
				found = &b->stages.items[k];
	}
	return found;
}

static const char *text_or(const char *text, const char *other)
{
	return text && *text ? text : other;
}

/* What two buckets of crossed stages say together. */
static enum stage_kind judge_crossing(const struct record_stage *r)
{
	bool ptxas = r->ptxas_bucket == 3, before = r->before_bucket == 3;

	if (!r->ptxas_bucket || !r->before_bucket)
		return STAGE_OPEN;
	if (ptxas && before)
		return STAGE_EITHER;
	return ptxas ? STAGE_PTXAS : before ? STAGE_BEFORE : STAGE_TOGETHER;
}

static char *crossing_part(const char *what, uint32_t bucket, const char *evidence)
{
	if (!bucket)
		return text_format("%s was not tested (%s)", what,
				   text_or(evidence, "no reason given"));
	return text_format("%s is in bucket %u (%s)", what, bucket,
			   text_or(evidence, "bitwise equal"));
}

/* "; A's PTX by A's ptxas gives A's machine code in 0 of 3 images: …"; "" where all are the same.
 */
static char *rebuilt_part(const char *side, uint32_t same, uint32_t images)
{
	if (!images || same == images)
		return strdup("");
	return text_format("; %s's PTX by %s's ptxas gives %s's machine code in %u of %u images "
			   "only: it ran with other options, so this says less",
			   side, side, side, same, images);
}

static int tell_crossing(struct stage *s, const struct record_stage *r)
{
	static const char *const words[] = {
		[STAGE_PTXAS] = "ptxas",
		[STAGE_BEFORE] = "before ptxas",
		[STAGE_EITHER] = "ptxas and what is before it, each alone",
		[STAGE_TOGETHER] = "neither alone, only ptxas and what is before it together",
		[STAGE_OPEN] = "not told",
	};
	_cleanup_free_ char *ptxas =
		crossing_part("A's PTX by B's ptxas", r->ptxas_bucket, r->ptxas_evidence);
	_cleanup_free_ char *before =
		crossing_part("B's PTX by A's ptxas", r->before_bucket, r->before_evidence);

	_cleanup_free_ char *a = rebuilt_part("A", r->a_same, r->a_images);
	_cleanup_free_ char *b = rebuilt_part("B", r->b_same, r->b_images);

	if (!ptxas || !before || !a || !b)
		return -ENOMEM;
	s->kind = judge_crossing(r);
	s->crossed = s->kind != STAGE_OPEN;
	s->text = text_format("%s: against A, %s, %s%s%s", words[s->kind], ptxas, before, a, b);
	return s->text ? 0 : -ENOMEM;
}

/* What each failing config tells without crossing: they need not tell the same. */
struct tally {
	size_t ptxas, before, open, neither;
	char *why_before, *why_open;
};

static int tally_make(struct tally *t, const struct analysis *a, const struct differences *d)
{
	const char *x = text_or(d->ptxas[SIDE_A], "unknown");
	const char *y = text_or(d->ptxas[SIDE_B], "unknown");
	size_t other = d->configs - d->same_code - d->same_ptx;

	*t = (struct tally){.neither = d->same_code, .ptxas = d->same_ptx};
	if (a->mark)
		t->why_before = strdup("the software device executes the PTX, ptxas takes no part");
	else
		t->why_before = text_format(
			"the PTX of A and B differs, and both were assembled by ptxas %s", x);
	t->why_open = text_format("the PTX of A and B differs, and perhaps ptxas (A %s, B %s); "
				  "diff --a-ptxas and --b-ptxas cross them",
				  x, y);
	*(a->mark || d->same_ptxas == other ? &t->before : &t->open) = other;
	return t->why_before && t->why_open ? 0 : -ENOMEM;
}

static void tally_free(struct tally *t)
{
	free(t->why_before);
	free(t->why_open);
}

/*
 * "of 5 failing configs: ptxas in 3 (…), neither in 2 (…)". The kind is that of the configs in
 * which some stage is meant, if it is one.
 */
static int tell_mixed(struct stage *s, const struct tally *t, size_t configs)
{
	const struct {
		size_t count;
		enum stage_kind kind;
		const char *what, *why;
	} parts[] = {
		{t->ptxas, STAGE_PTXAS, "ptxas",
		 "the canonical PTX of A and B is equal, the machine code is not"},
		{t->before, STAGE_BEFORE, "before ptxas", t->why_before},
		{t->open, STAGE_OPEN, "not told", t->why_open},
		{t->neither, STAGE_NEITHER, "neither", "the machine code of A and B is equal"},
	};
	const char *gap = ":";
	size_t kinds = 0, size;
	FILE *out = open_memstream(&s->text, &size);

	if (!out)
		return -ENOMEM;
	fprintf(out, "of %zu failing configs", configs);
	for (size_t i = 0; i < ARRAY_LENGTH(parts); i++) {
		if (!parts[i].count)
			continue;
		if (parts[i].kind != STAGE_NEITHER)
			s->kind = kinds++ ? STAGE_OPEN : parts[i].kind;
		fprintf(out, "%s %s in %zu (%s)", gap, parts[i].what, parts[i].count, parts[i].why);
		gap = ",";
	}
	return fclose(out) ? -ENOMEM : 0;
}

static int tell_static(struct stage *s, const struct analysis *a, const struct differences *d)
{
	struct tally t;
	int e = tally_make(&t, a, d);

	if (e) {
		tally_free(&t);
		return e;
	}
	if (t.neither == d->configs) {
		s->kind = STAGE_NEITHER;
		s->text = strdup("neither: the machine code of A and B is equal");
	} else if (t.ptxas == d->configs) {
		s->kind = STAGE_PTXAS;
		s->text = strdup("ptxas: the canonical PTX of A and B is equal, the machine code "
				 "is not");
	} else if (t.before == d->configs) {
		s->kind = STAGE_BEFORE;
		s->text = text_format("before ptxas: %s", t.why_before);
	} else if (t.open == d->configs) {
		s->kind = STAGE_OPEN;
		s->text = text_format("not told: %s", t.why_open);
	} else {
		e = tell_mixed(s, &t, d->configs);
	}
	tally_free(&t);
	return e || !s->text ? -ENOMEM : 0;
}

static int find_stage(const struct analysis *a, struct family_verdict *f)
{
	const struct record_stage *r = find_record(a, f);
	struct differences d = look(f);
	int e;

	if (!d.configs)
		return 0;
	if (r && judge_crossing(r) != STAGE_OPEN)
		return tell_crossing(&f->stage, r);
	e = tell_static(&f->stage, a, &d);
	if (!e && r && f->stage.kind == STAGE_OPEN) { /* then why crossing told nothing */
		stage_clear(&f->stage);
		e = tell_crossing(&f->stage, r);
	}
	return e;
}

int stage_families(struct analysis *a, struct error *err)
{
	for (size_t i = 0; i < a->family_count; i++) {
		struct family_verdict *f = &a->families[i];

		if (f->outcome.bucket != 3 || f->outcome.unproven)
			continue;
		if (find_stage(a, f))
			return error_set(err, ENOMEM, ERROR_NO_OFFSET, "out of memory");
		if (f->stage.text)
			phrase_clean(f->stage.text);
	}
	return 0;
}

void stage_clear(struct stage *s)
{
	free(s->text);
	*s = (struct stage){0};
}
