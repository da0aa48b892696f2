/* SPDX-License-Identifier: MIT */
/* Function handles of the program: which kernel each is. Read without a lock at every launch. */
#ifndef SHIM_FUNCTIONS_H
#define SHIM_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "drv/entries.h"

struct kernel;

struct function {
	uint64_t holder; /* handle of its module or library; 0: adopted */
	struct kernel *kernel;
	bool in_library; /* the handle is a CUkernel */
};

/*
 * The kernel of a handle, NULL if it is not known. Any thread, no lock: sees every handle whose
 * functions_put came before in the program's own order (it got the handle from that call).
 */
struct kernel *functions_kernel(CUfunction handle);

/* All that is known of it; false: nothing. Caller holds table_lock; so for all below. */
bool functions_get(CUfunction handle, struct function *f);
/* Adds or replaces. handle is not NULL. 0 or -ENOMEM (then nothing has changed). */
int functions_put(CUfunction handle, const struct function *f);
/* Forgets the functions of a module or library. */
void functions_drop(uint64_t holder);

/* After fork: forgets all, frees nothing. Takes no lock. */
void functions_forget(void);

#endif
