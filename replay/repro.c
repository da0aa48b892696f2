/* SPDX-License-Identifier: MIT */
/* The command that shows one launch again. */
#include "replay/repro.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "lib/pattern.h"

/* A word for the shell: quoted where it must be. */
static void put_word(FILE *f, const char *word)
{
	if (*word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					"0123456789_-./=:,+@%")]) {
		fputs(word, f);
		return;
	}
	fputc('\'', f);
	for (; *word; word++) {
		if (*word == '\'')
			fputs("'\\''", f);
		else
			fputc(*word, f);
	}
	fputc('\'', f);
}

static void put_option(FILE *f, const char *name, const char *value)
{
	if (!value)
		return;
	fprintf(f, " --%s ", name);
	put_word(f, value);
}

/* "^name$" where the characters between mean themselves. */
static void put_family(FILE *f, const char *name)
{
	_cleanup_free_ char *pattern = NULL;
	size_t size;
	FILE *out = open_memstream(&pattern, &size);

	if (!out)
		return;
	fputc('^', out);
	pattern_put(out, name);
	fputc('$', out);
	if (!fclose(out))
		put_option(f, "family", pattern);
}

static void put_trials(FILE *f, uint32_t trials)
{
	char sign = ' ';

	if (trials == TRIALS_ALL)
		return;
	fputs(" --trials", f);
	for (uint32_t kind = TRIAL_POISON; kind < TRIAL_KINDS; kind++) {
		if (!(trials & 1u << kind))
			continue;
		fprintf(f, "%c%s", sign, trial_kind_name(kind));
		sign = ',';
	}
	if (trials & TRIALS_DERIVED)
		fprintf(f, "%cderived", sign);
	else if (sign == ' ')
		fputs(" none", f);
}

/* What is not as it is without options. */
static void put_settings(FILE *f, const struct replay_options *o)
{
	struct replay_options usual;

	replay_options_init(&usual);
	put_trials(f, o->trials);
	for (size_t i = 0; i < o->dtype_count; i++)
		put_option(f, "dtype", o->dtypes[i]);
	if (o->repeats != usual.repeats)
		fprintf(f, " --repeats %" PRIu64, o->repeats);
	if (o->repeats_max != usual.repeats_max)
		fprintf(f, " --repeats-max %" PRIu64, o->repeats_max);
	if (o->store_all)
		fputs(" --store-all", f);
	if (o->timeout_s < usual.timeout_s || o->timeout_s > usual.timeout_s)
		fprintf(f, " --timeout %g", o->timeout_s);
	put_option(f, "siblings", o->siblings);
	if (o->reference_s > 0)
		fprintf(f, " --reference %g", o->reference_s);
	put_option(f, "pair", o->pair_file);
	put_option(f, "a-version", o->a_version);
	put_option(f, "a-commit", o->a_commit);
	put_option(f, "b-version", o->b_version);
	put_option(f, "b-commit", o->b_commit);
}

char *repro_text(const struct plan *plan, const struct replay_options *options, bool software,
		 const struct replay_case *c)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	fputs("kernelab diff ", f);
	put_word(f, c->bundle->path);
	put_option(f, "a", options->a);
	put_option(f, "b", options->b);
	put_family(f, plan->pairs.items[c->pair].family->name);
	fprintf(f, " --launch %llu --device %s", (unsigned long long)c->launch->seq,
		software ? "soft" : "gpu");
	put_settings(f, options);
	if (fclose(f)) {
		free(text);
		return NULL;
	}
	return text;
}
