/* SPDX-License-Identifier: MIT */
/* A launch set up on the CPU: a side's PTX, and the recorded contents as its memory. */
#include "replay/stage.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"

#define FREE_GAP (32ull << 20) /* between the launch's memory and what is added */
#define FREE_END (1ull << 56)

void stage_close(struct stage *s)
{
	for (size_t i = 0; i < s->range_count; i++)
		free(s->ranges[i].host);
	free(s->ranges);
	free(s->params);
	ptx_module_free(s->module);
}

/* Memory of its own at an address; zeros. NULL without memory. */
static uint8_t *add_range(struct stage *s, uint64_t base, uint64_t size)
{
	uint8_t *host = calloc(1, size + 1);

	if (host)
		s->ranges[s->range_count++] = (struct memory_range){base, size, host};
	return host;
}

/* A copy of what was recorded, a range a piece; module variables lie elsewhere. */
static int copy_contents(struct stage *s, const struct contents *c)
{
	const struct byteset shape = {.pieces = &c->pieces, .chunks = c->chunks};

	for (size_t i = 0; i < c->pieces.count; i++) {
		const struct range *p = &c->pieces.items[i];
		uint8_t *host = p->base < FREE_END ? add_range(s, p->base, p->size) : NULL;
		size_t first = byteset_chunk(&shape, p->base);

		if (p->base >= FREE_END)
			continue;
		if (!host)
			return -ENOMEM;
		for (uint64_t at = 0; at < p->size; at += CHUNK_BYTES)
			memcpy(host + at, contents_chunk(c, first + at / CHUNK_BYTES), CHUNK_BYTES);
	}
	return 0;
}

/* Where nothing lies, behind everything else. */
static uint64_t free_address(const struct stage *s)
{
	uint64_t end = FREE_GAP;

	for (size_t i = 0; i < s->range_count; i++) {
		uint64_t x = s->ranges[i].base + s->ranges[i].size;

		end = x > end ? x : end;
	}
	return (end + 2 * FREE_GAP) / FREE_GAP * FREE_GAP;
}

/* The module's variables, with what was recorded of them. */
static int add_variables(struct stage *s, const struct contents *c)
{
	const struct byteset shape = {.pieces = &c->pieces, .chunks = c->chunks};

	for (size_t i = 0; i < s->module->global_count; i++) {
		struct ptx_global *g = &s->module->globals[i];
		uint8_t *host = add_range(s, free_address(s), g->size);

		if (!host)
			return -ENOMEM;
		g->address = s->ranges[s->range_count - 1].base;
		if (g->initial)
			memcpy(host, g->initial, g->size);
		for (size_t k = 0; k < c->variable_count; k++) {
			const struct variable *v = &c->variables[k];

			if (strcmp(v->name, g->name) || v->size != g->size)
				continue;
			for (uint64_t at = 0; at < v->size; at++) {
				uint64_t address = v->address + at;
				size_t chunk = byteset_chunk(&shape, address);

				host[at] = contents_chunk(c, chunk)[address % CHUNK_BYTES];
			}
		}
	}
	return 0;
}

/* Parameters with the addresses of scratch memory and variables as they are here. */
static int make_params(struct stage *s, const struct bound *b, const struct contents *c)
{
	s->params = calloc(1, b->params_bytes + 1ull);
	if (!s->params)
		return -ENOMEM;
	memcpy(s->params, b->params, b->params_bytes);
	for (size_t i = 0; i < b->scratch_count; i++) {
		if (!add_range(s, free_address(s), b->scratch[i].bytes))
			return -ENOMEM;
		memcpy(s->params + b->scratch[i].offset, &s->ranges[s->range_count - 1].base, 8);
	}
	for (size_t i = 0; i < b->variable_word_count; i++) {
		const struct variable_word *w = &b->variable_words[i];

		for (size_t k = 0; w->variable < c->variable_count && k < s->module->global_count;
		     k++) {
			const struct ptx_global *g = &s->module->globals[k];
			uint64_t word = g->address + w->into;

			if (!strcmp(g->name, c->variables[w->variable].name))
				memcpy(s->params + w->offset, &word, sizeof(word));
		}
	}
	return 0;
}

static int by_base(const void *x, const void *y)
{
	const struct memory_range *a = x, *b = y;

	return (a->base > b->base) - (a->base < b->base);
}

int stage_open(struct stage *s, const struct contents *c, const struct bound *b, const char *ptx,
	       size_t size, struct error *err)
{
	int rc = ptx_module_parse(&s->module, ptx, size, err);

	if (rc)
		return rc == -ENOMEM ? rc : -ENOTSUP;
	s->entry = ptx_module_entry(s->module, b->entry);
	if (!s->entry || s->entry->params_bytes > b->params_bytes) {
		error_set(err, ENOTSUP, ERROR_NO_OFFSET, "%s",
			  s->entry ? "its parameters are laid out in another way"
				   : "no such entry in the PTX");
		return -ENOTSUP;
	}
	s->ranges = calloc(c->pieces.count + s->module->global_count + b->scratch_count + 1,
			   sizeof(*s->ranges));
	if (!s->ranges)
		return -ENOMEM;
	rc = copy_contents(s, c);
	if (!rc)
		rc = add_variables(s, c);
	if (!rc)
		rc = make_params(s, b, c);
	qsort(s->ranges, s->range_count, sizeof(*s->ranges), by_base);
	return rc;
}

struct machine_launch stage_launch(const struct stage *s, const struct bound *b)
{
	return (struct machine_launch){.module = s->module,
				       .entry = s->entry,
				       .grid = {b->grid[0], b->grid[1], b->grid[2]},
				       .block = {b->block[0], b->block[1], b->block[2]},
				       .dynamic_shared_bytes = b->shared_bytes,
				       .params = s->params,
				       .ranges = s->ranges,
				       .range_count = s->range_count};
}
