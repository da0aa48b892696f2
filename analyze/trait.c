/* SPDX-License-Identifier: MIT */
/* What holds for some launches of a family and not for others: what a fault may depend on. */
#include "analyze/trait.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "analyze/column.h"
#include "analyze/words.h"
#include "lib/base.h"

#define ALIGNMENT 16u /* what Triton specialises on */

/* ---- options of the config ---- */

/* What an option that the text leaves out is (lib/image/triton.c). */
static void option_default(struct column *c, size_t unit, const char *name, int length)
{
	static const struct {
		const char *name, *value;
	} known[] = {{"num_ctas", "1"}, {"maxnreg", "none"}, {"enable_fp_fusion", "true"}};

	for (size_t i = 0; i < ARRAY_LENGTH(known); i++)
		if (words_equal(name, length, known[i].name, (int)strlen(known[i].name))) {
			c->known[unit] = true;
			c->text[unit] = known[i].value;
			c->length[unit] = (int)strlen(known[i].value);
			if (word_whole(known[i].value, c->length[unit], &c->value[unit]))
				c->text[unit] = NULL;
		}
}

static void set_value(struct column *c, size_t unit, const struct word *w)
{
	c->known[unit] = true;
	c->text[unit] = word_whole(w->value, w->value_length, &c->value[unit]) ? NULL : w->value;
	c->length[unit] = w->value_length;
}

/* Fills c with the values of the word named as `like` in each unit's text. */
static void fill_named(const struct traits *t, struct column *c, const struct word *like,
		       bool options)
{
	column_clear(t, c);
	for (size_t i = 0; i < t->unit_count; i++) {
		struct word w[WORDS_MAX];
		size_t n = words_split(options ? t->units[i].config->record->options
					       : t->units[i].launch->record->params,
				       w);

		if (options)
			option_default(c, i, like->name, like->name_length);
		for (size_t k = 0; k < n; k++)
			if (w[k].value &&
			    words_equal(w[k].name, w[k].name_length, like->name, like->name_length))
				set_value(c, i, &w[k]);
	}
}

/* Different names of NAME=VALUE words over all units. */
static size_t names(const struct traits *t, bool options, struct word out[WORDS_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < t->unit_count; i++) {
		struct word w[WORDS_MAX];
		size_t count = words_split(options ? t->units[i].config->record->options
						   : t->units[i].launch->record->params,
					   w);

		for (size_t k = 0; k < count && n < WORDS_MAX; k++) {
			bool seen = !w[k].value;

			for (size_t j = 0; !seen && j < n; j++)
				seen = words_equal(w[k].name, w[k].name_length, out[j].name,
						   out[j].name_length);
			if (!seen)
				out[n++] = w[k];
		}
	}
	return n;
}

static int add_options(struct traits *t, struct column *c)
{
	struct word named[WORDS_MAX];
	size_t n = names(t, true, named);
	int e = 0;

	for (size_t i = 0; !e && i < n; i++) {
		struct naming w = {named[i].name,   named[i].name_length,  RANK_OPTION,
				   RANK_OPTION_NOT, RANK_OPTION_THRESHOLD, true};

		fill_named(t, c, &named[i], true);
		e = column_add(t, c, &w);
	}
	return e;
}

static bool has_size(const struct traits *t, size_t unit, int64_t size)
{
	struct word w[WORDS_MAX];
	size_t n = words_split(t->units[unit].config->record->options, w);

	for (size_t i = 0; i < n; i++) {
		int64_t sizes[WORD_SIZES];
		size_t count = word_sizes(&w[i], sizes);

		for (size_t k = 0; k < count; k++)
			if (sizes[k] == size)
				return true;
	}
	return false;
}

static bool test_size(const struct traits *t, size_t unit, const void *data)
{
	return has_size(t, unit, *(const int64_t *)data);
}

/* Different block sizes above 1 of all configs; what is beyond WORD_SIZES is left out. */
static size_t block_sizes(const struct traits *t, int64_t out[WORD_SIZES])
{
	size_t n = 0;

	for (size_t i = 0; i < t->unit_count; i++) {
		struct word w[WORDS_MAX];
		size_t count;

		if (i && t->units[i].config == t->units[i - 1].config)
			continue;
		count = words_split(t->units[i].config->record->options, w);
		for (size_t k = 0; k < count; k++) {
			int64_t sizes[WORD_SIZES];
			size_t m = word_sizes(&w[k], sizes);

			for (size_t j = 0; j < m; j++) {
				bool seen = sizes[j] < 2;

				for (size_t x = 0; !seen && x < n; x++)
					seen = out[x] == sizes[j];
				if (!seen && n < WORD_SIZES)
					out[n++] = sizes[j];
			}
		}
	}
	return n;
}

