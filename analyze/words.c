/* SPDX-License-Identifier: MIT */
/* The texts for people that a result holds of configs and launches, cut into words. */
#include "analyze/words.h"

#include <string.h>

size_t words_split(const char *text, struct word out[WORDS_MAX])
{
	size_t n = 0;

	for (const char *p = text ? text : ""; n < WORDS_MAX;) {
		const char *end, *equals;

		p += strspn(p, " ");
		if (!*p)
			break;
		end = p + strcspn(p, " ");
		equals = memchr(p, '=', (size_t)(end - p));
		out[n] = (struct word){.name = p, .name_length = (int)(end - p)};
		if (equals) {
			out[n].name_length = (int)(equals - p);
			out[n].value = equals + 1;
			out[n].value_length = (int)(end - equals - 1);
		}
		n++;
		p = end;
	}
	return n;
}

bool words_equal(const char *x, int nx, const char *y, int ny)
{
	return nx == ny && !memcmp(x, y, (size_t)nx);
}

bool word_whole(const char *text, int length, int64_t *out)
{
	int i = length > 0 && *text == '-';
	int64_t v = 0;

	if (length - i < 1 || length - i > 18)
		return false;
	for (int k = i; k < length; k++) {
		if (text[k] < '0' || text[k] > '9')
			return false;
		v = v * 10 + (text[k] - '0');
	}
	*out = i ? -v : v;
	return true;
}

bool word_address(const char *text, int length, int64_t *out)
{
	uint64_t v = 0;

	if (length < 3 || length > 18 || text[0] != '0' || text[1] != 'x')
		return false;
	for (int i = 2; i < length; i++) {
		int c = text[i] | 0x20;

		if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
			return false;
		v = v << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	*out = (int64_t)v;
	return true;
}

size_t word_sizes(const struct word *w, int64_t out[WORD_SIZES])
{
	size_t n = 0;

	if (w->value)
		return 0;
	for (int at = 0; at <= w->name_length && n < WORD_SIZES;) {
		int end = at;

		while (end < w->name_length && w->name[end] != 'x')
			end++;
		if (!word_whole(w->name + at, end - at, &out[n]) || out[n] < 1)
			return 0;
		n++;
		at = end + 1;
	}
	return n;
}
