/* SPDX-License-Identifier: MIT */
/* From results to verdicts: merging of shards, worst over configs, order of the report. */
#include "analyze/analyze.h"

#include <errno.h>
#include <string.h>

#include "analyze/coverage.h"
#include "analyze/growth.h"
#include "lib/image/context.h"
#include "analyze/shape_rule.h"
#include "analyze/shards.h"
#include "lib/base.h"

/* A config of one result, to be sorted beside those of the others. */
struct entry {
	const struct result *result;
	const struct result_config *config;
};

static int out_of_memory(struct error *err)
{
	return error_set(err, ENOMEM, ERROR_NO_OFFSET, "out of memory");
}

const char *text_or_unspecified(const char *text)
{
	return text && *text ? text : "unspecified";
}

static bool text_equal(const char *x, const char *y)
{
	return !strcmp(x ? x : "", y ? y : "");
}

/* Once: the results of a replay in shards say the same of their recordings. `path` may be NULL. */
static int add_incomplete(struct analysis *a, const char *path, const char *what)
{
	_cleanup_free_ char *text = text_format("%s%s%s", path ? path : "", path ? ": " : "", what);

	if (!text)
		return -ENOMEM;
	for (size_t i = 0; i < a->incomplete_count; i++)
		if (!strcmp(a->incomplete[i], text))
			return 0;
	if (array_reserve(&a->incomplete, a->incomplete_count, &a->incomplete_capacity,
			  sizeof(*a->incomplete)))
		return -ENOMEM;
	a->incomplete[a->incomplete_count++] = steal_pointer(text);
	return 0;
}

static int add_partial_recordings(struct analysis *a, const struct bundle *b)
{
	for (size_t i = 0; i < b->facts.count; i++) {
		const struct record_fact *f = &b->facts.items[i];

		if (text_equal(f->name, FACT_PARTIAL_RECORDING) && f->value &&
		    add_incomplete(a, NULL, f->value))
			return -ENOMEM;
	}
	return 0;
}

/* ---- opening ---- */

static int check_belongs(const struct result *first, const struct result *r, struct error *err)
{
	for (uint32_t s = 0; s < SIDE_COUNT; s++) {
		const struct record_side *x = first->sides[s], *y = r->sides[s];

		if (!text_equal(x->source, y->source) || !text_equal(x->version, y->version) ||
		    !text_equal(x->commit, y->commit))
			return error_set(
				err, EINVAL, ERROR_NO_OFFSET,
				"%s and %s do not belong together: side %s is %.60s, %.60s, commit "
				"%.40s and %.60s, %.60s, commit %.40s",
				first->path, r->path, side_name(s), text_or_unspecified(x->source),
				text_or_unspecified(x->version), text_or_unspecified(x->commit),
				text_or_unspecified(y->source), text_or_unspecified(y->version),
				text_or_unspecified(y->commit));
	}
	if (first->software != r->software)
		return error_set(err, EINVAL, ERROR_NO_OFFSET,
				 "%s and %s do not belong together: one was replayed on a GPU, the "
				 "other on the software device",
				 first->path, r->path);
	return 0;
}

static int missing_shard(void *data, const char *text)
{
	return add_incomplete(data, "results", text);
}

static int open_results(struct analysis *a, char *const *paths, size_t count,
			struct shape_rules *shapes, struct error *err)
{
	a->results = calloc(count, sizeof(*a->results));
	if (!a->results)
		return out_of_memory(err);
	for (size_t i = 0; i < count; i++) {
		int e = result_open(&a->results[i], paths[i], err);

		if (e)
			return e;
		a->result_count++;
		a->results[i]->shapes = shapes;
		if (i)
			e = check_belongs(a->results[0], a->results[i], err);
		if (!e && a->results[i]->incomplete &&
		    add_incomplete(a, a->results[i]->path, a->results[i]->incomplete))
			e = out_of_memory(err);
		if (!e && add_partial_recordings(a, a->results[i]->bundle))
			e = out_of_memory(err);
		if (e)
			return e;
	}
	return shards_check(a->results, count, missing_shard, a) ? out_of_memory(err) : 0;
}

