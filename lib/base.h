/* SPDX-License-Identifier: MIT */
/* Small things that every part needs: clean-up attributes, array length, overflow-checked sizes. */
#ifndef LIB_BASE_H
#define LIB_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ARRAY_LENGTH(a) (sizeof(a) / sizeof((a)[0]))

static inline void cleanup_free(void *p)
{
	free(*(void **)p);
}
static inline void cleanup_close(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}
static inline void cleanup_file(FILE **f)
{
	if (*f)
		fclose(*f);
}
#define _cleanup_free_  __attribute__((cleanup(cleanup_free)))
#define _cleanup_close_ __attribute__((cleanup(cleanup_close)))
#define _cleanup_file_  __attribute__((cleanup(cleanup_file)))

/* Takes the pointer out of a _cleanup_free_ variable. */
#define steal_pointer(p)                     \
	({                                   \
		__typeof__(p) stolen_ = (p); \
		(p) = NULL;                  \
		stolen_;                     \
	})

/* a * b into *out; false on overflow. */
static inline bool size_multiply(size_t a, size_t b, size_t *out)
{
	return !__builtin_mul_overflow(a, b, out);
}

/* Grows *array (count elements of `element` bytes used) for one more; 0 or -ENOMEM. Doubling. */
int array_reserve(void *array, size_t count, size_t *capacity, size_t element);

/* Reads a whole file of at most max_bytes, malloc'ed, one NUL behind. 0 or -errno (-EFBIG). */
int file_read_all(const char *path, size_t max_bytes, char **data, size_t *size);

/* malloc'ed printf; NULL without memory. */
__attribute__((format(printf, 1, 2))) char *text_format(const char *format, ...);

#endif
