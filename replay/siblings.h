/* SPDX-License-Identifier: MIT */
/* Synthetic siblings: A's kernels compiled with other num_warps, for the noise floor alone. */
#ifndef REPLAY_SIBLINGS_H
#define REPLAY_SIBLINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "kernelab/error.h"
#include "replay/pair.h"
#include "replay/source.h"

#define SIBLINGS_MOST 2 /* of one kernel: num_warps halved, and doubled */

struct siblings {
	struct source *sources[SIBLINGS_MOST]; /* of A's images made anew; NULL: none */
	char *told; /* for the result: with what compiler, how many; NULL: nobody asked */
};

struct siblings_request {
	const char *python;     /* whose Triton compiles them; NULL: no siblings */
	const struct source *a; /* side A, whose Triton IR or noted Python source is compiled */
	const struct pairs *pairs;
	const bool *selected; /* of the pairs, one each */
	int progress_fd;
	const volatile int *stop;
	int argc; /* the command line, for the records */
	char **argv;
};

/*
 * Compiles, with num_warps halved and doubled, A's kernel of each selected pair that has none of
 * its own: no other config of its family was recorded with a launch. A pair with equal machine code
 * on both sides needs none. What cannot be made is left out, and told on progress_fd where that is
 * all of them. 0, or -errno with err: no such Triton, no memory, -EINTR.
 */
int siblings_open(struct siblings *s, const struct siblings_request *request, struct error *err);
void siblings_close(struct siblings *s);

/* Sibling `index` of a kernel of A, in s->sources[index]; NULL: there is none. */
const struct suite_member *siblings_find(const struct siblings *s, size_t index,
					 const struct suite_member *a);

#endif
