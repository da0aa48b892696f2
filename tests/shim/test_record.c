/* SPDX-License-Identifier: MIT */
/* What the shim writes for a program that loads and launches as Triton does. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "drv/entries.h"
#include "lib/base.h"
#include "tests/shim/cmocka_all.h"
#include "tests/shim/run_client.h"

#define BYTES (3 * 262144 + 1000) /* as in client.c */

static struct client_run run;

static struct bundle *only_bundle(void)
{
	assert_int_equal(run.status, 0);
	assert_int_equal(run.count, 1);
	assert_true(run.bundles[0]->complete);
	return run.bundles[0];
}

static int clean(void **state)
{
	client_clean(&run);
	return 0;
}

/* The class's records added up, as a reader does. */
static struct record_class class_sum(const struct bundle *b, struct hash128 key)
{
	struct record_class sum = {0};

	for (size_t i = 0; i < b->classes.count; i++) {
		const struct record_class *c = &b->classes.items[i];

		if (!hash_equal(c->shape_class, key))
			continue;
		sum.seen += c->seen;
		sum.recorded += c->recorded;
		if (c->reason)
			sum.reason = c->reason;
	}
	return sum;
}

/* ---- the usual ---- */

static void image_and_metadata(void **state)
{
	const struct record_image *image;
	_cleanup_free_ char *path = cache_cubin("softmax_k");
	_cleanup_free_ char *expected = NULL, *json = NULL;
	_cleanup_free_ void *data = NULL;
	size_t size, expected_size;
	struct bundle *b;

	client_run(&run, "basic", "softmax_k", NULL);
	b = only_bundle();
	assert_int_equal(b->images.count, 1);
	image = &b->images.items[0];
	assert_int_equal(image->kind, IMAGE_CUBIN);
	assert_int_equal(image->origin, ORIGIN_TRITON);
	assert_string_equal(image->loader, "cuModuleLoadData");
	assert_non_null(strstr(path, image->cache_entry));
	assert_string_equal(image->ptxas, "12.8?"); /* this cubin has no tool string */
	assert_int_equal(file_read_all(path, 1 << 20, &expected, &expected_size), 0);
	assert_int_equal(bundle_read_image(b, image, &data, &size, NULL), 0);
	assert_int_equal(size, expected_size);
	assert_memory_equal(data, expected, size);
	assert_non_null(bundle_file(b, image->id, ".source"));
	assert_non_null(bundle_file(b, image->id, ".ttir"));
	assert_non_null(bundle_file(b, image->id, ".ptx"));
	assert_int_equal(
		bundle_read_file(b, bundle_file(b, image->id, ".json"), &json, &size, NULL), 0);
	assert_non_null(strstr(json, "\"name\": \"softmax_k\""));
	assert_int_equal(b->devices.count, 1);
	assert_string_equal(b->devices.items[0].name, "fake");
	assert_int_equal(b->ends.count, 1);
	assert_true(b->ends.items[0].clean);
	assert_int_equal(b->ends.items[0].launches, 6);
	assert_int_equal(b->ends.items[0].recorded, 4);
	assert_string_equal(bundle_fact(b, "driver.cuda"), "13.0");
	assert_string_equal(b->runs.items[0].command.items[1], "basic");
}

/* The stage is left out; what does not fit is cut, and seen to be. */
static void name_of_the_test(void **state)
{
	static const size_t lengths[] = {300, 4096, 5000};

	for (size_t i = 0; i < ARRAY_LENGTH(lengths); i++) {
		_cleanup_free_ char *name = malloc(lengths[i] + 1);
		_cleanup_free_ char *variable = NULL;
		const char *got;

		assert_non_null(name);
		memset(name, 'a', lengths[i]);
		name[lengths[i]] = 0;
		variable = text_format("PYTEST_CURRENT_TEST=%s (call)", name);
		client_run(&run, "basic", "softmax_k", (const char *[]){variable, NULL});
		got = only_bundle()->launches.items[0].test;
		if (lengths[i] <= 4096) {
			assert_string_equal(got, name);
		} else {
			assert_int_equal(strlen(got), 4096 + strlen("..."));
			assert_memory_equal(got, name, 4096);
			assert_string_equal(got + 4096, "...");
		}
		client_clean(&run);
	}
}

