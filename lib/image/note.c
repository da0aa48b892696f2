/* SPDX-License-Identifier: MIT */
/* Reads a note of the Python glue; trusts nothing in it. */
#include "lib/image/note.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "lib/base.h"

#define SCHEMA      "kernelab-glue/1"
#define VALUE_SHOWN 24

static int no_memory(struct error *err)
{
	return error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for a note of the glue");
}

static int bad(struct error *err, const char *what)
{
	return error_set(err, EINVAL, ERROR_NO_OFFSET, "note of the glue: %s", what);
}

static char *text_of(const json_t *j, const char *key)
{
	const char *text = json_string_value(json_object_get(j, key));

	return strdup(text ? text : "");
}

/* A value for people: 64, clamp, fp16; what is made of others as JSON, cut. */
static void show_value(FILE *f, const json_t *v)
{
	const json_t *inner =
		json_is_object(v) ? json_object_iter_value(json_object_iter((json_t *)v)) : v;
	_cleanup_free_ char *text = NULL;

	if (json_is_object(v) && json_object_size(v) == 1 &&
	    (json_is_string(inner) || json_is_integer(inner)))
		v = inner;
	if (json_is_string(v)) {
		const char *string = json_string_value(v);

		fprintf(f, "%.*s%s", VALUE_SHOWN, string, strlen(string) > VALUE_SHOWN ? "…" : "");
		return;
	}
	if (json_is_null(v) || json_is_boolean(v)) {
		fputs(json_is_null(v) ? "None" : json_is_true(v) ? "True" : "False", f);
		return;
	}
	text = json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY);
	if (text)
		fprintf(f, "%.*s%s", VALUE_SHOWN, text, strlen(text) > VALUE_SHOWN ? "…" : "");
}

/* The constexprs as text, as an object, and hashed in the order of the arguments. */
static int read_constexprs(struct note *n, const json_t *list, struct error *err)
{
	struct hash_state *hash = hash_state_new();
	json_t *object = json_object(), *item;
	size_t i, size = 0;
	FILE *f = open_memstream(&n->constexprs, &size);
	int rc = hash && object && f ? 0 : no_memory(err);

	if (!rc)
		hash_state_add_text(hash, "constexprs");
	json_array_foreach(list, i, item)
	{
		const char *name = json_string_value(json_object_get(item, "name"));
		json_t *value = json_object_get(item, "value");
		_cleanup_free_ char *text = NULL;

		if (rc)
			break;
		if (!name || !value) {
			rc = bad(err, "a constexpr without name or value");
			break;
		}
		text = json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
		if (!text || json_object_set(object, name, value) < 0) {
			rc = no_memory(err);
			break;
		}
		hash_state_add_text(hash, name);
		hash_state_add_text(hash, text);
		fprintf(f, "%s%s=", i ? " " : "", name);
		show_value(f, value);
	}
	if (f && fclose(f) && !rc)
		rc = no_memory(err);
	if (!rc && !(n->constexprs_json = json_dumps(object, JSON_COMPACT)))
		rc = no_memory(err);
	if (!rc)
		n->values = hash_state_end(hash);
	hash_state_free(hash);
	json_decref(object);
	return rc;
}

static void show_tensor(FILE *f, const char *name, const json_t *tensor)
{
	const char *dtype = json_string_value(json_object_get(tensor, "dtype"));
	const json_t *shape = json_object_get(tensor, "shape"), *stride;
	const char *dot = dtype ? strrchr(dtype, '.') : NULL;

	stride = json_object_get(tensor, "stride");
	fprintf(f, "%s %s ", name, dot ? dot + 1 : dtype ? dtype : "?");
	for (size_t i = 0; i < json_array_size(shape); i++)
		fprintf(f, "%s%" JSON_INTEGER_FORMAT, i ? "x" : "",
			json_integer_value(json_array_get(shape, i)));
	if (!json_array_size(shape))
		fputs("scalar", f);
	for (size_t i = 0; i < json_array_size(stride); i++)
		fprintf(f, "%s%" JSON_INTEGER_FORMAT, i ? "," : " strides ",
			json_integer_value(json_array_get(stride, i)));
}

static int read_tensors(struct note *n, json_t *tensors, struct error *err)
{
	json_t *empty = NULL, *tensor;
	const char *name;
	size_t size = 0;
	FILE *f;
	bool first = true;

	if (tensors && !json_is_object(tensors))
		return bad(err, "tensors is no object");
	if (!tensors)
		tensors = empty = json_object();
	f = open_memstream(&n->tensors, &size);
	if (f && tensors) {
		json_object_foreach(tensors, name, tensor)
		{
			fputs(first ? "" : ", ", f);
			show_tensor(f, name, tensor);
			first = false;
		}
	}
	n->tensors_json = tensors ? json_dumps(tensors, JSON_COMPACT) : NULL;
	json_decref(empty);
	return f && !fclose(f) && n->tensors_json ? 0 : no_memory(err);
}

/* The kernel's function is the first one noted, unless it is one of the installation's own. */
static int read_function(struct note *n, const json_t *j, struct error *err)
{
	const json_t *function = json_array_get(json_object_get(j, "functions"), 0);
	json_int_t line = json_integer_value(json_object_get(function, "line"));

	n->python_hash = text_of(j, "function_sha256");
	n->file = text_of(function, "file");
	n->line = line > 0 && line <= UINT32_MAX ? (uint32_t)line : 0;
	return n->python_hash && n->file ? 0 : no_memory(err);
}

int note_parse(struct note **out, const struct span *text, struct error *err)
{
	json_error_t at;
	json_t *j = json_loadb(text->data, text->size, 0, &at);
	const char *schema = json_string_value(json_object_get(j, "schema"));
	struct note *n = calloc(1, sizeof(*n));
	int rc = n ? 0 : no_memory(err);

	if (!rc && !j)
		rc = error_set(err, EINVAL, (uint64_t)at.position, "note of the glue: %s", at.text);
	else if (!rc && (!schema || strcmp(schema, SCHEMA) != 0))
		rc = bad(err, "not of schema " SCHEMA);
	if (!rc)
		rc = read_constexprs(n, json_object_get(j, "constexprs"), err);
	if (!rc)
		rc = read_tensors(n, json_object_get(j, "tensors"), err);
	if (!rc)
		rc = read_function(n, j, err);
	if (!rc && !json_is_array(json_object_get(j, "constexprs")))
		n->values = (struct hash128){0}; /* compiled from IR: nothing is known */
	json_decref(j);
	if (rc) {
		note_free(n);
		return rc;
	}
	*out = n;
	return 0;
}

void note_free(struct note *n)
{
	if (!n)
		return;
	free(n->constexprs);
	free(n->constexprs_json);
	free(n->tensors);
	free(n->tensors_json);
	free(n->python_hash);
	free(n->file);
	free(n);
}
