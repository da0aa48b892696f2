/* SPDX-License-Identifier: MIT */
/* Regions against a model of device memory: random reservations, chunks, allocations, pointers. */
#include <stdlib.h>
#include <string.h>

#include "drv/driver.h"
#include "shim/hooks.h"
#include "shim/regions.h"
#include "tests/shim/cmocka_all.h"

#define GRANULE  (2ull << 20)
#define SLOTS    64u /* of 2 MiB: the modelled address space */
#define BASE     0x302000000ull
#define POINTERS 40u

struct driver real;

/* What a slot of the model is. */
struct slot {
	enum { FREE, ALLOCATION, CHUNK, HOLE } kind; /* HOLE: reserved, not mapped */
	unsigned first, count;                       /* slots of the allocation or chunk */
	unsigned reservation, reserved;              /* of a VMM reservation: first slot, slots */
};

static struct slot slots[SLOTS];

static const struct slot *slot_at(CUdeviceptr address)
{
	return address < BASE || address >= BASE + SLOTS * GRANULE
		       ? NULL
		       : &slots[(address - BASE) / GRANULE];
}

static CUresult CUDAAPI address_range(CUdeviceptr *base, size_t *size, CUdeviceptr address)
{
	const struct slot *s = slot_at(address);

	if (!s || (s->kind != ALLOCATION && s->kind != CHUNK))
		return CUDA_ERROR_NOT_FOUND;
	*base = BASE + s->first * GRANULE;
	*size = s->count * GRANULE;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI attribute(void *data, CUpointer_attribute what, CUdeviceptr address)
{
	const struct slot *s = slot_at(address);

	if (!s || s->kind == FREE)
		return CUDA_ERROR_INVALID_VALUE;
	switch ((int)what) {
	case CU_POINTER_ATTRIBUTE_IS_MANAGED:
		*(int *)data = 0;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
		*(unsigned *)data = CU_MEMORYTYPE_DEVICE;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
		*(int *)data = s->kind == ALLOCATION;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
		*(void **)data = NULL;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
		*(CUdeviceptr *)data =
			BASE + (s->kind == ALLOCATION ? s->first : s->reservation) * GRANULE;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
		*(size_t *)data = (s->kind == ALLOCATION ? s->count : s->reserved) * GRANULE;
		return CUDA_SUCCESS;
	default:
		return CUDA_ERROR_NOT_SUPPORTED;
	}
}

static unsigned below(unsigned n)
{
	return (unsigned)rand() % n;
}

static void put(unsigned first, unsigned count, struct slot s)
{
	s.first = first;
	s.count = count;
	for (unsigned i = 0; i < count; i++)
		slots[first + i] = s;
}

/* A reservation of chunks and holes. */
static void reserve(unsigned first, unsigned count)
{
	for (unsigned at = first; at < first + count;) {
		unsigned n = 1 + below(3);

		n = n < first + count - at ? n : first + count - at;
		put(at, n,
		    (struct slot){.kind = below(3) ? CHUNK : HOLE,
				  .reservation = first,
				  .reserved = count});
		at += n;
	}
}

static void lay_out(void)
{
	memset(slots, 0, sizeof(slots));
	for (unsigned at = 0; at < SLOTS;) {
		unsigned n = 1 + below(12), kind = below(3);

		n = n < SLOTS - at ? n : SLOTS - at;
		if (kind == 1)
			put(at, n, (struct slot){.kind = ALLOCATION});
		else if (kind == 2)
			reserve(at, n);
		at += n;
	}
}

/* What the region of a slot must be: as far as its reservation is mapped in one piece. */
static bool expected(unsigned i, unsigned *first, unsigned *end)
{
	const struct slot *s = &slots[i];

	if (s->kind == ALLOCATION) {
		*first = s->first;
		*end = s->first + s->count;
		return true;
	}
	if (s->kind != CHUNK)
		return false;
	for (*first = i; *first > s->reservation && slots[*first - 1].kind == CHUNK;)
		--*first;
	for (*end = i + 1; *end < s->reservation + s->reserved && slots[*end].kind == CHUNK;)
		++*end;
	return true;
}

static const struct record_region *holds(const struct regions *r, uint64_t address)
{
	for (size_t i = 0; i < r->count; i++)
		if (address - r->items[i].base < r->items[i].size)
			return &r->items[i];
	return NULL;
}

static void check_region(const struct record_region *g, unsigned i)
{
	unsigned first, end;

	assert_true(expected(i, &first, &end));
	assert_int_equal(g->base, BASE + first * GRANULE);
	assert_int_equal(g->size, (end - first) * GRANULE);
	/* A reservation that is one chunk cannot be told from an allocation, and need not be. */
	if (slots[i].kind == CHUNK && slots[i].count < slots[i].reserved) {
		assert_int_equal(g->memory, MEMORY_VMM);
		assert_int_equal(g->reservation_base, BASE + slots[i].reservation * GRANULE);
		assert_int_equal(g->reservation_size, slots[i].reserved * GRANULE);
	} else {
		assert_int_equal(g->memory, MEMORY_ALLOCATION);
		assert_int_equal(g->reservation_size, 0);
	}
}

static void check(const struct regions *r, const uint64_t *pointers)
{
	size_t offsets = 0, known = 0;

	for (size_t i = 1; i < r->count; i++)
		assert_true(r->items[i].base >= r->items[i - 1].base + r->items[i - 1].size);
	for (unsigned p = 0; p < POINTERS; p++) {
		unsigned first, end, slot = (unsigned)((pointers[p] - BASE) / GRANULE);
		const struct record_region *g = holds(r, pointers[p]);
		bool noted = false;

		if (!expected(slot, &first, &end)) {
			assert_null(g);
			continue;
		}
		assert_non_null(g);
		check_region(g, slot);
		for (size_t k = 0; k < g->param_offsets.count; k++)
			noted |= g->param_offsets.items[k] == 8 * p;
		assert_true(noted);
		known++;
	}
	for (size_t i = 0; i < r->count; i++)
		offsets += r->items[i].param_offsets.count;
	assert_int_equal(offsets, known);
}

static void regions_agree_with_the_model(void **state)
{
	srand(3);
	for (unsigned turn = 0; turn < 3000; turn++) {
		uint64_t pointers[POINTERS];
		struct regions r = {0};

		lay_out();
		for (unsigned p = 0; p < POINTERS; p++) {
			pointers[p] = BASE + below(SLOTS) * GRANULE + below((unsigned)GRANULE);
			assert_int_equal(regions_add(&r, pointers[p], 8 * p), 0);
		}
		regions_merge(&r);
		check(&r, pointers);
		regions_free(&r);
	}
}

/* A variable stays by itself, and takes the pointers that lead into it. */
static void variables_are_not_merged(void **state)
{
	struct regions r = {0};

	memset(slots, 0, sizeof(slots));
	put(0, 4, (struct slot){.kind = ALLOCATION});
	assert_int_equal(regions_add_global(&r, BASE + 4096, 64, "acc", DTYPE_F32, false), 0);
	assert_int_equal(regions_add(&r, BASE + 4100, 0), 0);
	assert_int_equal(regions_add(&r, BASE + 8192, 8), 0);
	assert_int_equal(regions_add(&r, 17, 16), 0);
	assert_int_equal(regions_add(&r, 0xffffffffffffff00, 24), 0);
	regions_merge(&r);
	assert_int_equal(r.count, 2);
	assert_int_equal(r.items[0].memory, MEMORY_ALLOCATION);
	assert_int_equal(r.items[0].param_offsets.count, 1);
	assert_int_equal(r.items[1].memory, MEMORY_GLOBAL);
	assert_string_equal(r.items[1].name, "acc");
	assert_int_equal(r.items[1].param_offsets.count, 1);
	regions_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(regions_agree_with_the_model),
		cmocka_unit_test(variables_are_not_merged),
	};

	real.cuMemGetAddressRange_v2 = address_range;
	real.cuPointerGetAttribute = attribute;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
