/* SPDX-License-Identifier: MIT */
/* The same command line once more, in a process that has another layout of addresses. */
#ifndef TOOLS_ANEW_H
#define TOOLS_ANEW_H

#include <stdbool.h>

/*
 * False where it would be in vain or not the same: started ANEW_MOST times already (counted in
 * KERNELAB_STARTS), addresses that the system does not vary (setarch -R), or an argument that names
 * a pipe, which was read.
 */
bool anew_may(void);

/* Does not return, unless it cannot: -errno. */
int anew_start(void);

#define ANEW_MOST 3 /* starts, the first one too */

#endif
