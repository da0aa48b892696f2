/* SPDX-License-Identifier: MIT */
/* A boundary launch that a config's recorded launches imply, and that none of them is. */
#include "replay/derive.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "replay/bind.h"
#include "replay/bounds.h"

void derived_free(struct derived *d)
{
	free(d->params);
	free(d->text);
	*d = (struct derived){0};
}

/* The bounds of the recorded kernel's arguments; false where its IR does not tell. */
static bool find_bounds(struct bounds *out, const struct source *base, const struct suite_member *m)
{
	const struct bundle *b = source_bundle(base, m);
	const struct record_file *file = bundle_file(b, m->image->id, ".ttir");
	_cleanup_free_ char *text = NULL;
	size_t size;

	if (!m->triton || !m->triton->signature)
		return false;
	if (!file)
		file = bundle_file(b, m->image->id, ".source");
	return file && !bundle_read_file(b, file, &text, &size, NULL) &&
	       !bounds_find(out, text, size, NULL) && out->bounding &&
	       out->arg_count == m->triton->signature->arg_count;
}

/* The divisibility for which a member is specialised; 0: it does not have the argument. */
static int64_t divisibility(const struct suite_member *m, const struct record_arg *arg)
{
	const struct signature *s = m && m->triton ? m->triton->signature : NULL;

	for (size_t i = 0; s && arg->name && i < s->arg_count; i++)
		if (s->args[i].name && !strcmp(s->args[i].name, arg->name))
			return s->args[i].divisibility ? s->args[i].divisibility : 1;
	return 0;
}

/* By how much the argument may be lowered at least; 0: not at all. */
static int64_t find_step(const struct pair *pair, const struct record_arg *arg)
{
	const struct suite_member *members[] = {pair->base, pair->a, pair->b};
	int64_t step = 1;

	for (size_t i = 0; i < ARRAY_LENGTH(members); i++) {
		int64_t d = divisibility(members[i], arg);

		if (!d)
			return 0;
		step = d > step ? d : step; /* powers of two */
	}
	return step;
}

int64_t launch_scalar(const struct record_launch *l, const struct record_param *p)
{
	int64_t wide = 0;
	int32_t narrow;

	if ((uint64_t)p->offset + p->size > l->params.size || (p->size != 4 && p->size != 8))
		return 0;
	memcpy(p->size == 4 ? (void *)&narrow : (void *)&wide,
	       (const uint8_t *)l->params.data + p->offset, p->size);
	return p->size == 4 ? narrow : wide;
}

/* What the argument becomes; 0: it stays. */
static int64_t lower(const struct pair *pair, const struct record_param *p, int64_t value,
		     int64_t block, int64_t step)
{
	bool tail = false, whole = false;
	int64_t edge;

	if (value <= 0 || step <= 0)
		return 0;
	if (!block)
		return value > step ? value - step : 0;
	for (size_t i = 0; i < pair->launch_count; i++) {
		int64_t seen = launch_scalar(pair->launches[i].launch, p);

		tail |= seen % block != 0;
		whole |= seen > 0 && seen % block == 0;
	}
	edge = value - value % block;
	if (edge == value)
		return !tail && value > step ? value - step : 0;
	return !whole && edge > 0 && edge % step == 0 ? edge : 0;
}

static int note_change(struct derived *d, const struct record_param *p, const char *name,
		       int64_t from, int64_t to)
{
	char *text = text_format("%s%s%s: %lld in place of %lld", d->text ? d->text : "",
				 d->text ? ", " : "", name, (long long)to, (long long)from);

	free(d->text);
	d->text = text;
	memcpy(d->params + p->offset, &to, p->size);
	return text ? 0 : -ENOMEM;
}

int derive_launch(struct derived *out, const struct source *base, const struct pair *pair,
		  const struct record_launch *launch)
{
	struct bounds bounds;
	size_t count;
	const struct record_param *layout = member_params(pair->base, &count);
	int rc = 0;

	*out = (struct derived){.launch = *launch};
	if (!find_bounds(&bounds, base, pair->base))
		return 0;
	out->params = malloc(launch->params.size + 1);
	if (!out->params)
		return -ENOMEM;
	memcpy(out->params, launch->params.data, launch->params.size);
	for (size_t i = 0; !rc && i < count && i < BOUNDS_MAX_ARGS; i++) {
		const struct record_arg *arg = member_arg(pair->base, i);
		int64_t value = launch_scalar(launch, &layout[i]), to = 0;

		if (arg && !arg->pointer && bounds.bounding >> i & 1)
			to = lower(pair, &layout[i], value, bounds.block[i], find_step(pair, arg));
		if (to)
			rc = note_change(out, &layout[i], arg->name, value, to);
	}
	out->launch.params.data = out->params;
	if (!rc && out->text)
		return 1;
	derived_free(out);
	return rc;
}
