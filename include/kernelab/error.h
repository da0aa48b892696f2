/* SPDX-License-Identifier: MIT */
/* What went wrong, where, in words: filled by everything that parses or opens. */
#ifndef KERNELAB_ERROR_H
#define KERNELAB_ERROR_H

#include <stdint.h>

/*
 * Owned by the caller, no heap memory inside, so it needs no clean-up. A function that takes a
 * `struct error *` fills it exactly when it returns a negative value; NULL is allowed.
 * Threads: a plain value; do not share one between threads.
 */
struct error {
	int code;          /* errno value, > 0 */
	uint64_t offset;   /* byte offset in the input at fault, UINT64_MAX where there is none */
	char message[480]; /* one sentence without a full stop; names the file, launch or option */
};

#define ERROR_NO_OFFSET UINT64_MAX

/*
 * Sets all fields (printf-like message, cut at the array's size) and returns -code, so that a
 * parser can say `return error_set(err, EINVAL, offset, "...")`. err may be NULL.
 */
__attribute__((format(printf, 4, 5))) int error_set(struct error *err, int code, uint64_t offset,
						    const char *format, ...);

/* Puts "prefix: " before the message; keeps code and offset. err may be NULL. Returns -err->code.
 */
__attribute__((format(printf, 2, 3))) int error_prefix(struct error *err, const char *format, ...);

#endif
