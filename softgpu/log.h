/* SPDX-License-Identifier: MIT */
/* Messages of the software device on stderr: "kernelab softgpu: …". */
#ifndef SOFTGPU_LOG_H
#define SOFTGPU_LOG_H

#include <stdarg.h>

enum softgpu_log_level {
	SOFTGPU_LOG_QUIET,
	SOFTGPU_LOG_ERROR, /* faults, refused images and launches, what is not supported */
	SOFTGPU_LOG_INFO   /* also what is accepted without effect */
};

/* Levels above `level` are dropped. The default is SOFTGPU_LOG_ERROR. */
void softgpu_log_set_level(enum softgpu_log_level level);

/* One line, newline added, one write(2). Keeps errno. Any thread. */
__attribute__((format(printf, 2, 3))) void softgpu_log(enum softgpu_log_level level,
						       const char *format, ...);

#endif
