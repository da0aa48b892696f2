/* SPDX-License-Identifier: MIT */
/* What the driver made of an image: one cubin an architecture, or more where JIT options differed.
 */
#include "shim/jitted.h"

#include <stdlib.h>

#include "kernelab/bundle.h"
#include "lib/base.h"

void jitted_add(struct jitted *j, char *data, size_t size, unsigned sm)
{
	struct hash128 id = hash_bytes(data, size);
	unsigned nth = 1;

	for (unsigned i = 0; i < j->count; i++) {
		if (j->items[i].sm == sm && hash_equal(j->items[i].id, id)) {
			free(data);
			return;
		}
		nth += j->items[i].sm == sm;
	}
	if (j->count == JITTED_MAX) {
		j->more = true;
		free(data);
		return;
	}
	j->items[j->count++] = (struct jitted_cubin){id, sm, nth, data, size};
}

void jitted_drop(struct jitted *j)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < j->count; i++) {
		if (j->items[i].data)
			free(j->items[i].data);
		else
			j->items[kept++] = j->items[i];
	}
	j->count = kept;
}

char *jitted_name(const struct jitted_cubin *c)
{
	return c->nth == 1 ? text_format(DRIVER_CUBIN_NAME, c->sm)
			   : text_format(DRIVER_CUBIN_NAME ".%u", c->sm, c->nth);
}
