/* SPDX-License-Identifier: MIT */
/* What the model uses of a kernel against what was tested of it, and by what. */
#include "analyze/use.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "analyze/analyze.h"
#include "analyze/shards.h"
#include "analyze/words.h"
#include "lib/base.h"

#define ALIGNMENT 16 /* what Triton specialises on */

const char *use_dimension_name(enum use_dimension d)
{
	static const char *const names[] = {
#define D(id, name) name,
		USE_DIMENSIONS(D)
#undef D
	};

	return names[d];
}

/* Who launched: one USE record, or one tested case. */
struct evidence {
	const struct record_config *config;
	struct hash128 shape_class;
	const uint32_t *grid;
	const char *params; /* NULL: not known */
	const char *reason;
	uint64_t launches;
	bool test, derived;
	bool judged; /* a case with a verdict */
};

/* The item of that text; added if it is new. NULL without memory. */
static struct use_item *item_of(struct use *u, enum use_dimension d, struct hash128 key, char *text)
{
	struct use_item *i;

	if (!text)
		return NULL;
	for (size_t k = 0; k < u->count; k++)
		if (u->items[k].dimension == d && hash_equal(u->items[k].key, key) &&
		    (!hash_is_zero(key) || !strcmp(u->items[k].text, text))) {
			if (strlen(text) > strlen(u->items[k].text)) { /* with scalars */
				char *shorter = u->items[k].text;

				u->items[k].text = text;
				text = shorter;
			}
			free(text);
			return &u->items[k];
		}
	if (array_reserve(&u->items, u->count, &u->capacity, sizeof(*u->items))) {
		free(text);
		return NULL;
	}
	i = &u->items[u->count++];
	*i = (struct use_item){.dimension = d, .key = key, .text = text};
	return i;
}

static int add(struct use *u, const struct evidence *e, enum use_dimension d, char *text)
{
	struct hash128 none = {0};
	struct use_item *i = item_of(u, d, d == USE_CLASSES ? e->shape_class : none, text);

	if (!i)
		return -ENOMEM;
	i->known |= e->params != NULL;
	if (!e->judged) {
		i->launches += e->test ? 0 : e->launches;
		i->tests += e->test ? e->launches : 0;
		if (e->reason && !i->reason)
			i->reason = e->reason;
	} else if (e->derived) {
		i->by_derived = true;
	} else if (e->test) {
		i->by_tests = true;
	} else {
		i->by_model = true;
	}
	return 0;
}

/* Grid and scalars; without them, where no launch of the class was recorded, the grid and its key.
 */
static char *class_text(const struct evidence *e)
{
	struct word w[WORDS_MAX];
	size_t n = words_split(e->params, w), size;
	char *text = NULL, key[HASH_TEXT_BYTES];
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fprintf(out, "grid %ux%ux%u", e->grid[0], e->grid[1], e->grid[2]);
	for (size_t i = 0; i < n; i++) {
		int64_t v;

		if (w[i].value && word_whole(w[i].value, w[i].value_length, &v))
			fprintf(out, " %.*s=%" PRId64, w[i].name_length, w[i].name, v);
	}
	/* alignments are part of a class too */
	fprintf(out, " #%.4s", hash_text(e->shape_class, key));
	return fclose(out) ? NULL : text;
}

static int add_tails(struct use *u, const struct evidence *e, const struct word *w, int64_t value)
{
	struct word options[WORDS_MAX];
	size_t n = words_split(e->config->options, options);
	int r = 0;

	for (size_t i = 0; !r && i < n; i++) {
		int64_t sizes[WORD_SIZES];
		size_t count = word_sizes(&options[i], sizes);

		for (size_t k = 0; !r && k < count; k++)
			if (sizes[k] > 1)
				r = add(u, e, USE_TAILS,
					text_format("%.*s %% %" PRId64 " %s 0", w->name_length,
						    w->name, sizes[k],
						    value % sizes[k] ? "≠" : "="));
	}
	return r;
}

