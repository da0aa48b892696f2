/* SPDX-License-Identifier: MIT */
/* What the driver made of an image: one cubin an architecture, or more where JIT options differed.
 */
#ifndef SHIM_JITTED_H
#define SHIM_JITTED_H

#include <stdbool.h>
#include <stddef.h>

#include "kernelab/hash.h"

#define JITTED_MAX 16u /* of one image */

struct jitted_cubin {
	struct hash128 id;
	unsigned sm;  /* 90: the device that it was made for */
	unsigned nth; /* from 1, of the cubins of that sm */
	char *data;   /* until it is written */
	size_t size;
};

struct jitted {
	struct jitted_cubin items[JITTED_MAX];
	unsigned count;
	bool more; /* than JITTED_MAX: those are left out */
	bool told; /* that there are more */
};

/* Takes data over. One that is there already is freed. */
void jitted_add(struct jitted *j, char *data, size_t size, unsigned sm);
/* Frees what is not written, and forgets that it was there. */
void jitted_drop(struct jitted *j);
/* The name of its FILE record: see DRIVER_CUBIN_NAME in kernelab/bundle.h. malloc'ed or NULL. */
char *jitted_name(const struct jitted_cubin *c);

#endif
