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

/* The words are the shapes of a product m×k by k×n, and nothing else. */
static bool is_product(int64_t (*shapes)[2], size_t count, int64_t m, int64_t n, int64_t k)
{
	const int64_t parts[3][2] = {{m, k}, {k, n}, {m, n}};
	unsigned seen = 0;

	for (size_t i = 0; i < count; i++) {
		unsigned mine = 0;

		for (unsigned p = 0; p < 3; p++)
			if (shapes[i][0] == parts[p][0] && shapes[i][1] == parts[p][1])
				mine |= 1u << p;
		if (!mine)
			return false;
		seen |= mine;
	}
	return seen == 7;
}

bool words_product(const char *options, int64_t out[3])
{
	struct word w[WORDS_MAX];
	size_t n = words_split(options, w), count = 0, found = 0;
	int64_t shapes[3][2], sizes[6];

	for (size_t i = 0; i < n; i++) {
		int64_t one[WORD_SIZES];
		size_t rank = word_sizes(&w[i], one);

		if (rank < 2)
			continue;
		if (rank > 2 || count == 3)
			return false;
		memcpy(shapes[count++], one, 2 * sizeof(*one));
	}
	memcpy(sizes, shapes, 2 * count * sizeof(*sizes));
	for (size_t i = 0; i < 8 * count * count * count; i++) {
		int64_t a = sizes[i % (2 * count)], b = sizes[i / (2 * count) % (2 * count)];
		int64_t c = sizes[i / (4 * count * count)];

		if (!is_product(shapes, count, a, b, c) ||
		    (found && out[0] == a && out[1] == b && out[2] == c))
			continue;
		if (found++)
			return false;
		out[0] = a;
		out[1] = b;
		out[2] = c;
	}
	return found == 1;
}
