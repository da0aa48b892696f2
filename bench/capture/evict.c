/* SPDX-License-Identifier: MIT */
/* A thousand functions of a cache line each, and a clock. */
#include "bench/capture/evict.h"

#include <time.h>

#ifdef __x86_64__
#include <x86intrin.h>
#endif

/* clang-format off */
#define ONE(n) \
	__attribute__((noinline, aligned(64))) static unsigned code_##n(unsigned x) { return x * 2654435761u ^ 1##n##u; }
#define TEN(F, n) F(n##0) F(n##1) F(n##2) F(n##3) F(n##4) F(n##5) F(n##6) F(n##7) F(n##8) F(n##9)
#define HUNDRED(F, n) TEN(F, n##0) TEN(F, n##1) TEN(F, n##2) TEN(F, n##3) TEN(F, n##4) TEN(F, n##5) \
	TEN(F, n##6) TEN(F, n##7) TEN(F, n##8) TEN(F, n##9)
#define THOUSAND(F) HUNDRED(F, 0) HUNDRED(F, 1) HUNDRED(F, 2) HUNDRED(F, 3) HUNDRED(F, 4) HUNDRED(F, 5) \
	HUNDRED(F, 6) HUNDRED(F, 7) HUNDRED(F, 8) HUNDRED(F, 9)
/* clang-format on */

THOUSAND(ONE)

#define NAME(n) code_##n,
static unsigned (*const code[])(unsigned) = {THOUSAND(NAME)};

void evict(char *memory, size_t bytes)
{
	volatile char *at = memory;
	unsigned x = 1;

	for (size_t i = 0; i < bytes; i += 64)
		at[i]++;
	for (size_t i = 0; i < sizeof(code) / sizeof(code[0]); i++)
		x = code[i](x);
	if (bytes)
		at[0] += (char)x;
}

static uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t evict_ticks(void)
{
#ifdef __x86_64__
	uint64_t now;

	_mm_lfence();
	now = __rdtsc();
	_mm_lfence();
	return now;
#else
	return clock_ns();
#endif
}

double evict_tick_ns(void)
{
	uint64_t ns = clock_ns(), ticks = evict_ticks();

	while (clock_ns() - ns < 20000000)
		;
	return (double)(clock_ns() - ns) / (double)(evict_ticks() - ticks);
}
