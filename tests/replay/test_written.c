/* SPDX-License-Identifier: MIT */
/* What a launch writes, measured on kernels that are plain C functions over the restored bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "kernelab/dtype.h"
#include "replay/fidelity.h"
#include "replay/trials.h"
#include "replay/written.h"

#define BASE 0x10000000ull
#define X    0x1000u  /* input, n floats */
#define Y    0x9000u  /* output */
#define Z    0x11000u /* second output */
#define N    1000u

struct device {
	struct contents contents;
	struct range piece;
	uint8_t *before; /* all pages' bytes, one after the other */
	void (*kernel)(uint8_t *memory);
	unsigned runs, probes;
	bool fail;
};

static struct page *pages[MAP_BYTES / CHUNK_BYTES];

/* The contents before are what `before` holds now. */
static void publish(const struct device *d)
{
	for (size_t i = 0; i < d->contents.chunks; i++) {
		if (!pages[i])
			pages[i] = page_new();
		memcpy(pages[i]->data, d->before + i * CHUNK_BYTES, CHUNK_BYTES);
	}
}

static float load(const uint8_t *m, uint32_t at, uint32_t i)
{
	float v;

	memcpy(&v, m + at + 4 * i, 4);
	return v;
}

static void store(uint8_t *m, uint32_t at, uint32_t i, float v)
{
	memcpy(m + at + 4 * i, &v, 4);
}

static void scale(uint8_t *m)
{
	for (uint32_t i = 0; i < N; i++)
		store(m, Y, i, 2 * load(m, X, i));
}

static void skip_every_third(uint8_t *m)
{
	for (uint32_t i = 0; i < N; i++)
		if (i % 3)
			store(m, Y, i, 2 * load(m, X, i));
}

static void accumulate(uint8_t *m)
{
	for (uint32_t i = 0; i < N; i++) {
		store(m, Y, i, load(m, Y, i) + load(m, X, i));
		store(m, Z, i, load(m, X, i));
	}
}

static int setup(struct device *d, void (*kernel)(uint8_t *))
{
	static uint64_t memory[MAP_BYTES / 8];

	*d = (struct device){.piece = {BASE, MAP_BYTES}, .kernel = kernel};
	d->before = (uint8_t *)memory;
	d->contents = (struct contents){
		.pieces = {&d->piece, 1, 1}, .pages = pages, .chunks = MAP_BYTES / CHUNK_BYTES};
	memset(memory, 0, sizeof(memory));
	for (uint32_t i = 0; i < N; i++)
		store(d->before, X, i, (float)i + 0.25f);
	return 0;
}

/* What the worker does on a device, on host memory. */
static int run(void *data, const struct byteset *poison, unsigned pattern, bool probe,
	       struct snapshot *after, struct error *err)
{
	static uint64_t memory[MAP_BYTES / 8];
	struct device *d = data;
	uint8_t *m = (uint8_t *)memory;
	uint64_t cursor = 0;
	struct range r;

	d->runs++;
	d->probes += probe;
	if (d->fail)
		return error_set(err, ECANCELED, ERROR_NO_OFFSET, "fault");
	publish(d);
	memcpy(m, d->before, MAP_BYTES);
	while (poison && byteset_next(poison, &cursor, &r))
		memset(m + (r.base - BASE), POISON_BYTE(pattern), r.size);
	d->kernel(m);
	assert_int_equal(snapshot_init(after, &d->contents), 0);
	for (size_t i = 0; i < d->contents.chunks; i++)
		assert_int_equal(snapshot_put(after, i, m + i * CHUNK_BYTES), 0);
	return 0;
}

static struct pointer pointers[] = {
	{BASE + X, BASE + MAP_BYTES, 1, DTYPE_F32, false},
	{BASE + Y, BASE + MAP_BYTES, 2, DTYPE_F32, true},
	{BASE + Z, BASE + MAP_BYTES, 3, DTYPE_F32, true},
};

static int find(struct written *w, struct device *d, struct snapshot *plain, struct byteset *noise,
		bool stores_known)
{
	struct error err;
	struct written_input in = {.contents = &d->contents,
				   .plain = plain,
				   .noise = noise,
				   .pointers = pointers,
				   .pointer_count = 3,
				   .stores_known = stores_known,
				   .probe = true,
				   .poison = true,
				   .run = run,
				   .data = d};

	assert_int_equal(run(d, NULL, 0, false, plain, &err), 0);
	assert_int_equal(byteset_init(noise, &d->contents.pieces), 0);
	return written_find(w, &in, &err);
}