static int add_arguments(struct use *u, const struct evidence *e)
{
	struct word w[WORDS_MAX];
	size_t n = words_split(e->params, w);
	int r = 0;

	for (size_t i = 0; !r && i < n; i++) {
		int64_t v;

		if (!w[i].value)
			continue;
		if (word_whole(w[i].value, w[i].value_length, &v))
			r = add_tails(u, e, &w[i], v);
		else if (word_address(w[i].value, w[i].value_length, &v))
			r = add(u, e, USE_ALIGNMENTS,
				text_format("%.*s %saligned to %d bytes", w[i].name_length,
					    w[i].name, v % ALIGNMENT ? "not " : "", ALIGNMENT));
	}
	return r;
}

/* "f16/i32": the types that arguments point to, in their order. */
static char *types_text(const struct record_family *f)
{
	bool seen[DTYPE_COUNT] = {0};
	const char *gap = "";
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (size_t i = 0; i < f->args.count; i++) {
		const struct record_arg *x = &f->args.items[i];

		if (!x->pointer || x->dtype >= DTYPE_COUNT || seen[x->dtype])
			continue;
		seen[x->dtype] = true;
		fprintf(out, "%s%s", gap, dtype_name((enum dtype)x->dtype));
		gap = "/";
	}
	if (!*gap)
		fputs("unknown", out);
	return fclose(out) ? NULL : text;
}

static int add_evidence(struct use *u, const struct record_family *f, const struct evidence *e)
{
	const char *options = e->config->options;
	int r = add(u, e, USE_CONFIGS, strdup(options && *options ? options : "?"));

	if (!r)
		r = add(u, e, USE_CLASSES, class_text(e));
	if (!r)
		r = add_arguments(u, e);
	return r ? r : add(u, e, USE_TYPES, types_text(f));
}

/* ---- a family ---- */

/* USE records by CONFIG.number, then class. */
static int compare_uses(const void *x, const void *y)
{
	const struct record_use *a = *(const struct record_use *const *)x;
	const struct record_use *b = *(const struct record_use *const *)y;

	return a->config != b->config
		       ? (a->config > b->config) - (a->config < b->config)
		       : memcmp(&a->shape_class, &b->shape_class, sizeof(a->shape_class));
}

static const struct record_use **sorted_uses(const struct bundle *b)
{
	const struct record_use **list = calloc(b->uses.count + 1, sizeof(*list));

	for (size_t i = 0; list && i < b->uses.count; i++)
		list[i] = &b->uses.items[i];
	if (list)
		qsort(list, b->uses.count, sizeof(*list), compare_uses);
	return list;
}

static size_t first_use(const struct record_use **list, size_t count, uint32_t config)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (list[middle]->config < config)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int add_test(struct use *u, const char *test)
{
	for (size_t i = 0; i < u->test_count; i++)
		if (!strcmp(u->tests[i], test))
			return 0;
	if (array_reserve(&u->tests, u->test_count, &u->test_capacity, sizeof(*u->tests)))
		return -ENOMEM;
	u->tests[u->test_count++] = test;
	return 0;
}

static bool same_text(const char *x, const char *y)
{
	return !strcmp(x ?: "", y ?: "");
}

static bool same_uses(const struct record_use **x, const struct record_use **y, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (compare_uses(&x[i], &y[i]) || x[i]->seen != y[i]->seen ||
		    x[i]->recorded != y[i]->recorded || x[i]->test != y[i]->test ||
		    !same_text(x[i]->params, y[i]->params))
			return false;
	return true;
}

/*
 * Every part of a replay tells of all that the recorded run made of its kernels: it counts once, in
 * the part of the least index. Of two replays, cut alike, of two equal runs each counts.
 */
static bool told_by_another(const struct analysis *a, const struct record_use ***sorted, size_t i)
{
	size_t n = a->results[i]->bundle->uses.count;
	unsigned int index, count, other, others;

	if (!shards_part(a->results[i], &index, &count))
		return false;
	for (size_t k = 0; k < a->result_count; k++)
		if (shards_part(a->results[k], &other, &others) && others == count &&
		    other < index && a->results[k]->bundle->uses.count == n &&
		    same_uses(sorted[k], sorted[i], n))
			return true;
	return false;
}

