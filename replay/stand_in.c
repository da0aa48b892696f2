/* SPDX-License-Identifier: MIT */
/* Which launches a config runs on that has none of its own, and with what grid. */
#include "replay/stand_in.h"

#include <string.h>

#include "lib/base.h"
#include "replay/bind.h"

/* num_warps and the like decide nothing about a grid; a constexpr (BLOCK=64, SPLIT_K=2) may. */
static bool is_launch_option(const char *word)
{
	static const char *const names[] = {"num_warps=", "num_stages=", "num_ctas=", "maxnreg="};

	for (size_t i = 0; i < ARRAY_LENGTH(names); i++)
		if (!strncmp(word, names[i], strlen(names[i])))
			return true;
	return false;
}

/* The next word about the grid. Moves *text behind it; NULL: none is left. */
static const char *next_shape(const char **text, size_t *size)
{
	for (;;) {
		const char *word = *text + strspn(*text, " ");

		*size = strcspn(word, " ");
		*text = word + *size;
		if (!*size)
			return NULL;
		if (!is_launch_option(word))
			return word;
	}
}

bool stand_in_same_shapes(const char *x, const char *y)
{
	if (!x || !y || strstr(x, "…") || strstr(y, "…"))
		return false;
	for (;;) {
		size_t n, m;
		const char *a = next_shape(&x, &n), *b = next_shape(&y, &m);

		if (!a || !b)
			return !a && !b;
		if (n != m || memcmp(a, b, n))
			return false;
	}
}

const struct suite_member *stand_in_find(const struct suite_family *f, const char *shapes,
					 const struct suite_config **config)
{
	const struct suite_member *found = NULL;

	for (size_t i = 0; i < f->config_count; i++) {
		const struct suite_config *c = &f->configs[i];

		if (shapes && !stand_in_same_shapes(shapes, c->options))
			continue;
		for (size_t k = 0; k < c->member_count; k++) {
			const struct suite_member *m = &c->members[k];

			if (!m->launch_count || (found && found->seen >= m->seen))
				continue;
			found = m;
			*config = c;
		}
	}
	return found;
}

/* The member's argument of that name and type; its parameter. NULL: none. */
static const struct record_param *find_param(const struct suite_member *m,
					     const struct record_arg *wanted)
{
	size_t count;
	const struct record_param *layout = member_params(m, &count);

	for (size_t i = 0; i < count; i++) {
		const struct record_arg *arg = member_arg(m, i);

		if (arg && arg->name && wanted->name && !strcmp(arg->name, wanted->name) &&
		    arg->type && wanted->type && !strcmp(arg->type, wanted->type))
			return &layout[i];
	}
	return NULL;
}

static bool equal_bytes(const struct record_launch *x, const struct record_param *p,
			const struct record_launch *y, const struct record_param *q)
{
	return p->size == q->size && (uint64_t)p->offset + p->size <= x->params.size &&
	       (uint64_t)q->offset + q->size <= y->params.size &&
	       !memcmp((const uint8_t *)x->params.data + p->offset,
		       (const uint8_t *)y->params.data + q->offset, p->size);
}

static bool same_scalars(const struct record_launch *own, const struct suite_member *target,
			 const struct record_launch *launch, const struct suite_member *base)
{
	size_t count, known = 0;
	const struct record_param *layout = member_params(target, &count);

	for (size_t i = 0; i < count; i++) {
		const struct record_arg *arg = member_arg(target, i);
		const struct record_param *p;

		if (!arg) /* hidden scratch, or nothing is known */
			continue;
		known++;
		if (arg->pointer || layout[i].size > 8)
			continue;
		p = find_param(base, arg);
		if (!p || !equal_bytes(own, &layout[i], launch, p))
			return false;
	}
	return known;
}

static uint64_t value_of(const struct record_launch *l, const struct record_param *p)
{
	uint64_t value = 0;

	if (p->size <= 8 && (uint64_t)p->offset + p->size <= l->params.size)
		memcpy(&value, (const uint8_t *)l->params.data + p->offset, p->size);
	return value;
}

bool stand_in_valid(const struct record_launch *launch, const struct suite_member *base,
		    const struct suite_member *target)
{
	size_t count;
	const struct record_param *layout = member_params(target, &count);

	for (size_t i = 0; i < count; i++) {
		const struct record_arg *arg = member_arg(target, i);
		const struct record_param *p = arg ? find_param(base, arg) : NULL;

		if (arg && (!p || (arg->divisibility && value_of(launch, p) % arg->divisibility)))
			return false;
	}
	layout = member_params(base, &count);
	for (size_t i = 0; i < count; i++) {
		const struct record_arg *arg = member_arg(base, i);

		if (arg && !find_param(target, arg) &&
		    (arg->pointer || value_of(launch, &layout[i]) != 1))
			return false;
	}
	return true;
}

bool stand_in_grid(uint32_t grid[3], const struct record_launch *launch,
		   const struct suite_member *base, const struct suite_member *target)
{
	for (size_t i = 0; i < target->launch_count; i++) {
		if (!same_scalars(target->launches[i], target, launch, base))
			continue;
		memcpy(grid, target->launches[i]->grid, sizeof(target->launches[i]->grid));
		return true;
	}
	return false;
}
