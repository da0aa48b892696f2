/* SPDX-License-Identifier: MIT */
/* The cases that a model launches and existing tests do not, as a file of tests. */
#ifndef REPLAY_EXPORT_PYTEST_H
#define REPLAY_EXPORT_PYTEST_H

#include <stddef.h>

#include "kernelab/error.h"

struct pytest_request {
	const char *const *bundles; /* of the model's run */
	size_t bundle_count;
	const char
		*tests; /* recording of existing tests: what they launch is left out; NULL: none */
	const char *family; /* extended regular expression on entry names; NULL: all */
	const char *path;   /* FILE.py, new; the cubins go to the new folder FILE_cubins */
};

struct pytest_summary {
	size_t cases, kernels;
	size_t covered; /* classes that existing tests launch */
	size_t left;    /* classes that no case can be made of */
	char why[200];  /* of the last of these */
};

/* One case a family, config and shape class of which a launch was recorded. 0, or -errno with err:
 * -EEXIST, -ENOENT where there is no case at all. */
int export_pytest(const struct pytest_request *request, struct pytest_summary *summary,
		  struct error *err);

#endif