/* ---- the head of the report ---- */

static bool question_known(const struct analysis *a, const char *name)
{
	for (size_t i = 0; i < a->question_count; i++)
		if (text_equal(a->questions[i].name, name))
			return true;
	return false;
}

static bool fact_given(const struct analysis *a, const char *name)
{
	const struct record_side *side = a->sides[SIDE_A];

	for (size_t i = 0; i < side->facts.count; i++)
		if (text_equal(side->facts.items[i].name, name) && side->facts.items[i].value &&
		    *side->facts.items[i].value)
			return true;
	return bundle_fact(a->results[0]->bundle, name) != NULL;
}

/*
 * Questions of the context that side A's run leaves open. Its command line answers repro and
 * entry_point, its environment generated_code: context_answer in lib/image/context.h.
 */
static void add_context_questions(struct analysis *a)
{
	size_t count;
	const struct context_question *q = context_questions(&count);

	for (size_t i = 0; i < count; i++) {
		if (fact_given(a, q[i].fact) || !strcmp(q[i].name, "repro") ||
		    !strcmp(q[i].name, "entry_point"))
			continue;
		if (!strcmp(q[i].name, "generated_code") &&
		    (fact_given(a, "env.TORCHINDUCTOR_CACHE_DIR") ||
		     fact_given(a, "env.TRITON_CACHE_DIR")))
			continue;
		a->questions[a->question_count++] =
			(struct question){.name = q[i].fact, .text = q[i].question};
	}
}

/* Facts context.missing.NAME say in so many words what nobody answered. */
static void add_missing_facts(struct analysis *a, const struct record_fact *facts, size_t count)
{
	static const char prefix[] = "context.missing";

	for (size_t i = 0; i < count; i++) {
		const char *name = facts[i].name ? facts[i].name : "";

		if (strncmp(name, prefix, sizeof(prefix) - 1) || question_known(a, name))
			continue;
		a->questions[a->question_count++] = (struct question){
			.name = name, .text = facts[i].value ? facts[i].value : name};
	}
}

/* Of all results, each once. */
static int add_environment(struct analysis *a, const struct bundle *b)
{
	static const char prefix[] = "environment.";

	for (size_t i = 0; i < b->facts.count; i++) {
		const struct record_fact *f = &b->facts.items[i];
		struct question x = {.text = f->value ? f->value : ""};
		bool seen = false;

		if (!f->name || strncmp(f->name, prefix, sizeof(prefix) - 1))
			continue;
		x.name = f->name + sizeof(prefix) - 1;
		for (size_t k = 0; !seen && k < a->environment_count; k++)
			seen = !strcmp(a->environment[k].name, x.name) &&
			       !strcmp(a->environment[k].text, x.text);
		if (seen)
			continue;
		if (array_reserve(&a->environment, a->environment_count, &a->environment_capacity,
				  sizeof(*a->environment)))
			return -ENOMEM;
		a->environment[a->environment_count++] = x;
	}
	return 0;
}

static bool device_known(const struct analysis *a, size_t result, size_t device)
{
	for (size_t i = 0; i <= result; i++) {
		const struct bundle *b = a->results[i]->bundle;

		for (size_t k = 0; k < (i < result ? b->devices.count : device); k++)
			if (text_equal(b->devices.items[k].name,
				       a->results[result]->bundle->devices.items[device].name))
				return true;
	}
	return false;
}

