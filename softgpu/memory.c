/* SPDX-License-Identifier: MIT */
/* Loads and stores: addresses of every state space, checked against bounds and alignment. */
#include <string.h>

#include "softgpu/races.h"
#include "softgpu/shadow_step.h"
#include "softgpu/warp.h"

static bool in_range(const struct memory_range *c, uint64_t address, uint64_t bytes)
{
	return c && bytes <= c->size && address >= c->base && address - c->base <= c->size - bytes;
}

uint8_t *machine_translate(struct machine *m, uint64_t address, uint64_t bytes)
{
	const struct memory_range *ranges = m->launch->ranges;
	size_t low = 0, high = m->launch->range_count;

	if (in_range(m->last_range, address, bytes))
		return m->last_range->host + (address - m->last_range->base);
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ranges[middle].base <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || !in_range(&ranges[low - 1], address, bytes))
		return NULL;
	m->last_range = &ranges[low - 1];
	return m->last_range->host + (address - m->last_range->base);
}

void machine_text(struct machine *m, uint64_t address, char *out, size_t size)
{
	size_t n = 0;

	while (n + 1 < size) {
		const uint8_t *c = machine_translate(m, address + n, 1);

		if (!c || !*c)
			break;
		out[n++] = *c < ' ' || *c > '~' ? '?' : (char)*c;
	}
	if (!n)
		out[n++] = '?';
	out[n] = 0;
}

uint64_t run_base(const struct run *r, uint32_t a, unsigned base)
{
	if (base == BASE_GLOBAL)
		return r->m->launch->module->globals[a].address;
	return r->m->program->dynamic_base;
}

static const char *const space_names[] = {
	[SPACE_GENERIC] = "memory",        [SPACE_GLOBAL] = "global memory",
	[SPACE_SHARED] = "shared memory",  [SPACE_LOCAL] = "local memory",
	[SPACE_CONST] = "constant memory", [SPACE_PARAM] = "parameters"};

/* One lane; NULL where nothing lies. *space is found out for generic addresses. */
static uint8_t *resolve_lane(const struct run *r, unsigned lane, uint64_t address, unsigned bytes,
			     bool write, enum space *space)
{
	struct machine *m = r->m;
	uint64_t size, thread = (uint64_t)r->w->index * WARP_LANES + lane;
	uint8_t *host;

	if (*space == SPACE_GENERIC && address >= WINDOW_LOWEST) {
		if (address - WINDOW_SHARED < WINDOW_SIZE) {
			*space = SPACE_SHARED;
			address -= WINDOW_SHARED;
		} else if (address - WINDOW_LOCAL < WINDOW_SIZE) {
			*space = SPACE_LOCAL;
			address -= WINDOW_LOCAL;
		} else if (address - WINDOW_PARAM < WINDOW_SIZE) {
			*space = SPACE_PARAM;
			address -= WINDOW_PARAM;
		}
	}
	switch (*space) {
	case SPACE_SHARED:
		size = m->shared_bytes;
		host = m->block.shared;
		break;
	case SPACE_LOCAL:
		size = m->program->local_bytes;
		host = m->block.local + thread * size;
		break;
	case SPACE_PARAM:
		size = write ? 0 : m->launch->entry->params_bytes;
		host = (uint8_t *)m->launch->params;
		break;
	default:
		return machine_translate(m, address, bytes);
	}
	return bytes <= size && address <= size - bytes ? host + address : NULL;
}

/* Addresses of all lanes; those of inactive ones mean nothing. */
static void lane_addresses(const struct run *r, uint64_t out[WARP_LANES])
{
	const struct instruction *i = r->i;

	if (i->base != BASE_OPERAND) {
		uint64_t x = run_base(r, i->a, i->base) + (uint64_t)i->offset;

		for (unsigned l = 0; l < WARP_LANES; l++)
			out[l] = x;
	} else if (i->wide_address) {
		const uint64_t *a = run_slot(r, i->a);

		for (unsigned l = 0; l < WARP_LANES; l++)
			out[l] = a[l] + (uint64_t)i->offset;
	} else {
		const uint32_t *a = run_slot(r, i->a);

		for (unsigned l = 0; l < WARP_LANES; l++)
			out[l] = (uint32_t)(a[l] + (uint32_t)i->offset);
	}
}

