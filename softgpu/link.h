/* SPDX-License-Identifier: MIT */
/* After the last line: calls to their functions, frames, memory layout, contraction. */
#ifndef SOFTGPU_LINK_H
#define SOFTGPU_LINK_H

#include "softgpu/parser.h"

int link_program(struct parser *p);

#endif
