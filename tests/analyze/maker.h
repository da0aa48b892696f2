/* SPDX-License-Identifier: MIT */
/* Result bundles as a replay would write them, made by hand. Every function aborts on failure. */
#ifndef TESTS_ANALYZE_MAKER_H
#define TESTS_ANALYZE_MAKER_H

#include "kernelab/bundle.h"
#include "kernelab/dtype.h"

#define MAKER_ADDRESS UINT64_C(0x7f0000000000) /* of the first extent */
#define MAKER_EXTENTS 40

struct maker {
	struct bundle_writer *writer;
	uint32_t configs, cases;
	struct record_extent extents[MAKER_EXTENTS]; /* of the last case */
	size_t extent_count;
};

struct maker_head {
	const char *version_a, *version_b; /* NULL: unspecified */
	bool software;
	const char *device, *torch_b; /* NULL: the usual ones */
};

/* Creates path with RUN, SIDE, DEVICE and FACT records. head may be NULL. */
void maker_begin(struct maker *m, const char *path, const struct maker_head *head);
void maker_end(struct maker *m);

/* Arguments x_ptr, out_ptr (of type t), aux_ptr (i32), n. The key is the hash of the name. */
struct hash128 maker_family(struct maker *m, const char *name, enum dtype t);

/* A paired, tested config with other code and PTX on both sides; returns its record's number. */
uint32_t maker_config(struct maker *m, struct hash128 family, const char *options);
uint32_t maker_config_full(struct maker *m, struct record_config *c); /* number and key are set */

/* A faithful launch with one extent of n elements at out_ptr. */
uint32_t maker_case(struct maker *m, uint32_t config, uint64_t seq, enum dtype t, size_t n);
/* The same with everything given; number is set. */
uint32_t maker_case_full(struct maker *m, struct record_case *c);

/* An ok trial of the last case: contents[i] holds the bytes of extent i. */
void maker_trial(struct maker *m, uint32_t side, uint32_t kind, uint32_t index,
		 const void *const *contents);
/* The same with a prepared record (status, stray_bytes …); its case is the last one. */
void maker_trial_full(struct maker *m, struct record_trial *t, const void *const *contents);

/* 3 repeats of both sides and 2 poisoned pairs, all of one extent: a and b. */
void maker_trials(struct maker *m, const void *a, const void *b);

#endif
