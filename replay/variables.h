/* SPDX-License-Identifier: MIT */
/* Module variables of a recorded launch: they have stand-in addresses, and lie where the module of
 * the moment has them. */
#ifndef REPLAY_VARIABLES_H
#define REPLAY_VARIABLES_H

#include "drv/driver.h"
#include "kernelab/error.h"
#include "replay/contents.h"

/* What of a launch's variables a loaded module has: an address each, 0 where it has none. */
struct variables {
	CUdeviceptr *at; /* contents->variable_count */
};

/*
 * Looks the variables of `contents` up in a module by name. One that the module lacks is nothing
 * that its kernels use: it stays as before a launch. -EINVAL where one has another size; -ENOMEM.
 */
int variables_find(struct variables *v, const struct driver *driver, CUmodule module,
		   const struct contents *contents, struct error *err);
void variables_free(struct variables *v);

/*
 * Enqueues copies between the module's variables and the device memory that stands in for them:
 * chunk i of the contents lies at live[i].
 */
CUresult variables_copy(const struct variables *v, const struct driver *driver,
			const struct contents *contents, const CUdeviceptr *live, bool to_module,
			CUstream stream);

#endif
