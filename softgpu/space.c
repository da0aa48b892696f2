/* SPDX-License-Identifier: MIT */
/* The device's address space. Ranges and blocks are few (thousands), so sorted arrays do. */
#include "softgpu/space.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/base.h"
#include "softgpu/backing.h"

/* Where addresses are looked for; below a usual process's own mappings, as on a GPU. */
#define ALLOCATION_START  UINT64_C(0x302000000)
#define RESERVATION_START UINT64_C(0x10000000000)
#define SMALL_LIMIT       ((uint64_t)1 << 20) /* above, an allocation has blocks of its own */

static struct {
	uint64_t total, used;
	struct block *blocks;
	size_t block_count, block_capacity;
	struct range *ranges;
	size_t range_count, range_capacity;
	uint64_t next_id;
	struct memory_range *launch; /* cache for space_ranges */
	size_t launch_count, launch_capacity;
	bool launch_valid;
} space = {.total = (uint64_t)16 << 30, .next_id = 1};

void space_set_total(uint64_t bytes)
{
	space.total = bytes;
}

uint64_t space_total(void)
{
	return space.total;
}

uint64_t space_free_bytes(void)
{
	return space.total > space.used ? space.total - space.used : 0;
}

static bool space_charge(uint64_t bytes)
{
	if (bytes > space_free_bytes())
		return false;
	space.used += bytes;
	return true;
}

/* ---- the two arrays ---- */

