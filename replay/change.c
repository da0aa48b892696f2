/* SPDX-License-Identifier: MIT */
/* Changed inputs: float elements moved by a small step, scaled, or replaced by small integers. */
#include "replay/change.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "kernelab/dtype.h"
#include "lib/base.h"
#include "replay/layout.h"

const struct float_format *float_format(uint32_t dtype)
{
	static const struct float_format formats[DTYPE_COUNT] = {
		[DTYPE_F64] = {8, 52, 1023, 0x7ff0000000000000, 0x7fefffffffffffff},
		[DTYPE_F32] = {4, 23, 127, 0x7f800000, 0x7f7fffff},
		[DTYPE_F16] = {2, 10, 15, 0x7c00, 0x7bff},
		[DTYPE_BF16] = {2, 7, 127, 0x7f80, 0x7f7f},
		[DTYPE_F8E4M3] = {1, 3, 7, 0, 0x7e},
		[DTYPE_F8E5M2] = {1, 2, 15, 0x7c, 0x7b},
		[DTYPE_F8E4M3FNUZ] = {1, 3, 8, 0, 0x7f},
		[DTYPE_F8E5M2FNUZ] = {1, 2, 16, 0, 0x7f},
	};

	return dtype < DTYPE_COUNT && formats[dtype].bytes ? &formats[dtype] : NULL;
}

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

double dtype_roundoff(uint32_t dtype)
{
	const struct float_format *f = float_format(dtype);

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
	*out = (struct float_inputs){0};
	for (size_t i = 0; i < count; i++) {
		const struct pointer *p = &pointers[i];
		const struct float_format *f = float_format(p->dtype);
		uint64_t end = p->limit;
		int rc;

		if (i + 1 < count && pointers[i + 1].address < end)
			end = pointers[i + 1].address;
		if (!f)
			continue;
		rc = launch->measured ? add_reads(out, launch, end, p, f->bytes)
				      : add_input(out, p->address, end, p, f->bytes);
		if (rc)
			return rc;
	}
	return 0;
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

/* What becomes of an element, told by the bit of its first byte. */
enum fate { FATE_CHANGE, FATE_KEEP, FATE_ZERO };

struct fates {
	const uint64_t *keep, *zero; /* a chunk's bits; NULL: none is set */
};

static enum fate fate_of(const struct fates *f, uint64_t offset)
{
	if (f->keep && f->keep[offset / 64] >> offset % 64 & 1)
		return FATE_KEEP;
	return f->zero && f->zero[offset / 64] >> offset % 64 & 1 ? FATE_ZERO : FATE_CHANGE;
}

/* Whether 64 bytes share one fate. */
static bool word_alike(const struct fates *f, uint64_t offset)
{
	uint64_t keep = f->keep ? f->keep[offset / 64] : 0;
	uint64_t zero = f->zero ? f->zero[offset / 64] : 0;

	return (keep == 0 || keep == UINT64_MAX) && (zero == 0 || zero == UINT64_MAX);
}

/* Where the elements from `at` on stop to have its fate; `at` and the result are offsets. */
static uint64_t alike_until(const struct fates *f, uint64_t at, uint64_t end, uint32_t bytes)
{
	enum fate fate = fate_of(f, at);

	if (!f->keep && !f->zero)
		return end;
	while (at < end && fate_of(f, at) == fate)
		at += at % 64 == 0 && at + 64 <= end && word_alike(f, at) ? 64 : bytes;
	return at < end ? at : end;
}

/* How many of `count` elements from `device` on make the next row. */
static uint64_t row_elements(uint64_t device, uint64_t count, uint32_t bytes, bool *whole)
{
	uint64_t most = count < CHANGE_ROW_ELEMENTS ? count : CHANGE_ROW_ELEMENTS;
	uint64_t head = device % 16 ? (16 - device % 16) / bytes : 0;

	*whole = !head && most * bytes >= 16;
	if (head)
		return head < most ? head : most;
	return *whole ? most * bytes / 16 * 16 / bytes : most;
}

int change_rows_add(struct change_rows *out, const struct change_row *first, uint32_t dtype,
		    uint64_t count, uint64_t step)
{
	const struct float_format *f = float_format(dtype);
	struct change_row row = *first;

	row.greatest = f->greatest;
	row.bytes = f->bytes;
	row.mantissa = (uint32_t)f->mantissa;
	row.bias = (uint32_t)f->bias;
	while (count) {
		bool whole;
		uint64_t n = row_elements(row.address, count, f->bytes, &whole);
		int rc =
			array_reserve(&out->items, out->count, &out->capacity, sizeof(*out->items));

		if (rc)
			return rc;
		row.count = (uint32_t)n;
		row.whole = whole;
		out->items[out->count++] = row;
		row.address += n * f->bytes;
		row.index += n * step;
		count -= n;
	}
	return 0;
}

/* Elements of one input that lie wholly within the chunk [address, address + CHUNK_BYTES). */
static int input_rows(struct change_rows *out, const struct change *c, const struct float_input *x,
		      size_t chunk, uint64_t address, uint64_t device)
{
	const struct fates f = {c->keep ? c->keep->words[chunk] : NULL,
				c->zero ? c->zero->words[chunk] : NULL};
	uint32_t bytes = float_format(x->dtype)->bytes;
	uint64_t first = x->base, end = x->base + x->size;
	int rc = 0;

	if (first < address)
		first += (address - first + bytes - 1) / bytes * bytes;
	if (end > address + CHUNK_BYTES)
		end = address + CHUNK_BYTES;
	if (end < first + bytes)
		return 0;
	first -= address;
	end = first + (end - address - first) / bytes * bytes;
	if ((device + first) % bytes) /* no kernel can read it as that type */
		return 0;
	while (!rc && first < end) {
		enum fate fate = fate_of(&f, first);
		uint64_t until = alike_until(&f, first, end, bytes);
		const struct change_row row = {.address = device + first,
					       .index = (address + first - x->origin) / bytes,
					       .zero = fate == FATE_ZERO};

		if (fate != FATE_KEEP)
			rc = change_rows_add(out, &row, x->dtype, (until - first) / bytes, 1);
		first = until;
	}
	return rc;
}

int change_rows(struct change_rows *out, const struct change *c, size_t chunk, uint64_t address,
		uint64_t device)
{
	int rc = 0;

	for (size_t i = first_input(c->inputs, address); !rc && i < c->inputs->count; i++) {
		const struct float_input *x = &c->inputs->items[i];

		if (x->base >= address + CHUNK_BYTES)
			break;
		rc = input_rows(out, c, x, chunk, address, device);
	}
	return rc;
}

enum float_class float_class(uint32_t dtype, const void *element)
{
	const struct float_format *f = float_format(dtype);
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

/* 2^e of a normal double. */
static double power_of_two(int e)
{
	uint64_t bits = (uint64_t)(e + 1023) << 52;
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

double float_value(uint32_t dtype, const void *element)
{
	const struct float_format *f = float_format(dtype);
	uint64_t bits = f ? load(f, element) : 0, magnitude, one;
	double value;
	int e;

	if (!f)
		return 0;
	if (f->bytes == sizeof(value)) {
		memcpy(&value, element, sizeof(value));
		return value;
	}
	magnitude = bits & (sign_bit(f) - 1);
	one = 1ull << f->mantissa;
	e = (int)(magnitude >> f->mantissa);
	value = (double)((magnitude & (one - 1)) | (e ? one : 0)) *
		power_of_two((e ? e : 1) - f->bias - f->mantissa);
	return bits & sign_bit(f) ? -value : value;
}
