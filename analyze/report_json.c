/* SPDX-License-Identifier: MIT */
/* Verdicts as JSON: docs/report.schema.json. Key order is the order of insertion here. */
#include "analyze/report.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "analyze/phrase.h"
#include "analyze/thresholds.h"
#include "analyze/timing.h"
#include "lib/base.h"

/*
 * json_pack and the _new setters pass a NULL value on as their own failure; the first failure
 * sticks in `failed`, so that every call below need not be checked.
 */
struct writer {
	bool failed;
};

static void put(struct writer *w, json_t *object, const char *key, json_t *value)
{
	if (!value || json_object_set_new_nocheck(object, key, value))
		w->failed = true;
}

static void append(struct writer *w, json_t *array, json_t *value)
{
	if (!value || json_array_append_new(array, value))
		w->failed = true;
}

static json_t *array_in(struct writer *w, json_t *object, const char *key)
{
	json_t *array = json_array();

	put(w, object, key, array);
	return w->failed ? NULL : array;
}

static json_t *text_or_null(const char *text)
{
	_cleanup_free_ char *copy = NULL;
	json_t *value;

	if (!text)
		return json_null();
	value = json_string(text);
	if (value)
		return value;
	copy = strdup(text); /* no UTF-8: a damaged name must not lose the report */
	return copy ? json_string(phrase_clean(copy)) : NULL;
}

static json_t *text(const char *t)
{
	return text_or_null(t ? t : "");
}

static json_t *count(uint64_t n)
{
	return json_integer(n > INT64_MAX ? INT64_MAX : (json_int_t)n);
}

/* JSON has no NaN and inf: they are the texts "NaN", "+inf", "-inf". */
static json_t *number(double x)
{
	enum number_class c = number_class(x);

	return c == NUMBER_FINITE ? json_real(x) : json_string(number_class_name(c));
}

static json_t *hex(uint64_t x, int digits)
{
	char out[24];

	snprintf(out, sizeof(out), "0x%0*" PRIx64, digits, x);
	return json_string(out);
}

static json_t *key(struct hash128 h)
{
	char out[HASH_TEXT_BYTES];

	return json_string(hash_text(h, out));
}

static void put_rule(struct writer *w, json_t *object, const struct outcome *o)
{
	json_t *rule = json_object();

	put(w, object, "bucket", o->bucket ? json_integer(o->bucket) : json_null());
	put(w, object, "unproven", json_boolean(o->unproven));
	put(w, object, "provisional", json_boolean(o->provisional));
	put(w, object, "nondeterministic", json_boolean(o->nondeterministic));
	put(w, object, "rule", rule);
	put(w, rule, "number", json_string(rule_number(o->rule)));
	put(w, rule, "name", json_string(rule_name(o->rule)));
	put(w, object, "tag", text_or_null(o->tag));
	put(w, object, "evidence", text(o->evidence));
}

static json_t *element(struct writer *w, const struct metrics *m, const struct metric_element *e)
{
	int digits = (int)dtype_bytes(m->dtype) * 2;
	json_t *object = json_object();

	put(w, object, "index", count(e->index));
	put(w, object, "a", number(e->a));
	put(w, object, "b", number(e->b));
	put(w, object, "bits_a", hex(e->bits_a, digits));
	put(w, object, "bits_b", hex(e->bits_b, digits));
	put(w, object, "ulp", e->ulp == UINT64_MAX ? json_null() : count(e->ulp));
	put(w, object, "severity", number(e->severity));
	return object;
}

static void put_class_changes(struct writer *w, json_t *object, const struct metrics *m)
{
	json_t *list = array_in(w, object, "class_changes");

	for (unsigned a = 0; list && a < NUMBER_CLASSES; a++)
		for (unsigned b = 0; b < NUMBER_CLASSES; b++) {
			json_t *change;

			if (!m->classes[a][b])
				continue;
			change = json_object();
			put(w, change, "a", json_string(number_class_name(a)));
			put(w, change, "b", json_string(number_class_name(b)));
			put(w, change, "count", count(m->classes[a][b]));
			append(w, list, change);
		}
}

