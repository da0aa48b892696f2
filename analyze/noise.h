/* SPDX-License-Identifier: MIT */
/* The measured noise floor of one output, and what rules 5 to 8 find beyond it. */
#ifndef ANALYZE_NOISE_H
#define ANALYZE_NOISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/distribution.h"
#include "analyze/metrics.h"
#include "kernelab/bundle.h"
#include "kernelab/error.h"

#define NOISE_MOVED  8    /* perturbed runs of A that are used */
#define NOISE_FEW    1024 /* elements up to which rule 6 takes the perturbed pairs too */
#define NOISE_OTHERS 8    /* sibling configs and repeats of A that are used */

/* Figures of one pair of trials. */
struct noise_pair {
	const struct record_content *a, *b;
	double launches; /* in a row: the noise of one launch counts that many times; usually 1 */

	/* rule 5 */
	double max_residual;
	struct metric_element worst; /* severity: its residual */
	uint64_t beyond;             /* elements beyond the limit */
	uint64_t excused;            /* of those, where A itself jumps to B's value */
	/* rule 6 */
	uint64_t compared; /* finite on both sides and not zero on both */
	uint64_t flips;    /* of those, at least one step of the type apart */
	/* rule 7: over clusters; a mean over all elements and its z */
	double bias, bias_z;      /* of clip(d/q, ±1); f32 and f64: of d/σ without siblings */
	double sign_bias, sign_z; /* the same, signed by a */
	double slope, slope_z;    /* of d on a */
	/* likewise where A updates the output in place, by that update; 0 where it does not */
	double update_bias, update_z, update_slope, update_slope_z;
	double update_share; /* rms of the update in that of a */
};

struct noise_input {
	const struct bundle *bundle;
	const struct record_extent *extent;
	enum dtype dtype;
	double u;         /* largest unit roundoff on the way to the output */
	uint64_t serial;  /* additions one after the other in A; 0: not known */
	double function;  /* greatest documented error of approximate functions there; 0: none */
	bool periodic;    /* sin or cos are among them */
	double h;         /* relative step of the perturbed inputs */
	uint64_t columns; /* elements that share a reduction; 0: not known */
	const struct record_content *plain; /* A */
	const struct record_content *moved[NOISE_MOVED];
	size_t moved_count; /* at least 2 */
	const struct record_content *others[NOISE_OTHERS];
	size_t other_count;
	/*
	 * The last of them are synthetic siblings (synthetic.h), not configs of the model: bounded
	 * in s, no ground for 8c, nor for rule 6 where the output is not narrow.
	 */
	size_t synthetic;
	size_t left_out;       /* synthetic siblings that are not among them */
	char left_out_why[80]; /* of the first: "rule 5" */
	const struct record_content
		*fellows[NOISE_OTHERS]; /* the first pair's B of other configs */
	size_t fellow_count;
	/*
	 * A after several launches in a row, NULL: not known. Where that differs from `plain` the
	 * output is updated in place, by about (chain - plain) / (launches - 1) a launch.
	 */
	const struct record_content *chain;
	uint32_t chain_launches;
};

/* Figures of an output that all its pairs share. */
struct noise {
	double limit;         /* of the residual */
	double predicted;     /* f_pred of rule 6 */
	double sibling_flips; /* greatest share of flips between A and one of `others`; 0 without */
	double jumps;         /* elements that jump in a perturbed run of A, mean of the runs */
	/* rule 8, of the first pair: lower bounds of the share of flips in a row, column or tile */
	double place, sibling_place;
	const char *place_what; /* "row", …; static storage */
	uint64_t place_index;   /* first element of that cell */
	uint64_t elements;
	struct distribution_figures distribution; /* rule 7, of the first pair */
	/* rule 8c, of the first pair: rms distances beyond the final rounding */
	double apart;   /* of B from the mean of A, others and fellows */
	double cluster; /* greatest of one of these from the mean of the rest */
	double floor;   /* of σ without siblings */
	size_t members; /* A, others that are no synthetic siblings, and fellows */
};

/*
 * Measures all pairs in one pass over the contents, chunk by chunk. The formulas are those of
 * docs/numerics.md, rules 5 to 8: σ² = s² + (4 u G)² + (4 u |a|)², G² = (16 mean g² + n g²) / (16 +
 * n) / h² where the mean is over the element's row (input->columns, else tiles of TILE_ELEMENTS;
 * cut at chunk borders), g and s standard deviations over perturbed runs and over A with its
 * others. The input is a float type. 0, or -errno with err where a chunk is missing or memory is
 * short.
 */
int noise_measure(const struct noise_input *in, struct noise_pair *pairs, size_t pair_count,
		  struct noise *out, struct error *err);

/* P(X >= count) of a Poisson variable. */
double poisson_tail(double mean, uint64_t count);

#endif
