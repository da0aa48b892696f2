/* SPDX-License-Identifier: MIT */
/* Well-formed UTF-8 as in table 3-7 of the Unicode standard: no overlong forms, no surrogates. */
#include "lib/bundle/utf8.h"

#include <stdlib.h>
#include <string.h>

size_t utf8_sequence(const char *text, size_t size)
{
	const unsigned char *s = (const unsigned char *)text;
	unsigned char low = 0x80, high = 0xbf;
	size_t length;

	if (!size)
		return 0;
	if (s[0] < 0x80)
		return 1;
	if (s[0] >= 0xc2 && s[0] <= 0xdf)
		length = 2;
	else if (s[0] >= 0xe0 && s[0] <= 0xef)
		length = 3;
	else if (s[0] >= 0xf0 && s[0] <= 0xf4)
		length = 4;
	else
		return 0;
	if (size < length)
		return 0;
	if (s[0] == 0xe0)
		low = 0xa0;
	else if (s[0] == 0xed)
		high = 0x9f;
	else if (s[0] == 0xf0)
		low = 0x90;
	else if (s[0] == 0xf4)
		high = 0x8f;
	if (s[1] < low || s[1] > high)
		return 0;
	for (size_t i = 2; i < length; i++)
		if (s[i] < 0x80 || s[i] > 0xbf)
			return 0;
	return length;
}

size_t utf8_valid(const char *text, size_t size)
{
	size_t at = 0;

	while (at < size) {
		size_t n = utf8_sequence(text + at, size - at);

		if (!n)
			break;
		at += n;
	}
	return at;
}

char *utf8_repair(const char *text, size_t size, size_t *repaired_bytes)
{
	char *out, *to;

	if (size > (SIZE_MAX - 1) / 3)
		return NULL;
	to = out = malloc(size * 3 + 1);
	if (!out)
		return NULL;
	for (size_t at = 0; at < size;) {
		size_t n = utf8_sequence(text + at, size - at);

		memcpy(to, n ? text + at : "\xef\xbf\xbd", n ? n : 3);
		to += n ? n : 3;
		at += n ? n : 1;
	}
	*to = 0;
	*repaired_bytes = (size_t)(to - out);
	return out;
}
