/* SPDX-License-Identifier: MIT */
/* Parses the variables that select what is recorded. */
#include "lib/selection.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernelab/records.h"
#include "lib/base.h"
#include "lib/count.h"
#include "lib/environment.h"

#define MAX_REGION_DEFAULT    (4ull << 30)
#define WAIT_BEFORE_DEFAULT_S 20
#define WAIT_AFTER_DEFAULT_S  60
#define RING_DEFAULT          (256ull << 20)
#define HOST_MEMORY_DEFAULT   (1ull << 30)
#define SAMPLE_FIRST_DEFAULT  16u
#define SAMPLE_FACTOR_DEFAULT 4u
#define SECONDS_MAX           1e9

static int wrong(enum environment_id id, struct error *err, const char *why)
{
	char option[64];
	size_t n = 0;

	/* KERNELAB_MAX_BYTES is --max-bytes */
	for (const char *c = environment_name(id) + strlen("KERNELAB_");
	     *c && n + 1 < sizeof(option); c++)
		option[n++] = *c == '_' ? '-' : (char)(*c >= 'A' && *c <= 'Z' ? *c + 32 : *c);
	option[n] = 0;
	return error_set(err, EINVAL, ERROR_NO_OFFSET, "--%s (%s) '%s': %s", option,
			 environment_name(id), environment_get(id), why);
}

static int read_count(enum environment_id id, uint64_t least, uint64_t *out, struct error *err)
{
	const char *text = environment_get(id);
	uint64_t value;

	if (!text)
		return 0;
	if (count_parse(text, &value) < 0)
		return wrong(id, err, "not a whole number (suffixes K, M, G, T)");
	if (value < least)
		return wrong(id, err, "would record nothing");
	*out = value;
	return 0;
}

static int read_regex(enum environment_id id, bool *has, regex_t *regex, struct error *err)
{
	const char *text = environment_get(id);
	char why[160];
	int code;

	if (!text)
		return 0;
	code = regcomp(regex, text, REG_EXTENDED | REG_NOSUB);
	if (code) {
		regerror(code, regex, why, sizeof(why));
		return wrong(id, err, why);
	}
	*has = true;
	return 0;
}

/* ---- origins ---- */

static int origin_bit(const char *text, size_t size, unsigned *mask)
{
	if (size == 3 && !strncmp(text, "all", 3)) {
		*mask = ~0u;
		return 0;
	}
	for (uint32_t o = ORIGIN_OTHER; o <= ORIGIN_TEST; o++) {
		if (strlen(origin_name(o)) == size && !strncmp(text, origin_name(o), size)) {
			*mask |= 1u << o;
			return 0;
		}
	}
	return -EINVAL;
}

static int read_origins(struct selection *s, struct error *err)
{
	const char *text = environment_get(ENVIRONMENT_ORIGIN);

	if (!text)
		text = "triton,tlx,inductor,test";
	for (;; text++) {
		size_t n = strcspn(text, ",");

		if (origin_bit(text, n, &s->origins) < 0)
			return wrong(ENVIRONMENT_ORIGIN, err,
				     "not of all, triton, tlx, inductor, test, other");
		text += n;
		if (!*text)
			return 0;
	}
}

static int read_origin_name(struct selection *s, struct error *err)
{
	const char *text = environment_get(ENVIRONMENT_ORIGIN_NAME);

	for (uint32_t o = ORIGIN_OTHER; text && o <= ORIGIN_TEST; o++)
		if (!strcmp(text, origin_name(o)))
			s->origin_name = (int)o;
	return text && s->origin_name < 0 ? wrong(ENVIRONMENT_ORIGIN_NAME, err,
						  "not of triton, tlx, inductor, test, other")
					  : 0;
}

static int read_extents(struct selection *s, struct error *err)
{
	const char *text = environment_get(ENVIRONMENT_EXTENTS);

	s->extents = !text || strcmp(text, "off") != 0;
	return text && s->extents && strcmp(text, "auto") != 0
		       ? wrong(ENVIRONMENT_EXTENTS, err, "not auto or off")
		       : 0;
}

