/* SPDX-License-Identifier: MIT */
/* Reads kernelParams and extra; builds the key of a shape class. */
#include "shim/params.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shim/guard.h"

#define KEY_WORDS_MAX 64u
#define ALWAYS_INLINE __attribute__((always_inline)) static inline

/* The buffer of `extra` and its size; NULL if it is not what the driver takes. */
static const unsigned char *extra_buffer(void **extra, size_t *size)
{
	const void *data = NULL;

	*size = 0;
	for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
		if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER)
			data = extra[1];
		else if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE && extra[1])
			memcpy(size, extra[1], sizeof(*size));
		else
			return NULL;
	}
	return *size > PARAMS_BYTES_MAX ? NULL : data;
}

size_t params_gather(const struct kernel *k, const struct launch_call *call, unsigned char *buffer,
		     bool *known)
{
	*known = false;
	if (!call->params && call->extra) {
		size_t size;
		const unsigned char *data = extra_buffer(call->extra, &size);

		if (!data)
			return 0;
		memcpy(buffer, data, size);
		*known = true;
		return size;
	}
	if (!k->layout_known || k->params_bytes > PARAMS_BYTES_MAX ||
	    (k->param_count && !call->params))
		return 0;
	memset(buffer, 0, k->params_bytes);
	for (size_t i = 0; i < k->param_count; i++) {
		if (!call->params[i]) /* the driver will refuse it */
			return 0;
		memcpy(buffer + k->params[i].offset, call->params[i], k->params[i].size);
	}
	*known = true;
	return k->params_bytes;
}

/* ---- the class ---- */

static bool key_kind_of(enum param_kind kind, uint32_t size, enum key_kind *key)
{
	switch (kind) {
	case PARAM_POINTER:
		*key = KEY_ALIGNMENT;
		return size == 8;
	case PARAM_INTEGER:
		*key = size == 4 ? KEY_FOUR : size == 8 ? KEY_EIGHT : KEY_BYTES;
		return true;
	case PARAM_UNKNOWN:
		*key = size == 8 ? KEY_WORD : size == 4 ? KEY_FOUR : KEY_WORDS;
		return true;
	default:
		return false;
	}
}

/*
 * A plain key has whole words: the grid; alignments by eights; what may be a pointer, as its
 * alignment or its lower half, by twos, and which of these are pointers; fours by twos; eights.
 */
static size_t key_words(const uint16_t ends[KEY_PLAIN])
{
	size_t alignments = ends[KEY_ALIGNMENT], words = ends[KEY_WORD] - alignments;
	size_t fours = ends[KEY_FOUR] - ends[KEY_WORD];

	return 2 + (alignments + 7) / 8 + (words + 1) / 2 + (words + 63) / 64 + (fours + 1) / 2 +
	       (ends[KEY_EIGHT] - ends[KEY_FOUR]);
}

static int plan_order(struct kernel *k)
{
	struct key_plan *plan = &k->plan;
	uint16_t *order = plan->few;
	size_t count = 0;

	if (k->key_part_count > KEY_FEW)
		order = calloc(k->key_part_count, sizeof(*order));
	if (!order)
		return -ENOMEM;
	plan->order = order;
	for (int kind = 0; kind < KEY_PLAIN; kind++) {
		while (count < k->key_part_count &&
		       k->key_parts[count].kind == (enum key_kind)kind) {
			order[count] = (uint16_t)k->key_parts[count].param;
			count++;
		}
		plan->ends[kind] = (uint16_t)count;
	}
	if (count == k->key_part_count && key_words(plan->ends) <= KEY_WORDS_MAX)
		plan->words = (uint16_t)key_words(plan->ends);
	return 0;
}

int params_plan(struct kernel *k)
{
	k->key_parts = calloc(k->param_count + 1, sizeof(*k->key_parts));
	if (!k->key_parts)
		return -ENOMEM;
	for (int wanted = 0; wanted < KEY_KINDS; wanted++)
		for (size_t i = 0; k->params_bytes <= PARAMS_BYTES_MAX && i < k->param_count; i++) {
			const struct record_param *p = &k->params[i];
			enum key_kind kind;

			if (key_kind_of(k->kinds[i], p->size, &kind) &&
			    kind == (enum key_kind)wanted)
				k->key_parts[k->key_part_count++] =
					(struct key_part){(uint32_t)i, p->offset, p->size, kind};
		}
	return plan_order(k);
}

void params_plan_free(struct kernel *k)
{
	if (k->plan.order != k->plan.few)
		free((void *)k->plan.order);
	free(k->key_parts);
}

/* The key's parts, in a buffer on the stack. */
struct key {
	size_t used;
	unsigned char data[2048];
};

