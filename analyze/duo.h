/* SPDX-License-Identifier: MIT */
/* The pairs of trials of one output that are compared. */
#ifndef ANALYZE_DUO_H
#define ANALYZE_DUO_H

#include "analyze/job.h"

/*
 * Fills j->duos: repeats of B against A's first; the others by index, those that are poisoned (if
 * `poison`) or launched in a row where they differ from the repeats. There is room for duos_most.
 */
void duos_list(struct job *j, bool poison);
size_t duos_most(const struct trials *t);

/* Appends a pair. */
void duo_add(struct job *j, const struct record_trial *a, const struct record_trial *b,
	     enum purpose purpose);

/* "recorded inputs", "perturbed inputs"; of a scaled pair the text is kept in `text`. */
const char *duo_inputs(const struct duo *d, char *text, size_t size);

#endif
