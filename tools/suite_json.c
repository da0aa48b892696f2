/* SPDX-License-Identifier: MIT */
/* The kernel suite as JSON: docs/suite.schema.json. Keys stand in the order of insertion here. */
#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "kernelab/bundle.h"
#include "kernelab/dtype.h"
#include "lib/base.h"
#include "tools/suite_head.h"
#include "tools/suite_report.h"

#define SCHEMA "kernelab-suite/1"

/* The first failure sticks, so that the calls below need not be checked one by one. */
struct writer {
	bool failed;
};

static void put(struct writer *w, json_t *object, const char *key, json_t *value)
{
	if (!object || !value || json_object_set_new(object, key, value) < 0)
		w->failed = true;
}

static void append(struct writer *w, json_t *array, json_t *value)
{
	if (!array || !value || json_array_append_new(array, value) < 0)
		w->failed = true;
}

static json_t *array_in(struct writer *w, json_t *object, const char *key)
{
	json_t *array = json_array();

	put(w, object, key, array);
	return w->failed ? NULL : array;
}

static void put_text(struct writer *w, json_t *object, const char *key, const char *text)
{
	_cleanup_free_ char *clean = NULL;
	json_t *value = json_string(text ? text : "");

	if (!value) { /* no UTF-8: a damaged name must not lose the rest */
		clean = suite_clean(text);
		value = clean ? json_string(clean) : NULL;
	}
	put(w, object, key, value);
}

static void put_number(struct writer *w, json_t *object, const char *key, uint64_t v)
{
	put(w, object, key, json_integer(v > INT64_MAX ? INT64_MAX : (json_int_t)v));
}

/* null where there is none */
static void put_hash(struct writer *w, json_t *object, const char *key, struct hash128 h)
{
	char text[HASH_TEXT_BYTES];

	put(w, object, key, hash_is_zero(h) ? json_null() : json_string(hash_text(h, text)));
}

static void add_bundle(struct writer *w, json_t *array, const struct suite *s, size_t index)
{
	const struct bundle *b = s->bundles[index];
	json_t *object = json_object(), *lines, *open;
	struct head h;

	put_text(w, object, "path", b->path);
	put(w, object, "complete", json_boolean(!*bundle_problem(b)));
	put_text(w, object, "problem", bundle_problem(b));
	lines = array_in(w, object, "facts");
	open = array_in(w, object, "open_questions");
	if (head_make(&h, s, index) < 0)
		w->failed = true;
	for (size_t i = 0; i < h.count && !w->failed; i++) {
		json_t *line = json_object();

		put_text(w, line, "name", h.lines[i].name);
		put_text(w, line, "value", h.lines[i].value);
		put_text(w, line, "how", h.lines[i].how);
		append(w, lines, line);
	}
	for (size_t i = 0; i < h.open_count && !w->failed; i++)
		append(w, open, json_string(h.open[i]));
	head_free(&h);
	append(w, array, object);
}

static void add_args(struct writer *w, json_t *family, const struct suite_family *f)
{
	json_t *array;

	if (!f->metadata || !f->args) {
		put(w, family, "args", json_null());
		return;
	}
	array = array_in(w, family, "args");
	for (size_t i = 0; i < f->arg_count && !w->failed; i++) {
		json_t *object = json_object();

		put_text(w, object, "name", f->args[i].name);
		put_text(w, object, "type", f->args[i].type);
		put_text(w, object, "dtype", dtype_name((enum dtype)f->args[i].dtype));
		put(w, object, "pointer", json_boolean(f->args[i].pointer));
		append(w, array, object);
	}
}

static void add_class(struct writer *w, json_t *array, const struct suite_class *c)
{
	json_t *object = json_object(), *grid;

	grid = array_in(w, object, "grid");
	for (int i = 0; i < 3 && !w->failed; i++)
		append(w, grid, json_integer(c->grid[i]));
	put_number(w, object, "seen", c->seen);
	put_number(w, object, "recorded", c->recorded);
	put_text(w, object, "reason", c->reason);
	put_hash(w, object, "key", c->key);
	append(w, array, object);
}

/* What the glue noted; null where it noted nothing. */
static json_t *note_json(const char *text)
{
	return text ? json_loads(text, JSON_DECODE_ANY, NULL) : json_null();
}