static void classes_of_shape(void **state)
{
	struct bundle *b;
	struct record_class c;

	client_run(&run, "basic", "softmax_k", NULL);
	b = only_bundle();
	assert_int_equal(b->launches.count, 4);
	assert_int_equal(b->launches.items[0].seq, 1);
	assert_int_equal(b->launches.items[1].seq, 3); /* 2 has the class of 1 */
	assert_int_equal(b->launches.items[2].seq, 4);
	assert_int_equal(b->launches.items[3].seq, 5); /* 6 has the class of 4 */
	c = class_sum(b, b->launches.items[0].shape_class);
	assert_int_equal(c.seen, 2);
	assert_int_equal(c.recorded, 1);
	assert_non_null(c.reason);
	c = class_sum(b, b->launches.items[3].shape_class);
	assert_int_equal(c.seen, 1);
	assert_null(c.reason);
}

static void per_class(void **state)
{
	static const char *const two[] = {"KERNELAB_PER_CLASS=2", NULL};

	client_run(&run, "basic", "softmax_k", two);
	assert_int_equal(only_bundle()->launches.count, 6);
}

static void launch_and_parameters(void **state)
{
	const struct record_launch *l;
	const struct record_kernel *k;
	struct bundle *b;
	uint64_t word;
	int n;

	client_run(&run, "basic", "softmax_k", NULL);
	b = only_bundle();
	k = &b->kernels.items[0];
	assert_string_equal(k->entry, "softmax_k");
	assert_int_equal(k->params.count, 5);
	assert_int_equal(k->params.items[2].offset, 16);
	assert_int_equal(k->params.items[2].size, 4);
	assert_int_equal(k->registers, 32);
	l = &b->launches.items[0];
	assert_string_equal(l->call, "cuLaunchKernelEx");
	assert_int_equal(l->flags, LAUNCH_COOPERATIVE);
	assert_int_equal(l->block[0], 128);
	assert_int_equal(l->shared_bytes, 16);
	assert_int_equal(l->attributes.count, 1);
	assert_int_equal(l->attributes.items[0].id, 2);
	assert_int_equal(l->attributes.items[0].value.size, 1);
	assert_int_equal(l->params.size, 40);
	memcpy(&n, (const char *)l->params.data + 16, 4);
	assert_int_equal(n, 300000);
	assert_int_equal(l->regions.count, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct record_region *r = &l->regions.items[i];

		assert_int_equal(r->size, BYTES);
		assert_int_equal(r->param_offsets.count, 1);
		memcpy(&word, (const char *)l->params.data + r->param_offsets.items[0], 8);
		assert_int_equal(word, r->base);
	}
}

/* Before: x is 7 throughout, y is 0. After: 300000 bytes of y are 8. */
static void contents_before_and_after(void **state)
{
	_cleanup_free_ unsigned char *data = malloc(BYTES);
	const struct record_launch *l;
	const struct record_after *after;
	struct bundle *b;
	uint64_t x, y;

	client_run(&run, "basic", "softmax_k", NULL);
	b = only_bundle();
	l = &b->launches.items[0];
	memcpy(&x, l->params.data, 8);
	memcpy(&y, (const char *)l->params.data + 8, 8);
	for (size_t i = 0; i < 2; i++) {
		const struct record_region *r = &l->regions.items[i];

		assert_int_equal(bundle_read_content(b, r->base, r->size, &r->chunks, data, NULL),
				 0);
		for (size_t j = 0; j < BYTES; j++)
			assert_int_equal(data[j], r->base == x ? 7 : 0);
	}
	after = bundle_after(b, 1);
	assert_non_null(after);
	assert_int_equal(after->result, 0);
	assert_int_equal(after->sync_result, 0);
	assert_true(after->changes.count > 0);
	for (size_t i = 0; i < after->changes.count; i++) {
		const struct record_change *c = &after->changes.items[i];
		const struct record_region *r = &l->regions.items[c->region];
		uint64_t address;
		uint32_t bytes;

		assert_int_equal(r->base, y);
		chunk_range(r->base, r->size, c->chunk, &address, &bytes);
		assert_int_equal(bundle_read_chunk(b, c->key, data, bytes, NULL), 0);
		for (size_t j = 0; j < bytes; j++)
			assert_int_equal(data[j], address + j - y < 300000 ? 8 : 0);
	}
	/* The same launch once more changes nothing: the third one is of another grid, equal data.
	 */
	after = bundle_after(b, 3);
	assert_non_null(after);
	assert_int_equal(after->changes.count, 0);
}

