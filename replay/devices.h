/* SPDX-License-Identifier: MIT */
/* Which of a driver's devices a replay uses. */
#ifndef REPLAY_DEVICES_H
#define REPLAY_DEVICES_H

#include <stddef.h>

#include "kernelab/error.h"

#define DEVICES_MOST 64

struct devices {
	int items[DEVICES_MOST];
	size_t count;
};

/*
 * NULL: the first; "all"; "N": the first N; a list with commas or ranges, "0,2" or "1-3". `there`
 * is how many the driver has. -EINVAL with err: not of that form, a device twice, or one that is
 * not there.
 */
int devices_parse(struct devices *out, const char *text, size_t there, struct error *err);

#endif
