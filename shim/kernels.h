/* SPDX-License-Identifier: MIT */
/* Kernels of the program: how their handles are found, their parameters, their counters. */
#ifndef SHIM_KERNELS_H
#define SHIM_KERNELS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "drv/entries.h"
#include "kernelab/bundle.h"
#include "shim/classes.h"
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

/* How a parameter goes into the key of the shape class. */
enum key_kind {
	KEY_ALIGNMENT, /* a pointer */
	KEY_WORD,      /* 8 bytes: a pointer, where the upper half is not 0, or a number */
	KEY_FOUR,      /* a number of 4 bytes */
	KEY_EIGHT,
	KEY_PLAIN,             /* so many kinds make plain keys; others: */
	KEY_BYTES = KEY_PLAIN, /* a number of another size */
	KEY_WORDS,             /* a struct: words, and the bytes behind them */
	KEY_KINDS
};

struct key_part {
	uint32_t param, offset, size;
	enum key_kind kind;
};

#define KEY_FEW 20u

/* What every launch reads of a kernel, in a cache line: the parameters of plain kinds, by kind. */
struct key_plan {
	const uint16_t *order;    /* numbers of the parameters: `few`, or malloc'ed */
	uint16_t ends[KEY_PLAIN]; /* in order, of each kind */
	uint16_t words;           /* of the key; 0: it is not plain, or long */
	uint16_t few[KEY_FEW];
};

/* An image's entry. Lives as long as the process. Counters: table_lock, if nothing else is said. */
struct kernel {
	_Alignas(CACHE_LINE) struct key_plan plan; /* constant */

	/* The second line that launches touch, to the table of its classes. */
	_Alignas(CACHE_LINE) atomic_ullong launches; /* of kernels that are only counted; no lock */
	bool recorded;                 /* launches of it are recorded; else only counted */
	_Atomic(struct tails *) tails; /* among the launches beyond CLASSES_MAX */
	struct classes classes;

	struct image *image; /* NULL: a function that no seen module holds */
	char *entry;         /* "" where the driver does not tell */
	uint32_t number;     /* KERNEL.number, valid if recorded */
	bool wanted;         /* image->wanted when it was made */
	bool written;        /* KERNEL is in the bundle */
	const char *left;    /* why not recorded, where its name decided; static */

	struct record_param *params; /* param_count */
	enum param_kind *kinds;
	size_t param_count;
	uint32_t params_bytes;
	bool layout_known;
	uint32_t registers, static_shared_bytes, local_bytes;

	struct key_part *key_parts; /* of the parameters that count, by kind; constant */
	size_t key_part_count;
	uint64_t flushed; /* of launches */
};

/* cuModuleGetFunction succeeded. Takes both locks. Calls the driver for the layout. */
void kernels_found(CUmodule module, CUfunction function, const char *entry);

/* cuLibraryGetKernel gave a kernel, which may be launched itself. As kernels_found. */
void kernels_found_in_library(CUlibrary library, CUkernel handle, const char *entry);
/* cuKernelGetFunction: the function is the kernel's, in the current context. Takes table_lock. */
void kernels_function_of(CUkernel handle, CUfunction function);

/* The library that a CUkernel is of; NULL for a function. Takes table_lock. */
const void *kernels_library(CUfunction handle);

/*
 * With --cupti: has the driver load the code of a CUkernel that is about to be launched, as the
 * launch would, and listens. Takes both locks.
 */
void kernels_load(CUfunction handle);

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

/* Writes KERNEL once. function: to ask for what is set per function, or NULL. 0 or -errno. */
int kernels_write(struct bundle_writer *w, struct kernel *kernel, CUfunction function);
/* Kernels of recorded images that were never launched. Caller holds load_lock. Calls no driver. */
void kernels_write_unlaunched(struct bundle_writer *w);

/* Calls visit for each kernel. Caller holds table_lock. */
void kernels_each(void (*visit)(struct kernel *kernel, void *data), void *data);

void kernels_forget(void);

#endif
