/* SPDX-License-Identifier: MIT */
/* Many threads in the shim at once: nothing is lost, and no thread sees another's half-done work.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base.h"
#include "tests/shim/cmocka_all.h"
#include "tests/shim/run_client.h"

static unsigned long read_number(int fd)
{
	char text[64] = "";
	size_t n = 0;
	ssize_t r;

	while (n + 1 < sizeof(text) && (r = read(fd, text + n, sizeof(text) - 1 - n)) > 0)
		n += (size_t)r;
	close(fd);
	return strtoul(text, NULL, 10);
}

static void storm(const char *one, const char *two)
{
	const char *settings[] = {"KERNELAB_ORIGIN=all",
				  "KERNELAB_EXCLUDE=^counted",
				  "KERNELAB_SAMPLE=2,4,4",
				  "KERNELAB_SOFTGPU_LOG=quiet",
				  one,
				  two,
				  NULL};
	struct client_run run;
	int out, pid = client_start(&run, "storm", "softmax_k", settings, &out);
	unsigned long launches = read_number(out), counted = 0, mine = 0;
	uint64_t seen = 0, recorded = 0;
	const struct bundle *b;

	assert_int_equal(waitpid(pid, &run.status, 0), pid);
	/* ThreadSanitizer ends with 66 if it has found a race: its report is on stderr. */
	assert_int_equal(run.status, 0);
	client_open_bundles(&run);
	assert_int_equal(run.count, 1);
	b = run.bundles[0];
	assert_true(b->complete);
	assert_int_equal(b->ends.count, 1);
	assert_true(b->ends.items[0].clean);
	assert_int_equal(b->ends.items[0].launches, launches);
	for (size_t i = 0; i < b->classes.count; i++) {
		seen += b->classes.items[i].seen;
		recorded += b->classes.items[i].recorded;
	}
	for (size_t i = 0; i < b->unrecordeds.count; i++) {
		assert_int_equal(strncmp(b->unrecordeds.items[i].name, "counted_", 8), 0);
		counted += b->unrecordeds.items[i].launches;
	}
	assert_int_equal(recorded, b->launches.count);
	assert_int_equal(counted, 8 * 12 * 5);
	assert_int_equal(seen + counted, launches);
	/* Each of the 32 own images has two classes, whose first launch is recorded. */
	for (size_t i = 0; i < b->kernels.count; i++)
		mine += !strncmp(b->kernels.items[i].entry, "mine_", 5);
	assert_int_equal(mine, 32);
	client_clean(&run);
}

static void all_launches_are_accounted_for(void **state)
{
	storm(NULL, NULL);
}

/* Everybody waits for the one place in the ring, and each launch copies whole allocations. */
static void with_little_room(void **state)
{
	storm("KERNELAB_RING=1", "KERNELAB_EXTENTS=off");
}

static void without_pinned_memory(void **state)
{
	storm("KERNELAB_SOFTGPU_FAULT=cuMemHostRegister_v2:1+:2", "KERNELAB_SKIP_LAUNCHES=2");
}

static void while_the_run_starts_and_stops(void **state)
{
	storm("KERNELAB_START_AFTER=500", "KERNELAB_STOP_AFTER=2500");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_launches_are_accounted_for),
		cmocka_unit_test(with_little_room),
		cmocka_unit_test(without_pinned_memory),
		cmocka_unit_test(while_the_run_starts_and_stops),
	};

	/* The sanitizer's runtime cannot lay out its memory on every kernel. */
	if (getenv("PROBE") && system(getenv("PROBE")))
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
