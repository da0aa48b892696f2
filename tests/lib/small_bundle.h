/* SPDX-License-Identifier: MIT */
/* A small bundle that uses every kind of chunk and reference, and what is known of its bytes. */
#ifndef TESTS_LIB_SMALL_BUNDLE_H
#define TESTS_LIB_SMALL_BUNDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernelab/bundle.h"

/* Writes it to path; aborts on failure. A capture: image, file, kernel, launch, after, …, end. */
void small_bundle_write(const char *path);

/* Its result counterpart: sides, family, config, case, trials. */
void small_result_write(const char *path);

/* A record of a file, found by walking the frames. */
struct small_record {
	uint64_t offset, end;
	uint32_t type;
	size_t structured_before; /* structured records that end at or before `offset` */
};

/* Walks a whole file in memory. Returns the number of records; at most `room`. */
size_t small_bundle_walk(const char *data, size_t size, struct small_record *records, size_t room);

/* Number of structured records. */
size_t bundle_record_count(const struct bundle *b);

/* True if the records that part has are the first of each type in whole, with equal contents. */
bool bundle_records_equal(const struct bundle *whole, const struct bundle *part);

enum chunks_state { CHUNKS_EQUAL, CHUNKS_UNREADABLE /* some */, CHUNKS_WRONG /* read otherwise */ };

/* Reads every chunk of `whole` from both. */
enum chunks_state bundle_chunks_compare(const struct bundle *whole, const struct bundle *b);

#endif
