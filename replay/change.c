/* SPDX-License-Identifier: MIT */
/* Changed inputs: float elements moved by a small step, scaled, or replaced by small integers. */
#include "replay/change.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "kernelab/dtype.h"
#include "lib/base.h"
#include "replay/layout.h"

/* A float type by its bits: sign, exponent, mantissa. */
struct layout {
	uint32_t bytes;
	int mantissa, bias;
	uint64_t infinity; /* magnitude bits; 0: has none */
	uint64_t greatest; /* magnitude bits of the greatest finite value */
};

static const struct layout *layout_of(uint32_t dtype)
{
	static const struct layout layouts[DTYPE_COUNT] = {
		[DTYPE_F64] = {8, 52, 1023, 0x7ff0000000000000, 0x7fefffffffffffff},
		[DTYPE_F32] = {4, 23, 127, 0x7f800000, 0x7f7fffff},
		[DTYPE_F16] = {2, 10, 15, 0x7c00, 0x7bff},
		[DTYPE_BF16] = {2, 7, 127, 0x7f80, 0x7f7f},
		[DTYPE_F8E4M3] = {1, 3, 7, 0, 0x7e},
		[DTYPE_F8E5M2] = {1, 2, 15, 0x7c, 0x7b},
		[DTYPE_F8E4M3FNUZ] = {1, 3, 8, 0, 0x7f},
		[DTYPE_F8E5M2FNUZ] = {1, 2, 16, 0, 0x7f},
	};

	return dtype < DTYPE_COUNT && layouts[dtype].bytes ? &layouts[dtype] : NULL;
}

static uint64_t sign_bit(const struct layout *f)
{
	return 1ull << (8 * f->bytes - 1);
}

static uint64_t load(const struct layout *f, const uint8_t *at)
{
	uint64_t bits = 0;

	memcpy(&bits, at, f->bytes);
	return bits;
}

double dtype_roundoff(uint32_t dtype)
{
	const struct layout *f = layout_of(dtype);

	return f ? ldexp(1, -f->mantissa - 1) : 0;
}

double float_step(const struct pointer *pointers, size_t count)
{
	double h = 0;

	for (size_t i = 0; i < count; i++)
		h = fmax(h, dtype_roundoff(pointers[i].dtype));
	return h;
}

static int add_input(struct float_inputs *out, uint64_t from, uint64_t end, const struct pointer *p,
		     uint32_t bytes)
{
	int rc;

	from += (bytes - (from - p->address) % bytes) % bytes;
	if (end < from + bytes)
		return 0;
	rc = array_reserve(&out->items, out->count, &out->capacity, sizeof(*out->items));
	if (!rc)
		out->items[out->count++] = (struct float_input){from, (end - from) / bytes * bytes,
								p->dtype, p->address};
	return rc;
}

static bool is_measured(const struct record_launch *launch)
{
	for (size_t i = 0; i < launch->regions.count; i++)
		if (launch->regions.items[i].reads.count || launch->regions.items[i].writes.count)
			return true;
	return false;
}

/* The part of [p->address, end) that was seen to be read. */
static int add_reads(struct float_inputs *out, const struct record_launch *launch, uint64_t end,
		     const struct pointer *p, uint32_t bytes)
{
	for (size_t i = 0; i < launch->regions.count; i++) {
		const struct record_region *r = &launch->regions.items[i];
		uint64_t base = layout_address(launch->regions.items, i);

		if (p->address < base || p->address - base >= r->size)
			continue;
		for (size_t k = 0; k + 1 < r->reads.count; k += 2) {
			uint64_t from = base + r->reads.items[k];
			uint64_t to = from + r->reads.items[k + 1];
			int rc;

			from = from < p->address ? p->address : from;
			to = to > end ? end : to;
			rc = from < to ? add_input(out, from, to, p, bytes) : 0;
			if (rc)
				return rc;
		}
		return 0;
	}
	return 0;
}

int float_inputs_find(struct float_inputs *out, const struct pointer *pointers, size_t count,
		      const struct record_launch *launch)
{
	bool measured = is_measured(launch);

	*out = (struct float_inputs){0};
	for (size_t i = 0; i < count; i++) {
		const struct pointer *p = &pointers[i];
		const struct layout *f = layout_of(p->dtype);
		uint64_t end = p->limit;
		int rc;

		if (i + 1 < count && pointers[i + 1].address < end)
			end = pointers[i + 1].address;
		if (!f)
			continue;
		rc = measured ? add_reads(out, launch, end, p, f->bytes)
			      : add_input(out, p->address, end, p, f->bytes);
		if (rc)
			return rc;
	}
	return 0;
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
static inline uint64_t moved(const struct layout *f, uint64_t bits, double h, uint64_t seed)
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

static inline uint64_t small_integer(const struct layout *f, uint64_t index, uint64_t seed)
{
	uint64_t v = mix(index ^ seed) & CHANGE_INTEGER_MAX;
	int e = v ? 63 - __builtin_clzll(v) : 0;

	if (!v)
		return 0;
	return ((uint64_t)(e + f->bias) << f->mantissa) | ((v ^ (1ull << e)) << f->mantissa >> e);
}

/* Times 2^e; masks, infinities and NaN stay, as in moved(). */
static inline uint64_t scaled(const struct layout *f, uint64_t bits, int e)
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

static inline uint64_t changed(const struct change *c, const struct layout *f, uint64_t bits,
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
	const struct layout *f = layout_of(x->dtype);
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

/* The first input that ends behind the address. */
static size_t first_input(const struct float_inputs *x, uint64_t address)
{
	size_t low = 0, high = x->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (x->items[middle].base + x->items[middle].size <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool change_touches(const struct change *c, uint64_t address)
{
	size_t i = first_input(c->inputs, address);

	return i < c->inputs->count && c->inputs->items[i].base < address + CHUNK_BYTES;
}

bool change_chunk(const struct change *c, size_t chunk, uint64_t address, uint8_t *data)
{
	bool any = false;

	for (size_t i = first_input(c->inputs, address); i < c->inputs->count; i++) {
		const struct float_input *x = &c->inputs->items[i];

		if (x->base >= address + CHUNK_BYTES)
			break;
		change_input(c, x, chunk, address, data);
		any = true;
	}
	return any;
}

enum float_class float_class(uint32_t dtype, const void *element)
{
	const struct layout *f = layout_of(dtype);
	uint64_t bits = f ? load(f, element) : 0, magnitude;

	if (!f)
		return FLOAT_FINITE;
	magnitude = bits & (sign_bit(f) - 1);
	if (dtype == DTYPE_F8E4M3FNUZ || dtype == DTYPE_F8E5M2FNUZ)
		return bits == sign_bit(f) ? FLOAT_NAN : FLOAT_FINITE;
	if (magnitude <= f->greatest)
		return FLOAT_FINITE;
	return magnitude == f->infinity ? FLOAT_INFINITE : FLOAT_NAN;
}

double float_value(uint32_t dtype, const void *element)
{
	const struct layout *f = layout_of(dtype);
	uint64_t bits = f ? load(f, element) : 0, magnitude, one;
	double value;
	int e;

	if (!f)
		return 0;
	magnitude = bits & (sign_bit(f) - 1);
	one = 1ull << f->mantissa;
	e = (int)(magnitude >> f->mantissa);
	value = ldexp((double)((magnitude & (one - 1)) | (e ? one : 0)),
		      (e ? e : 1) - f->bias - f->mantissa);
	return bits & sign_bit(f) ? -value : value;
}
