/* SPDX-License-Identifier: MIT */
/* The grid of a config that was never launched, worked out from launches of its siblings. */
#include "replay/grid.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "lib/image/note.h"
#include "replay/bind.h"
#include "replay/derive.h"

#define NAMES_MOST   48 /* more are refused: each may be in an explanation */
#define ROWS_MOST    64 /* different launches that are looked at; any more are not asked */
#define TERMS_MOST   (NAMES_MOST * (NAMES_MOST + 1))
#define FACTORS_MOST 3
#define VALUE_MOST   INT32_MAX /* of a grid dimension */
#define TEXT_BYTES   160

/* An integer that the grid may follow from. */
struct name {
	const char *text;
	bool constexpr; /* may divide */
};

/* A launch: the value of each name, and the grid. */
struct row {
	int64_t values[NAMES_MOST];
	uint32_t grid[3];
};

/* The name itself, or by: cdiv(name, by). */
struct term {
	size_t name, by; /* by NAMES_MOST: none */
};

struct inference {
	const struct grid_question *question;
	struct name names[NAMES_MOST];
	size_t name_count;
	bool too_many;     /* names */
	struct row target; /* its grid is what is wanted */
	struct row rows[ROWS_MOST];
	size_t row_count, launches; /* launches: that are like one of the rows */
	struct term *terms;
	size_t term_count;
};

/* What explains one dimension. */
struct explanation {
	const struct term *factors[FACTORS_MOST];
	size_t count;
};

/* What was found of one dimension so far. */
struct search {
	const struct inference *of;
	size_t dimension;
	const struct term *terms[TERMS_MOST]; /* that divide the dimension in all launches */
	size_t term_count;
	bool found, differ;
	uint64_t grid;
	struct explanation first, other; /* other: gives another grid */
};

/* ---- values ---- */

static bool noted(const struct suite_member *m, json_t **out)
{
	*out = m->note && m->note->constexprs_json ? json_loads(m->note->constexprs_json, 0, NULL)
						   : NULL;
	return json_is_object(*out);
}

/* An integer argument of the launch by name. */
static bool find_argument(const struct record_launch *l, const struct suite_member *m,
			  const char *name, int64_t *out)
{
	size_t count;
	const struct record_param *layout = member_params(m, &count);

	for (size_t i = 0; i < count; i++) {
		const struct record_arg *arg = member_arg(m, i);

		if (!arg || arg->pointer || !arg->name || strcmp(arg->name, name) != 0 ||
		    !arg->type || arg->type[0] != 'i')
			continue;
		*out = launch_scalar(l, &layout[i]);
		return true;
	}
	return false;
}

static bool find_value(const struct record_launch *l, const struct suite_member *base,
		       const json_t *constexprs, const char *name, int64_t *out)
{
	const json_t *value = json_object_get(constexprs, name);

	if (json_is_integer(value)) {
		*out = json_integer_value(value);
		return true;
	}
	return !value && find_argument(l, base, name, out);
}

static void add_name(struct inference *x, const char *text, bool constexpr, int64_t value)
{
	if (value < 1 || value > VALUE_MOST || strstr(text, "stride"))
		return;
	x->too_many |= x->name_count == NAMES_MOST;
	if (x->too_many)
		return;
	x->target.values[x->name_count] = value;
	x->names[x->name_count++] = (struct name){text, constexpr};
}

/* Names and values of the target on its launch. Their texts live in `constexprs` and the suite. */
static void list_names(struct inference *x, json_t *constexprs)
{
	const struct grid_question *q = x->question;
	size_t count;
	const struct record_param *layout = member_params(q->base, &count);
	const char *name;
	json_t *value;

	json_object_foreach(constexprs, name, value)
	{
		if (json_is_integer(value))
			add_name(x, name, true, json_integer_value(value));
	}
	for (size_t i = 0; i < count; i++) {
		const struct record_arg *arg = member_arg(q->base, i);

		if (arg && !arg->pointer && arg->name && arg->type && arg->type[0] == 'i' &&
		    !json_object_get(constexprs, arg->name))
			add_name(x, arg->name, false, launch_scalar(q->launch, &layout[i]));
	}
}

static void drop_name(struct inference *x, size_t index)
{
	size_t last = --x->name_count;

	x->names[index] = x->names[last];
	x->target.values[index] = x->target.values[last];
	for (size_t r = 0; r < x->row_count; r++)
		x->rows[r].values[index] = x->rows[r].values[last];
}

static bool is_row(const struct inference *x, const struct row *row)
{
	for (size_t r = 0; r < x->row_count; r++)
		if (!memcmp(x->rows[r].values, row->values, x->name_count * sizeof(*row->values)) &&
		    !memcmp(x->rows[r].grid, row->grid, sizeof(row->grid)))
			return true;
	return false;
}

