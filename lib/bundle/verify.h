/* SPDX-License-Identifier: MIT */
/* Checks everything that a bundle says: what opening it leaves unchecked, because it costs reading.
 */
#ifndef LIB_BUNDLE_VERIFY_H
#define LIB_BUNDLE_VERIFY_H

#include <stdbool.h>
#include <stdint.h>

#include "kernelab/bundle.h"

/* Called once for each fault, in words: one sentence without a full stop. */
typedef void (*verify_report)(void *user, const char *fault);

/* Called now and then with the bytes of chunks checked so far and of all. */
typedef void (*verify_progress)(void *user, uint64_t done_bytes, uint64_t total_bytes);

struct verify_calls {
	verify_report report;     /* may be NULL */
	verify_progress progress; /* may be NULL */
	void *user;
};

struct verify_totals {
	uint64_t records;
	uint64_t chunks;
	uint64_t chunk_bytes; /* before compression */
	uint64_t faults;
	/* Of an unfinished bundle: trials and references without their case, cases without config
	 */
	uint64_t behind;
	bool unfinished; /* the bundle is not complete, by no fault: its writer was stopped */
};

/*
 * Reads every chunk and recomputes its key; recomputes the ids of images; checks that every
 * referenced chunk is there with the right size, that numbers are unique, and that references lead
 * somewhere: kernel -> image, launch -> kernel, class -> kernel, after -> launch, file -> image,
 * config -> family, case -> config, trial -> case, extent -> argument. An image of a config lies in
 * another bundle and is not looked for. A bundle that is not complete is
 * reported, and a fault only where it is damaged and not merely unfinished.
 * 0 (with totals->faults), or -ENOMEM. Threads: any, the bundle is only read.
 */
int bundle_verify(const struct bundle *b, const struct verify_calls *calls,
		  struct verify_totals *totals);

#endif
