/* SPDX-License-Identifier: MIT */
/* One value of each launch of a family, and the traits that its values give. */
#include "analyze/column.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analyze/words.h"
#include "lib/base.h"

#define TEXT_BYTES 200
/* Different values of a column, beyond which only thresholds are taken. */
#define EQUALITY_MAX 64u

int trait_add(struct traits *t, int rank, bool of_config, unit_test *test, const void *data,
	      const char *format, ...)
{
	struct trait x = {.rank = rank,
			  .of_config = of_config,
			  .of_order = rank == RANK_ORDER,
			  .of_sides = rank >= RANK_PTX,
			  .found = t->count};
	size_t n = 0;
	va_list args;
	int length;

	x.holds = calloc(t->unit_count / 64 + 1, sizeof(*x.holds));
	if (!x.holds)
		return -ENOMEM;
	for (size_t i = 0; i < t->unit_count; i++)
		if (test(t, i, data)) {
			x.holds[i / 64] |= UINT64_C(1) << i % 64;
			n++;
		}
	if (!n || n == t->unit_count) {
		free(x.holds);
		return 0;
	}
	va_start(args, format);
	length = vasprintf(&x.text, format, args);
	va_end(args);
	if (length < 0 || array_reserve(&t->items, t->count, &t->capacity, sizeof(*t->items))) {
		free(length < 0 ? NULL : x.text);
		free(x.holds);
		return -ENOMEM;
	}
	t->items[t->count++] = x;
	return 0;
}

int column_make(const struct traits *t, struct column *c)
{
	size_t n = t->unit_count ? t->unit_count : 1;

	c->value = calloc(n, sizeof(*c->value));
	c->known = calloc(n, sizeof(*c->known));
	c->text = calloc(n, sizeof(*c->text));
	c->length = calloc(n, sizeof(*c->length));
	return c->value && c->known && c->text && c->length ? 0 : -ENOMEM;
}

void column_free(struct column *c)
{
	free(c->value);
	free(c->known);
	free(c->text);
	free(c->length);
}

void column_clear(const struct traits *t, struct column *c)
{
	memset(c->known, 0, t->unit_count * sizeof(*c->known));
}

static bool equal_values(const struct column *c, size_t x, size_t y)
{
	if (c->text[x] && c->text[y])
		return words_equal(c->text[x], c->length[x], c->text[y], c->length[y]);
	return !c->text[x] && !c->text[y] && c->value[x] == c->value[y];
}

static bool test_equal(const struct traits *t, size_t i, const void *data)
{
	const struct comparison *c = data;

	(void)t;
	return c->column->known[i] && equal_values(c->column, i, c->of);
}

static bool test_other(const struct traits *t, size_t i, const void *data)
{
	const struct comparison *c = data;

	(void)t;
	return c->column->known[i] && !equal_values(c->column, i, c->of);
}

static bool test_least(const struct traits *t, size_t i, const void *data)
{
	const struct comparison *c = data;

	(void)t;
	return c->column->known[i] && c->column->value[i] >= c->column->value[c->of];
}

static bool test_below(const struct traits *t, size_t i, const void *data)
{
	const struct comparison *c = data;

	(void)t;
	return c->column->known[i] && c->column->value[i] < c->column->value[c->of];
}

bool test_remainder(const struct traits *t, size_t i, const void *data)
{
	const struct comparison *c = data;

	(void)t;
	return c->column->known[i] && c->column->value[i] % c->divisor != 0;
}

bool test_divides(const struct traits *t, size_t i, const void *data)
{
	const struct comparison *c = data;

	(void)t;
	return c->column->known[i] && c->column->value[i] % c->divisor == 0;
}

/* First units of the column's different values; at most EQUALITY_MAX + 1 of them. */
static size_t different(const struct traits *t, const struct column *c,
			size_t out[EQUALITY_MAX + 1])
{
	size_t n = 0;

	for (size_t i = 0; i < t->unit_count && n <= EQUALITY_MAX; i++) {
		bool seen = !c->known[i];

		for (size_t k = 0; !seen && k < n; k++)
			seen = equal_values(c, out[k], i);
		if (!seen)
			out[n++] = i;
	}
	return n;
}

static int add_equal(struct traits *t, const struct column *c, const struct naming *w)
{
	size_t at[EQUALITY_MAX + 1], n = different(t, c, at);
	int e = 0;

	if (w->rank_equal < 0 || n > EQUALITY_MAX)
		return 0;
	for (size_t i = 0; !e && i < n; i++) {
		struct comparison x = {c, at[i], 0};
		char value[TEXT_BYTES];

		if (c->text[at[i]])
			snprintf(value, sizeof(value), "%.*s", c->length[at[i]], c->text[at[i]]);
		else
			snprintf(value, sizeof(value), "%" PRId64, c->value[at[i]]);
		e = trait_add(t, w->rank_equal, w->of_config, test_equal, &x, "%.*s=%s", w->length,
			      w->name, value);
		if (!e && w->rank_other >= 0 && n > 2)
			e = trait_add(t, w->rank_other, w->of_config, test_other, &x, "%.*s ≠ %s",
				      w->length, w->name, value);
	}
	return e;
}

struct sorted {
	int64_t value;
	size_t unit;
	bool failed;
};

static int compare_sorted(const void *x, const void *y)
{
	const struct sorted *a = x, *b = y;

	return (a->value > b->value) - (a->value < b->value);
}

/* How the launches of one value fared: bit 0 some passed, bit 1 some failed. */
static unsigned fared(const struct sorted *s, size_t count, size_t first, size_t *end)
{
	unsigned f = 0;

	for (*end = first; *end < count && s[*end].value == s[first].value; ++*end)
		f |= s[*end].failed ? 2 : 1;
	return f;
}

/* Thresholds between values whose launches fared differently: no other one can separate better. */
static int add_thresholds(struct traits *t, const struct column *c, const struct naming *w)
{
	_cleanup_free_ struct sorted *s = calloc(t->unit_count, sizeof(*s));
	unsigned before = 0;
	size_t n = 0;
	int e = 0;

	if (w->rank_threshold < 0)
		return 0;
	if (!s)
		return -ENOMEM;
	for (size_t i = 0; i < t->unit_count; i++) {
		if (c->known[i] && c->text[i])
			return 0;
		if (c->known[i])
			s[n++] = (struct sorted){c->value[i], i, t->units[i].failed};
	}
	qsort(s, n, sizeof(*s), compare_sorted);
	for (size_t i = 0, end; !e && i < n; i = end) {
		unsigned now = fared(s, n, i, &end);
		struct comparison x = {c, s[i].unit, 0};

		if (i && (now != before || now == 3)) {
			e = trait_add(t, w->rank_threshold, w->of_config, test_least, &x,
				      "%.*s ≥ %" PRId64, w->length, w->name, s[i].value);
			if (!e)
				e = trait_add(t, w->rank_threshold, w->of_config, test_below, &x,
					      "%.*s < %" PRId64, w->length, w->name, s[i].value);
		}
		before = now;
	}
	return e;
}

int column_add(struct traits *t, const struct column *c, const struct naming *w)
{
	int e = add_equal(t, c, w);

	return e ? e : add_thresholds(t, c, w);
}
