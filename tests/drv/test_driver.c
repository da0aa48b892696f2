/* SPDX-License-Identifier: MIT */
/* The table of driver entries and the filling of its pointers. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "drv/driver.h"

/* Addresses that are never called: 4096 and up, in the order of the questions. */
static void *count_up(const char *name, void *data)
{
	const char *missing = ((const char **)data)[0];
	static uintptr_t next = 4096;

	return missing && !strcmp(name, missing) ? NULL : (void *)next++;
}

static void every_row_gets_its_own_pointer(void **state)
{
	const char *missing[] = {NULL};
	struct driver d;
	struct error err;

	assert_int_equal(driver_fill(&d, count_up, missing, &err), 0);
	for (unsigned i = 0; i + 1 < DRIVER_ENTRY_COUNT; i++)
		assert_int_equal((uintptr_t)driver_entry_address(&d, (enum driver_entry)i) + 1,
				 (uintptr_t)driver_entry_address(&d, (enum driver_entry)(i + 1)));
	assert_ptr_equal((void *)d.cuLaunchKernelEx,
			 driver_entry_address(&d, DRIVER_ENTRY_cuLaunchKernelEx));
	assert_null(driver_entry_address(&d, DRIVER_ENTRY_COUNT));
}

static void missing_required_entry_is_named(void **state)
{
	const char *missing[] = {"cuMemAlloc_v2"};
	struct driver d;
	struct error err;

	assert_int_equal(driver_fill(&d, count_up, missing, &err), -ENOSYS);
	assert_non_null(strstr(err.message, "cuMemAlloc_v2"));
	assert_null((void *)d.cuMemAlloc_v2);
	assert_non_null((void *)d.cuLaunchKernel); /* the rest is filled all the same */
}

static void missing_optional_entry_is_null(void **state)
{
	const char *missing[] = {"cuFuncGetParamInfo"};
	struct driver d;
	struct error err;

	assert_int_equal(driver_fill(&d, count_up, missing, &err), 0);
	assert_null((void *)d.cuFuncGetParamInfo);
}

static void names_and_uses(void **state)
{
	assert_string_equal(driver_entry_name(DRIVER_ENTRY_cuInit), "cuInit");
	assert_string_equal(driver_entry_name(DRIVER_ENTRY_COUNT), "?");
	assert_true(driver_entry_wrapped(DRIVER_ENTRY_cuModuleLoad));
	assert_false(driver_entry_wrapped(DRIVER_ENTRY_cuInit));
	assert_true(driver_entry_required(DRIVER_ENTRY_cuInit));
	assert_false(driver_entry_required(DRIVER_ENTRY_cuLaunchKernelEx));
}

static void library_that_is_not_there(void **state)
{
	struct driver d;
	struct error err;

	assert_int_equal(driver_open(&d, "libkernelab-no-such-driver.so.1", &err), -ENOENT);
	assert_non_null(strstr(err.message, "libkernelab-no-such-driver.so.1"));
	assert_int_equal(driver_open(&d, "libc.so.6", &err), -ENOSYS);
	assert_non_null(strstr(err.message, "cuInit"));
	assert_null(d.library);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_gets_its_own_pointer),
		cmocka_unit_test(missing_required_entry_is_named),
		cmocka_unit_test(missing_optional_entry_is_null),
		cmocka_unit_test(names_and_uses),
		cmocka_unit_test(library_that_is_not_there),
	};

	return cmocka_run_group_tests_name("driver", tests, NULL, NULL);
}