static json_t *metrics(struct writer *w, const struct metrics *m)
{
	json_t *object = json_object(), *top;

	put(w, object, "elements", count(m->elements));
	put(w, object, "equal", count(m->equal));
	put(w, object, "differing", count(m->differing));
	put(w, object, "nan_payload_only", count(m->payload));
	put(w, object, "zero_sign_only", count(m->zero_sign));
	put(w, object, "flushed_denormals", count(m->ftz));
	put_class_changes(w, object, m);
	put(w, object, "nan", json_pack("[I,I]", (json_int_t)m->nan_a, (json_int_t)m->nan_b));
	put(w, object, "inf", json_pack("[I,I]", (json_int_t)m->inf_a, (json_int_t)m->inf_b));
	put(w, object, "zeros", json_pack("[I,I]", (json_int_t)m->zero_a, (json_int_t)m->zero_b));
	put(w, object, "constant", json_boolean(m->constant && m->elements > 1));
	put(w, object, "steps", count(m->steps));
	put(w, object, "beyond_allowance", count(m->beyond));
	put(w, object, "max_allowance_ratio", number(m->max_ratio));
	put(w, object, "max_abs", number(m->max_abs));
	put(w, object, "max_abs_at", m->max_abs > 0 ? element(w, m, &m->max_abs_at) : json_null());
	put(w, object, "max_rel", number(m->max_rel));
	put(w, object, "max_rel_index", count(m->max_rel_index));
	put(w, object, "max_ulp", count(m->max_ulp));
	put(w, object, "max_ulp_index", count(m->max_ulp_index));
	put(w, object, "mean_difference", number(metrics_mean(m)));
	put(w, object, "rms_difference", number(metrics_rms(m)));
	put(w, object, "rms_a", number(metrics_rms_a(m)));
	put(w, object, "varying_in_a", count(m->varying));
	put(w, object, "first_difference",
	    m->differing ? element(w, m, &m->first_difference) : json_null());
	top = array_in(w, object, "top");
	for (uint32_t i = 0; top && i < m->top_count; i++)
		append(w, top, element(w, m, &m->top[i]));
	return object;
}

/* Rules 5 to 8 on recorded inputs; null: as distribution. */
static json_t *recorded_steps(struct writer *w, const struct output_verdict *o)
{
	json_t *object;

	if (o->recorded[0].state == STEP_UNASKED)
		return json_null();
	object = json_object();
	put(w, object, "flips_predicted", number(o->predicted));
	put(w, object, "synthetic_siblings", count(o->synthetic));
	put(w, object, "synthetic_siblings_left_out", count(o->synthetic_left_out));
	for (size_t i = 0; i < RECORDED_STEPS; i++) {
		const struct step *s = &o->recorded[i];
		json_t *pair = array_in(w, object, rule_name(recorded_rules[i]));

		for (int k = 0; pair && k < 2 && s->state != STEP_UNASKED; k++)
			append(w, pair, number(k ? s->limit : s->figure));
	}
	return object;
}

/* null: no trials measure the noise, or nothing differs. */
static json_t *distribution(struct writer *w, const struct distribution_figures *d)
{
	static const char *const sides[] = {"A", "B"};
	json_t *object = json_object();

	if (!d->elements) {
		json_decref(object);
		return json_null();
	}
	put(w, object, "kolmogorov", number(d->distance));
	for (int s = 0; s < 2; s++) {
		json_t *list = array_in(w, object, sides[s]);

		for (size_t i = 0; list && i < DISTRIBUTION_QUANTILES; i++)
			append(w, list, number(d->quantiles[s][i]));
	}
	return object;
}

static json_t *pair(struct writer *w, const double x[SIDE_COUNT])
{
	json_t *list = json_array();

	append(w, list, number(x[SIDE_A]));
	append(w, list, number(x[SIDE_B]));
	return list;
}

