/* SPDX-License-Identifier: MIT */
/* Shadows between registers and memory: loads, stores, copies, atomics, matrices. */
#include "softgpu/shadow_step.h"

#include <math.h>

#include "softgpu/shadow_cell.h"

static size_t offset_of(const struct run *r, uint32_t operand, size_t at)
{
	return (size_t)((const uint8_t *)run_slot(r, operand) - r->w->slots) + at;
}

static bool room(const struct run *r, unsigned lane)
{
	return !r->m->shadow->full || run_fault(r, MACHINE_NO_MEMORY, lane, 0,
						"no room for the shadow of memory (%llu bytes)",
						(unsigned long long)r->m->shadow->bytes_max);
}

void shadow_load(const struct run *r, uint32_t mask, uint8_t *const *host)
{
	const struct instruction *i = r->i;
	unsigned n = type_bytes((enum type)i->element), stride = i->wide ? 8 : 4;

	for (unsigned k = 0; k < i->count; k++)
		for (uint32_t left = mask; left; left &= left - 1) {
			unsigned l = (unsigned)__builtin_ctz(left);
			size_t o = offset_of(r, r->m->program->extras[i->extras + k],
					     (size_t)l * stride);

			memset(r->w->tags + o, 0, stride);
			shadow_read(r->m->shadow, host[l] + (size_t)k * n, n, r->w->tags + o,
				    r->w->shadows + o);
		}
}

bool shadow_save(const struct run *r, uint32_t mask, uint8_t *const *host)
{
	const struct instruction *i = r->i;
	unsigned n = type_bytes((enum type)i->element), stride = i->wide ? 8 : 4;
	static const uint8_t none[8];

	for (uint32_t left = mask; left; left &= left - 1) {
		unsigned l = (unsigned)__builtin_ctz(left);

		for (unsigned k = 0; k < i->count; k++) {
			uint32_t operand = r->m->program->extras[i->extras + k];
			size_t o = operand & 1 ? 0 : offset_of(r, operand, (size_t)l * stride);

			shadow_store(r->m->shadow, host[l] + (size_t)k * n, n,
				     operand & 1 ? none : r->w->tags + o, r->w->shadows + o);
		}
		if (!room(r, l))
			return false;
	}
	return true;
}

bool shadow_copy(const struct run *r, uint8_t *to, const uint8_t *from, uint64_t n)
{
	uint8_t tags[64];
	double values[64];

	/* Pieces in a safe order: call parameters may overlap. */
	for (uint64_t done = 0; done < n;) {
		unsigned part = n - done < sizeof(tags) ? (unsigned)(n - done) : sizeof(tags);
		uint64_t at = from && to > from ? n - done - part : done;

		if (from)
			shadow_read(r->m->shadow, from + at, part, tags, values);
		else
			memset(tags, 0, part);
		shadow_store(r->m->shadow, to + at, part, tags, values);
		done += part;
	}
	return room(r, 0);
}

/* ---- atomics ---- */

static enum shadow_format atomic_format(enum type t)
{
	return t == TYPE_F32                        ? SHADOW_F32
	       : t == TYPE_F64                      ? SHADOW_F64
	       : t == TYPE_F16 || t == TYPE_F16X2   ? SHADOW_F16
	       : t == TYPE_BF16 || t == TYPE_BF16X2 ? SHADOW_BF16
						    : SHADOW_NONE;
}