/* ---- the unusual ---- */

static void no_data(void **state)
{
	static const char *const env[] = {"KERNELAB_NO_DATA=1", NULL};
	struct bundle *b;
	uint64_t chunks, raw, stored;

	client_run(&run, "basic", "softmax_k", env);
	b = only_bundle();
	assert_int_equal(b->launches.count, 4);
	assert_int_equal(b->launches.items[0].flags, LAUNCH_NO_DATA | LAUNCH_COOPERATIVE);
	assert_int_equal(b->launches.items[0].params.size, 40);
	assert_true(b->runs.items[0].no_data);
	bundle_chunk_totals(b, &chunks, &raw, &stored);
	assert_true(raw < BYTES); /* image and metadata only */
}

static void extra_buffer(void **state)
{
	const struct record_launch *l;

	client_run(&run, "extra", "softmax_k", NULL);
	l = &only_bundle()->launches.items[0];
	assert_string_equal(l->call, "cuLaunchKernel");
	assert_int_equal(l->params.size, 40);
	assert_int_equal(l->regions.count, 2);
	assert_int_equal(bundle_after(run.bundles[0], 1)->changes.count, 1);
}

/* The fake ends the program if the shim copies or waits during capture. */
static void stream_capture(void **state)
{
	struct bundle *b;

	client_run(&run, "capture", "softmax_k", NULL);
	b = only_bundle();
	assert_int_equal(b->launches.count, 2);
	assert_true(b->launches.items[0].flags & LAUNCH_IN_CAPTURE);
	assert_int_equal(b->launches.items[0].regions.count, 0);
	assert_int_equal(b->launches.items[1].seq, 3);
	assert_int_equal(b->launches.items[1].flags, LAUNCH_COOPERATIVE);
	assert_int_equal(b->launches.items[1].regions.count, 2);
}

static void tensor_maps(void **state)
{
	struct bundle *b;
	const struct record_launch *l;

	client_run(&run, "tma", "tma_k", NULL);
	b = only_bundle();
	assert_int_equal(b->tensor_maps.count, 2);
	assert_int_equal(b->tensor_maps.items[0].dims.count, 2);
	assert_int_equal(b->tensor_maps.items[0].dims.items[1], 256);
	assert_int_equal(b->tensor_maps.items[0].strides_bytes.count, 1);
	assert_int_equal(b->tensor_maps.items[0].strides_bytes.items[0], 512);
	l = &b->launches.items[0];
	assert_int_equal(l->regions.count, 2);
	for (size_t i = 0; i < 2; i++)
		assert_true(l->regions.items[i].base == b->tensor_maps.items[0].address ||
			    l->regions.items[i].base == b->tensor_maps.items[1].address);
}

/* Both ways from the piece that the pointer hits, as far as it is mapped. */
static void mapped_memory_is_one_region(void **state)
{
	static const char *const env[] = {"FAKE_VMM=1", NULL};
	const struct record_launch *l;
	const struct record_region *r = NULL;
	uint64_t x;

	client_run(&run, "middle", "softmax_k", env);
	l = &only_bundle()->launches.items[0];
	memcpy(&x, l->params.data, 8);
	x -= 2 * 262144 + 64;
	for (size_t i = 0; i < l->regions.count; i++)
		if (l->regions.items[i].base == x)
			r = &l->regions.items[i];
	assert_non_null(r);
	assert_int_equal(r->size, BYTES);
	assert_int_equal(r->memory, MEMORY_VMM);
	assert_int_equal(r->reservation_base, x - 262144);
	assert_int_equal(r->reservation_size, 100 * 262144);
	assert_int_equal(r->chunks.count, chunk_count(x, BYTES));
}

static void region_too_large(void **state)
{
	static const char *const env[] = {"KERNELAB_MAX_REGION=1000", NULL};
	const struct record_launch *l;

	client_run(&run, "extra", "softmax_k", env);
	l = &only_bundle()->launches.items[0];
	assert_true(l->flags & LAUNCH_CONTENTS_MISSING);
	assert_non_null(strstr(l->regions.items[0].note, "KERNELAB_MAX_REGION"));
}

