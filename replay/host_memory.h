/* SPDX-License-Identifier: MIT */
/* Host memory at recorded addresses, registered with the driver while a launch needs it. */
#ifndef REPLAY_HOST_MEMORY_H
#define REPLAY_HOST_MEMORY_H

#include "drv/driver.h"
#include "kernelab/error.h"
#include "replay/layout.h"

/*
 * Takes the (merged) ranges in this process without giving them memory. Those whose addresses are
 * in use are added to `refused`; the others to `taken`. 0 or -ENOMEM.
 */
int host_memory_reserve(struct ranges *taken, struct ranges *refused, const struct ranges *wanted);

/*
 * Gives a part of a taken range memory, and registers it so that kernels reach it at its address.
 * -ENOTSUP where the driver has no such call, or gives the device another address; -EIO with the
 * driver's words.
 */
int host_memory_map(const struct driver *driver, const struct range *piece, struct error *err);
/* Takes the memory away; the addresses stay taken. */
void host_memory_unmap(const struct driver *driver, const struct range *piece);

#endif