static bool resolve(const struct run *r, const uint64_t *addresses, uint32_t mask, unsigned bytes,
		    bool write, enum space space, uint8_t *host[WARP_LANES])
{
	for (uint32_t left = mask; left; left &= left - 1) {
		unsigned l = (unsigned)__builtin_ctz(left);
		enum space found = space;

		if (addresses[l] & (bytes - 1))
			return run_fault(r, MACHINE_MISALIGNED, l, addresses[l],
					 "misaligned %s of %u bytes", write ? "store" : "load",
					 bytes);
		host[l] = resolve_lane(r, l, addresses[l], bytes, write, &found);
		if (!host[l])
			return run_fault(r, MACHINE_ILLEGAL_ADDRESS, l, addresses[l],
					 "%s of %u bytes outside of %s", write ? "store" : "load",
					 bytes,
					 found == SPACE_GLOBAL || found == SPACE_GENERIC
						 ? "every allocation"
						 : space_names[found]);
	}
	return true;
}

/* Host address of device address 0 if all of the span lies in one piece of memory; else NULL. */
static uint8_t *span_origin(const struct run *r, const struct address_span *s, unsigned bytes,
			    bool write)
{
	struct machine *m = r->m;
	uint8_t *host;

	if (s->bits & (bytes - 1))
		return NULL;
	switch (r->i->space) {
	case SPACE_SHARED:
		return bytes <= m->shared_bytes && s->high <= m->shared_bytes - bytes
			       ? m->block.shared
			       : NULL;
	case SPACE_GENERIC:
	case SPACE_GLOBAL:
	case SPACE_CONST:
		if ((r->i->space == SPACE_GENERIC && s->high >= WINDOW_LOWEST) ||
		    s->high - s->low > UINT64_MAX - bytes)
			return NULL;
		host = machine_translate(m, s->low, s->high - s->low + bytes);
		return host ? (uint8_t *)((uintptr_t)host - s->low) : NULL;
	case SPACE_PARAM:
		return !write && bytes <= m->launch->entry->params_bytes &&
				       s->high <= m->launch->entry->params_bytes - bytes
			       ? (uint8_t *)m->launch->params
			       : NULL;
	default:
		return NULL;
	}
}

/* What most accesses are: all lanes in one allocation. false: look lane by lane. */
static bool resolve_span(const struct run *r, const uint64_t *addresses, uint32_t mask,
			 unsigned bytes, bool write, uint8_t *host[WARP_LANES])
{
	struct address_span s;
	uint8_t *origin;

	r->m->lanes->span(addresses, mask, &s);
	origin = span_origin(r, &s, bytes, write);
	if (!origin)
		return false;
	for (unsigned l = 0; l < WARP_LANES; l++)
		host[l] = (uint8_t *)((uintptr_t)origin + addresses[l]);
	return true;
}

bool run_resolve(const struct run *r, uint32_t mask, unsigned bytes, bool write,
		 uint8_t *host[WARP_LANES])
{
	uint64_t addresses[WARP_LANES] __attribute__((aligned(64)));

	lane_addresses(r, addresses);
	if (resolve_span(r, addresses, mask, bytes, write, host))
		return true;
	return resolve(r, addresses, mask, bytes, write, (enum space)r->i->space, host);
}

static inline uint64_t load_element(const uint8_t *host, enum type t, bool extend32)
{
	uint16_t half;
	uint32_t word;
	uint64_t value;

	switch (t) {
	case TYPE_S8:
		return (uint64_t)(int64_t)(int8_t)*host & (extend32 ? UINT64_MAX : 0xffff);
	case TYPE_B8:
	case TYPE_U8:
		return *host;
	case TYPE_S16:
		memcpy(&half, host, 2);
		return (uint64_t)(int64_t)(int16_t)half & (extend32 ? UINT64_MAX : 0xffff);
	case TYPE_B16:
	case TYPE_U16:
		memcpy(&half, host, 2);
		return half;
	case TYPE_S32:
		memcpy(&word, host, 4);
		return (uint64_t)(int64_t)(int32_t)word;
	case TYPE_B32:
	case TYPE_U32:
	case TYPE_F32:
		memcpy(&word, host, 4);
		return word;
	default:
		memcpy(&value, host, 8);
		return value;
	}
}

static void load_words(uint32_t *d, uint8_t *const *host, size_t at, uint32_t mask)
{
	if (mask == WARP_FULL) {
		for (unsigned l = 0; l < WARP_LANES; l++)
			memcpy(&d[l], host[l] + at, 4);
		return;
	}
	for (uint32_t left = mask; left; left &= left - 1) {
		unsigned l = (unsigned)__builtin_ctz(left);

		memcpy(&d[l], host[l] + at, 4);
	}
}

