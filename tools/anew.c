/* SPDX-License-Identifier: MIT */
/* The same command line once more, in a process that has another layout of addresses. */
#include "tools/anew.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base.h"
#include "lib/environment.h"

#define PROGRAM "/proc/self/exe"

struct words {
	char **items; /* ended by NULL */
	size_t count, capacity;
};

static void words_free(struct words *w)
{
	for (size_t i = 0; i < w->count; i++)
		free(w->items[i]);
	free(w->items);
	*w = (struct words){0};
}

/* As it was given: main's argv is reordered by now. */
static int command_line(struct words *out)
{
	FILE *f = fopen("/proc/self/cmdline", "re");
	size_t size = 0;
	int rc = f ? 0 : -errno;

	*out = (struct words){0};
	while (!rc) {
		char *word = NULL;

		rc = array_reserve(&out->items, out->count, &out->capacity, sizeof(*out->items));
		size = 0;
		if (!rc && getdelim(&word, &size, '\0', f) < 0) {
			out->items[out->count] = NULL;
			free(word);
			break;
		}
		if (!rc)
			out->items[out->count++] = word;
	}
	if (f)
		fclose(f);
	return rc;
}

static bool is_pipe(const char *path)
{
	struct stat st;

	return !stat(path, &st) && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

static bool names_pipe(const struct words *w)
{
	for (size_t i = 0; i < w->count; i++) {
		const char *value = strchr(w->items[i], '=');

		if (is_pipe(w->items[i]) || (value && is_pipe(value + 1)))
			return true;
	}
	return false;
}

static unsigned long starts_before(void)
{
	const char *text = environment_get(ENVIRONMENT_STARTS);

	return text ? strtoul(text, NULL, 10) : 0;
}

bool anew_may(void)
{
	struct words w;
	bool may = starts_before() < ANEW_MOST - 1 && !access(PROGRAM, X_OK) &&
		   !((unsigned)personality(0xffffffff) & ADDR_NO_RANDOMIZE) && !command_line(&w) &&
		   w.count;

	if (may) {
		may = !names_pipe(&w);
		words_free(&w);
	}
	return may;
}

int anew_start(void)
{
	struct words w;
	char number[24];
	int rc = command_line(&w);

	snprintf(number, sizeof(number), "%lu", starts_before() + 1);
	if (!rc && setenv(environment_name(ENVIRONMENT_STARTS), number, 1))
		rc = -errno;
	if (!rc) {
		fflush(NULL);
		execv(PROGRAM, w.items);
		rc = -errno;
	}
	words_free(&w);
	return rc;
}
