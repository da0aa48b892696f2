/* SPDX-License-Identifier: MIT */
/* A table of encoded descriptors by the hash of their bytes. */
#include "shim/tensor_maps.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "drv/element.h"
#include "shim/map.h"
#include "shim/recorder.h"

#define KEPT_MAX 65536u
#define RANK_MAX 5u /* of TMA */

struct tensor_map {
	CUtensorMap bytes;
	uint64_t address;
	uint32_t rank;
	uint64_t dims[RANK_MAX], strides[RANK_MAX], box[RANK_MAX], element_strides[RANK_MAX];
	uint32_t data_type, interleave, swizzle, l2_promotion, oob_fill;
	bool im2col;
	uint64_t lower_corner[RANK_MAX], upper_corner[RANK_MAX];
	uint32_t channels, pixels;
	bool written;
};

_Static_assert(sizeof(CUtensorMap) == 128, "opaque, but of a known size");

static struct map maps; /* table_lock */

static uint64_t key_of(const void *bytes)
{
	return hash_bytes(bytes, sizeof(CUtensorMap)).low | 1;
}

static void fill(struct tensor_map *t, const CUtensorMap *map, const struct tensor_map_arguments *a)
{
	t->bytes = *map;
	t->address = (uintptr_t)a->address;
	t->rank = a->rank < RANK_MAX ? a->rank : RANK_MAX;
	for (uint32_t i = 0; i < t->rank; i++) {
		t->dims[i] = a->dims[i];
		t->strides[i] = i + 1 < t->rank && a->strides ? a->strides[i] : 0;
		t->box[i] = a->box ? a->box[i] : 0;
		t->element_strides[i] = a->element_strides[i];
	}
	t->data_type = a->data_type;
	t->interleave = a->interleave;
	t->swizzle = a->swizzle;
	t->l2_promotion = a->l2_promotion;
	t->oob_fill = a->oob_fill;
	t->im2col = !a->box;
	for (uint32_t i = 0; t->im2col && i + 2 < t->rank; i++) {
		t->lower_corner[i] = (uint64_t)(int64_t)a->lower_corner[i];
		t->upper_corner[i] = (uint64_t)(int64_t)a->upper_corner[i];
	}
	t->channels = a->channels;
	t->pixels = a->pixels;
}

static int drop_all(void *value, void *data)
{
	free(value);
	return 1;
}

void tensor_maps_encoded(const CUtensorMap *map, const struct tensor_map_arguments *a)
{
	uint64_t key = key_of(map);
	struct tensor_map *t;

	pthread_mutex_lock(&recorder_table_lock);
	t = map_get(&maps, key);
	if (!t || memcmp(&t->bytes, map, sizeof(*map)) != 0) {
		if (maps.count >= KEPT_MAX)
			map_filter(&maps, drop_all, NULL);
		free(map_remove(&maps, key));
		t = calloc(1, sizeof(*t));
		if (t && map_put(&maps, key, t) < 0) {
			free(t);
			t = NULL;
		}
		if (t)
			fill(t, map, a);
	}
	pthread_mutex_unlock(&recorder_table_lock);
}

static int put(struct bundle_writer *w, struct tensor_map *t)
{
	struct record_tensor_map record = {
		.descriptor = {&t->bytes, sizeof(t->bytes)},
		.call = t->im2col ? "cuTensorMapEncodeIm2col" : "cuTensorMapEncodeTiled",
		.data_type = t->data_type,
		.address = t->address,
		.dims = {t->dims, t->rank},
		.strides_bytes = {t->strides, t->rank ? t->rank - 1 : 0},
		.box = {t->box, t->im2col ? 0 : t->rank},
		.element_strides = {t->element_strides, t->rank},
		.interleave = t->interleave,
		.swizzle = t->swizzle,
		.l2_promotion = t->l2_promotion,
		.oob_fill = t->oob_fill,
		.lower_corner = {t->lower_corner, t->im2col && t->rank > 2 ? t->rank - 2 : 0},
		.upper_corner = {t->upper_corner, t->im2col && t->rank > 2 ? t->rank - 2 : 0},
		.channels = t->channels,
		.pixels = t->pixels,
	};

	return bundle_put_tensor_map(w, &record);
}

bool tensor_maps_find(struct bundle_writer *w, const void *bytes, uint64_t *address, int *r)
{
	struct tensor_map copy, *t;
	bool found;

	*r = 0;
	pthread_mutex_lock(&recorder_table_lock);
	t = map_get(&maps, key_of(bytes));
	found = t && !memcmp(&t->bytes, bytes, sizeof(t->bytes));
	if (found) {
		copy = *t;
		t->written = true;
	}
	pthread_mutex_unlock(&recorder_table_lock);
	if (!found)
		return false;
	*address = copy.address;
	if (!copy.written)
		*r = put(w, &copy);
	return true;
}

/* Interleaved: a row of slices of 16 or 32 bytes, strides[0] apart. */
static const char *extent(const struct tensor_map *t, uint64_t *address, uint64_t *size)
{
	uint32_t element = element_bytes((CUtensorMapDataType)t->data_type);

	if (t->interleave)
		return "is of an interleaved tensor, whose extent is not computed";
	if (!t->rank || !t->dims[0])
		return "is of a tensor without dimensions";
	*address = t->address;
	*size = t->dims[0] * (element ? element : 1); /* packed: at most a byte */
	for (uint32_t i = 1; i < t->rank; i++)
		*size += (t->dims[i] - 1) * t->strides[i - 1];
	return NULL;
}

const char *tensor_maps_extent(const void *bytes, uint64_t *address, uint64_t *size)
{
	const struct tensor_map *t;
	const char *why;

	pthread_mutex_lock(&recorder_table_lock);
	t = map_get(&maps, key_of(bytes));
	if (t && !memcmp(&t->bytes, bytes, sizeof(t->bytes)))
		why = extent(t, address, size);
	else
		why = "was encoded where it was not seen";
	pthread_mutex_unlock(&recorder_table_lock);
	return why;
}

void tensor_maps_forget(void)
{
	maps = (struct map){0};
}
