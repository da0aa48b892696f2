/* SPDX-License-Identifier: MIT */
/* Copies memory of the device through the ring into the bundle. */
#include "shim/contents.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "lib/pairs.h"
#include "shim/budget.h"
#include "shim/clock.h"
#include "shim/facts.h"
#include "shim/gpu_hash.h"
#include "shim/hooks.h"
#include "shim/known.h"
#include "shim/nh.h"
#include "shim/recorder.h"

#define PIECE_ALIGNMENT 64u
#define SPIN_S          500e-6

bool stream_wait(CUstream stream, double seconds, CUresult *result)
{
	double start = clock_seconds();

	for (unsigned turn = 0;; turn++) {
		*result = real.cuStreamQuery(stream);
		if (*result != CUDA_ERROR_NOT_READY)
			return *result == CUDA_SUCCESS;
		if (turn < 64)
			continue; /* most kernels end within microseconds */
		if (clock_seconds() - start > seconds)
			return false;
		/* A sleep takes longer than most of the others. */
		if (clock_seconds() - start > SPIN_S)
			clock_sleep(turn < 1000 ? 20e-6 : 500e-6);
	}
}

/* ---- what is chosen ---- */

/* Chunks of a region. */
struct chunk_run {
	uint64_t first, end;
};

static uint64_t chunk_of(const struct record_region *region, uint64_t offset)
{
	return (region->base + offset) / CHUNK_BYTES - region->base / CHUNK_BYTES;
}

/* Those of the first pair that reaches to chunk `from` or beyond; first == end: there is none. */
static struct chunk_run run_of_pairs(const struct u64s *pairs, const struct record_region *region,
				     uint64_t from, uint64_t count)
{
	struct chunk_run run = {count, count};
	uint64_t address, offset, bytes;
	uint32_t unused;

	if (!pairs || !pairs->count || from >= count)
		return run;
	chunk_range(region->base, region->size, from, &address, &unused);
	if (!pairs_next(pairs, address - region->base, &offset, &bytes))
		return run;
	run.first = chunk_of(region, offset);
	run.end = chunk_of(region, offset + bytes - 1) + 1;
	return run;
}

/* The next chosen chunks from `from` on, in a row; first == count: no more. */
static struct chunk_run next_run(const struct contents_choice *c,
				 const struct record_region *region, uint64_t from, uint64_t count)
{
	struct chunk_run reads, writes;

	if (!c->reads && !c->writes)
		return (struct chunk_run){from, count};
	reads = run_of_pairs(c->reads, region, from, count);
	writes = run_of_pairs(c->writes, region, from, count);
	return writes.first < reads.first ? writes : reads;
}

uint64_t contents_bytes(const struct record_region *region, const struct contents_choice *which)
{
	uint64_t count = chunk_count(region->base, region->size), sum = 0;
	struct chunk_run run = {0, 0};

	while ((run = next_run(which, region, run.end, count)).first < count) {
		uint64_t first, last;
		uint32_t bytes;

		chunk_range(region->base, region->size, run.first, &first, &bytes);
		chunk_range(region->base, region->size, run.end - 1, &last, &bytes);
		sum += last + bytes - first;
	}
	return sum;
}

/* ---- the keys ---- */

int contents_init(struct contents *c)
{
	const struct regions *regions = c->regions;
	uint64_t bytes = (regions->count + 1) * sizeof(*c->items);
	bool all = true;

	for (size_t i = 0; i < regions->count; i++)
		bytes += chunk_count(regions->items[i].base, regions->items[i].size) *
			 sizeof(struct hash128);
	if (!budget_take(bytes))
		return -ENOMEM;
	c->budget = bytes;
	c->items = calloc(regions->count + 1, sizeof(*c->items));
	if (!c->items)
		return -ENOMEM;
	c->count = regions->count;
	for (size_t i = 0; i < c->count; i++) {
		struct contents_region *g = &c->items[i];

		g->count = chunk_count(regions->items[i].base, regions->items[i].size);
		g->keys = calloc(g->count, sizeof(*g->keys));
		all = all && g->keys;
	}
	return all ? 0 : -ENOMEM;
}

void contents_free(struct contents *c)
{
	for (size_t i = 0; i < c->count; i++) {
		free(c->items[i].keys);
		free(c->items[i].note);
	}
	free(c->items);
	c->items = NULL;
	c->count = 0;
	budget_give(c->budget);
	c->budget = 0;
}

/* ---- what is known ---- */

static bool verifying(void)
{
	return recorder_settings()->hash == SELECTION_HASH_VERIFY;
}

static _Atomic uint64_t mismatches, copied_bytes, known_bytes, hashed_bytes, hash_us,
	unentered_bytes;

static int put_count(struct bundle_writer *w, const char *name, uint64_t value, const char *how)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	return facts_put(w, name, text, how);
}

