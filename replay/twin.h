/* SPDX-License-Identifier: MIT */
/* A trial that both sides make in the same setting, A first. */
#ifndef REPLAY_TWIN_H
#define REPLAY_TWIN_H

#include "replay/trial_state.h"

struct twin {
	struct trial_note note;
	struct setting setting;
	uint32_t stride; /* between indices of further runs in the same setting; 0: 2 */
	bool whole;      /* everything was read back: bytes outside the extents count */
	const struct byteset
		*guard; /* of bytes with setting.fill: what does not keep it is stray */
	/* Why A's outcome is no ground to stand on; "" if it is. May be NULL. */
	void (*check)(struct trials *t, const struct outcome *o, char *why, size_t size);
	enum look look; /* what the check looks for */
	bool spare;     /* its outputs may stay on the device (replay/spare.h) */
	bool differ;    /* out: both ran, and a byte that A writes differs */
};

/*
 * Runs and sends it. Where A fails or the check finds fault both sides' trials are void, with that
 * reason. 0, or -errno with err; after t->r->lost B's may be missing.
 */
int twin_run(struct trials *t, struct twin *w, struct error *err);

/* The same; o[] holds zeros, and is the caller's to free. */
int twin_run_keep(struct trials *t, struct twin *w, struct outcome o[SIDE_COUNT],
		  struct error *err);

/* The same of A alone. */
int twin_run_a(struct trials *t, struct twin *w, struct error *err);

/* The run alone, and its sending. *o is the caller's to free. 0, or -errno (with err). */
int twin_launch(struct trials *t, const struct twin *w, enum side side, struct outcome *o,
		struct error *err);
int twin_send(struct trials *t, const struct twin *w, enum side side, const struct outcome *o);

/* Guard bytes that do not hold the pattern any more, as n's stray bytes. 0; -ENOMEM. */
int twin_unkept(struct trials *t, const struct twin *w, const struct outcome *o,
		struct trial_note *n);

/* Whether a byte that A writes differs; those of `except` (may be NULL) do not count. 0; -ENOMEM.
 */
int twin_differ(struct trials *t, const struct snapshot *x, const struct snapshot *y,
		const struct byteset *except, bool *differ);

/*
 * Whether a side's run gave another result than its first plain one; false of a run that failed,
 * and of a side whose plain runs differ themselves. 0; -ENOMEM.
 */
int twin_other(struct trials *t, const struct runs *plain, const struct outcome *o, bool *other);

/* Why A's outcome says nothing, if it does: it failed, or the check found fault. */
void twin_check(struct trials *t, const struct twin *w, const struct outcome *o, char *why,
		size_t size);

/* Both sides' trials are void. */
int twin_void(struct trials *t, const struct twin *w, const char *why);

/* A check: A turns numbers of the plain run into NaN; or into infinities as well. */
void twin_check_nan(struct trials *t, const struct outcome *o, char *why, size_t size);
void twin_check_finite(struct trials *t, const struct outcome *o, char *why, size_t size);

/* Called for each written element of each float extent; stops where it returns false. */
typedef bool each_element(void *data, uint32_t dtype, uint64_t address, const void *now);
/* Whether any of these elements, written or not, is worth the call. */
typedef bool any_element(void *data, uint32_t dtype, const uint8_t *elements, size_t count);
/* any may be NULL: all are. Chunks that the device found clean of `look` are passed over. */
void twin_elements(struct trials *t, const struct snapshot *s, enum look look, any_element *any,
		   each_element *call, void *data);

#endif