/* Index of the first block, or range, whose end lies beyond address. */
static size_t block_index(uint64_t address)
{
	size_t low = 0, high = space.block_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct block *b = &space.blocks[middle];

		if (b->base + b->size <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static size_t range_index(uint64_t address)
{
	size_t low = 0, high = space.range_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct range *r = &space.ranges[middle];

		if (r->base + r->size <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct block *block_find(uint64_t address)
{
	size_t i = block_index(address);

	return i < space.block_count && space.blocks[i].base <= address ? &space.blocks[i] : NULL;
}

static struct range *range_find(uint64_t address)
{
	size_t i = range_index(address);

	return i < space.range_count && space.ranges[i].base <= address ? &space.ranges[i] : NULL;
}

const struct block *space_block(uint64_t address)
{
	return block_find(address);
}

const struct range *space_range(uint64_t address)
{
	return range_find(address);
}

static int block_insert(const struct block *b)
{
	size_t i = block_index(b->base);

	if (array_reserve(&space.blocks, space.block_count, &space.block_capacity, sizeof(*b)))
		return -ENOMEM;
	memmove(&space.blocks[i + 1], &space.blocks[i], (space.block_count - i) * sizeof(*b));
	space.blocks[i] = *b;
	space.block_count++;
	return 0;
}

static void block_remove(struct block *b)
{
	size_t i = (size_t)(b - space.blocks);

	memmove(b, b + 1, (space.block_count - i - 1) * sizeof(*b));
	space.block_count--;
}

static int range_insert(struct range r)
{
	size_t i = range_index(r.base);
	struct block *b = block_find(r.base);

	if (array_reserve(&space.ranges, space.range_count, &space.range_capacity, sizeof(r)))
		return -ENOMEM;
	memmove(&space.ranges[i + 1], &space.ranges[i], (space.range_count - i) * sizeof(r));
	r.id = space.next_id++;
	space.ranges[i] = r;
	space.range_count++;
	space.launch_valid = false;
	b->ranges++;
	return 0;
}

static void range_remove(struct range *r)
{
	size_t i = (size_t)(r - space.ranges);

	block_find(r->base)->ranges--;
	memmove(r, r + 1, (space.range_count - i - 1) * sizeof(*r));
	space.range_count--;
	space.launch_valid = false;
}

static bool align_up(uint64_t *value, uint64_t align)
{
	if (__builtin_add_overflow(*value, align - 1, value))
		return false;
	*value &= ~(align - 1);
	return true;
}

static bool block_fits(uint64_t base, uint64_t size)
{
	size_t i = block_index(base);

	if (!base || base > SPACE_ADDRESS_END || size > SPACE_ADDRESS_END - base)
		return false;
	return i == space.block_count || space.blocks[i].base >= base + size;
}

/* Lowest free place from start on; 0 if there is none. */
static uint64_t block_place(uint64_t start, uint64_t size, uint64_t align)
{
	uint64_t base = start;

	for (size_t i = block_index(start);; i++) {
		if (!align_up(&base, align) || base > SPACE_ADDRESS_END ||
		    size > SPACE_ADDRESS_END - base)
			return 0;
		if (i == space.block_count || space.blocks[i].base >= base + size)
			return base;
		if (space.blocks[i].base + space.blocks[i].size > base)
			base = space.blocks[i].base + space.blocks[i].size;
	}
}

/* ---- allocations ---- */

/* A free place among the ranges of a block of small allocations; 0 if there is none. */
static uint64_t small_place(const struct block *b, uint64_t size, uint64_t align)
{
	uint64_t base = b->base;

	for (size_t i = range_index(b->base);; i++) {
		bool end = i == space.range_count || space.ranges[i].base >= b->base + b->size;
		uint64_t limit = end ? b->base + b->size : space.ranges[i].base;

		if (!align_up(&base, align))
			return 0;
		if (base <= limit && limit - base >= size)
			return base;
		if (end)
			return 0;
		base = space.ranges[i].base + space.ranges[i].size;
	}
}

static int block_new(struct block *b, uint64_t size, uint64_t align)
{
	b->size = size;
	if (!align_up(&b->size, SPACE_GRANULE))
		return -ENOMEM;
	b->base = block_place(ALLOCATION_START, b->size,
			      align > SPACE_GRANULE ? align : SPACE_GRANULE);
	if (!b->base || !space_charge(b->size))
		return -ENOMEM;
	b->host = backing_map(b->size);
	if (!b->host || block_insert(b)) {
		backing_unmap(b->host, b->size);
		space.used -= b->size;
		return -ENOMEM;
	}
	return 0;
}

static void block_drop(struct block *b)
{
	backing_unmap(b->host, b->size);
	space.used -= b->size;
	block_remove(b);
}

static int small_allocate(struct range *r, uint64_t align)
{
	struct block fresh = {.kind = BLOCK_SMALL};

	for (size_t i = 0; i < space.block_count; i++) {
		const struct block *b = &space.blocks[i];

		if (b->kind != BLOCK_SMALL)
			continue;
		r->base = small_place(b, r->size, align);
		if (r->base) {
			r->host = b->host + (r->base - b->base);
			memset(r->host, backing_fill(), r->size); /* it may have been used before */
			return 0;
		}
	}
	if (block_new(&fresh, r->size, align))
		return -ENOMEM;
	r->base = fresh.base;
	r->host = fresh.host;
	return 0;
}

int space_allocate(uint64_t *address, uint64_t size, uint64_t align, enum range_kind kind,
		   uint64_t owner)
{
	struct range r = {.size = size, .kind = kind, .accessible = true, .owner = owner};
	struct block fresh = {.kind = BLOCK_LARGE};

	if (align < SPACE_ALLOCATION_ALIGN)
		align = SPACE_ALLOCATION_ALIGN;
	if (size <= SMALL_LIMIT && align <= SMALL_LIMIT) {
		if (small_allocate(&r, align))
			return -ENOMEM;
	} else {
		if (block_new(&fresh, size, align))
			return -ENOMEM;
		r.base = fresh.base;
		r.host = fresh.host;
	}
	if (range_insert(r)) {
		struct block *b = block_find(r.base);

		if (!b->ranges)
			block_drop(b);
		return -ENOMEM;
	}
	*address = r.base;
	return 0;
}

int space_allocate_pinned(void **host, uint64_t size, enum range_kind kind, uint64_t owner)
{
	struct block b = {.size = size, .kind = BLOCK_PINNED};
	struct range r = {.size = size, .kind = kind, .accessible = true, .owner = owner, .id = 0};
	void *p = MAP_FAILED;

	if (!align_up(&b.size, 4096))
		return -ENOMEM;
	/*
	 * The host may offer an address that the device has reserved (a replay reserves recorded
	 * ones). Then ask for places far from those that it prefers.
	 */
	for (uint64_t hint = 0; hint < (uint64_t)64 << 40; hint += (uint64_t)1 << 40) {
		p = mmap((void *)hint, b.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);
		if (p == MAP_FAILED)
			return -ENOMEM;
		if (block_fits((uint64_t)p, b.size))
			break;
		munmap(p, b.size);
		p = MAP_FAILED;
	}
	if (p == MAP_FAILED)
		return -ENOMEM;
	memset(p, backing_fill(), size);
	b.base = r.base = (uint64_t)p;
	b.host = r.host = p;
	if (block_insert(&b)) {
		munmap(p, b.size);
		return -ENOMEM;
	}
	if (range_insert(r)) {
		block_remove(block_find(r.base));
		munmap(p, b.size);
		return -ENOMEM;
	}
	*host = p;
	return 0;
}

int space_register(void *host, uint64_t size, uint64_t owner)
{
	struct block b = {.base = (uint64_t)host, .kind = BLOCK_REGISTERED, .host = host};
	struct range r = {.base = (uint64_t)host,
			  .size = size,
			  .host = host,
			  .kind = RANGE_REGISTERED,
			  .accessible = true,
			  .owner = owner};
	size_t i = range_index(r.base);

	if (r.base > SPACE_ADDRESS_END || size > SPACE_ADDRESS_END - r.base)
		return -EINVAL;
	if (i < space.range_count && space.ranges[i].base < r.base + size)
		return space_is_host(&space.ranges[i]) ? -EEXIST : -EINVAL;
	b.size = size;
	if (!block_fits(b.base, b.size))
		return -EINVAL;
	if (block_insert(&b))
		return -ENOMEM;
	if (range_insert(r)) {
		block_remove(block_find(r.base));
		return -ENOMEM;
	}
	return 0;
}

static void range_free(struct range *r)
{
	struct block *b = block_find(r->base);

	range_remove(r);
	if (b->ranges)
		return;
	if (b->kind == BLOCK_PINNED) {
		munmap(b->host, b->size);
		block_remove(b);
	} else if (b->kind == BLOCK_REGISTERED) {
		block_remove(b);
	} else if (b->kind != BLOCK_RESERVATION) {
		block_drop(b);
	}
}

int space_free(uint64_t address, enum range_kind kind)
{
	struct range *r = range_find(address);

	if (!r || r->base != address || r->kind != kind)
		return -EINVAL;
	range_free(r);
	return 0;
}

void space_free_owner(uint64_t owner)
{
	for (size_t i = space.range_count; i-- > 0;)
		if (space.ranges[i].owner == owner)
			range_free(&space.ranges[i]);
}

/* ---- reservations and mappings ---- */

int space_reserve(uint64_t *address, uint64_t size, uint64_t align, uint64_t hint)
{
	struct block b = {.size = size, .kind = BLOCK_RESERVATION};

	if (!size || size % SPACE_GRANULE || align & (align - 1))
		return -EINVAL;
	if (align < SPACE_GRANULE)
		align = SPACE_GRANULE;
	if (hint && !(hint % SPACE_HINT_ALIGN) && !(hint % align) && block_fits(hint, size))
		b.base = hint;
	else
		b.base = block_place(RESERVATION_START, size, align);
	if (!b.base || block_insert(&b))
		return -ENOMEM;
	*address = b.base;
	return 0;
}

int space_unreserve(uint64_t address, uint64_t size)
{
	struct block *b = block_find(address);

	if (!b || b->kind != BLOCK_RESERVATION || b->base != address || b->size != size ||
	    b->ranges)
		return -EINVAL;
	block_remove(b);
	return 0;
}

struct physical *space_create(uint64_t size)
{
	struct physical *p;

	if (!space_charge(size))
		return NULL;
	p = calloc(1, sizeof(*p));
	if (p)
		p->host = backing_map(size);
	if (!p || !p->host) {
		free(p);
		space.used -= size;
		return NULL;
	}
	p->size = size;
	p->references = 1;
	return p;
}

void space_release(struct physical *p)
{
	if (--p->references)
		return;
	backing_unmap(p->host, p->size);
	space.used -= p->size;
	free(p);
}

int space_map(uint64_t address, struct physical *p)
{
	const struct block *b = block_find(address);
	size_t i = range_index(address);
	struct range r = {.base = address,
			  .size = p->size,
			  .host = p->host,
			  .kind = RANGE_MAPPING,
			  .physical = p};

	if (address % SPACE_GRANULE || !b || b->kind != BLOCK_RESERVATION ||
	    p->size > b->base + b->size - address)
		return -EINVAL;
	if (i < space.range_count && space.ranges[i].base < address + p->size)
		return -EINVAL;
	if (range_insert(r))
		return -ENOMEM;
	p->references++;
	return 0;
}

/* Whether [address, address + size) is exactly a row of whole mappings; *first is its index. */
static bool mappings_find(uint64_t address, uint64_t size, size_t *first)
{
	uint64_t at = address, end;

	if (!size || __builtin_add_overflow(address, size, &end))
		return false;
	*first = range_index(address);
	for (size_t i = *first; at < end; i++) {
		const struct range *r = &space.ranges[i];

		if (i == space.range_count || r->kind != RANGE_MAPPING || r->base != at)
			return false;
		at += r->size;
	}
	return at == end;
}

int space_unmap(uint64_t address, uint64_t size)
{
	size_t first = range_index(address), i = first;
	uint64_t end;

	if (!size || (address | size) % SPACE_GRANULE ||
	    __builtin_add_overflow(address, size, &end))
		return -EINVAL;
	/* Reserved all over, by one reservation or several that touch. */
	for (uint64_t at = address; at < end;) {
		const struct block *b = block_find(at);

		if (!b || b->kind != BLOCK_RESERVATION)
			return -EINVAL;
		at = b->base + b->size;
	}
	for (; i < space.range_count && space.ranges[i].base < end; i++)
		if (space.ranges[i].base < address ||
		    space.ranges[i].base + space.ranges[i].size > end)
			return -EINVAL;
	while (i-- > first) {
		struct physical *p = space.ranges[i].physical;

		range_remove(&space.ranges[i]);
		space_release(p);
	}
	return 0;
}

int space_set_access(uint64_t address, uint64_t size, bool accessible)
{
	size_t i;

	if (!mappings_find(address, size, &i))
		return -EINVAL;
	for (; i < space.range_count && space.ranges[i].base < address + size; i++)
		space.ranges[i].accessible = accessible;
	space.launch_valid = false;
	return 0;
}

/* ---- copies ---- */

/* Bytes at address that lie at one host place, at most size; *host is that place. 0: no access. */
static uint64_t span_at(uint64_t address, uint64_t size, uint8_t **host)
{
	const struct range *r = range_find(address);
	uint64_t left;

	if (!r || !r->accessible)
		return 0;
	left = r->base + r->size - address;
	*host = r->host + (address - r->base);
	return size < left ? size : left;
}

static bool span_check(uint64_t address, uint64_t size)
{
	while (size) {
		const struct range *r = range_find(address);
		uint8_t *host;
		uint64_t part = span_at(address, size, &host);

		if (!part || (part < size && r->kind != RANGE_MAPPING))
			return false;
		address += part;
		size -= part;
	}
	return true;
}

int space_read(void *to, uint64_t from, uint64_t size)
{
	uint8_t *out = to, *host;

	if (!span_check(from, size))
		return -EINVAL;
	while (size) {
		uint64_t part = span_at(from, size, &host);

		memcpy(out, host, part);
		out += part;
		from += part;
		size -= part;
	}
	return 0;
}

int space_write(uint64_t to, const void *from, uint64_t size)
{
	const uint8_t *in = from;
	uint8_t *host;

	if (!span_check(to, size))
		return -EINVAL;
	while (size) {
		uint64_t part = span_at(to, size, &host);

		memcpy(host, in, part);
		in += part;
		to += part;
		size -= part;
	}
	return 0;
}

int space_move(uint64_t to, uint64_t from, uint64_t size)
{
	uint8_t *target, *source;

	if (!span_check(to, size) || !span_check(from, size))
		return -EINVAL;
	while (size) {
		uint64_t part = span_at(from, span_at(to, size, &target), &source);

		memmove(target, source, part);
		to += part;
		from += part;
		size -= part;
	}
	return 0;
}

int space_set(uint64_t to, uint32_t value, unsigned element, uint64_t count)
{
	uint64_t size;
	uint8_t *host;

	if (__builtin_mul_overflow(count, element, &size) || !span_check(to, size))
		return -EINVAL;
	while (size) {
		uint64_t part = span_at(to, size, &host);

		if (element == 1)
			memset(host, (int)value, part);
		else /* ranges begin at multiples of 4; so does `to` */
			for (uint64_t i = 0; i + 4 <= part; i += 4)
				memcpy(host + i, &value, 4);
		to += part;
		size -= part;
	}
	return 0;
}

const struct memory_range *space_ranges(size_t *count)
{
	if (!space.launch_valid) {
		space.launch_count = 0;
		for (size_t i = 0; i < space.range_count; i++) {
			const struct range *r = &space.ranges[i];

			if (!r->accessible)
				continue;
			if (array_reserve(&space.launch, space.launch_count, &space.launch_capacity,
					  sizeof(*space.launch)))
				return NULL;
			space.launch[space.launch_count++] = (struct memory_range){
				.base = r->base, .size = r->size, .host = r->host};
		}
		space.launch_valid = true;
	}
	*count = space.launch_count;
	if (!space.launch) {
		static const struct memory_range none;

		return &none;
	}
	return space.launch;
}