/* The words of the options that are shapes, as one text: they stand together, at its end. */
static int add_blocks(struct traits *t, struct column *c, const int64_t *sizes, size_t size_count)
{
	static const struct naming w = {"blocks", 6, RANK_BLOCKS, -1, -1, true};
	int e = 0;

	column_clear(t, c);
	for (size_t i = 0; i < t->unit_count; i++) {
		struct word named[WORDS_MAX];
		size_t n = words_split(t->units[i].config->record->options, named);

		for (size_t k = 0; k < n; k++) {
			int64_t unused[WORD_SIZES];

			if (!word_sizes(&named[k], unused))
				continue;
			c->known[i] = true;
			c->text[i] = named[k].name;
			for (; k < n && word_sizes(&named[k], unused); k++)
				c->length[i] =
					(int)(named[k].name + named[k].name_length - c->text[i]);
			break;
		}
	}
	for (size_t i = 0; !e && i < size_count; i++)
		e = trait_add(t, RANK_BLOCK, true, test_size, &sizes[i], "a block size of %" PRId64,
			      sizes[i]);
	return e ? e : column_add(t, c, &w);
}

/* ---- arguments of the launch ---- */

static bool failing_size(const struct traits *t, int64_t size)
{
	for (size_t i = 0; i < t->unit_count; i++)
		if (t->units[i].failed && has_size(t, i, size))
			return true;
	return false;
}

static int add_tails(struct traits *t, const struct column *c, const struct word *w,
		     const int64_t *sizes, size_t size_count)
{
	int e = 0;

	for (size_t i = 0; !e && i < size_count; i++) {
		struct comparison x = {c, 0, sizes[i]};
		bool own = failing_size(t, sizes[i]);

		e = trait_add(t, own ? RANK_TAIL : RANK_OTHER_TAIL, false, test_remainder, &x,
			      "%.*s %% %" PRId64 " ≠ 0", w->name_length, w->name, sizes[i]);
		if (!e)
			e = trait_add(t, own ? RANK_NO_TAIL : RANK_OTHER_TAIL, false, test_divides,
				      &x, "%.*s %% %" PRId64 " = 0", w->name_length, w->name,
				      sizes[i]);
	}
	return e;
}

/* Scalar c modulo block sizes that may be others in every config; `sizes` is overwritten. */
static int add_remainders(struct traits *t, const struct column *c, const struct word *w,
			  struct column *sizes, const char *name, int length)
{
	struct comparison x = {sizes, 0, INT64_MAX};
	int e;

	for (size_t i = 0; i < t->unit_count; i++) {
		bool sound = sizes->known[i] && !sizes->text[i] && c->known[i] && !c->text[i] &&
			     sizes->value[i] > 1;

		sizes->value[i] = sound ? c->value[i] % sizes->value[i] : 0;
		sizes->known[i] = sound;
	}
	e = trait_add(t, RANK_TAIL, false, test_remainder, &x, "%.*s %% %.*s ≠ 0", w->name_length,
		      w->name, length, name);
	for (size_t i = 0; i < t->unit_count; i++)
		sizes->value[i] = sizes->known[i] && !sizes->value[i];
	return e ? e
		 : trait_add(t, RANK_NO_TAIL, false, test_remainder, &x, "%.*s %% %.*s = 0",
			     w->name_length, w->name, length, name);
}

/* A block size that has a name of its own (BLOCK_K=32). */
static int add_named_tails(struct traits *t, const struct column *c, const struct word *w,
			   struct column *sizes)
{
	struct word named[WORDS_MAX];
	size_t n = names(t, true, named);
	int e = 0;

	for (size_t i = 0; !e && i < n; i++) {
		int64_t unused;

		if (!word_whole(named[i].value, named[i].value_length, &unused) ||
		    !strncmp(named[i].name, "num_", 4) || !strncmp(named[i].name, "maxnreg", 7))
			continue;
		fill_named(t, sizes, &named[i], true);
		e = add_remainders(t, c, w, sizes, named[i].name, named[i].name_length);
	}
	return e;
}

