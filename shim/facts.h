/* SPDX-License-Identifier: MIT */
/* What is known of the run: RUN, FACT and DEVICE records. */
#ifndef SHIM_FACTS_H
#define SHIM_FACTS_H

#include "drv/entries.h"
#include "kernelab/bundle.h"
#include "lib/selection.h"

/* "RANK=3" of RANK, SLURM_PROCID or LOCAL_RANK, whichever is set to a number first; else NULL. */
const char *facts_rank(void);

/*
 * Writes RUN and the FACT records: environment (a list of names; nothing that looks like a
 * secret), driver, torch and triton versions as far as they are loaded, and the lines of
 * KERNELAB_FACTS. 0 or -errno. Caller holds load_lock; so for all below.
 */
int facts_write_start(struct bundle_writer *w, const struct selection *settings);

/* Versions that were not loaded at the start, and what the shim counted. Calls no driver. */
int facts_write_end(struct bundle_writer *w);

/* Writes a DEVICE record the first time that the current context's device is seen. Takes no lock.
 */
void facts_note_device(struct bundle_writer *w, CUdevice device);

/* Value of a line of KERNELAB_FACTS, or NULL. Valid until facts_forget. */
const char *facts_given(const char *name);

/* After fork. */
void facts_forget(void);

/* Writes one FACT. */
int facts_put(struct bundle_writer *w, const char *name, const char *value, const char *how);

#endif
