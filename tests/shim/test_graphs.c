/* SPDX-License-Identifier: MIT */
/* What the shim records of graphs, and that the program's memory ends the same with and without. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base.h"
#include "tests/shim/cmocka_all.h"
#include "tests/shim/run_client.h"

#define BYTES (3 * 262144 + 1024) /* as in graph_client.c */

static struct client_run run;

static int clean(void **state)
{
	client_clean(&run);
	return 0;
}

static void output_of(const char *mode, const char *const *environment, char out[64])
{
	int fd, pid = client_start(&run, mode, "softmax_k", environment, &fd);
	ssize_t n = 0, got;

	while (n < 63 && (got = read(fd, out + n, 63 - (size_t)n)) > 0)
		n += got;
	out[n] = 0;
	close(fd);
	assert_int_equal(waitpid(pid, &run.status, 0), pid);
	assert_int_equal(run.status, 0);
}

/* Runs with and without the shim, and opens the bundle. */
static struct bundle *capture(const char *mode, const char *const *environment)
{
	static const char *const without[] = {"LD_PRELOAD=", NULL};
	char plain[64], recorded[64];

	output_of(mode, without, plain);
	client_clean(&run);
	output_of(mode, environment, recorded);
	assert_int_equal(strlen(plain), 33);
	assert_string_equal(plain, recorded);
	client_open_bundles(&run);
	assert_int_equal(run.count, 1);
	assert_true(run.bundles[0]->complete);
	assert_true(run.bundles[0]->ends.items[0].clean);
	return run.bundles[0];
}

/* The i-th launch of a graph with contents. */
static const struct record_launch *from_graph(const struct bundle *b, size_t i)
{
	for (size_t j = 0; j < b->launches.count; j++) {
		const struct record_launch *l = &b->launches.items[j];

		if (!strcmp(l->call, "cuGraphLaunch") && !l->flags && !i--)
			return l;
	}
	return NULL;
}

static uint64_t parameter(const struct record_launch *l, size_t offset)
{
	uint64_t value;

	memcpy(&value, (const char *)l->params.data + offset, 8);
	return value;
}

/* Of a region whose first chunk only was touched. */
static void read_chunks(const struct bundle *b, const struct record_region *r, unsigned char *out)
{
	for (size_t i = 0; i < r->chunks.count; i++) {
		uint64_t address;
		uint32_t bytes;

		chunk_range(r->base, r->size, i, &address, &bytes);
		assert_int_equal(hash_is_zero(r->chunks.items[i]), i > 0);
		if (!i)
			assert_int_equal(bundle_read_chunk(b, r->chunks.items[0], out, bytes, NULL),
					 0);
	}
}

/* Contents of the allocation at `base`, before the launch or after it. */
static void contents(const struct bundle *b, const struct record_launch *l, uint64_t base,
		     bool after, unsigned char *out)
{
	const struct record_after *a = bundle_after(b, l->seq);

	assert_non_null(a);
	assert_int_equal(a->result, 0);
	assert_int_equal(a->sync_result, 0);
	for (size_t i = 0; i < l->regions.count; i++) {
		const struct record_region *r = &l->regions.items[i];

		if (r->base != base)
			continue;
		assert_int_equal(r->size, BYTES);
		if (l->measured)
			read_chunks(b, r, out);
		else
			assert_int_equal(
				bundle_read_content(b, base, r->size, &r->chunks, out, NULL), 0);
		for (size_t j = 0; after && j < a->changes.count; j++) {
			const struct record_change *c = &a->changes.items[j];
			uint64_t address;
			uint32_t bytes;

			if (c->region != i)
				continue;
			chunk_range(base, r->size, c->chunk, &address, &bytes);
			assert_int_equal(bundle_read_chunk(b, c->key, out + (address - base), bytes,
							   NULL),
					 0);
		}
		return;
	}
	fail_msg("launch %llu has no such region", (unsigned long long)l->seq);
}