/* "20s", "0.5s" or the number alone. */
static int read_wait(enum environment_id id, double *out, struct error *err)
{
	const char *text = environment_get(id);
	double seconds;
	char *end;

	if (!text)
		return 0;
	seconds = strtod(text, &end);
	if (end == text || (*end && strcmp(end, "s") != 0) || !(seconds > 0) ||
	    seconds > SECONDS_MAX)
		return wrong(id, err, "not seconds above 0, as in 20s or 0.5s");
	*out = seconds;
	return 0;
}

static int read_hash(struct selection *s, struct error *err)
{
	static const char *const words[] = {"auto", "off", "verify"};
	const char *text = environment_get(ENVIRONMENT_HASH);

	for (size_t i = 0; text && i < ARRAY_LENGTH(words); i++)
		if (!strcmp(text, words[i])) {
			s->hash = (enum selection_hash)i;
			return 0;
		}
	return text ? wrong(ENVIRONMENT_HASH, err, "not auto, off or verify") : 0;
}

static int read_compress(struct selection *s, struct error *err)
{
	const char *text = environment_get(ENVIRONMENT_COMPRESS);

	s->compress = !text || strcmp(text, "none") != 0;
	return text && s->compress && strcmp(text, "lz4") != 0
		       ? wrong(ENVIRONMENT_COMPRESS, err, "not lz4 or none")
		       : 0;
}

/* ---- moments, samples, ranks ---- */

/* "1000": launches; "30s", "0.5s": seconds. */
static int read_moment(enum environment_id id, struct selection_moment *m, struct error *err)
{
	const char *text = environment_get(id);
	double seconds;
	char *end;

	if (!text)
		return 0;
	if (text[strlen(text) - 1] != 's') {
		if (count_parse(text, &m->launches) < 0 || !m->launches)
			return wrong(id, err, "neither seconds (30s) nor a number of launches");
		return 0;
	}
	seconds = strtod(text, &end);
	if (end == text || strcmp(end, "s") != 0 || !(seconds > 0) || seconds > SECONDS_MAX)
		return wrong(id, err, "not seconds above 0, as in 30s or 0.5s");
	m->ns = (uint64_t)(seconds * 1e9);
	return 0;
}

/* K[,FIRST[,FACTOR]] */
static int read_sample(struct selection *s, struct error *err)
{
	_cleanup_free_ char *text = NULL;
	uint64_t *fields[] = {&s->samples, &s->sample_first, &s->sample_factor};
	char *rest;

	if (!environment_get(ENVIRONMENT_SAMPLE))
		return 0;
	text = strdup(environment_get(ENVIRONMENT_SAMPLE));
	if (!text)
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory");
	rest = text;
	for (size_t i = 0; i < ARRAY_LENGTH(fields) && rest; i++) {
		char *item = strsep(&rest, ",");

		if (count_parse(item, fields[i]) < 0)
			return wrong(ENVIRONMENT_SAMPLE, err, "not K, K,FIRST or K,FIRST,FACTOR");
	}
	if (rest || !s->sample_first || s->sample_factor < 2)
		return wrong(ENVIRONMENT_SAMPLE, err,
			     "K,FIRST,FACTOR needs FIRST >= 1 and FACTOR >= 2");
	return 0;
}

/* 0,2-3 */
static int read_ranks(struct selection *s, struct error *err)
{
	const char *text = environment_get(ENVIRONMENT_RANKS);
	_cleanup_free_ char *copy = NULL;
	char *rest, *item;

	if (!text)
		return 0;
	copy = strdup(text);
	if (!copy)
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory");
	rest = copy;
	while ((item = strsep(&rest, ","))) {
		char *dash = strchr(item, '-');
		uint64_t first, last;

		if (dash)
			*dash++ = 0;
		if (count_parse(item, &first) < 0 || count_parse(dash ? dash : item, &last) < 0 ||
		    last < first)
			return wrong(ENVIRONMENT_RANKS, err, "not a list of ranks as in 0,2-3");
		if (s->rank_count == SELECTION_RANKS_MAX)
			return wrong(ENVIRONMENT_RANKS, err, "more than 64 ranges");
		s->ranks[s->rank_count].first = first;
		s->ranks[s->rank_count++].last = last;
	}
	return 0;
}

/* ---- all ---- */

