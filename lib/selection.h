/* SPDX-License-Identifier: MIT */
/* What a capture is to record: read from the environment, by the shim and to check options. */
#ifndef LIB_SELECTION_H
#define LIB_SELECTION_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernelab/error.h"
#include "kernelab/hash.h"

#define SELECTION_RANKS_MAX 64u
#define SELECTION_NO_LIMIT  UINT64_MAX

/* A point of the run: so many ns after the start, or behind so many launches. Both 0: not given. */
struct selection_moment {
	uint64_t ns, launches;
};

/* Contents that are in the bundle already are found by hashes that the device computes. */
enum selection_hash {
	SELECTION_HASH_AUTO,  /* and not copied */
	SELECTION_HASH_OFF,   /* no hashes */
	SELECTION_HASH_VERIFY /* copied all the same, to see that the hashes are right */
};

struct selection {
	unsigned origins; /* bit an enum origin */
	int origin_name;  /* enum origin to note for recorded images, or -1: the one found */
	bool no_data;     /* geometry and metadata only */
	bool extents;     /* what a launch touches is to be measured */
	bool cupti;       /* the machine code that the driver makes is wanted, through CUPTI */
	bool has_kernels, has_exclude;
	regex_t kernels, exclude; /* POSIX extended, found anywhere in the entry name */
	uint64_t per_class;       /* launches of each kernel and shape class */
	uint64_t skip_launches;   /* of each class, not recorded before */
	uint64_t samples;         /* later launches of each class … */
	uint64_t sample_first;    /* … about number sample_first of the class, … */
	uint64_t sample_factor;   /* … and each so many times further on; >= 2 */
	struct selection_moment start, stop;
	uint64_t max_launches;     /* LAUNCH records of a process; SELECTION_NO_LIMIT */
	uint64_t max_bytes;        /* of a process's bundle, after which no launch is recorded */
	uint64_t max_region_bytes; /* larger regions get no contents */
	double wait_before_s;      /* longest that a launch is held up before it … */
	double wait_after_s;       /* … and behind it */
	uint64_t ring_bytes;       /* of pinned memory for copies, in each context */
	uint64_t host_bytes;       /* of host memory for the shim's large buffers, in all */
	bool compress;             /* chunks, with LZ4 */
	enum selection_hash hash;
	struct {
		uint64_t first, last;
	} ranks[SELECTION_RANKS_MAX];
	size_t rank_count; /* 0: all */
};

/*
 * Reads the variables; what is not set gets its default. A value that makes no sense is -EINVAL
 * with err that names option and variable, and *s needs no selection_free then. Threads: reads the
 * environment.
 */
int selection_read(struct selection *s, struct error *err);
void selection_free(struct selection *s);

/* NULL if launches of that entry are wanted by name; else why not (static). Any thread. */
const char *selection_left_out(const struct selection *s, const char *entry);

/* Whether contents are wanted of that rank; a process without rank counts as rank 0. */
bool selection_rank(const struct selection *s, uint64_t rank);

/*
 * Number (from 1) of the launch of a class that is its sample `index`: sample_first *
 * sample_factor^index, and up to half as much more, by the class's key, so that a period of the
 * program (16 layers a step) does not meet the same layer each time; equal in every run.
 * SELECTION_NO_LIMIT beyond 2^63.
 */
uint64_t selection_sample(const struct selection *s, struct hash128 class_key, unsigned index);

#endif
