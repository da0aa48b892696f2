/* SPDX-License-Identifier: MIT */
/* The reference: what A's PTX gives in double precision at the elements where A and B differ. */
#include "replay/reference.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernelab/dtype.h"
#include "lib/base.h"
#include "replay/stage.h"
#include "softgpu/program.h"
#include "softgpu/shadow.h"

#define BATCH              16u   /* blocks between two looks at the clock */
#define SECONDS_MORE       120.0 /* beyond the limit: parsing, copying, a last batch */
#define INSTRUCTIONS_A_SEC 4e6   /* more than a shadow lets the machine do */
#define BLOCKS_MOST        (1ull << 28)
#define TEXT_BYTES         400

/* A differing element. */
struct target {
	const uint8_t *host;
	uint32_t extent;
	uint64_t index;
};

struct reference {
	struct trials *t;
	uint64_t *differing; /* an extent each */
	struct target *targets;
	size_t count, capacity;
	const uint8_t **places; /* of the targets, ascending */
	bool *seen;
	struct stage stage;
	struct shadow *shadow;
	uint64_t blocks, blocks_run;
	uint8_t *done; /* a bit a block */
	char reason[480];
};

/* How an element's shadow is read; false: it has none that says more. */
static bool readable(uint32_t dtype, enum shadow_format *format)
{
	switch (dtype) {
	case DTYPE_F32:
		*format = SHADOW_F32;
		return true;
	case DTYPE_F16:
		*format = SHADOW_F16;
		return true;
	case DTYPE_BF16:
		*format = SHADOW_BF16;
		return true;
	case DTYPE_F8E4M3:
		*format = SHADOW_E4M3;
		return true;
	case DTYPE_F8E5M2:
		*format = SHADOW_E5M2;
		return true;
	case DTYPE_I8:
	case DTYPE_I16:
	case DTYPE_I32:
		*format = SHADOW_INTEGER;
		return true;
	default:
		return false;
	}
}

/* ---- which elements ---- */

static int add_target(struct reference *x, uint32_t extent, uint64_t index)
{
	if (array_reserve(&x->targets, x->count, &x->capacity, sizeof(*x->targets)))
		return -ENOMEM;
	x->targets[x->count++] = (struct target){.extent = extent, .index = index};
	return 0;
}

/* Counts an extent's differing elements; with `every`, takes each so many-th of them. */
static int walk_extent(struct reference *x, const struct byteset *differ, uint32_t extent,
		       uint64_t every)
{
	const struct record_extent *e = &x->t->written.extents.items[extent];
	uint64_t cursor = e->address, next = 0, n = 0, bytes = dtype_bytes((enum dtype)e->dtype);
	struct range run;
	int rc = 0;

	while (!rc && byteset_next(differ, &cursor, &run) && run.base < e->address + e->size) {
		uint64_t end = run.base + run.size - e->address;
		uint64_t first = (run.base - e->address) / bytes, last;

		end = end < e->size ? end : e->size;
		last = (end + bytes - 1) / bytes;
		for (uint64_t i = first > next ? first : next; !rc && i < last; i++, n++)
			if (every && n % every == 0)
				rc = add_target(x, extent, i);
		next = last > next ? last : next;
	}
	x->differing[extent] = n;
	return rc;
}

static int find_targets(struct reference *x)
{
	const struct extents *e = &x->t->written.extents;
	struct byteset differ;
	int rc = byteset_init(&differ, &x->t->contents.pieces);

	x->differing = calloc(e->count + 1, sizeof(*x->differing));
	if (!rc && !x->differing)
		rc = -ENOMEM;
	if (!rc)
		rc = snapshot_differ(&differ, &x->t->a_runs.items[0].after,
				     &x->t->b_runs.items[0].after);
	for (uint32_t i = 0; !rc && i < e->count; i++) {
		enum shadow_format format;
		uint64_t n;

		rc = walk_extent(x, &differ, i, 0);
		n = x->differing[i];
		if (!rc && n && readable(e->items[i].dtype, &format))
			rc = walk_extent(x, &differ, i,
					 (n + REFERENCE_ELEMENTS - 1) / REFERENCE_ELEMENTS);
	}
	byteset_free(&differ);
	return rc;
}

