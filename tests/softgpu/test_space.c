/* SPDX-License-Identifier: MIT */
/* Random allocations, mappings, copies and fills on the software device against a plain model. */
#include "tests/softgpu/client.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS   48
#define GRANULE ((size_t)2 << 20)
#define STEPS   6000

/* What the device should hold. A window of each piece of memory is compared, at its end or start.
 */
static struct piece {
	CUdeviceptr base;
	size_t size;
	CUmemGenericAllocationHandle handle; /* mapped memory, else 0 */
	uint8_t *model;
} pieces[SLOTS];

static uint64_t random_state = 1;

static uint64_t random_below(uint64_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % n;
}

static struct piece *piece_any(void)
{
	struct piece *p = &pieces[random_below(SLOTS)];

	return p->model ? p : NULL;
}

static void piece_make(struct piece *p)
{
	CUmemAllocationProp prop = {
		.type = CU_MEM_ALLOCATION_TYPE_PINNED,
		.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0},
	};
	CUmemAccessDesc access = {.location = prop.location,
				  .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};

	if (random_below(4)) {
		p->size = 1 + random_below(random_below(8) ? 3000 : 3 << 20);
		p->base = client_allocate(p->size);
	} else {
		p->size = GRANULE;
		must(cu.cuMemAddressReserve(&p->base, p->size, 0, 0, 0));
		must(cu.cuMemCreate(&p->handle, p->size, &prop, 0));
		must(cu.cuMemMap(p->base, p->size, 0, p->handle, 0));
		must(cu.cuMemSetAccess(p->base, p->size, &access, 1));
	}
	p->model = malloc(p->size);
	assert_non_null(p->model);
	memset(p->model, 0xff, p->size);
}

static void piece_free(struct piece *p)
{
	uint8_t byte;

	if (p->handle) {
		must(cu.cuMemUnmap(p->base, p->size));
		must(cu.cuMemRelease(p->handle));
		must(cu.cuMemAddressFree(p->base, p->size));
	} else {
		must(cu.cuMemFree_v2(p->base));
	}
	expect(CUDA_ERROR_INVALID_VALUE, cu.cuMemcpyDtoH_v2(&byte, p->base, 1));
	free(p->model);
	memset(p, 0, sizeof(*p));
}

static void piece_check(const struct piece *p)
{
	uint8_t *seen = malloc(p->size);
	CUdeviceptr base;
	size_t size;

	assert_non_null(seen);
	must(cu.cuMemcpyDtoH_v2(seen, p->base, p->size));
	if (memcmp(seen, p->model, p->size))
		fail_msg("%zu bytes at %#llx differ from the model", p->size,
			 (unsigned long long)p->base);
	free(seen);
	must(cu.cuMemGetAddressRange_v2(&base, &size, p->base + random_below(p->size)));
	assert_true(base == p->base && size == p->size);
}

static void piece_write(struct piece *p)
{
	size_t at = random_below(p->size), n = 1 + random_below(p->size - at);
	uint8_t byte = (uint8_t)random_below(256);
	uint32_t word = (uint32_t)random_below(UINT32_MAX);

	switch (random_below(3)) {
	case 0:
		must(cu.cuMemsetD8_v2(p->base + at, byte, n));
		memset(p->model + at, byte, n);
		break;
	case 1:
		at &= ~(size_t)3;
		must(cu.cuMemsetD32_v2(p->base + at, word, n / 4));
		for (size_t i = 0; i < n / 4; i++)
			memcpy(p->model + at + 4 * i, &word, 4);
		break;
	default:
		for (size_t i = 0; i < n; i += 1 + random_below(64))
			p->model[at + i] = (uint8_t)random_below(256);
		must(cu.cuMemcpyHtoD_v2(p->base + at, p->model + at, n));
	}
}

static void piece_copy(struct piece *to, const struct piece *from)
{
	size_t most = to->size < from->size ? to->size : from->size, n = 1 + random_below(most);
	size_t at = random_below(to->size - n + 1), source = random_below(from->size - n + 1);

	if (to == from)
		return; /* overlapping copies are undefined */
	must(cu.cuMemcpyDtoD_v2(to->base + at, from->base + source, n));
	memcpy(to->model + at, from->model + source, n);
	if (!to->handle) /* a mapping's neighbour may be mapped too */
		expect(CUDA_ERROR_INVALID_VALUE,
		       cu.cuMemcpyDtoD_v2(to->base + at, from->base, to->size - at + 1));
}

static void random_walk(void **state)
{
	size_t before, after, total;

	must(cu.cuMemGetInfo_v2(&before, &total));
	for (int step = 0; step < STEPS; step++) {
		struct piece *slot = &pieces[random_below(SLOTS)], *other = piece_any();

		if (!slot->model)
			piece_make(slot);
		else if (!random_below(4))
			piece_free(slot);
		else
			piece_write(slot);
		if (other && slot->model)
			piece_copy(slot, other);
		if (other && other->model && !random_below(4))
			piece_check(other);
	}
	for (size_t i = 0; i < SLOTS; i++) {
		if (pieces[i].model) {
			piece_check(&pieces[i]);
			piece_free(&pieces[i]);
		}
	}
	must(cu.cuMemGetInfo_v2(&after, &total));
	assert_int_equal(before, after);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(random_walk)};

	return cmocka_run_group_tests(tests, client_open, NULL);
}
