/* SPDX-License-Identifier: MIT */
/*
 * The address-recording variant of PTX: the same kernels, which note each granule of global memory
 * that they read or would write, and write nothing themselves.
 *
 * The first instruction of an entry says in the table that it runs: a kernel that touches nothing
 * is told from a launch that the driver lost.
 *
 * Before each access of global memory the variant calls one function with address, size and kind.
 * That looks the address up in a table of regions (the host lays it out and puts its address into
 * the module variable PTX_TABLE_SYMBOL), and sets a bit a granule. Then loads and copies into
 * shared memory are done as before; stores, reductions and copies into global memory are left out;
 * an atomic leaves its result zero. Device asserts and traps become exits.
 *
 * Why the noted addresses are those of the real launch: nothing differs but the contents of what
 * the launch itself writes. A kernel of which an address or a branch depends on the result of an
 * atomic or of a volatile or acquire load is refused (so no variant spins on a flag). If an address
 * or branch depends on plain loads (`careful`), a thread that is about to read a granule that was
 * written before stops there, and all others at their next access, before the value is used; the
 * table then says PTX_TABLE stopped, and the measurement is void. Otherwise the values loaded do
 * not matter.
 */
#ifndef LIB_PTX_INSTRUMENT_H
#define LIB_PTX_INSTRUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernelab/error.h"

#define PTX_TABLE_SYMBOL  "klab_extents"
#define PTX_GRANULE_BYTES 16u

/* What PTX_TABLE_SYMBOL points to, followed by `count` regions. */
struct ptx_table {
	uint32_t count;
	uint32_t ran;     /* set by the kernel: it began */
	uint32_t stopped; /* set by the kernel: it read what it had written */
	uint32_t pad1;
	uint64_t outside; /* set by the kernel: an address in none of the regions, 0 if none */
	uint64_t pad2;
};

struct ptx_table_region {
	uint64_t base, size;    /* base is a multiple of PTX_GRANULE_BYTES */
	uint64_t reads, writes; /* addresses of 32-bit words, a bit a granule from base on */
};

_Static_assert(sizeof(struct ptx_table) == 32 && sizeof(struct ptx_table_region) == 32,
	       "as the generated function reads them");

struct ptx_variant_entry {
	char *name;
	char *reason; /* why it is not instrumented: it must not be launched; NULL if it is */
	bool careful;
	bool names_variables; /* .global or .const ones of the module */
	/* Bit i: the tensor whose descriptor is parameter i is read or written by TMA: its extent
	 * is the descriptor's whole tensor. */
	uint64_t tensor_reads, tensor_writes;
};

struct ptx_variant {
	char *text; /* size bytes and a NUL */
	size_t size;
	struct ptx_variant_entry *entries;
	size_t count;
};

/*
 * Makes the variant of a whole module. Debug information is left out. -EBADMSG: not PTX; -ENOTSUP:
 * the module as a whole cannot be instrumented (err says why); -ENOMEM. What cannot be followed in
 * one entry is that entry's reason, and its text stays as it was.
 */
int ptx_instrument(struct ptx_variant *out, const char *text, size_t size, struct error *err);
void ptx_variant_free(struct ptx_variant *v);

/* NULL if there is no such entry. */
const struct ptx_variant_entry *ptx_variant_find(const struct ptx_variant *v, const char *name);

#endif
