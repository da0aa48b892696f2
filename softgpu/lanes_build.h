/* SPDX-License-Identifier: MIT */
/* Names and loops for the sources that are compiled once for each instruction set (LANES_ISA). */
#ifndef SOFTGPU_LANES_BUILD_H
#define SOFTGPU_LANES_BUILD_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "softgpu/lanes.h"

#define LANES_JOIN2(a, b, c) a##b##c
#define LANES_JOIN(a, b, c)  LANES_JOIN2(a, b, c)
#define LANES_NAME(name)     LANES_JOIN(name, _, LANES_ISA)
#define LANES_TABLE          LANES_JOIN(lane_table, _, LANES_ISA)

#define X(name) lane_function LANES_NAME(name);
LANE_FUNCTIONS(X)
#undef X
#define X(name) compare_function LANES_NAME(name);
COMPARE_FUNCTIONS(X)
#undef X
span_function LANES_NAME(span);
blend_function LANES_NAME(blend32), LANES_NAME(blend64);
extern const struct lane_table LANES_TABLE;

/* Iterations do not depend on each other, although d may be one of the sources. */
#ifdef __clang__
#define EACH_LANE _Pragma("clang loop vectorize(assume_safety)") for (int l = 0; l < 32; l++)
#else
#define EACH_LANE _Pragma("GCC ivdep") for (int l = 0; l < 32; l++)
#endif

#define LANES(name) void LANES_NAME(name)(void *dv, const void *const *s, uint32_t flags)

/* One expression over sources a, b, c (of the types given), result of type T. */
#define LANES_1(name, T, A, expression)         \
	LANES(name)                             \
	{                                       \
		T *d = dv;                      \
		const A *pa = s[0];             \
		EACH_LANE                       \
		{                               \
			A a = pa[l];            \
			d[l] = (T)(expression); \
		}                               \
	}
#define LANES_2(name, T, A, B, expression)      \
	LANES(name)                             \
	{                                       \
		T *d = dv;                      \
		const A *pa = s[0];             \
		const B *pb = s[1];             \
		EACH_LANE                       \
		{                               \
			A a = pa[l];            \
			B b = pb[l];            \
			d[l] = (T)(expression); \
		}                               \
	}
#define LANES_3(name, T, A, B, C, expression)   \
	LANES(name)                             \
	{                                       \
		T *d = dv;                      \
		const A *pa = s[0];             \
		const B *pb = s[1];             \
		const C *pc = s[2];             \
		EACH_LANE                       \
		{                               \
			A a = pa[l];            \
			B b = pb[l];            \
			C c = pc[l];            \
			d[l] = (T)(expression); \
		}                               \
	}

typedef uint32_t u32;
typedef int32_t s32;
typedef uint64_t u64;
typedef int64_t s64;
/* 16-bit values: low half of a 32-bit lane. */
#define S16(x) ((s32)(int16_t)(x))
#define U16(x) ((u32)(uint16_t)(x))

#endif
