/* SPDX-License-Identifier: MIT */
/* JSON files that a person or an earlier run gives to analyze: policy, baseline, earlier verdict.
 */
#ifndef ANALYZE_DOCUMENT_H
#define ANALYZE_DOCUMENT_H

#include <jansson.h>

#include "kernelab/error.h"

#define DOCUMENT_BYTES_MAX (1024u << 20)

/*
 * Reads the JSON object in the file at path, in which member `kind` must be the text `version`
 * ("kernelab-policy/1"). 0 and *out (json_decref it), or -errno with err that names the file and,
 * of a syntax error, the line.
 */
int document_load(json_t **out, const char *path, const char *kind, const char *version,
		  struct error *err);

/* Text of a member; NULL where it is missing or no text. Lives as long as the object. */
const char *document_text(const json_t *object, const char *name);

#endif
