/* SPDX-License-Identifier: MIT */
/* Speed of the metrics in GB of one side a second of processor time: meson test -C build
 * --benchmark */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyze/metrics.h"
#include "analyze/sweep.h"
#include "kernelab/bundle.h"
#include "lib/base.h"

#define BYTES  (256u << 20) /* two of them are in no cache */
#define PERIOD (1u << 20)   /* elements */

static double processor_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Ordinary numbers of a type. */
static uint64_t bits_of(enum dtype t, size_t i)
{
	float f = 1 + (float)(i % 977) / 100;
	double d = f;
	uint32_t word;
	uint64_t wide;

	memcpy(&word, &f, sizeof(word));
	memcpy(&wide, &d, sizeof(wide));
	switch (t) {
	case DTYPE_F64:
		return wide;
	case DTYPE_BF16:
		return word >> 16;
	case DTYPE_F16:
		return 0x3c00 + i % 977;
	case DTYPE_F8E4M3:
		return 0x20 + i % 50;
	default:
		return word;
	}
}

/* Every `one_in`-th element differs by its last bit; 0: none. */
static void fill(enum dtype t, size_t one_in, unsigned char *a, unsigned char *b)
{
	uint32_t bytes = dtype_bytes(t);

	for (size_t i = 0; i < PERIOD; i++) {
		uint64_t x = bits_of(t, i), y = x ^ (one_in && i % one_in == 0);

		memcpy(a + i * bytes, &x, bytes);
		memcpy(b + i * bytes, &y, bytes);
	}
	for (size_t at = PERIOD * bytes; at < BYTES; at += PERIOD * bytes) {
		size_t size = BYTES - at < PERIOD * bytes ? BYTES - at : PERIOD * bytes;

		memcpy(a + at, a, size);
		memcpy(b + at, b, size);
	}
}

/* GB of one side a second; memcmp where there is no level. */
static double rate(const struct sweep *level, enum dtype t, const unsigned char *a,
		   const unsigned char *b)
{
	uint32_t bytes = dtype_bytes(t);
	double start = processor_seconds();
	struct metrics m;

	metrics_begin(&m, t);
	m.sweep = level;
	for (size_t at = 0; at < BYTES; at += CHUNK_BYTES) {
		if (level)
			metrics_add(&m, a + at, b + at, CHUNK_BYTES / bytes, at / bytes, NULL);
		else if (memcmp(a + at, b + at, CHUNK_BYTES))
			abort(); /* equal data is asked for */
	}
	return 1e-9 * BYTES / (processor_seconds() - start);
}

/* The best of some runs, and of as many of memcmp in between. */
static void measure(const struct sweep *level, enum dtype t, size_t one_in, const char *what,
		    unsigned char *a, unsigned char *b)
{
	double best = 0, plain = 0;

	fill(t, one_in, a, b);
	for (int run = 0; run < (one_in ? 1 : 7); run++) {
		best = fmax(best, rate(level, t, a, b));
		if (!one_in)
			plain = fmax(plain, rate(NULL, t, a, b));
	}
	printf("%-13s %-7s %-12s %6.2f GB/s", level->name, dtype_name(t), what, best);
	if (!one_in)
		printf(", memcmp %5.2f: %3.0f %%", plain, 100 * best / plain);
	printf("\n");
}

int main(void)
{
	static const enum dtype types[] = {DTYPE_F64,  DTYPE_F32,    DTYPE_F16,
					   DTYPE_BF16, DTYPE_F8E4M3, DTYPE_I32};
	_cleanup_free_ unsigned char *a = malloc(BYTES), *b = malloc(BYTES);

	if (!a || !b)
		return 2;
	for (size_t k = 0; sweep_level(k); k++)
		for (size_t i = 0; i < ARRAY_LENGTH(types); i++) {
			measure(sweep_level(k), types[i], 0, "equal", a, b);
			measure(sweep_level(k), types[i], 500, "1 in 500", a, b);
			measure(sweep_level(k), types[i], 1, "all differ", a, b);
		}
	return 0;
}
