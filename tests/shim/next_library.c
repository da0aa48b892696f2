/* SPDX-License-Identifier: MIT */
/*
 * One of several libraries that define the same function and call the next one's, as interposers
 * do. Built with and without optimisation.
 */
#include <dlfcn.h>
#include <string.h>

int chained(void);

/* How many there are from here on; far below 0 if the loader thought that somebody else had asked.
 */
static int here(void)
{
	void *found = dlsym(RTLD_NEXT, "chained");
	int (*next)(void);

	if (!found)
		return 1;
	memcpy(&next, &found, sizeof(next));
	return next == here ? -1000 : 1 + next();
}

__attribute__((visibility("default"), alias("here"))) int chained(void);
