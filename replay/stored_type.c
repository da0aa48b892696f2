/* SPDX-License-Identifier: MIT */
/* The one element type that a kernel stores, where its text has but one. */
#include "replay/stored_type.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "lib/base.h"

/* "tt.store %p, %v, %m : tensor<64x!tt.ptr<bf16>> loc(…)": bf16. */
static enum dtype pointee(const char *line, size_t size)
{
	static const char pointer[] = "!tt.ptr<";
	const char *at = memmem(line, size, pointer, sizeof(pointer) - 1);
	char name[16];
	size_t n = 0, left;

	if (!at)
		return DTYPE_UNKNOWN;
	at += sizeof(pointer) - 1;
	left = size - (size_t)(at - line);
	while (n < left && n < sizeof(name) - 1 && at[n] != '>' && at[n] != ',') {
		name[n] = at[n];
		n++;
	}
	name[n] = 0;
	return dtype_parse(name);
}

/* A descriptor's block: "tt.descriptor_store %d[…], %v : !tt.tensordesc<tensor<64x64xbf16>>, …". */
static enum dtype descriptor_element(const char *line, size_t size)
{
	static const char block[] = "!tt.tensordesc<tensor<";
	const char *at = memmem(line, size, block, sizeof(block) - 1), *end, *x;
	char name[16];

	if (!at)
		return DTYPE_UNKNOWN;
	end = memchr(at, '>', size - (size_t)(at - line));
	for (x = end; x && x > at && x[-1] != 'x';)
		x--;
	if (!end || x == at || (size_t)(end - x) >= sizeof(name))
		return DTYPE_UNKNOWN;
	snprintf(name, sizeof(name), "%.*s", (int)(end - x), x);
	return dtype_parse(name);
}

/* True if the line holds an operation that writes memory. */
static bool writes(const char *line, size_t size, bool *descriptor)
{
	static const char *const names[] = {"tt.store ", "tt.atomic_rmw ", "tt.atomic_cas "};

	*descriptor = memmem(line, size, "tt.descriptor_store", 19) ||
		      memmem(line, size, "tt.descriptor_reduce", 20) ||
		      memmem(line, size, "tt.descriptor_scatter", 21) ||
		      memmem(line, size, "tt.experimental_descriptor_store", 32);
	for (size_t i = 0; i < ARRAY_LENGTH(names); i++)
		if (memmem(line, size, names[i], strlen(names[i])))
			return true;
	return *descriptor;
}

enum dtype ir_stored_type(const char *text, size_t size)
{
	enum dtype only = DTYPE_UNKNOWN;

	while (size) {
		const char *newline = memchr(text, '\n', size);
		size_t n = newline ? (size_t)(newline - text) : size;
		bool descriptor;

		if (writes(text, n, &descriptor)) {
			enum dtype t = descriptor ? descriptor_element(text, n) : pointee(text, n);

			if (t == DTYPE_UNKNOWN || (only != DTYPE_UNKNOWN && t != only))
				return DTYPE_UNKNOWN;
			only = t;
		}
		n += newline != NULL;
		text += n;
		size -= n;
	}
	return only;
}
