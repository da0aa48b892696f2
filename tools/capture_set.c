/* SPDX-License-Identifier: MIT */
/* Opens captures and builds their suite. */
#include "tools/capture_set.h"

#include <stdlib.h>

#include "lib/base.h"
#include "lib/bundle/files.h"
#include "lib/log.h"

static int open_all(struct capture_set *set, const char *verb, const struct bundle_paths *paths)
{
	struct error err;

	set->bundles = calloc(paths->count + 1, sizeof(*set->bundles));
	if (!set->bundles) {
		log_error("%s: no memory", verb);
		return 2;
	}
	for (size_t i = 0; i < paths->count; i++) {
		if (bundle_open(&set->bundles[set->count], paths->items[i], &err) < 0) {
			log_error("%s: %s", verb, err.message);
			return 2;
		}
		if (set->bundles[set->count++]->kind != BUNDLE_CAPTURE) {
			log_error("%s: %s is the result of a replay, no capture; see kernelab "
				  "analyze",
				  verb, paths->items[i]);
			return 2;
		}
	}
	return 0;
}

int capture_set_open(struct capture_set *set, const char *verb, char **operands, int count)
{
	struct bundle_paths paths = {0};
	struct error err;
	int status;

	*set = (struct capture_set){0};
	if (!count) {
		log_error("%s: no bundle given", verb);
		return 2;
	}
	if (bundle_paths_expand(&paths, operands, (size_t)count, &err) < 0) {
		log_error("%s: %s", verb, err.message);
		return 2;
	}
	status = open_all(set, verb, &paths);
	bundle_paths_free(&paths);
	if (!status && suite_build(&set->suite, set->bundles, set->count, &err) < 0) {
		log_error("%s: %s", verb, err.message);
		return 2;
	}
	return status;
}

void capture_set_close(struct capture_set *set)
{
	suite_free(set->suite);
	for (size_t i = 0; i < set->count; i++)
		bundle_close(set->bundles[i]);
	free(set->bundles);
	*set = (struct capture_set){0};
}
