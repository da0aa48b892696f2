/* SPDX-License-Identifier: MIT */
/* The one table of thresholds of the decision procedure, each with its reason. */
#ifndef ANALYZE_THRESHOLDS_H
#define ANALYZE_THRESHOLDS_H

#include "kernelab/dtype.h"

/*
 * T(id, name in reports, value, provisional?, reason)
 * A provisional threshold stands in for rules 5 to 8 of docs/numerics.md where a result lacks the
 * trials that they need (perturbed inputs): every report marks verdicts that rest on one.
 */
#define THRESHOLDS(T)                                                                              \
	T(NOISE_F32, "noise", 0x1p-16, true,                                                       \
	  "256 u of an f32 accumulator, relative to max(|a|, |b|) + local scale: reordering a "    \
	  "sum of K = 4096 terms "                                                                 \
	  "moves an element by about 0.4 sqrt(K) u = 26 u rms, 5 times that at the extreme of "    \
	  "10^6 elements; "                                                                        \
	  "ieee against tf32 (2^-11 a product) stays above it")                                    \
	T(NOISE_F64, "noise_f64", 0x1p-45, true, "256 u, u = 2^-53: as noise")                     \
	T(STEPS_NARROW, "steps_narrow", 1, true,                                                   \
	  "f16, bf16 and fp8 outputs: the final rounding may fall to the other neighbour, by one " \
	  "step of the output type")                                                               \
	T(FLIPS, "flips", 0.02, true,                                                              \
	  "f16, bf16 and fp8 outputs: share of elements that differ, its lower 99.9 % bound; "     \
	  "benign up to 0.0048 in "                                                                \
	  "simulation (f16, K = 2048), truncating downcast, double rounding and a scale of "       \
	  "1+2^-10 from 0.06")                                                                     \
	T(FLIPS_RUN, "flips_run", 3, true,                                                         \
	  "nondeterministic A: its own share of varying elements, times this, is added to flips")  \
	T(SPREAD, "spread", 8, true,                                                               \
	  "nondeterministic A: spread of its repeats (rms of 64 neighbours) that an element of B " \
	  "may be away; the range of "                                                             \
	  "3 normal draws is 1.7 sigma, the greatest of 10^6 differences of two is 7 sigma")       \
	T(RESIDUAL, "residual", 32, false,                                                         \
	  "sigmas beyond the final rounding; in simulation benign runs stayed below 18, gross "    \
	  "bugs "                                                                                  \
	  "mostly above 250, the weakest 19 to 50 in norms")                                       \
	T(RESIDUAL_COARSE, "residual_coarse", 2, false,                                            \
	  "the same where u is coarser than 2^-24 (bf16 or f16 on the way): benign below 0.9; 32 " \
	  "would miss 60 % of the bugs")                                                           \
	T(JUMP_CHANCE, "jump_chance", 1e-3, false,                                                 \
	  "elements beyond the residual's limit are excused where A itself jumps there, if so "    \
	  "many "                                                                                  \
	  "are likelier than this")                                                                \
	T(JUMP_FACTOR, "jump_factor", 20, false,                                                   \
	  "jumps expected of a reordering: this times u/h times those of a perturbed run of A")    \
	T(TIES_UNMOVED, "ties_unmoved", 0.5, false,                                                \
	  "integer outputs: share of the differing elements that may be more than a step apart "   \
	  "where no perturbed run of A moves; there are four such runs, and near ties show in "    \
	  "some only")                                                                             \
	T(FLIPS_FLOOR, "flips_floor", 0.005, false,                                                \
	  "narrow outputs: share of other numbers that is always allowed; benign up to 0.0048 "    \
	  "(f16, "                                                                                 \
	  "K = 2048)")                                                                             \
	T(FLIPS_PREDICTED, "flips_predicted", 20, false,                                           \
	  "times the share predicted from u, G and the spacing of the type")                       \
	T(FLIPS_COARSE, "flips_coarse", 0.5, false,                                                \
	  "share allowed where the way is rounded as coarsely as the output")                      \
	T(BIAS_Z, "bias_z", 6, false,                                                              \
	  "clustered z from which a mean is no accident; without clusters a benign softmax has "   \
	  "|z| > 3 in 91 % of runs")                                                               \
	T(BIAS, "bias", 0.1, false, "narrow outputs: mean of clip(d/q, +-1)")                      \
	T(BIAS_WIDE, "bias_wide", 1.5, false, "f32 and f64: mean of d/sigma; benign up to 0.98")   \
	T(SLOPE, "slope", 12 * 0x1p-24, false, "slope of d on a")                                  \
	T(SLOPE_COARSE, "slope_coarse", 0x1p-11, false, "the same where u is coarser than 2^-24")  \
	T(PLACE, "place", 0.05, false,                                                             \
	  "narrow outputs: lower bound (z = 5) of the share of other numbers in any row, column "  \
	  "or "                                                                                    \
	  "tile")                                                                                  \
	T(PLACE_SIBLINGS, "place_siblings", 3, false, "times the same bound among A's configs")    \
	T(PLACE_FLIPS, "place_flips", 10, false,                                                   \
	  "times the limit of rule 6 where that exceeds its floor")                                \
	T(SLOPE_UPDATE, "slope_update", 0x1p-12, false,                                            \
	  "in place: slope of d on the update; at least 4 u rms(a) / rms(update), which is what "  \
	  "rounding of the sum leaves of it")                                                      \
	T(SYNTHETIC, "synthetic", 4, false,                                                        \
	  "synthetic siblings: s counts up to this times the rest of sigma, so that a sibling "    \
	  "that a compiler bug moves cannot hide one in B")                                        \
	T(SHIFT, "shift", 0.05, false,                                                             \
	  "Kolmogorov's distance of the values; as a fine rule it put 61 % of benign runs into 3") \
	T(CLUSTER, "cluster", 8, false,                                                            \
	  "times the greatest rms distance of a config from the others, or the noise floor where " \
	  "that is more")                                                                          \
	T(GROWTH, "growth", 0.7, false,                                                            \
	  "exponent of the residual in a size; benign up to 0.47, truncating accumulation 0.8 to " \
	  "0.9")                                                                                   \
	T(GROWTH_RESIDUAL, "growth_residual", 4, false, "residual below which growth is noise")    \
	T(FTZ, "ftz", 0x1p-126, false,                                                             \
	  "f32 and bf16: where both sides are below the least normal number the difference "       \
	  "counts as none: one build flushes "                                                     \
	  "denormals")                                                                             \
	T(WEAK_ZEROS, "weak_zeros", 0.3, false,                                                    \
	  "share of elements that are zero on both sides from which equality is noted as weak "    \
	  "evidence")

enum threshold {
#define T(id, name, value, provisional, reason) THRESHOLD_##id,
	THRESHOLDS(T)
#undef T
		THRESHOLD_COUNT
};

struct threshold_row {
	const char *name, *reason;
	double value, initial; /* value differs from initial where a policy has set it */
	bool provisional;
};

/* Row of the table; static storage. */
const struct threshold_row *threshold_row(enum threshold t);
double threshold(enum threshold t);

/* Another value for the whole process. Not while another thread judges. */
void threshold_set(enum threshold t, double value);

/* Elements whose local scale is taken together, and the blocks they are cut into. */
#define TILE_ELEMENTS  4096u
#define BLOCK_ELEMENTS 64u

#endif