bool run_load(const struct run *r, uint32_t mask)
{
	const struct instruction *i = r->i;
	enum type t = (enum type)i->element;
	unsigned bytes = type_bytes(t);
	uint8_t *host[WARP_LANES];

	if (!run_resolve(r, mask, bytes * i->count, false, host))
		return false;
	if (r->m->races) {
		if (i->strong)
			races_acquire(r);
		races_read(r, mask, bytes * i->count, host);
		if (i->strong)
			races_release(r);
	}
	if (r->m->shadow)
		shadow_load(r, mask, host);
	for (unsigned k = 0; k < i->count; k++) {
		void *d = run_slot(r, r->m->program->extras[i->extras + k]);

		if (!i->wide && bytes == 4) {
			load_words(d, host, 4 * k, mask);
			continue;
		}
		for (uint32_t left = mask; left; left &= left - 1) {
			unsigned l = (unsigned)__builtin_ctz(left);
			bool extend = i->wide || i->flags & LANE_WRAP;
			uint64_t v = load_element(host[l] + (size_t)k * bytes, t, extend);

			if (i->wide)
				((uint64_t *)d)[l] = v;
			else
				((uint32_t *)d)[l] = (uint32_t)v;
		}
	}
	return true;
}

static void store_elements(const struct run *r, uint32_t mask, uint8_t *const *host)
{
	const struct instruction *i = r->i;
	unsigned bytes = type_bytes((enum type)i->element);

	if (!i->wide && bytes == 4 && i->count == 1) {
		const uint32_t *s = run_slot(r, r->m->program->extras[i->extras]);

		for (uint32_t left = mask; left; left &= left - 1) {
			unsigned l = (unsigned)__builtin_ctz(left);

			memcpy(host[l], &s[l], 4);
		}
		return;
	}
	for (uint32_t left = mask; left; left &= left - 1) {
		unsigned l = (unsigned)__builtin_ctz(left);

		for (unsigned k = 0; k < i->count; k++) {
			const uint8_t *s = run_slot(r, r->m->program->extras[i->extras + k]);

			memcpy(host[l] + (size_t)k * bytes, s + (size_t)l * (i->wide ? 8 : 4),
			       bytes);
		}
	}
}

bool run_store(const struct run *r, uint32_t mask)
{
	unsigned bytes = type_bytes((enum type)r->i->element) * r->i->count;
	uint8_t *host[WARP_LANES];

	if (!run_resolve(r, mask, bytes, true, host) ||
	    (r->m->shadow && !shadow_save(r, mask, host)))
		return false;
	if (!r->m->races) {
		store_elements(r, mask, host);
		return true;
	}
	if (r->i->strong)
		races_acquire(r);
	races_before_write(r, mask, bytes, host);
	store_elements(r, mask, host);
	races_write(r, mask, bytes, host);
	if (r->i->strong)
		races_release(r);
	return true;
}

/* The copy is complete at once: only where races are looked for a missing wait shows. */
bool run_copy_async(const struct run *r, uint32_t mask)
{
	const struct instruction *i = r->i;
	const uint32_t *sizes = i->c == OPERAND_NONE ? NULL : run_slot(r, i->c);
	uint32_t ignore = i->flags == OPERAND_NONE ? 0 : run_predicate(r, i->flags);
	uint64_t from[WARP_LANES], to[WARP_LANES];
	struct run shared = *r;
	struct instruction target = *i;
	uint8_t *source[WARP_LANES], *destination[WARP_LANES];
	uint32_t reading = mask & ~ignore;

	target.a = i->d;
	target.base = i->mode;
	target.offset = (int32_t)i->e;
	target.wide_address = i->wide;
	shared.i = &target;
	lane_addresses(&shared, to);
	lane_addresses(r, from);
	for (unsigned l = 0; sizes && l < WARP_LANES; l++)
		if (!sizes[l])
			reading &= ~(1u << l);
	if (!resolve(r, to, mask, i->count, true, SPACE_SHARED, destination))
		return false;
	if (r->m->races)
		races_before_write(r, mask, i->count, destination);
	for (uint32_t left = mask; left; left &= left - 1) {
		unsigned l = (unsigned)__builtin_ctz(left);
		uint32_t n = sizes && sizes[l] < i->count ? sizes[l] : i->count;
		enum space space = SPACE_GLOBAL;

		memset(destination[l], 0, i->count);
		if (r->m->shadow)
			shadow_copy(r, destination[l], NULL, i->count);
		if (!(reading >> l & 1))
			continue;
		if (from[l] & (i->count - 1u))
			return run_fault(r, MACHINE_MISALIGNED, l, from[l],
					 "misaligned load of %u bytes", i->count);
		source[l] = resolve_lane(r, l, from[l], n, false, &space);
		if (!source[l])
			return run_fault(r, MACHINE_ILLEGAL_ADDRESS, l, from[l],
					 "load of %u bytes outside of every allocation", n);
		memcpy(destination[l], source[l], n);
		if (r->m->shadow && !shadow_copy(r, destination[l], source[l], n))
			return false;
	}
	if (r->m->races)
		races_copy(r, mask, i->count, destination);
	return true;
}
