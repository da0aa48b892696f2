/* SPDX-License-Identifier: MIT */
/* Functions of the program: which kernel a handle is, its parameters, its counters. */
#ifndef SHIM_KERNELS_H
#define SHIM_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

#include "drv/entries.h"
#include "kernelab/bundle.h"
#include "shim/images.h"

/* What a parameter is to the shape class. */
enum param_kind {
	PARAM_UNKNOWN, /* no signature, or it does not fit */
	PARAM_INTEGER,
	PARAM_FLOAT,
	PARAM_POINTER,
	PARAM_DESCRIPTOR, /* CUtensorMap by value */
	PARAM_HIDDEN      /* scratch pointer that the compiler added */
};

#define CLASSES_MAX 64u

/* Why a launch of a recorded kernel was only counted. shim/launches.c has the words. */
enum launch_left {
	LEFT_PER_CLASS,
	LEFT_SKIPPED,
	LEFT_BEFORE,
	LEFT_AFTER,
	LEFT_MAX_LAUNCHES,
	LEFT_MAX_BYTES,
	LEFT_IN_CAPTURE,
	LEFT_FAILED,
	LEFT_CLASSES,
	LEFT_NOT_RECORDABLE,
	LEFT_POSTPONED,
	LEFT_ENDED,
	LEFT_COUNT
};

/* A number, and how much of it CLASS records have told so far. */
struct tally {
	uint64_t count, flushed;
};

struct shape_class {
	struct hash128 key;
	uint32_t grid[3];
	uint64_t seen;
	uint64_t claimed; /* launches that are being recorded, or are with contents; samples not */
	uint64_t next_sample; /* number in the class of the next one; 0: not computed yet */
	uint32_t samples;     /* taken */
	uint32_t schedule;    /* index of the next sample */
	struct tally written; /* LAUNCH records */
	struct tally left[LEFT_COUNT];
	uint32_t captured; /* LAUNCH records made in stream capture: at most one */
	uint32_t failed;   /* recordings that got no contents */
};

/* An image's entry. Lives as long as the process. Counters: table_lock. */
struct kernel {
	struct image *image; /* NULL: a function that no seen module holds */
	char *entry;         /* "" where the driver does not tell */
	uint32_t number;     /* KERNEL.number, valid if recorded */
	bool wanted;         /* image->wanted when it was made */
	bool recorded;       /* launches of it are recorded; else only counted */
	const char *left;    /* why not, where its name decided; static */
	bool written;        /* KERNEL is in the bundle */

	struct record_param *params; /* param_count */
	enum param_kind *kinds;
	size_t param_count;
	uint32_t params_bytes;
	bool layout_known;
	uint32_t registers, static_shared_bytes, local_bytes;

	struct shape_class *classes;
	size_t class_count;
	struct shape_class more;    /* launches of classes beyond CLASSES_MAX */
	struct tails *tails;        /* among those */
	uint64_t launches, flushed; /* of kernels that are only counted */
};

/* cuModuleGetFunction succeeded. Takes both locks. Calls the driver for the layout. */
void kernels_found(CUmodule module, CUfunction function, const char *entry);

/* cuLibraryGetKernel gave a kernel, which may be launched itself. As kernels_found. */
void kernels_found_in_library(CUlibrary library, CUkernel handle, const char *entry);
/* cuKernelGetFunction: the function is the kernel's, in the current context. Takes table_lock. */
void kernels_function_of(CUkernel handle, CUfunction function);

/* The kernel behind a handle, NULL if not known. Caller holds table_lock. */
struct kernel *kernels_of_function(CUfunction function);

/*
 * For a handle that no wrapped call gave: found by its module if that was seen (a function that was
 * put in the place of another), else one that is only counted. Takes both locks. NULL without
 * memory.
 */
struct kernel *kernels_adopt(CUfunction function);

/*
 * Whether the driver knows the handle in the current context: one of a context that was destroyed
 * it does not. Takes table_lock.
 */
bool kernels_usable(CUfunction handle);

/* Forgets the functions of a module or library. Caller holds table_lock. */
void kernels_drop_holder(uint64_t holder);

/*
 * The kernel's class of that key, made if need be; &kernel->more beyond CLASSES_MAX or without
 * memory. Caller holds table_lock.
 */
struct shape_class *kernels_class(struct kernel *kernel, struct hash128 key,
				  const uint32_t grid[3]);

/* Writes KERNEL once. function: to ask for what is set per function, or NULL. 0 or -errno. */
int kernels_write(struct bundle_writer *w, struct kernel *kernel, CUfunction function);
/* Kernels of recorded images that were never launched. Caller holds load_lock. Calls no driver. */
void kernels_write_unlaunched(struct bundle_writer *w);

/* Calls visit for each kernel. Caller holds table_lock. */
void kernels_each(void (*visit)(struct kernel *kernel, void *data), void *data);

void kernels_forget(void);

#endif