/* The config of that number in one result belongs to the family. */
static int add_uses(struct use *u, const struct record_family *f, const struct result *r,
		    const struct record_use **list)
{
	int e = 0;

	for (size_t i = 0; !e && i < r->config_count; i++) {
		const struct record_config *c = r->configs[i].record;

		if (!hash_equal(c->family, f->key))
			continue;
		for (size_t k = first_use(list, r->bundle->uses.count, c->number);
		     !e && k < r->bundle->uses.count && list[k]->config == c->number; k++) {
			const struct record_use *x = list[k];
			struct evidence evidence = {.config = c,
						    .shape_class = x->shape_class,
						    .grid = x->grid,
						    .params = x->params,
						    .reason = x->reason,
						    .launches = x->seen,
						    .test = x->test};

			u->counted = true;
			e = add_evidence(u, f, &evidence);
			for (size_t n = 0; !e && n < x->tests.count; n++)
				e = add_test(u, x->tests.items[n]);
		}
	}
	return e;
}

static int add_cases(struct use *u, const struct family_verdict *f)
{
	int e = 0;

	for (size_t i = 0; i < f->config_count; i++)
		for (size_t k = 0; !e && k < f->configs[i].case_count; k++) {
			const struct case_verdict *c = &f->configs[i].cases[k];
			struct evidence evidence = {.config = f->configs[i].record,
						    .shape_class = c->record->shape_class,
						    .grid = c->record->grid,
						    .params = c->record->params ?: "",
						    .test = c->record->test,
						    .derived = c->record->derived != NULL,
						    .judged = true};

			if (c->outcome.bucket && !c->outcome.unproven)
				e = add_evidence(u, f->record, &evidence);
		}
	return e;
}

/* Without USE records a launch that was replayed is all that is known to be used. */
static void count(struct use *u)
{
	for (size_t i = 0; i < u->count; i++) {
		struct use_item *x = &u->items[i];
		struct use_count *c = &u->counts[x->dimension];

		if (!u->counted && x->by_model)
			x->launches = 1;
		if (!x->launches)
			continue;
		c->used++;
		c->tested += !use_untested(x);
		c->by_model += x->by_model;
		c->by_tests += x->by_tests;
		c->by_derived += x->by_derived;
		c->in_tests += x->tests > 0;
	}
}

static int compare_items(const void *x, const void *y)
{
	const struct use_item *a = x, *b = y;

	if (a->dimension != b->dimension)
		return (int)a->dimension - (int)b->dimension;
	return strverscmp(a->text, b->text);
}

static int compare_tests(const void *x, const void *y)
{
	return strcmp(*(const char *const *)x, *(const char *const *)y);
}

static void add_counts(struct use_count *sum, const struct use_count *c)
{
	sum->used += c->used;
	sum->tested += c->tested;
	sum->by_model += c->by_model;
	sum->by_tests += c->by_tests;
	sum->by_derived += c->by_derived;
	sum->in_tests += c->in_tests;
}

static int use_family(struct analysis *a, struct family_verdict *f,
		      const struct record_use ***sorted, const bool *told)
{
	struct use *u = &f->use;
	int e = 0;

	for (size_t i = 0; !e && i < a->result_count; i++)
		if (!told[i])
			e = add_uses(u, f->record, a->results[i], sorted[i]);
	if (!e)
		e = add_cases(u, f);
	if (e)
		return e;
	count(u);
	if (u->count)
		qsort(u->items, u->count, sizeof(*u->items), compare_items);
	if (u->test_count)
		qsort(u->tests, u->test_count, sizeof(*u->tests), compare_tests);
	for (size_t d = 0; d < USE_DIMENSION_COUNT; d++)
		add_counts(&a->use[d], &u->counts[d]);
	return 0;
}

int use_families(struct analysis *a, struct error *err)
{
	const struct record_use ***sorted = calloc(a->result_count + 1, sizeof(*sorted));
	_cleanup_free_ bool *told = calloc(a->result_count + 1, sizeof(*told));
	int e = sorted && told ? 0 : -ENOMEM;

	for (size_t i = 0; !e && i < a->result_count; i++) {
		sorted[i] = sorted_uses(a->results[i]->bundle);
		e = sorted[i] ? 0 : -ENOMEM;
	}
	for (size_t i = 0; !e && i < a->result_count; i++)
		told[i] = told_by_another(a, sorted, i);
	for (size_t i = 0; !e && i < a->family_count; i++)
		e = use_family(a, &a->families[i], sorted, told);
	for (size_t i = 0; sorted && i < a->result_count; i++)
		free(sorted[i]);
	free(sorted);
	return e ? error_set(err, ENOMEM, ERROR_NO_OFFSET, "out of memory") : 0;
}