static json_t *reference(struct writer *w, const struct reference_figures *f)
{
	static const char *const nearer[] = {"A", "B", "equal"};
	const struct record_reference *r = f->record;
	json_t *object;

	if (!r)
		return json_null();
	object = json_object();
	put(w, object, "reason", text_or_null(r->reason && *r->reason ? r->reason : NULL));
	put(w, object, "differing", count(r->differing));
	put(w, object, "compared", count(f->compared));
	put(w, object, "nearer", text_or_null(f->compared ? nearer[reference_nearer(f)] : NULL));
	put(w, object, "rms_ulp", pair(w, f->rms_ulp));
	put(w, object, "max_ulp", pair(w, f->max_ulp));
	put(w, object, "rms_relative", pair(w, f->rms_relative));
	put(w, object, "ties", count(f->ties));
	put(w, object, "operations", count(r->operations));
	put(w, object, "lost_places", count(r->lost_places));
	put(w, object, "lost", text_or_null(r->lost && *r->lost ? r->lost : NULL));
	put(w, object, "blocks", count(r->blocks));
	put(w, object, "all_blocks", count(r->all_blocks));
	return object;
}

static json_t *output(struct writer *w, const struct output_verdict *o)
{
	json_t *object = json_object();

	put(w, object, "name", text(o->name));
	put(w, object, "address", hex(o->extent->address, 1));
	put(w, object, "bytes", count(o->extent->size));
	put(w, object, "dtype", json_string(dtype_name(o->dtype)));
	put(w, object, "note", text_or_null(o->note));
	put_rule(w, object, &o->outcome);
	put(w, object, "metrics", metrics(w, &o->metrics));
	put(w, object, "recorded", recorded_steps(w, o));
	put(w, object, "distribution", distribution(w, &o->distribution));
	put(w, object, "reference", reference(w, &o->reference));
	return object;
}

static json_t *a_and_b(double a, double b)
{
	return json_pack("{s:f,s:f}", "A", isfinite(a) ? a : 0.0, "B", isfinite(b) ? b : 0.0);
}

/* Sums over the launches that both sides' times are known of. */
static json_t *timing(struct timing t)
{
	static const char *const orders[] = {"faster", "equal", "slower"};

	return json_pack("{s:f,s:f,s:[f,f],s:[f,f],s:s,s:I}", "A", t.us[SIDE_A], "B", t.us[SIDE_B],
			 "range_A", t.least_us[SIDE_A], t.most_us[SIDE_A], "range_B",
			 t.least_us[SIDE_B], t.most_us[SIDE_B], "B_is",
			 orders[1 + timing_order(&t)], "launches", (json_int_t)t.launches);
}

static json_t *case_object(struct writer *w, const struct case_verdict *c)
{
	const struct record_case *r = c->record;
	json_t *object = json_object(), *outputs;

	put(w, object, "bundle", text(r->bundle));
	put(w, object, "launch", count(r->seq));
	put(w, object, "derived", text_or_null(r->derived));
	put(w, object, "grid",
	    json_pack("[I,I,I]", (json_int_t)r->grid[0], (json_int_t)r->grid[1],
		      (json_int_t)r->grid[2]));
	put(w, object, "shape_class", key(r->shape_class));
	put(w, object, "params", text(r->params));
	put(w, object, "fidelity", json_string(fidelity_name(r->fidelity)));
	put(w, object, "fidelity_reason", text(r->fidelity_reason));
	put_rule(w, object, &c->outcome);
	put(w, object, "repeats",
	    json_pack("{s:I,s:I}", "A", (json_int_t)c->repeats[SIDE_A], "B",
		      (json_int_t)c->repeats[SIDE_B]));
	put(w, object, "poisoned_pairs", count(c->poisons));
	put(w, object, "time_us", a_and_b(c->time_us[SIDE_A], c->time_us[SIDE_B]));
	put(w, object, "repro", text(r->repro));
	outputs = array_in(w, object, "outputs");
	for (size_t i = 0; outputs && i < c->output_count; i++)
		append(w, outputs, output(w, &c->outputs[i]));
	return object;
}

