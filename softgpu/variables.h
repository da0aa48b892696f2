/* SPDX-License-Identifier: MIT */
/* Declarations of variables and parameters: types, alignment, arrays, initialisers, layout. */
#ifndef SOFTGPU_VARIABLES_H
#define SOFTGPU_VARIABLES_H

#include "softgpu/parser.h"

/* Behind '(': up to and with ')'. */
int parse_entry_parameters(struct parser *p, struct ptx_entry *e);
/* Of a function: results or arguments, laid out in local memory. */
int parse_formals(struct parser *p, struct function_parameters *f, bool results);

#endif
