/* SPDX-License-Identifier: MIT */
/* A reviewed suite (ls --json) against a verdict: every kernel that it lists must have a result. */
#include "tools/listed.h"

#include <jansson.h>
#include <string.h>

#include "analyze/document.h"
#include "kernelab/hash.h"
#include "lib/log.h"

#define SUITE_VERSION "kernelab-suite/1"
#define MAX_TOLD      10u /* missing kernels that are named */

static int load(const struct verb *verb, const char *path, json_t **suite)
{
	struct error err;

	if (document_load(suite, path, "schema", SUITE_VERSION, &err)) {
		log_error("%s: --suite: %s", verb->name, err.message);
		return 2;
	}
	if (json_is_array(json_object_get(*suite, "families")))
		return 0;
	log_error("%s: --suite %s: no list of families in it", verb->name, path);
	json_decref(*suite);
	return 2;
}

int listed_check(const struct verb *verb, const char *path)
{
	json_t *suite = NULL;
	int status = load(verb, path, &suite);

	if (!status)
		json_decref(suite);
	return status;
}

static const char *text_of(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "";
}

/* Why the config has no result; NULL if it has one. */
static const char *why_missing(const struct analysis *a, const char *name, const char *key)
{
	const char *why = "it stands in no result";
	char hex[HASH_TEXT_BYTES];

	for (size_t i = 0; i < a->family_count; i++) {
		const struct family_verdict *f = &a->families[i];

		if (!f->record->name || strcmp(f->record->name, name) != 0)
			continue;
		for (size_t j = 0; j < f->config_count; j++) {
			const struct config_verdict *c = &f->configs[j];

			if (strcmp(hash_text(c->record->key, hex), key) != 0)
				continue;
			if (c->record->tested)
				return NULL;
			why = c->outcome.evidence[0] ? c->outcome.evidence : "not tested";
		}
	}
	return why;
}

int listed_report(const struct verb *verb, const char *path, const struct analysis *a)
{
	json_t *suite = NULL;
	const json_t *family, *config;
	size_t i, j, listed = 0, missing = 0;
	int status = load(verb, path, &suite);

	if (status)
		return status;
	json_array_foreach(json_object_get(suite, "families"), i, family)
		json_array_foreach(json_object_get(family, "configs"), j, config)
	{
		const char *name = text_of(family, "name");
		const char *why = why_missing(a, name, text_of(config, "key"));

		listed++;
		if (why && missing++ < MAX_TOLD)
			log_error("%s: --suite: no result of %s (%s): %s", verb->name, name,
				  text_of(config, "options"), why);
	}
	if (missing)
		log_error("%s: --suite %s: %zu of %zu listed configs have no result", verb->name,
			  path, missing, listed);
	if (!listed)
		log_error("%s: --suite %s lists no kernel", verb->name, path);
	json_decref(suite);
	return missing || !listed ? 2 : 0;
}
