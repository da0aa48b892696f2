/* SPDX-License-Identifier: MIT */
/* What differs between the runs that A and B come from, beyond the compiler. */
#include "replay/environment.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"

static bool begins(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

static const char *fact_of(const struct source *s, const char *name)
{
	for (size_t i = 0; i < s->count; i++) {
		const char *value = bundle_fact(s->bundles[i], name);

		if (value)
			return value;
	}
	return NULL;
}

/* A run left facts about its driver; a bundle that kernelab made did not. */
static bool is_run(const struct source *s)
{
	return fact_of(s, "driver.cuda") != NULL;
}

static bool concerns(const char *name)
{
	static const char *const prefixes[] = {"driver.", "torch.", "python.", "env."};
	static const char *const places[] = {"CACHE", "PTXAS", "KERNELAB_"};

	for (size_t i = 0; begins(name, "env.") && i < ARRAY_LENGTH(places); i++)
		if (strstr(name, places[i]))
			return false;
	for (size_t i = 0; i < ARRAY_LENGTH(prefixes); i++)
		if (begins(name, prefixes[i]))
			return true;
	return false;
}

/* An earlier device has the name. */
static bool is_named(const struct source *s, size_t bundle, size_t device)
{
	const char *name = s->bundles[bundle]->devices.items[device].name;

	for (size_t i = 0; i <= bundle; i++) {
		const struct bundle *b = s->bundles[i];

		for (size_t j = 0; j < (i == bundle ? device : b->devices.count); j++)
			if (b->devices.items[j].name && !strcmp(b->devices.items[j].name, name))
				return true;
	}
	return false;
}

/* Names of the GPUs, each once; "" without any. malloc'ed. */
static char *gpus_of(const struct source *s)
{
	const char *gap = "";
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	for (size_t i = 0; i < s->count; i++)
		for (size_t j = 0; j < s->bundles[i]->devices.count; j++) {
			const char *name = s->bundles[i]->devices.items[j].name;

			if (!name || is_named(s, i, j))
				continue;
			fprintf(f, "%s%s", gap, name);
			gap = ", ";
		}
	if (fclose(f)) {
		free(text);
		return NULL;
	}
	return text;
}

static int compare_gpus(const struct source *a, const struct source *b, environment_call *call,
			void *data)
{
	_cleanup_free_ char *of_a = gpus_of(a), *of_b = gpus_of(b);

	if (!of_a || !of_b)
		return -ENOMEM;
	return *of_a && *of_b && strcmp(of_a, of_b) ? call(data, "gpu", of_a, of_b) : 0;
}

/* Facts of x that y has otherwise or not at all; with `missing` only the latter. */
static int compare(const struct source *x, const struct source *y, bool missing,
		   environment_call *call, void *data)
{
	const struct bundle *run = x->bundles[0];

	for (size_t i = 0; i < run->facts.count; i++) {
		const struct record_fact *f = &run->facts.items[i];
		const char *other;
		int rc = 0;

		/* the last of a name counts, as bundle_fact has it */
		if (!f->name || !concerns(f->name) || fact_of(x, f->name) != f->value)
			continue;
		other = fact_of(y, f->name);
		if (missing && !other)
			rc = call(data, f->name, NULL, f->value);
		else if (!missing && (!other || strcmp(other, f->value)))
			rc = call(data, f->name, f->value, other);
		if (rc)
			return rc;
	}
	return 0;
}

int environment_compare(const struct source *a, const struct source *b, environment_call *call,
			void *data)
{
	int rc;

	if (a == b || !is_run(a) || !is_run(b))
		return 0;
	rc = compare_gpus(a, b, call, data);
	if (!rc)
		rc = compare(a, b, false, call, data);
	return rc ? rc : compare(b, a, true, call, data);
}
