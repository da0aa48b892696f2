/* SPDX-License-Identifier: MIT */
/* Races in a block's shared memory: accesses of two warps that no barrier orders. */
#include "softgpu/races.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WARPS_MOST  32u
#define GROUPS_MOST (1u << 20)

struct clock {
	uint32_t of[WARPS_MOST];
};

/* What is known of a byte. */
struct cell {
	uint32_t read_line, write_line; /* of the last ones, in the PTX */
	uint32_t copy_group;            /* cp.async that is to write it, from 1; 0: none */
	uint8_t copy_warp;
};

/* A warp's groups of cp.async: [0, complete) are, at the clocks of their waits. */
struct copies {
	uint32_t open, complete, capacity;
	uint32_t *at;
};

struct races {
	struct machine_races *out;
	uint32_t warps, bytes;
	struct clock clocks[WARPS_MOST], barriers[BARRIERS_PER_BLOCK], published, ended;
	struct copies copies[WARPS_MOST];
	uint32_t *writes, *reads; /* a clock for each byte and warp; 0: none */
	struct cell *cells;
	uint8_t old[WARP_LANES][ACCESS_BYTES_MOST];
};

/* ---- clocks ---- */

static void join(struct clock *to, const struct clock *from, uint32_t warps)
{
	for (uint32_t i = 0; i < warps; i++)
		to->of[i] = from->of[i] > to->of[i] ? from->of[i] : to->of[i];
}

void races_acquire(const struct run *r)
{
	struct races *x = r->m->races;

	join(&x->clocks[r->w->index], &x->published, x->warps);
}

void races_release(const struct run *r)
{
	struct races *x = r->m->races;
	uint32_t w = r->w->index;

	join(&x->published, &x->clocks[w], x->warps);
	x->clocks[w].of[w]++;
}

void races_arrive(const struct run *r, uint32_t barrier, bool waits)
{
	struct races *x = r->m->races;
	uint32_t w = r->w->index;

	join(&x->barriers[barrier], &x->clocks[w], x->warps);
	if (!waits)
		x->clocks[w].of[w]++;
}

void races_pass(struct races *x, uint32_t warp, uint32_t barrier, bool of_all)
{
	join(&x->clocks[warp], &x->barriers[barrier], x->warps);
	if (of_all)
		join(&x->clocks[warp], &x->ended, x->warps);
	x->clocks[warp].of[warp]++;
}

void races_clear(struct races *x, uint32_t barrier)
{
	x->barriers[barrier] = (struct clock){0};
}

void races_exit(struct races *x, uint32_t warp)
{
	join(&x->ended, &x->clocks[warp], x->warps);
}

/* ---- findings ---- */

static void found(const struct run *r, uint32_t at, const char *does, const char *other,
		  uint32_t warp, uint32_t line)
{
	struct races *x = r->m->races;
	struct machine_races *out = x->out;
	char here[60], there[60];

	if (out->count++)
		return;
	program_line_text(r->m->program, r->i->line, here, sizeof(here));
	program_line_text(r->m->program, line, there, sizeof(there));
	out->line[0] = line;
	out->line[1] = r->i->line;
	snprintf(out->message, sizeof(out->message),
		 "block (%u, %u, %u): warp %u %s byte %u of shared memory (PTX line %u \"%s\") "
		 "that warp %u %s (line %u \"%s\"), and nothing orders the two",
		 r->m->block.id[0], r->m->block.id[1], r->m->block.id[2], r->w->index, does, at,
		 r->i->line, here, warp, other, line, there);
}

/* ---- bytes ---- */

/* A copy that was waited for is a write of that moment. False: it was not. */
static bool settle_copy(struct races *x, uint32_t at)
{
	struct cell *c = &x->cells[at];
	const struct copies *k = &x->copies[c->copy_warp];
	uint32_t *writes = x->writes + (size_t)at * x->warps;

	if (c->copy_group > k->complete)
		return false;
	memset(writes, 0, x->warps * sizeof(*writes));
	writes[c->copy_warp] = k->at[c->copy_group - 1];
	c->copy_group = 0;
	return true;
}

