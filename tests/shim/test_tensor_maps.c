/* SPDX-License-Identifier: MIT */
/* How far the tensor behind a TMA descriptor reaches, and why that is not known. */
#include <pthread.h>
#include <string.h>

#include "shim/recorder.h"
#include "shim/tensor_maps.h"
#include "tests/shim/cmocka_all.h"

pthread_mutex_t recorder_table_lock = PTHREAD_MUTEX_INITIALIZER;

static const cuuint64_t dims[] = {100, 7, 3}, strides[] = {512, 8192};
static const cuuint32_t ones[] = {1, 1, 1};

static CUtensorMap encoded(unsigned char mark, cuuint32_t rank, CUtensorMapInterleave interleave)
{
	struct tensor_map_arguments a = {.data_type = CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
					 .rank = rank,
					 .address = (void *)0x7000,
					 .dims = dims,
					 .strides = strides,
					 .box = ones,
					 .element_strides = ones,
					 .interleave = interleave};
	CUtensorMap map;

	memset(&map, mark, sizeof(map));
	tensor_maps_encoded(&map, &a);
	return map;
}

static void extents(void **state)
{
	CUtensorMap map = encoded(1, 3, CU_TENSOR_MAP_INTERLEAVE_NONE);
	uint64_t address = 0, size = 0;

	assert_null(tensor_maps_extent(&map, &address, &size));
	assert_int_equal(address, 0x7000);
	assert_int_equal(size, 200 + 6 * 512 + 2 * 8192);
	map = encoded(2, 1, CU_TENSOR_MAP_INTERLEAVE_NONE);
	assert_null(tensor_maps_extent(&map, &address, &size));
	assert_int_equal(size, 200);
}

static void reasons(void **state)
{
	CUtensorMap map = encoded(3, 3, CU_TENSOR_MAP_INTERLEAVE_16B);
	uint64_t address = 0, size = 0;

	assert_non_null(strstr(tensor_maps_extent(&map, &address, &size), "interleaved"));
	memset(&map, 4, sizeof(map));
	assert_non_null(strstr(tensor_maps_extent(&map, &address, &size), "not seen"));
	assert_int_equal(size, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(extents),
		cmocka_unit_test(reasons),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
