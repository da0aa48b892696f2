/* SPDX-License-Identifier: MIT */
/* Phrases that several reports share. */
#ifndef ANALYZE_PHRASE_H
#define ANALYZE_PHRASE_H

#include <stdio.h>

#include "analyze/analyze.h"

#define PHRASE_BYTES 512

/* Each writes a cut, NUL-terminated text into out (PHRASE_BYTES) and returns out. */

/*
 * The family's name; of families that share one, with the type of the first output where that
 * tells them apart, else the start of the key: "matmul_k bf16", "matmul_k #3fa2".
 */
char *phrase_family(char *out, const struct analysis *a, const struct family_verdict *f);
/* "num_warps=4 64x32"; "?" where the config has no options. */
char *phrase_config(char *out, const struct config_verdict *c);
/* "w4 s3 64x32": num_warps, num_stages, num_ctas (c), maxnreg (r) shortened. */
char *phrase_config_short(char *out, const struct config_verdict *c);
char *phrase_options_short(char *out, const char *options); /* the same of CONFIG.options */
/* Figures of a family in a few words: "|d| 1.2e-07, 3 ulp, 1.2 %", or what rule 0 found. */
char *phrase_figures(char *out, const struct family_verdict *f);
/* "config num_warps=4 64x32, launch 17 of a.klab, output Y"; "" without a worst case. */
char *phrase_place(char *out, const struct family_verdict *f);
/* "replay of the recorded kernel is faithful", or what a launch was derived from. */
char *phrase_fidelity(char *out, const struct record_case *c);
/* "triton 3.6.0, commit unspecified (recorded)" */
char *phrase_side(char *out, const struct record_side *s);
/*
 * Not written into a buffer: what was run to make the side's images and which stages that covers;
 * NULL where they are recorded ones. Belongs to the side.
 */
const char *phrase_made_by(const struct record_side *s);
/* Number of the rule, with a * where a baseline accepts the verdict. */
char *phrase_rule(char *out, const struct family_verdict *f);
/* "3 suspicious (1 unproven), 2 small, 41 bitwise, of 46 families" */
char *phrase_counts(char *out, const struct analysis *a);
/* "kernels.py:12, triton"; file without its folder */
char *phrase_origin(char *out, const struct record_family *f);

/* Replaces control characters, DEL and bytes that are no UTF-8 by '?', in place. */
char *phrase_clean(char *text);

/* True if any family's verdict rests on a provisional threshold. */
bool analysis_provisional(const struct analysis *a);

#endif
