/* SPDX-License-Identifier: MIT */
/* The kernel suite for a terminal, as Markdown and as CSV. */
#include "tools/suite_report.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "analyze/phrase.h"
#include "kernelab/bundle.h"
#include "kernelab/dtype.h"
#include "lib/base.h"
#include "lib/origin.h"
#include "lib/signature.h"
#include "tools/suite_head.h"

char *suite_clean(const char *text)
{
	char *copy = strdup(text ? text : "");

	return copy ? phrase_clean(copy) : NULL;
}

char *suite_signature(const struct record_arg *args, size_t count)
{
	const char *descriptor = NULL;
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		const struct record_arg *a = &args[i];
		bool is_descriptor = signature_is_descriptor(a->type);

		if (!is_descriptor && descriptor && !strcmp(descriptor, a->name))
			continue;
		descriptor = is_descriptor ? a->name : NULL;
		fprintf(f, "%s%s %s%s", i ? ", " : "", a->name,
			is_descriptor ? "descriptor of "
			: a->pointer  ? "*"
				      : "",
			dtype_name((enum dtype)a->dtype));
	}
	if (fclose(f)) {
		free(text);
		return NULL;
	}
	return phrase_clean(text);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/*
 * "train.py:8"; "-" where unknown. Of a file that Inductor generated the first characters, as a
 * pattern: "cjidtty4*.py:18". malloc'ed.
 */
static char *place(const struct suite_family *f)
{
	char *text;

	if (!*f->source)
		text = strdup("-");
	else if (origin_inductor_file(f->source))
		text = text_format("%.8s*.py:%" PRIu32, base_name(f->source), f->line);
	else
		text = text_format("%s:%" PRIu32, base_name(f->source), f->line);
	return text ? phrase_clean(text) : NULL;
}

static size_t config_count(const struct suite *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->family_count; i++)
		n += s->families[i].config_count;
	return n;
}

static const char *plural(uint64_t n, const char *one, const char *many)
{
	return n == 1 ? one : many;
}

static void print_totals(FILE *f, const struct capture_set *set)
{
	const struct suite *s = set->suite;
	size_t configs = config_count(s);

	fprintf(f,
		"%zu kernel %s, %zu %s of %zu %s: %" PRIu64 " launches seen, %" PRIu64 " recorded",
		s->family_count, plural(s->family_count, "family", "families"), configs,
		plural(configs, "config", "configs"), set->count,
		plural(set->count, "capture", "captures"), s->seen, s->recorded);
	if (s->unused_images)
		fprintf(f, "; %zu images without metadata were loaded and never used",
			s->unused_images);
	fprintf(f, "\n");
}

static bool has_line(const struct head *h, const struct head_line *line)
{
	for (size_t i = 0; i < h->count; i++)
		if (!strcmp(h->lines[i].name, line->name) &&
		    !strcmp(h->lines[i].value, line->value) && !strcmp(h->lines[i].how, line->how))
			return true;
	return false;
}

/* Of several processes of one run most lines are the same: those are printed once, for all. */
static bool is_common(const struct head *heads, size_t count, const struct head_line *line)
{
	for (size_t i = 0; i < count; i++)
		if (!has_line(&heads[i], line))
			return false;
	return count > 1;
}

static bool same_questions(const struct head *x, const struct head *y)
{
	if (x->open_count != y->open_count)
		return false;
	for (size_t i = 0; i < x->open_count; i++)
		if (strcmp(x->open[i], y->open[i]) != 0)
			return false;
	return true;
}

static int print_line(FILE *f, const struct head_line *line, const char *bullet)
{
	_cleanup_free_ char *value = suite_clean(line->value), *how = suite_clean(line->how);
	_cleanup_free_ char *name = suite_clean(line->name);

	if (!value || !how || !name)
		return -ENOMEM;
	fprintf(f, "  %s%-16s %s%s%s%s\n", bullet, name, value, *how ? " (" : "", how,
		*how ? ")" : "");
	return 0;
}

