/* SPDX-License-Identifier: MIT */
/* The table of environment variables as look-ups. */
#include "lib/environment.h"

#include <stdlib.h>
#include <strings.h>

#include "lib/base.h"

static const struct {
	const char *name, *text;
} table[] = {
#define V(id, name, text) [ENVIRONMENT_##id] = {name, text},
	ENVIRONMENT(V)
#undef V
};

const char *environment_name(enum environment_id id)
{
	return table[id].name;
}

const char *environment_text(enum environment_id id)
{
	return table[id].text;
}

const char *environment_get(enum environment_id id)
{
	const char *value = getenv(table[id].name);

	return value && *value ? value : NULL;
}

int environment_flag(enum environment_id id)
{
	static const char *const yes[] = {"1", "true", "yes", "on"};
	const char *value = environment_get(id);

	for (size_t i = 0; value && i < ARRAY_LENGTH(yes); i++)
		if (!strcasecmp(value, yes[i]))
			return 1;
	return 0;
}