static void add_long(struct key *key, const unsigned char *data, size_t size)
{
	while (size) {
		size_t n = sizeof(key->data) - key->used;

		if (n > size)
			n = size;
		memcpy(key->data + key->used, data, n);
		key->used += n;
		data += n;
		size -= n;
		if (key->used == sizeof(key->data)) {
			struct hash128 h = hash_bytes(key->data, key->used);

			memcpy(key->data, &h, sizeof(h));
			key->used = sizeof(h);
		}
	}
}

static void add(struct key *key, const void *data, size_t size)
{
	if (key->used + size < sizeof(key->data)) {
		memcpy(key->data + key->used, data, size);
		key->used += size;
	} else {
		add_long(key, data, size);
	}
}

static inline uint64_t word_at(const unsigned char *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

static inline uint32_t four_at(const unsigned char *at)
{
	uint32_t four;

	memcpy(&four, at, sizeof(four));
	return four;
}

/* 0 of NULL. */
static inline unsigned char alignment_of(uint64_t pointer)
{
	return (unsigned char)((pointer | 16) & -(pointer | 16) & -(uint64_t)(pointer != 0));
}

static void add_alignment(struct key *key, uint64_t pointer)
{
	unsigned char alignment = alignment_of(pointer);

	add(key, &alignment, 1);
}

static void add_word(struct key *key, uint64_t word)
{
	if (word >> 32)
		add_alignment(key, word);
	else
		add(key, &word, 8);
}

static void add_words(struct key *key, const unsigned char *at, size_t size)
{
	for (; size >= 8; at += 8, size -= 8)
		add_word(key, word_at(at));
	add(key, at, size);
}

static void add_part(struct key *key, const struct key_part *p, const unsigned char *at)
{
	switch (p->kind) {
	case KEY_ALIGNMENT:
		add_alignment(key, word_at(at));
		break;
	case KEY_WORD:
		add_word(key, word_at(at));
		break;
	case KEY_FOUR:
		add(key, at, 4);
		break;
	case KEY_EIGHT:
		add(key, at, 8);
		break;
	case KEY_BYTES:
		add(key, at, p->size);
		break;
	case KEY_WORDS:
		add_words(key, at, p->size);
		break;
	case KEY_KINDS:
		break;
	}
}

struct params_view params_view(void **params, void **extra)
{
	struct params_view v = {params, NULL, 0};

	if (!params && extra) {
		v.buffer = extra_buffer(extra, &v.size);
		if (!v.buffer)
			v.size = 0;
	}
	return v;
}

/* ---- plain keys: without a branch that depends on a value, and of whole words ---- */

/*
 * What the gathering goes on with. direct: v has the program's own pointers; a constant, so that
 * there are two of all that follows.
 */
struct gathering {
	const struct kernel *k;
	const struct params_view *v;
	bool direct;
	size_t i; /* the next parameter in key_plan.order */
	uint64_t *to;
};

/* NULL: the parameter is not there. */
ALWAYS_INLINE const unsigned char *part(const struct gathering *g, size_t i)
{
	return g->direct ? g->v->params[g->k->plan.order[i]]
			 : params_part(g->v, &g->k->key_parts[i]);
}

/* By eights, each with those before it in front where it is not full. Returns what is behind. */
__attribute__((noinline)) static uint64_t *pack_alignments(const struct kernel *k, void **params,
							   const unsigned char *buffer,
							   uint64_t *to)
{
	size_t end = k->plan.ends[KEY_ALIGNMENT];
	uint64_t packed = 0;

	for (size_t i = 0; i < end; i++) {
		const struct key_part *p = &k->key_parts[i];

		packed = packed << 8 |
			 alignment_of(word_at(params ? params[p->param] : buffer + p->offset));
		if (i % 8 == 7 || i + 1 == end)
			*to++ = packed;
	}
	return to;
}

/* Nearly always all are aligned to 16, and none is NULL. */
ALWAYS_INLINE bool add_alignments(struct gathering *g, size_t end)
{
	uint64_t low = 0, high = 0;

	for (; g->i < end; g->i++) {
		const unsigned char *at = part(g, g->i);

		if (!at)
			return false;
		low |= word_at(at);
		high |= word_at(at) - 1;
	}
	if (low % 16 || high >> 63) {
		g->to = pack_alignments(g->k, g->v->params, g->v->buffer, g->to);
		return true;
	}
	for (size_t i = 0; i < end; i += 8)
		*g->to++ =
			i || end >= 8 ? 0x1010101010101010u : 0x1010101010101010u >> (64 - 8 * end);
	return true;
}

/* A pointer's alignment, or the lower half. *pointers: a bit for each, shifted in. */
ALWAYS_INLINE uint64_t half_of(uint64_t word, uint64_t *pointers)
{
	uint64_t pointer = word >> 32 != 0;

	*pointers = 2 * *pointers + pointer;
	return pointer ? alignment_of(word) : word;
}

ALWAYS_INLINE bool add_unknown(struct gathering *g, size_t end)
{
	uint64_t pointers = 0;
	size_t count = 0;

	for (; g->i + 1 < end; g->i += 2) {
		const unsigned char *first = part(g, g->i), *second = part(g, g->i + 1);
		uint64_t high;

		if (!first || !second)
			return false;
		high = half_of(word_at(first), &pointers);
		*g->to++ = high << 32 | half_of(word_at(second), &pointers);
		count += 2;
		if (count % 64 == 0)
			*g->to++ = pointers;
	}
	if (g->i < end) {
		const unsigned char *last = part(g, g->i++);

		if (!last)
			return false;
		*g->to++ = half_of(word_at(last), &pointers);
		count++;
	}
	if (count % 64)
		*g->to++ = pointers;
	return true;
}

ALWAYS_INLINE bool add_fours(struct gathering *g, size_t end)
{
	for (; g->i + 1 < end; g->i += 2) {
		const unsigned char *first = part(g, g->i), *second = part(g, g->i + 1);

		if (!first || !second)
			return false;
		*g->to++ = (uint64_t)four_at(first) << 32 | four_at(second);
	}
	if (g->i < end) {
		const unsigned char *last = part(g, g->i++);

		if (!last)
			return false;
		*g->to++ = four_at(last);
	}
	return true;
}

/* The words behind the grid's; false: a parameter is not there. */
ALWAYS_INLINE bool plain_words(const struct kernel *k, const struct params_view *v, uint64_t *to,
			       bool direct)
{
	const uint16_t *ends = k->plan.ends;
	struct gathering g = {.k = k, .v = v, .direct = direct, .to = to};

	if (ends[KEY_ALIGNMENT] && !add_alignments(&g, ends[KEY_ALIGNMENT]))
		return false;
	if (g.i < ends[KEY_WORD] && !add_unknown(&g, ends[KEY_WORD]))
		return false;
	if (g.i < ends[KEY_FOUR] && !add_fours(&g, ends[KEY_FOUR]))
		return false;
	for (; g.i < ends[KEY_EIGHT]; g.i++) {
		const unsigned char *at = part(&g, g.i);

		if (!at)
			return false;
		*g.to++ = word_at(at);
	}
	return true;
}

/* ---- other keys: by their hash ---- */

static struct hash128 many_words(const struct kernel *k, const uint32_t grid[3],
				 const struct params_view *v)
{
	uint64_t words[KEY_WORDS_MAX] = {grid[0] | (uint64_t)grid[1] << 32, grid[2]};

	if (!plain_words(k, v, words + 2, false))
		return hash_bytes(grid, 3 * sizeof(*grid));
	return hash_bytes(words, k->plan.words * sizeof(*words));
}

static struct hash128 other_key(const struct kernel *k, const uint32_t grid[3],
				const struct params_view *v)
{
	struct key key;

	memcpy(key.data, grid, 3 * sizeof(*grid));
	key.used = 3 * sizeof(*grid);
	for (size_t i = 0; i < k->key_part_count; i++) {
		const unsigned char *at = params_part(v, &k->key_parts[i]);

		if (!at)
			return hash_bytes(grid, 3 * sizeof(*grid));
		add_part(&key, &k->key_parts[i], at);
	}
	return hash_bytes(key.data, key.used);
}

__attribute__((noinline)) static void hashed_id(struct class_id *id, const struct kernel *k,
						const uint32_t grid[3], void **params, void **extra)
{
	struct params_view view = params_view(params, extra);

	if (k->plan.words && k->plan.words <= CLASS_WORDS) { /* not direct, or not complete */
		class_id_begin(id, grid, k->plan.words);
		if (plain_words(k, &view, id->words + 2, false))
			return;
	}
	class_id_hashed(id, k->plan.words ? many_words(k, grid, &view) : other_key(k, grid, &view));
}

SHIM_HOT void params_id(struct class_id *id, const struct kernel *k, const uint32_t grid[3],
			void **params, void **extra)
{
	struct params_view view = {.params = params};

	if (params && k->plan.words && k->plan.words <= CLASS_WORDS) {
		class_id_begin(id, grid, k->plan.words);
		if (plain_words(k, &view, id->words + 2, true))
			return;
	}
	hashed_id(id, k, grid, params, extra);
}
