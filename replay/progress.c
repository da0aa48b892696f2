/* SPDX-License-Identifier: MIT */
/* How far a long replay is: one line rewritten on a terminal, plain lines elsewhere. */
#include "replay/progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "replay/wire.h"

#define TERMINAL_NS 200000000ull
#define PLAIN_NS    10000000000ull

/* Progress is not worth an error: a short write is lost. */
static void put(const struct progress *p, const char *text)
{
	if (p->fd >= 0 && write(p->fd, text, strlen(text)) < 0)
		return;
}

void progress_start(struct progress *p, int fd, size_t total, const char *unit)
{
	*p = (struct progress){.fd = fd, .unit = unit, .total = total, .start_ns = monotonic_ns()};
	p->terminal = fd >= 0 && isatty(fd);
	p->shown_ns = p->start_ns;
}

static void show(struct progress *p, const char *what, uint64_t now)
{
	double seconds = (double)(now - p->start_ns) * 1e-9;
	double rate = seconds > 0 ? (double)p->done / seconds : 0;
	double share = p->total_bytes ? (double)p->done_bytes / (double)p->total_bytes
				      : (double)p->done / (double)(p->total ? p->total : 1);
	double left = share > 0 ? seconds / share - seconds : 0;
	char line[240], gigabytes[48] = "";

	if (p->total_bytes)
		snprintf(gigabytes, sizeof(gigabytes), ", %.2f of %.2f GB",
			 (double)p->done_bytes * 1e-9, (double)p->total_bytes * 1e-9);

	snprintf(line, sizeof(line), "%sreplay: %zu of %zu %s%s, %.1f/s, %.0f s left  %.60s%s",
		 p->terminal ? "\r\033[K" : "", p->done, p->total, p->unit, gigabytes, rate, left,
		 what, p->terminal ? "" : "\n");
	put(p, line);
	p->shown_ns = now;
}

void progress_bytes(struct progress *p, uint64_t total)
{
	p->total_bytes = total;
}

void progress_step(struct progress *p, const char *what)
{
	uint64_t now = monotonic_ns();

	p->done++;
	if (p->fd >= 0 && now - p->shown_ns >= (p->terminal ? TERMINAL_NS : PLAIN_NS))
		show(p, what, now);
}

void progress_note(struct progress *p, const char *format, ...)
{
	char text[400], line[440];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	snprintf(line, sizeof(line), "%skernelab: %s\n", p->terminal ? "\r\033[K" : "", text);
	put(p, line);
}

void progress_end(struct progress *p)
{
	if (p->terminal)
		put(p, "\r\033[K");
}
