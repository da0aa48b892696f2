/* SPDX-License-Identifier: MIT */
/* Bundles of every released format version read as they did when they were written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernelab/bundle.h"
#include "lib/base.h"
#include "lib/bundle/codec.h"
#include "lib/bundle/verify.h"
#include "tests/lib/dump.h"

static char *golden_path(const char *name)
{
	const char *folder = getenv("KERNELAB_TEST_DATA");

	assert_non_null(folder);
	return text_format("%s/bundle/%s", folder, name);
}

static void version_1(void **state)
{
	_cleanup_free_ char *path = golden_path("v1.klab");
	_cleanup_free_ char *text_path = golden_path("v1.txt");
	_cleanup_free_ char *wanted = NULL;
	_cleanup_free_ char *text = NULL;
	size_t wanted_size, size;
	struct bundle *b;
	struct error err;
	FILE *to;

	if (bundle_open(&b, path, &err))
		fail_msg("%s", err.message);
	assert_true(b->complete);
	assert_int_equal(b->version, 1);
	assert_int_equal(file_read_all(text_path, 1 << 20, &wanted, &wanted_size), 0);
	to = open_memstream(&text, &size);
	bundle_dump(b, to);
	fclose(to);
	assert_string_equal(text, wanted);
	/* not vacuous: each type of version 1 is in it */
	for (uint32_t type = RECORD_TYPE_RUN; type <= RECORD_TYPE_END; type++)
		assert_int_equal(
			((const struct counted *)(const void *)((const char *)b +
								codec_record(type)->array_offset))
				->count,
			2);
	assert_int_equal(b->trials.count, 2);
	bundle_close(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(version_1),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
