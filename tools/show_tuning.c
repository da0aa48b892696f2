/* SPDX-License-Identifier: MIT */
/* Reads glue/autotune.<host>.<pid>.jsonl as the preload library put it into the bundle. */
#include "tools/show_tuning.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "kernelab/bundle.h"
#include "lib/base.h"
#include "tools/suite_report.h"

#define PREFIX "autotune."
#define SUFFIX ".jsonl"

/* "ROWS=4 num_warps=1": the names of the constexprs come first, as in the other lists. */
static void print_config(FILE *f, const json_t *config)
{
	static const char *const options[] = {"num_warps", "num_stages", "num_ctas", "maxnreg"};
	const char *name, *space = "";
	json_t *value;

	for (int turn = 0; turn < 2; turn++)
		json_object_foreach((json_t *)config, name, value)
		{
			_cleanup_free_ char *text =
				json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
			_cleanup_free_ char *clean = suite_clean(name);
			bool option = false;

			for (size_t i = 0; i < ARRAY_LENGTH(options); i++)
				option |= !strcmp(name, options[i]);
			if (option != turn || !text || !clean)
				continue;
			fprintf(f, "%s%s=%s", space, clean, text);
			space = " ";
		}
}

static void print_configs(FILE *f, const json_t *event)
{
	const json_t *configs = json_object_get(event, "configs");
	const json_t *left_out = json_object_get(event, "left_out"), *index;
	size_t i;

	fprintf(f, "  autotuner: %zu configs, %zu left out by its pruning\n",
		json_array_size(configs), json_array_size(left_out));
	json_array_foreach(left_out, i, index)
	{
		fputs("    left out: ", f);
		print_config(f, json_array_get(configs, (size_t)json_integer_value(index)));
		fputc('\n', f);
	}
}

static void print_winner(FILE *f, const json_t *event)
{
	const json_t *key = json_object_get(event, "key"), *part;
	size_t i;

	fputs("  autotuner's winner: ", f);
	print_config(f, json_object_get(event, "config"));
	fputs(" for", f);
	json_array_foreach(key, i, part)
	{
		_cleanup_free_ char *text = suite_clean(json_string_value(part));

		fprintf(f, "%s %s", i ? "," : "", text ? text : "?");
	}
	if (json_object_get(event, "measured")) {
		fputs(" (pinned; the fastest was ", f);
		print_config(f, json_object_get(event, "measured"));
		fputc(')', f);
	}
	fputc('\n', f);
}

static bool is_about(const json_t *event, const struct suite_family *k)
{
	const char *kernel = json_string_value(json_object_get(event, "kernel"));
	const char *file = json_string_value(json_object_get(event, "file"));

	return kernel && file && !strcmp(kernel, k->name) && !strcmp(file, k->source);
}

static void print_line(FILE *f, const struct suite_family *k, const char *line, size_t size)
{
	json_t *event = json_loadb(line, size, 0, NULL);
	const char *kind = json_string_value(json_object_get(event, "event"));

	if (!kind)
		fprintf(f, "  autotuner: a note of the glue cannot be read\n");
	else if (is_about(event, k))
		(strcmp(kind, "winner") ? print_configs : print_winner)(f, event);
	json_decref(event);
}

static bool is_notes(const struct record_file *r)
{
	size_t n = r->name ? strlen(r->name) : 0;

	return hash_is_zero(r->image) && n > strlen(PREFIX) + strlen(SUFFIX) &&
	       !strncmp(r->name, PREFIX, strlen(PREFIX)) &&
	       !strcmp(r->name + n - strlen(SUFFIX), SUFFIX);
}

static int show_file(FILE *f, const struct bundle *b, const struct record_file *r,
		     const struct suite_family *k)
{
	_cleanup_free_ char *text = NULL;
	struct error err;
	size_t size = 0;
	int rc = bundle_read_file(b, r, &text, &size, &err);

	if (rc < 0) {
		_cleanup_free_ char *clean = suite_clean(err.message);

		fprintf(f, "  autotuner: cannot be read: %s\n", clean ? clean : "");
		return rc == -ENOMEM ? rc : 0;
	}
	for (const char *line = text, *end = text + size; line < end;) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));

		if (!stop)
			stop = end; /* cut off: told by print_line */
		print_line(f, k, line, (size_t)(stop - line));
		line = stop + 1;
	}
	return 0;
}

int show_tuning(FILE *f, const struct suite *s, const struct suite_family *k)
{
	for (size_t i = 0; i < s->bundle_count; i++) {
		const struct bundle *b = s->bundles[i];

		for (size_t n = 0; n < b->files.count; n++) {
			int rc = is_notes(&b->files.items[n])
					 ? show_file(f, b, &b->files.items[n], k)
					 : 0;

			if (rc < 0)
				return rc;
		}
	}
	return 0;
}
