/* SPDX-License-Identifier: MIT */
/* atom and red: one lane after the other, in ascending order, on the thread that runs the launch.
 */
#include <string.h>

#include "softgpu/number.h"
#include "softgpu/races.h"
#include "softgpu/shadow_step.h"
#include "softgpu/warp.h"

static uint64_t add_float(enum type t, uint64_t x, uint64_t y)
{
	uint32_t low, high;
	float a, b, s;

	switch (t) {
	case TYPE_F32:
		/* Denormals are kept, as on global memory. */
		a = f32_from((uint32_t)x);
		b = f32_from((uint32_t)y);
		s = f32_canonical(a + b);
		return f32_bits(s);
	case TYPE_F64:
		return f64_bits(f64_from(x) + f64_from(y));
	case TYPE_F16:
		return f16_nearest(f16_value(x & 0xffff) + f16_value(y & 0xffff));
	case TYPE_BF16:
		return bf16_nearest(bf16_value(x & 0xffff) + bf16_value(y & 0xffff));
	default:
		low = (uint32_t)add_float(t == TYPE_F16X2 ? TYPE_F16 : TYPE_BF16, x & 0xffff,
					  y & 0xffff);
		high = (uint32_t)add_float(t == TYPE_F16X2 ? TYPE_F16 : TYPE_BF16, x >> 16 & 0xffff,
					   y >> 16 & 0xffff);
		return low | high << 16;
	}
}

static uint64_t extreme_float(enum type t, uint64_t x, uint64_t y, bool max)
{
	bool half = t == TYPE_F16 || t == TYPE_F16X2;
	bool pair = t == TYPE_F16X2 || t == TYPE_BF16X2;
	uint64_t out = 0;

	for (unsigned k = 0; k < (pair ? 2u : 1u); k++) {
		uint32_t hx = x >> 16 * k & 0xffff, hy = y >> 16 * k & 0xffff;
		float a = half ? f16_value(hx) : bf16_value(hx);
		float b = half ? f16_value(hy) : bf16_value(hy);
		float r = max ? f32_max(a, b, false) : f32_min(a, b, false);

		out |= (uint64_t)(half ? f16_nearest(r) : bf16_nearest(r)) << 16 * k;
	}
	return out;
}

static uint64_t extreme(enum type t, uint64_t x, uint64_t y, bool max)
{
	switch (t) {
	case TYPE_S32:
		return ((int32_t)x > (int32_t)y) == max ? x : y;
	case TYPE_U32:
		return ((uint32_t)x > (uint32_t)y) == max ? x : y;
	case TYPE_S64:
		return ((int64_t)x > (int64_t)y) == max ? x : y;
	case TYPE_U64:
		return (x > y) == max ? x : y;
	default:
		return extreme_float(t, x, y, max);
	}
}

static uint64_t apply(const struct instruction *i, uint64_t x, uint64_t y, uint64_t z)
{
	enum type t = (enum type)i->element;

	switch (i->mode) {
	case ATOMIC_ADD:
		return type_is_float(t) ? add_float(t, x, y) : x + y;
	case ATOMIC_MIN:
	case ATOMIC_MAX:
		return extreme(t, x, y, i->mode == ATOMIC_MAX);
	case ATOMIC_AND:
		return x & y;
	case ATOMIC_OR:
		return x | y;
	case ATOMIC_XOR:
		return x ^ y;
	case ATOMIC_EXCH:
		return y;
	case ATOMIC_CAS:
		return x == y ? z : x;
	case ATOMIC_INC:
		return (uint32_t)x >= (uint32_t)y ? 0 : x + 1;
	default: /* ATOMIC_DEC */
		return !(uint32_t)x || (uint32_t)x > (uint32_t)y ? y : x - 1;
	}
}

static uint64_t operand(const struct run *r, uint32_t slot, unsigned lane, bool wide)
{
	const void *s = run_slot(r, slot);

	return wide ? ((const uint64_t *)s)[lane] : ((const uint32_t *)s)[lane];
}

bool run_atomic(const struct run *r, uint32_t mask)
{
	const struct instruction *i = r->i;
	const uint32_t *extras = r->m->program->extras + i->extras;
	unsigned bytes = type_bytes((enum type)i->element);
	bool wide = bytes == 8;
	uint8_t *host[WARP_LANES];

	if (!run_resolve(r, mask, bytes * i->count, true, host))
		return false;
	if (r->m->races) {
		races_acquire(r);
		races_read(r, mask, bytes * i->count, host);
		races_before_write(r, mask, bytes * i->count, host);
	}
	for (uint32_t left = mask; left; left &= left - 1) {
		unsigned l = (unsigned)__builtin_ctz(left);
		uint64_t operands[8], z = i->mode == ATOMIC_CAS ? operand(r, i->c, l, wide) : 0;

		/* All operands first: a destination may be one of them. */
		for (unsigned k = 0; k < i->count; k++)
			operands[k] = operand(r, extras[i->count + k], l, wide);
		for (unsigned k = 0; k < i->count; k++) {
			void *d = run_slot(r, extras[k]);
			uint64_t x = 0, n;

			memcpy(&x, host[l] + (size_t)k * bytes, bytes);
			n = apply(i, x, operands[k], z);
			if (r->m->shadow &&
			    !shadow_atomic(r, l, k, host[l] + (size_t)k * bytes, &n))
				return false;
			memcpy(host[l] + (size_t)k * bytes, &n, bytes);
			if (wide)
				((uint64_t *)d)[l] = x;
			else
				((uint32_t *)d)[l] = (uint32_t)x;
			if (r->m->shadow)
				shadow_atomic_old(r, l, k);
		}
	}
	if (r->m->races) {
		races_write(r, mask, bytes * i->count, host);
		races_release(r);
	}
	return true;
}