static json_t *config_object(struct writer *w, const struct config_verdict *c)
{
	json_t *object = json_object(), *cases;

	put(w, object, "key", key(c->record->key));
	put(w, object, "options", text(c->record->options));
	put(w, object, "pairing", json_string(pairing_name(c->record->pairing)));
	put(w, object, "same_code", json_boolean(c->record->same_code));
	put(w, object, "same_ptx", json_boolean(c->record->same_ptx));
	put_rule(w, object, &c->outcome);
	put(w, object, "time_us", timing(config_timing(c)));
	cases = array_in(w, object, "cases");
	for (size_t i = 0; cases && i < c->case_count; i++)
		append(w, cases, case_object(w, &c->cases[i]));
	return object;
}

/* Every rule on the worst output of the worst launch. */
static void put_chain(struct writer *w, json_t *object, const struct chain *c)
{
	json_t *list = array_in(w, object, "chain");

	for (unsigned r = 0; list && r < RULE_COUNT; r++) {
		const struct step *s = &c->steps[r];
		bool asked = s->state != STEP_UNASKED;
		json_t *step = json_object();

		put(w, step, "number", json_string(rule_number(r)));
		put(w, step, "name", json_string(rule_name(r)));
		put(w, step, "what", json_string(rule_what(r)));
		put(w, step, "state", json_string(step_state_name(s->state)));
		put(w, step, "figure", asked ? number(s->figure) : json_null());
		put(w, step, "limit", asked ? number(s->limit) : json_null());
		put(w, step, "note", text_or_null(s->note));
		append(w, list, step);
	}
}

static void put_worst(struct writer *w, json_t *object, const struct family_verdict *f)
{
	const struct case_verdict *c = family_worst_case(f);
	const struct output_verdict *o = family_worst_output(f);
	json_t *worst;

	if (!c) {
		put(w, object, "worst", json_null());
		return;
	}
	worst = json_object();
	put(w, object, "worst", worst);
	put(w, worst, "config", text(f->configs[f->worst_config].record->options));
	put(w, worst, "bundle", text(c->record->bundle));
	put(w, worst, "launch", count(c->record->seq));
	put(w, worst, "output", text_or_null(o ? o->name : NULL));
	put(w, worst, "repro", text(c->record->repro));
	put_chain(w, worst, case_chain(c));
}

static json_t *coverage(struct writer *w, const struct family_coverage *c)
{
	json_t *object = json_object();

	put(w, object, "configs", count(c->configs));
	put(w, object, "configs_tested", count(c->configs_tested));
	put(w, object, "launches", count(c->cases));
	put(w, object, "launches_tested", count(c->tested));
	put(w, object, "faithful", count(c->faithful));
	put(w, object, "nondeterministic", count(c->nondeterministic));
	put(w, object, "unfaithful", count(c->unfaithful));
	put(w, object, "fidelity_untested", count(c->fidelity_untested));
	put(w, object, "shape_classes", count(c->classes));
	put(w, object, "shape_classes_tested", count(c->classes_tested));
	put(w, object, "derived_launches", count(c->derived));
	put(w, object, "derived_launches_tested", count(c->derived_tested));
	return object;
}

static void put_signature(struct writer *w, json_t *object, const struct record_family *f)
{
	json_t *list = array_in(w, object, "signature");

	for (size_t i = 0; list && i < f->args.count; i++) {
		json_t *arg = json_object();

		put(w, arg, "name", text(f->args.items[i].name));
		put(w, arg, "type", text(f->args.items[i].type));
		append(w, list, arg);
	}
}

/* What a family was in the report of --since. */
static json_t *before(struct writer *w, const struct earlier_verdict *b)
{
	json_t *object;

	if (!b->known)
		return json_null();
	object = json_object();
	put(w, object, "bucket", json_integer(b->bucket));
	put(w, object, "unproven", json_boolean(b->unproven));
	put(w, object, "rule", text(b->rule));
	return object;
}

static json_t *clause(struct writer *w, const struct scope_clause *c)
{
	json_t *object = json_object();

	put(w, object, "with", text(c->text));
	put(w, object, "counts", json_string(c->of_config ? "configs" : "launches"));
	put(w, object, "in", count(c->in));
	put(w, object, "in_failed", count(c->in_failed));
	put(w, object, "out", count(c->out));
	put(w, object, "out_failed", count(c->out_failed));
	return object;
}

