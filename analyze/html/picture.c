/* SPDX-License-Identifier: MIT */
/* A picture's bins as JSON that page.js draws; lists of pairs where most bins are empty. */
#include "analyze/html/page.h"

#include <inttypes.h>
#include <math.h>

#include "analyze/number.h"

static void put_range(FILE *out, const char *name, const struct picture_range *r)
{
	if (r->low <= r->high)
		fprintf(out, ",\"%s\":[%.9g,%.9g]", name, r->low, r->high);
	else
		fprintf(out, ",\"%s\":null", name);
}

static void put_counts(FILE *out, const char *name, const uint64_t *counts, size_t n)
{
	fprintf(out, ",\"%s\":[", name);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%s%" PRIu64, i ? "," : "", counts[i]);
	fputc(']', out);
}

/* [bin, count, bin, count, …] of the bins that are not empty. */
static void put_sparse(FILE *out, const char *name, const uint64_t *counts, size_t n)
{
	const char *gap = "";

	fprintf(out, ",\"%s\":[", name);
	for (size_t i = 0; i < n; i++) {
		if (!counts[i])
			continue;
		fprintf(out, "%s%zu,%" PRIu64, gap, i, counts[i]);
		gap = ",";
	}
	fputc(']', out);
}

/* [cell, differing, class changes, log2 of the greatest |d| or null, …] of cells that differ. */
static void put_heat(FILE *out, const struct picture *p)
{
	size_t n = (size_t)p->heat_rows * p->heat_columns;
	const char *gap = "";

	fprintf(out, ",\"heat\":{\"rows\":%" PRIu32 ",\"columns\":%" PRIu32 ",\"cells\":[",
		p->heat_rows, p->heat_columns);
	for (size_t i = 0; i < n; i++) {
		if (!p->heat_differing[i])
			continue;
		fprintf(out, "%s%zu,%" PRIu64 ",%" PRIu64 ",", gap, i, p->heat_differing[i],
			p->heat_changes[i]);
		if (p->heat_max[i] > 0)
			fprintf(out, "%.4g", log2((double)p->heat_max[i]));
		else
			fputs("null", out);
		gap = ",";
	}
	fputs("]}", out);
}

int html_picture(FILE *out, const struct output_verdict *o, const struct picture *p)
{
	int e;

	fputs("<script type=\"application/json\" class=\"picture\">{\"output\":", out);
	e = html_json_text(out, o->name);
	fprintf(out, ",\"dtype\":\"%s\",\"elements\":%" PRIu64, dtype_name(p->dtype), p->elements);
	put_range(out, "magnitude", &p->magnitude);
	put_range(out, "difference", &p->difference);
	put_range(out, "values", &p->values);
	fprintf(out, ",\"scatter_columns\":%d,\"scatter_rows\":%d", PICTURE_SCATTER_COLUMNS,
		PICTURE_SCATTER_ROWS);
	put_sparse(out, "scatter", p->scatter[0],
		   (size_t)PICTURE_SCATTER_ROWS * PICTURE_SCATTER_COLUMNS);
	put_counts(out, "from_zero", p->from_zero, PICTURE_SCATTER_ROWS);
	fprintf(out, ",\"ulp_equal\":%" PRIu64, p->ulp_equal);
	put_counts(out, "ulp_above", p->ulp_above, PICTURE_ULP_BINS);
	put_counts(out, "ulp_below", p->ulp_below, PICTURE_ULP_BINS);
	put_counts(out, "values_a", p->value_counts[0], PICTURE_VALUE_BINS);
	put_counts(out, "values_b", p->value_counts[1], PICTURE_VALUE_BINS);
	put_counts(out, "not_finite", p->not_finite, 2);
	fprintf(out,
		",\"rows\":%" PRIu64 ",\"columns\":%" PRIu64 ",\"tile\":[%" PRIu64 ",%" PRIu64
		"],\"how\":",
		p->shape.rows, p->shape.columns, p->shape.tile_rows, p->shape.tile_columns);
	if (!e)
		e = html_json_text(out, p->shape.how);
	put_heat(out, p);
	fputs("}</script>\n", out);
	return e;
}