static int by_host(const void *p, const void *q)
{
	const struct target *x = p, *y = q;

	return ((uintptr_t)x->host > (uintptr_t)y->host) -
	       ((uintptr_t)x->host < (uintptr_t)y->host);
}

/* Where the elements lie on the stage. Those that lie nowhere there are left out. */
static int place_targets(struct reference *x)
{
	const struct extents *e = &x->t->written.extents;
	size_t kept = 0;

	for (size_t i = 0; i < x->count; i++) {
		struct target *target = &x->targets[i];
		const struct record_extent *in = &e->items[target->extent];
		uint64_t bytes = dtype_bytes((enum dtype)in->dtype);
		uint64_t address = in->address + target->index * bytes;

		for (size_t k = 0; k < x->stage.range_count; k++) {
			const struct memory_range *r = &x->stage.ranges[k];

			if (address < r->base || address - r->base + bytes > r->size)
				continue;
			target->host = r->host + (address - r->base);
			x->targets[kept++] = *target;
			break;
		}
	}
	x->count = kept;
	qsort(x->targets, x->count, sizeof(*x->targets), by_host);
	x->places = calloc(x->count + 1, sizeof(uint8_t *));
	x->seen = calloc(x->count + 1, sizeof(*x->seen));
	if (!x->places || !x->seen)
		return -ENOMEM;
	for (size_t i = 0; i < x->count; i++)
		x->places[i] = x->targets[i].host;
	return 0;
}

/* ---- which blocks ---- */

static bool adds(const struct replay_case *c)
{
	const struct precision *p = c->precision[SIDE_A];

	for (size_t i = 0; p && i < STORES_MAX_PARAMS; i++)
		if (p->added[i])
			return true;
	return !p;
}

static bool take(struct reference *x, uint64_t block, uint64_t *out, size_t *n)
{
	if (x->done[block / 8] >> block % 8 & 1)
		return false;
	x->done[block / 8] |= (uint8_t)(1u << block % 8);
	out[(*n)++] = block;
	return *n == BATCH;
}

/*
 * Not run yet: first where the elements lie if outputs follow the blocks' order, then the others
 * from the first on.
 */
static size_t next_batch(struct reference *x, bool in_order, uint64_t *cursor, uint64_t *out)
{
	size_t n = 0;

	for (size_t i = 0; !in_order && i < x->count; i++) {
		const struct record_extent *e = &x->t->written.extents.items[x->targets[i].extent];
		double size = (double)e->size / dtype_bytes((enum dtype)e->dtype);
		double at = (double)x->targets[i].index / size * (double)x->blocks;
		uint64_t block = (uint64_t)at;

		if (!x->seen[i] && take(x, block < x->blocks ? block : x->blocks - 1, out, &n))
			return n;
	}
	if (n)
		return n;
	while (*cursor < x->blocks)
		if (take(x, (*cursor)++, out, &n))
			return n;
	return n;
}

static int run_blocks(struct reference *x)
{
	const struct bound *b = &x->t->c->a;
	struct machine_launch l = stage_launch(&x->stage, b);
	double limit = x->t->r->options->reference_s;
	uint64_t blocks[BATCH], cursor = 0, start = monotonic_ns();
	bool in_order = adds(x->t->c);

	l.shadow = x->shadow;
	l.blocks = blocks;
	l.instruction_quota = (uint64_t)(limit * INSTRUCTIONS_A_SEC) + 1000000;
	x->done = calloc(x->blocks / 8 + 1, 1);
	if (!x->done)
		return -ENOMEM;
	while (in_order || shadow_unseen(x->shadow)) {
		struct machine_fault fault;

		l.block_count = next_batch(x, in_order, &cursor, blocks);
		if (!l.block_count)
			break;
		if ((double)(monotonic_ns() - start) * 1e-9 > limit) {
			if (in_order)
				snprintf(x->reason, sizeof(x->reason),
					 "its blocks add to the same memory, and %llu of %llu were "
					 "run in %g s",
					 (unsigned long long)x->blocks_run,
					 (unsigned long long)x->blocks, limit);
			break;
		}
		if (machine_run(&l, &fault, NULL) != MACHINE_OK) {
			snprintf(x->reason, sizeof(x->reason), "%.400s", fault.message);
			break;
		}
		x->blocks_run += l.block_count;
	}
	return 0;
}

