/* SPDX-License-Identifier: MIT */
/* Runs PTX texts on the machine without the driver API, for tests. */
#ifndef TESTS_SOFTGPU_MACHINE_CLIENT_H
#define TESTS_SOFTGPU_MACHINE_CLIENT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "softgpu/machine.h"

#define BUFFERS_MAX 16
/* Where buffer i lies for the device: far apart, so that overruns hit nothing. */
#define BUFFER_ADDRESS(i) (0x7f0000000000ull + ((uint64_t)(i) << 32))

struct job {
	const char *entry; /* NULL: the first */
	uint32_t grid, block, shared;
	void *buffers[BUFFERS_MAX];
	size_t sizes[BUFFERS_MAX];
	unsigned buffer_count;
	const void *params;
	uint64_t seed, quota;
	enum machine_contract contract;
	struct machine_races *races;
	const uint64_t *blocks;
	size_t block_count;
	struct shadow *shadow;
	struct machine_fault fault;
	struct machine_counts counts;
};

/* Parses or fails the test with the parser's message. */
struct ptx_module *job_module(const char *text);
/* Module globals get buffers of their own. Returns the fault's kind. */
enum machine_fault_kind job_run_module(struct job *j, struct ptx_module *m);
enum machine_fault_kind job_run(struct job *j, const char *text);
/* Fails the test with the fault's message if there is one. */
void job_must_run(struct job *j, const char *text);

/* A kernel of three parameters (in, in2, out pointers) around the body, with registers of all
 * kinds. */
char *kernel_around(const char *body);

/* The file NAME in the folder that the environment's KERNELAB_TEST_DATA names; NUL behind. */
char *test_data(const char *name);

/* The same numbers on every machine (xorshift). */
uint64_t test_random(uint64_t *state);
float test_float(uint64_t *state); /* in [-1, 1) */

#endif
