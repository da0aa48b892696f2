/* SPDX-License-Identifier: MIT */
/* What an instruction's destinations are to hold, and shadows that end at it. */
#include "softgpu/shadow_write.h"

void shadow_lose(const struct run *r)
{
	struct shadow *s = r->m->shadow;
	size_t pc = (size_t)(r->i - r->m->code);

	s->counts.lost++;
	if (pc >= s->lost_size || s->lost_at[pc])
		return;
	s->lost_at[pc] = 1;
	s->counts.lost_places++;
	if (!s->counts.lost_line)
		s->counts.lost_line = r->i->line;
}

struct shadow_write *shadow_write_new(const struct run *r, uint32_t operand, bool wide)
{
	struct shadow *s = r->m->shadow;
	struct shadow_write *w = &s->writes[s->write_count++];

	w->operand = operand;
	w->wide = wide;
	memset(w->tags, 0, wide ? 256 : 128);
	return w;
}
