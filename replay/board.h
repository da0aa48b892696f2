/* SPDX-License-Identifier: MIT */
/* A launch's contents on the device: restored, changed and compared where they lie. */
#ifndef REPLAY_BOARD_H
#define REPLAY_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drv/driver.h"
#include "kernelab/error.h"
#include "replay/change.h"
#include "replay/contents.h"
#include "replay/cost.h"
#include "replay/kernels.h"
#include "replay/look.h"
#include "replay/ring.h"
#include "replay/slots.h"
#include "replay/variables.h"

/* Pictures of memory after a run that stay on the device, for later runs to be compared with. */
enum bank {
	BANK_BEFORE, /* the contents before the launch */
	BANK_A,      /* after A's first plain run */
	BANK_SIDE,   /* after the first run of B, or of A on the same changed inputs */
	BANK_FILLED, /* before a probing run: what stays as it was filled is not written */
	BANK_COUNT
};

/* What a bank holds of each chunk. */
struct picture {
	struct page **pages; /* NULL: as before the launch */
	CUdeviceptr *own;    /* slot for it, 0: none yet */
	CUdeviceptr *at;     /* where it lies; pinned, a row of the device's table */
};

/* Belongs to one worker and its thread; the device's context is current in every call. */
struct board {
	const struct driver *driver;
	CUstream stream; /* everything is enqueued on it */
	struct stopwatch *watch;
	struct kernels kernels;
	struct slots slots;
	struct ring ring;
	const struct contents *contents; /* of the launch that is on the board; NULL: none */
	size_t capacity;                 /* chunks that the tables have room for */
	size_t unheld;     /* chunks that have no room on the device: restored from the host */
	CUdeviceptr *live; /* where each chunk is; pinned, as are the next two */
	uint8_t *flags;    /* a byte a slice: of the last comparison; then of that with BANK_A */
	struct picture pictures[BANK_COUNT];
	CUdeviceptr tables;       /* on the device: live, then a row a bank */
	CUdeviceptr device_flags; /* likewise */
	void *pinned;
	struct change_rows rows; /* of the change made last */
	struct change rows_of;
	struct run_list {
		struct device_run *items;
		size_t count, capacity;
	} short_runs, long_runs; /* of the fill planned last */
	struct device_list {
		CUdeviceptr at;
		size_t bytes;
	} list, look_list; /* on the device: rows to change or short runs; rows to look at */
	bool rows_there;   /* `list` holds the rows */
	struct change_rows looked; /* of what board_plan_look was given */
	bool looked_there;         /* `look_list` holds them */
	enum look look;            /* of the last run; `finds` holds what it found */
	uint8_t *finds;            /* pinned, a byte a chunk */
	CUdeviceptr device_finds;  /* likewise */
	struct page_store store;   /* of pages that are in a bank and were not read back */
	struct page *filler;       /* all bytes alike, shared by filled chunks */
};

/* Compiles the kernels; the stream is borrowed. 0 or -errno with err. */
int board_open(struct board *s, const struct driver *driver, CUstream stream,
	       struct stopwatch *watch, struct error *err);

/*
 * Takes a launch, whose memory is mapped, in place of the last one. What of its recorded contents
 * the device still holds is not sent again. `contents` is borrowed until board_drop.
 */
int board_take(struct board *s, const struct contents *contents, struct error *err);
void board_drop(struct board *s);

/* Gives back all device memory that holds no launch. */
void board_clear(struct board *s);

/*
 * Brings live memory back to the contents before the launch. Only the slices are copied that the
 * last board_compare found changed; nothing else can differ, since it looked at all of them, and
 * only board_fill and board_change write memory between. After board_take and board_spoil all are.
 */
int board_restore(struct board *s, struct error *err);

/* What the last comparison found is no longer true: a launch was not looked at. */
void board_spoil(struct board *s);

/*
 * Works out what to fill, or to change, and sends the list to the device: the host's part, before
 * memory is restored. It holds until the next plan.
 */
int board_plan_fill(struct board *s, const struct byteset *bytes, struct error *err);
int board_plan_change(struct board *s, const struct change *change, struct error *err);

/* On top of restored contents, enqueued: sets the planned bytes; changes the planned inputs. */
int board_fill(struct board *s, uint8_t fill, struct error *err);
int board_change(struct board *s, const struct change *change, struct error *err);

/*
 * Module variables have no address of their own: memory of ours stands in for them. Copies it to
 * where the module of a launch has them, or back after the launch.
 */
int board_copy_variables(struct board *s, const struct variables *v, bool to_module,
			 struct error *err);

/* Makes BANK_FILLED what the last board_fill left, of those bytes. */
int board_keep_filled(struct board *s, const struct byteset *bytes, uint8_t fill,
		      struct error *err);

/*
 * What to look at in live memory: the float elements of those extents. False in *can where the
 * device cannot. Both must stay as they are until board_drop.
 */
int board_plan_look(struct board *s, const struct extents *extents, const struct byteset *written,
		    bool *can, struct error *err);

/* Enqueues a look at it: pages that board_read leaves on the device know if they are clean of it.
 */
int board_look(struct board *s, enum look look, struct error *err);

/*
 * Enqueues the comparison of all live memory with the contents before and with a bank; for
 * BANK_FILLED with BANK_A too.
 */
int board_compare(struct board *s, enum bank bank, struct error *err);

/*
 * After board_compare with that bank, and once the stream is done: the memory. What is as in the
 * bank shares its pages; only what else changed is read back. With `only`, just the chunks that
 * hold a byte of that set. `out` must be fresh (snapshot_init). What the bank `keep` has room for
 * is not read back but left to it: board_keep must follow, of that bank. BANK_BEFORE: all is read.
 */
int board_read(struct board *s, enum bank bank, const struct byteset *only, enum bank keep,
	       struct snapshot *out, struct error *err);

/* Reads back at once what of the snapshot is still away. Single pages come when they are asked for.
 */
int board_fetch(struct board *s, const struct snapshot *what, struct error *err);

/* Whether any page could not be fetched since board_open: the device is not what it was. */
int board_fetched(const struct board *s, struct error *err);

/* Keeps live memory, which `now` is the picture of, in the bank. */
int board_keep(struct board *s, enum bank bank, const struct snapshot *now, struct error *err);

#endif
