/* SPDX-License-Identifier: MIT */
/* A folder of its own for the files of a test program, removed at the end. */
#ifndef TESTS_LIB_SCRATCH_H
#define TESTS_LIB_SCRATCH_H

#include <stddef.h>
#include <stdint.h>

/* cmocka group fixtures. */
int scratch_setup(void **state);
int scratch_teardown(void **state);
/* Path of a file in it, malloc'ed. */
char *scratch_path(const char *name);
/* These abort on failure. */
void scratch_write(const char *path, const void *data, size_t size);
char *scratch_read(const char *path, size_t *size); /* malloc'ed */
uint64_t scratch_size(const char *path);

#endif
