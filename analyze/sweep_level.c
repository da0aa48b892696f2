/* SPDX-License-Identifier: MIT */
/* Which builds of sweep.c this processor can run. */
#include "analyze/sweep.h"

#include <stdatomic.h>

#include "lib/base.h"

extern const struct sweep sweep_plain, sweep_avx2, sweep_avx512;

#if defined(__x86_64__)
#include <cpuid.h>

/* clang 14 does not know the name for __builtin_cpu_supports. */
static bool has_f16c(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(1, &a, &b, &c, &d) && c & bit_F16C;
}

/* The first of `levels` that runs here. */
static size_t widest(void)
{
	if (!__builtin_cpu_supports("avx2") || !has_f16c())
		return 2;
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
			       __builtin_cpu_supports("avx512bw") &&
			       __builtin_cpu_supports("avx512vl")
		       ? 0
		       : 1;
}

static const struct sweep *const levels[] = {&sweep_avx512, &sweep_avx2, &sweep_plain};
#else
static size_t widest(void)
{
	return 0;
}

static const struct sweep *const levels[] = {&sweep_plain};
#endif

const struct sweep *sweep_level(size_t i)
{
	static atomic_size_t known; /* 1 + widest(), which never changes: a race does no harm */
	size_t first = atomic_load_explicit(&known, memory_order_relaxed);

	if (!first) {
		first = 1 + widest();
		atomic_store_explicit(&known, first, memory_order_relaxed);
	}
	i += first - 1;
	return i < ARRAY_LENGTH(levels) ? levels[i] : NULL;
}
