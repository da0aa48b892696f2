/* SPDX-License-Identifier: MIT */
/* Reads the JSON file of kernelab capture --config. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "lib/log.h"
#include "tools/capture.h"

static const struct option_row *find(const struct option_row *rows, const char *name)
{
	for (; rows->kind != OPTION_END; rows++)
		if (!strcmp(rows->name, name))
			return rows;
	return NULL;
}

/* The value as one would type it, malloc'ed; NULL for a list, an object, null or no memory. */
static char *as_text(const json_t *value)
{
	if (json_is_string(value))
		return strdup(json_string_value(value));
	if (json_is_integer(value))
		return text_format("%" JSON_INTEGER_FORMAT, json_integer_value(value));
	return NULL;
}

static int keep(struct capture_options *o, char *text)
{
	if (array_reserve(&o->owned, o->owned_count, &o->owned_capacity, sizeof(*o->owned)) < 0) {
		free(text);
		return -ENOMEM;
	}
	o->owned[o->owned_count++] = text;
	return 0;
}

static int take(struct capture_options *o, const struct verb *verb, const struct option_row *row,
		const json_t *value, const char *path)
{
	const char **target = row->target;
	char *text;

	if (row->kind == OPTION_FLAG && json_is_boolean(value)) {
		if (json_is_true(value))
			*(bool *)row->target = true;
		return 0;
	}
	text = row->kind == OPTION_TEXT ? as_text(value) : NULL;
	if (!text) {
		log_error("capture: %s: \"%s\" needs %s", path, row->name,
			  row->kind == OPTION_FLAG ? "true or false" : "a text or a whole number");
		return -EINVAL;
	}
	if (keep(o, text) < 0) {
		log_error("capture: no memory");
		return -ENOMEM;
	}
	return *target ? 0 : options_store(verb, row, text);
}

int capture_config_read(struct capture_options *o, const struct verb *verb,
			const struct option_row *rows, const char *path)
{
	json_error_t error;
	json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &error), *value;
	const char *key;
	int r = 0;

	if (!root) {
		log_error("capture: --config %s: line %d: %s", path, error.line, error.text);
		return -EINVAL;
	}
	if (!json_is_object(root)) {
		log_error("capture: --config %s: not a JSON object", path);
		r = -EINVAL;
	}
	json_object_foreach(root, key, value)
	{
		const struct option_row *row = find(rows, key);

		if (r < 0)
			break;
		if (!row || !strcmp(key, "config")) {
			log_error("capture: --config %s: \"%s\" is no option of capture", path,
				  key);
			r = -EINVAL;
		} else {
			r = take(o, verb, row, value, path);
		}
	}
	json_decref(root);
	return r;
}