static void add_member(struct writer *w, json_t *array, const struct suite_member *m)
{
	json_t *object = json_object(), *inner;

	put_hash(w, object, "image", m->image->id);
	put_number(w, object, "bundle", m->bundle);
	put_text(w, object, "ptxas", m->image->ptxas);
	put_text(w, object, "triton", m->triton ? m->triton->triton_version : "");
	put_text(w, object, "problem", m->problem);
	inner = array_in(w, object, "divisibility");
	for (size_t i = 0;
	     m->triton && m->triton->signature && !w->failed && i < m->triton->signature->arg_count;
	     i++)
		append(w, inner, json_integer(m->triton->signature->args[i].divisibility));
	put(w, object, "constexprs", note_json(m->note ? m->note->constexprs_json : NULL));
	put(w, object, "tensors", note_json(m->note ? m->note->tensors_json : NULL));
	put_text(w, object, "python_sha256", m->note ? m->note->python_hash : "");
	put_number(w, object, "registers",
		   m->code     ? m->code->registers
		   : m->kernel ? m->kernel->registers
			       : 0);
	put_number(w, object, "shared_bytes", m->triton ? m->triton->shared_bytes : 0);
	put_hash(w, object, "special", m->special);
	put_hash(w, object, "code", m->code_hash);
	put_hash(w, object, "ptx", m->ptx_hash);
	put(w, object, "launched", json_boolean(m->seen));
	inner = array_in(w, object, "classes");
	for (size_t i = 0; i < m->class_count && !w->failed; i++)
		add_class(w, inner, &m->classes[i]);
	inner = array_in(w, object, "launches");
	for (size_t i = 0; i < m->launch_count && !w->failed; i++)
		append(w, inner, json_integer((json_int_t)m->launches[i]->seq));
	append(w, array, object);
}

static void add_config(struct writer *w, json_t *array, const struct suite_config *c)
{
	json_t *object = json_object(), *members;

	put_hash(w, object, "key", c->key);
	put_hash(w, object, "loose", c->loose);
	put_text(w, object, "options", c->options);
	put_number(w, object, "shape_classes", c->class_count);
	put_number(w, object, "seen", c->seen);
	put_number(w, object, "recorded", c->recorded);
	members = array_in(w, object, "images");
	for (size_t i = 0; i < c->member_count && !w->failed; i++)
		add_member(w, members, &c->members[i]);
	append(w, array, object);
}

static void add_family(struct writer *w, json_t *array, const struct suite_family *f)
{
	json_t *object = json_object(), *configs;

	put_hash(w, object, "key", f->key);
	put_text(w, object, "name", f->name);
	put_text(w, object, "origin", origin_name(f->origin));
	put_text(w, object, "origin_how", f->origin_how);
	put_text(w, object, "source", f->source);
	put_number(w, object, "line", f->line);
	add_args(w, object, f);
	put_number(w, object, "shape_classes", f->class_count);
	put_number(w, object, "seen", f->seen);
	put_number(w, object, "recorded", f->recorded);
	put_number(w, object, "sweeps", f->sweeps);
	put_number(w, object, "sweep_configs", f->sweep_configs);
	put_number(w, object, "benchmarks", f->benchmarks);
	configs = array_in(w, object, "configs");
	for (size_t i = 0; i < f->config_count && !w->failed; i++)
		add_config(w, configs, &f->configs[i]);
	append(w, array, object);
}

static void add_missing(struct writer *w, json_t *array, const struct suite_missing *m)
{
	json_t *object = json_object();

	put_text(w, object, "name", m->name);
	put_text(w, object, "origin", origin_name(m->origin));
	put_text(w, object, "reason", m->reason);
	put_number(w, object, "launches", m->launches);
	append(w, array, object);
}

int suite_report_json(FILE *f, const struct capture_set *set)
{
	const struct suite *s = set->suite;
	json_t *root = json_object(), *array;
	struct writer w = {false};

	put_text(&w, root, "schema", SCHEMA);
	put_text(&w, root, "tool_version", KERNELAB_VERSION);
	array = array_in(&w, root, "bundles");
	for (size_t i = 0; i < set->count && !w.failed; i++)
		add_bundle(&w, array, s, i);
	put_number(&w, root, "seen", s->seen);
	put_number(&w, root, "recorded", s->recorded);
	put_number(&w, root, "unlisted", s->unlisted);
	put_number(&w, root, "unused_images", s->unused_images);
	array = array_in(&w, root, "families");
	for (size_t i = 0; i < s->family_count && !w.failed; i++)
		add_family(&w, array, &s->families[i]);
	array = array_in(&w, root, "not_recorded");
	for (size_t i = 0; i < s->missing_count && !w.failed; i++)
		add_missing(&w, array, &s->missing[i]);
	if (!w.failed && (json_dumpf(root, f, JSON_INDENT(2)) < 0 || fputc('\n', f) == EOF))
		w.failed = !ferror(f); /* a stream's error is the caller's to see */
	json_decref(root);
	return w.failed ? -ENOMEM : 0;
}
