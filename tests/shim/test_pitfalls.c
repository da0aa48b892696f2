/* SPDX-License-Identifier: MIT */
/* What has broken other recorders (docs/pitfalls.md) and has no test of its own elsewhere. */
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "tests/shim/cmocka_all.h"
#include "tests/shim/run_client.h"

static struct client_run run;

static int clean(void **state)
{
	client_clean(&run);
	return 0;
}

static const struct bundle *record(const char *mode, const char *more)
{
	const char *environment[] = {"KERNELAB_ORIGIN=all", "KERNELAB_SOFTGPU_LOG=quiet", more,
				     NULL};

	client_run(&run, mode, "softmax_k", environment);
	assert_int_equal(run.status, 0);
	assert_int_equal(run.count, 1);
	assert_true(run.bundles[0]->complete);
	return run.bundles[0];
}

/* Identity is image and entry, and a handle leads to its image however it was got. */
static void swapped_functions(void **state)
{
	const struct bundle *b = record("swapped", NULL);
	const struct record_kernel *k = b->kernels.items;
	uint64_t seen[2] = {0};

	assert_int_equal(b->images.count, 2);
	assert_int_equal(b->kernels.count, 2);
	assert_string_equal(k[0].entry, "triton_");
	assert_string_equal(k[1].entry, "triton_");
	assert_true(hash_equal(k[0].image, b->images.items[0].id));
	assert_true(hash_equal(k[1].image, b->images.items[1].id));
	assert_int_equal(b->launches.count, 2);
	assert_int_equal(b->launches.items[0].kernel, k[0].number);
	assert_int_equal(b->launches.items[1].kernel, k[1].number);
	assert_int_equal(b->unrecordeds.count, 0);
	for (size_t i = 0; i < b->classes.count; i++)
		seen[b->classes.items[i].kernel == k[1].number] += b->classes.items[i].seen;
	assert_int_equal(seen[0], 1);
	assert_int_equal(seen[1], 2);
}

static void more_launches_than_16_bits(void **state)
{
	const struct bundle *b = record("many", NULL);
	uint64_t seen = 0;

	for (size_t i = 0; i < b->classes.count; i++)
		seen += b->classes.items[i].seen;
	assert_int_equal(seen, 70000);
	assert_int_equal(b->ends.items[0].launches, 70000);
}

static void records_larger_than_16_bits(void **state)
{
	const struct bundle *b = record("large", "KERNELAB_EXTENTS=off");
	const struct record_launch *l = b->launches.items;

	assert_int_equal(b->launches.count, 1);
	assert_int_equal(l->params.size, 16000);
	assert_int_equal(l->regions.count, 2000);
	assert_int_equal(l->flags, 0);
	assert_non_null(bundle_after(b, l->seq));
}

static void image_files_that_vanish(void **state)
{
	const struct bundle *b = record("vanishing", NULL);
	_cleanup_free_ char *path = cache_cubin("softmax_k"), *data = NULL;
	size_t size;

	assert_int_equal(file_read_all(path, 1 << 20, &data, &size), 0);
	assert_int_equal(b->images.count, 1);
	assert_true(hash_equal(b->images.items[0].id, hash_bytes(data, size)));
	assert_int_equal(b->images.items[0].size, size);
	assert_int_equal(b->launches.count, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(swapped_functions, clean),
		cmocka_unit_test_teardown(more_launches_than_16_bits, clean),
		cmocka_unit_test_teardown(records_larger_than_16_bits, clean),
		cmocka_unit_test_teardown(image_files_that_vanish, clean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