/* What separates the launches that show a difference from the others. */
static json_t *scope(struct writer *w, const struct scope *s)
{
	json_t *object, *list;

	if (s->kind == SCOPE_NONE)
		return json_null();
	object = json_object();
	put(w, object, "text", text(s->text));
	put(w, object, "kind", json_string(scope_kind_name(s->kind)));
	put(w, object, "configs", count(s->configs));
	put(w, object, "configs_failed", count(s->configs_failed));
	put(w, object, "launches", count(s->launches));
	put(w, object, "launches_failed", count(s->launches_failed));
	list = array_in(w, object, "clauses");
	for (size_t i = 0; list && i < s->clause_count; i++)
		append(w, list, clause(w, &s->clauses[i]));
	list = array_in(w, object, "also");
	for (size_t i = 0; list && i < s->also_count; i++)
		append(w, list, text(s->also[i]));
	put(w, object, "outputs", text_or_null(s->outputs));
	put(w, object, "types", text_or_null(s->types));
	put(w, object, "trials", text_or_null(s->trials));
	put(w, object, "place", text_or_null(s->place));
	return object;
}

/* The compiler's stage that a fault comes from. */
static json_t *stage(struct writer *w, const struct stage *s)
{
	json_t *object;

	if (s->kind == STAGE_NONE)
		return json_null();
	object = json_object();
	put(w, object, "kind", json_string(stage_kind_name(s->kind)));
	put(w, object, "crossed", json_boolean(s->crossed));
	put(w, object, "text", text(s->text));
	return object;
}

static json_t *use_counts(struct writer *w, const struct use_count *c)
{
	json_t *object = json_object();

	for (int d = 0; d < USE_DIMENSION_COUNT; d++) {
		json_t *one = json_object();

		put(w, object, use_dimension_name((enum use_dimension)d), one);
		put(w, one, "used", count(c[d].used));
		put(w, one, "tested", count(c[d].tested));
		put(w, one, "by_model", count(c[d].by_model));
		put(w, one, "by_tests", count(c[d].by_tests));
		put(w, one, "by_derived", count(c[d].by_derived));
		put(w, one, "in_tests", count(c[d].in_tests));
	}
	return object;
}

/* NULL without memory. */
static json_t *test_outcome(const struct junit *j, const char *test)
{
	static const char *const names[] = {"passed", "failed", "skipped"};
	const struct junit_test *t;

	if (use_test_outcome(j, test, &t))
		return NULL;
	return t ? json_string(names[t->outcome]) : json_null();
}

/* What the model uses against what was tested, item by item. */
static json_t *use(struct writer *w, const struct analysis *a, const struct use *u)
{
	json_t *object = json_object(), *list;

	put(w, object, "counts", use_counts(w, u->counts));
	list = array_in(w, object, "items");
	for (size_t i = 0; list && i < u->count; i++) {
		const struct use_item *x = &u->items[i];
		json_t *item = json_object();

		put(w, item, "dimension", json_string(use_dimension_name(x->dimension)));
		put(w, item, "item", text(x->text));
		put(w, item, "launches", count(x->launches));
		put(w, item, "test_launches", count(x->tests));
		put(w, item, "by_model", json_boolean(x->by_model));
		put(w, item, "by_tests", json_boolean(x->by_tests));
		put(w, item, "by_derived", json_boolean(x->by_derived));
		put(w, item, "untested", json_boolean(use_untested(x)));
		put(w, item, "reason", text_or_null(x->reason));
		append(w, list, item);
	}
	list = array_in(w, object, "tests");
	for (size_t i = 0; list && i < u->test_count; i++) {
		json_t *one = json_object();

		put(w, one, "name", text(u->tests[i]));
		put(w, one, "A", test_outcome(&a->tests[SIDE_A], u->tests[i]));
		put(w, one, "B", test_outcome(&a->tests[SIDE_B], u->tests[i]));
		append(w, list, one);
	}
	return object;
}