bool shadow_atomic(const struct run *r, unsigned lane, unsigned k, uint8_t *host,
		   const void *result)
{
	const struct instruction *i = r->i;
	struct shadow *s = r->m->shadow;
	unsigned bytes = type_bytes((enum type)i->element), stride = bytes == 8 ? 8 : 4;
	uint32_t operand = r->m->program->extras[i->extras + i->count + k];
	enum shadow_format f = atomic_format((enum type)i->element);
	const uint8_t *bits = (const uint8_t *)run_slot(r, operand) + (size_t)lane * stride;
	size_t o = operand & 1 ? 0 : offset_of(r, operand, (size_t)lane * stride);
	struct cell y = {bits, operand & 1 ? NULL : r->w->tags + o, r->w->shadows + o};
	uint8_t tags[8] = {0};
	double values[8] = {0};
	struct cell x = {host, s->writes[0].tags, s->writes[0].values};

	/* The old value, for its destination; s->writes is free here. */
	memset(s->writes[0].tags, 0, 8);
	shadow_read(s, host, bytes, s->writes[0].tags, s->writes[0].values);
	if (f && (i->mode == ATOMIC_ADD || i->mode == ATOMIC_MIN || i->mode == ATOMIC_MAX)) {
		unsigned n = shadow_format_bytes(f);

		for (unsigned at = 0; at < bytes; at += n) {
			double a = cell_value(
				(struct cell){x.bits + at, x.tags + at, x.values + at}, f);
			double b =
				cell_value((struct cell){y.bits + at, y.tags ? y.tags + at : NULL,
							 y.values + at},
					   f);
			double z = i->mode == ATOMIC_ADD   ? a + b
				   : i->mode == ATOMIC_MAX ? fmax(a, b)
							   : fmin(a, b);

			cell_write(tags + at, values + at, f, z, (const uint8_t *)result + at);
			s->counts.operations++;
		}
	} else if (i->mode == ATOMIC_EXCH && y.tags) {
		memcpy(tags, y.tags, bytes);
		memcpy(values, y.values, bytes * sizeof(*values));
	} else if (!memcmp(result, host, bytes)) { /* a failed compare, or nothing changed */
		memcpy(tags, x.tags, bytes);
		memcpy(values, x.values, bytes * sizeof(*values));
	} else if (i->mode == ATOMIC_CAS && !(i->c & 1)) {
		o = offset_of(r, i->c, (size_t)lane * stride);
		memcpy(tags, r->w->tags + o, bytes);
		memcpy(values, r->w->shadows + o, bytes * sizeof(*values));
	}
	shadow_store(s, host, bytes, tags, values);
	return room(r, lane);
}

void shadow_atomic_old(const struct run *r, unsigned lane, unsigned k)
{
	struct shadow *s = r->m->shadow;
	unsigned stride = type_bytes((enum type)r->i->element) == 8 ? 8 : 4;
	size_t o = offset_of(r, r->m->program->extras[r->i->extras + k], (size_t)lane * stride);

	memcpy(r->w->tags + o, s->writes[0].tags, stride);
	memcpy(r->w->shadows + o, s->writes[0].values, stride * sizeof(double));
}

/* ---- matrices ---- */

void shadow_matrix_load(const struct run *r, uint32_t operand, unsigned lane, unsigned half,
			const uint8_t *host)
{
	size_t o = offset_of(r, operand, 4ul * lane + 2 * half);

	shadow_read(r->m->shadow, host, 2, r->w->tags + o, r->w->shadows + o);
}

bool shadow_matrix_store(const struct run *r, uint32_t operand, unsigned lane, unsigned half,
			 uint8_t *host)
{
	static const uint8_t none[2];
	size_t o = operand & 1 ? 0 : offset_of(r, operand, 4ul * lane + 2 * half);

	shadow_store(r->m->shadow, host, 2, operand & 1 ? none : r->w->tags + o, r->w->shadows + o);
	return room(r, lane);
}

static enum shadow_format element_format(enum type t)
{
	return t == TYPE_F16 ? SHADOW_F16 : t == TYPE_BF16 ? SHADOW_BF16 : SHADOW_F32;
}

double shadow_element(const struct run *r, uint32_t operand, unsigned lane, unsigned half,
		      enum type t)
{
	size_t at = 4ul * lane + 2 * half, o = operand & 1 ? 0 : offset_of(r, operand, at);
	struct cell c = {(const uint8_t *)run_slot(r, operand) + at,
			 operand & 1 ? NULL : r->w->tags + o, r->w->shadows + o};

	return cell_value(c, element_format(t));
}

void shadow_set_element(const struct run *r, uint32_t operand, unsigned lane, unsigned half,
			enum type t, double x)
{
	size_t at = 4ul * lane + 2 * half, o = offset_of(r, operand, at);

	cell_write(r->w->tags + o, r->w->shadows + o, element_format(t), x,
		   (const uint8_t *)run_slot(r, operand) + at);
	r->m->shadow->counts.operations++;
}
