/* SPDX-License-Identifier: MIT */
/* The steps of kernelab capture around the program: folder, facts, the child, the summary. */
#ifndef TOOLS_CAPTURE_H
#define TOOLS_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "kernelab/error.h"

/* What the command line asks for. Texts belong to argv. */
struct capture_options {
	const char *output, *origin, *origin_name, *context, *commit, *label, *device;
	bool no_data, fresh_cache;
	uint64_t per_class, max_region_bytes; /* CAPTURE_NOT_GIVEN: as the environment says */
};

#define CAPTURE_NOT_GIVEN UINT64_MAX

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
