/* SPDX-License-Identifier: MIT */
/* Pairing the families of an earlier report with those of now. */
#include "analyze/since.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/document.h"
#include "analyze/phrase.h"
#include "lib/base.h"

struct earlier {
	const char *name;
	struct hash128 key;
	struct earlier_verdict verdict;
	bool found;
};

struct earlier_list {
	struct earlier *items;
	size_t count;
};

static int read_earlier(const json_t *object, struct earlier *x)
{
	const json_t *rule = json_object_get(object, "rule");
	const char *key = document_text(object, "key"), *number = document_text(rule, "number");
	json_int_t bucket = json_integer_value(json_object_get(object, "bucket"));

	x->name = document_text(object, "name");
	if (!x->name || !key || hash_parse(key, &x->key) || !number || bucket < 1 || bucket > 3)
		return -EINVAL;
	x->verdict = (struct earlier_verdict){
		.known = true,
		.bucket = (int)bucket,
		.unproven = json_is_true(json_object_get(object, "unproven")),
	};
	snprintf(x->verdict.rule, sizeof(x->verdict.rule), "%s", number);
	return 0;
}

static const char *name_of(const struct family_verdict *f)
{
	return f->record->name ? f->record->name : "";
}

static struct earlier *by_key(const struct earlier_list *list, struct hash128 key)
{
	for (size_t i = 0; i < list->count; i++)
		if (!list->items[i].found && hash_equal(list->items[i].key, key))
			return &list->items[i];
	return NULL;
}

/* The only one of this name that is left on either side. */
static struct earlier *by_name(const struct analysis *a, const struct earlier_list *list,
			       const struct family_verdict *f)
{
	struct earlier *only = NULL;

	for (size_t i = 0; i < a->family_count; i++)
		if (&a->families[i] != f && !a->families[i].before.known &&
		    !strcmp(name_of(&a->families[i]), name_of(f)))
			return NULL;
	for (size_t i = 0; i < list->count; i++) {
		if (list->items[i].found || strcmp(list->items[i].name, name_of(f)))
			continue;
		if (only)
			return NULL;
		only = &list->items[i];
	}
	return only;
}

static void take(struct family_verdict *f, struct earlier *x)
{
	if (!x)
		return;
	x->found = true;
	f->before = x->verdict;
}

int since_compare(const struct family_verdict *f)
{
	int now = f->outcome.bucket * 2 - f->outcome.unproven;

	return now - (f->before.bucket * 2 - f->before.unproven);
}

static int conclude(struct analysis *a, const struct earlier_list *list)
{
	for (size_t i = 0; i < a->family_count; i++) {
		const struct family_verdict *f = &a->families[i];

		if (!f->before.known)
			a->since.added++;
		else if (since_compare(f) > 0)
			a->since.worse++;
		else if (since_compare(f) < 0)
			a->since.better++;
		else
			a->since.same++;
	}
	a->since.gone = calloc(list->count + 1, sizeof(*a->since.gone));
	for (size_t i = 0; a->since.gone && i < list->count; i++) {
		char *name;

		if (list->items[i].found)
			continue;
		name = strdup(list->items[i].name);
		if (!name)
			return -ENOMEM;
		a->since.gone[a->since.gone_count++] = phrase_clean(name);
	}
	return a->since.gone ? 0 : -ENOMEM;
}

int since_apply(struct analysis *a, const char *path, struct error *err)
{
	struct earlier_list list = {0};
	json_t *root, *families, *object;
	size_t i;
	int e = document_load(&root, path, "schema", "kernelab-verdict/1", err);

	if (e)
		return e;
	families = json_object_get(root, "families");
	list.items = calloc(json_array_size(families) + 1, sizeof(*list.items));
	if (!list.items)
		e = error_set(err, ENOMEM, ERROR_NO_OFFSET, "out of memory");
	else if (!json_is_array(families))
		e = error_set(err, EINVAL, ERROR_NO_OFFSET, "%s: has no families", path);
	json_array_foreach(families, i, object)
	{
		if (e)
			break;
		if (read_earlier(object, &list.items[list.count++]))
			e = error_set(err, EINVAL, ERROR_NO_OFFSET,
				      "%s: family %zu lacks name, key, bucket or rule", path, i);
	}
	for (i = 0; !e && i < a->family_count; i++)
		take(&a->families[i], by_key(&list, a->families[i].record->key));
	for (i = 0; !e && i < a->family_count; i++)
		if (!a->families[i].before.known)
			take(&a->families[i], by_name(a, &list, &a->families[i]));
	a->since.path = path;
	if (!e && conclude(a, &list))
		e = error_set(err, ENOMEM, ERROR_NO_OFFSET, "out of memory");
	free(list.items);
	json_decref(root);
	return e;
}