static void read_byte(const struct run *r, uint32_t at)
{
	struct races *x = r->m->races;
	struct cell *c = &x->cells[at];
	uint32_t w = r->w->index, other = WARPS_MOST;
	const uint32_t *writes = x->writes + (size_t)at * x->warps;
	bool ordered = false;

	if (c->copy_group && !settle_copy(x, at)) {
		found(r, at, "reads", "fills by cp.async, which was not waited for", c->copy_warp,
		      c->write_line);
		return;
	}
	for (uint32_t v = 0; v < x->warps && !ordered; v++) {
		if (!writes[v])
			continue;
		ordered = v == w || writes[v] <= x->clocks[w].of[v];
		other = v;
	}
	if (!ordered && other < WARPS_MOST)
		found(r, at, "reads", "writes", other, c->write_line);
	x->reads[(size_t)at * x->warps + w] = x->clocks[w].of[w];
	c->read_line = r->i->line;
}

static void write_byte(const struct run *r, uint32_t at, bool changes)
{
	struct races *x = r->m->races;
	struct cell *c = &x->cells[at];
	uint32_t w = r->w->index;
	const struct clock *now = &x->clocks[w];
	uint32_t *writes = x->writes + (size_t)at * x->warps;
	uint32_t *reads = x->reads + (size_t)at * x->warps;

	if (c->copy_group && !settle_copy(x, at) && c->copy_warp != w)
		found(r, at, "writes", "fills by cp.async, which was not waited for", c->copy_warp,
		      c->write_line);
	for (uint32_t v = 0; v < x->warps; v++) {
		if (v == w)
			continue;
		/* Who wrote this value itself does not need the other warp's. */
		if (reads[v] > now->of[v] && (changes || !writes[v]))
			found(r, at, "writes", "reads", v, c->read_line);
		else if (writes[v] > now->of[v] && changes)
			found(r, at, "writes", "writes another value to", v, c->write_line);
	}
	if (changes) {
		memset(writes, 0, x->warps * sizeof(*writes));
		memset(reads, 0, x->warps * sizeof(*reads));
	}
	writes[w] = now->of[w];
	c->copy_group = 0;
	c->write_line = r->i->line;
}

/* Offset in shared memory; false where the address is elsewhere. */
static bool shared_offset(const struct run *r, const uint8_t *host, unsigned bytes, uint32_t *at)
{
	uintptr_t base = (uintptr_t)r->m->block.shared, p = (uintptr_t)host;

	if (p < base || p - base + bytes > r->m->races->bytes)
		return false;
	*at = (uint32_t)(p - base);
	return true;
}

void races_read(const struct run *r, uint32_t mask, unsigned bytes, uint8_t *const *host)
{
	uint32_t at;

	for (uint32_t left = mask; left; left &= left - 1) {
		unsigned l = (unsigned)__builtin_ctz(left);

		if (shared_offset(r, host[l], bytes, &at))
			for (unsigned k = 0; k < bytes; k++)
				read_byte(r, at + k);
	}
}

void races_before_write(const struct run *r, uint32_t mask, unsigned bytes, uint8_t *const *host)
{
	struct races *x = r->m->races;
	uint32_t at;

	for (uint32_t left = mask; left; left &= left - 1) {
		unsigned l = (unsigned)__builtin_ctz(left);

		if (shared_offset(r, host[l], bytes, &at))
			memcpy(x->old[l], host[l], bytes);
	}
}

void races_write(const struct run *r, uint32_t mask, unsigned bytes, uint8_t *const *host)
{
	struct races *x = r->m->races;
	uint32_t at;

	for (uint32_t left = mask; left; left &= left - 1) {
		unsigned l = (unsigned)__builtin_ctz(left);

		if (shared_offset(r, host[l], bytes, &at))
			for (unsigned k = 0; k < bytes; k++)
				write_byte(r, at + k, host[l][k] != x->old[l][k]);
	}
}

