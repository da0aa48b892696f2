/* SPDX-License-Identifier: MIT */
/* A person's word on which config of B belongs to which recorded one: --pair FILE. */
#include "replay/rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"

#define FILE_MAX   (16u << 20)
#define MIN_DIGITS 8

void pair_rules_free(struct pair_rules *r)
{
	free(r->path);
	free(r->items);
	*r = (struct pair_rules){0};
}

const struct pair_rule *pair_rule_of(const struct pair_rules *r,
				     const struct suite_config *recorded)
{
	for (size_t i = 0; r && i < r->count; i++)
		if (r->items[i].recorded == recorded)
			return &r->items[i];
	return NULL;
}

/* Configs of that entry whose key begins with `digits`; *found gets one. */
static size_t find_configs(const struct suite *s, const char *family, const char *digits,
			   const struct suite_config **found)
{
	size_t n = 0, length = strlen(digits);
	char hex[HASH_TEXT_BYTES];

	for (size_t i = 0; i < s->family_count; i++) {
		const struct suite_family *f = &s->families[i];

		for (size_t j = 0; !strcmp(f->name, family) && j < f->config_count; j++) {
			if (strncmp(hash_text(f->configs[j].key, hex), digits, length) != 0)
				continue;
			*found = &f->configs[j];
			n++;
		}
	}
	return n;
}

static int resolve(const struct suite *s, const char *side, const char *family, const char *digits,
		   const struct suite_config **found, struct error *err)
{
	size_t n;

	if (strlen(digits) < MIN_DIGITS || digits[strspn(digits, "0123456789abcdef")] ||
	    strlen(digits) >= HASH_TEXT_BYTES)
		return error_set(err, EINVAL, ERROR_NO_OFFSET,
				 "'%.40s' is no config key (%d to %d hexadecimal digits)", digits,
				 MIN_DIGITS, HASH_TEXT_BYTES - 1);
	n = find_configs(s, family, digits, found);
	return n == 1 ? 0
		      : error_set(err, EINVAL, ERROR_NO_OFFSET,
				  "%s has %zu configs %.40s of %.100s", side, n, digits, family);
}

static int add_rule(struct pair_rules *r, char *line, size_t number, const struct suite *base,
		    const struct suite *b, struct error *err)
{
	struct pair_rule rule = {.line = number};
	char *family = strsep(&line, "\t"), *recorded = strsep(&line, "\t");
	char *partner = strsep(&line, "\t");
	int rc;

	if (!partner)
		return error_set(err, EINVAL, ERROR_NO_OFFSET,
				 "not FAMILY, CONFIG, CONFIG OF B, with tabs between them");
	rc = resolve(base, "the recording", family, recorded, &rule.recorded, err);
	if (!rc && strcmp(partner, "-") != 0)
		rc = resolve(b, "B", family, partner, &rule.b, err);
	if (rc)
		return rc;
	if (pair_rule_of(r, rule.recorded))
		return error_set(err, EINVAL, ERROR_NO_OFFSET,
				 "config %.40s of %.100s is ruled on in line %zu too", recorded,
				 family, pair_rule_of(r, rule.recorded)->line);
	rc = array_reserve(&r->items, r->count, &r->capacity, sizeof(*r->items));
	if (rc)
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for rules");
	r->items[r->count++] = rule;
	return 0;
}

int pair_rules_read(struct pair_rules *out, const char *path, const struct suite *base,
		    const struct suite *b, struct error *err)
{
	_cleanup_free_ char *text = NULL;
	size_t size, number = 0;
	char *rest;
	int rc = file_read_all(path, FILE_MAX, &text, &size);

	*out = (struct pair_rules){0};
	if (rc)
		return error_set(err, -rc, ERROR_NO_OFFSET, "--pair %s: %s", path, strerror(-rc));
	if (memchr(text, 0, size))
		return error_set(err, EINVAL, ERROR_NO_OFFSET, "--pair %s: no text file", path);
	out->path = strdup(path);
	rc = out->path ? 0 : error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for rules");
	rest = text;
	for (char *line; !rc && (line = strsep(&rest, "\n"));) {
		line[strcspn(line, "\r")] = 0;
		number++;
		if (!line[strspn(line, " \t")] || line[0] == '#')
			continue;
		rc = add_rule(out, line, number, base, b, err);
		if (rc)
			error_prefix(err, "--pair %s, line %zu", path, number);
	}
	if (rc)
		pair_rules_free(out);
	return rc;
}
