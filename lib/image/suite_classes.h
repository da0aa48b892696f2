/* SPDX-License-Identifier: MIT */
/* The launches of a suite: per shape class what was seen and recorded, and what was not at all. */
#ifndef LIB_IMAGE_SUITE_CLASSES_H
#define LIB_IMAGE_SUITE_CLASSES_H

#include "lib/image/suite.h"

/*
 * Fills launches, classes and the sums of all members, configs, families and of the suite, whose
 * tree is complete. 0; -ENOMEM; -EINVAL: a launch of a kernel that is not there, with err.
 */
int suite_count(struct suite *s, struct error *err);

/* After suite_count: fills missing and unlisted. 0 or -ENOMEM with err. */
int suite_find_missing(struct suite *s, struct error *err);

#endif
