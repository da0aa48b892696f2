/* SPDX-License-Identifier: MIT */
/* The values of A and of B as two distributions: quantiles, and how far apart they lie. */
#include "analyze/distribution.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/number.h"

struct distribution {
	enum dtype dtype;
	uint32_t bins;
	uint64_t counts[2][1 << 16]; /* by leading bits of the raw element */
};

struct distribution *distribution_new(enum dtype t)
{
	struct distribution *d = calloc(1, sizeof(*d));

	if (d) {
		d->dtype = t;
		d->bins = dtype_bytes(t) == 1 ? 1u << 8 : 1u << 16;
	}
	return d;
}

void distribution_free(struct distribution *d)
{
	free(d);
}

static void add_side(uint64_t *counts, uint32_t bytes, const unsigned char *raw, size_t n)
{
	if (bytes == 1) {
		for (size_t i = 0; i < n; i++)
			counts[raw[i]]++;
		return;
	}
	for (size_t i = 0; i < n; i++) { /* little-endian: the leading bits are the last bytes */
		uint16_t lead;

		memcpy(&lead, raw + (i + 1) * bytes - sizeof(lead), sizeof(lead));
		counts[lead]++;
	}
}

void distribution_add(struct distribution *d, const unsigned char *a, const unsigned char *b,
		      size_t n)
{
	add_side(d->counts[0], dtype_bytes(d->dtype), a, n);
	add_side(d->counts[1], dtype_bytes(d->dtype), b, n);
}

/* The least number in magnitude of the bin that the leading bits name. */
static double bin_value(const struct distribution *d, uint32_t bits)
{
	unsigned char raw[8] = {0};
	uint32_t bytes = dtype_bytes(d->dtype);
	uint16_t lead = (uint16_t)bits;
	double value;

	if (bytes == 1)
		raw[0] = (unsigned char)bits;
	else
		memcpy(raw + bytes - sizeof(lead), &lead, sizeof(lead));
	number_load(d->dtype, raw, 1, &value, NULL);
	return value;
}

/* The bin at place k of the order of values: negative ones from the greatest magnitude down. */
static uint32_t bin_at(const struct distribution *d, uint32_t k)
{
	uint32_t half = d->bins / 2;

	return k < half ? d->bins - 1 - k : k - half;
}

/* The two zeros are one value. */
static uint64_t count_at(const struct distribution *d, int side, uint32_t k)
{
	uint32_t half = d->bins / 2;
	bool exact = dtype_bytes(d->dtype) <= 2; /* else the bin holds more than a zero */

	if (exact && k == half - 1)
		return 0;
	if (exact && k == half && isfinite(bin_value(d, half)))
		return d->counts[side][0] + d->counts[side][half];
	return d->counts[side][bin_at(d, k)];
}

static void take_quantiles(const struct distribution *d, int side, uint64_t total,
			   struct distribution_figures *out)
{
	static const double shares[DISTRIBUTION_QUANTILES] = {0.01, 0.25, 0.5, 0.75, 0.99};
	uint64_t below = 0;
	int next = 0;

	for (uint32_t k = 0; k < d->bins && next < DISTRIBUTION_QUANTILES; k++) {
		double value = bin_value(d, bin_at(d, k));

		if (!isfinite(value))
			continue;
		below += count_at(d, side, k);
		while (next < DISTRIBUTION_QUANTILES &&
		       (double)below >= shares[next] * (double)total && below)
			out->quantiles[side][next++] = value;
	}
}

void distribution_figures(const struct distribution *d, struct distribution_figures *out)
{
	uint64_t total[2] = {0}, now[2] = {0}, before[2] = {0};

	*out = (struct distribution_figures){0};
	for (uint32_t k = 0; k < d->bins; k++)
		if (isfinite(bin_value(d, bin_at(d, k))))
			for (int s = 0; s < 2; s++)
				total[s] += count_at(d, s, k);
	if (!total[0] || !total[1])
		return;
	out->elements = total[0] < total[1] ? total[0] : total[1];
	for (uint32_t k = 0; k < d->bins; k++) {
		double value = bin_value(d, bin_at(d, k)), most;

		if (!isfinite(value))
			continue;
		for (int s = 0; s < 2; s++) {
			before[s] = now[s];
			now[s] += count_at(d, s, k);
		}
		most = fmax(
			(double)before[0] / (double)total[0] - (double)now[1] / (double)total[1],
			(double)before[1] / (double)total[1] - (double)now[0] / (double)total[0]);
		if (most > out->distance) {
			out->distance = most;
			out->at = value;
		}
	}
	take_quantiles(d, 0, total[0], out);
	take_quantiles(d, 1, total[1], out);
}
