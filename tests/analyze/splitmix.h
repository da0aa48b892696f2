/* SPDX-License-Identifier: MIT */
/* The random numbers of simulated outputs: the same in every run. */
#ifndef TESTS_ANALYZE_SPLITMIX_H
#define TESTS_ANALYZE_SPLITMIX_H

#include <stdint.h>

/* The next 64 bits of SplitMix64 (Steele, Lea, Flood 2014); any state will do. */
static inline uint64_t splitmix64(uint64_t *state)
{
	uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

#endif
