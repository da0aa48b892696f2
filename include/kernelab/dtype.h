/* SPDX-License-Identifier: MIT */
/* Element types of kernel arguments: one table, its names and sizes. */
#ifndef KERNELAB_DTYPE_H
#define KERNELAB_DTYPE_H

#include <stdbool.h>
#include <stdint.h>

/* D(id, name in reports, spelling in Triton IR, bytes an element, float?) */
#define DTYPES(D)                                          \
	D(UNKNOWN, "?", "?", 1, false)                     \
	D(F64, "f64", "f64", 8, true)                      \
	D(F32, "f32", "f32", 4, true)                      \
	D(F16, "f16", "f16", 2, true)                      \
	D(BF16, "bf16", "bf16", 2, true)                   \
	D(F8E4M3, "f8e4m3", "f8E4M3FN", 1, true)           \
	D(F8E5M2, "f8e5m2", "f8E5M2", 1, true)             \
	D(F8E4M3FNUZ, "f8e4m3fnuz", "f8E4M3FNUZ", 1, true) \
	D(F8E5M2FNUZ, "f8e5m2fnuz", "f8E5M2FNUZ", 1, true) \
	D(BOOL, "bool", "i1", 1, false)                    \
	D(I8, "i8", "i8", 1, false)                        \
	D(I16, "i16", "i16", 2, false)                     \
	D(I32, "i32", "i32", 4, false)                     \
	D(I64, "i64", "i64", 8, false)

enum dtype {
#define D(id, name, ir, bytes, is_float) DTYPE_##id,
	DTYPES(D)
#undef D
		DTYPE_COUNT
};

/* "f32"; "?" for a value outside the table. Static storage. */
const char *dtype_name(enum dtype t);
/* Bytes an element; 1 for UNKNOWN (compared as bytes). */
uint32_t dtype_bytes(enum dtype t);
bool dtype_is_float(enum dtype t);
/* By report name or Triton IR spelling; DTYPE_UNKNOWN if neither. */
enum dtype dtype_parse(const char *text);

#endif
