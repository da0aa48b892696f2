/* SPDX-License-Identifier: MIT */
/* Reads kernelParams and extra; builds the key of a shape class. */
#include "shim/params.h"

#include <string.h>

static size_t gather_extra(void **extra, unsigned char *buffer, bool *known)
{
	const void *data = NULL;
	size_t size = 0;

	for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
		if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER)
			data = extra[1];
		else if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE && extra[1])
			memcpy(&size, extra[1], sizeof(size));
		else
			return 0;
	}
	if (!data || size > PARAMS_BYTES_MAX)
		return 0;
	memcpy(buffer, data, size);
	*known = true;
	return size;
}

size_t params_gather(const struct kernel *k, const struct launch_call *call, unsigned char *buffer,
		     bool *known)
{
	*known = false;
	if (!call->params && call->extra)
		return gather_extra(call->extra, buffer, known);
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

/* The key's parts, in a buffer on the stack. */
struct key {
	unsigned char data[2048];
	size_t used;
};

static void key_add(struct key *key, const void *data, size_t size)
{
	while (size) {
		size_t n = sizeof(key->data) - key->used;

		if (n > size)
			n = size;
		memcpy(key->data + key->used, data, n);
		key->used += n;
		data = (const unsigned char *)data + n;
		size -= n;
		if (key->used == sizeof(key->data)) {
			struct hash128 h = hash_bytes(key->data, key->used);

			memcpy(key->data, &h, sizeof(h));
			key->used = sizeof(h);
		}
	}
}

static void add_pointer(struct key *key, const unsigned char *at)
{
	uint64_t value;
	unsigned char alignment = 0;

	memcpy(&value, at, sizeof(value));
	if (value)
		alignment = (unsigned char)((value | 16) & -(value | 16));
	key_add(key, &alignment, 1);
}

static void add_unknown(struct key *key, const unsigned char *at, size_t size)
{
	for (; size >= 8; at += 8, size -= 8) {
		uint64_t word;

		memcpy(&word, at, sizeof(word));
		if (word >> 32)
			add_pointer(key, at);
		else
			key_add(key, at, 8);
	}
	key_add(key, at, size);
}

struct hash128 params_class(const struct kernel *k, const struct launch_call *call,
			    const unsigned char *buffer, size_t size)
{
	struct key key;

	key.used = 0;
	key_add(&key, call->grid, sizeof(call->grid));
	for (size_t i = 0; i < k->param_count; i++) {
		const struct record_param *p = &k->params[i];
		const unsigned char *at = buffer + p->offset;

		if ((size_t)p->offset + p->size > size)
			continue;
		if (k->kinds[i] == PARAM_POINTER && p->size == 8)
			add_pointer(&key, at);
		else if (k->kinds[i] == PARAM_INTEGER)
			key_add(&key, at, p->size);
		else if (k->kinds[i] == PARAM_UNKNOWN)
			add_unknown(&key, at, p->size);
	}
	return hash_bytes(key.data, key.used);
}
