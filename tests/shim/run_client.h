/* SPDX-License-Identifier: MIT */
/* Runs the client under the preload in a folder of its own and opens what it left. */
#ifndef TESTS_SHIM_RUN_CLIENT_H
#define TESTS_SHIM_RUN_CLIENT_H

#include <stddef.h>

#include "kernelab/bundle.h"

#define BUNDLES_MAX 4

struct client_run {
	char folder[64];
	int status; /* as waitpid gives it */
	struct bundle *bundles[BUNDLES_MAX];
	size_t count;
};

/* CLIENT, SHIM, FAKE and CACHE come from the environment of the test. */
const char *setting(const char *name);
/* Path of <entry>.cubin in the test's cache folder, malloc'ed. */
char *cache_cubin(const char *entry);

/* environment: "NAME=value" texts, ended by NULL; may be NULL. */
void client_run(struct client_run *run, const char *mode, const char *entry,
		const char *const *environment);
/* Starts it only; *out reads its standard output. Returns the process. */
int client_start(struct client_run *run, const char *mode, const char *entry,
		 const char *const *environment, int *out);
void client_open_bundles(struct client_run *run);
/* Closes the bundles and removes the folder. */
void client_clean(struct client_run *run);

#endif