static void loaded_from_a_file(void **state)
{
	static const char *const env[] = {"KERNELAB_CACHE_ROOTS=", "RANK=3", NULL};
	const struct record_image *image;
	struct bundle *b;

	client_run(&run, "path", "softmax_k", env);
	b = only_bundle();
	image = &b->images.items[0];
	assert_string_equal(image->loader, "cuModuleLoad");
	assert_non_null(strstr(image->path, "/softmax_k.cubin"));
	assert_non_null(bundle_file(b, image->id, ".source"));
	assert_non_null(strstr(b->path, "-rank3.klab"));
	assert_string_equal(b->runs.items[0].rank, "RANK=3");
}

static void too_many_classes(void **state)
{
	struct bundle *b;
	struct record_class rest;

	client_run(&run, "classes", "softmax_k", NULL);
	b = only_bundle();
	/* 64 classes of n = 0 … 63, the tails 64 … 127 of a block of 1024 or more, no room then. */
	assert_int_equal(b->launches.count, 128);
	assert_int_equal(class_sum(b, b->launches.items[127].shape_class).seen, 1);
	rest = class_sum(b, (struct hash128){0});
	assert_int_equal(rest.seen, 72);
	assert_int_equal(rest.recorded, 0);
	assert_non_null(strstr(rest.reason, "64"));
}

static void other_functions_are_counted(void **state)
{
	struct bundle *b;
	const struct record_unrecorded *u;

	client_run(&run, "other", "softmax_k", NULL);
	b = only_bundle();
	assert_int_equal(b->launches.count, 1);
	assert_int_equal(b->unrecordeds.count, 1);
	u = &b->unrecordeds.items[0];
	assert_string_equal(u->name, "elsewhere");
	assert_int_equal(u->launches, 5);
	assert_int_equal(b->ends.items[0].launches, 6);
}

/* Whatever the handle came from, the records are the same. */
static void any_way_to_a_function(void **state)
{
	static const char *const modes[] = {"library", "library-module", "enumerated"};

	for (size_t i = 0; i < ARRAY_LENGTH(modes); i++) {
		const struct record_kernel *k;
		struct bundle *b;

		client_run(&run, modes[i], "softmax_k", NULL);
		b = only_bundle();
		assert_string_equal(b->images.items[0].loader,
				    i < 2 ? "cuLibraryLoadData" : "cuModuleLoadData");
		assert_int_equal(b->kernels.count, 1);
		k = &b->kernels.items[0];
		assert_string_equal(k->entry, "softmax_k");
		assert_int_equal(k->params.count, 5);
		assert_int_equal(k->registers, 32);
		assert_int_equal(b->launches.count, 4);
		assert_int_equal(b->launches.items[0].regions.count, 2);
		assert_int_equal(b->unrecordeds.count, 0);
		client_clean(&run);
	}
	client_run(&run, "basic", "softmax_k", NULL); /* for the teardown */
}

static void fatbins_are_counted_by_name(void **state)
{
	static const char *const all[] = {"KERNELAB_ORIGIN=all", NULL};
	const struct record_unrecorded *u;
	struct bundle *b;

	client_run(&run, "fatbin", "softmax_k", NULL);
	b = only_bundle();
	assert_int_equal(b->images.count, 1);
	assert_int_equal(b->launches.count, 1);
	assert_int_equal(b->unrecordeds.count, 1);
	u = &b->unrecordeds.items[0];
	assert_string_equal(u->name, "elementwise");
	assert_int_equal(u->launches, 2);
	assert_non_null(strstr(u->reason, "fatbin"));
	client_clean(&run);

	client_run(&run, "fatbin", "softmax_k", all);
	b = only_bundle();
	assert_int_equal(b->images.count, 2);
	assert_int_equal(b->images.items[1].kind, IMAGE_FATBIN);
	assert_int_equal(b->images.items[1].size, 80);
	assert_int_equal(b->launches.count, 2); /* the class of both is one */
	assert_int_equal(b->unrecordeds.count, 0);
}

static void cooperative_launch(void **state)
{
	const struct record_launch *l;

	client_run(&run, "cooperative", "softmax_k", NULL);
	l = &only_bundle()->launches.items[0];
	assert_string_equal(l->call, "cuLaunchCooperativeKernel");
	assert_int_equal(l->flags, LAUNCH_COOPERATIVE);
	assert_int_equal(l->grid[0], 2);
	assert_int_equal(l->attributes.count, 1);
	assert_int_equal(l->attributes.items[0].id, 2 /* cooperative */);
}

