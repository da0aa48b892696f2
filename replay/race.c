/* SPDX-License-Identifier: MIT */
/* The race trial: a few blocks of each side's PTX on the CPU, looked at for races. */
#include "replay/race.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "replay/stage.h"
#include "replay/twin.h"

#define CHECK_SECONDS 120.0 /* of a side, far beyond what the quota takes */

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
	int rc = stage_open(&s, &t->contents, b, ptx, size, &err);

	if (rc == -ENOTSUP) {
		snprintf(why, why_size, "%.400s", err.message);
		rc = 0;
	} else if (!rc) {
		struct machine_launch l = stage_launch(&s, b);

		l.instruction_quota = RACE_INSTRUCTIONS;
		l.blocks = blocks;
		l.block_count = choose_blocks(b, blocks);
		l.races = races;
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
