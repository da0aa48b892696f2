/* SPDX-License-Identifier: MIT */
/* Where a replay's wall time goes, and the bytes that it moves. */
#include "replay/cost.h"

#include <stddef.h>

#include "replay/wire.h"

void cost_add(struct cost *sum, const struct cost *c)
{
	for (size_t i = 0; i < ACTIVITY_COUNT; i++)
		sum->ns[i] += c->ns[i];
#define E(name, text) sum->name += c->name;
	COUNTS(E)
#undef E
}

const char *activity_name(enum activity a)
{
	static const char *const names[] = {
#define E(id, name, text) #name,
		ACTIVITIES(E)
#undef E
	};

	return names[a];
}

const char *activity_text(enum activity a)
{
	static const char *const texts[] = {
#define E(id, name, text) text,
		ACTIVITIES(E)
#undef E
	};

	return texts[a];
}

void stopwatch_start(struct stopwatch *w, struct cost *cost, enum activity first)
{
	*w = (struct stopwatch){cost, first, monotonic_ns()};
}

enum activity stopwatch_switch(struct stopwatch *w, enum activity next)
{
	uint64_t now = monotonic_ns();
	enum activity before = w->now;

	w->cost->ns[before] += now - w->since_ns;
	w->since_ns = now;
	w->now = next;
	return before;
}
