/* SPDX-License-Identifier: MIT */
/* What exported files say of a launch, as JSON values. */
#include "replay/export_json.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/base.h"

json_t *export_hex(const void *data, size_t size)
{
	_cleanup_free_ char *text = malloc(2 * size + 1);

	if (!text)
		return NULL;
	text[0] = '\0';
	for (size_t i = 0; i < size; i++)
		snprintf(text + 2 * i, 3, "%02x", ((const unsigned char *)data)[i]);
	return json_string(text);
}

json_t *export_three(const uint32_t v[3])
{
	return json_pack("[I,I,I]", (json_int_t)v[0], (json_int_t)v[1], (json_int_t)v[2]);
}

json_t *export_layout(const struct bound *b)
{
	json_t *list = json_array();

	for (size_t i = 0; i < b->layout_count; i++)
		json_array_append_new(list, json_pack("[I,I]", (json_int_t)b->layout[i].offset,
						      (json_int_t)b->layout[i].size));
	return list;
}

json_t *export_scratch(const struct bound *b)
{
	json_t *list = json_array();

	for (size_t i = 0; i < b->scratch_count; i++)
		json_array_append_new(list, json_pack("[I,I]", (json_int_t)b->scratch[i].offset,
						      (json_int_t)b->scratch[i].bytes));
	return list;
}
