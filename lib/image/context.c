// SPDX-License-Identifier: MIT
// The context of a model: the table of questions, answers from facts or from the run, the file.
#include "lib/image/context.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"

static const struct context_question questions[] = {
#define Q(name, question) {#name, "context." #name, question},
	CONTEXT_QUESTIONS(Q)
#undef Q
};

const struct context_question *context_questions(size_t *count)
{
	*count = ARRAY_LENGTH(questions);
	return questions;
}

static char *join_command(const struct strs *command)
{
	size_t size = 1;
	char *text, *end;

	for (size_t i = 0; i < command->count; i++)
		size += strlen(command->items[i]) + 1;
	text = end = malloc(size);
	if (!text)
		return NULL;
	for (size_t i = 0; i < command->count; i++) {
		if (i)
			*end++ = ' ';
		end = stpcpy(end, command->items[i]);
	}
	*end = '\0';
	return text;
}

/* The first word of the command that is a file of source code, else the program itself. */
static const char *entry_file(const struct strs *command)
{
	for (size_t i = 0; i < command->count; i++) {
		const char *dot = strrchr(command->items[i], '.');

		if (dot && (!strcmp(dot, ".py") || !strcmp(dot, ".ipynb")))
			return command->items[i];
	}
	return command->count ? command->items[0] : NULL;
}

const char *context_answer(const struct bundle *b, const struct context_question *q,
			   const char **how, char **owned)
{
	const struct strs *command = b->runs.count ? &b->runs.items[0].command : NULL;

	*owned = NULL;
	for (size_t i = b->facts.count; i-- > 0;) {
		const struct record_fact *f = &b->facts.items[i];

		if (f->name && f->value && !strcmp(f->name, q->fact)) {
			*how = f->how ? f->how : "recorded";
			return f->value;
		}
	}
	if (command && command->count && !strcmp(q->name, "repro")) {
		*how = "command line of the run";
		return *owned = join_command(command);
	}
	if (command && !strcmp(q->name, "entry_point")) {
		*how = "command line of the run";
		return entry_file(command);
	}
	if (!strcmp(q->name, "generated_code")) {
		const char *inductor = bundle_fact(b, "env.TORCHINDUCTOR_CACHE_DIR");
		const char *triton = bundle_fact(b, "env.TRITON_CACHE_DIR");

		*how = "environment of the run";
		if (inductor && triton)
			return *owned = text_format("%s, %s", inductor, triton);
		return inductor ? inductor : triton;
	}
	return NULL;
}

static int take_pair(const char *path, const char *name, const json_t *value,
		     int (*take)(const char *, const char *, void *), void *data, struct error *err)
{
	for (size_t i = 0; i < ARRAY_LENGTH(questions); i++) {
		if (strcmp(questions[i].name, name))
			continue;
		if (!json_is_string(value))
			return error_set(err, EINVAL, ERROR_NO_OFFSET, "%s: '%s' must be a text",
					 path, name);
		if (!*json_string_value(value))
			return 0;
		return take(questions[i].fact, json_string_value(value), data);
	}
	return error_set(err, EINVAL, ERROR_NO_OFFSET,
			 "%s: unknown name '%s' (kernelab context --template lists the names)",
			 path, name);
}

int context_file_read(const char *path,
		      int (*take)(const char *fact, const char *value, void *data), void *data,
		      struct error *err)
{
	json_error_t where;
	json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &where);
	const char *name;
	json_t *value;
	int r = 0;

	if (!root && where.line < 0) /* not even read: the text names the file */
		return error_set(err, EINVAL, ERROR_NO_OFFSET, "%s", where.text);
	if (!root)
		return error_set(err, EINVAL, ERROR_NO_OFFSET, "%s:%d: %s", path, where.line,
				 where.text);
	if (!json_is_object(root))
		r = error_set(err, EINVAL, ERROR_NO_OFFSET, "%s: is no JSON object", path);
	else
		json_object_foreach(root, name, value)
		{
			r = take_pair(path, name, value, take, data, err);
			if (r)
				break;
		}
	json_decref(root);
	return r;
}
