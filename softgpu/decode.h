/* SPDX-License-Identifier: MIT */
/* Single operands of an instruction, for the builders of decode.c and decode_memory.c. */
#ifndef SOFTGPU_DECODE_H
#define SOFTGPU_DECODE_H

#include "softgpu/parser.h"

/* All return 0 or a negative errno with the parser's error filled. */
int decode_source(struct parser *p, const struct operand *o, enum type t, uint32_t *out);
int decode_destination(struct parser *p, const struct operand *o, enum type t, uint32_t *out);
int decode_predicate(struct parser *p, const struct operand *o, uint32_t *out);
/* p or p|q; what is not there goes to the sink. */
int decode_predicate_destination(struct parser *p, const struct operand *o, uint32_t *first,
				 uint32_t *second);
/* Address operand into a, offset, base, wide_address and space. */
int decode_address(struct parser *p, const struct operand *o, enum space space,
		   struct instruction *out);
int decode_count(struct parser *p, unsigned count, unsigned least, unsigned most);
uint32_t spelling_flags(const struct spelling *s);

#endif