static int take_devices(struct analysis *a)
{
	size_t size;
	const char *gap = "";
	FILE *out = open_memstream(&a->device, &size);

	if (!out)
		return -ENOMEM;
	for (size_t i = 0; i < a->result_count; i++)
		for (size_t k = 0; k < a->results[i]->bundle->devices.count; k++) {
			const char *name = a->results[i]->bundle->devices.items[k].name;

			if (!name || !*name || device_known(a, i, k))
				continue;
			fprintf(out, "%s%s", gap, name);
			gap = ", ";
		}
	if (!*gap)
		fputs("unknown", out);
	return fclose(out) ? -ENOMEM : 0;
}

static int take_head(struct analysis *a, struct error *err)
{
	const struct bundle *b = a->results[0]->bundle;
	size_t facts = 1, asked;

	context_questions(&asked);
	for (uint32_t s = 0; s < SIDE_COUNT; s++) {
		a->sides[s] = a->results[0]->sides[s];
		facts += a->sides[s]->facts.count;
	}
	if (take_devices(a))
		return out_of_memory(err);
	for (size_t i = 0; i < a->result_count; i++)
		if (add_environment(a, a->results[i]->bundle))
			return out_of_memory(err);
	if (a->results[0]->software) {
		a->mark = bundle_fact(b, "replay.level");
		if (!a->mark || !*a->mark)
			a->mark = "PTX level: ptxas not executed";
	}
	a->questions = calloc(asked + facts + b->facts.count, sizeof(*a->questions));
	if (!a->questions)
		return out_of_memory(err);
	add_context_questions(a);
	add_missing_facts(a, b->facts.items, b->facts.count);
	for (uint32_t s = 0; s < SIDE_COUNT; s++)
		add_missing_facts(a, a->sides[s]->facts.items, a->sides[s]->facts.count);
	return 0;
}

/* ---- configs and cases ---- */

static int compare_entries(const void *x, const void *y)
{
	const struct entry *a = x, *b = y;
	int order = result_config_compare(a->config->record, b->config->record);

	if (!order) /* shards in a fixed order, whatever order they were given in */
		order = strcmp(a->result->path, b->result->path);
	if (order)
		return order;
	return (a->config->record->number > b->config->record->number) -
	       (a->config->record->number < b->config->record->number);
}

/* By launch; of one launch the worse outcome first. */
static int compare_cases(const void *x, const void *y)
{
	const struct case_verdict *a = x, *b = y;
	int order = strcmp(a->record->bundle ? a->record->bundle : "",
			   b->record->bundle ? b->record->bundle : "");

	if (!order)
		order = (a->record->seq > b->record->seq) - (a->record->seq < b->record->seq);
	if (!order) /* what is derived comes behind its origin */
		order = strcmp(a->record->derived ? a->record->derived : "",
			       b->record->derived ? b->record->derived : "");
	return order ? order : outcome_compare(&b->outcome, &a->outcome);
}

/* A launch that two shards replayed stands once, with the worse outcome. */
static void merge_cases(struct config_verdict *c)
{
	size_t kept = 0;

	qsort(c->cases, c->case_count, sizeof(*c->cases), compare_cases);
	for (size_t i = 0; i < c->case_count; i++) {
		const struct record_case *last = kept ? c->cases[kept - 1].record : NULL;

		if (last && last->seq == c->cases[i].record->seq &&
		    text_equal(last->bundle, c->cases[i].record->bundle) &&
		    text_equal(last->derived, c->cases[i].record->derived))
			case_verdict_clear(&c->cases[i]);
		else
			c->cases[kept++] = c->cases[i];
	}
	c->case_count = kept;
}

static int judge_cases(struct analysis *a, const struct entry *e, struct contents_buffers *buffers,
		       struct config_verdict *c, struct error *err)
{
	for (size_t i = 0; i < e->config->case_count; i++) {
		struct case_verdict v;
		int r = case_decide(e->result, e->config, &e->config->cases[i], buffers, &v, err);

		if (r)
			return r;
		for (size_t k = 0; v.damaged && k < v.output_count; k++)
			if (v.outputs[k].outcome.unproven &&
			    add_incomplete(a, e->result->path, v.outputs[k].outcome.evidence)) {
				case_verdict_clear(&v);
				return out_of_memory(err);
			}
		c->cases[c->case_count++] = v;
	}
	return 0;
}

