/* SPDX-License-Identifier: MIT */
/* Elements of shadows, and the shadow of memory: pages of tags and doubles by host address. */
#include "softgpu/shadow.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "lib/base.h"
#include "softgpu/shadow_cell.h"

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

#define PAGE_BITS   12u
#define PAGE_BYTES  (1u << PAGE_BITS)
#define PAGES_LEAST 64u

struct shadow_page {
	uintptr_t number; /* host address >> PAGE_BITS */
	uint8_t tags[PAGE_BYTES];
	double values[PAGE_BYTES];
};

unsigned shadow_format_bytes(enum shadow_format f)
{
	static const uint8_t bytes[SHADOW_FORMAT_COUNT] = {
		[SHADOW_F32] = 4,  [SHADOW_F64] = 8,  [SHADOW_F16] = 2,
		[SHADOW_BF16] = 2, [SHADOW_E4M3] = 1, [SHADOW_E5M2] = 1};

	return f < SHADOW_FORMAT_COUNT ? bytes[f] : 0;
}

/* ---- elements ---- */

double cell_exact(enum shadow_format format, const uint8_t *bits)
{
	uint16_t half;
	uint32_t word;
	uint64_t wide;

	switch (format) {
	case SHADOW_F32:
		memcpy(&word, bits, 4);
		return f32_from(word);
	case SHADOW_F64:
		memcpy(&wide, bits, 8);
		return f64_from(wide);
	case SHADOW_F16:
	case SHADOW_BF16:
		memcpy(&half, bits, 2);
		return format == SHADOW_F16 ? f16_value(half) : bf16_value(half);
	case SHADOW_E4M3:
		if ((*bits & 0x7f) == 0x7f)
			return NAN;
		/* The binade that IEEE keeps for infinities is in use. */
		return (*bits & 0x78) == 0x78 ? 2.0 * small_value(*bits - 8u, 4, 3)
					      : small_value(*bits, 4, 3);
	case SHADOW_E5M2:
		return small_value(*bits, 5, 2);
	default:
		return NAN;
	}
}

bool cell_has(struct cell c, enum shadow_format format, unsigned bytes)
{
	if (!c.tags)
		return false;
	for (unsigned k = 0; k < bytes; k++)
		if (c.tags[k] != TAG(format, k) || f64_bits(c.values[k]) != f64_bits(*c.values))
			return false;
	return true;
}

double cell_value(struct cell c, enum shadow_format format)
{
	if (cell_has(c, format, shadow_format_bytes(format)))
		return *c.values;
	if (format == SHADOW_F32 && c.tags && !c.tags[0] && !c.tags[1] && !c.bits[0] &&
	    !c.bits[1] &&
	    cell_has((struct cell){c.bits + 2, c.tags + 2, c.values + 2}, SHADOW_BF16, 2))
		return c.values[2];
	return cell_exact(format, c.bits);
}

void cell_write(uint8_t *tags, double *values, enum shadow_format format, double x,
		const uint8_t *bits)
{
	unsigned n = shadow_format_bytes(format);
	double exact = cell_exact(format, bits);

	if (x == exact || isnan(x) || isnan(exact)) {
		cell_clear(tags, n);
		return;
	}
	for (unsigned k = 0; k < n; k++) {
		tags[k] = TAG(format, k);
		values[k] = x;
	}
}

void cell_write_integer(uint8_t *tags, double *values, unsigned bytes, double x)
{
	for (unsigned k = 0; k < bytes; k++) {
		tags[k] = TAG(SHADOW_INTEGER, k);
		values[k] = x;
	}
}

/* ---- memory ---- */

int shadow_new(struct shadow **out, uint64_t bytes_max)
{
	struct shadow *s = calloc(1, sizeof(*s));

	*out = s;
	if (!s)
		return -ENOMEM;
	s->bytes_max = bytes_max;
	return 0;
}

void shadow_free(struct shadow *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->page_capacity; i++)
		free(s->pages[i]);
	free(s->pages);
	free(s->lost_at);
	free(s);
}

const struct shadow_counts *shadow_counts(const struct shadow *s)
{
	return &s->counts;
}

static size_t page_slot(const struct shadow *s, uintptr_t number)
{
	size_t i = (size_t)(number * 0x9e3779b97f4a7c15ull >> 20) & (s->page_capacity - 1);

	while (s->pages[i] && s->pages[i]->number != number)
		i = (i + 1) & (s->page_capacity - 1);
	return i;
}

static struct shadow_page *page_find(const struct shadow *s, uintptr_t number)
{
	return s->page_capacity ? s->pages[page_slot(s, number)] : NULL;
}

static bool pages_grow(struct shadow *s)
{
	struct shadow_page **old = s->pages;
	size_t capacity = s->page_capacity;

	if (2 * (s->page_count + 1) <= capacity)
		return true;
	s->page_capacity = capacity ? 2 * capacity : PAGES_LEAST;
	s->pages = calloc(s->page_capacity, sizeof(struct shadow_page *));
	if (!s->pages) {
		s->pages = old;
		s->page_capacity = capacity;
		return false;
	}
	for (size_t i = 0; i < capacity; i++)
		if (old[i])
			s->pages[page_slot(s, old[i]->number)] = old[i];
	free(old);
	return true;
}

