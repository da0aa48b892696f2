/* SPDX-License-Identifier: MIT */
/* Runs one launch of a PTX entry on the CPU. Knows nothing of the driver API. */
#ifndef SOFTGPU_MACHINE_H
#define SOFTGPU_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "softgpu/ptx.h"
#include "softgpu/shadow.h"

/* Device memory: [base, base + size) of the device's addresses lies at host. */
struct memory_range {
	uint64_t base, size;
	uint8_t *host;
};

enum machine_contract { CONTRACT_MAY /* mul + add may fuse, as ptxas does */, CONTRACT_OFF };

/* Accesses of two warps of a block to shared memory that nothing orders. */
struct machine_races {
	uint64_t count;    /* of bytes and accesses; not of faults in the kernel */
	uint32_t line[2];  /* of the PTX text: the first race's earlier access, and its later one */
	bool incomplete;   /* not all was looked at: no memory for it */
	char message[480]; /* the first */
};

struct machine_launch {
	const struct ptx_module *module;
	const struct ptx_entry *entry;
	uint32_t grid[3], block[3];
	uint32_t dynamic_shared_bytes;
	const void *params; /* entry->params_bytes, laid out as entry->params */
	/* Sorted by base, not overlapping, unchanged while the launch runs. Everything else faults.
	 */
	const struct memory_range *ranges;
	size_t range_count;
	uint64_t instruction_quota; /* warp instructions of the whole launch; 0 = no limit */
	enum machine_contract contract;
	uint64_t schedule_seed; /* 0: ascending order; else permutes warps and blocks */
	const uint64_t *blocks; /* indices, x fastest, of those that are run; NULL: all */
	size_t block_count;
	struct machine_races *races; /* to be filled; NULL: not looked for, which is faster */
	const volatile bool
		*stop;         /* set by another thread: ends the launch as a timeout; or NULL */
	struct shadow *shadow; /* kept beside what is executed, which stays the same; or NULL */
};

enum machine_fault_kind {
	MACHINE_OK,
	MACHINE_ILLEGAL_ADDRESS,
	MACHINE_MISALIGNED,
	MACHINE_TRAP,
	MACHINE_DEADLOCK,
	MACHINE_TIMEOUT, /* quota used up, or stopped */
	MACHINE_NO_MEMORY,
	MACHINE_UNSUPPORTED /* an operation that only shows at run time */
};

struct machine_fault {
	enum machine_fault_kind kind;
	uint32_t line;     /* of the PTX text, from 1; 0 if none */
	uint32_t block[3]; /* blockIdx */
	uint32_t thread;   /* linear thread in the block */
	uint64_t address;
	char message[480]; /* names kernel, line, instruction, block, thread, address */
};

/* What a launch did, for tests, bench/ and later issues. */
struct machine_counts {
	uint64_t warp_instructions;
	uint64_t thread_instructions;
};

/*
 * Runs to the end in the calling thread. MACHINE_OK or the kind of fault, with *fault filled.
 * counts may be NULL. Several launches may run in several threads if their ranges do not race.
 */
enum machine_fault_kind machine_run(const struct machine_launch *launch,
				    struct machine_fault *fault, struct machine_counts *counts);

#endif
