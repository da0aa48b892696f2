/* SPDX-License-Identifier: MIT */
/* kernelab export: a recorded launch as a folder that runs without kernelab. */
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#include "lib/log.h"
#include "replay/export.h"
#include "tools/options.h"
#include "tools/verbs.h"

int verb_export(const struct verb *verb, int argc, char **argv)
{
	struct replay_options o;
	const char *output = NULL;
	struct error err;
	char **operands;
	int count, status;

	replay_options_init(&o);
	const struct option_row rows[] = {
		{OPTION_COUNT, "launch", 0, "SEQ", "the launch of that number", &o.launch},
		{OPTION_TEXT, "output", 'o', "DIR", "folder to write; must not exist", &output},
		{OPTION_TEXT, "b", 'b', "SOURCE",
		 "kernels of side B, as of kernelab replay; without it A alone is run", &o.b},
		{OPTION_TEXT, "a", 'a', "SOURCE", "kernels of side A; default recorded", &o.a},
		{OPTION_TEXT, "family", 0, "REGEX", "only families whose entry name matches",
		 &o.family},
		{.kind = OPTION_END},
	};
	if (options_parse(verb, rows, argc, argv, false, &operands, &count, &status) ==
	    OPTIONS_EXIT)
		return status;
	if (!count || !output || !o.launch) {
		log_error("export: %s; see kernelab export --help",
			  !count    ? "no BUNDLE given"
			  : !output ? "no folder to write given (-o)"
				    : "no launch given (--launch)");
		return verb->usage_status;
	}
	o.bundles = (const char *const *)operands;
	o.bundle_count = (size_t)count;
	o.argc = argc;
	o.argv = argv;
	if (export_launch(&o, output, &err)) {
		log_error("export: %s", err.message);
		return 2;
	}
	fprintf(stderr, "kernelab: launch %" PRIu64 " in %s; run: python3 %s/repro.py\n", o.launch,
		output, output);
	return 0;
}
