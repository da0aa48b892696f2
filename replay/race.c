/* SPDX-License-Identifier: MIT */
/* The race trial: a few blocks of each side's PTX on the CPU, looked at for races. */
#include "replay/race.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "replay/twin.h"
#include "softgpu/machine.h"

#define CHECK_SECONDS 120.0         /* of a side, far beyond what the quota takes */
#define FREE_GAP      (32ull << 20) /* between the launch's memory and what is added */
#define FREE_END      (1ull << 56)

/* One side's PTX and memory. */
struct stage {
	struct ptx_module *module;
	const struct ptx_entry *entry;
	struct memory_range *ranges;
	size_t range_count;
	uint8_t *params;
};

static void stage_close(struct stage *s)
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

/* Parses and lays out. 0; -ENOTSUP with err where this launch cannot run here; -ENOMEM. */
static int stage_open(struct stage *s, const struct trials *t, const struct bound *b,
		      const char *ptx, size_t size, struct error *err)
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
	s->ranges =
		calloc(t->contents.pieces.count + s->module->global_count + b->scratch_count + 1,
		       sizeof(*s->ranges));
	if (!s->ranges)
		return -ENOMEM;
	rc = copy_contents(s, &t->contents);
	if (!rc)
		rc = add_variables(s, &t->contents);
	if (!rc)
		rc = make_params(s, b, &t->contents);
	qsort(s->ranges, s->range_count, sizeof(*s->ranges), by_base);
	return rc;
}

/* The first block, one in the middle, the last. */
static size_t choose_blocks(const struct bound *b, uint64_t out[RACE_BLOCKS])
{
	uint64_t all = (uint64_t)b->grid[0] * b->grid[1] * b->grid[2];
	size_t n = 0;

	out[n++] = 0;
	if (all > 2)
		out[n++] = all / 2;
	if (all > 1)
		out[n++] = all - 1;
	return n;
}

/* Runs one side. *races is filled; `why` tells why that says nothing. 0 or -ENOMEM. */
static int run_stage(const struct trials *t, const struct bound *b, const char *ptx, size_t size,
		     struct machine_races *races, char *why, size_t why_size)
{
	struct stage s = {0};
	struct machine_fault fault = {0};
	struct error err = {0};
	uint64_t blocks[RACE_BLOCKS];
	int rc = stage_open(&s, t, b, ptx, size, &err);

	if (rc == -ENOTSUP) {
		snprintf(why, why_size, "%.400s", err.message);
		rc = 0;
	} else if (!rc) {
		struct machine_launch l = {.module = s.module,
					   .entry = s.entry,
					   .grid = {b->grid[0], b->grid[1], b->grid[2]},
					   .block = {b->block[0], b->block[1], b->block[2]},
					   .dynamic_shared_bytes = b->shared_bytes,
					   .params = s.params,
					   .ranges = s.ranges,
					   .range_count = s.range_count,
					   .instruction_quota = RACE_INSTRUCTIONS,
					   .blocks = blocks,
					   .block_count = choose_blocks(b, blocks),
					   .races = races};

		if (machine_run(&l, &fault, NULL) != MACHINE_OK)
			snprintf(why, why_size, "%.400s", fault.message);
		else if (races->incomplete)
			snprintf(why, why_size, "no memory for all of it");
	}
	stage_close(&s);
	return rc;
}

static bool has_shared(const char *ptx)
{
	return strstr(ptx, ".shared") != NULL;
}

/* Both sides' PTX; false with the reason in `why`, or without one where there is nothing to do. */
static bool find_texts(const struct trials *t, char *text[SIDE_COUNT], size_t size[SIDE_COUNT],
		       char *why, size_t why_size)
{
	const struct pair *pair = &t->r->plan->pairs.items[t->c->pair];
	const struct source *sources[SIDE_COUNT] = {t->r->plan->a, t->r->plan->b};
	const struct suite_member *members[SIDE_COUNT] = {pair->a, pair->b};

	for (int s = 0; s < SIDE_COUNT; s++) {
		struct error err = {0};

		if (!members[s] || source_ptx(sources[s], members[s], &text[s], &size[s], &err)) {
			snprintf(why, why_size, "%s has no PTX to look at", side_name((uint32_t)s));
			return false;
		}
	}
	if (size[SIDE_A] == size[SIDE_B] && !memcmp(text[SIDE_A], text[SIDE_B], size[SIDE_A]))
		return false;
	if (!has_shared(text[SIDE_A]) && !has_shared(text[SIDE_B]))
		return false;
	if (ranges_bytes(&t->contents.pieces) <= RACE_MEMORY)
		return true;
	snprintf(why, why_size, "%.3f GB of memory are too much to copy for it",
		 (double)ranges_bytes(&t->contents.pieces) * 1e-9);
	return false;
}

static int send_races(struct trials *t, const struct machine_races *races)
{
	for (int s = 0; s < SIDE_COUNT; s++) {
		struct trial_note n = {.side = (enum side)s,
				       .kind = TRIAL_RACE,
				       .races = races[s].count,
				       .race = races[s].count ? races[s].message : NULL};
		struct outcome o = {.status = TRIAL_STATUS_OK};
		int rc = trials_send(t, &n, &o);

		if (rc)
			return rc;
	}
	return 0;
}

int trials_race(struct trials *t, struct error *err)
{
	const struct bound *sides[SIDE_COUNT] = {&t->c->a, &t->c->b};
	const struct twin w = {.note = {.kind = TRIAL_RACE}};
	char *text[SIDE_COUNT] = {0}, why[440] = "", reason[460];
	size_t size[SIDE_COUNT] = {0};
	struct machine_races races[SIDE_COUNT] = {0};
	bool wanted = find_texts(t, text, size, why, sizeof(why));
	int rc = 0;

	for (int s = 0; s < SIDE_COUNT && wanted && !rc && !why[0]; s++) {
		runner_step(t->r, PHASE_SETUP, (enum side)s, TRIAL_RACE, 0, CHECK_SECONDS);
		rc = run_stage(t, sides[s], text[s], size[s], &races[s], why, sizeof(why));
		if (why[0]) {
			snprintf(reason, sizeof(reason), "%s: %.430s", side_name((uint32_t)s), why);
			snprintf(why, sizeof(why), "%.430s", reason);
		}
	}
	if (rc)
		error_set(err, -rc, ERROR_NO_OFFSET, "no memory for the race trial");
	else if (why[0])
		rc = twin_void(t, &w, why);
	else if (wanted)
		rc = send_races(t, races);
	for (int s = 0; s < SIDE_COUNT; s++)
		free(text[s]);
	return rc;
}
