/* SPDX-License-Identifier: MIT */
/* A launch set up on the CPU: a side's PTX, and the recorded contents as its memory. */
#ifndef REPLAY_STAGE_H
#define REPLAY_STAGE_H

#include "kernelab/error.h"
#include "replay/bind.h"
#include "replay/contents.h"
#include "softgpu/machine.h"

struct stage {
	struct ptx_module *module;
	const struct ptx_entry *entry;
	struct memory_range *ranges; /* copies, at the recorded addresses */
	size_t range_count;
	uint8_t *params;
};

/*
 * Parses and lays out. 0; -ENOTSUP with err where this launch cannot run here; -ENOMEM. *s holds
 * zeros; stage_close is due in any case.
 */
int stage_open(struct stage *s, const struct contents *c, const struct bound *b, const char *ptx,
	       size_t size, struct error *err);
void stage_close(struct stage *s);

/* What is launched; ranges and parameters are the stage's. */
struct machine_launch stage_launch(const struct stage *s, const struct bound *b);

#endif
