/* SPDX-License-Identifier: MIT */
/* kernelab export: a recorded launch as a folder that runs without kernelab, or cases as tests. */
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#include "lib/log.h"
#include "replay/export.h"
#include "replay/export_pytest.h"
#include "tools/options.h"
#include "tools/verbs.h"

static int write_tests(const struct replay_options *o, const char *tests, const char *output)
{
	const struct pytest_request request = {.bundles = o->bundles,
					       .bundle_count = o->bundle_count,
					       .tests = tests,
					       .family = o->family,
					       .path = output};
	struct pytest_summary s;
	struct error err;

	if (export_pytest(&request, &s, &err)) {
		log_error("export: %s", err.message);
		return 2;
	}
	fprintf(stderr, "kernelab: %zu cases of %zu kernels in %s, references to be written in it",
		s.cases, s.kernels, output);
	if (tests)
		fprintf(stderr, "; %zu are launched by existing tests", s.covered);
	if (s.left)
		fprintf(stderr, "; %zu cannot be made (%s)", s.left, s.why);
	fputc('\n', stderr);
	return 0;
}

int verb_export(const struct verb *verb, int argc, char **argv)
{
	struct replay_options o;
	const char *output = NULL, *tests = NULL;
	bool pytest = false;
	struct error err;
	char **operands;
	int count, status;

	replay_options_init(&o);
	const struct option_row rows[] = {
		{OPTION_COUNT, "launch", 0, "SEQ", "the launch of that number", &o.launch},
		{OPTION_FLAG, "pytest", 0, NULL,
		 "write a file of tests instead: a case a config and shape class", &pytest},
		{OPTION_TEXT, "tests", 0, "BUNDLE",
		 "with --pytest: leave out what these existing tests launch", &tests},
		{OPTION_TEXT, "output", 'o', "PATH",
		 "folder, or file FILE.py of tests, to write; must not exist", &output},
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
	if (!count || !output || !o.launch == !pytest || (tests && !pytest) ||
	    (pytest && (o.a || o.b))) {
		log_error("export: %s; see kernelab export --help",
			  !count                 ? "no BUNDLE given"
			  : !output              ? "nothing to write given (-o)"
			  : !o.launch == !pytest ? "either --launch or --pytest is wanted"
			  : !pytest              ? "--tests goes with --pytest"
						 : "--a and --b go with --launch");
		return verb->usage_status;
	}
	o.bundles = (const char *const *)operands;
	o.bundle_count = (size_t)count;
	o.argc = argc;
	o.argv = argv;
	if (pytest)
		return write_tests(&o, tests, output);
	if (export_launch(&o, output, &err)) {
		log_error("export: %s", err.message);
		return 2;
	}
	fprintf(stderr,
		"kernelab: launch %" PRIu64
		" in %s; run it (CUDA driver needed): python3 %s/repro.py\n",
		o.launch, output, output);
	return 0;
}