static struct shadow_page *page_make(struct shadow *s, uintptr_t number)
{
	struct shadow_page *p = page_find(s, number);

	if (p)
		return p;
	if (s->counts.memory_bytes + sizeof(*p) > s->bytes_max || !pages_grow(s))
		return NULL;
	p = malloc(sizeof(*p));
	if (!p)
		return NULL;
	p->number = number;
	memset(p->tags, 0, sizeof(p->tags));
	s->pages[page_slot(s, number)] = p;
	s->page_count++;
	s->counts.memory_bytes += sizeof(*p);
	return p;
}

void shadow_read(const struct shadow *s, const uint8_t *host, unsigned n, uint8_t *tags,
		 double *values)
{
	while (n) {
		unsigned at = (uintptr_t)host & (PAGE_BYTES - 1);
		unsigned part = MIN(n, PAGE_BYTES - at);
		const struct shadow_page *p = page_find(s, (uintptr_t)host >> PAGE_BITS);

		if (p) {
			memcpy(tags, p->tags + at, part);
			memcpy(values, p->values + at, part * sizeof(*values));
		} else {
			memset(tags, 0, part);
		}
		host += part;
		tags += part;
		values += part;
		n -= part;
	}
}

static bool any(const uint8_t *tags, unsigned n)
{
	for (unsigned k = 0; k < n; k++)
		if (tags[k])
			return true;
	return false;
}

void shadow_watch(struct shadow *s, const uint8_t *const *places, size_t count, bool *seen)
{
	s->places = places;
	s->place_count = s->unseen = count;
	s->seen = seen;
	if (count)
		memset(seen, 0, count * sizeof(*seen));
}

size_t shadow_unseen(const struct shadow *s)
{
	return s->unseen;
}

static void look(struct shadow *s, const uint8_t *host, unsigned n)
{
	size_t low = 0, high = s->place_count;

	if (host + n <= s->places[0] || host > s->places[high - 1])
		return;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->places[middle] < host)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < s->place_count && s->places[low] < host + n; low++) {
		s->unseen -= !s->seen[low];
		s->seen[low] = true;
	}
}

void shadow_store(struct shadow *s, const uint8_t *host, unsigned n, const uint8_t *tags,
		  const double *values)
{
	if (s->unseen)
		look(s, host, n);
	while (n) {
		uintptr_t number = (uintptr_t)host >> PAGE_BITS;
		unsigned at = (uintptr_t)host & (PAGE_BYTES - 1);
		unsigned part = MIN(n, PAGE_BYTES - at);
		struct shadow_page *p = page_find(s, number);

		if (!p && any(tags, part)) {
			p = page_make(s, number);
			s->full |= !p;
		}
		if (p) {
			memcpy(p->tags + at, tags, part);
			memcpy(p->values + at, values, part * sizeof(*values));
		}
		host += part;
		tags += part;
		values += part;
		n -= part;
	}
}

static void page_forget(struct shadow_page *p, uintptr_t from, uintptr_t to)
{
	uintptr_t base = p->number << PAGE_BITS;
	uintptr_t low = MAX(from, base), high = MIN(to, base + PAGE_BYTES);

	if (low < high)
		memset(p->tags + (low - base), 0, high - low);
}

void shadow_forget(struct shadow *s, const uint8_t *host, uint64_t size)
{
	uintptr_t from = (uintptr_t)host, to = from + size;

	if (!s->page_count || !size)
		return;
	if ((size >> PAGE_BITS) + 2 < s->page_capacity) {
		for (uintptr_t n = from >> PAGE_BITS; n <= (to - 1) >> PAGE_BITS; n++) {
			struct shadow_page *p = page_find(s, n);

			if (p)
				page_forget(p, from, to);
		}
		return;
	}
	for (size_t i = 0; i < s->page_capacity; i++)
		if (s->pages[i])
			page_forget(s->pages[i], from, to);
}

static double integer_value(const uint8_t *bits, unsigned bytes, bool is_signed)
{
	uint64_t u = 0;

	memcpy(&u, bits, bytes);
	if (is_signed && bytes < 8 && u >> (8 * bytes - 1) & 1)
		u |= UINT64_MAX << 8 * bytes;
	return is_signed ? (double)(int64_t)u : (double)u;
}

double shadow_value(const struct shadow *s, const uint8_t *host, enum shadow_format format,
		    unsigned bytes, bool is_signed, bool *shadowed)
{
	uint8_t tags[8];
	double values[8];
	struct cell c = {host, tags, values};
	unsigned n = format == SHADOW_INTEGER ? MIN(bytes, 8u) : shadow_format_bytes(format);
	bool has;

	shadow_read(s, host, n, tags, values);
	has = n && cell_has(c, format, n);
	if (shadowed)
		*shadowed = has;
	if (has)
		return *values;
	return format == SHADOW_INTEGER ? integer_value(host, n, is_signed)
					: cell_exact(format, host);
}
