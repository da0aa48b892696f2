/* SPDX-License-Identifier: MIT */
/* What the recorded run made of a config: its USE records. */
#include "replay/uses.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "replay/bind.h"

bool member_is_test(const struct bundle *b, const struct suite_member *m)
{
	const struct record_image *i = bundle_image(b, m->image->id);

	return i && i->origin == ORIGIN_TEST;
}

static int put_use(struct bundle_writer *w, const struct plan *plan, size_t pair,
		   const struct suite_member *m, const struct suite_class *c)
{
	_cleanup_free_ const char **tests = calloc(m->launch_count + 1, sizeof(*tests));
	_cleanup_free_ char *params = NULL;
	size_t n = 0;
	struct record_use u = {.config = (uint32_t)pair,
			       .shape_class = c->key,
			       .seen = c->seen,
			       .recorded = c->recorded,
			       .reason = *c->reason ? c->reason : NULL,
			       .test = member_is_test(plan->base->bundles[m->bundle], m)};

	memcpy(u.grid, c->grid, sizeof(u.grid));
	if (!tests)
		return -ENOMEM;
	for (size_t i = 0; i < m->launch_count; i++) {
		const struct record_launch *l = m->launches[i];

		if (!hash_equal(l->shape_class, c->key))
			continue;
		if (!params)
			params = launch_params_text(l, m);
		if (l->test && *l->test && (!n || strcmp(tests[n - 1], l->test) != 0))
			tests[n++] = l->test;
	}
	u.params = params;
	u.tests = (struct strs){tests, n};
	return bundle_put_use(w, &u);
}

int uses_put(struct bundle_writer *w, const struct plan *plan, size_t index)
{
	const struct pair *p = &plan->pairs.items[index];
	int rc = 0;

	for (size_t i = 0; p->base && i < p->config->member_count; i++) {
		const struct suite_member *m = &p->config->members[i];

		if (strcmp(m->entry, p->base->entry) != 0 ||
		    !hash_equal(m->image->id, p->base->image->id))
			continue;
		for (size_t k = 0; !rc && k < m->class_count; k++)
			rc = put_use(w, plan, index, m, &m->classes[k]);
	}
	return rc;
}
