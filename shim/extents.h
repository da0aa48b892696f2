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
 * True: they do depend, and only a probe in its place can tell.
 */
bool extents_measure_ahead(struct regions *regions, const struct launch_facts *f, CUstream stream);

/*
 * Probes: variants as nodes of a graph, each directly before the launch that it measures. Between
 * extents_probes_begin (false: another thread measures, for longer than --wait-before) and
 * extents_probes_end nothing else is measured. Of one image only one probe may be in a graph.
 */
struct extents_probe;
bool extents_probes_begin(void);
void extents_probes_end(void);

/* *bytes: of device memory that it needs. NULL: cannot be had, regions->extents says why. */
struct extents_probe *extents_probe_new(struct regions *regions, const struct launch_facts *f,
					CUstream stream, uint64_t *bytes);
/*
 * What must be copied in the graph before the probe runs: the index-th module variable of the
 * program to the probe's. False: there is none of that number.
 */
bool extents_probe_variable(const struct extents_probe *probe, size_t index, CUdeviceptr *to,
			    CUdeviceptr *from, size_t *bytes);
/* Prepares that memory, ordered on the stream; *node (valid as long as the probe) describes it. */
CUresult extents_probe_start(struct extents_probe *probe, CUdeviceptr memory,
			     CUDA_KERNEL_NODE_PARAMS *node);
/*
 * ran: its graph has; then regions are filled as extents_measure does. Frees. Returns an address
 * outside the regions that the launch touches, or 0.
 */
uint64_t extents_probe_end(struct extents_probe *probe, bool ran);

/* What the measurements took. 0 or -errno. */
int extents_write_facts(struct bundle_writer *w);

/* Unloads the image's variants: its last module goes. The program's context is current. */
void extents_drop(struct image *image);

/* After fork. */
void extents_forget(void);

#endif
