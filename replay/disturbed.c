/* SPDX-License-Identifier: MIT */
/* The disturbed trials: the same launch under conditions that move its warps against each other. */
#include "replay/disturbed.h"

#include <stdio.h>

#include "replay/dispute.h"

static const char *way_name(enum disturbance way)
{
	static const char *const names[] = {[DISTURB_NONE] = "",
#define W(id, name) [DISTURB_##id] = name,
					    DISTURBANCES(W)
#undef W
	};

	return names[way];
}

/* Static and dynamic shared memory of the launch. */
static uint64_t shared_bytes(const struct trials *t, const struct ready *side)
{
	int bytes = 0;

	if (t->r->driver.cuFuncGetAttribute(&bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
					    side->function) != CUDA_SUCCESS)
		bytes = 0;
	return side->bound->shared_bytes + (uint64_t)bytes;
}

/*
 * One round of one way. *stop: nothing more is to be learned of this way. `varies`: a side was seen
 * to, so that it need not be asked again.
 */
static int run_round(struct trials *t, struct twin *w, bool varies[SIDE_COUNT], bool *stop,
		     struct error *err)
{
	struct outcome o[SIDE_COUNT] = {0};
	bool other[SIDE_COUNT] = {0};
	int rc = twin_run_keep(t, w, o, err);

	*stop = !rc && !o[SIDE_A].after.chunks;
	if (!rc)
		rc = twin_other(t, &t->a_runs, &o[SIDE_A], &other[SIDE_A]);
	if (!rc)
		rc = twin_other(t, &t->b_runs, &o[SIDE_B], &other[SIDE_B]);
	for (int s = 0; s < SIDE_COUNT; s++) {
		varies[s] |= other[s];
		outcome_free(&o[s]);
	}
	return rc;
}

int trials_disturbed(struct trials *t, struct error *err)
{
	bool varies[SIDE_COUNT] = {!byteset_is_empty(&t->a_runs.noise),
				   !byteset_is_empty(&t->b_runs.noise)};
	struct twin varying = {0};
	const struct twin none = {.note = {.kind = TRIAL_DISTURBED}};
	struct error why = {0};
	int rc = 0;

	if (!shared_bytes(t, &t->a) && !shared_bytes(t, &t->b))
		return 0;
	if (neighbour_open(&t->r->neighbour, &t->r->driver, t->r->device, &why))
		return twin_void(t, &none, why.message);
	for (enum disturbance way = DISTURB_NONE + 1; way < DISTURB_END; way++) {
		bool stop = false;

		for (uint32_t k = 0; !rc && !stop && k < DISTURBED_ROUNDS && !t->r->lost; k++) {
			struct twin w = {.note = {.kind = TRIAL_DISTURBED,
						  .index = way - 1 + k * DISTURB_WAYS,
						  .how = way_name(way)},
					 .setting = {.disturb = way,
						     .usual_us = t->a_runs.items[0].time_us},
					 .stride = DISTURB_WAYS,
					 .whole = true};
			bool before = varies[SIDE_B];

			rc = run_round(t, &w, varies, &stop, err);
			if (!before && varies[SIDE_B])
				varying = w;
		}
	}
	if (!t->r->lost && t->r->neighbour.driver)
		neighbour_rest(&t->r->neighbour);
	if (rc || t->r->lost || !varying.stride || varies[SIDE_A])
		return rc;
	/* further indices behind those above */
	varying.note.index =
		varying.note.index % DISTURB_WAYS + (DISTURBED_ROUNDS - 1) * DISTURB_WAYS;
	rc = dispute_vary_a(t, &varying, err);
	if (!t->r->lost && t->r->neighbour.driver)
		neighbour_rest(&t->r->neighbour);
	return rc;
}
