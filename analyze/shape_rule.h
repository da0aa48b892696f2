/* SPDX-License-Identifier: MIT */
/* Shapes of outputs given by hand: KERNEL.ARG=MxN in place of what the launch lets one infer. */
#ifndef ANALYZE_SHAPE_RULE_H
#define ANALYZE_SHAPE_RULE_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/decide.h"
#include "analyze/shape.h"
#include "kernelab/error.h"

struct shape_rule {
	const char *text; /* as given; borrowed */
	uint64_t rows;    /* 0: as many as the launch has (*xN) */
	uint64_t columns;
	size_t seen, fits; /* outputs of that name, and those with as many elements */
};

struct shape_rules {
	struct shape_rule *items;
	size_t count;
};

/* Parses count texts. 0, or -EINVAL with err that names the text; -ENOMEM. */
int shape_rules_parse(struct shape_rules *r, const char *const *texts, size_t count,
		      struct error *err);
void shape_rules_free(struct shape_rules *r);

/*
 * The shape of one output of a launch: of the last rule of r->shapes that is about it and fits,
 * else inferred. A rule fits where its last row holds the last element. dtype UNKNOWN counts bytes.
 */
void output_shape(const struct result *r, const struct record_family *f,
		  const struct record_case *c, const char *options, const struct record_extent *e,
		  enum dtype t, struct shape *s);

/* Adds the outputs of a case to the counts of r->shapes. */
void shape_rules_count(const struct record_family *f, const struct case_verdict *v);

/* Every rule is about some output and fits at least one. 0, or -EINVAL with err. */
int shape_rules_check(const struct shape_rules *r, struct error *err);

#endif
