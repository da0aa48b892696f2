/* SPDX-License-Identifier: MIT */
/* Which pieces of bitmaps are brought, in few copies. */
#include "lib/ptx/pieces.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Bytes are copied faster than a copy is begun. */
#define GAP_LEAST 64u

static bool mixed(uint8_t kind)
{
	return kind != PTX_PIECE_NONE && kind != PTX_PIECE_ALL;
}

/* The first piece from i on that is of another kind, in place of count. */
static size_t same_until(const uint8_t *kinds, size_t i, size_t count)
{
	uint8_t kind = kinds[i];
	uint64_t eight = 0x0101010101010101u * kind, there;

	while (i + sizeof(there) <= count) {
		memcpy(&there, kinds + i, sizeof(there));
		if (there != eight)
			break;
		i += sizeof(there);
	}
	while (i < count && kinds[i] == kind)
		i++;
	return i;
}

/* With gaps below `gap` filled; false: more runs than there is room for. */
static bool find_runs(struct ptx_pieces *p, const uint8_t *kinds, size_t gap)
{
	p->run_count = 0;
	for (size_t i = 0, end; i < p->count; i = end) {
		struct ptx_piece_run *last = &p->runs[p->run_count - (p->run_count > 0)];

		end = same_until(kinds, i, p->count);
		if (!mixed(kinds[i]))
			continue;
		if (p->run_count && i - (last->first + last->count) < gap) {
			last->count = (uint32_t)(end - last->first);
			continue;
		}
		if (p->run_count == PTX_PIECE_RUNS_MAX)
			return false;
		p->runs[p->run_count++] = (struct ptx_piece_run){(uint32_t)i, (uint32_t)(end - i)};
	}
	return true;
}

int ptx_pieces_plan(struct ptx_pieces *p, const uint8_t *kinds, size_t count)
{
	size_t gap = GAP_LEAST;

	*p = (struct ptx_pieces){.where = malloc((count + 1) * sizeof(*p->where)), .count = count};
	if (!p->where)
		return -ENOMEM;
	while (!find_runs(p, kinds, gap))
		gap *= 2;
	for (size_t i = 0; i < count; i++)
		p->where[i] = kinds[i] == PTX_PIECE_NONE ? PTX_WHERE_NONE : PTX_WHERE_ALL;
	for (size_t r = 0; r < p->run_count; r++)
		for (uint32_t i = 0; i < p->runs[r].count; i++)
			p->where[p->runs[r].first + i] = p->brought++;
	return 0;
}

void ptx_pieces_free(struct ptx_pieces *p)
{
	free(p->where);
	p->where = NULL;
}
