/* SPDX-License-Identifier: MIT */
/* Loading and checking of small JSON files. */
#include "analyze/document.h"

#include <errno.h>
#include <string.h>

#include "lib/base.h"

const char *document_text(const json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

int document_load(json_t **out, const char *path, const char *kind, const char *version,
		  struct error *err)
{
	_cleanup_free_ char *data = NULL;
	const char *found;
	json_error_t bad;
	size_t size;
	json_t *root;
	int e = file_read_all(path, DOCUMENT_BYTES_MAX, &data, &size);

	*out = NULL;
	if (e)
		return error_set(err, -e, ERROR_NO_OFFSET, "%s: %s", path, strerror(-e));
	root = json_loadb(data, size, JSON_REJECT_DUPLICATES, &bad);
	if (!root)
		return error_set(err, EINVAL, (uint64_t)bad.position, "%s: line %d: %.200s", path,
				 bad.line, bad.text);
	found = document_text(root, kind);
	if (!found || strcmp(found, version)) {
		e = error_set(err, EINVAL, ERROR_NO_OFFSET, "%s: \"%s\" must be \"%s\"%s%.60s%s",
			      path, kind, version, found ? ", not \"" : "", found ? found : "",
			      found ? "\"" : "");
		json_decref(root);
		return e;
	}
	*out = root;
	return 0;
}