/* Block sizes without names whose part in a product of matrices the shapes tell. */
static int add_product_tails(struct traits *t, const struct column *c, const struct word *w,
			     struct column *sizes)
{
	static const char *const roles[] = {"(rows of the product's block)",
					    "(columns of the product's block)",
					    "(inner size of the product's block)"};
	int e = 0;

	for (size_t role = 0; !e && role < ARRAY_LENGTH(roles); role++) {
		column_clear(t, sizes);
		for (size_t i = 0; i < t->unit_count; i++) {
			int64_t found[3];

			sizes->known[i] = words_product(t->units[i].config->record->options, found);
			sizes->text[i] = NULL;
			sizes->value[i] = sizes->known[i] ? found[role] : 0;
		}
		e = add_remainders(t, c, w, sizes, roles[role], (int)strlen(roles[role]));
	}
	return e;
}

static int add_scalar(struct traits *t, const struct column *c, const struct word *w,
		      const int64_t *sizes, size_t size_count, struct column *remainder)
{
	struct naming n = {w->name, w->name_length, RANK_SCALAR, -1, RANK_SCALAR_THRESHOLD, false};
	struct comparison x = {c, 0, ALIGNMENT};
	int e = add_tails(t, c, w, sizes, size_count);

	if (!e)
		e = add_named_tails(t, c, w, remainder);
	if (!e)
		e = add_product_tails(t, c, w, remainder);
	if (!e)
		e = column_add(t, c, &n);
	if (!e)
		e = trait_add(t, RANK_ALIGNED_SCALAR, false, test_remainder, &x,
			      "%.*s not divisible by %u", w->name_length, w->name, ALIGNMENT);
	if (!e)
		e = trait_add(t, RANK_ALIGNED_SCALAR, false, test_divides, &x,
			      "%.*s divisible by %u", w->name_length, w->name, ALIGNMENT);
	return e;
}

static int add_pointer(struct traits *t, const struct column *c, const struct word *w)
{
	static const int64_t bytes[] = {16, 8, 4, 32, 64, 128};
	int e = 0;

	for (size_t i = 0; !e && i < ARRAY_LENGTH(bytes); i++) {
		struct comparison x = {c, 0, bytes[i]};

		e = trait_add(t, RANK_ALIGNED, false, test_remainder, &x,
			      "%.*s not aligned to %" PRId64 " bytes", w->name_length, w->name,
			      bytes[i]);
		if (!e)
			e = trait_add(t, RANK_ALIGNED, false, test_divides, &x,
				      "%.*s aligned to %" PRId64 " bytes", w->name_length, w->name,
				      bytes[i]);
	}
	return e;
}

/* Pointers become their addresses; false where some value is neither number nor address. */
static bool column_pointers(const struct traits *t, struct column *c, bool *pointers)
{
	bool numbers = true;

	*pointers = true;
	for (size_t i = 0; i < t->unit_count; i++) {
		if (!c->known[i])
			continue;
		numbers &= !c->text[i];
		*pointers &= c->text[i] && word_address(c->text[i], c->length[i], &c->value[i]);
	}
	return numbers || *pointers;
}

static int add_arguments(struct traits *t, struct column *c, struct column *other,
			 const int64_t *sizes, size_t size_count)
{
	struct word named[WORDS_MAX];
	size_t n = names(t, false, named);
	bool pointers;
	int e = 0;

	for (size_t i = 0; !e && i < n; i++) {
		fill_named(t, c, &named[i], false);
		if (!column_pointers(t, c, &pointers))
			continue; /* floats by value: a kernel's control flow rarely asks them */
		e = pointers ? add_pointer(t, c, &named[i])
			     : add_scalar(t, c, &named[i], sizes, size_count, other);
	}
	return e;
}

/* ---- the launch itself ---- */

static int add_grid(struct traits *t, struct column *c)
{
	static const char *const axes[] = {"grid x", "grid y", "grid z"};
	int e = 0;

	for (size_t axis = 0; !e && axis < 3; axis++) {
		struct naming w = {axes[axis], 6, RANK_GRID, -1, RANK_GRID_THRESHOLD, false};

		for (size_t i = 0; i < t->unit_count; i++) {
			c->known[i] = true;
			c->text[i] = NULL;
			c->value[i] = t->units[i].launch->record->grid[axis];
		}
		e = column_add(t, c, &w);
	}
	return e;
}

