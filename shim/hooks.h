/* SPDX-License-Identifier: MIT */
/* The real driver's pointers, and which of the shim's functions stands for which of its entries. */
#ifndef SHIM_HOOKS_H
#define SHIM_HOOKS_H

#include <stdbool.h>

#include "drv/driver.h"

/* The driver's own functions. Filled once hooks_ready() said true, constant from then on. */
extern struct driver real;

/*
 * True once libcuda.so.1 is loaded by the program and `real` is filled. Never loads it. Cheap after
 * the first success; before it, one look at the loader's list. Any thread.
 */
bool hooks_ready(void);

/* True if that driver has every entry that recording needs; else *why says what is missing. */
bool hooks_complete(const char **why);

/* True if `name` is exactly the exported name of a hooked entry. Pure, usable before everything. */
bool hooks_name(const char *name);

/*
 * The shim's function that stands for a driver function the program asked for, or NULL if that
 * is not hooked. address: what the real resolver returned. hooks_ready() must be true.
 */
void *hooks_replacement(const void *address);

/* True if address is one of the shim's own wrappers. */
bool hooks_own(const void *address);

/*
 * For cuGetProcAddress, where the answer is an address that no symbol exports: by the name asked
 * for, the CUDA version and the flags. Counted. NULL if not hooked.
 */
void *hooks_replacement_by_name(const char *name, int version, cuuint64_t flags,
				const void *address);
/* How many answers were replaced by name. */
unsigned long hooks_by_name_count(void);

/* True if code address `caller` lies in one of the driver's own libraries. */
bool hooks_driver_calls(const void *caller);

#endif