/* ---- the launch ---- */

static int run_stage(struct reference *x, const char *ptx, size_t size)
{
	const struct bound *b = &x->t->c->a;
	struct error err = {0};
	int rc = stage_open(&x->stage, &x->t->contents, b, ptx, size, &err);

	if (rc == -ENOTSUP) {
		snprintf(x->reason, sizeof(x->reason), "%.400s", err.message);
		return 0;
	}
	x->blocks = (uint64_t)b->grid[0] * b->grid[1] * b->grid[2];
	if (!rc && x->blocks > BLOCKS_MOST) {
		snprintf(x->reason, sizeof(x->reason), "%llu blocks are too many",
			 (unsigned long long)x->blocks);
		return 0;
	}
	if (!rc)
		rc = place_targets(x);
	if (!rc)
		rc = shadow_new(&x->shadow, REFERENCE_SHADOW);
	if (rc)
		return rc;
	shadow_watch(x->shadow, x->places, x->count, x->seen);
	return run_blocks(x);
}

static int run_a(struct reference *x)
{
	const struct trials *t = x->t;
	const struct pair *pair = &t->r->plan->pairs.items[t->c->pair];
	_cleanup_free_ char *text = NULL;
	struct error err = {0};
	size_t size;

	if (ranges_bytes(&t->contents.pieces) > REFERENCE_MEMORY) {
		snprintf(x->reason, sizeof(x->reason),
			 "%.3f GB of memory are too much to copy for it",
			 (double)ranges_bytes(&t->contents.pieces) * 1e-9);
		return 0;
	}
	if (!pair->a || source_ptx(t->r->plan->a, pair->a, &text, &size, &err)) {
		snprintf(x->reason, sizeof(x->reason), "A has no PTX to run");
		return 0;
	}
	return run_stage(x, text, size);
}

/* ---- messages ---- */

/* "line 12: add.s32 %r1, %r2, 1;" of the first instruction that ended a shadow; "" if none did. */
static void lost_text(const struct reference *x, char *out, size_t size)
{
	const struct shadow_counts *c = shadow_counts(x->shadow);
	char line[TEXT_BYTES];

	*out = 0;
	if (!c->lost_places)
		return;
	program_line_text(x->stage.module->program, c->lost_line, line, sizeof(line));
	snprintf(out, size, "line %u: %.300s", c->lost_line, line);
}

static bool value_of(const struct reference *x, const struct target *target, uint32_t dtype,
		     double *out)
{
	enum shadow_format format;
	bool shadowed;

	if (!readable(dtype, &format))
		return false;
	*out = shadow_value(x->shadow, target->host, format, dtype_bytes((enum dtype)dtype), true,
			    &shadowed);
	/* An integer that nothing was rounded to is the run's own, and no reference. */
	return format != SHADOW_INTEGER || shadowed;
}

static int by_index(const void *p, const void *q)
{
	const struct target *x = p, *y = q;

	return (x->index > y->index) - (x->index < y->index);
}

