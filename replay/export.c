/* SPDX-License-Identifier: MIT */
/* A folder with one recorded launch that runs without kernelab: a script, cubins, memory. */
#include "replay/export.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "kernelab/dtype.h"
#include "lib/base.h"
#include "lib/paths.h"
#include "replay/code.h"
#include "replay/export_json.h"
#include "replay/plan.h"
#include "replay/workspace.h"

#define SCRIPT_MAX (1u << 20)

struct export
{
	const char *path;
	const struct plan *plan;
	const struct replay_case *c;
	struct error *err;
};

/* ---- files ---- */

static FILE *open_file(const struct export *x, const char *name)
{
	_cleanup_free_ char *path = text_format("%s/%s", x->path, name);
	FILE *f = path ? fopen(path, "wxe") : NULL;

	if (!f)
		error_set(x->err, path ? errno : ENOMEM, ERROR_NO_OFFSET, "%s/%s: %s", x->path,
			  name, strerror(path ? errno : ENOMEM));
	return f;
}

static int close_file(const struct export *x, const char *name, FILE *f)
{
	bool bad = ferror(f);

	if (fclose(f))
		bad = true;
	if (bad)
		return error_set(x->err, EIO, ERROR_NO_OFFSET, "writing %s/%s failed", x->path,
				 name);
	return 0;
}

static int put_file(const struct export *x, const char *name, const void *data, size_t size)
{
	FILE *f = open_file(x, name);

	if (!f)
		return -EIO;
	fwrite(data, 1, size, f);
	return close_file(x, name, f);
}

static int put_script(const struct export *x)
{
	_cleanup_free_ char *from = NULL, *text = NULL;
	size_t size;
	int rc = part_find(PART_REPRODUCE, &from, x->err);

	if (rc)
		return rc;
	rc = file_read_all(from, SCRIPT_MAX, &text, &size);
	if (rc)
		return error_set(x->err, -rc, ERROR_NO_OFFSET, "%s: %s", from, strerror(-rc));
	return put_file(x, "repro.py", text, size);
}

static int put_image(const struct export *x, const struct bound *b, const char *name)
{
	_cleanup_free_ void *data = NULL;
	size_t size;
	int rc = bundle_read_image(b->bundle, b->image, &data, &size, x->err);

	return rc ? rc : put_file(x, name, data, size);
}

/*
 * "a.driver.sm_90.cubin": what the recorded run's driver made of the image; the script runs it on
 * such a GPU, as replay does. `list`: names by sm.
 */
static int put_driver_code(const struct export *x, const struct bound *b, const char *prefix,
			   json_t *list)
{
	for (size_t i = 0; i < b->bundle->files.count; i++) {
		const struct record_file *f = &b->bundle->files.items[i];
		_cleanup_free_ char *data = NULL, *name = NULL, *key = NULL;
		unsigned sm;
		size_t size;
		int rc;

		if (!hash_equal(f->image, b->image->id) || !file_is_driver_cubin(f, &sm) ||
		    code_of_driver(b->bundle, b->image->id, sm) != f)
			continue;
		name = text_format("%s.%s", prefix, f->name);
		key = text_format("%u", sm);
		if (!name || !key || json_object_set_new(list, key, json_string(name)))
			return error_set(x->err, ENOMEM, ERROR_NO_OFFSET, "no memory");
		rc = bundle_read_file(b->bundle, f, &data, &size, x->err);
		if (!rc)
			rc = put_file(x, name, data, size);
		if (rc)
			return rc;
	}
	return 0;
}

/* ---- repro.json ---- */

/* A launch attribute that asks for a cooperative grid is one like the others here. */
static json_t *attributes(const struct bound *b)
{
	static const uint8_t yes[4] = {1};
	enum { COOPERATIVE = 2 }; /* CU_LAUNCH_ATTRIBUTE_COOPERATIVE */
	json_t *list = json_array();
	bool there = false;

	for (size_t i = 0; i < b->attribute_count; i++) {
		there |= b->attributes[i].id == COOPERATIVE;
		json_array_append_new(list, json_pack("[I,o]", (json_int_t)b->attributes[i].id,
						      export_hex(b->attributes[i].value,
								 sizeof(b->attributes[i].value))));
	}
	if (b->cooperative && !there)
		json_array_append_new(list, json_pack("[i,o]", COOPERATIVE,
						      export_hex(yes, sizeof(yes))));
	return list;
}

