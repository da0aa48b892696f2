/* SPDX-License-Identifier: MIT */
/* Which of a driver's devices a replay uses. */
#include "replay/devices.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static int add(struct devices *out, unsigned long ordinal, size_t there, const char *text,
	       struct error *err)
{
	for (size_t i = 0; i < out->count; i++)
		if ((unsigned long)out->items[i] == ordinal)
			return error_set(err, EINVAL, ERROR_NO_OFFSET,
					 "--devices %s: device %lu stands there twice", text,
					 ordinal);
	if (ordinal >= there || out->count == DEVICES_MOST)
		return error_set(
			err, EINVAL, ERROR_NO_OFFSET,
			"--devices %s: there is no device %lu, the driver has %zu, counted from 0",
			text, ordinal, there);
	out->items[out->count++] = (int)ordinal;
	return 0;
}

static bool read_number(const char **at, unsigned long *out)
{
	char *end;

	if (!isdigit((unsigned char)**at))
		return false;
	*out = strtoul(*at, &end, 10);
	*at = end;
	return *out <= 4096;
}

static int malformed(const char *text, struct error *err)
{
	return error_set(err, EINVAL, ERROR_NO_OFFSET,
			 "--devices %s: all, a number of devices, or a list as 0,2 or 1-3", text);
}

/* "0,2-3" */
static int parse_list(struct devices *out, const char *text, size_t there, struct error *err)
{
	const char *at = text;

	for (;;) {
		unsigned long first, last;
		int rc = 0;

		if (!read_number(&at, &first))
			return malformed(text, err);
		last = first;
		if (*at == '-') {
			at++;
			if (!read_number(&at, &last) || last < first)
				return malformed(text, err);
		}
		for (unsigned long i = first; !rc && i <= last; i++)
			rc = add(out, i, there, text, err);
		if (rc || !*at)
			return rc;
		if (*at++ != ',')
			return malformed(text, err);
	}
}

int devices_parse(struct devices *out, const char *text, size_t there, struct error *err)
{
	const char *at = text;
	unsigned long count = 1;
	int rc = 0;

	*out = (struct devices){0};
	if (text && strpbrk(text, ",-"))
		return parse_list(out, text, there, err);
	if (text && !strcmp(text, "all"))
		count = there < DEVICES_MOST ? there : DEVICES_MOST;
	else if (text && (!read_number(&at, &count) || *at || !count))
		return malformed(text, err);
	for (unsigned long i = 0; !rc && i < count; i++)
		rc = add(out, i, there, text ? text : "1", err);
	return rc;
}