int contents_write_facts(struct bundle_writer *w)
{
	int r = put_count(w, "capture.copied_bytes", atomic_load(&copied_bytes),
			  "contents that were copied from the device");

	if (r >= 0)
		r = put_count(w, "capture.known_bytes", atomic_load(&known_bytes),
			      "contents that were in the bundle by the device's hash");
	if (r >= 0)
		r = put_count(w, "capture.hashed_bytes", atomic_load(&hashed_bytes),
			      "contents that were hashed on the device");
	if (r >= 0)
		r = put_count(w, "capture.hash_us", atomic_load(&hash_us),
			      "microseconds that launches waited for that");
	if (r >= 0)
		r = put_count(w, "capture.host_bytes", budget_peak(),
			      "the most host memory of large buffers at one time");
	if (r >= 0 && atomic_load(&unentered_bytes))
		r = put_count(w, "capture.unentered_bytes", atomic_load(&unentered_bytes),
			      "contents whose hash found no room (a quarter of "
			      "KERNELAB_HOST_MEMORY): recorded again they are copied again");
	if (r >= 0 && verifying())
		r = put_count(w, "capture.hash_mismatches", atomic_load(&mismatches),
			      "chunks that were something else than their hash said, or changed");
	return r;
}

struct look_up {
	struct gpu_hash_piece *pieces;
	struct known_query *queries;
	size_t count;
};

static int look_up_init(struct look_up *l, uint64_t room)
{
	l->pieces = calloc(room, sizeof(*l->pieces));
	l->queries = calloc(room, sizeof(*l->queries));
	return l->pieces && l->queries ? 0 : -ENOMEM;
}

static void list_piece(struct look_up *l, const struct record_region *region, uint64_t index,
		       struct hash128 *key)
{
	uint64_t address;
	uint32_t bytes;

	chunk_range(region->base, region->size, index, &address, &bytes);
	if (!gpu_hash_can(address, bytes))
		return;
	l->pieces[l->count] = (struct gpu_hash_piece){address, bytes};
	l->queries[l->count++] = (struct known_query){bytes, key};
}

/*
 * Only what the launch itself is known to touch: that it may be read by the device is certain then,
 * where a kernel that reads another allocation (one that only a word among the parameters looks
 * like, of another device, or just being freed) would end the program. Module variables may lie in
 * a bank that is not read as other memory is.
 */
static void list_pieces(struct look_up *l, const struct contents *c,
			const struct record_region *region, uint32_t number,
			const struct contents_choice *which)
{
	uint64_t count = c->items[number].count;
	struct chunk_run run = {0, 0};

	if (!c->regions->measured || region->memory == MEMORY_HOST ||
	    region->memory == MEMORY_GLOBAL)
		return;
	while ((run = next_run(which, region, run.end, count)).first < count)
		for (uint64_t i = run.first; i < run.end; i++)
			list_piece(l, region, i, &c->items[number].keys[i]);
}

static void use_hashes(size_t first, const struct nh *hashes, size_t count, void *context)
{
	const struct look_up *l = context;

	atomic_fetch_add(&known_bytes, known_find(hashes, l->queries + first, count));
}

/* Once a bundle: whatever is recorded again is copied again. */
static void note_unhashed(struct bundle_writer *w, const char *why)
{
	static _Atomic(struct bundle_writer *) noted;

	if (atomic_exchange(&noted, w) != w)
		recorder_put(facts_put(w, "capture.hash", "off", why), "writing a fact");
}

static bool hash_pieces(struct contents *c, struct look_up *l, const char **why)
{
	double start = clock_seconds();
	uint64_t bytes = 0;

	if (!gpu_hash_run(c->ring, c->stream, l->pieces, l->count, c->copy_s, use_hashes, l, why))
		return false;
	for (size_t i = 0; i < l->count; i++)
		bytes += l->pieces[i].bytes;
	atomic_fetch_add(&hashed_bytes, bytes);
	atomic_fetch_add(&hash_us, (uint64_t)((clock_seconds() - start) * 1e6));
	return true;
}

void contents_look_up(struct contents *c, uint32_t number, const struct contents_choice *which)
{
	uint64_t room = c->items[number].count;
	uint64_t bytes = room * (sizeof(struct gpu_hash_piece) + sizeof(struct known_query));
	struct look_up l = {0};
	const char *why = "no host memory for the list of chunks";
	bool there = recorder_settings()->hash != SELECTION_HASH_OFF && budget_take(bytes);
	bool hashed = false;

	if (there && look_up_init(&l, room) >= 0)
		list_pieces(&l, c, &c->regions->items[number], number, which);
	if (l.count)
		hashed = hash_pieces(c, &l, &why);
	if (recorder_settings()->hash != SELECTION_HASH_OFF && !hashed && (l.count || !l.queries))
		note_unhashed(c->w, why);
	c->known |= hashed;
	free(l.pieces);
	free(l.queries);
	if (there)
		budget_give(bytes);
}

/* ---- storing ---- */

