/* SPDX-License-Identifier: MIT */
/* The steps of kernelab capture around the program: folder, facts, the child, the summary. */
#ifndef TOOLS_CAPTURE_H
#define TOOLS_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "kernelab/error.h"
#include "lib/environment.h"
#include "tools/options.h"

/*
 * What the command line, the file of --config and the environment ask for, in that order of rank.
 * Texts by the variable that hands them on, NULL where not given; they belong to argv, the
 * environment, or `owned`.
 */
struct capture_options {
	const char *text[ENVIRONMENT_COUNT];
	bool no_data, fresh_cache, more_configs, no_glue, cupti;
	char **owned;
	size_t owned_count, owned_capacity;
};

/*
 * Parses the command line and --config. OPTIONS_EXIT with *status where it was wrong (one line on
 * stderr) or --help. The caller ends with capture_options_free either way.
 */
enum options_outcome capture_options_parse(struct capture_options *o, const struct verb *verb,
					   int argc, char **argv, char ***command, int *count,
					   int *status);
void capture_options_free(struct capture_options *o);

/* Gives to the options that are not set yet the values of a JSON file. 0, or -EINVAL after one line
 * on stderr. */
int capture_config_read(struct capture_options *o, const struct verb *verb,
			const struct option_row *rows, const char *path);

#define CAPTURE_FAILED         125
#define CAPTURE_NOT_EXECUTABLE 126
#define CAPTURE_NOT_FOUND      127

/*
 * Writes what the shim cannot find out into a file of lines name<TAB>value<TAB>how: the answers of
 * the context file, commit and label, and the version of TRITON_PTXAS_PATH (it is run with
 * --version). 0 or -errno with err.
 */
int capture_facts_write(const char *path, const struct capture_options *o, struct error *err);

/*
 * Runs argv to its end and passes SIGINT, SIGTERM, SIGHUP and SIGQUIT that are sent to this process
 * on to it (those of the terminal reach it anyway). Returns its exit status, 128 + n if signal n
 * ended it, CAPTURE_NOT_FOUND, CAPTURE_NOT_EXECUTABLE or CAPTURE_FAILED with err.
 */
int capture_child_run(char **argv, struct error *err);

/* One line on stderr: what the bundles in `folder` hold and what is missing. */
void capture_summary_print(const char *folder, const char *program);

#endif