static void launch_attributes(void **state)
{
	const struct record_launch *l;
	uint32_t cluster[3];

	client_run(&run, "attributes", "softmax_k", NULL);
	l = &only_bundle()->launches.items[0];
	assert_int_equal(l->shared_bytes, 65536);
	assert_int_equal(l->attributes.count, 2);
	assert_int_equal(l->attributes.items[0].id, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
	memset(cluster, 0, sizeof(cluster));
	memcpy(cluster, l->attributes.items[0].value.data, l->attributes.items[0].value.size);
	assert_int_equal(cluster[0], 2);
	assert_int_equal(cluster[1], 1);
	assert_int_equal(l->attributes.items[1].id,
			 CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
	assert_int_equal(((const char *)l->attributes.items[1].value.data)[0], 1);
	/* What cuFuncSetAttribute has set belongs to the kernel. */
	assert_int_equal(run.bundles[0]->kernels.items[0].max_dynamic_shared_bytes, 98304);
}

static void handle_comes_back_with_another_image(void **state)
{
	static const char *const all[] = {"KERNELAB_ORIGIN=all", "KERNELAB_CACHE_ROOTS=", NULL};
	const struct bundle *b;

	client_run(&run, "reloaded", "softmax_k", all);
	b = only_bundle();
	assert_int_equal(b->launches.count, 2);
	assert_int_not_equal(b->launches.items[0].kernel, b->launches.items[1].kernel);
	assert_int_equal(b->images.count, 2);
}

static void launch_error_passes_through(void **state)
{
	static const char *const env[] = {"FAKE_LAUNCH_FAILS=1", NULL};
	const struct record_after *after;

	client_run(&run, "fails", "softmax_k", env);
	after = bundle_after(only_bundle(), 1);
	assert_int_equal(after->result, 701);
	assert_int_equal(after->changes.count, 0);
}

static void failed_copy_is_noted(void **state)
{
	static const char *const env[] = {"FAKE_COPY_FAILS=1", NULL};
	const struct record_launch *l;

	client_run(&run, "extra", "softmax_k", env);
	l = &only_bundle()->launches.items[0];
	assert_true(l->flags & LAUNCH_CONTENTS_MISSING);
	assert_non_null(l->note);
	assert_non_null(strstr(l->regions.items[0].note, "copy failed"));
	assert_int_equal(l->regions.items[0].chunks.count, 0);
	assert_int_equal(class_sum(run.bundles[0], l->shape_class).recorded, 1);
}

static void origin_not_wanted(void **state)
{
	static const char *const env[] = {"KERNELAB_ORIGIN=inductor", NULL};

	client_run(&run, "basic", "softmax_k", env);
	assert_int_equal(run.status, 0);
	assert_int_equal(run.count, 0);
}

static void origin_named(void **state)
{
	static const char *const env[] = {"KERNELAB_ORIGIN_NAME=test", NULL};

	client_run(&run, "basic", "softmax_k", env);
	assert_int_equal(only_bundle()->images.items[0].origin, ORIGIN_TEST);
}

static void no_folder_stops_recording_only(void **state)
{
	static const char *const env[] = {"KERNELAB_OUTPUT=/nonexistent/folder", NULL};

	client_run(&run, "basic", "softmax_k", env);
	assert_int_equal(run.status, 0);
	assert_int_equal(run.count, 0);
}

static void probing_leaves_nothing(void **state)
{
	client_run(&run, "probe", "softmax_k", NULL);
	assert_int_equal(run.status, 0);
	assert_int_equal(run.count, 0);
}

/* ---- processes ---- */

/* The allocator of clang 14's AddressSanitizer can stay locked in the child of a fork. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FORK_HANGS 1
#endif
#endif

static void fork_has_its_own_bundle(void **state)
{
#ifdef FORK_HANGS
	skip();
#endif
	client_run(&run, "fork", "softmax_k", NULL);
	assert_int_equal(run.status, 0);
	assert_int_equal(run.count, 2);
	assert_int_not_equal(run.bundles[0]->runs.items[0].pid, run.bundles[1]->runs.items[0].pid);
	for (size_t i = 0; i < 2; i++) {
		const struct bundle *b = run.bundles[i];

		assert_true(b->complete);
		assert_int_equal(b->images.count, 1);
		assert_true(b->launches.count == 1 || b->launches.count == 2);
	}
	assert_int_equal(run.bundles[0]->launches.count + run.bundles[1]->launches.count, 3);
}

static void killed_leaves_whole_records(void **state)
{
	uint64_t seen = 0;
	char line[16];
	int out, pid = client_start(&run, "loop", "softmax_k", NULL, &out);
	struct bundle *b;

	assert_true(read(out, line, sizeof(line)) > 0);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &run.status, 0), pid);
	close(out);
	assert_true(WIFSIGNALED(run.status));
	client_open_bundles(&run);
	assert_int_equal(run.count, 1);
	b = run.bundles[0];
	assert_false(b->complete);
	assert_int_equal(b->images.count, 1);
	assert_true(b->launches.count >= 10); /* of 20 or more; what is under way is lost */
	assert_true(b->ends.count == 0);
	for (size_t i = 0; i < b->classes.count; i++)
		seen += b->classes.items[i].seen;
	assert_true(seen >= 256); /* the counts were written on the way */
	for (size_t i = 0; i + 1 < b->launches.count; i++)
		assert_non_null(bundle_after(b, b->launches.items[i].seq));
}

static void threads_count_and_record_once(void **state)
{
	struct record_class c;
	struct bundle *b;

	client_run(&run, "threads", "softmax_k", NULL);
	b = only_bundle();
	assert_int_equal(b->launches.count, 32);
	assert_int_equal(b->afters.count, 32);
	assert_int_equal(b->kernels.count, 1);
	for (size_t i = 0; i < 32; i++) {
		c = class_sum(b, b->launches.items[i].shape_class);
		assert_int_equal(c.recorded, 1);
		assert_true(c.seen == 24 || c.seen == 28); /* 200 = 6 × 32 + 8, by four threads */
	}
	assert_int_equal(b->ends.items[0].launches, 800);
}

static void full_disk_stops_recording_only(void **state)
{
	client_run(&run, "full", "softmax_k", NULL);
	assert_int_equal(run.status, 0);
	assert_int_equal(run.count, 1);
	assert_false(run.bundles[0]->complete);
	assert_int_equal(run.bundles[0]->images.count, 1);
	assert_int_equal(run.bundles[0]->launches.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(image_and_metadata, clean),
		cmocka_unit_test(name_of_the_test), /* cleans */
		cmocka_unit_test_teardown(classes_of_shape, clean),
		cmocka_unit_test_teardown(per_class, clean),
		cmocka_unit_test_teardown(launch_and_parameters, clean),
		cmocka_unit_test_teardown(contents_before_and_after, clean),
		cmocka_unit_test_teardown(no_data, clean),
		cmocka_unit_test_teardown(extra_buffer, clean),
		cmocka_unit_test_teardown(stream_capture, clean),
		cmocka_unit_test_teardown(tensor_maps, clean),
		cmocka_unit_test_teardown(mapped_memory_is_one_region, clean),
		cmocka_unit_test_teardown(region_too_large, clean),
		cmocka_unit_test_teardown(loaded_from_a_file, clean),
		cmocka_unit_test_teardown(too_many_classes, clean),
		cmocka_unit_test_teardown(other_functions_are_counted, clean),
		cmocka_unit_test_teardown(any_way_to_a_function, clean),
		cmocka_unit_test_teardown(fatbins_are_counted_by_name, clean),
		cmocka_unit_test_teardown(cooperative_launch, clean),
		cmocka_unit_test_teardown(launch_attributes, clean),
		cmocka_unit_test_teardown(handle_comes_back_with_another_image, clean),
		cmocka_unit_test_teardown(launch_error_passes_through, clean),
		cmocka_unit_test_teardown(failed_copy_is_noted, clean),
		cmocka_unit_test_teardown(origin_not_wanted, clean),
		cmocka_unit_test_teardown(origin_named, clean),
		cmocka_unit_test_teardown(no_folder_stops_recording_only, clean),
		cmocka_unit_test_teardown(probing_leaves_nothing, clean),
		cmocka_unit_test_teardown(fork_has_its_own_bundle, clean),
		cmocka_unit_test_teardown(threads_count_and_record_once, clean),
		cmocka_unit_test_teardown(full_disk_stops_recording_only, clean),
		cmocka_unit_test_teardown(killed_leaves_whole_records, clean),
	};

	return cmocka_run_group_tests_name("record", tests, NULL, NULL);
}
