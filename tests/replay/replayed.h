/* SPDX-License-Identifier: MIT */
/* Whole replays of fixtures, and what the checks look at. Fails the test that calls. */
#ifndef TESTS_REPLAY_REPLAYED_H
#define TESTS_REPLAY_REPLAYED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>

#include "replay/replay.h"
#include "tests/replay/fixture.h"

/* Paths in the group's folder: two captures and the result of the last replay. */
extern char a_path[64], b_path[64], result_path[64];
extern struct bundle *result;
extern struct replay_summary summary;

void open_result(void);
/* With KERNELAB_TEST_GPU=1 the same on a real device. */
bool on_gpu(void);
int run(struct replay_options *o);
void replay(const struct fixture *a, const struct fixture *b);
int close_result(void **state);
const struct record_trial *trial(enum side side, enum trial_kind kind, uint32_t index);
/* Repeats and poison. */
size_t count_trials(enum side side);
/* The one extent: Y, whole. */
const struct record_case *check_case(enum fidelity fidelity);
void check_extent(const struct record_case *c, uint32_t flags);
bool same_contents(const struct record_trial *x, const struct record_trial *y);
/* Element i of Y after the trial. */
float value(const struct record_trial *t, uint32_t i);
int make_folder(void **state);
int remove_folder(void **state);

/* Runs a group; exit status 77 where a GPU is wanted (KERNELAB_TEST_GPU=1) and there is none. */
int run_group(const struct CMUnitTest *tests, size_t count);

#endif