static json_t *family_object(struct writer *w, const struct analysis *a,
			     const struct family_verdict *f)
{
	json_t *object = json_object(), *list;

	put(w, object, "name", text(f->record->name));
	put(w, object, "key", key(f->record->key));
	put(w, object, "origin", json_string(origin_name(f->record->origin)));
	put(w, object, "source", text(f->record->source));
	put(w, object, "line", count(f->record->line));
	put_signature(w, object, f->record);
	put_rule(w, object, &f->outcome);
	put(w, object, "mark", text_or_null(a->mark));
	put(w, object, "accepted", text_or_null(f->accepted));
	put(w, object, "before", before(w, &f->before));
	put(w, object, "scope", scope(w, &f->scope));
	put(w, object, "stage", stage(w, &f->stage));
	put_worst(w, object, f);
	put(w, object, "coverage", coverage(w, &f->coverage));
	put(w, object, "use", use(w, a, &f->use));
	put(w, object, "time_us", timing(family_timing(f)));
	list = array_in(w, object, "notes");
	for (size_t i = 0; list && i < f->note_count; i++)
		append(w, list, text(f->notes[i]));
	list = array_in(w, object, "configs");
	for (size_t i = 0; list && i < f->config_count; i++)
		append(w, list, config_object(w, &f->configs[i]));
	return object;
}

static json_t *side_object(struct writer *w, const struct record_side *s)
{
	json_t *object = json_object();

	put(w, object, "source", text(s->source));
	put(w, object, "version", text(text_or_unspecified(s->version)));
	put(w, object, "commit", text(text_or_unspecified(s->commit)));
	put(w, object, "how", text(s->how));
	put(w, object, "made_by", text_or_null(phrase_made_by(s)));
	return object;
}

static void put_environment(struct writer *w, json_t *root, const struct analysis *a)
{
	json_t *list = array_in(w, root, "environment");

	for (size_t i = 0; list && i < a->environment_count; i++) {
		json_t *item = json_object();

		put(w, item, "name", text(a->environment[i].name));
		put(w, item, "difference", text(a->environment[i].text));
		append(w, list, item);
	}
}

/* Files that a verdict depends on beside the results, null where none was given. */
static void put_context(struct writer *w, json_t *root, const struct analysis *a)
{
	json_t *object = NULL, *list;

	put(w, root, "policy", text_or_null(a->policy));
	if (a->baseline)
		object = json_object();
	put(w, root, "baseline", object ? object : json_null());
	if (object) {
		put(w, object, "path", text(a->baseline));
		list = array_in(w, object, "notes");
		for (size_t i = 0; list && i < a->baseline_note_count; i++)
			append(w, list, text(a->baseline_notes[i]));
	}
	object = a->since.path ? json_object() : NULL;
	put(w, root, "since", object ? object : json_null());
	if (!object)
		return;
	put(w, object, "path", text(a->since.path));
	put(w, object, "worse", count(a->since.worse));
	put(w, object, "better", count(a->since.better));
	put(w, object, "same", count(a->since.same));
	put(w, object, "new", count(a->since.added));
	list = array_in(w, object, "gone");
	for (size_t i = 0; list && i < a->since.gone_count; i++)
		append(w, list, text(a->since.gone[i]));
}

/* What the replay cost: the facts of all results, added up. */
static void put_cost(struct writer *w, json_t *root, const struct analysis *a)
{
	const size_t prefix = strlen(FACT_COST);
	json_t *object = json_object();

	put(w, root, "replay_cost", object);
	for (size_t i = 0; i < a->result_count; i++) {
		const struct bundle *b = a->results[i]->bundle;

		for (size_t k = 0; k < b->facts.count; k++) {
			const struct record_fact *f = &b->facts.items[k];
			double sum;

			if (!f->name || !f->value || strncmp(f->name, FACT_COST, prefix) != 0)
				continue;
			sum = strtod(f->value, NULL) +
			      json_number_value(json_object_get(object, f->name + prefix));
			put(w, object, f->name + prefix, number(sum));
		}
	}
}

