/* SPDX-License-Identifier: MIT */
/* Recognises an autotuner's sweep: several configs of a kernel, tried in turn on the same
 * arguments. */
#ifndef SHIM_SWEEPS_H
#define SHIM_SWEEPS_H

#include <stdint.h>

#include "kernelab/hash.h"

struct launch_facts;

/*
 * Hash of a launch's arguments without what differs between configs of one kernel: hidden scratch
 * pointers and TMA descriptors (their box is the config's).
 */
struct hash128 sweeps_inputs(const struct launch_facts *f);

/*
 * Notes a launch that is being recorded (the first of its config). If the config before it, of the
 * same entry, argument types and inputs but another image, was launched at least three times in a
 * row of launches not longer than two minutes ago, both belong to one sweep: returns the number of
 * its first launch; else 0. A program that merely launches two configs in turn launches each once
 * before the other comes. Takes table_lock.
 */
uint64_t sweeps_note(const struct launch_facts *f);

/* After fork. */
void sweeps_forget(void);

#endif