static void print_questions(FILE *f, const struct head *h, const char *bullet)
{
	if (!h->open_count)
		return;
	fprintf(f, "  %s%-16s", bullet, "open questions");
	for (size_t i = 0; i < h->open_count; i++)
		fprintf(f, "%s %s", i ? "," : "", h->open[i]);
	fprintf(f, " (see kernelab context)\n");
}

/* What only this bundle has; of a single one everything. */
static int print_head(FILE *f, const struct suite *s, const struct head *heads, size_t index,
		      bool same_open, const char *bullet)
{
	const struct bundle *b = s->bundles[index];
	const struct head *h = &heads[index];
	_cleanup_free_ char *path = suite_clean(b->path);
	_cleanup_free_ char *problem = suite_clean(bundle_problem(b));
	int r = path && problem ? 0 : -ENOMEM;

	if (r < 0)
		return r;
	fprintf(f, "%s%s%s%s\n", bullet, path, *problem ? ": INCOMPLETE: " : "", problem);
	for (size_t i = 0; i < h->count && !r; i++)
		if (!is_common(heads, s->bundle_count, &h->lines[i]))
			r = print_line(f, &h->lines[i], bullet);
	if (!same_open)
		print_questions(f, h, bullet);
	return r;
}

static int print_common(FILE *f, const struct head *heads, size_t count, bool same_open,
			const char *bullet)
{
	int r = 0;

	fprintf(f, "%sall %zu captures\n", bullet, count);
	for (size_t i = 0; i < heads->count && !r; i++)
		if (is_common(heads, count, &heads->lines[i]))
			r = print_line(f, &heads->lines[i], bullet);
	if (same_open)
		print_questions(f, heads, bullet);
	return r;
}

static int print_heads(FILE *f, const struct suite *s, const char *bullet)
{
	size_t count = s->bundle_count;
	struct head *heads = calloc(count + 1, sizeof(*heads));
	bool same_open = count > 1;
	int r = heads ? 0 : -ENOMEM;

	for (size_t i = 0; i < count && !r; i++) {
		r = head_make(&heads[i], s, i);
		same_open = same_open && !r && same_questions(&heads[0], &heads[i]);
	}
	if (!r && count > 1)
		r = print_common(f, heads, count, same_open, bullet);
	for (size_t i = 0; i < count && !r; i++)
		r = print_head(f, s, heads, i, same_open, bullet);
	for (size_t i = 0; heads && i < count; i++)
		head_free(&heads[i]);
	free(heads);
	return r;
}

/* What its launches were for, where that is not the model. */
static void print_marks(FILE *f, const struct suite_family *k)
{
	if (k->sweeps)
		fprintf(f, "%38s  %8s  autotuned: %zu configs in %zu %s\n", "", "",
			k->sweep_configs, k->sweeps, plural(k->sweeps, "sweep", "sweeps"));
	if (k->benchmarks)
		fprintf(f,
			"%38s  %8s  Inductor's compile-time benchmark on random data: %" PRIu64
			" %s recorded\n",
			"", "", k->benchmarks, plural(k->benchmarks, "launch", "launches"));
}

static int print_families(FILE *f, const struct suite *s)
{
	int width = (int)strlen("SOURCE");

	for (size_t i = 0; i < s->family_count; i++) {
		_cleanup_free_ char *source = place(&s->families[i]);

		if (!source)
			return -ENOMEM;
		if ((int)strlen(source) > width)
			width = (int)strlen(source);
	}
	fprintf(f, "%7s %7s %10s %10s  %-8s  %-*s  %s\n", "CONFIGS", "CLASSES", "SEEN", "RECORDED",
		"ORIGIN", width, "SOURCE", "FAMILY");
	for (size_t i = 0; i < s->family_count; i++) {
		const struct suite_family *k = &s->families[i];
		_cleanup_free_ char *source = place(k), *name = suite_clean(k->name);
		_cleanup_free_ char *signature = suite_signature(k->args, k->arg_count);

		if (!source || !name || !signature)
			return -ENOMEM;
		fprintf(f, "%7zu %7zu %10" PRIu64 " %10" PRIu64 "  %-8s  %-*s  %s\n",
			k->config_count, k->class_count, k->seen, k->recorded,
			origin_name(k->origin), width, source, name);
		fprintf(f, "%38s  %8s  (%s)\n", "", "",
			k->metadata ? signature : "no Triton metadata: signature unknown");
		print_marks(f, k);
	}
	return 0;
}

