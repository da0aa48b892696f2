/* SPDX-License-Identifier: MIT */
/* Messages of the software device. It is a driver, so only what a person must know is said. */
#include "softgpu/log.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static _Atomic int max_level = SOFTGPU_LOG_ERROR;

void softgpu_log_set_level(enum softgpu_log_level level)
{
	max_level = level;
}

void softgpu_log(enum softgpu_log_level level, const char *format, ...)
{
	static const char prefix[] = "kernelab softgpu: ";
	int saved = errno;
	char line[1024];
	size_t used = sizeof(prefix) - 1;
	va_list args;
	int n;

	if ((int)level > max_level)
		return;
	__builtin_memcpy(line, prefix, used);
	va_start(args, format);
	n = vsnprintf(line + used, sizeof(line) - used - 1, format, args);
	va_end(args);
	if (n > 0)
		used += (size_t)n < sizeof(line) - used - 1 ? (size_t)n : sizeof(line) - used - 2;
	line[used++] = '\n';
	if (write(STDERR_FILENO, line, used) < 0) {
		/* Nobody to tell. */
	}
	errno = saved;
}
