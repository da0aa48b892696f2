/* SPDX-License-Identifier: MIT */
/* What a launch really reads and writes, measured by a variant of its kernel that notes addresses.
 */
#ifndef SHIM_EXTENTS_H
#define SHIM_EXTENTS_H

#include <stdbool.h>

#include "shim/record_launch.h"
#include "shim/regions.h"

/*
 * Runs the address-recording variant (lib/ptx/instrument.h) of the launch's kernel on its stream,
 * which must be idle and not in capture, and fills reads and writes of the regions, `measured` and
 * `extents`. Whatever does not work is the text of `extents`, and the regions stay as they were.
 * The variant is made and loaded once an image and context. Waits at most KERNELAB_WAIT_BEFORE for
 * it. Any thread; takes a lock of its own, and table_lock.
 */
void extents_measure(struct regions *regions, const struct launch_facts *f, CUstream stream);

/*
 * The same for a launch that comes later, behind work that changes memory (in a graph): only where
 * neither addresses nor branches depend on what memory holds, so that the extents are known now.
 */
void extents_measure_ahead(struct regions *regions, const struct launch_facts *f, CUstream stream);

/* Unloads the image's variants: its last module goes. The program's context is current. */
void extents_drop(struct image *image);

/* After fork. */
void extents_forget(void);

#endif
