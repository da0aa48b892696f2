/* SPDX-License-Identifier: MIT */
/* The device's address space: blocks of addresses, ranges of them that hold memory, copies. */
#ifndef SOFTGPU_SPACE_H
#define SOFTGPU_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "softgpu/machine.h"

/*
 * Device addresses are numbers of their own, never host addresses (a recorded one may collide with
 * a mapping of the host). Two levels, both sorted arrays:
 *   block  addresses that are taken: 2 MiB of small allocations, one large one, a reservation
 *   range  addresses that hold memory, with exact bounds: what a kernel may touch
 * Everything here runs under the API lock.
 */
#define SPACE_GRANULE          ((uint64_t)2 << 20)  /* of VMM and of large allocations */
#define SPACE_HINT_ALIGN       ((uint64_t)32 << 20) /* hints of reservations that are honoured */
#define SPACE_ALLOCATION_ALIGN 512u
#define SPACE_ADDRESS_END      (UINT64_C(1) << 47)

enum block_kind { BLOCK_SMALL, BLOCK_LARGE, BLOCK_RESERVATION, BLOCK_PINNED, BLOCK_REGISTERED };

struct block {
	uint64_t base, size;
	enum block_kind kind;
	uint8_t *host; /* backing of SMALL and LARGE */
	size_t ranges; /* in it */
};

enum range_kind {
	RANGE_ALLOCATION, /* space_allocate for the program */
	RANGE_GLOBAL,     /* space_allocate for a module */
	RANGE_MAPPING,    /* space_map */
	RANGE_PINNED,     /* space_allocate_pinned: host memory that kernels reach */
	RANGE_REGISTERED, /* space_register: the same in the program's own memory */
	RANGE_MANAGED /* space_allocate_pinned: cuMemAllocManaged's, one memory for both sides */
};

/* Memory without an address: what cuMemCreate makes. Freed with its last reference. */
struct physical {
	uint64_t size;
	uint8_t *host;
	int device;        /* that it was asked of; all devices share one memory */
	size_t references; /* the handle, and each mapping */
};

struct range {
	uint64_t base, size;
	uint8_t *host;
	enum range_kind kind;
	bool accessible;
	uint64_t owner; /* context handle; 0 for mappings, which belong to the process */
	uint64_t id;    /* unique in the process */
	struct physical *physical;
};

/* Sets the device's total bytes. Before anything else. */
void space_set_total(uint64_t bytes);
uint64_t space_total(void);
uint64_t space_free_bytes(void);

/*
 * Allocates size > 0 bytes at a multiple of align (a power of two; at least 512 is used) for an
 * owner. Fresh memory holds the fill byte. 0; -ENOMEM.
 */
int space_allocate(uint64_t *address, uint64_t size, uint64_t align, enum range_kind kind,
		   uint64_t owner);
/* Memory of the same address on both sides: RANGE_PINNED or RANGE_MANAGED. */
int space_allocate_pinned(void **host, uint64_t size, enum range_kind kind, uint64_t owner);
/*
 * Makes the program's memory of that address the device's too. 0; -EEXIST part of it is already;
 * -EINVAL the device uses these addresses for something else; -ENOMEM.
 */
int space_register(void *host, uint64_t size, uint64_t owner);
/* Frees the range of that kind that begins at address. 0; -EINVAL. */
int space_free(uint64_t address, enum range_kind kind);
/* Frees all ranges of an owner (a context that ends). */
void space_free_owner(uint64_t owner);

/* The range, or the block, that holds an address; NULL. Valid until the next change. */
const struct range *space_range(uint64_t address);
const struct block *space_block(uint64_t address);
/* A range that the host reaches at the same address: pinned, registered or managed. */
static inline bool space_is_host(const struct range *r)
{
	return r->kind == RANGE_PINNED || r->kind == RANGE_REGISTERED || r->kind == RANGE_MANAGED;
}

/*
 * Reserves addresses without memory. size is a multiple of SPACE_GRANULE. A hint is honoured if it
 * is a multiple of SPACE_HINT_ALIGN (and of align) and all is free there; otherwise the
 * reservation lies elsewhere, without an error: a real driver moves some of them too.
 * 0; -EINVAL size or align (no power of two); -ENOMEM.
 */
int space_reserve(uint64_t *address, uint64_t size, uint64_t align, uint64_t hint);
/* Exactly one whole reservation without mappings. 0; -EINVAL. */
int space_unreserve(uint64_t address, uint64_t size);

/* A multiple of SPACE_GRANULE. Counts against the total. NULL without memory. */
struct physical *space_create(uint64_t size);
void space_release(struct physical *p);

/* Maps all of p into a free part of one reservation; no access yet. 0; -EINVAL; -ENOMEM. */
int space_map(uint64_t address, struct physical *p);
/* Removes the mappings of reserved addresses; holes are fine, half mappings not. 0; -EINVAL. */
int space_unmap(uint64_t address, uint64_t size);
/* Of exactly a row of whole mappings without holes. 0; -EINVAL. */
int space_set_access(uint64_t address, uint64_t size, bool accessible);

/*
 * Copies and fills. All of the range is checked first: accessible memory, one allocation or
 * mappings without a hole; otherwise -EINVAL and nothing is changed. size 0 succeeds.
 */
int space_read(void *to, uint64_t from, uint64_t size);
int space_write(uint64_t to, const void *from, uint64_t size);
int space_move(uint64_t to, uint64_t from, uint64_t size);
/* count elements of 1 or 4 bytes (little-endian) of value. */
int space_set(uint64_t to, uint32_t value, unsigned element, uint64_t count);

/* All accessible ranges for a launch, sorted; valid until the next change. NULL without memory. */
const struct memory_range *space_ranges(size_t *count);

#endif
