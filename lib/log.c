/* SPDX-License-Identifier: MIT */
/* Messages of the commands on stderr, one write(2) a line. */
#include "lib/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "lib/base.h"
#include "lib/environment.h"

static const char *const names[] = {"error", "warning", "info", "debug"};
static int current = -1; /* not looked up yet */

void log_set_level(enum log_level level)
{
	current = (int)level;
}

enum log_level log_get_level(void)
{
	const char *value;

	if (current >= 0)
		return (enum log_level)current;
	current = LOG_WARNING;
	value = environment_get(ENVIRONMENT_LOG);
	for (size_t i = 0; value && i < ARRAY_LENGTH(names); i++)
		if (!strcasecmp(value, names[i]))
			current = (int)i;
	return (enum log_level)current;
}

void log_print(enum log_level level, const char *format, ...)
{
	_cleanup_free_ char *message = NULL;
	_cleanup_free_ char *line = NULL;
	int saved = errno;
	va_list ap;
	int n;

	if (level > log_get_level())
		return;
	va_start(ap, format);
	n = vasprintf(&message, format, ap);
	va_end(ap);
	if (n < 0) {
		message = NULL;
		return;
	}
	line = text_format("kernelab: %s: %s\n", names[level], message);
	for (const char *p = line; p && *p;) {
		ssize_t written = write(STDERR_FILENO, p, strlen(p));

		if (written < 0 && errno != EINTR)
			break;
		if (written > 0)
			p += written;
	}
	errno = saved;
}
