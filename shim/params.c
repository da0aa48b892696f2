/* SPDX-License-Identifier: MIT */
/* Reads kernelParams and extra; builds the key of a shape class. */
#include "shim/params.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define KEY_WORDS_MAX 64u

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

/* A plain key has whole words: the grid, alignments by eights, words, pairs of fours, eights. */
static size_t key_words(const uint16_t ends[KEY_PLAIN])
{
	return 2 + (ends[KEY_ALIGNMENT] + 7u) / 8 + (ends[KEY_WORD] - ends[KEY_ALIGNMENT]) +
	       (ends[KEY_FOUR] - ends[KEY_WORD] + 1u) / 2 + (ends[KEY_EIGHT] - ends[KEY_FOUR]);
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

static inline unsigned char alignment_of(uint64_t pointer)
{
	return pointer ? (unsigned char)((pointer | 16) & -(pointer | 16)) : 0;
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

static inline const unsigned char *part(const struct kernel *k, const struct params_view *v,
					size_t i)
{
	return v->params ? v->params[k->plan.order[i]] : params_part(v, &k->key_parts[i]);
}

/* A pointer by its alignment, behind a bit that no number has. */
static inline uint64_t plain_word(uint64_t word)
{
	return word >> 32 ? 1ull << 63 | alignment_of(word) : word;
}

/* False: a parameter is not there. */
static bool plain_key(const struct kernel *k, const uint32_t grid[3], const struct params_view *v,
		      uint64_t words[KEY_WORDS_MAX])
{
	const struct key_plan *plan = &k->plan;
	uint64_t *to = words + 2, packed = 0;
	const unsigned char *at;
	size_t i = 0;

	words[0] = grid[0] | (uint64_t)grid[1] << 32;
	words[1] = grid[2];
	for (; i < plan->ends[KEY_ALIGNMENT] && (at = part(k, v, i)); i++) {
		packed = packed << 8 | alignment_of(word_at(at));
		if (i % 8 == 7)
			*to++ = packed;
	}
	if (i % 8)
		*to++ = packed;
	for (; i < plan->ends[KEY_WORD] && (at = part(k, v, i)); i++)
		*to++ = plain_word(word_at(at));
	packed = 0;
	for (size_t n = 0; i < plan->ends[KEY_FOUR] && (at = part(k, v, i)); i++, n++) {
		uint32_t four;

		memcpy(&four, at, sizeof(four));
		packed = packed << 32 | four;
		if (n % 2 || i + 1 == plan->ends[KEY_FOUR])
			*to++ = packed;
		packed = n % 2 ? 0 : packed;
	}
	for (; i < plan->ends[KEY_EIGHT] && (at = part(k, v, i)); i++)
		*to++ = word_at(at);
	return i == plan->ends[KEY_EIGHT];
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

struct hash128 params_class(const struct kernel *k, const uint32_t grid[3], void **params,
			    void **extra)
{
	struct params_view view = params_view(params, extra);
	uint64_t words[KEY_WORDS_MAX];

	if (!k->plan.words)
		return other_key(k, grid, &view);
	if (!plain_key(k, grid, &view, words))
		return hash_bytes(grid, 3 * sizeof(*grid));
	return hash_bytes(words, k->plan.words * sizeof(*words));
}
