/* SPDX-License-Identifier: MIT */
/* Tells which libraries of the program call the driver past the shim. */
#ifndef SHIM_BYPASS_H
#define SHIM_BYPASS_H

/*
 * Names (malloc'ed, with ", " between them, at most 16) of loaded libraries whose references to a
 * hooked entry were bound to the driver's own function: opened with RTLD_DEEPBIND, they look behind
 * the preload. What the loader has not bound yet, and what such a library finds by the C library's
 * own dlsym, cannot be seen. NULL: none, or no memory. hooks_ready() must be true. Calls no driver;
 * takes the loader's lock.
 */
char *bypass_libraries(void);

#endif
