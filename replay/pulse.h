/* SPDX-License-Identifier: MIT */
/* What a worker is doing, until when, and what it has cost: memory that it shares with its parent.
 */
#ifndef REPLAY_PULSE_H
#define REPLAY_PULSE_H

#include <stdatomic.h>
#include <stdint.h>

#include "kernelab/records.h"
#include "replay/cost.h"

/* What a worker is doing: the parent reads a crash or hang by it. */
enum phase {
	PHASE_IDLE,   /* between two cases */
	PHASE_SETUP,  /* loading, copying: not a launch */
	PHASE_BASE,   /* the recorded image, where A is another one */
	PHASE_A,      /* A on recorded contents */
	PHASE_PROBE,  /* A with everything poisoned that it may write */
	PHASE_POISON, /* A with its outputs poisoned */
	PHASE_B,      /* B, plain or poisoned */
	PHASE_FURTHER /* A or B on changed inputs, or launched several times */
};

struct step {
	enum phase phase;
	enum side side;
	enum trial_kind kind;
	uint32_t index;
	double seconds; /* it may take */
};

/*
 * The worker writes; the parent reads the deadline while the worker lives, and the rest when it has
 * ended. The cost outlives a worker that crashes.
 */
struct pulse {
	struct step step;
	_Atomic uint64_t
		deadline_ns; /* CLOCK_MONOTONIC: the parent ends the worker then; 0: never */
	struct cost cost;
};

/* Zeroed shared memory, to be made before the fork. NULL without memory. */
struct pulse *pulse_open(void);
void pulse_close(struct pulse *p);

/* What begins now. The deadline is a little later than step.seconds. */
void pulse_set(struct pulse *p, struct step step);

#endif
