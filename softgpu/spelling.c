/* SPDX-License-Identifier: MIT */
/* An instruction's name cut at its dots, and matched with the grammar of a row of the opcode table.
 */
#include "softgpu/spelling.h"

#include <string.h>

static const char *const type_names[TYPE_COUNT] = {
	[TYPE_B8] = "b8",         [TYPE_U8] = "u8",         [TYPE_S8] = "s8",
	[TYPE_B16] = "b16",       [TYPE_U16] = "u16",       [TYPE_S16] = "s16",
	[TYPE_F16] = "f16",       [TYPE_BF16] = "bf16",     [TYPE_B32] = "b32",
	[TYPE_U32] = "u32",       [TYPE_S32] = "s32",       [TYPE_F32] = "f32",
	[TYPE_F16X2] = "f16x2",   [TYPE_BF16X2] = "bf16x2", [TYPE_TF32] = "tf32",
	[TYPE_U16X2] = "u16x2",   [TYPE_S16X2] = "s16x2",   [TYPE_B64] = "b64",
	[TYPE_U64] = "u64",       [TYPE_S64] = "s64",       [TYPE_F64] = "f64",
	[TYPE_E4M3X2] = "e4m3x2", [TYPE_E5M2X2] = "e5m2x2", [TYPE_B128] = "b128",
	[TYPE_PRED] = "pred",
};

static const char *const modifier_names[MODIFIER_COUNT] = {
#define M(id, text) [MODIFIER_##id] = text,
	MODIFIERS(M)
#undef M
};

const char *type_name(enum type t)
{
	return t < TYPE_COUNT && type_names[t] ? type_names[t] : "?";
}

unsigned type_bytes(enum type t)
{
	switch (t) {
	case TYPE_B8 ... TYPE_S8:
		return 1;
	case TYPE_B16 ... TYPE_BF16:
	case TYPE_E4M3X2:
	case TYPE_E5M2X2:
		return 2;
	case TYPE_B32 ... TYPE_S16X2:
		return 4;
	case TYPE_B64 ... TYPE_F64:
		return 8;
	case TYPE_B128:
		return 16;
	default:
		return 0;
	}
}

bool type_is_float(enum type t)
{
	switch (t) {
	case TYPE_F16:
	case TYPE_BF16:
	case TYPE_F32:
	case TYPE_F16X2:
	case TYPE_BF16X2:
	case TYPE_TF32:
	case TYPE_F64:
	case TYPE_E4M3X2:
	case TYPE_E5M2X2:
		return true;
	default:
		return false;
	}
}

bool type_is_signed(enum type t)
{
	return t == TYPE_S8 || t == TYPE_S16 || t == TYPE_S32 || t == TYPE_S64 || t == TYPE_S16X2;
}

/* Whether group (up to a blank or the end) has the part. */
static bool group_has(const char *group, size_t size, struct slice part)
{
	const char *p = group, *end = group + size;

	while (p < end) {
		const char *bar = memchr(p, '|', (size_t)(end - p));
		const char *stop = bar ? bar : end;

		if (slice_equal((struct slice){p, (size_t)(stop - p)}, part))
			return true;
		p = stop + 1;
	}
	return false;
}

/* Whether the part is a type; then *t is it. */
static bool type_find(struct slice part, enum type *t)
{
	for (unsigned i = 1; i < TYPE_COUNT; i++) {
		if (slice_is(part, type_names[i])) {
			*t = (enum type)i;
			return true;
		}
	}
	return false;
}

static void note_modifier(struct spelling *out, struct slice part)
{
	for (unsigned m = 1; m < MODIFIER_COUNT; m++) {
		if (slice_is(part, modifier_names[m])) {
			out->modifiers[out->modifier_count++] = (uint8_t)m;
			return;
		}
	}
}

/* Takes the first unused group from number `first` on that has the part: its number, or -1. */
static int take_group(const char *grammar, struct slice part, unsigned first, uint32_t *used)
{
	unsigned index = 0;

	for (const char *g = grammar; *g; index++) {
		size_t size = strcspn(g, " "), plain;

		plain = size - (size && g[size - 1] == '?');
		if (index >= first && !(*used >> index & 1) && group_has(g, plain, part)) {
			*used |= 1u << index;
			return (int)index;
		}
		g += size;
		g += strspn(g, " ");
	}
	return -1;
}

static bool all_needed_used(const char *grammar, uint32_t used)
{
	unsigned index = 0;

	for (const char *g = grammar; *g; index++) {
		size_t size = strcspn(g, " ");

		if (size && g[size - 1] != '?' && !(used >> index & 1))
			return false;
		g += size;
		g += strspn(g, " ");
	}
	return true;
}

bool spelling_match(struct slice name, const char *base, const char *grammar, struct spelling *out)
{
	size_t base_size = strlen(base);
	const char *p, *end = name.text + name.size;
	uint32_t used = 0;
	unsigned parts = 0, types_from = 0;

	memset(out, 0, sizeof(*out));
	if (name.size < base_size || memcmp(name.text, base, base_size) != 0)
		return false;
	p = name.text + base_size;
	if (p < end && *p != '.')
		return false;
	while (p < end) {
		const char *stop = memchr(p + 1, '.', (size_t)(end - p - 1));
		struct slice part = {p + 1, (size_t)((stop ? stop : end) - p - 1)};

		enum type t = TYPE_NONE;
		bool is_type = type_find(part, &t);
		int group;

		if (++parts > SPELLING_PARTS_MAX)
			return false;
		group = take_group(grammar, part, is_type ? types_from : 0, &used);
		if (group < 0)
			return false;
		if (!is_type) {
			note_modifier(out, part);
		} else {
			/* cvt.u32.u64 is not cvt.u64.u32. */
			types_from = (unsigned)group + 1;
			if (out->type_count < sizeof(out->types))
				out->types[out->type_count++] = (uint8_t)t;
		}
		p = stop ? stop : end;
	}
	return all_needed_used(grammar, used);
}

bool spelling_has(const struct spelling *s, enum modifier m)
{
	for (unsigned i = 0; i < s->modifier_count; i++)
		if (s->modifiers[i] == m)
			return true;
	return false;
}

enum modifier spelling_find(const struct spelling *s, enum modifier from, enum modifier to)
{
	for (unsigned i = 0; i < s->modifier_count; i++)
		if (s->modifiers[i] >= from && s->modifiers[i] <= to)
			return (enum modifier)s->modifiers[i];
	return MODIFIER_NONE;
}