static json_t *side(const struct bound *b, const char *cubin, json_t *driver_code, const char *what)
{
	json_t *variables = json_array();

	for (size_t i = 0; i < b->variable_word_count; i++)
		json_array_append_new(variables,
				      json_pack("[I,I,I]", (json_int_t)b->variable_words[i].offset,
						(json_int_t)b->variable_words[i].variable,
						(json_int_t)b->variable_words[i].into));
	return json_pack("{s:s,s:O,s:s,s:o,s:o,s:I,s:o,s:o,s:o,s:o,s:o}", "cubin", cubin,
			 "driver_code", driver_code, "what", what, "grid", export_three(b->grid),
			 "block", export_three(b->block), "shared", (json_int_t)b->shared_bytes,
			 "attributes", attributes(b), "params",
			 export_hex(b->params, b->params_bytes), "layout", export_layout(b),
			 "scratch", export_scratch(b), "variables", variables);
}

static json_t *arguments(const struct export *x)
{
	const struct suite_family *f = x->plan->pairs.items[x->c->pair].family;
	json_t *list = json_array();

	for (size_t i = 0; i < x->c->pointer_count; i++) {
		const struct pointer *p = &x->c->pointers[i];
		const char *name =
			p->arg && p->arg <= f->arg_count ? f->args[p->arg - 1].name : NULL;
		enum dtype t = p->dtype < DTYPE_COUNT ? (enum dtype)p->dtype : DTYPE_UNKNOWN;
		uint32_t bytes = dtype_bytes(t);

		json_array_append_new(
			list, json_pack("{s:I,s:I,s:s,s:s,s:I}", "address", (json_int_t)p->address,
					"end", (json_int_t)p->limit, "name", name ?: "?", "dtype",
					dtype_name(t), "bytes", (json_int_t)(bytes ? bytes : 1)));
	}
	return list;
}

/* One region's recorded chunks go to `memory`; those without contents nobody may need. */
static int put_region(const struct export *x, const struct record_region *r, FILE *memory,
		      uint64_t *at, json_t *list)
{
	_cleanup_free_ char *data = malloc(CHUNK_BYTES);
	json_t *chunks = json_array();
	int rc = data ? 0 : error_set(x->err, ENOMEM, ERROR_NO_OFFSET, "no memory");

	for (size_t i = 0; !rc && i < r->chunks.count; i++) {
		uint64_t address;
		uint32_t size;

		if (hash_is_zero(r->chunks.items[i]))
			continue;
		chunk_range(r->base, r->size, i, &address, &size);
		rc = bundle_read_chunk(x->c->bundle, r->chunks.items[i], data, size, x->err);
		if (rc)
			break;
		fwrite(data, 1, size, memory);
		json_array_append_new(chunks, json_pack("[I,I,I]", (json_int_t)(address - r->base),
							(json_int_t)size, (json_int_t)*at));
		*at += size;
	}
	json_array_append_new(list,
			      json_pack("{s:I,s:I,s:I,s:s,s:o}", "address", (json_int_t)r->base,
					"size", (json_int_t)r->size, "kind", (json_int_t)r->memory,
					"name", r->name ?: "", "chunks", chunks));
	return rc;
}

static int put_memory(const struct export *x, json_t *list)
{
	FILE *memory = open_file(x, "memory.bin");
	uint64_t at = 0;
	int rc = memory ? 0 : -EIO, closed;

	for (size_t i = 0; !rc && i < x->c->launch->regions.count; i++)
		rc = put_region(x, &x->c->launch->regions.items[i], memory, &at, list);
	if (!memory)
		return rc;
	closed = close_file(x, "memory.bin", memory);
	return rc ? rc : closed;
}