static int send_extent(struct reference *x, uint32_t extent)
{
	const struct record_extent *e = &x->t->written.extents.items[extent];
	struct packet *p = &x->t->r->packet, values = {0};
	_cleanup_free_ struct target *mine = calloc(x->count + 1, sizeof(*mine));
	char lost[TEXT_BYTES] = "", reason[480];
	enum shadow_format format;
	bool ran = x->shadow && !x->reason[0];
	size_t n = 0;

	if (!mine)
		return -ENOMEM;
	for (size_t i = 0; ran && i < x->count; i++)
		if (x->targets[i].extent == extent && x->seen[i])
			mine[n++] = x->targets[i];
	qsort(mine, n, sizeof(*mine), by_index);
	snprintf(reason, sizeof(reason), "%s", x->reason);
	if (!readable(e->dtype, &format))
		snprintf(reason, sizeof(reason), "%s has no reference",
			 dtype_name((enum dtype)e->dtype));
	if (ran)
		lost_text(x, lost, sizeof(lost));
	packet_clear(p);
	packet_put_u64(p, extent);
	packet_put_text(p, reason);
	packet_put_u64(p, x->differing[extent]);
	packet_put_u64(p, ran ? shadow_counts(x->shadow)->operations : 0);
	packet_put_u64(p, ran ? shadow_counts(x->shadow)->lost_places : 0);
	packet_put_text(p, lost);
	packet_put_u64(p, x->blocks_run);
	packet_put_u64(p, x->blocks);
	for (size_t i = 0; i < n; i++) {
		double v;

		if (!value_of(x, &mine[i], e->dtype, &v))
			continue;
		packet_put_u64(&values, mine[i].index);
		packet_put_f64(&values, v);
	}
	packet_put_u64(p, values.size / 16);
	packet_put_bytes(p, values.data, values.size);
	p->bad |= values.bad;
	packet_free(&values);
	if (p->bad)
		return -ENOMEM;
	trials_post(x->t, WIRE_REFERENCE);
	return 0;
}

int trials_reference(struct trials *t, struct error *err)
{
	struct reference x = {.t = t};
	bool any = false;
	int rc;

	if (!(t->r->options->reference_s > 0) || !t->a_runs.count || !t->b_runs.count)
		return 0;
	runner_step(t->r, PHASE_SETUP, SIDE_A, TRIAL_REPEAT, 0,
		    2 * t->r->options->reference_s + SECONDS_MORE);
	rc = find_targets(&x);
	for (size_t i = 0; !rc && i < t->written.extents.count; i++)
		any |= x.differing[i] != 0;
	if (!rc && x.count)
		rc = run_a(&x);
	for (uint32_t i = 0; !rc && any && i < t->written.extents.count; i++)
		if (x.differing[i])
			rc = send_extent(&x, i);
	stage_close(&x.stage);
	shadow_free(x.shadow);
	free(x.differing);
	free(x.targets);
	free(x.places);
	free(x.seen);
	free(x.done);
	return rc ? error_set(err, -rc, ERROR_NO_OFFSET, "no memory for the reference") : 0;
}

/* ---- in the parent ---- */

int reference_put(struct ledger *r, size_t number, struct packet *p)
{
	struct record_reference x = {.test_case = (uint32_t)number};
	_cleanup_free_ uint64_t *elements = NULL;
	_cleanup_free_ double *values = NULL;
	uint64_t count;

	x.extent = (uint32_t)packet_get_u64(p);
	x.reason = packet_get_text(p);
	x.differing = packet_get_u64(p);
	x.operations = packet_get_u64(p);
	x.lost_places = (uint32_t)packet_get_u64(p);
	x.lost = packet_get_text(p);
	x.blocks = packet_get_u64(p);
	x.all_blocks = packet_get_u64(p);
	count = packet_get_u64(p);
	if (p->bad || count > REFERENCE_ELEMENTS || packet_left(p) != 16 * count)
		return -EBADMSG;
	elements = calloc(count + 1, sizeof(*elements));
	values = calloc(count + 1, sizeof(*values));
	if (!elements || !values)
		return -ENOMEM;
	for (uint64_t i = 0; i < count; i++) {
		elements[i] = packet_get_u64(p);
		values[i] = packet_get_f64(p);
	}
	x.elements = (struct u64s){elements, count};
	x.values = (struct bytes){values, count * sizeof(*values)};
	return bundle_put_reference(r->writer, &x);
}

int reference_keep(struct ledger *r, const struct bundle *old, uint32_t number)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < old->references.count; i++)
		if (old->references.items[i].test_case == number)
			rc = bundle_put_reference(r->writer, &old->references.items[i]);
	return rc;
}
