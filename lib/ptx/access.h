/* SPDX-License-Identifier: MIT */
/* One instruction of an address-recording variant: what it touches, and what stands in its place.
 */
#ifndef LIB_PTX_ACCESS_H
#define LIB_PTX_ACCESS_H

#include <stdint.h>
#include <stdio.h>

#include "lib/ptx/statement.h"

struct access_scope {
	const struct statement *body; /* of the function */
	size_t count;
	const struct piece *params;
	size_t param_count;
	bool careful;                         /* as struct ptx_variant_entry */
	uint64_t tensor_reads, tensor_writes; /* filled in */
};

/*
 * 1: what takes the statement's place has been written (which may be nothing); 0: it stays as it
 * is; -ENOMEM. *reason (malloc'ed): it cannot be instrumented.
 */
int access_write(FILE *out, struct access_scope *scope, const struct statement *s, char **reason);

#endif