/* Worst case; an untested config says why, in the replayer's words or its first case's. */
static void conclude_config(struct config_verdict *c)
{
	c->worst_case = c->case_count;
	for (size_t i = 0; i < c->case_count; i++) {
		const struct outcome *o = &c->cases[i].outcome;

		if (o->bucket && outcome_compare(o, &c->outcome) > 0) {
			c->outcome = *o;
			c->worst_case = i;
		}
	}
	if (c->outcome.bucket)
		return;
	c->outcome.rule = RULE_UNPROVEN;
	if (c->case_count)
		c->outcome = c->cases[0].outcome;
	else if (c->record->reason && *c->record->reason)
		snprintf(c->outcome.evidence, sizeof(c->outcome.evidence), "%s", c->record->reason);
	else
		snprintf(c->outcome.evidence, sizeof(c->outcome.evidence),
			 "no launch of it was replayed");
}

/* One config out of `count` entries that are the same one (shards). */
static int judge_config(struct analysis *a, const struct entry *entries, size_t count,
			struct contents_buffers *buffers, struct config_verdict *c,
			struct error *err)
{
	size_t cases = 1;
	int e = 0;

	c->record = entries[0].config->record;
	for (size_t i = 0; i < count; i++) {
		cases += entries[i].config->case_count;
		if (!c->record->tested && entries[i].config->record->tested)
			c->record = entries[i].config->record;
	}
	c->cases = calloc(cases, sizeof(*c->cases));
	if (!c->cases)
		return out_of_memory(err);
	for (size_t i = 0; !e && i < count; i++)
		e = judge_cases(a, &entries[i], buffers, c, err);
	merge_cases(c);
	conclude_config(c);
	return e;
}

static void conclude_family(struct family_verdict *f)
{
	f->worst_config = f->config_count;
	for (size_t i = 0; i < f->config_count; i++) {
		const struct outcome *o = &f->configs[i].outcome;

		if (o->bucket && outcome_compare(o, &f->outcome) > 0) {
			f->outcome = *o;
			f->worst_config = i;
		}
	}
	if (f->outcome.bucket)
		return;
	f->outcome = (struct outcome){.bucket = 3, .unproven = true, .rule = RULE_UNPROVEN};
	snprintf(f->outcome.evidence, sizeof(f->outcome.evidence), "nothing was tested: %.320s",
		 f->config_count ? f->configs[0].outcome.evidence : "no config is known");
}

/* Rule 8g, where no other rule has found anything: the step stands in the worst launch's chain. */
static int family_growth(struct family_verdict *f)
{
	const struct config_verdict *c = &f->configs[f->worst_config];
	struct growth g;

	if (f->outcome.bucket != 2)
		return 0;
	if (growth_find(f, &g))
		return -ENOMEM;
	if (g.outcome.bucket == 3)
		f->outcome = g.outcome;
	if (g.values && c->worst_case < c->case_count) {
		struct case_verdict *v = &c->cases[c->worst_case];
		struct chain *chain = v->worst_output < v->output_count
					      ? &v->outputs[v->worst_output].chain
					      : &v->chain;

		chain->steps[RULE_GROWTH] = growth_step(&g);
	}
	return 0;
}

struct progress {
	analysis_progress *call;
	void *data;
	size_t done, total;
};

/* One family out of `count` entries, sorted by config. */
static int judge_family(struct analysis *a, const struct entry *entries, size_t count,
			struct contents_buffers *buffers, struct progress *p, struct error *err)
{
	struct family_verdict *f = &a->families[a->family_count++];
	int e = 0;