static void put_head(struct writer *w, json_t *root, const struct analysis *a)
{
	json_t *object, *list;

	put(w, root, "schema", json_string("kernelab-verdict/1"));
	put(w, root, "tool_version", json_string(KERNELAB_VERSION));
	list = array_in(w, root, "results");
	for (size_t i = 0; list && i < a->result_count; i++)
		append(w, list, text_or_null(a->results_temporary ? NULL : a->results[i]->path));
	put(w, root, "complete", json_boolean(!a->incomplete_count));
	list = array_in(w, root, "incomplete");
	for (size_t i = 0; list && i < a->incomplete_count; i++)
		append(w, list, text(a->incomplete[i]));
	put_context(w, root, a);
	object = json_object();
	put(w, root, "device", object);
	put(w, object, "name", text(a->device));
	put(w, object, "mark", text_or_null(a->mark));
	put_cost(w, root, a);
	object = json_object();
	put(w, root, "sides", object);
	put(w, object, "A", side_object(w, a->sides[SIDE_A]));
	put(w, object, "B", side_object(w, a->sides[SIDE_B]));
	put_environment(w, root, a);
	list = array_in(w, root, "open_questions");
	for (size_t i = 0; list && i < a->question_count; i++) {
		json_t *question = json_object();

		put(w, question, "name", text(a->questions[i].name));
		put(w, question, "question", text(a->questions[i].text));
		append(w, list, question);
	}
}

/* Outcomes of existing tests, null where no file was given. */
static json_t *tests(struct writer *w, const struct junit *j)
{
	json_t *object, *list;

	if (!j->path)
		return json_null();
	object = json_object();
	put(w, object, "path", text(j->path));
	put(w, object, "passed", count(j->outcomes[JUNIT_PASSED]));
	put(w, object, "failed", count(j->outcomes[JUNIT_FAILED]));
	put(w, object, "skipped", count(j->outcomes[JUNIT_SKIPPED]));
	list = array_in(w, object, "failures");
	for (size_t i = 0; list && i < j->count; i++)
		if (j->tests[i].outcome == JUNIT_FAILED)
			append(w, list, text(j->tests[i].name));
	return object;
}

static void put_counts(struct writer *w, json_t *root, const struct analysis *a)
{
	json_t *object = json_object();

	put(w, root, "counts", object);
	put(w, object, "families", count(a->family_count));
	put(w, object, "bitwise", count(a->buckets[1]));
	put(w, object, "small", count(a->buckets[2]));
	put(w, object, "suspicious", count(a->buckets[3]));
	put(w, object, "unproven", count(a->unproven));
	put(w, object, "accepted", count(a->accepted));
}

static void put_thresholds(struct writer *w, json_t *root)
{
	json_t *list = array_in(w, root, "thresholds");

	for (int i = 0; list && i < THRESHOLD_COUNT; i++) {
		const struct threshold_row *t = threshold_row((enum threshold)i);
		json_t *object = json_object();

		put(w, object, "name", json_string(t->name));
		put(w, object, "value", number(t->value));
		put(w, object, "default", number(t->initial));
		put(w, object, "provisional", json_boolean(t->provisional));
		put(w, object, "reason", json_string(t->reason));
		append(w, list, object);
	}
}

int report_json(const struct analysis *a, FILE *out)
{
	struct writer w = {0};
	json_t *root = json_object(), *list, *object;
	int r;

	put_head(&w, root, a);
	put_counts(&w, root, a);
	put(&w, root, "use", use_counts(&w, a->use));
	object = json_object();
	put(&w, root, "tests", object);
	put(&w, object, "A", tests(&w, &a->tests[SIDE_A]));
	put(&w, object, "B", tests(&w, &a->tests[SIDE_B]));
	put_thresholds(&w, root);
	list = array_in(&w, root, "families");
	for (size_t i = 0; list && !w.failed && i < a->family_count; i++)
		append(&w, list, family_object(&w, a, &a->families[i]));
	r = w.failed ? -ENOMEM : 0;
	if (!r && json_dumpf(root, out, JSON_INDENT(1) | JSON_REAL_PRECISION(9)))
		r = ferror(out) ? 0 : -ENOMEM; /* a write error is the caller's to see */
	if (!r)
		fputc('\n', out);
	json_decref(root);
	return r;
}
