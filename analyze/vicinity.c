/* SPDX-License-Identifier: MIT */
/* What the noise of one output is measured from: A's perturbed runs, the family's configs. */
#include "analyze/vicinity.h"

#include "analyze/shape_rule.h"
#include "analyze/synthetic.h"
#include "analyze/valid.h"

static bool same_extent(const struct record_case *x, const struct record_case *y, size_t i)
{
	return i < x->extents.count && i < y->extents.count &&
	       x->extents.items[i].address == y->extents.items[i].address &&
	       x->extents.items[i].size == y->extents.items[i].size &&
	       x->extents.items[i].dtype == y->extents.items[i].dtype;
}

/* Another config's launch on the same inputs, with an ok trial of a side and kind; or NULL. */
static const struct record_trial *sibling_trial(const struct job *j, const struct result_case *c,
						uint32_t side, uint32_t kind, uint32_t index)
{
	const struct record_trial *t;

	if (hash_is_zero(c->record->inputs) ||
	    !hash_equal(c->record->inputs, j->test_case->record->inputs) ||
	    !same_extent(c->record, j->test_case->record, j->extent) || !valid_fidelity(c->record))
		return NULL;
	t = trials_find(c, side, kind, index);
	return t && t->status == TRIAL_STATUS_OK && !t->unstored ? t : NULL;
}

/* Calls for each sibling; ends where it returns false. */
static void for_siblings(const struct job *j, uint32_t side, uint32_t kind, uint32_t index,
			 bool (*call)(void *data, const struct record_content *c), void *data)
{
	for (size_t i = 0; i < j->result->config_count; i++) {
		const struct result_config *other = &j->result->configs[i];

		if (other == j->config || other->family != j->config->family)
			continue;
		for (size_t k = 0; k < other->case_count; k++) {
			const struct record_trial *t =
				sibling_trial(j, &other->cases[k], side, kind, index);

			if (!t)
				continue;
			if (!call(data, content_of(t, j->extent)))
				return;
			break; /* one a config */
		}
	}
}

static bool add_other(void *data, const struct record_content *c)
{
	struct noise_input *in = data;

	in->others[in->other_count++] = c;
	return in->other_count < NOISE_OTHERS;
}

static bool add_fellow(void *data, const struct record_content *c)
{
	struct noise_input *in = data;

	in->fellows[in->fellow_count++] = c;
	return in->fellow_count < NOISE_OTHERS;
}

struct agreement {
	const struct record_content *own;
	bool broken;
};

static bool compare_own(void *data, const struct record_content *c)
{
	struct agreement *a = data;

	a->broken = !contents_equal(a->own, c);
	return !a->broken;
}

void vicinity_gather(struct job *j, const struct output_verdict *v,
		     const struct record_trial *plain, const struct record_trial *const *moved,
		     uint32_t moved_count)
{
	struct noise_input *in = &j->input;
	struct shape shape;

	*in = (struct noise_input){.bundle = j->result->bundle,
				   .extent = v->extent,
				   .dtype = v->dtype,
				   .u = v->extent->roundoff,
				   .function = v->extent->function,
				   .periodic = (v->extent->flags & EXTENT_PERIODIC) != 0,
				   .serial = v->extent->serial,
				   .plain = content_of(plain, j->extent)};
	moved_count = trials_stored(moved, moved_count);
	if (!dtype_is_float(v->dtype) || moved_count < 2 || !(moved[0]->step > 0))
		return;
	if (!(in->u > 0))
		in->u = v->dtype == DTYPE_F64 ? 0x1p-53 : 0x1p-24;
	in->h = moved[0]->step;
	for (; in->moved_count < moved_count && in->moved_count < NOISE_MOVED; in->moved_count++)
		in->moved[in->moved_count] = content_of(moved[in->moved_count], j->extent);
	for_siblings(j, SIDE_A, plain->kind, plain->index, add_other, in);
	for_siblings(j, SIDE_B, plain->kind, plain->index, add_fellow, in);
	output_shape(j->result, j->config->family, j->test_case->record, j->config->record->options,
		     v->extent, v->dtype, &shape);
	if (shape.rows > 1 && shape.rows * shape.columns == v->extent->size / dtype_bytes(v->dtype))
		in->columns = shape.columns;
}

void vicinity_recorded(struct job *j, const struct output_verdict *v)
{
	const struct trials *t = j->trials;

	vicinity_gather(j, v, t->repeats[SIDE_A][0], t->moved[SIDE_A], t->moved_count);
	if (t->chain[SIDE_A] && !j->a_count) {
		j->input.chain = content_of(t->chain[SIDE_A], j->extent);
		j->input.chain_launches = t->chain[SIDE_A]->launches;
	}
	for (uint32_t i = 1; j->input.moved_count && j->a_count && i < t->repeat_count[SIDE_A]; i++)
		if (j->input.other_count < NOISE_OTHERS)
			add_other(&j->input, content_of(t->repeats[SIDE_A][i], j->extent));
}

int vicinity_measure(struct job *j, struct error *err)
{
	bool differs = false;
	int e;

	for (size_t i = 0; i < j->duo_count; i++) {
		const struct duo *d = &j->duos[i];

		j->figures[i] = (struct noise_pair){
			.a = content_of(d->a, j->extent),
			.b = content_of(d->b, j->extent),
			.launches =
				d->purpose == PURPOSE_CHAIN && d->a->launches ? d->a->launches : 1};
		differs |= !contents_equal(j->figures[i].a, j->figures[i].b);
	}
	if (!j->input.moved_count || !differs)
		return 0;
	e = synthetic_admit(j, err);
	return e ? e : noise_measure(&j->input, j->figures, j->duo_count, &j->noise, err);
}

bool siblings_agree(const struct job *j, uint32_t kind, uint32_t index,
		    const struct record_content *own)
{
	struct agreement agreement = {.own = own};

	for_siblings(j, SIDE_A, kind, index, compare_own, &agreement);
	return !agreement.broken;
}