static int read_limits(struct selection *s, struct error *err)
{
	const struct {
		enum environment_id id;
		uint64_t least, *out;
	} counts[] = {
		{ENVIRONMENT_PER_CLASS, 1, &s->per_class},
		{ENVIRONMENT_SKIP_LAUNCHES, 0, &s->skip_launches},
		{ENVIRONMENT_MAX_LAUNCHES, 1, &s->max_launches},
		{ENVIRONMENT_MAX_BYTES, 1, &s->max_bytes},
		{ENVIRONMENT_MAX_REGION, 1, &s->max_region_bytes},
		{ENVIRONMENT_RING, 1, &s->ring_bytes},
		{ENVIRONMENT_HOST_MEMORY, 1, &s->host_bytes},
	};
	int r = 0;

	for (size_t i = 0; r >= 0 && i < ARRAY_LENGTH(counts); i++)
		r = read_count(counts[i].id, counts[i].least, counts[i].out, err);
	return r;
}

int selection_read(struct selection *s, struct error *err)
{
	int r;

	*s = (struct selection){
		.origin_name = -1,
		.no_data = environment_flag(ENVIRONMENT_NO_DATA),
		.cupti = environment_flag(ENVIRONMENT_CUPTI),
		.extents = true,
		.per_class = 1,
		.sample_first = SAMPLE_FIRST_DEFAULT,
		.sample_factor = SAMPLE_FACTOR_DEFAULT,
		.max_launches = SELECTION_NO_LIMIT,
		.max_bytes = SELECTION_NO_LIMIT,
		.max_region_bytes = MAX_REGION_DEFAULT,
		.wait_before_s = WAIT_BEFORE_DEFAULT_S,
		.wait_after_s = WAIT_AFTER_DEFAULT_S,
		.ring_bytes = RING_DEFAULT,
		.host_bytes = HOST_MEMORY_DEFAULT,
	};
	r = read_extents(s, err);
	if (r >= 0)
		r = read_compress(s, err);
	if (r >= 0)
		r = read_hash(s, err);
	if (r >= 0)
		r = read_origins(s, err);
	if (r >= 0)
		r = read_origin_name(s, err);
	if (r >= 0)
		r = read_limits(s, err);
	if (r >= 0)
		r = read_wait(ENVIRONMENT_WAIT_BEFORE, &s->wait_before_s, err);
	if (r >= 0)
		r = read_wait(ENVIRONMENT_WAIT_AFTER, &s->wait_after_s, err);
	if (r >= 0)
		r = read_moment(ENVIRONMENT_START_AFTER, &s->start, err);
	if (r >= 0)
		r = read_moment(ENVIRONMENT_STOP_AFTER, &s->stop, err);
	if (r >= 0)
		r = read_sample(s, err);
	if (r >= 0)
		r = read_ranks(s, err);
	if (r >= 0)
		r = read_regex(ENVIRONMENT_KERNELS, &s->has_kernels, &s->kernels, err);
	if (r >= 0)
		r = read_regex(ENVIRONMENT_EXCLUDE, &s->has_exclude, &s->exclude, err);
	if (r < 0)
		selection_free(s);
	return r;
}

void selection_free(struct selection *s)
{
	if (s->has_kernels)
		regfree(&s->kernels);
	if (s->has_exclude)
		regfree(&s->exclude);
	s->has_kernels = s->has_exclude = false;
}

const char *selection_left_out(const struct selection *s, const char *entry)
{
	if (s->has_kernels && regexec(&s->kernels, entry, 0, NULL, 0))
		return "its name does not match KERNELAB_KERNELS";
	if (s->has_exclude && !regexec(&s->exclude, entry, 0, NULL, 0))
		return "its name matches KERNELAB_EXCLUDE";
	return NULL;
}

bool selection_rank(const struct selection *s, uint64_t rank)
{
	for (size_t i = 0; i < s->rank_count; i++)
		if (rank >= s->ranks[i].first && rank <= s->ranks[i].last)
			return true;
	return !s->rank_count;
}

uint64_t selection_sample(const struct selection *s, struct hash128 class_key, unsigned index)
{
	uint64_t base = s->sample_first, mixed;

	for (unsigned i = 0; i < index; i++)
		if (__builtin_mul_overflow(base, s->sample_factor, &base))
			return SELECTION_NO_LIMIT;
	if (base >> 63)
		return SELECTION_NO_LIMIT;
	mixed = (class_key.low ^ (uint64_t)index << 56) * 0x9e3779b97f4a7c15u;
	return base + (mixed >> 32) % (base / 2 + 1);
}
