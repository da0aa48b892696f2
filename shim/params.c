/* SPDX-License-Identifier: MIT */
/* Reads kernelParams and extra; builds the key of a shape class. */
#include "shim/params.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

int params_plan(struct kernel *k)
{
	k->key_parts = calloc(k->param_count + 1, sizeof(*k->key_parts));
	if (!k->key_parts)
		return -ENOMEM;
	for (size_t i = 0; k->params_bytes <= PARAMS_BYTES_MAX && i < k->param_count; i++) {
		const struct record_param *p = &k->params[i];
		enum key_kind kind;

		if (key_kind_of(k->kinds[i], p->size, &kind))
			k->key_parts[k->key_part_count++] =
				(struct key_part){(uint32_t)i, p->offset, p->size, kind};
	}
	return 0;
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

/* Where the size is constant this is one store. */
static inline void add(struct key *key, const void *data, size_t size)
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

static inline void add_alignment(struct key *key, uint64_t pointer)
{
	unsigned char alignment = (unsigned char)((pointer | 16) & -(pointer | 16));

	if (!pointer)
		alignment = 0;
	add(key, &alignment, 1);
}

static inline void add_word(struct key *key, uint64_t word)
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

static inline void add_part(struct key *key, const struct key_part *p, const unsigned char *at)
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

struct hash128 params_class(const struct kernel *k, const uint32_t grid[3], void **params,
			    void **extra)
{
	struct params_view view = params_view(params, extra);
	struct key key;

	memcpy(key.data, grid, 3 * sizeof(*grid));
	key.used = 3 * sizeof(*grid);
	for (size_t i = 0; i < k->key_part_count; i++) {
		const unsigned char *at = params_part(&view, &k->key_parts[i]);

		if (at)
			add_part(&key, &k->key_parts[i], at);
		else if (params)
			return hash_bytes(grid, 3 * sizeof(*grid));
	}
	return hash_bytes(key.data, key.used);
}
