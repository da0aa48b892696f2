/* SPDX-License-Identifier: MIT */
/* kernelab ls: the kernel suite of captures as a reviewable table. */
#include <stdio.h>

#include "lib/log.h"
#include "tools/suite_report.h"
#include "tools/verbs.h"

int verb_ls(const struct verb *verb, int argc, char **argv)
{
	bool json = false, csv = false, markdown = false;
	const struct option_row rows[] = {
		{OPTION_FLAG, "json", 0, NULL, "print it as JSON (docs/suite.schema.json)", &json},
		{OPTION_FLAG, "csv", 0, NULL, "print one line a config as CSV", &csv},
		{OPTION_FLAG, "markdown", 0, NULL, "print it as Markdown tables", &markdown},
		{.kind = OPTION_END},
	};
	struct capture_set set;
	int count, status, r;
	char **operands;

	if (options_parse(verb, rows, argc, argv, false, &operands, &count, &status) ==
	    OPTIONS_EXIT)
		return status;
	if (json + csv + markdown > 1) {
		log_error("ls: --json, --csv and --markdown exclude each other");
		return verb->usage_status;
	}
	status = capture_set_open(&set, "ls", operands, count);
	if (!status) {
		r = (json       ? suite_report_json
		     : csv      ? suite_report_csv
		     : markdown ? suite_report_markdown
				: suite_report_text)(stdout, &set);
		if (r < 0 || fflush(stdout) || ferror(stdout)) {
			log_error("ls: %s", r < 0 ? "no memory" : "cannot write standard output");
			status = 2;
		}
	}
	capture_set_close(&set);
	return status;
}
