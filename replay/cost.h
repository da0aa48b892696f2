/* SPDX-License-Identifier: MIT */
/* Where a replay's wall time goes, and the bytes that it moves. */
#ifndef REPLAY_COST_H
#define REPLAY_COST_H

#include <stdint.h>

/* E(id, name in facts, what it is). A process does one of them at a time. */
#define ACTIVITIES(E)                                                     \
	E(STARTING, starting, "the driver, its context and our kernels")  \
	E(HOST, host, "comparing and preparing on the CPU")               \
	E(WAITING, waiting, "for a job, or for a worker")                 \
	E(DISK, disk, "reading bundles, writing the result")              \
	E(LOADING, loading, "images into modules")                        \
	E(MAPPING, mapping, "device memory at recorded addresses")        \
	E(UPLOADING, uploading, "from the host to the device")            \
	E(RESTORING, restoring, "recorded contents, on the device")       \
	E(CHANGING, changing, "poison and changed inputs, on the device") \
	E(KERNELS, kernels, "of A and B")                                 \
	E(COMPARING, comparing, "on the device")                          \
	E(DOWNLOADING, downloading, "from the device to the host")        \
	E(HASHING, hashing, "of what is stored")                          \
	E(SENDING, sending, "from worker to parent")

enum activity {
#define E(id, name, text) ACTIVITY_##id,
	ACTIVITIES(E)
#undef E
		ACTIVITY_COUNT
};

/*
 * E(name, what it is). Of bytes, uploaded and downloaded ones cross PCIe; restored, changed and
 * kept ones go from one place on the device to another.
 */
#define COUNTS(E)                                              \
	E(trials, "restored, run and looked at")               \
	E(launches, "of kernels, those in a row included")     \
	E(uploaded_bytes, "host to device")                    \
	E(input_bytes, "of those, recorded contents")          \
	E(downloaded_bytes, "device to host")                  \
	E(restored_bytes, "recorded contents, on the device")  \
	E(changed_bytes, "poison and changed inputs, there")   \
	E(kept_bytes, "outputs copied there, to compare with") \
	E(compared_bytes, "looked at on the device")

struct cost {
	uint64_t ns[ACTIVITY_COUNT];
#define E(name, text) uint64_t name;
	COUNTS(E)
#undef E
};

void cost_add(struct cost *sum, const struct cost *c);
const char *activity_name(enum activity a);
const char *activity_text(enum activity a);

/* Charges the time since the last switch. The cost is borrowed. */
struct stopwatch {
	struct cost *cost;
	enum activity now;
	uint64_t since_ns;
};

void stopwatch_start(struct stopwatch *w, struct cost *cost, enum activity first);
/* Ends the present activity, begins the next; returns the one that ended, to go back to. */
enum activity stopwatch_switch(struct stopwatch *w, enum activity next);

#endif