/* Each kernel of the graph sees what the one before left, with the fill between them. */
static void check_chain(const struct bundle *b, bool measured)
{
	size_t known = measured ? 20000 : BYTES; /* bytes, at least */
	const struct record_launch *first = from_graph(b, 0), *second = from_graph(b, 1);
	_cleanup_free_ unsigned char *x = malloc(BYTES), *now = malloc(BYTES);
	uint64_t px, py;

	assert_non_null(first);
	assert_non_null(second);
	assert_null(from_graph(b, 2));
	px = parameter(first, 0);
	py = parameter(first, 8);
	assert_int_equal(first->grid[0], 8);
	assert_int_equal(second->grid[0], 9);
	assert_int_equal(first->measured, measured);
	assert_int_equal(second->measured, measured);
	contents(b, first, py, false, now);
	for (size_t i = 0; i < known; i++)
		assert_int_equal(now[i], 0xa5); /* before the first launch ever */
	contents(b, first, py, true, now);
	assert_int_not_equal(memcmp(now, now + 16000, 4096), 0);
	assert_true(now[0] != 0 || now[1] != 0); /* not yet cleared by the fill behind it */
	assert_int_equal(now[16000], 0xa5);      /* behind the eight rows */
	contents(b, second, py, false, now);
	for (size_t i = 0; i < 4000; i++)
		assert_int_equal(now[i], 0); /* by the fill */
	contents(b, first, px, true, x);
	contents(b, second, px, false, now);
	assert_int_not_equal(memcmp(x, now, known), 0); /* the kernel between wrote x */
	assert_memory_equal(x + 16000, now + 16000, known - 16000);
	contents(b, second, py, true, now);
	assert_int_equal(now[18000], 0xa5);
}

static const char *const whole[] = {"KERNELAB_EXTENTS=off", NULL};

/* 8 rows of 2000 bytes, and no chunk that holds none of them. */
static void extents_of_each_kernel(void **state)
{
	struct bundle *b = capture("plain", NULL);
	const struct record_launch *l;

	check_chain(b, true);
	l = from_graph(b, 0);
	assert_null(l->extents);
	assert_int_equal(l->regions.count, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct record_region *r = &l->regions.items[i];
		bool input = r->base == parameter(l, 0);

		assert_int_equal(r->size, BYTES);
		assert_int_equal(r->reads.count, input ? 2 : 0);
		assert_int_equal(r->writes.count, input ? 0 : 2);
		assert_int_equal((input ? r->reads : r->writes).items[1], 16000);
	}
}

static void contents_around_each_kernel(void **state)
{
	const struct record_launch *first;
	struct bundle *b = capture("plain", whole);

	/* Two classes: of the three kernels two are alike. One record each in capture, one after.
	 */
	assert_int_equal(b->launches.count, 4);
	assert_int_equal(b->launches.items[0].flags, LAUNCH_IN_CAPTURE);
	check_chain(b, false);
	first = from_graph(b, 0);
	assert_int_equal(first->seq, 4); /* behind three of the capture */
	assert_int_equal(first->shared_bytes, 64);
	assert_int_equal(first->block[0], 128);
	assert_int_equal(b->ends.items[0].launches, 12);
}

static void the_programs_graph_may_be_gone(void **state)
{
	check_chain(capture("destroyed", NULL), true);
}

static void the_forms_of_cuda_11(void **state)
{
	check_chain(capture("cuda11", NULL), true);
}

static void a_failing_launch_in_capture_passes(void **state)
{
	check_chain(capture("in-capture", whole), false);
}

static void nothing_left_to_record(void **state)
{
	struct bundle *b = capture("recorded", NULL);

	assert_null(from_graph(b, 0));
	assert_int_equal(b->ends.items[0].launches, 11);
}

static void every_launch_on_request(void **state)
{
	static const char *const many[] = {"KERNELAB_PER_CLASS=4", NULL};
	struct bundle *b = capture("plain", many);
	size_t count = 0;

	while (from_graph(b, count))
		count++;
	assert_int_equal(count, 7); /* four of the one class, three of the other */
}

static bool has_grid(const struct bundle *b, unsigned rows)
{
	const struct record_launch *l;

	for (size_t i = 0; (l = from_graph(b, i)); i++)
		if (l->grid[0] == rows)
			return true;
	return false;
}

static void changed_kernels_are_followed(void **state)
{
	struct bundle *b = capture("set", NULL);

	assert_true(has_grid(b, 8) && has_grid(b, 9) && has_grid(b, 20) && has_grid(b, 21));
	assert_null(from_graph(b, 4));
}

static void updated_graphs_are_followed(void **state)
{
	struct bundle *b = capture("update", NULL);

	assert_true(has_grid(b, 8) && has_grid(b, 9) && has_grid(b, 30) && has_grid(b, 31));
	assert_null(from_graph(b, 4));
}

