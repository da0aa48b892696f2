/* SPDX-License-Identifier: MIT */
/* Phrases that several reports share. */
#include "analyze/phrase.h"

#include <inttypes.h>
#include <string.h>

#include "lib/base.h"

/* Bytes of the UTF-8 sequence at p, 0 where it is none. Overlong forms and surrogates are none. */
static size_t utf8_length(const unsigned char *p)
{
	size_t n = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;

	if (p[0] > 0xf4 || !n)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
	    (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	return n;
}

char *phrase_clean(char *text)
{
	unsigned char *p = (unsigned char *)text;

	while (*p) {
		size_t n = utf8_length(p);
		/* C1 controls are U+0080 … U+009f */
		bool control = *p < 0x20 || *p == 0x7f || (*p == 0xc2 && p[1] < 0xa0);

		if (!n || (control && n == 1)) {
			*p++ = '?';
			continue;
		}
		if (control)
			memset(p, '?', n);
		p += n;
	}
	return text;
}

static const char *text_or(const char *text, const char *other)
{
	return text && *text ? text : other;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Type of the first output of the first launch that has one; UNKNOWN if there is none. */
static enum dtype first_dtype(const struct family_verdict *f)
{
	for (size_t i = 0; i < f->config_count; i++)
		for (size_t k = 0; k < f->configs[i].case_count; k++) {
			const struct record_case *c = f->configs[i].cases[k].record;

			if (c->extents.count && c->extents.items[0].dtype < DTYPE_COUNT)
				return c->extents.items[0].dtype;
		}
	return DTYPE_UNKNOWN;
}

char *phrase_family(char *out, const struct analysis *a, const struct family_verdict *f)
{
	const char *name = text_or(f->record->name, "?");
	bool shared = false, told = first_dtype(f) != DTYPE_UNKNOWN;
	char key[HASH_TEXT_BYTES];

	for (size_t i = 0; i < a->family_count; i++) {
		const struct family_verdict *x = &a->families[i];

		if (x == f || strcmp(text_or(x->record->name, "?"), name))
			continue;
		shared = true;
		told &= first_dtype(x) != first_dtype(f);
	}
	if (!shared)
		snprintf(out, PHRASE_BYTES, "%s", name);
	else if (told)
		snprintf(out, PHRASE_BYTES, "%.480s %s", name, dtype_name(first_dtype(f)));
	else
		snprintf(out, PHRASE_BYTES, "%.480s #%.4s", name, hash_text(f->record->key, key));
	return phrase_clean(out);
}

char *phrase_config(char *out, const struct config_verdict *c)
{
	snprintf(out, PHRASE_BYTES, "%s", text_or(c->record->options, "?"));
	return phrase_clean(out);
}

/* "num_warps=4 num_stages=3 64x32" as "w4 s3 64x32": what a table has room for. */
char *phrase_options_short(char *out, const char *options)
{
	static const struct {
		const char *name;
		char letter;
	} known[] = {
		{"num_warps=", 'w'}, {"num_stages=", 's'}, {"num_ctas=", 'c'}, {"maxnreg=", 'r'}};
	char *write = out, *read = out;

	snprintf(out, PHRASE_BYTES, "%s", text_or(options, "?"));
	phrase_clean(out);
	while (*read) {
		for (size_t i = 0; i < ARRAY_LENGTH(known); i++) {
			size_t n = strlen(known[i].name);

			if ((read != out && read[-1] != ' ') || strncmp(read, known[i].name, n))
				continue;
			*write++ = known[i].letter;
			read += n;
			break;
		}
		if (*read)
			*write++ = *read++;
	}
	*write = '\0';
	return out;
}

char *phrase_config_short(char *out, const struct config_verdict *c)
{
	return phrase_options_short(out, c->record->options);
}

/* "0.098 %", "12 %", "100 %" */
static char *percent(char *out, size_t size, double share)
{
	snprintf(out, size, share >= 0.0995 ? "%.0f %%" : "%.2g %%", 100 * share);
	return out;
}

char *phrase_origin(char *out, const struct record_family *f)
{
	if (f->source && *f->source)
		snprintf(out, PHRASE_BYTES, "%s:%" PRIu32 ", %s", base_name(f->source), f->line,
			 origin_name(f->origin));
	else
		snprintf(out, PHRASE_BYTES, "%s", origin_name(f->origin));
	return phrase_clean(out);
}

char *phrase_figures(char *out, const struct family_verdict *f)
{
	const struct output_verdict *o = family_worst_output(f);
	const struct metrics *m = o ? &o->metrics : NULL;
	char share[32];

	if (f->outcome.bucket == 1)
		snprintf(out, PHRASE_BYTES, "bitwise in %" PRIu32 " launch%s", f->coverage.tested,
			 f->coverage.tested == 1 ? "" : "es");
	else if (f->outcome.tag)
		snprintf(out, PHRASE_BYTES, "%s", f->outcome.tag);
	else if (f->outcome.unproven)
		snprintf(out, PHRASE_BYTES, "nothing tested");
	else if (!m || !m->differing)
		snprintf(out, PHRASE_BYTES, "%s", rule_name(f->outcome.rule));
	else if (m->class_changes)
		snprintf(out, PHRASE_BYTES, "%" PRIu64 " of %" PRIu64 " NaN/inf", m->class_changes,
			 m->elements);
	else if (f->outcome.rule == RULE_INTEGER)
		snprintf(out, PHRASE_BYTES, "%" PRIu64 " of %" PRIu64 " integers", m->differing,
			 m->elements);
	else if (f->outcome.rule == RULE_FREQUENCY)
		snprintf(out, PHRASE_BYTES, "%s differ, %" PRIu64 " ulp",
			 percent(share, sizeof(share),
				 (double)m->steps / (double)(m->elements - m->zero_both)),
			 m->max_ulp);
	else
		snprintf(out, PHRASE_BYTES, "|d| %.2g, %.*g ulp, %s", m->max_abs,
			 m->max_ulp < 100000 ? 5 : 1, (double)m->max_ulp,
			 percent(share, sizeof(share), (double)m->differing / (double)m->elements));
	return out;
}

char *phrase_place(char *out, const struct family_verdict *f)
{
	const struct case_verdict *c = family_worst_case(f);
	const struct output_verdict *o = family_worst_output(f);
	char config[PHRASE_BYTES];

	out[0] = '\0';
	if (!c)
		return out;
	bool derived = c->record->derived && *c->record->derived;

	snprintf(out, PHRASE_BYTES, "config %.200s, %s %" PRIu64 " of %.120s%s%.80s%s%.80s",
		 phrase_config(config, &f->configs[f->worst_config]),
		 derived ? "derived from launch" : "launch", c->record->seq,
		 text_or(c->record->bundle, "?"), derived ? ", with " : "",
		 derived ? c->record->derived : "", o ? ", output " : "", o ? o->name : "");
	return phrase_clean(out);
}

char *phrase_fidelity(char *out, const struct record_case *c)
{
	if (c->derived && *c->derived)
		snprintf(out, PHRASE_BYTES, "derived from launch %" PRIu64 ": %.400s", c->seq,
			 c->derived);
	else
		snprintf(out, PHRASE_BYTES, "replay of the recorded kernel is %s",
			 fidelity_name(c->fidelity));
	return phrase_clean(out);
}

char *phrase_side(char *out, const struct record_side *s)
{
	snprintf(out, PHRASE_BYTES, "%.160s, commit %.60s (%.200s)",
		 text_or_unspecified(s->version), text_or_unspecified(s->commit),
		 text_or(s->source, "source unknown"));
	return phrase_clean(out);
}

const char *phrase_made_by(const struct record_side *s)
{
	for (size_t i = 0; i < s->facts.count; i++)
		if (s->facts.items[i].name && !strcmp(s->facts.items[i].name, "compiler.command"))
			return s->facts.items[i].value;
	return NULL;
}

char *phrase_counts(char *out, const struct analysis *a)
{
	char more[96] = "", accepted[64] = "";

	if (a->unproven)
		snprintf(more, sizeof(more), " (%zu of them unproven)", a->unproven);
	if (a->accepted)
		snprintf(accepted, sizeof(accepted), ", %zu accepted earlier", a->accepted);
	snprintf(out, PHRASE_BYTES, "%zu suspicious%s, %zu small, %zu bitwise equal, of %zu %s%s",
		 a->buckets[3], more, a->buckets[2], a->buckets[1], a->family_count,
		 a->family_count == 1 ? "family" : "families", accepted);
	return out;
}

char *phrase_rule(char *out, const struct family_verdict *f)
{
	snprintf(out, PHRASE_BYTES, "%s%s", rule_number(f->outcome.rule), f->accepted ? "*" : "");
	return out;
}

bool analysis_provisional(const struct analysis *a)
{
	for (size_t i = 0; i < a->family_count; i++)
		if (a->families[i].outcome.provisional)
			return true;
	return false;
}
