/* SPDX-License-Identifier: MIT */
/* What compiled the kernels of a side, in one line. */
#include "replay/versions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"

/* "triton 3.6.0" is none of "triton 3.6.0+git, ptxas 12.8.93". text may be NULL. */
static bool has_item(const char *text, const char *item)
{
	size_t n = strlen(item);

	for (const char *at = text; at && (at = strstr(at, item)); at++)
		if ((at == text || at[-1] == ' ') && (!at[n] || at[n] == ','))
			return true;
	return false;
}

/* Appends "what value" once. */
static void add_version(FILE *f, char *const *text, const char *what, const char *value)
{
	_cleanup_free_ char *both = text_format("%s %s", what, value);

	fflush(f);
	if (both && value && *value && !has_item(*text, both))
		fprintf(f, "%s%s", *text && **text ? ", " : "", both);
	fflush(f);
}

/* Appends the versions of Triton, or of ptxas, of all images of a side. */
static void add_compilers(FILE *f, char *const *text, const struct source *s, bool ptxas)
{
	for (size_t i = 0; i < s->suite->family_count; i++) {
		const struct suite_family *family = &s->suite->families[i];

		for (size_t j = 0; j < family->config_count; j++)
			for (size_t k = 0; k < family->configs[j].member_count; k++) {
				const struct suite_member *m = &family->configs[j].members[k];

				if (ptxas)
					add_version(f, text, "ptxas", m->image->ptxas);
				else if (m->triton)
					add_version(f, text, "triton", m->triton->triton_version);
			}
	}
}

char *versions_text(const struct source *s)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	add_compilers(f, &text, s, false);
	add_compilers(f, &text, s, true);
	for (size_t i = 0; i < s->count; i++)
		add_version(f, &text, "torch", bundle_fact(s->bundles[i], "torch.version"));
	if (fclose(f)) {
		free(text);
		return NULL;
	}
	return text;
}
