/* SPDX-License-Identifier: MIT */
/* A hash map from 64-bit keys (handles, sizes, halves of hashes) to pointers. */
#ifndef SHIM_MAP_H
#define SHIM_MAP_H

#include <stddef.h>
#include <stdint.h>

/* All zero is an empty map. The caller locks. Keys may be anything but 0. Values are not owned. */
struct map {
	struct map_slot *slots;
	size_t capacity, count; /* capacity: 0 or a power of two */
};

/* NULL if there is none. */
void *map_get(const struct map *m, uint64_t key);
/* Adds or replaces; value must not be NULL. 0 or -ENOMEM (then the map is as it was). */
int map_put(struct map *m, uint64_t key, void *value);
/* Returns what was there, or NULL. */
void *map_remove(struct map *m, uint64_t key);
/* Removes each entry for which drop(value, data) is true. */
void map_filter(struct map *m, int (*drop)(void *value, void *data), void *data);
void map_clear(struct map *m);

#endif