static void drop(struct written *w, struct snapshot *s, struct byteset *noise)
{
	written_free(w);
	snapshot_free(s);
	byteset_free(noise);
}

/* The buffer holds the right answer already, as behind an autotuner: nothing changes. */
static void sees_writes_of_equal_values(void **state)
{
	struct snapshot plain;
	struct byteset noise;
	struct written w;
	struct device d;

	setup(&d, scale);
	scale(d.before);
	assert_int_equal(find(&w, &d, &plain, &noise, true), 0);
	assert_int_equal(byteset_count(&w.bytes), 4 * N);
	assert_int_equal(w.extents.count, 1);
	assert_int_equal(w.extents.items[0].address, BASE + Y);
	assert_int_equal(w.extents.items[0].size, 4 * N);
	assert_int_equal(w.extents.items[0].arg, 2);
	assert_int_equal(w.extents.items[0].flags, 0);
	assert_int_equal(byteset_count(&w.poisonable), 4 * N);
	drop(&w, &plain, &noise);
}

static void leaves_unwritten_elements_out(void **state)
{
	struct snapshot plain;
	struct byteset noise;
	struct written w;
	struct device d;

	setup(&d, skip_every_third);
	assert_int_equal(find(&w, &d, &plain, &noise, true), 0);
	assert_int_equal(byteset_count(&w.bytes), 4 * 666);
	assert_int_equal(w.extents.count, 1);
	assert_int_equal(w.extents.items[0].address, BASE + Y + 4);
	assert_int_equal(w.extents.items[0].size, 4 * 998);
	assert_false(byteset_has(&w.bytes, BASE + Y + 12));
	drop(&w, &plain, &noise);
}

/* An accumulator is read: no poison there. The other output of the same launch keeps its poison. */
static void tells_in_place_outputs_apart(void **state)
{
	struct snapshot plain;
	struct byteset noise;
	struct written w;
	struct device d;

	setup(&d, accumulate);
	assert_int_equal(find(&w, &d, &plain, &noise, true), 0);
	assert_int_equal(w.extents.count, 2);
	assert_int_equal(w.extents.items[0].arg, 2);
	assert_int_equal(w.extents.items[0].flags, EXTENT_IN_PLACE);
	assert_int_equal(w.extents.items[1].arg, 3);
	assert_int_equal(w.extents.items[1].flags, 0);
	assert_int_equal(byteset_count(&w.poisonable), 4 * N);
	assert_true(byteset_has(&w.poisonable, BASE + Z));
	drop(&w, &plain, &noise);
}

/* Without PTX only the hull of changed bytes is probed, and the note says so. */
static void falls_back_without_code(void **state)
{
	struct snapshot plain;
	struct byteset noise;
	struct written w;
	struct device d;

	setup(&d, scale);
	for (uint32_t i = 0; i < N; i += 2) /* every other element already right */
		store(d.before, Y, i, 2 * load(d.before, X, i));
	assert_int_equal(find(&w, &d, &plain, &noise, false), 0);
	assert_int_equal(w.extents.count, 1);
	assert_int_equal(w.extents.items[0].address, BASE + Y + 4);
	assert_int_equal(byteset_count(&w.bytes),
			 4 * (N - 1)); /* element 0 lies outside the hull */
	assert_true(w.note[0]);
	drop(&w, &plain, &noise);
}

static void a_failing_probe_is_told(void **state)
{
	struct snapshot plain = {0};
	struct byteset noise;
	struct written w;
	struct device d;
	struct error err;

	setup(&d, scale);
	assert_int_equal(run(&d, NULL, 0, false, &plain, &err), 0);
	assert_int_equal(byteset_init(&noise, &d.contents.pieces), 0);
	d.fail = true;
	struct written_input in = {.contents = &d.contents,
				   .plain = &plain,
				   .noise = &noise,
				   .pointers = pointers,
				   .pointer_count = 3,
				   .stores_known = true,
				   .probe = true,
				   .poison = true,
				   .run = run,
				   .data = &d};
	assert_int_equal(written_find(&w, &in, &err), -ECANCELED);
	in.probe = in.poison = false; /* the most careful way needs no further run */
	assert_int_equal(written_find(&w, &in, &err), 0);
	assert_int_equal(byteset_count(&w.poisonable), 0);
	assert_int_equal(w.extents.count, 1);
	drop(&w, &plain, &noise);
}

