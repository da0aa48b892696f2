/* SPDX-License-Identifier: MIT */
/* A result bundle, checked and put in order: configs with their cases, cases with their trials. */
#ifndef ANALYZE_RESULT_H
#define ANALYZE_RESULT_H

#include <stdbool.h>
#include <stddef.h>

#include "kernelab/bundle.h"
#include "kernelab/error.h"

struct result_case {
	const struct record_case *record;
	const struct record_trial **trials; /* by side, kind, index */
	size_t trial_count;
};

struct result_config {
	const struct record_config *record;
	const struct record_family *family;
	struct result_case *cases; /* by number */
	size_t case_count;
};

struct shape_rules; /* analyze/shape_rule.h */

struct result {
	struct bundle *bundle;
	const char *path;
	const struct record_side *sides[SIDE_COUNT];
	bool software;                 /* replayed on kernelab's software device */
	struct shape_rules *shapes;    /* of --shape; borrowed, set by the caller; NULL: none */
	const char *incomplete;        /* why something is missing; NULL where whole */
	struct result_config *configs; /* by family key, config key, images, number */
	size_t config_count;
	struct result_private *priv;
};

/*
 * Opens a result bundle and checks what it refers to: every case has a config, every config a
 * family, every trial a case and as many contents and chunk keys as the case's extents need; no
 * number is there twice; both sides are described. Extents do not wrap. Chunk contents are not
 * read. 0, or -errno with err that names the file and the record (-EINVAL: a bundle of another
 * kind). A result without any family is an error. The result points into its bundle; result_close
 * frees both.
 */
int result_open(struct result **out, const char *path, struct error *err);
void result_close(struct result *r); /* NULL is allowed */

/* Same order as configs, over two results: 0 where they are the same config of the same family. */
int result_config_compare(const struct record_config *x, const struct record_config *y);

#endif
