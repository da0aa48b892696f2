/* SPDX-License-Identifier: MIT */
/* Which builds of the warp arithmetic this CPU can run. */
#include "softgpu/lanes.h"

#include <stddef.h>

extern const struct lane_table lane_table_baseline;
#ifdef LANES_X86
extern const struct lane_table lane_table_avx2;
extern const struct lane_table lane_table_avx512;
#endif

const struct lane_table *lanes_available(unsigned i)
{
	const struct lane_table *tables[4];
	unsigned n = 0;

#ifdef LANES_X86
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
	    __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
	    __builtin_cpu_supports("fma"))
		tables[n++] = &lane_table_avx512;
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		tables[n++] = &lane_table_avx2;
#endif
	tables[n++] = &lane_table_baseline;
	return i < n ? tables[i] : NULL;
}
