/* SPDX-License-Identifier: MIT */
/* Integer outputs that follow from floats: indices of near ties, steps of a quantiser. */
#include "analyze/ties.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/noise.h"
#include "analyze/thresholds.h"
#include "lib/base.h"

struct buffers {
	unsigned char *plain, *a, *b, *moved[NOISE_MOVED];
};

static void buffers_free(struct buffers *x)
{
	free(x->plain);
	free(x->a);
	free(x->b);
	for (size_t k = 0; k < NOISE_MOVED; k++)
		free(x->moved[k]);
}

static int buffers_allocate(struct buffers *x, size_t moved)
{
	bool all = (x->plain = malloc(CHUNK_BYTES)) && (x->a = malloc(CHUNK_BYTES)) &&
		   (x->b = malloc(CHUNK_BYTES));

	for (size_t k = 0; all && k < moved; k++)
		all = (x->moved[k] = malloc(CHUNK_BYTES)) != NULL;
	return all ? 0 : -ENOMEM;
}

static uint64_t distance(enum dtype t, const unsigned char *x, const unsigned char *y)
{
	double value;
	int64_t first, second;

	number_load(t, x, 1, &value, &first);
	number_load(t, y, 1, &value, &second);
	return first > second ? (uint64_t)first - (uint64_t)second
			      : (uint64_t)second - (uint64_t)first;
}

static void count_chunk(const struct ties_input *in, size_t moved, const struct buffers *x,
			size_t n, struct ties *out)
{
	uint32_t bytes = dtype_bytes(in->dtype);

	for (size_t at = 0; at < n * bytes; at += bytes) {
		uint64_t reach = 0, d;

		for (size_t k = 0; k <= moved; k++) { /* neighbours of the pair's own inputs */
			const unsigned char *run = k < moved ? x->moved[k] : x->plain;

			if (!memcmp(run + at, x->a + at, bytes))
				continue;
			out->moved++;
			d = distance(in->dtype, run + at, x->a + at);
			reach = d > reach ? d : reach;
		}
		out->reach = reach > out->reach ? reach : out->reach;
		if (!memcmp(x->a + at, x->b + at, bytes))
			continue;
		d = distance(in->dtype, x->a + at, x->b + at);
		out->distance = d > out->distance ? d : out->distance;
		out->differing++;
		out->by_one += d == 1;
		out->followed += reach > 0;
		out->neither += d > 1 && !reach;
	}
}

static int read_chunks(const struct ties_input *in, size_t moved, size_t chunk, uint32_t size,
		       const struct record_content *a, const struct record_content *b,
		       struct buffers *x, struct error *err)
{
	int e = bundle_read_chunk(in->bundle, in->plain->chunks.items[chunk], x->plain, size, err);

	if (!e)
		e = bundle_read_chunk(in->bundle, a->chunks.items[chunk], x->a, size, err);
	if (!e)
		e = bundle_read_chunk(in->bundle, b->chunks.items[chunk], x->b, size, err);
	for (size_t k = 0; !e && k < moved; k++)
		e = bundle_read_chunk(in->bundle, in->moved[k]->chunks.items[chunk], x->moved[k],
				      size, err);
	return e;
}

int ties_measure(const struct ties_input *in, const struct record_content *a,
		 const struct record_content *b, struct ties *out, struct error *err)
{
	size_t moved = in->moved_count < NOISE_MOVED ? in->moved_count : NOISE_MOVED;
	double u = fmin(in->h, 0x1p-24);
	struct buffers x = {0};
	int e = buffers_allocate(&x, moved);

	*out = (struct ties){.reach = 1};
	if (e)
		e = error_set(err, ENOMEM, ERROR_NO_OFFSET, "out of memory");
	for (size_t chunk = 0; !e && chunk < in->plain->chunks.count; chunk++) {
		uint64_t address;
		uint32_t size;

		chunk_range(in->extent->address, in->extent->size, chunk, &address, &size);
		e = read_chunks(in, moved, chunk, size, a, b, &x, err);
		if (!e)
			count_chunk(in, moved, &x, size / dtype_bytes(in->dtype), out);
	}
	buffers_free(&x);
	if (e || !moved)
		return e;
	out->moved /= (double)moved;
	out->expected = threshold(THRESHOLD_JUMP_FACTOR) * u / in->h * out->moved;
	out->excused =
		out->distance <= out->reach &&
		(double)out->neither <=
			threshold(THRESHOLD_TIES_UNMOVED) * (double)out->differing &&
		poisson_tail(out->expected, out->differing) > threshold(THRESHOLD_JUMP_CHANCE);
	return 0;
}

void ties_judge(const struct ties *t, const struct metrics *m, struct chain *chain,
		struct outcome *o)
{
	struct step *s = &chain->steps[RULE_INTEGER];

	if (!t->excused) {
		s->note = t->distance > t->reach ? "further than A itself moves on perturbed inputs"
			  : t->neither ? "by more than a step, where A itself does not move"
				       : "more than rounding explains, by how often A itself moves";
		return;
	}
	*s = (struct step){STEP_PASSED, (double)t->differing, t->expected,
			   "as many as rounding explains, by how often A itself moves"};
	chain->steps[RULE_OTHERWISE] = (struct step){STEP_FIRED, (double)t->differing, t->expected,
						     "fires where no other does"};
	*o = (struct outcome){.bucket = 2,
			      .rule = RULE_OTHERWISE,
			      .tag = "ties",
			      .severity = (double)m->differing / (double)m->elements};
	snprintf(o->evidence, sizeof(o->evidence),
		 "%" PRIu64 " of %" PRIu64 " integers differ, %" PRIu64 " by one step, %" PRIu64
		 " where perturbed runs of A move too; rounding explains as many: such a run "
		 "moves %.3g of them",
		 m->differing, m->elements, t->by_one, t->followed, t->moved);
}