static int add_run(struct traits *t, struct column *c)
{
	static const struct naming recording = {"recording", 9, RANK_RECORDING, -1, -1, false};
	static const struct naming order = {"launch number", 13, -1, -1, RANK_ORDER, false};
	int e;

	for (size_t i = 0; i < t->unit_count; i++) {
		c->text[i] = t->units[i].launch->record->bundle ?: "?";
		c->length[i] = (int)strlen(c->text[i]);
		c->known[i] = true;
	}
	e = column_add(t, c, &recording);
	for (size_t i = 0; i < t->unit_count; i++) {
		c->text[i] = NULL;
		c->value[i] = (int64_t)t->units[i].launch->record->seq;
	}
	return e ? e : column_add(t, c, &order);
}

static bool test_ptx(const struct traits *t, size_t unit, const void *data)
{
	return t->units[unit].config->record->same_ptx == *(const bool *)data;
}

static bool test_code(const struct traits *t, size_t unit, const void *data)
{
	return t->units[unit].config->record->same_code == *(const bool *)data;
}

static bool test_source(const struct traits *t, size_t unit, const void *data)
{
	return (t->units[unit].config->record->pairing == PAIRING_SOURCE_CHANGED) ==
	       *(const bool *)data;
}

static int add_sides(struct traits *t)
{
	static const bool yes = true, no = false;
	int e = trait_add(t, RANK_PTX, true, test_ptx, &no, "other PTX in B than in A");

	if (!e)
		e = trait_add(t, RANK_PTX, true, test_ptx, &yes, "the same PTX in A and B");
	if (!e)
		e = trait_add(t, RANK_CODE, true, test_code, &no,
			      "other machine code in B than in A");
	if (!e)
		e = trait_add(t, RANK_CODE, true, test_code, &yes,
			      "the same machine code in A and B");
	return e ? e
		 : trait_add(t, RANK_SOURCE, true, test_source, &yes,
			     "a source that changed between A and B");
}

/* ---- units ---- */

static int take_units(struct traits *t, const struct family_verdict *f, int bucket)
{
	size_t n = 1;

	for (size_t i = 0; i < f->config_count; i++)
		n += f->configs[i].case_count;
	t->units = calloc(n, sizeof(*t->units));
	if (!t->units)
		return -ENOMEM;
	for (size_t i = 0, before = 0; i < f->config_count; i++) {
		const struct config_verdict *c = &f->configs[i];
		bool same = t->config_count &&
			    hash_equal(f->configs[before].record->key, c->record->key);
		size_t index = same ? t->config_count - 1 : t->config_count;

		for (size_t k = 0; k < c->case_count; k++) {
			const struct outcome *o = &c->cases[k].outcome;

			if (!o->bucket || o->unproven)
				continue;
			t->units[t->unit_count++] =
				(struct unit){c, &c->cases[k], index, o->bucket == bucket};
			t->config_count = index + 1;
			before = i;
		}
	}
	return 0;
}

static int compare_traits(const void *x, const void *y)
{
	const struct trait *a = x, *b = y;

	return a->rank != b->rank ? a->rank - b->rank
				  : (a->found > b->found) - (a->found < b->found);
}

int traits_find(struct traits *t, const struct family_verdict *f, int bucket)
{
	struct column c = {0}, other = {0};
	int64_t sizes[WORD_SIZES];
	size_t size_count;
	int e;

	*t = (struct traits){0};
	e = take_units(t, f, bucket);
	if (!e)
		e = column_make(t, &c);
	if (!e)
		e = column_make(t, &other);
	if (!e) {
		size_count = block_sizes(t, sizes);
		e = add_options(t, &c);
	}
	if (!e)
		e = add_blocks(t, &c, sizes, size_count);
	if (!e)
		e = add_arguments(t, &c, &other, sizes, size_count);
	if (!e)
		e = add_grid(t, &c);
	if (!e)
		e = add_run(t, &c);
	if (!e)
		e = add_sides(t);
	column_free(&c);
	column_free(&other);
	if (!e && t->count)
		qsort(t->items, t->count, sizeof(*t->items), compare_traits);
	return e;
}

void traits_free(struct traits *t)
{
	for (size_t i = 0; i < t->count; i++) {
		free(t->items[i].text);
		free(t->items[i].holds);
	}
	free(t->items);
	free(t->units);
	*t = (struct traits){0};
}
