/* SPDX-License-Identifier: MIT */
/* Open addressing by checksum; equality is decided by the bytes. */
#include "lib/bundle/intern.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "lib/bundle/format.h"

static const void *copy(struct arena *arena, const void *data, size_t size)
{
	void *p = arena_take(arena, size);

	if (p && size)
		memcpy(p, data, size);
	return p;
}

/* The slot of equal data, or the free one where it would go. */
static struct intern_slot *find(const struct intern *t, const void *data, size_t size, uint64_t sum)
{
	for (size_t at = (size_t)sum & (t->slot_count - 1);; at = (at + 1) & (t->slot_count - 1)) {
		struct intern_slot *s = &t->slots[at];

		if (!s->data || (s->sum == sum && s->size == size && !memcmp(s->data, data, size)))
			return s;
	}
}

/* At most half full. False without memory: then nothing has changed. */
static bool grow(struct intern *t)
{
	struct intern bigger = {.slot_count = t->slot_count ? t->slot_count * 2 : 64};

	bigger.slots = calloc(bigger.slot_count, sizeof(*bigger.slots));
	if (!bigger.slots)
		return false;
	for (size_t i = 0; i < t->slot_count; i++) {
		const struct intern_slot *s = &t->slots[i];

		if (s->data)
			*find(&bigger, s->data, s->size, s->sum) = *s;
	}
	bigger.count = t->count;
	free(t->slots);
	*t = bigger;
	return true;
}

const void *intern_bytes(struct intern *t, struct arena *arena, const void *data, size_t size)
{
	struct intern_slot *s;
	uint64_t sum;

	if (size < INTERN_LEAST_BYTES)
		return copy(arena, data, size);
	if ((t->count + 1) * 2 > t->slot_count && !grow(t))
		return NULL;
	sum = format_checksum(0, data, size);
	s = find(t, data, size, sum);
	if (!s->data) {
		const void *kept = copy(arena, data, size);

		if (!kept)
			return NULL;
		*s = (struct intern_slot){kept, size, sum};
		t->count++;
	}
	return s->data;
}

void intern_free(struct intern *t)
{
	free(t->slots);
	*t = (struct intern){0};
}