/* A launch; names that it does not know are dropped: the grid may follow from others. */
static void add_row(struct inference *x, const struct record_launch *l,
		    const struct suite_member *m, const json_t *constexprs)
{
	struct row row = {0};

	for (size_t i = 0; i < x->name_count;) {
		if (find_value(l, m, constexprs, x->names[i].text, &row.values[i]) &&
		    row.values[i] >= 1 && row.values[i] <= VALUE_MOST) {
			x->names[i].constexpr &=
				json_object_get(constexprs, x->names[i].text) != NULL;
			i++;
		} else {
			drop_name(x, i);
		}
	}
	memcpy(row.grid, l->grid, sizeof(row.grid));
	if (!is_row(x, &row)) {
		if (x->row_count == ROWS_MOST)
			return;
		x->rows[x->row_count++] = row;
	}
	x->launches++;
}

static void list_rows(struct inference *x)
{
	for (size_t f = 0; f < ARRAY_LENGTH(x->question->families); f++) {
		const struct suite_family *family = x->question->families[f];

		for (size_t i = 0; family && i < family->config_count; i++) {
			const struct suite_config *c = &family->configs[i];

			for (size_t k = 0; k < c->member_count; k++) {
				const struct suite_member *m = &c->members[k];
				json_t *constexprs = NULL;

				if (m->launch_count && noted(m, &constexprs))
					for (size_t n = 0; n < m->launch_count; n++)
						add_row(x, m->launches[n], m, constexprs);
				json_decref(constexprs);
			}
		}
	}
}

/* ---- terms ---- */

static int64_t term_value(const struct term *t, const struct row *row)
{
	int64_t n = row->values[t->name];

	return t->by == NAMES_MOST ? n : (n + row->values[t->by] - 1) / row->values[t->by];
}

static int list_terms(struct inference *x)
{
	x->terms = malloc(TERMS_MOST * sizeof(*x->terms));
	if (!x->terms)
		return -ENOMEM;
	for (size_t i = 0; i < x->name_count; i++) {
		x->terms[x->term_count++] = (struct term){i, NAMES_MOST};
		for (size_t k = 0; !x->names[i].constexpr && k < x->name_count; k++)
			if (x->names[k].constexpr)
				x->terms[x->term_count++] = (struct term){i, k};
	}
	return 0;
}

/* ---- one dimension ---- */

static int64_t product(const struct explanation *e, const struct row *row)
{
	int64_t value = 1;

	for (size_t i = 0; i < e->count; i++)
		if (__builtin_mul_overflow(value, term_value(e->factors[i], row), &value))
			return -1;
	return value;
}

/* Keeps an explanation if it holds in every launch. */
static void consider(struct search *s, const struct explanation *e)
{
	const struct inference *x = s->of;
	int64_t grid = product(e, &x->target);

	for (size_t r = 0; r < x->row_count; r++)
		if (product(e, &x->rows[r]) != (int64_t)x->rows[r].grid[s->dimension])
			return;
	if (!s->found) {
		s->found = true;
		s->grid = (uint64_t)grid;
		s->first = *e;
	} else if ((uint64_t)grid != s->grid && !s->differ) {
		s->differ = true;
		s->other = *e;
	}
}

/* All products of `count` different terms, from index `from` on. */
static void combine(struct search *s, struct explanation *e, size_t count, size_t from)
{
	if (e->count == count) {
		consider(s, e);
		return;
	}
	for (size_t i = from; i < s->term_count && !s->differ; i++) {
		e->factors[e->count++] = s->terms[i];
		combine(s, e, count, i + 1);
		e->count--;
	}
}

/*
 * Terms that can be a factor: they divide the dimension in every launch. One that is 1 in all of
 * them leaves nothing to see of it; where it is not 1 in the target too, nobody knows.
 */
static const struct term *list_factors(struct search *s)
{
	const struct inference *x = s->of;

	for (size_t i = 0; i < x->term_count; i++) {
		bool divides = true, one = true;

		for (size_t r = 0; r < x->row_count; r++) {
			int64_t value = term_value(&x->terms[i], &x->rows[r]);

			divides &= x->rows[r].grid[s->dimension] % value == 0;
			one &= value == 1;
		}
		if (one && term_value(&x->terms[i], &x->target) != 1)
			return &x->terms[i];
		if (divides && !one)
			s->terms[s->term_count++] = &x->terms[i];
	}
	return NULL;
}