static int put_json(const struct export *x, const struct replay_options *o, json_t *memory,
		    json_t *const *code)
{
	json_t *root = json_pack("{s:s,s:I,s:s}", "kernel", x->c->base.entry, "launch",
				 (json_int_t)x->c->launch->seq, "bundle", x->c->bundle->path);
	bool whole;
	FILE *f;

	json_object_set_new(root, "A", side(&x->c->a, "a.cubin", code[SIDE_A], o->a ?: "recorded"));
	json_object_set_new(root, "B",
			    o->b ? side(&x->c->b, "b.cubin", code[SIDE_B], o->b) : json_null());
	json_object_set_new(root, "arguments", arguments(x));
	json_object_set(root, "memory", memory);
	whole = json_object_size(root) == 7;
	for (const char **k = (const char *[]){"A", "B", "arguments", "memory", NULL}; *k; k++)
		whole &= json_object_get(root, *k) != NULL;
	f = whole ? open_file(x, "repro.json") : NULL;
	if (f)
		whole = !json_dumpf(root, f, JSON_INDENT(1));
	json_decref(root);
	if (f && close_file(x, "repro.json", f))
		return -EIO;
	if (f && whole)
		return 0;
	return f || !whole ? error_set(x->err, ENOMEM, ERROR_NO_OFFSET, "no memory for repro.json")
			   : -EIO;
}

/* ---- the launch ---- */

/* The one recorded launch of that number. */
static int choose(struct export *x, const struct replay_options *o)
{
	for (size_t i = 0; i < x->plan->count; i++) {
		if (x->plan->cases[i].derived)
			continue;
		if (x->c)
			return error_set(x->err, EINVAL, ERROR_NO_OFFSET,
					 "launch %" PRIu64
					 " is in several bundles: give one of them",
					 o->launch);
		x->c = &x->plan->cases[i];
	}
	if (!x->c)
		return error_set(x->err, ENOENT, ERROR_NO_OFFSET,
				 "launch %" PRIu64 " has no kernel on both sides", o->launch);
	if (x->c->reason)
		return error_set(x->err, ENOTSUP, ERROR_NO_OFFSET, "launch %" PRIu64 ": %s",
				 o->launch, x->c->reason);
	if (x->c->a.descriptor_count || (o->b && x->c->b.descriptor_count))
		return error_set(x->err, ENOTSUP, ERROR_NO_OFFSET,
				 "launch %" PRIu64 ": a TMA descriptor has to be encoded anew for "
				 "one side, which a script alone cannot",
				 o->launch);
	return 0;
}

static int write_all(struct export *x, const struct replay_options *o)
{
	json_t *memory = json_array(), *code[SIDE_COUNT] = {json_object(), json_object()};
	int rc = put_script(x);

	if (!rc)
		rc = put_image(x, &x->c->a, "a.cubin");
	if (!rc && o->b)
		rc = put_image(x, &x->c->b, "b.cubin");
	if (!rc)
		rc = put_driver_code(x, &x->c->a, "a", code[SIDE_A]);
	if (!rc && o->b)
		rc = put_driver_code(x, &x->c->b, "b", code[SIDE_B]);
	if (!rc)
		rc = put_memory(x, memory);
	if (!rc)
		rc = put_json(x, o, memory, code);
	json_decref(memory);
	json_decref(code[SIDE_A]);
	json_decref(code[SIDE_B]);
	return rc;
}

int export_launch(const struct replay_options *options, const char *path, struct error *err)
{
	struct replay_options o = *options;
	struct export x = {.path = path, .err = err};
	struct plan *plan = NULL;
	char *folder;
	int rc;

	if (!o.b)
		o.b = "recorded";
	o.shard = "whole";
	rc = plan_make(&plan, &o, NULL, err);
	if (rc)
		return rc;
	x.plan = plan;
	rc = choose(&x, options);
	if (!rc && mkdir(path, 0700)) /* it holds the model's data */
		rc = error_set(err, errno, ERROR_NO_OFFSET, "%s: %s", path, strerror(errno));
	if (rc) {
		plan_free(plan);
		return rc;
	}
	rc = write_all(&x, options);
	folder = rc ? strdup(path) : NULL;
	if (folder)
		workspace_remove(folder);
	plan_free(plan);
	return rc;
}
