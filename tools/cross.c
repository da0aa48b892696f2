/* SPDX-License-Identifier: MIT */
/* Part of diff: crosses the stages of families whose fault may come from ptxas or from before it.
 */
#include "tools/cross.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "analyze/rule.h"
#include "lib/base.h"
#include "lib/log.h"
#include "lib/pattern.h"
#include "replay/cross.h"
#include "tools/replay_rows.h"
#include "tools/verbs.h"

/* What became of one direction, for all families. */
struct direction {
	char *result;          /* file; removed at the end */
	struct analysis *told; /* NULL: it was not run */
	char why[300];         /* why not */
};

struct crossing {
	const struct verb *verb;
	const struct cross_options *options;
	const struct replay_options *replay;
	const struct analysis *a;
	const char *ptxas[SIDE_COUNT];
	char missing[SIDE_COUNT][256];                 /* why ptxas[side] is NULL */
	uint32_t same[SIDE_COUNT], images[SIDE_COUNT]; /* own PTX by own ptxas */
	struct direction by[SIDE_COUNT];               /* [SIDE_A]: A's PTX by B's ptxas */
};

int cross_check(const struct verb *verb, const struct cross_options *c)
{
	if (c->off && c->all) {
		log_error("%s: --cross and --no-cross", verb->name);
		return 2;
	}
	for (uint32_t s = 0; s < SIDE_COUNT; s++)
		if (c->ptxas[s] && !strchr(c->ptxas[s], '/')) {
			log_error("%s: --%c-ptxas %s: a path with a / in it is wanted", verb->name,
				  s == SIDE_A ? 'a' : 'b', c->ptxas[s]);
			return 2;
		}
	for (uint32_t s = 0; s < SIDE_COUNT; s++)
		if (c->ptxas[s] && access(c->ptxas[s], X_OK)) {
			log_error("%s: --%c-ptxas %s: %s", verb->name, s == SIDE_A ? 'a' : 'b',
				  c->ptxas[s], strerror(errno));
			return 2;
		}
	return 0;
}

static bool is_wanted(const struct cross_options *c, const struct family_verdict *f)
{
	return c->all ? f->stage.kind != STAGE_NONE : f->stage.kind == STAGE_OPEN;
}

static size_t count_wanted(const struct cross_options *c, const struct analysis *a)
{
	size_t n = 0;

	for (size_t i = 0; i < a->family_count; i++)
		n += is_wanted(c, &a->families[i]);
	return n;
}

static const char *side_fact(const struct record_side *s, const char *name)
{
	const char *value = NULL;

	for (size_t i = 0; i < s->facts.count; i++)
		if (s->facts.items[i].name && !strcmp(s->facts.items[i].name, name))
			value = s->facts.items[i].value;
	return value && *value ? value : NULL;
}

/* Of an option, else the program that the side's run was told to use, if it is still there. */
static void find_ptxas(struct crossing *x, uint32_t side)
{
	static const char *const names[] = {"ptxas.path", "env.TRITON_PTXAS_PATH"};
	const char *path = x->options->ptxas[side];

	for (size_t i = 0; !path && i < ARRAY_LENGTH(names); i++)
		path = side_fact(x->a->sides[side], names[i]);
	if (path && !access(path, X_OK) && !strchr(path, ',')) {
		x->ptxas[side] = path;
		return;
	}
	if (path)
		snprintf(x->missing[side], sizeof(x->missing[side]), "ptxas of %s, %.180s: %s",
			 side_name(side), path,
			 strchr(path, ',') ? "a comma in its name" : strerror(errno));
	else
		snprintf(x->missing[side], sizeof(x->missing[side]),
			 "ptxas of %s is not known: give --%c-ptxas", side_name(side),
			 side == SIDE_A ? 'a' : 'b');
}

/* "^(softmax|matmul\.1)$" of the wanted families; NULL without memory. */
static char *wanted_pattern(const struct crossing *x)
{
	const char *gap = "^(";
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (size_t i = 0; out && i < x->a->family_count; i++) {
		if (!is_wanted(x->options, &x->a->families[i]))
			continue;
		fputs(gap, out);
		gap = "|";
		pattern_put(out, x->a->families[i].record->name ?: "");
	}
	if (!out)
		return NULL;
	fputs(")$", out);
	return fclose(out) ? NULL : text;
}

/* The worst launch of every failing config of the wanted families. */
static uint64_t *wanted_launches(const struct crossing *x, size_t *count)
{
	const struct analysis *a = x->a;
	uint64_t *list;
	size_t n = 1;

	for (size_t i = 0; i < a->family_count; i++)
		n += a->families[i].config_count;
	list = calloc(n, sizeof(*list));
	*count = 0;
	for (size_t i = 0; list && i < a->family_count; i++) {
		const struct family_verdict *f = &a->families[i];

		for (size_t k = 0; is_wanted(x->options, f) && k < f->config_count; k++) {
			const struct config_verdict *c = &f->configs[k];

			if (c->outcome.bucket == 3 && c->worst_case < c->case_count)
				list[(*count)++] = c->cases[c->worst_case].record->seq;
		}
	}
	return list;
}

