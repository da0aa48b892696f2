/* SPDX-License-Identifier: MIT */
/* The worker's life: opens the device, serves one case after the other. */
#include "replay/runner.h"

#include <malloc.h>

#include "replay/table.h"
#include "replay/trials.h"

#define KEPT_BYTES (1ull << 29) /* of freed memory, kept for the next launch */

int worker_main(int fd, int ordinal, struct pulse *pulse, const struct plan *plan,
		const struct replay_options *options, const char *driver_path)
{
	static struct runner r;
	struct packet job = {0};
	enum wire_type type;

	r = (struct runner){
		.fd = fd, .ordinal = ordinal, .pulse = pulse, .plan = plan, .options = options};
	/* Pages come and go by the thousand: to give them back means to have them zeroed each time.
	 */
	mallopt(M_MMAP_THRESHOLD, 32 << 20);
	mallopt(M_TRIM_THRESHOLD, -1);
	mallopt(M_TOP_PAD, 16 << 20);
	stopwatch_start(&r.watch, &pulse->cost, ACTIVITY_STARTING);
	if (runner_open(&r, driver_path))
		return 1;
	for (;;) {
		stopwatch_switch(&r.watch, ACTIVITY_WAITING);
		if (r.lost || r.parent_gone || wire_receive(fd, &type, &job, NULL, NULL))
			break;
		stopwatch_switch(&r.watch, ACTIVITY_HOST);
		uint64_t number = packet_get_u64(&job), caution = packet_get_u64(&job);

		if (type != WIRE_JOB || job.bad || number >= plan->count ||
		    caution > CAUTION_NO_POISON)
			return 1;
		trials_run(&r, &plan->cases[number], (enum caution)caution);
		if (launch_region_bytes(plan->cases[number].launch) > KEPT_BYTES)
			malloc_trim(KEPT_BYTES);
	}
	return 0;
}
