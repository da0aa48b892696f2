/* SPDX-License-Identifier: MIT */
/* Results of a test run as pytest --junit-xml writes them: which tests passed and which did not. */
#ifndef ANALYZE_JUNIT_H
#define ANALYZE_JUNIT_H

#include <stddef.h>

#include "kernelab/error.h"

enum junit_outcome { JUNIT_PASSED, JUNIT_FAILED, JUNIT_SKIPPED, JUNIT_OUTCOMES };

struct junit_test {
	char *name; /* "classname::name" */
	enum junit_outcome outcome;
};

struct junit {
	const char *path;         /* borrowed; NULL: none was given */
	struct junit_test *tests; /* by name */
	size_t count, capacity;
	size_t outcomes[JUNIT_OUTCOMES];
};

/* Reads <testcase> elements; errors count as failures. Anything else is passed over. 0; -errno with
 * err that names the file and the offset: no XML, no testcase in it, larger than 64 MiB. */
int junit_read(struct junit *j, const char *path, struct error *err);
void junit_clear(struct junit *j);

/* The test of that name, or NULL. */
const struct junit_test *junit_find(const struct junit *j, const char *name);

#endif
