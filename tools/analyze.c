/* SPDX-License-Identifier: MIT */
/* kernelab analyze: results of a replay into buckets and reports. */
#include "tools/verbs.h"

#include "lib/bundle/files.h"
#include "lib/log.h"
#include "tools/verdict.h"

int verb_analyze(const struct verb *verb, int argc, char **argv)
{
	__attribute__((cleanup(verdict_abandon))) struct verdict_options v =
		VERDICT_OPTIONS_DEFAULT;
	const struct option_row rows[] = {VERDICT_OPTION_ROWS(v), {.kind = OPTION_END}};
	struct bundle_paths paths;
	struct error err;
	char **operands;
	int count, status;

	if (options_parse(verb, rows, argc, argv, false, &operands, &count, &status) ==
	    OPTIONS_EXIT)
		return status;
	if (!count) {
		log_error("%s: no result given", verb->name);
		return verb->usage_status;
	}
	if (bundle_paths_expand(&paths, operands, (size_t)count, &err)) {
		log_error("%s: %s", verb->name, err.message);
		return 2;
	}
	status = verdict_prepare(verb, &v);
	if (!status)
		status = verdict_report(verb, &v, paths.items, paths.count);
	bundle_paths_free(&paths);
	return status;
}
