/* SPDX-License-Identifier: MIT */
/* One training step in double precision on the CPU, to hold the device's step against. */
#ifndef TESTS_APPS_REFERENCE_H
#define TESTS_APPS_REFERENCE_H

#include "tests/apps/model.h"

/* The state of the device's model before a step: flat buffers of PARAMETER_ELEMENTS. */
struct reference_state {
	float *parameters, *moment1, *moment2;
};

/* Allocates and reads the state back. Free with reference_free. */
void reference_read(struct reference_state *s, const struct model *m);
void reference_free(struct reference_state *s);

/*
 * After the device's step number `step` from the state `before`: computes loss and gradients in
 * double, and the update from the device's own gradients; compares. Prints each disagreement on
 * stderr; returns how many there were. Tolerances: 1e-5 of the loss, 2e-5 of a gradient's largest
 * element (f32 sums of up to 350 terms), 1e-6 of a parameter (an Adam step is at most about 0.01).
 */
unsigned reference_check(const struct reference_state *before, const struct model *m,
			 const int32_t *ids, const int32_t *labels, int step, double loss);

#endif