static void store_piece(struct contents *c, const struct slot *s, const struct slot_piece *p,
			const struct record_region *region)
{
	struct contents_region *g = &c->items[p->region];
	uint64_t start = 0, address;
	uint32_t bytes;
	int r;

	for (uint64_t i = p->first; i < p->end; i++) {
		struct hash128 told = g->keys[i];
		const char *data;

		chunk_range(region->base, region->size, i, &address, &bytes);
		if (i == p->first)
			start = address;
		data = s->data + p->offset + (address - start);
		r = bundle_put_chunk(c->w, data, bytes, &g->keys[i]);
		if (r < 0) {
			atomic_compare_exchange_strong(&c->error, &(int){0}, r);
			return;
		}
		if (!hash_is_zero(told) && !hash_equal(told, g->keys[i]))
			atomic_fetch_add(&mismatches, 1);
		if (c->known && !known_add(nh_hash(data, bytes), bytes, g->keys[i]))
			atomic_fetch_add(&unentered_bytes, bytes);
	}
}

/* On a worker. */
static void store(struct slot *s, CUresult result)
{
	struct contents *c = s->context;

	for (uint32_t i = 0; i < s->piece_count; i++) {
		const struct slot_piece *p = &s->pieces[i];

		if (result != CUDA_SUCCESS)
			atomic_store(&c->items[p->region].lost, (int)result);
		else if (!atomic_load(&c->error))
			store_piece(c, s, p, &c->regions->items[p->region]);
	}
	pending_release(c->pending);
}

/* ---- fetching ---- */

void contents_flush(struct contents *c)
{
	struct slot *s = steal_pointer(c->slot);

	if (!s)
		return;
	pending_hold(c->pending);
	ring_submit(s, c->stream, c->copy_s);
}

/* A slot with room for `bytes` more. */
static bool make_room(struct contents *c, uint32_t bytes)
{
	if (c->slot && (c->slot->piece_count == SLOT_PIECES ||
			c->slot->used + (uint64_t)bytes > ring_slot_bytes()))
		contents_flush(c);
	if (c->slot)
		return true;
	c->slot = ring_take(c->ring, c->room_s);
	if (!c->slot)
		return false;
	c->slot->use = store;
	c->slot->context = c;
	return true;
}

static CUresult copy(struct contents *c, const struct record_region *region, uint64_t address,
		     char *to, size_t bytes)
{
	if (c->source) {
		address = c->source->find(c->source->data, address, bytes);
		if (!address)
			return CUDA_ERROR_NOT_FOUND;
	} else if (region->memory == MEMORY_HOST) {
		memcpy(to, (const void *)(uintptr_t)address, bytes);
		return CUDA_SUCCESS;
	}
	return real.cuMemcpyDtoHAsync_v2(to, address, bytes, c->stream);
}

static char *no_room(const struct contents *c)
{
	if (!ring_has_memory(c->ring))
		return strdup("no contents: no host memory for copies (KERNELAB_HOST_MEMORY)");
	return text_format("no contents: no room for copies for %g seconds: what was copied before "
			   "is not written yet (KERNELAB_RING, %llu bytes)",
			   c->room_s, (unsigned long long)ring_bytes());
}

/* Not in the bundle as far as is known. */
static bool wanted(const struct contents *c, uint32_t number, uint64_t index)
{
	return hash_is_zero(c->items[number].keys[index]) || verifying();
}

/* One piece: as many wanted chunks in a row, from *index to before end, as the slot has room for.
 */
static bool fetch_piece(struct contents *c, const struct record_region *region, uint32_t number,
			uint64_t *index, uint64_t end)
{
	struct contents_region *g = &c->items[number];
	struct slot_piece piece = {.region = number, .first = *index};
	uint64_t start, address;
	uint32_t bytes, sum = 0;
	char text[160];
	CUresult result;

	chunk_range(region->base, region->size, *index, &start, &bytes);
	if (!make_room(c, bytes)) {
		g->note = no_room(c);
		return false;
	}
	while (*index < end && wanted(c, number, *index)) {
		chunk_range(region->base, region->size, *index, &address, &bytes);
		if (c->slot->used + (uint64_t)sum + bytes > ring_slot_bytes())
			break;
		sum += bytes;
		(*index)++;
	}
	piece.end = *index;
	piece.offset = c->slot->used;
	result = copy(c, region, start, c->slot->data + piece.offset, sum);
	if (result != CUDA_SUCCESS) {
		c->result = c->result == CUDA_SUCCESS ? result : c->result;
		g->note = text_format("no contents: the copy failed with %s",
				      driver_error_text(&real, result, text, sizeof(text)));
		return false;
	}
	atomic_fetch_add(&copied_bytes, sum);
	c->slot->pieces[c->slot->piece_count++] = piece;
	c->slot->used += (sum + PIECE_ALIGNMENT - 1) / PIECE_ALIGNMENT * PIECE_ALIGNMENT;
	return true;
}

bool contents_fetch(struct contents *c, uint32_t number, const struct contents_choice *which)
{
	const struct record_region *region = &c->regions->items[number];
	uint64_t count = c->items[number].count, index;
	struct chunk_run run = {0, 0};

	while ((run = next_run(which, region, run.end, count)).first < count)
		for (index = run.first; index < run.end;) {
			if (!wanted(c, number, index))
				index++;
			else if (!fetch_piece(c, region, number, &index, run.end))
				return false;
		}
	c->items[number].fetched = true;
	return true;
}
