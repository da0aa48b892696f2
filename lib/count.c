/* SPDX-License-Identifier: MIT */
/* Parses whole numbers with a suffix. */
#include "lib/count.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int count_parse(const char *text, uint64_t *out)
{
	static const char suffixes[] = "KMGT";
	unsigned long long value;
	unsigned shift = 0;
	char *end;
	int saved = errno;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno) {
		errno = saved;
		return -ERANGE;
	}
	errno = saved;
	if (*end) {
		const char *suffix = strchr(suffixes, *end);

		if (!suffix || end[1])
			return -EINVAL;
		shift = 10 * (unsigned)(suffix - suffixes + 1);
	}
	if (shift && value >> (64 - shift))
		return -ERANGE;
	*out = (uint64_t)value << shift;
	return 0;
}
