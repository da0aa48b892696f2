/* SPDX-License-Identifier: MIT */
/* How many additions one accumulator of a launch goes through, one after the other. */
#ifndef REPLAY_SERIAL_H
#define REPLAY_SERIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A scalar argument of the launch, in the order of the function's arguments. */
struct serial_argument {
	bool known; /* an integer */
	int64_t value;
};

/*
 * Reads Triton IR (.ttir) of a kernel's function: the longest product of trip counts of nested
 * scf.for loops that carry floats, times the inner dimension of a tt.dot within them. Trip counts
 * follow from constants and the launch's integer arguments by +, -, *, /, %, min and max; sums
 * within a program that are no loop (tt.reduce) are trees. *out is 0 where a trip count of such a
 * loop is not known, or the text is no such IR; 1 without any loop. 0 or -ENOMEM. Pure.
 */
int serial_find(uint64_t *out, const char *text, size_t size,
		const struct serial_argument *arguments, size_t count);

#endif