/* ---- asynchronous copies ---- */

/* Room for the clocks of the groups up to the open one. */
static bool copies_reserve(struct copies *k)
{
	uint32_t capacity = k->capacity ? 2 * k->capacity : 64;
	uint32_t *grown;

	if (k->open < k->capacity)
		return true;
	if (k->open >= GROUPS_MOST)
		return false;
	grown = realloc(k->at, capacity * sizeof(*grown));
	if (!grown)
		return false;
	k->at = grown;
	k->capacity = capacity;
	return true;
}

/* Without room for its group a copy is a plain write. */
void races_copy(const struct run *r, uint32_t mask, unsigned bytes, uint8_t *const *host)
{
	struct races *x = r->m->races;
	uint32_t w = r->w->index, at;

	races_write(r, mask, bytes, host);
	if (!copies_reserve(&x->copies[w])) {
		x->out->incomplete = true;
		return;
	}
	for (uint32_t left = mask; left; left &= left - 1) {
		unsigned l = (unsigned)__builtin_ctz(left);

		if (!shared_offset(r, host[l], bytes, &at))
			continue;
		for (unsigned k = 0; k < bytes; k++) {
			x->cells[at + k].copy_group = x->copies[w].open + 1;
			x->cells[at + k].copy_warp = (uint8_t)w;
		}
	}
}

/* Lanes of a warp that come one after the other commit one group each: all are waited for. */
void races_commit(const struct run *r)
{
	struct races *x = r->m->races;
	struct copies *k = &x->copies[r->w->index];

	if (copies_reserve(k))
		k->open++;
	else
		x->out->incomplete = true;
}

void races_wait(const struct run *r, uint32_t pending_groups, bool all)
{
	struct races *x = r->m->races;
	uint32_t w = r->w->index;
	struct copies *k = &x->copies[w];
	uint32_t complete;

	if (all)
		races_commit(r);
	complete = k->open > pending_groups ? k->open - pending_groups : 0;
	for (; k->complete < complete; k->complete++)
		k->at[k->complete] = x->clocks[w].of[w];
}

/* ---- blocks ---- */

void races_block(struct races *x)
{
	size_t cells = (size_t)x->bytes * x->warps;

	memset(x->writes, 0, cells * sizeof(*x->writes));
	memset(x->reads, 0, cells * sizeof(*x->reads));
	memset(x->cells, 0, x->bytes * sizeof(*x->cells));
	memset(x->clocks, 0, sizeof(x->clocks));
	memset(x->barriers, 0, sizeof(x->barriers));
	x->published = x->ended = (struct clock){0};
	for (uint32_t w = 0; w < x->warps; w++) {
		x->clocks[w].of[w] = 1;
		x->copies[w].open = x->copies[w].complete = 0;
	}
}

struct races *races_open(struct machine *m)
{
	struct races *x = calloc(1, sizeof(*x));

	if (!x)
		return NULL;
	x->out = m->launch->races;
	x->warps = m->block.warp_count;
	x->bytes = m->shared_bytes;
	x->writes = calloc((size_t)x->bytes * x->warps + 1, sizeof(*x->writes));
	x->reads = calloc((size_t)x->bytes * x->warps + 1, sizeof(*x->reads));
	x->cells = calloc(x->bytes + 1ull, sizeof(*x->cells));
	if (x->writes && x->reads && x->cells)
		return x;
	races_free(x);
	return NULL;
}

void races_free(struct races *x)
{
	if (!x)
		return;
	for (uint32_t w = 0; w < WARPS_MOST; w++)
		free(x->copies[w].at);
	free(x->writes);
	free(x->reads);
	free(x->cells);
	free(x);
}