/* Problems of single images: each once. */
static int print_problems(FILE *f, const struct suite *s, const char *bullet)
{
	for (size_t i = 0; i < s->family_count; i++) {
		const struct suite_family *k = &s->families[i];

		for (size_t c = 0; c < k->config_count; c++) {
			const struct suite_member *m = &k->configs[c].members[0];
			_cleanup_free_ char *name = suite_clean(k->name);
			_cleanup_free_ char *problem = suite_clean(m->problem);

			if (!name || !problem)
				return -ENOMEM;
			if (*problem)
				fprintf(f, "%s%s: %s\n", bullet, name, problem);
		}
	}
	return 0;
}

/* By reason and origin, then how many kernels and launches; names are in --json. */
static int print_missing(FILE *f, const struct suite *s, const char *bullet)
{
	for (size_t i = 0, next; i < s->missing_count; i = next) {
		const struct suite_missing *m = &s->missing[i];
		_cleanup_free_ char *reason = suite_clean(m->reason);
		uint64_t launches = 0;

		if (!reason)
			return -ENOMEM;
		for (next = i; next < s->missing_count && s->missing[next].origin == m->origin &&
			       !strcmp(s->missing[next].reason, m->reason);
		     next++)
			launches += s->missing[next].launches;
		fprintf(f, "%s%" PRIu64 " %s of %zu %s kernels: %s\n", bullet, launches,
			plural(launches, "launch", "launches"), next - i, origin_name(m->origin),
			*reason ? reason : "no reason given");
	}
	return 0;
}

/* Why a launch has no contents: its own note, or that of the first region with one. */
static const char *launch_note(const struct record_launch *l)
{
	if (!(l->flags & (LAUNCH_CONTENTS_MISSING | LAUNCH_IN_CAPTURE)))
		return NULL;
	for (size_t i = 0; i < l->regions.count; i++)
		if (l->regions.items[i].note)
			return l->regions.items[i].note;
	return l->note ? l->note : "no reason given";
}

/* Recorded launches whose contents could not be had, by reason, each where it comes first. */
static int print_without_contents(FILE *f, const struct bundle *b, const char *bullet)
{
	for (size_t i = 0; i < b->launches.count; i++) {
		const char *note = launch_note(&b->launches.items[i]);
		uint64_t before = 0, all = 0;
		_cleanup_free_ char *clean = NULL;

		for (size_t k = 0; note && !before && k < b->launches.count; k++) {
			const char *other = launch_note(&b->launches.items[k]);
			bool same = other && !strcmp(other, note);

			all += same;
			before += same && k < i;
		}
		if (!note || before)
			continue;
		clean = suite_clean(note);
		if (!clean)
			return -ENOMEM;
		fprintf(f, "%s%" PRIu64 " recorded %s without contents: %s\n", bullet, all,
			plural(all, "launch", "launches"), clean);
	}
	return 0;
}

static uint64_t missing_total(const struct suite *s)
{
	return s->seen - s->recorded + s->unlisted;
}

int suite_report_text(FILE *f, const struct capture_set *set)
{
	const struct suite *s = set->suite;
	int r;

	print_totals(f, set);
	r = print_heads(f, s, "");
	fprintf(f, "\n");
	if (!r)
		r = print_families(f, s);
	if (!r)
		r = print_problems(f, s, "cannot be read: ");
	for (size_t i = 0; !r && i < set->count; i++)
		r = print_without_contents(f, s->bundles[i], "");
	if (!r && missing_total(s)) {
		fprintf(f, "\nNot recorded: %" PRIu64 " %s\n", missing_total(s),
			plural(missing_total(s), "launch", "launches"));
		r = print_missing(f, s, "  ");
	}
	return r;
}

