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

struct cost {
	uint64_t ns[ACTIVITY_COUNT];
	uint64_t trials;         /* restored, run and looked at once */
	uint64_t launches;       /* of a recorded kernel's image: more where several are in a row */
	uint64_t uploaded_bytes; /* over PCIe to the device */
	uint64_t input_bytes;    /* of those, unique recorded contents */
	uint64_t downloaded_bytes; /* over PCIe to the host */
	uint64_t restored_bytes;   /* recorded contents, from one place on the device to another */
	uint64_t changed_bytes;    /* there: poison, and inputs that were changed */
	uint64_t kept_bytes;       /* there: outputs, for later runs to be compared with */
	uint64_t compared_bytes;   /* of device memory looked at by the compare kernel */
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