/* ---- fidelity on the same device ---- */

static enum fidelity judge(struct device *d, struct snapshot *repeats, size_t count,
			   const struct written *w, const struct byteset *noise,
			   struct snapshot *recorded)
{
	struct ranges none = {0};
	struct fidelity_evidence e = {.recorded = recorded,
				      .repeats = repeats,
				      .repeat_count = count,
				      .written = &w->bytes,
				      .noise = noise,
				      .extents = &w->extents,
				      .scratch = &none};
	enum fidelity f;
	char reason[400];

	assert_int_equal(fidelity_judge(&e, &f, reason, sizeof(reason)), 0);
	if (f == FIDELITY_UNFAITHFUL || f == FIDELITY_UNTESTED)
		assert_true(reason[0]);
	return f;
}

/* A copy of a snapshot with one byte changed. */
static void change(struct snapshot *out, struct device *d, const struct snapshot *from,
		   uint64_t address)
{
	uint8_t chunk[CHUNK_BYTES];

	assert_int_equal(snapshot_init(out, &d->contents), 0);
	for (size_t i = 0; i < d->contents.chunks; i++) {
		memcpy(chunk, snapshot_chunk(from, i), CHUNK_BYTES);
		if ((address - BASE) / CHUNK_BYTES == i)
			chunk[(address - BASE) % CHUNK_BYTES] ^= 1;
		assert_int_equal(snapshot_put(out, i, chunk), 0);
	}
}

static void judges_the_recording(void **state)
{
	struct snapshot plain, recorded, second[2];
	struct byteset noise;
	struct written w;
	struct device d;

	setup(&d, skip_every_third);
	assert_int_equal(find(&w, &d, &plain, &noise, true), 0);
	assert_int_equal(judge(&d, &plain, 1, &w, &noise, &plain), FIDELITY_FAITHFUL);
	/* another stream's byte, far from the output */
	change(&recorded, &d, &plain, BASE + 0x80000);
	assert_int_equal(judge(&d, &plain, 1, &w, &noise, &recorded), FIDELITY_FAITHFUL);
	snapshot_free(&recorded);
	/* a byte between outputs that the replay never writes */
	change(&recorded, &d, &plain, BASE + Y + 12);
	assert_int_equal(judge(&d, &plain, 1, &w, &noise, &recorded), FIDELITY_UNFAITHFUL);
	snapshot_free(&recorded);
	/* an output byte differs: unfaithful, unless repeats vary there too */
	change(&recorded, &d, &plain, BASE + Y + 4);
	assert_int_equal(judge(&d, &plain, 1, &w, &noise, &recorded), FIDELITY_UNFAITHFUL);
	second[0] = plain;
	change(&second[1], &d, &plain, BASE + Y + 5); /* same element, another byte */
	assert_int_equal(snapshot_differ(&noise, &plain, &second[1]), 0);
	assert_int_equal(judge(&d, second, 2, &w, &noise, &recorded), FIDELITY_NONDETERMINISTIC);
	/* equal to a repeat other than the first */
	assert_int_equal(judge(&d, second, 2, &w, &noise, &second[1]), FIDELITY_FAITHFUL);
	snapshot_free(&second[1]);
	snapshot_free(&recorded);
	drop(&w, &plain, &noise);
}

static void nothing(uint8_t *m)
{
}

static void no_output_proves_nothing(void **state)
{
	struct snapshot plain, recorded;
	struct byteset noise;
	struct written w;
	struct device d;

	setup(&d, nothing);
	assert_int_equal(find(&w, &d, &plain, &noise, true), 0);
	assert_int_equal(w.extents.count, 0);
	assert_int_equal(judge(&d, &plain, 1, &w, &noise, &plain), FIDELITY_UNTESTED);
	change(&recorded, &d, &plain, BASE + Y);
	assert_int_equal(judge(&d, &plain, 1, &w, &noise, &recorded), FIDELITY_UNFAITHFUL);
	snapshot_free(&recorded);
	drop(&w, &plain, &noise);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sees_writes_of_equal_values),
		cmocka_unit_test(leaves_unwritten_elements_out),
		cmocka_unit_test(tells_in_place_outputs_apart),
		cmocka_unit_test(falls_back_without_code),
		cmocka_unit_test(a_failing_probe_is_told),
		cmocka_unit_test(judges_the_recording),
		cmocka_unit_test(no_output_proves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