/* A Markdown table cell: '|' would end it, '`' and '<' would be markup. */
static void cell(FILE *f, const char *text)
{
	for (; *text; text++) {
		if (strchr("|`<*_\\", *text))
			fputc('\\', f);
		fputc(*text, f);
	}
}

static int markdown_families(FILE *f, const struct suite *s)
{
	fprintf(f, "\n| family | origin | source | signature | configs | shape classes | seen | "
		   "recorded |\n|---|---|---|---|--:|--:|--:|--:|\n");
	for (size_t i = 0; i < s->family_count; i++) {
		const struct suite_family *k = &s->families[i];
		_cleanup_free_ char *source = place(k), *name = suite_clean(k->name);
		_cleanup_free_ char *signature = suite_signature(k->args, k->arg_count);

		if (!source || !name || !signature)
			return -ENOMEM;
		fprintf(f, "| ");
		cell(f, name);
		fprintf(f, " | %s | ", origin_name(k->origin));
		cell(f, source);
		fprintf(f, " | ");
		cell(f, k->metadata ? signature : "unknown");
		fprintf(f, " | %zu | %zu | %" PRIu64 " | %" PRIu64 " |\n", k->config_count,
			k->class_count, k->seen, k->recorded);
	}
	return 0;
}

int suite_report_markdown(FILE *f, const struct capture_set *set)
{
	const struct suite *s = set->suite;
	int r;

	fprintf(f, "### Kernel suite\n\n");
	print_totals(f, set);
	fprintf(f, "\n");
	r = print_heads(f, s, "- ");
	if (!r)
		r = markdown_families(f, s);
	fprintf(f, "\n");
	if (!r)
		r = print_problems(f, s, "- cannot be read: ");
	if (!r && missing_total(s)) {
		fprintf(f, "Not recorded: %" PRIu64 " %s\n\n", missing_total(s),
			plural(missing_total(s), "launch", "launches"));
		r = print_missing(f, s, "- ");
	}
	return r;
}

/* RFC 4180: quoted where needed, quotes doubled. */
static void csv_field(FILE *f, const char *text, char end)
{
	bool quote = strpbrk(text, ",\"\r\n");

	if (quote)
		fputc('"', f);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', f);
		fputc(*text, f);
	}
	if (quote)
		fputc('"', f);
	fputc(end, f);
}

static int csv_config(FILE *f, const struct suite_family *k, const struct suite_config *c)
{
	_cleanup_free_ char *name = suite_clean(k->name), *source = suite_clean(k->source);
	_cleanup_free_ char *signature = suite_signature(k->args, k->arg_count);
	_cleanup_free_ char *options = suite_clean(c->options);
	char family[HASH_TEXT_BYTES], config[HASH_TEXT_BYTES];

	if (!name || !source || !signature || !options)
		return -ENOMEM;
	csv_field(f, name, ',');
	csv_field(f, origin_name(k->origin), ',');
	csv_field(f, source, ',');
	fprintf(f, "%" PRIu32 ",", k->line);
	csv_field(f, signature, ',');
	csv_field(f, options, ',');
	fprintf(f, "%zu,%zu,%zu,%" PRIu64 ",%" PRIu64 ",%s,%s\n", c->member_count, c->special_count,
		c->class_count, c->seen, c->recorded, hash_text(k->key, family),
		hash_text(c->key, config));
	return 0;
}

int suite_report_csv(FILE *f, const struct capture_set *set)
{
	const struct suite *s = set->suite;

	fprintf(f, "family,origin,source,line,signature,config,images,specialisations,"
		   "shape_classes,seen,recorded,family_key,config_key\n");
	for (size_t i = 0; i < s->family_count; i++) {
		for (size_t c = 0; c < s->families[i].config_count; c++) {
			int r = csv_config(f, &s->families[i], &s->families[i].configs[c]);

			if (r < 0)
				return r;
		}
	}
	return 0;
}
