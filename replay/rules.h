/* SPDX-License-Identifier: MIT */
/* A person's word on which config of B belongs to which recorded one: --pair FILE. */
#ifndef REPLAY_RULES_H
#define REPLAY_RULES_H

#include <stddef.h>

#include "kernelab/error.h"
#include "kernelab/hash.h"
#include "lib/image/suite.h"

struct pair_rule {
	const struct suite_config *recorded;
	const struct suite_config *b; /* NULL: it has no partner */
	size_t line;
};

struct pair_rules {
	char *path;
	struct pair_rule *items;
	size_t count, capacity;
};

/*
 * Reads a file of lines "FAMILY<TAB>CONFIG<TAB>CONFIG OF B": entry name, then config keys as
 * --pairs prints them, or their first digits (8 at least, and enough to tell which); "-" for B: no
 * partner. What stands behind a further tab is ignored, as are empty lines and lines with #. Every
 * config must be in `base` or `b` under that entry name, and ruled on once. 0; -EINVAL with err
 * naming file and line; -errno.
 */
int pair_rules_read(struct pair_rules *out, const char *path, const struct suite *base,
		    const struct suite *b, struct error *err);
void pair_rules_free(struct pair_rules *r);

/* The rule on a recorded config, or NULL. r may be NULL. */
const struct pair_rule *pair_rule_of(const struct pair_rules *r,
				     const struct suite_config *recorded);

#endif