/* One replay with crossed stages. 0, or 130; why stands in the direction. */
static int run_direction(struct crossing *x, enum side from, const char *family,
			 const uint64_t *launches, size_t launch_count)
{
	struct direction *d = &x->by[from];
	enum side other = from == SIDE_A ? SIDE_B : SIDE_A;
	struct cross c = {.options = x->replay,
			  .family = family,
			  .launches = launches,
			  .launch_count = launch_count,
			  .from = from,
			  .ptxas = x->ptxas[other]};
	struct replay_summary summary;
	struct error err;

	if (!c.ptxas) {
		snprintf(d->why, sizeof(d->why), "%s", x->missing[other]);
		return 0;
	}
	d->result = text_format("%s.cross-%c.%ld.tmp", x->replay->result,
				from == SIDE_A ? 'a' : 'b', (long)getpid());
	if (!d->result) {
		snprintf(d->why, sizeof(d->why), "out of memory");
		return 0;
	}
	c.result = d->result;
	log_info("%s: crossing stages: PTX of %s by %s", x->verb->name, side_name(from), c.ptxas);
	if (cross_replay(&c, &summary, &err) ||
	    (!summary.interrupted && analysis_run(&d->told, &d->result, 1, NULL, NULL, &err)))
		snprintf(d->why, sizeof(d->why), "%.290s", err.message);
	else if (summary.interrupted)
		return STATUS_INTERRUPTED;
	return 0;
}

/* Bucket of a family in one direction, and its evidence; 0 where it was not tested. */
static uint32_t told_of(const struct direction *d, const struct family_verdict *f, char *evidence,
			size_t size)
{
	snprintf(evidence, size, "%s", d->told ? "the family is not in the replay" : d->why);
	for (size_t i = 0; d->told && i < d->told->family_count; i++) {
		const struct family_verdict *x = &d->told->families[i];

		if (!hash_equal(x->record->key, f->record->key))
			continue;
		if (x->outcome.unproven) {
			snprintf(evidence, size, "%s", x->outcome.evidence);
			return 0;
		}
		snprintf(evidence, size, "rule %s: %s", rule_number(x->outcome.rule),
			 x->outcome.evidence);
		return (uint32_t)x->outcome.bucket;
	}
	return 0;
}

/* Whether a side's own PTX and ptxas give its machine code again; without it nothing is claimed. */
static void rebuild(struct crossing *x, enum side side, const char *family)
{
	struct cross c = {
		.options = x->replay, .family = family, .from = side, .ptxas = x->ptxas[side]};
	struct error err;

	if (c.ptxas && cross_rebuild(&c, &x->same[side], &x->images[side], &err))
		log_warning("%s: PTX of %s by its own ptxas: %s", x->verb->name, side_name(side),
			    err.message);
}

static int put_stages(const struct crossing *x, struct error *err)
{
	struct bundle_writer *w;
	int e = bundle_writer_append(&w, x->replay->result, err), closed;

	for (size_t i = 0; !e && i < x->a->family_count; i++) {
		const struct family_verdict *f = &x->a->families[i];
		char ptxas[400], before[400];
		struct record_stage s = {.family = f->record->key,
					 .a_ptxas = x->ptxas[SIDE_A],
					 .b_ptxas = x->ptxas[SIDE_B],
					 .a_images = x->images[SIDE_A],
					 .a_same = x->same[SIDE_A],
					 .b_images = x->images[SIDE_B],
					 .b_same = x->same[SIDE_B],
					 .ptxas_evidence = ptxas,
					 .before_evidence = before};

		if (!is_wanted(x->options, f))
			continue;
		s.ptxas_bucket = told_of(&x->by[SIDE_A], f, ptxas, sizeof(ptxas));
		s.before_bucket = told_of(&x->by[SIDE_B], f, before, sizeof(before));
		e = bundle_put_stage(w, &s);
		if (e)
			error_set(err, -e, ERROR_NO_OFFSET, "%s: %s", x->replay->result,
				  strerror(-e));
	}
	if (e && !w)
		return e;
	closed = bundle_writer_close(w);
	return e || !closed ? e
			    : error_set(err, -closed, ERROR_NO_OFFSET, "%s: %s", x->replay->result,
					strerror(-closed));
}

static int cross(struct crossing *x)
{
	_cleanup_free_ char *family = wanted_pattern(x);
	size_t count = 0;
	_cleanup_free_ uint64_t *launches = wanted_launches(x, &count);
	struct error err;
	int status = 0;

	if (!family || !launches) {
		log_error("%s: out of memory", x->verb->name);
		return 2;
	}
	for (uint32_t s = 0; s < SIDE_COUNT; s++)
		find_ptxas(x, s);
	for (uint32_t s = 0; !status && s < SIDE_COUNT; s++)
		status = run_direction(x, (enum side)s, family, launches, count);
	for (uint32_t s = 0; !status && s < SIDE_COUNT; s++)
		rebuild(x, (enum side)s, family);
	if (status || !put_stages(x, &err))
		return status;
	log_error("%s: %s", x->verb->name, err.message);
	return 2;
}

int cross_families(const struct verb *verb, const struct cross_options *c,
		   const struct replay_options *o, const struct analysis *a, bool *added)
{
	struct crossing x = {.verb = verb, .options = c, .replay = o, .a = a};
	int status;

	*added = false;
	if (c->off || a->incomplete_count || !count_wanted(c, a))
		return 0;
	status = cross(&x);
	for (uint32_t s = 0; s < SIDE_COUNT; s++) {
		analysis_free(x.by[s].told);
		if (x.by[s].result)
			unlink(x.by[s].result);
		free(x.by[s].result);
	}
	*added = !status;
	return status;
}
