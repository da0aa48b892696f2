/* SPDX-License-Identifier: MIT */
/* A client of the software device for tests: the driver, opened, with a current context. */
#ifndef TESTS_SOFTGPU_CLIENT_H
#define TESTS_SOFTGPU_CLIENT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "drv/driver.h"

extern struct driver cu;

/* Fails the test with the error's name. */
#define must(call) assert_string_equal(client_result(call), "CUDA_SUCCESS")
/* The call must return exactly that error: expect(CUDA_ERROR_INVALID_VALUE, cu.cuMemFree_v2(1)). */
#define expect(error, call) assert_string_equal(client_result(call), #error)

const char *client_result(CUresult r); /* its name */

/*
 * Opens the library named by KERNELAB_DRIVER, and makes the primary context current. cmocka's group
 * set-up: returns -1 on failure, with a message.
 */
int client_open(void **state);

/* tests/data/softgpu/NAME whole, malloc'ed, NUL behind; fails the test. KERNELAB_TEST_DATA is the
 * folder. */
char *client_data(const char *name, size_t *size);

CUdeviceptr client_allocate(size_t bytes);
CUfunction client_function(CUmodule module, const char *name);

#endif
