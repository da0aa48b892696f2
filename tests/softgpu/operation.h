/* SPDX-License-Identifier: MIT */
/* One PTX operation as a kernel, its inputs, and what it must give. */
#ifndef TESTS_SOFTGPU_OPERATION_H
#define TESTS_SOFTGPU_OPERATION_H

#include <stdbool.h>
#include <stdint.h>

#define OPERATION_LANES 1024u

struct operation {
	const char *text;
	const char *types[4]; /* D, A, B, C */
	uint32_t ulp;         /* allowed difference */
};
extern const struct operation operations[];
extern const unsigned operation_count;

/* A kernel k(source, target): 3 x 8 bytes of input and 8 bytes of output a thread. malloc'ed. */
char *operation_kernel(const struct operation *o);
void operation_inputs(const struct operation *o, uint64_t in[][3]);
unsigned operation_bits(const char *type);
uint64_t operation_reference(unsigned index, const uint64_t in[3]);
bool operation_agrees(const struct operation *o, uint64_t got, uint64_t want);

#endif
