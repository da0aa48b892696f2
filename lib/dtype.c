/* SPDX-License-Identifier: MIT */
/* The table of element types as look-ups. */
#include "kernelab/dtype.h"

#include <string.h>

#include "lib/base.h"

static const struct {
	const char *name, *ir;
	uint32_t bytes;
	bool is_float;
} table[] = {
#define D(id, name, ir, bytes, is_float) [DTYPE_##id] = {name, ir, bytes, is_float},
	DTYPES(D)
#undef D
};

_Static_assert(ARRAY_LENGTH(table) == DTYPE_COUNT, "one row a type");

static bool known(enum dtype t)
{
	return (unsigned)t < DTYPE_COUNT;
}

const char *dtype_name(enum dtype t)
{
	return known(t) ? table[t].name : "?";
}

uint32_t dtype_bytes(enum dtype t)
{
	return known(t) ? table[t].bytes : 1;
}

bool dtype_is_float(enum dtype t)
{
	return known(t) && table[t].is_float;
}

enum dtype dtype_parse(const char *text)
{
	for (unsigned i = 0; i < DTYPE_COUNT; i++)
		if (!strcmp(text, table[i].name) || !strcmp(text, table[i].ir))
			return (enum dtype)i;
	return DTYPE_UNKNOWN;
}
