/* SPDX-License-Identifier: MIT */
/* Names and processes of Inductor's compile-time benchmarks (torch/_inductor/select_algorithm.py,
 * autotune_process.py). */
#include "shim/benchmarks.h"

#include <pthread.h>
#include <string.h>

#include "lib/base.h"

#define COMMAND_MAX (1u << 20)

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool worker;

static void look(void)
{
	static const char name[] = "/_inductor/__autotune_main__.py";
	_cleanup_free_ char *command = NULL;
	size_t size = 0;

	if (!file_read_all("/proc/self/cmdline", COMMAND_MAX, &command, &size))
		worker = memmem(command, size, name, sizeof(name)) != NULL;
}

bool benchmarks_process(void)
{
	pthread_once(&once, look);
	return worker;
}

bool benchmarks_kernel(const struct kernel *k)
{
	static const char *const templates[] = {"mm",    "bmm",     "addmm",    "baddbmm",   "conv",
						"flex_", "scaled_", "grouped_", "blackwell_"};

	if (!k->image || k->image->origin != ORIGIN_INDUCTOR)
		return false;
	if (benchmarks_process())
		return true;
	if (strncmp(k->entry, "triton_", 7) != 0)
		return false;
	for (size_t i = 0; i < ARRAY_LENGTH(templates); i++)
		if (!strncmp(k->entry + 7, templates[i], strlen(templates[i])))
			return true;
	return false;
}
