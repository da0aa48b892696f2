/* SPDX-License-Identifier: MIT */
/* Reading a policy file. */
#include "analyze/policy.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "analyze/document.h"
#include "analyze/thresholds.h"
#include "lib/base.h"

/* THRESHOLD_COUNT: there is none of this name. */
static enum threshold find(const char *name)
{
	int i;

	for (i = 0; i < THRESHOLD_COUNT; i++)
		if (!strcmp(threshold_row((enum threshold)i)->name, name))
			break;
	return (enum threshold)i;
}

static int check(const char *path, json_t *thresholds, struct error *err)
{
	const char *name;
	json_t *value;

	json_object_foreach(thresholds, name, value)
	{
		if (find(name) == THRESHOLD_COUNT)
			return error_set(err, EINVAL, ERROR_NO_OFFSET,
					 "%s: there is no threshold '%.60s'", path, name);
		if (!json_is_number(value) || !(json_number_value(value) > 0) ||
		    isinf(json_number_value(value)))
			return error_set(err, EINVAL, ERROR_NO_OFFSET,
					 "%s: threshold '%s' must be a number above 0", path, name);
	}
	return 0;
}

int policy_apply(const char *path, struct error *err)
{
	json_t *root, *thresholds, *value;
	const char *name;
	int e = document_load(&root, path, "policy", "kernelab-policy/1", err);

	if (e)
		return e;
	thresholds = json_object_get(root, "thresholds");
	if (!json_is_object(thresholds) || json_object_size(root) != 2)
		e = error_set(err, EINVAL, ERROR_NO_OFFSET,
			      "%s: must have \"policy\" and \"thresholds\", and nothing else",
			      path);
	else
		e = check(path, thresholds, err);
	if (!e)
		json_object_foreach(thresholds, name, value)
		{
			threshold_set(find(name), json_number_value(value));
		}
	json_decref(root);
	return e;
}
