/* SPDX-License-Identifier: MIT */
/*
 * Attributes are a byte of format, a byte of id, and two bytes that are the value or, in format 4,
 * the size of what follows. Ids and layouts: as cuobjdump -elf prints them (EIATTR_…); parameter
 * layouts were checked against PTX with known parameters (ptxas 12.4 to 13.4).
 */
#include "lib/image/nvinfo.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "lib/base.h"

#define FORMAT_SIZED 4

#define ATTRIBUTE_MAX_THREADS      0x05 /* u32 x, y, z: .maxntid */
#define ATTRIBUTE_REQUIRED_THREADS 0x10 /* u32 x, y, z: .reqntid */
#define ATTRIBUTE_PARAM            0x17 /* u32 index, u16 ordinal, u16 offset, u32 size << 18 | … */
#define ATTRIBUTE_PARAMS_BYTES     0x19 /* u16 in the head */
#define ATTRIBUTE_REGISTERS        0x2f /* u32 symbol, u32 count */
#define ATTRIBUTE_PARAM_V2         0x45 /* u32 index, u16 ordinal, u16 offset, u16 size, u16 … */

#define PARAMS_MAX_BYTES 32764u /* of all kernels since CUDA 12.1 */

struct attribute {
	uint8_t id;
	uint16_t value;      /* of those without data */
	const uint8_t *data; /* of format 4 */
	size_t size;
	uint64_t offset;
};

struct cursor {
	const uint8_t *data;
	size_t size, at;
	uint64_t offset; /* of data in the file */
};

static uint32_t u16(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}

static uint32_t u32(const uint8_t *p)
{
	return u16(p) | u16(p + 2) << 16;
}

/* 1 with *a, 0 at the end, -EINVAL cut off. */
static int next(struct cursor *c, struct attribute *a)
{
	const uint8_t *p;

	if (c->at == c->size)
		return 0;
	p = c->data + c->at;
	if (c->size - c->at < 4)
		return -EINVAL;
	*a = (struct attribute){
		.id = p[1], .value = (uint16_t)u16(p + 2), .offset = c->offset + c->at};
	c->at += 4;
	if (p[0] != FORMAT_SIZED)
		return 1;
	if (c->size - c->at < a->value)
		return -EINVAL;
	a->data = p + 4;
	a->size = a->value;
	c->at += a->size;
	return 1;
}

static int add_param(struct cubin_kernel *k, size_t *capacity, const struct attribute *a,
		     struct error *err)
{
	uint32_t offset, size, ordinal;
	int r;

	if (a->size != 12)
		return error_set(err, EINVAL, a->offset, "kernel %s: parameter record of %zu bytes",
				 k->entry, a->size);
	ordinal = u16(a->data + 4);
	offset = u16(a->data + 6);
	size = a->id == ATTRIBUTE_PARAM ? u32(a->data + 8) >> 18 : u16(a->data + 8);
	if (!size || offset + size > PARAMS_MAX_BYTES)
		return error_set(err, EINVAL, a->offset,
				 "kernel %s: parameter %" PRIu32 " at %" PRIu32 " of %" PRIu32
				 " bytes",
				 k->entry, ordinal, offset, size);
	while (k->param_count <= ordinal) { /* ordinals come in any order, mostly the last first */
		if (ordinal >= PARAMS_MAX_BYTES)
			return error_set(err, EINVAL, a->offset, "kernel %s: parameter %" PRIu32,
					 k->entry, ordinal);
		r = array_reserve(&k->params, k->param_count, capacity, sizeof(*k->params));
		if (r < 0)
			return error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory");
		k->params[k->param_count++] = (struct record_param){0};
	}
	if (k->params[ordinal].size)
		return error_set(err, EINVAL, a->offset, "kernel %s: parameter %" PRIu32 " twice",
				 k->entry, ordinal);
	k->params[ordinal] = (struct record_param){.offset = offset, .size = size};
	return 0;
}

static int add_threads(struct cubin_kernel *k, const struct attribute *a, struct error *err)
{
	uint64_t threads;

	if (a->size != 12)
		return error_set(err, EINVAL, a->offset, "kernel %s: thread record of %zu bytes",
				 k->entry, a->size);
	threads = (uint64_t)u32(a->data) * u32(a->data + 4);
	if (threads > UINT32_MAX || threads * u32(a->data + 8) > UINT32_MAX)
		return error_set(err, EINVAL, a->offset, "kernel %s: impossible thread count",
				 k->entry);
	k->max_threads = (uint32_t)(threads * u32(a->data + 8));
	return 0;
}

static int check_params(struct cubin_kernel *k, bool stated, uint64_t offset, struct error *err)
{
	uint32_t end = 0;

	for (size_t i = 0; i < k->param_count; i++) {
		const struct record_param *p = &k->params[i];

		if (!p->size || p->offset < end)
			return error_set(err, EINVAL, offset, "kernel %s: parameter %zu %s",
					 k->entry, i,
					 p->size ? "overlaps the one before" : "is missing");
		end = p->offset + p->size;
	}
	if (!stated)
		k->params_bytes = end;
	if (end > k->params_bytes)
		return error_set(err, EINVAL, offset,
				 "kernel %s: parameters of %" PRIu32
				 " bytes in a buffer of %" PRIu32,
				 k->entry, end, k->params_bytes);
	return 0;
}

int nvinfo_kernel(struct cubin_kernel *k, const uint8_t *data, size_t size, uint64_t offset,
		  struct error *err)
{
	struct cursor c = {.data = data, .size = size, .offset = offset};
	size_t capacity = 0;
	struct attribute a;
	bool stated = false;
	int r;

	while ((r = next(&c, &a)) > 0) {
		r = 0;
		switch (a.id) {
		case ATTRIBUTE_PARAM:
		case ATTRIBUTE_PARAM_V2:
			r = add_param(k, &capacity, &a, err);
			break;
		case ATTRIBUTE_PARAMS_BYTES:
			k->params_bytes = a.value;
			stated = true;
			break;
		case ATTRIBUTE_MAX_THREADS:
		case ATTRIBUTE_REQUIRED_THREADS:
			r = add_threads(k, &a, err);
			break;
		}
		if (r < 0)
			return r;
	}
	if (r < 0)
		return error_set(err, EINVAL, offset + c.at, "kernel %s: .nv.info is cut off",
				 k->entry);
	return check_params(k, stated, offset, err);
}

uint32_t nvinfo_registers(const uint8_t *data, size_t size, uint32_t symbol)
{
	struct cursor c = {.data = data, .size = size};
	struct attribute a;

	while (next(&c, &a) > 0) {
		if (a.id == ATTRIBUTE_REGISTERS && a.size == 8 && u32(a.data) == symbol)
			return u32(a.data + 4);
	}
	return 0;
}
