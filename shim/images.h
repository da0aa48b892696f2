/* SPDX-License-Identifier: MIT */
/* Code objects that the program loaded: copied, told where they came from, written once. */
#ifndef SHIM_IMAGES_H
#define SHIM_IMAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drv/entries.h"
#include "kernelab/bundle.h"
#include "lib/signature.h"
#include "shim/cache.h"
#include "shim/cupti.h"
#include "shim/image_globals.h"
#include "shim/jitted.h"
#include "shim/tails.h"

struct image {
	struct hash128 id;
	enum image_kind kind;
	size_t size;
	unsigned modules;    /* that are loaded from it; load_lock */
	char *data;          /* until it is written, or not wanted and no module left */
	char *path, *caller; /* may be NULL */
	const char *loader;  /* driver entry */
	struct cache_entry cache;
	enum origin origin; /* written under both locks */
	const char *origin_how;
	struct signature *signature; /* of .source, or of .ttir; NULL without both */
	struct tail_blocks blocks;   /* of the same text */
	bool wanted;                 /* its launches are recorded; IMAGE has been written */
	char *ptx; /* ptx_size bytes and a NUL, until the variant is made; NULL: none known */
	size_t ptx_size;
	/* Found when IMAGE is written; table_lock once launches may look. Those that the driver's
	 * code replaced stay: recordings under way name them. */
	struct image_globals globals, replaced;
	struct image_variant *variant; /* shim/variants.c; the lock of shim/extents.c */
	struct jitted jitted;          /* --cupti; load_lock */
	const char *left_out; /* why its bytes were not even copied, else NULL; id then is none */
};

/*
 * Size and start of the code object that cuModuleLoadData got: ELF by its headers, a fatbin by its
 * container's, PTX up to its NUL. Trusts the headers no more than the driver does, which has just
 * loaded it. false: none of these.
 */
bool image_measure(const void *image, enum image_kind *kind, const void **start, size_t *size);
enum image_kind image_kind_of(const void *data, size_t size);

/*
 * A module was loaded. Takes over data (malloc'ed). path: the file, or NULL. caller: a code address
 * in the library that called. Any thread; takes load_lock.
 */
void images_loaded(CUmodule module, char *data, size_t size, enum image_kind kind, const char *path,
		   const char *loader, const void *caller);

/*
 * A library was loaded: from memory (code), or from a file whose bytes are in data (malloc'ed,
 * taken over). The runtime loads the fatbins of all of PyTorch this way, hundreds of MB: a fatbin
 * is copied only if origin "other" is recorded, and nothing above 64 MiB; what is not copied is
 * known by its kernels' names. Any thread; takes load_lock.
 */
void images_library_loaded(CUlibrary library, const void *code, char *data, size_t size,
			   const char *path, const char *loader, const void *caller);
/* A context's module of a library, as cuLibraryGetModule gave it. */
void images_library_module(CUlibrary library, CUmodule module);

/*
 * What a load or a look-up made the driver load: w was begun before that call and has ended. Takes
 * over w->cubin. holder: the module or library. Any thread; takes both locks.
 */
void images_heard(const void *holder, struct cupti_watch *w);
/*
 * Begins w if the holder's image is PTX or a fatbin of which no machine code was heard yet: lazy
 * loading leaves that to the first look-up. Else w is idle. Takes table_lock.
 */
void images_listen_late(const void *holder, struct cupti_watch *w);
/* Begins w if the driver may have to compile what is about to be loaded; else w is idle. */
void images_listen(enum image_kind kind, struct cupti_watch *w);
/* The same for a library: not for fatbins that are not copied. */
void images_library_listen(enum image_kind kind, struct cupti_watch *w);
/* As image_measure's, by the first bytes alone. image may be NULL. */
enum image_kind image_glance(const void *image);

/* Forgets what is about to be unloaded, and its functions. Takes both locks. */
void images_unloading(CUmodule module);
void images_library_unloading(CUlibrary library);

/* NULL for one that was not seen. Caller holds table_lock. Images live as long as the process. */
struct image *images_of_module(CUmodule module);
struct image *images_of_library(CUlibrary library);

/*
 * An entry's name may tell more than the bytes: decides again if the image is not wanted yet.
 * Caller holds load_lock.
 */
void images_decide(struct image *image, const char *entry);

/* Files that are complete only now: Inductor's .best_config. Caller holds load_lock. 0 or -errno.
 */
int images_write_end(struct bundle_writer *w);

/* After fork. */
void images_forget(void);

#endif
