/* SPDX-License-Identifier: MIT */
/* Shapes of outputs given by hand: KERNEL.ARG=MxN in place of what the launch lets one infer. */
#include "analyze/shape_rule.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A number of 1 to 18 digits, not 0. */
static bool take_number(const char **text, uint64_t *out)
{
	size_t n = strspn(*text, "0123456789");

	if (!n || n > 18)
		return false;
	*out = strtoull(*text, NULL, 10);
	*text += n;
	return *out > 0;
}

static bool parse(struct shape_rule *r, const char *text)
{
	const char *equals = strrchr(text, '='), *dot = equals;

	while (dot && dot > text && *dot != '.')
		dot--;
	if (!dot || dot == text || dot + 1 == equals)
		return false;
	*r = (struct shape_rule){.text = text};
	text = equals + 1;
	if (*text == '*')
		text++;
	else if (!take_number(&text, &r->rows))
		return false;
	return *text++ == 'x' && take_number(&text, &r->columns) && !*text &&
	       (!r->rows || r->columns <= UINT64_MAX / r->rows);
}

int shape_rules_parse(struct shape_rules *r, const char *const *texts, size_t count,
		      struct error *err)
{
	*r = (struct shape_rules){.items = calloc(count ? count : 1, sizeof(*r->items))};
	if (!r->items)
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "out of memory");
	for (; r->count < count; r->count++)
		if (!parse(&r->items[r->count], texts[r->count])) {
			error_set(err, EINVAL, ERROR_NO_OFFSET,
				  "--shape %s: KERNEL.ARG=MxN is wanted, or *xN, rows and columns "
				  "above 0",
				  texts[r->count]);
			shape_rules_free(r);
			return -EINVAL;
		}
	return 0;
}

void shape_rules_free(struct shape_rules *r)
{
	free(r->items);
	*r = (struct shape_rules){0};
}

/* "KERNEL.ARG=" is this family's argument `arg` (from 1). */
static bool is_about(const struct shape_rule *r, const struct record_family *f, uint32_t arg)
{
	const char *name = f->name ? f->name : "", *of;
	size_t n = strlen(name), m;

	if (!arg || arg > f->args.count || !f->args.items[arg - 1].name)
		return false;
	of = f->args.items[arg - 1].name;
	m = strlen(of);
	return !strncmp(r->text, name, n) && r->text[n] == '.' &&
	       !strncmp(r->text + n + 1, of, m) && r->text[n + 1 + m] == '=';
}

static bool fits(const struct shape_rule *r, uint64_t elements)
{
	uint64_t rows = elements ? (elements - 1) / r->columns + 1 : 0;

	return rows && (!r->rows || r->rows == rows);
}

static uint64_t elements_of(const struct record_extent *e, enum dtype t)
{
	return e->size / (dtype_bytes(t) ? dtype_bytes(t) : 1);
}

void output_shape(const struct result *r, const struct record_family *f,
		  const struct record_case *c, const char *options, const struct record_extent *e,
		  enum dtype t, struct shape *s)
{
	uint64_t elements = elements_of(e, t);

	for (size_t i = r->shapes ? r->shapes->count : 0; i-- > 0;) {
		const struct shape_rule *rule = &r->shapes->items[i];

		if (!is_about(rule, f, e->arg) || !fits(rule, elements))
			continue;
		shape_set(c, options, (elements - 1) / rule->columns + 1, rule->columns, s);
		snprintf(s->how, sizeof(s->how), "--shape %.140s", rule->text);
		return;
	}
	shape_infer(c, options, elements, s);
}

void shape_rules_count(const struct record_family *f, const struct case_verdict *v)
{
	struct shape_rules *r = v->result->shapes;

	for (size_t i = 0; r && i < r->count; i++)
		for (size_t k = 0; k < v->output_count; k++) {
			const struct output_verdict *o = &v->outputs[k];

			if (!is_about(&r->items[i], f, o->extent->arg))
				continue;
			r->items[i].seen++;
			r->items[i].fits += fits(&r->items[i], elements_of(o->extent, o->dtype));
		}
}

int shape_rules_check(const struct shape_rules *r, struct error *err)
{
	for (size_t i = 0; i < r->count; i++) {
		if (!r->items[i].seen)
			return error_set(err, EINVAL, ERROR_NO_OFFSET,
					 "--shape %s: no kernel of that name has such an output",
					 r->items[i].text);
		if (!r->items[i].fits)
			return error_set(err, EINVAL, ERROR_NO_OFFSET,
					 "--shape %s: none of its %zu outputs has that many rows",
					 r->items[i].text, r->items[i].seen);
	}
	return 0;
}