	f->record = entries[0].config->family;
	f->configs = calloc(count, sizeof(*f->configs));
	if (!f->configs)
		return out_of_memory(err);
	for (size_t i = 0, n; !e && i < count; i += n) {
		for (n = 1; i + n < count; n++)
			if (result_config_compare(entries[i].config->record,
						  entries[i + n].config->record) ||
			    entries[i].result == entries[i + n].result)
				break;
		e = judge_config(a, entries + i, n, buffers, &f->configs[f->config_count++], err);
		p->done += n;
		if (p->call)
			p->call(p->data, p->done, p->total);
	}
	if (e)
		return e;
	conclude_family(f);
	if (family_growth(f))
		return out_of_memory(err);
	return family_cover(f) ? out_of_memory(err) : 0;
}

/* Families that have no config at all: named, unproven. */
static int add_empty_families(struct analysis *a, struct error *err)
{
	size_t judged = a->family_count;

	for (size_t i = 0; i < a->result_count; i++) {
		const struct bundle *b = a->results[i]->bundle;

		for (size_t k = 0; k < b->families.count; k++) {
			const struct record_family *r = &b->families.items[k];
			struct family_verdict *f = &a->families[a->family_count];
			bool known = false;

			/* judged ones are sorted by key: binary search; new ones are few */
			for (size_t low = 0, high = judged; low < high && !known;) {
				size_t middle = (low + high) / 2;
				int order = hash_compare(r->key, a->families[middle].record->key);

				known = !order;
				if (order < 0)
					high = middle;
				else
					low = middle + 1;
			}
			for (size_t n = judged; n < a->family_count && !known; n++)
				known = hash_equal(r->key, a->families[n].record->key);
			if (known)
				continue;
			a->family_count++;
			f->record = r;
			conclude_family(f);
			if (family_cover(f))
				return out_of_memory(err);
		}
	}
	return 0;
}

static int judge_entries(struct analysis *a, const struct entry *entries, size_t count,
			 struct progress *p, struct error *err)
{
	struct contents_buffers *buffers = contents_buffers_new();
	int e = buffers ? 0 : out_of_memory(err);

	for (size_t i = 0, n; !e && i < count; i += n) {
		for (n = 1; i + n < count; n++)
			if (!hash_equal(entries[i].config->family->key,
					entries[i + n].config->family->key))
				break;
		e = judge_family(a, entries + i, n, buffers, p, err);
	}
	contents_buffers_free(buffers);
	return e ? e : add_empty_families(a, err);
}

static int compare_families(const void *x, const void *y)
{
	const struct family_verdict *a = x, *b = y;
	int order = outcome_compare(&b->outcome, &a->outcome);

	if (!order)
		order = strcmp(a->record->name ? a->record->name : "",
			       b->record->name ? b->record->name : "");
	return order ? order : hash_compare(a->record->key, b->record->key);
}

static int judge(struct analysis *a, struct progress *p, struct error *err)
{
	_cleanup_free_ struct entry *entries = NULL;
	size_t families = 0, n = 0;
	int e;

	for (size_t i = 0; i < a->result_count; i++) {
		p->total += a->results[i]->config_count;
		families += a->results[i]->bundle->families.count;
	}
	entries = calloc(p->total + 1, sizeof(*entries));
	a->families = calloc(families, sizeof(*a->families));
	if (!entries || !a->families)
		return out_of_memory(err);
	for (size_t i = 0; i < a->result_count; i++)
		for (size_t k = 0; k < a->results[i]->config_count; k++)
			entries[n++] = (struct entry){a->results[i], &a->results[i]->configs[k]};
	qsort(entries, n, sizeof(*entries), compare_entries);
	e = judge_entries(a, entries, n, p, err);
	if (e)
		return e;
	qsort(a->families, a->family_count, sizeof(*a->families), compare_families);
	for (size_t i = 0; i < a->family_count; i++) {
		a->buckets[a->families[i].outcome.bucket]++;
		a->unproven += a->families[i].outcome.unproven;
	}
	return 0;
}

