/* SPDX-License-Identifier: MIT */
/* Changed inputs on the host, element by element: what the device's are compared with. */
#include "tests/replay/change_host.h"

#include <string.h>

static uint64_t sign_bit(const struct float_format *f)
{
	return 1ull << (8 * f->bytes - 1);
}

static uint64_t load(const struct float_format *f, const uint8_t *at)
{
	uint64_t bits = 0;

	memcpy(&bits, at, f->bytes);
	return bits;
}

/* A well-mixed word: the finaliser of SplitMix64 (Steele, Lea, Flood 2014). */
static inline uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ull;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

/*
 * One step of h in the direction of the hash. In units of the last place x is its significand s,
 * and the step h s; the fraction decides by chance. Steps over a power of two are counted in the
 * smaller unit below it: a difference of second order in h.
 */
static inline uint64_t moved(const struct float_format *f, uint64_t bits, double h, uint64_t seed)
{
	uint64_t sign = sign_bit(f), magnitude = bits & (sign - 1), one = 1ull << f->mantissa;
	uint64_t random = mix(bits ^ seed), significand, whole;
	double steps;

	if (!magnitude || magnitude >= f->greatest)
		return bits;
	significand = (magnitude & (one - 1)) | (magnitude >= one ? one : 0);
	steps = h * (double)significand;
	whole = (uint64_t)steps;
	whole += (double)(random >> 12) * 0x1p-52 < steps - (double)whole;
	if (random & 1)
		magnitude = f->greatest - magnitude > whole ? magnitude + whole : magnitude;
	else
		magnitude -= whole < magnitude ? whole : 0;
	return (bits & sign) | magnitude;
}

static inline uint64_t small_integer(const struct float_format *f, uint64_t index, uint64_t seed)
{
	uint64_t v = mix(index ^ seed) & CHANGE_INTEGER_MAX;
	int e = v ? 63 - __builtin_clzll(v) : 0;

	if (!v)
		return 0;
	return ((uint64_t)(e + f->bias) << f->mantissa) | ((v ^ (1ull << e)) << f->mantissa >> e);
}

/* Times 2^e; masks, infinities and NaN stay, as in moved(). */
static inline uint64_t scaled(const struct float_format *f, uint64_t bits, int e)
{
	uint64_t sign = sign_bit(f), magnitude = bits & (sign - 1), one = 1ull << f->mantissa;
	uint64_t s, half;
	int64_t exponent;

	if (!magnitude || magnitude >= f->greatest || f->bytes == 1)
		return bits;
	s = magnitude & (one - 1);
	exponent = (int64_t)(magnitude >> f->mantissa);
	if (exponent)
		s |= one;
	else
		exponent = 1;
	for (; s < one; s <<= 1)
		exponent--;
	exponent += e;
	if (exponent > (int64_t)(f->greatest >> f->mantissa))
		return (bits & sign) | f->greatest;
	if (exponent >= 1)
		return (bits & sign) | ((uint64_t)exponent << f->mantissa) | (s & (one - 1));
	if (1 - exponent > f->mantissa + 1)
		return bits & sign;
	half = 1ull << -exponent; /* of the 1 - exponent bits that go */
	magnitude = s >> (1 - exponent);
	s &= 2 * half - 1;
	return (bits & sign) | (magnitude + (s > half || (s == half && (magnitude & 1))));
}

static inline uint64_t changed(const struct change *c, const struct float_format *f, uint64_t bits,
			       uint64_t index)
{
	switch (c->kind) {
	case CHANGE_PERTURB:
		return moved(f, bits, c->step, c->seed);
	case CHANGE_INTEGERS:
		return small_integer(f, index, c->seed);
	case CHANGE_SCALE:
		bits = scaled(f, bits, c->exponent);
		return c->step > 0 ? moved(f, bits, c->step, c->seed) : bits;
	}
	return bits;
}

/* Elements of one input that lie wholly within the chunk [address, address + CHUNK_BYTES). */
static void change_input(const struct change *c, const struct float_input *x, size_t chunk,
			 uint64_t address, uint8_t *data)
{
	const uint64_t *keep = c->keep ? c->keep->words[chunk] : NULL;
	const uint64_t *zero = c->zero ? c->zero->words[chunk] : NULL;
	const struct float_format *f = float_format(x->dtype);
	uint64_t first = x->base, end = x->base + x->size;

	if (first < address)
		first += (address - first + f->bytes - 1) / f->bytes * f->bytes;
	if (end > address + CHUNK_BYTES)
		end = address + CHUNK_BYTES;
	for (uint64_t at = first; at + f->bytes <= end; at += f->bytes) {
		uint64_t offset = at - address, bits;

		if (keep && keep[offset / 64] >> offset % 64 & 1)
			continue;
		if (zero && zero[offset / 64] >> offset % 64 & 1)
			bits = 0;
		else
			bits = changed(c, f, load(f, data + offset), (at - x->origin) / f->bytes);
		memcpy(data + offset, &bits, f->bytes);
	}
}

bool change_chunk(const struct change *c, size_t chunk, uint64_t address, uint8_t *data)
{
	bool any = false;

	for (size_t i = 0; i < c->inputs->count; i++) {
		const struct float_input *x = &c->inputs->items[i];

		if (x->base >= address + CHUNK_BYTES || x->base + x->size <= address)
			continue;
		change_input(c, x, chunk, address, data);
		any = true;
	}
	return any;
}
