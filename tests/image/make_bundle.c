/* SPDX-License-Identifier: MIT */
/* Makes a capture out of Triton cache entries, for the tests of ls and show. */
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "tests/image/entry_bundle.h"

#define REGION_BASE 0x7f0000040000u
#define DETAILED    100000u

/* Launch 100,000 of kernel 0, add_kernel of Triton 3.5: its parameters, memory and what it changed.
 */
static void put_detailed(struct bundle_writer *w)
{
	static uint8_t memory[2 * CHUNK_BYTES];
	uint8_t params[48] = {0};
	uint64_t x = REGION_BASE, y = REGION_BASE + 0x1000, out = REGION_BASE + CHUNK_BYTES;
	int32_t n = -7;
	float eps = 0.1f;
	struct hash128 before[2], after[2];
	struct record_region region = {.base = REGION_BASE,
				       .size = sizeof(memory),
				       .memory = MEMORY_ALLOCATION,
				       .chunks = {before, 2}};
	struct record_change change = {.region = 0, .chunk = 1};
	struct record_launch l = {.seq = DETAILED,
				  .grid = {3, 2, 1},
				  .block = {128, 1, 1},
				  .shared_bytes = 8,
				  .params = {params, sizeof(params)},
				  .call = "cuLaunchKernelEx",
				  .shape_class = {1, 0}};
	struct record_after a = {.seq = DETAILED};

	memcpy(params, &x, 8);
	memcpy(params + 8, &y, 8);
	memcpy(params + 16, &out, 8);
	memcpy(params + 24, &n, 4);
	memcpy(params + 28, &eps, 4);
	bundle_put_content(w, REGION_BASE, memory, sizeof(memory), before);
	l.regions.items = &region;
	l.regions.count = 1;
	bundle_put_launch(w, &l);
	memory[CHUNK_BYTES] = 1;
	bundle_put_content(w, REGION_BASE, memory, sizeof(memory), after);
	change.key = after[1];
	a.changes.items = &change;
	a.changes.count = 1;
	bundle_put_after(w, &a);
}

/*
 * Arguments: OUTPUT STEM…; of every kernel one of two launches of class 4 and one of nine of class
 * 6 are recorded.
 */
int main(int argc, char **argv)
{
	struct record_unrecorded other = {
		.name = "ampere_sgemm", .origin = ORIGIN_OTHER, .launches = 12, .reason = "origin"};
	const char *command[] = {"python3", "train.py", "user"};
	struct record_run run = {.command = {command, 3}, .pid = 1, .rank = "RANK=0"};
	struct record_fact fact = {.name = "triton.version", .value = "3.5.1", .how = "test"};
	struct record_device device = {
		.name = "NVIDIA H200", .cc_major = 9, .driver_version = 13000};
	struct record_end end = {.clean = true};
	struct bundle_writer *w;
	uint64_t seq = 1;

	if (argc < 3 || bundle_writer_open(&w, argv[1], BUNDLE_CAPTURE) < 0)
		errx(1, "cannot create the bundle");
	bundle_put_run(w, &run);
	bundle_put_fact(w, &fact);
	bundle_put_device(w, &device);
	for (int i = 2; i < argc; i++) {
		uint32_t number = (uint32_t)(i - 2);

		entry_bundle_add(w, argv[i], number, 0);
		entry_bundle_launch(w, seq++, number, 4);
		entry_bundle_launch(w, seq++, number, 6);
		entry_bundle_class(w, number, 4, 2, "per-class limit of 1");
		entry_bundle_class(w, number, 6, 9, "per-class limit of 1");
	}
	put_detailed(w);
	bundle_put_unrecorded(w, &other);
	bundle_put_end(w, &end);
	return bundle_writer_close(w) < 0;
}
