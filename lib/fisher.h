/* SPDX-License-Identifier: MIT */
/* Fisher's exact test: whether two settings give different results, or chance does. */
#ifndef LIB_FISHER_H
#define LIB_FISHER_H

#include <math.h>
#include <stdint.h>

/* What is no chance any more: one in 65536, of a test that is asked once a run. */
#define FISHER_LIMIT 0x1p-16
/* What nothing will come of. */
#define FISHER_HOPELESS 0.01

/* log of n over k; n up to some thousands. */
static inline double fisher_log_choose(uint64_t n, uint64_t k)
{
	double sum = 0;

	for (uint64_t i = 1; i <= k; i++)
		sum += log((double)(n - k + i) / (double)i);
	return sum;
}

/*
 * m runs in one setting, of which `in` show something, and n in another one, of which `out` do:
 * the probability of at least `in` of them in the first setting if the settings do not matter and
 * each run is as likely as any other to show it (R. A. Fisher, 1935, one-sided). 1 where in > m or
 * out > n.
 */
static inline double fisher_chance(uint64_t m, uint64_t in, uint64_t n, uint64_t out)
{
	uint64_t all = in + out, most = all < m ? all : m;
	double sum = 0;

	if (in > m || out > n)
		return 1;
	for (uint64_t x = in; x <= most; x++)
		if (all - x <= n)
			sum += exp(fisher_log_choose(m, x) + fisher_log_choose(n, all - x) -
				   fisher_log_choose(m + n, all));
	return sum < 1 ? sum : 1;
}

#endif
