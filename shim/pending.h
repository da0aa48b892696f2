/* SPDX-License-Identifier: MIT */
/*
 * Records that wait for contents. A record refers to chunks, and a reader of a killed program's
 * bundle must find these: so it is written only when all of its copies have been stored, by
 * whichever thread stored the last one. Records of one stream are written in the order in which
 * they began (LAUNCH before its AFTER); those of different streams do not wait for each other.
 */
#ifndef SHIM_PENDING_H
#define SHIM_PENDING_H

#include <stdbool.h>
#include <stdint.h>

struct pending {
	struct pending *next;
	uint64_t order; /* of the same order: one after the other */
	unsigned holds;
	bool writing;
	/* Each called once, in this order, by any thread, with no lock held. */
	void (*write)(struct pending *p); /* writes the record */
	void (*free)(struct pending *p);  /* p and what it is part of are not needed any more */
};

/* Begins a record with one hold; order, write and free of p are set. */
void pending_add(struct pending *p);
void pending_hold(struct pending *p);
/* The last one: the record, and those that waited for it, are written before this returns, or by
 * another thread that writes just now. */
void pending_release(struct pending *p);

/*
 * Waits until nothing is pending: true. Gives up when nothing was stored or written for idle_s
 * seconds, or after all_s. look, called every few milliseconds, may be NULL.
 */
bool pending_drain(double idle_s, double all_s, void (*look)(void));
/* A copy was stored: pending_drain sees that it goes on. */
void pending_progress(void);

/* After fork. */
void pending_forget(void);

#endif