static int check_shapes(const struct analysis *a, const struct shape_rules *shapes,
			struct error *err)
{
	if (!shapes)
		return 0;
	for (size_t i = 0; i < a->family_count; i++) {
		const struct family_verdict *f = &a->families[i];

		for (size_t k = 0; k < f->config_count; k++)
			for (size_t n = 0; n < f->configs[k].case_count; n++)
				shape_rules_count(f->record, &f->configs[k].cases[n]);
	}
	return shape_rules_check(shapes, err);
}

int analysis_run(struct analysis **out, char *const *paths, size_t count,
		 analysis_progress *progress, void *progress_data, struct error *err)
{
	return analysis_run_shaped(out, paths, count, NULL, progress, progress_data, err);
}

int analysis_run_shaped(struct analysis **out, char *const *paths, size_t count,
			struct shape_rules *shapes, analysis_progress *progress,
			void *progress_data, struct error *err)
{
	struct progress p = {.call = progress, .data = progress_data};
	struct analysis *a;
	int e;

	*out = NULL;
	if (!count)
		return error_set(err, EINVAL, ERROR_NO_OFFSET, "no result given");
	a = calloc(1, sizeof(*a));
	if (!a)
		return out_of_memory(err);
	e = open_results(a, paths, count, shapes, err);
	if (!e)
		e = take_head(a, err);
	if (!e)
		e = judge(a, &p, err);
	if (!e)
		e = check_shapes(a, shapes, err);
	if (!e)
		e = use_families(a, err);
	if (!e)
		e = scope_families(a, err);
	if (!e)
		e = stage_families(a, err);
	if (e) {
		analysis_free(a);
		return e;
	}
	*out = a;
	return 0;
}

static void free_family(struct family_verdict *f)
{
	for (size_t i = 0; i < f->config_count; i++) {
		for (size_t k = 0; k < f->configs[i].case_count; k++)
			case_verdict_clear(&f->configs[i].cases[k]);
		free(f->configs[i].cases);
	}
	free(f->configs);
	for (size_t i = 0; i < f->note_count; i++)
		free(f->notes[i]);
	free(f->notes);
	free(f->accepted);
	scope_clear(&f->scope);
	stage_clear(&f->stage);
	use_clear(&f->use);
}

void analysis_free(struct analysis *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->family_count; i++)
		free_family(&a->families[i]);
	free(a->families);
	for (size_t i = 0; i < a->baseline_note_count; i++)
		free(a->baseline_notes[i]);
	free(a->baseline_notes);
	for (size_t i = 0; i < a->since.gone_count; i++)
		free(a->since.gone[i]);
	free(a->since.gone);
	for (size_t i = 0; i < a->incomplete_count; i++)
		free(a->incomplete[i]);
	free(a->incomplete);
	free(a->questions);
	free(a->environment);
	free(a->device);
	for (uint32_t s = 0; s < SIDE_COUNT; s++)
		junit_clear(&a->tests[s]);
	for (size_t i = 0; i < a->result_count; i++)
		result_close(a->results[i]);
	free(a->results);
	free(a);
}

size_t analysis_at_least(const struct analysis *a, int level)
{
	size_t n = 0;

	for (size_t i = 0; i < a->family_count; i++)
		n += a->families[i].outcome.bucket >= level && !a->families[i].accepted;
	return n;
}

const struct case_verdict *family_worst_case(const struct family_verdict *f)
{
	const struct config_verdict *c;

	if (f->worst_config == f->config_count)
		return NULL;
	c = &f->configs[f->worst_config];
	return c->worst_case == c->case_count ? NULL : &c->cases[c->worst_case];
}

const struct output_verdict *family_worst_output(const struct family_verdict *f)
{
	const struct case_verdict *c = family_worst_case(f);

	return !c || c->worst_output == c->output_count ? NULL : &c->outputs[c->worst_output];
}
