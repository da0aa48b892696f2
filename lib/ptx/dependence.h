/* SPDX-License-Identifier: MIT */
/* Whether the addresses and the control flow of a kernel depend on what memory holds. */
#ifndef LIB_PTX_DEPENDENCE_H
#define LIB_PTX_DEPENDENCE_H

#include "lib/ptx/statement.h"

/* What a value may come from. */
#define DEPENDS_CONTENTS (1u << 0) /* a load of global memory */
#define DEPENDS_ATOMIC   (1u << 1) /* the result of an atomic, volatile, relaxed or acquire load */

struct dependence {
	unsigned reach; /* DEPENDS_* of values that reach an address, a size or control flow */
};

/*
 * Follows values through registers, shared and local memory of one function; flow-insensitive, so
 * it may say too much, never too little. params: the names of the entry's parameters. 0 or -ENOMEM.
 */
int dependence_find(struct dependence *out, const struct statement *body, size_t count,
		    const struct piece *params, size_t param_count);

/* True for opcodes that touch global memory, or may (no state space given). */
bool statement_is_access(const struct statement *s);

#endif
