/* SPDX-License-Identifier: MIT */
/* The key of a class out of its words. */
#include "shim/class_id.h"

struct hash128 class_id_key(const struct class_id *id)
{
	struct class_id plain = *id;

	if (id->words[1] & CLASS_ID_HASHED)
		return (struct hash128){.high = id->words[0], .low = id->words[2]};
	plain.words[1] &= UINT32_MAX;
	return hash_bytes(plain.words, class_id_count(id) * sizeof(plain.words[0]));
}
