/* SPDX-License-Identifier: MIT */
/* The captures that a command line names, opened, with their kernel suite: what ls and show print.
 */
#ifndef TOOLS_CAPTURE_SET_H
#define TOOLS_CAPTURE_SET_H

#include "kernelab/bundle.h"
#include "lib/image/suite.h"

struct capture_set {
	struct bundle **bundles; /* in the order of the operands */
	size_t count;
	struct suite *suite;
};

/*
 * Opens operands (files, or folders of .klab files). 0; 2 after one line on stderr that names verb
 * and bundle: none given, not there, damaged, or the result of a replay. capture_set_close frees,
 * also after a failure.
 */
int capture_set_open(struct capture_set *set, const char *verb, char **operands, int count);
void capture_set_close(struct capture_set *set);

#endif