/* The same number in all launches is an explanation without a factor. */
static void consider_constant(struct search *s)
{
	const struct inference *x = s->of;

	for (size_t r = 0; r < x->row_count; r++)
		if (x->rows[r].grid[s->dimension] != x->rows[0].grid[s->dimension])
			return;
	s->found = true;
	s->grid = x->rows[0].grid[s->dimension];
}

static void put_explanation(const struct inference *x, const struct explanation *e, uint64_t grid,
			    char *out, size_t size)
{
	size_t used = 0;

	if (!e->count)
		snprintf(out, size, "%llu", (unsigned long long)grid);
	for (size_t i = 0; i < e->count && used < size; i++) {
		const struct term *t = e->factors[i];
		const char *dot = i ? "·" : "";
		int n = t->by == NAMES_MOST
				? snprintf(out + used, size - used, "%s%.40s", dot,
					   x->names[t->name].text)
				: snprintf(out + used, size - used, "%scdiv(%.40s, %.40s)", dot,
					   x->names[t->name].text, x->names[t->by].text);

		used += n > 0 ? (size_t)n : 0;
	}
}

static int no_grid(struct error *err, size_t dimension, const char *why)
{
	return error_set(err, ENOENT, ERROR_NO_OFFSET, "%c of its grid %s", "xyz"[dimension], why);
}

static int solve(const struct inference *x, size_t dimension, uint32_t *grid, char *text,
		 size_t size, struct error *err)
{
	_cleanup_free_ struct search *s = calloc(1, sizeof(*s));
	char one[TEXT_BYTES], other[TEXT_BYTES], why[2 * TEXT_BYTES + 80];
	struct explanation e = {0};
	const struct term *hidden;

	if (!s)
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for a grid");
	s->of = x;
	s->dimension = dimension;
	hidden = list_factors(s);
	if (hidden) {
		e = (struct explanation){.factors = {hidden}, .count = 1};
		put_explanation(x, &e, 0, one, sizeof(one));
		snprintf(why, sizeof(why),
			 "may follow from %s, which is 1 in all recorded launches", one);
		return no_grid(err, dimension, why);
	}
	consider_constant(s);
	for (size_t count = 1; count <= FACTORS_MOST; count++) {
		bool before = s->found;

		combine(s, &e, count, 0);
		if (before) /* one factor more than the fewest */
			break;
	}
	if (!s->found)
		return no_grid(err, dimension,
			       "is no product of arguments, constexprs and cdiv of them in all "
			       "recorded launches");
	put_explanation(x, &s->first, s->grid, one, sizeof(one));
	if (s->differ) {
		put_explanation(x, &s->other, s->grid, other, sizeof(other));
		snprintf(why, sizeof(why), "is %s, or %s: the recorded launches do not tell", one,
			 other);
		return no_grid(err, dimension, why);
	}
	if (s->grid < 1 || s->grid > (dimension ? 65535u : (uint64_t)VALUE_MOST))
		return no_grid(err, dimension, "would be too large");
	*grid = (uint32_t)s->grid;
	snprintf(text, size, "%s", one);
	return 0;
}

static int infer(struct inference *x, uint32_t grid[3], char **how, struct error *err)
{
	char text[3][TEXT_BYTES];

	if (x->too_many)
		return error_set(err, ENOENT, ERROR_NO_OFFSET,
				 "it may follow from more than %d arguments and constexprs",
				 NAMES_MOST);
	list_rows(x);
	if (x->row_count < 2)
		return error_set(err, ENOENT, ERROR_NO_OFFSET,
				 "fewer than two different launches with noted constexprs");
	if (list_terms(x))
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for a grid");
	for (size_t d = 0; d < 3; d++) {
		int rc = solve(x, d, &grid[d], text[d], sizeof(text[d]), err);

		if (rc)
			return rc;
	}
	*how = text_format("%ux%ux%u = %s x %s x %s, as in %zu launches", grid[0], grid[1], grid[2],
			   text[0], text[1], text[2], x->launches);
	return *how ? 0 : error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for a grid");
}

int grid_infer(uint32_t grid[3], char **how, const struct grid_question *q, struct error *err)
{
	struct inference *x = calloc(1, sizeof(*x));
	json_t *constexprs = NULL;
	int rc;

	*how = NULL;
	if (!x)
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for a grid");
	x->question = q;
	if (noted(q->target, &constexprs)) {
		list_names(x, constexprs);
		rc = infer(x, grid, how, err);
	} else {
		rc = error_set(err, ENOENT, ERROR_NO_OFFSET,
			       "its constexprs were not noted by the Python glue");
	}
	json_decref(constexprs);
	free(x->terms);
	free(x);
	return rc;
}