void use_clear(struct use *u)
{
	for (size_t i = 0; i < u->count; i++)
		free(u->items[i].text);
	free(u->items);
	free(u->tests);
	*u = (struct use){0};
}

char *use_text(const struct use_item *i)
{
	static const char *const one[] = {"config", "shape class", "tail", "alignment", "type"};

	return text_format("%s %s: %" PRIu64 " %s of the model%s%s%s%s", one[i->dimension], i->text,
			   i->launches, i->launches == 1 ? "launch" : "launches",
			   i->reason ? " (" : "", i->reason ? i->reason : "", i->reason ? ")" : "",
			   i->tests ? "; existing tests launch it" : "");
}

/*
 * pytest calls a test "tests/test_k.py::TestA::test_b[x::1]" in its environment, and by class
 * "tests.test_k.TestA" and name "test_b[x::1]" in its XML.
 */
static char *junit_name(const char *test)
{
	const char *bracket = strchr(test, '['), *last = NULL;
	char *name = NULL, *at;

	for (const char *p = strstr(test, "::"); p && (!bracket || p < bracket);
	     p = strstr(p + 2, "::"))
		last = p;
	if (!last)
		return strdup(test);
	name = strdup(test);
	if (!name)
		return NULL;
	at = name;
	for (const char *p = test; p < last;) {
		if (!strncmp(p, ".py::", 5)) {
			p += 3;
		} else if (!strncmp(p, "::", 2)) {
			*at++ = '.';
			p += 2;
		} else {
			*at++ = *p == '/' ? '.' : *p;
			p++;
		}
	}
	memmove(at, last, strlen(last) + 1);
	return name;
}

int use_test_outcome(const struct junit *j, const char *test, const struct junit_test **out)
{
	_cleanup_free_ char *name = junit_name(test);

	*out = name ? junit_find(j, name) : NULL;
	return name ? 0 : -ENOMEM;
}

/* " (t.k::test_b) (t.k::test_c)" */
static int put_failed(FILE *out, const struct use *u, const struct junit *j)
{
	for (size_t i = 0; i < u->test_count; i++) {
		const struct junit_test *t;

		if (use_test_outcome(j, u->tests[i], &t))
			return -ENOMEM;
		if (t && t->outcome == JUNIT_FAILED)
			fprintf(out, " (%s)", t->name);
	}
	return 0;
}

/* "; under A 3 pass, 1 fails (t.k::test_b)" */
static int put_outcomes(FILE *out, const struct use *u, const struct junit *j, const char *side)
{
	static const char *const one[] = {"passes", "fails", "is skipped"};
	static const char *const many[] = {"pass", "fail", "are skipped"};
	size_t counts[JUNIT_OUTCOMES] = {0}, unknown = 0;
	const char *gap = "";

	for (size_t i = 0; i < u->test_count; i++) {
		const struct junit_test *t;

		if (use_test_outcome(j, u->tests[i], &t))
			return -ENOMEM;
		if (t)
			counts[t->outcome]++;
		else
			unknown++;
	}
	fprintf(out, "; under %s", side);
	for (int o = 0; o < JUNIT_OUTCOMES; o++) {
		if (!counts[o])
			continue;
		fprintf(out, "%s %zu %s", gap, counts[o], counts[o] == 1 ? one[o] : many[o]);
		gap = ",";
		if (o == JUNIT_FAILED && put_failed(out, u, j))
			return -ENOMEM;
	}
	if (unknown)
		fprintf(out, "%s %zu not in its file", gap, unknown);
	return 0;
}

char *use_tests_text(const struct analysis *a, const struct use *u)
{
	char *text = NULL;
	size_t size;
	FILE *out;
	int e = 0;

	if (!u->test_count)
		return strdup("");
	out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	fprintf(out, "existing tests seen to launch it: %zu", u->test_count);
	for (uint32_t s = 0; !e && s < SIDE_COUNT; s++)
		if (a->tests[s].path)
			e = put_outcomes(out, u, &a->tests[s], side_name(s));
	if (!fclose(out) && !e)
		return text;
	free(text);
	return NULL;
}
