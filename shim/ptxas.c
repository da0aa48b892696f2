/* SPDX-License-Identifier: MIT */
/* Reads tool strings and PTX versions. */
#include "shim/ptxas.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "shim/facts.h"

/* PTX ISA versions by CUDA release: "Release Notes" of the PTX ISA manual. */
static const struct {
	const char *ptx, *cuda;
} releases[] = {
	{"8.0", "12.0"}, {"8.1", "12.1"}, {"8.2", "12.2"}, {"8.3", "12.3"},
	{"8.4", "12.4"}, {"8.5", "12.5"}, {"8.6", "12.7"}, {"8.7", "12.8"},
	{"8.8", "12.9"}, {"9.0", "13.0"}, {"9.1", "13.1"},
};

/* "Cuda compilation tools, release 13.0, V13.0.88" in .note.nv.tkinfo. */
static bool from_tool_string(const char *data, size_t size, struct ptxas_guess *out)
{
	static const char mark[] = "Cuda compilation tools, release ";
	const char *hit = memmem(data, size, mark, sizeof(mark) - 1);
	const char *end = data + size, *v;
	size_t n = 0;

	if (!hit)
		return false;
	v = memmem(hit, (size_t)(end - hit) < 80 ? (size_t)(end - hit) : 80, ", V", 3);
	if (!v)
		return false;
	for (v += 3;
	     v < end && n + 1 < sizeof(out->version) && ((*v >= '0' && *v <= '9') || *v == '.');
	     v++)
		out->version[n++] = *v;
	out->version[n] = 0;
	snprintf(out->how, sizeof(out->how), "tool string in the cubin");
	return n > 0;
}

static bool ptx_version(const struct cache_file *ptx, char *out, size_t size)
{
	const char *at = ptx->data ? strstr(ptx->data, ".version ") : NULL;
	size_t n;

	if (!at)
		return false;
	at += strlen(".version ");
	n = strspn(at, "0123456789.");
	if (!n || n >= size)
		return false;
	memcpy(out, at, n);
	out[n] = 0;
	return true;
}

static const char *release_of(const char *ptx)
{
	for (size_t i = 0; i < ARRAY_LENGTH(releases); i++)
		if (!strcmp(releases[i].ptx, ptx))
			return releases[i].cuda;
	return NULL;
}

/* Triton raises .version with the ptxas, but never above it: a newer PTX cannot be its work. */
static bool newer(const char *cuda, const char *ptxas)
{
	int a = atoi(cuda), b = atoi(ptxas);
	const char *minor_a = strchr(cuda, '.'), *minor_b = strchr(ptxas, '.');

	return a > b || (a == b && minor_a && minor_b && atoi(minor_a + 1) > atoi(minor_b + 1));
}

/* The value of a key of the note. In the texts that the note holds quotes are escaped, so no text
 * looks like a key. */
static bool note_value(const char *note, const char *key, char *out, size_t size)
{
	const char *at = note ? strstr(note, key) : NULL;
	size_t n;

	if (!at)
		return false;
	at += strlen(key);
	n = strcspn(at, "\"\\");
	if (!n || n >= size || at[n] != '"')
		return false;
	memcpy(out, at, n);
	out[n] = 0;
	return true;
}

static bool from_note(const char *note, struct ptxas_guess *out)
{
	char path[160] = "";

	if (!note_value(note, "\"ptxas_version\": \"", out->version, sizeof(out->version)) ||
	    out->version[strspn(out->version, "0123456789.")]) {
		out->version[0] = 0;
		return false;
	}
	note_value(note, "\"ptxas_path\": \"", path, sizeof(path));
	snprintf(out->how, sizeof(out->how),
		 "%s, as the Triton that compiled it said (Python glue)",
		 *path ? path : "its --version");
	return true;
}

void ptxas_guess(const struct image *image, const char *data, const char *note,
		 struct ptxas_guess *out)
{
	const char *given = facts_given("ptxas.version"), *path = getenv("TRITON_PTXAS_PATH");
	const char *cuda = NULL;
	char ptx[16] = "";

	*out = (struct ptxas_guess){0};
	if (image->kind == IMAGE_PTX) {
		snprintf(out->how, sizeof(out->how), "PTX: the driver assembles it");
		return;
	}
	if (from_tool_string(data, image->size, out) || from_note(note, out))
		return;
	if (ptx_version(&image->cache.files[CACHE_PTX], ptx, sizeof(ptx)))
		cuda = release_of(ptx);
	/* ptxas 13 would have left its tool string; and none makes code of PTX newer than itself.
	 */
	if (given && path && *path && image->origin != ORIGIN_OTHER && atoi(given) < 13 &&
	    !(cuda && newer(cuda, given))) {
		snprintf(out->version, sizeof(out->version), "%s", given);
		snprintf(out->how, sizeof(out->how),
			 "TRITON_PTXAS_PATH, asked before the run; the cubin itself does not say");
		return;
	}
	if (cuda) {
		snprintf(out->version, sizeof(out->version), "%s?", cuda);
		snprintf(out->how, sizeof(out->how),
			 "a hint only: its PTX has .version %s; the cubin itself does not say",
			 ptx);
		return;
	}
	snprintf(out->how, sizeof(out->how), "unknown: no tool string, no PTX beside it");
}