static const struct record_launch *missing(const struct bundle *b, const char *note)
{
	for (size_t i = 0; i < b->launches.count; i++) {
		const struct record_launch *l = &b->launches.items[i];

		if (l->flags & LAUNCH_CONTENTS_MISSING && l->note && strstr(l->note, note))
			return l;
	}
	return NULL;
}

static void what_cannot_be_followed_is_said(void **state)
{
	struct bundle *b = capture("disabled", NULL);
	const struct record_launch *l = missing(b, "switched off");

	assert_null(from_graph(b, 0));
	assert_non_null(l);
	assert_non_null(bundle_after(b, l->seq));
}

static void large_regions_are_said(void **state)
{
	static const char *const small[] = {"KERNELAB_MAX_REGION=1000", NULL};
	struct bundle *b = capture("plain", small);
	const struct record_launch *l = missing(b, "see its note");

	assert_null(from_graph(b, 0));
	assert_non_null(l);
	assert_non_null(strstr(l->regions.items[0].note, "KERNELAB_MAX_REGION"));
}

/* Eight slots of a chunk for all that is copied around two kernels. */
static void through_a_small_ring(void **state)
{
	static const char *const small[] = {"KERNELAB_RING=2M", "KERNELAB_EXTENTS=off", NULL};

	check_chain(capture("plain", small), false);
}

/* Copies that are waited for, and a buffer that is waited for. */
static void without_pinned_memory_or_events(void **state)
{
	static const char *const faults[] = {"KERNELAB_SOFTGPU_FAULT=cuMemHostRegister_v2:1+:2",
					     "KERNELAB_SOFTGPU_FAULT=cuEventCreate:1+:2",
					     "KERNELAB_SOFTGPU_FAULT=cuEventRecord:1+:2"};

	for (size_t i = 0; i < ARRAY_LENGTH(faults); i++) {
		const char *environment[] = {faults[i], NULL};

		check_chain(capture("plain", environment), true);
		client_clean(&run);
	}
	capture("plain", NULL); /* for the teardown */
}

/* The word behind the copies never comes: the program goes on, and the records say so. */
static void copies_that_do_not_arrive(void **state)
{
	static const char *const lost[] = {"KERNELAB_SOFTGPU_FAULT=cuStreamWriteValue32_v2:1+:lose",
					   "KERNELAB_EXTENTS=off", "KERNELAB_WAIT_AFTER=0.2s",
					   NULL};
	struct bundle *b = capture("plain", lost);
	const struct record_launch *l = missing(b, "see its note");

	assert_null(from_graph(b, 0));
	assert_non_null(l);
	assert_non_null(strstr(l->regions.items[0].note, "KERNELAB_WAIT_AFTER"));
	assert_non_null(bundle_after(b, l->seq));
}

static void no_data(void **state)
{
	static const char *const none[] = {"KERNELAB_NO_DATA=1", NULL};
	struct bundle *b = capture("plain", none);

	assert_int_equal(b->launches.count, 2);
	assert_int_equal(b->ends.items[0].launches, 12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(extents_of_each_kernel, clean),
		cmocka_unit_test_teardown(contents_around_each_kernel, clean),
		cmocka_unit_test_teardown(the_programs_graph_may_be_gone, clean),
		cmocka_unit_test_teardown(the_forms_of_cuda_11, clean),
		cmocka_unit_test_teardown(a_failing_launch_in_capture_passes, clean),
		cmocka_unit_test_teardown(nothing_left_to_record, clean),
		cmocka_unit_test_teardown(every_launch_on_request, clean),
		cmocka_unit_test_teardown(changed_kernels_are_followed, clean),
		cmocka_unit_test_teardown(updated_graphs_are_followed, clean),
		cmocka_unit_test_teardown(what_cannot_be_followed_is_said, clean),
		cmocka_unit_test_teardown(large_regions_are_said, clean),
		cmocka_unit_test_teardown(through_a_small_ring, clean),
		cmocka_unit_test_teardown(without_pinned_memory_or_events, clean),
		cmocka_unit_test_teardown(copies_that_do_not_arrive, clean),
		cmocka_unit_test_teardown(no_data, clean),
	};

	return cmocka_run_group_tests_name("graphs", tests, NULL, NULL);
}
