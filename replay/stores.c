/* SPDX-License-Identifier: MIT */
/* Which parameters a PTX entry stores through: data flow from ld.param to st, atom, red. */
#include "replay/stores.h"

#include "replay/flow.h"

/* b32 and the like say nothing: compilers store any type so. */
static enum dtype stored_type(const struct flow *f)
{
	enum dtype only = DTYPE_UNKNOWN;

	for (size_t i = 0; i < f->count; i++) {
		struct token op = f->statements[i].opcode;
		enum dtype t = token_contains(op, ".f32")   ? DTYPE_F32
			       : token_contains(op, ".f64") ? DTYPE_F64
							    : DTYPE_UNKNOWN;

		if (!is_global_store(op))
			continue;
		if (t == DTYPE_UNKNOWN || (only != DTYPE_UNKNOWN && t != only))
			return DTYPE_UNKNOWN;
		only = t;
	}
	return only;
}

int stores_find(struct stores *out, const char *ptx, size_t size, const char *entry,
		struct error *err)
{
	struct flow f;
	int rc = flow_open(&f, ptx, size, entry, err);

	*out = (struct stores){0};
	if (rc)
		return rc;
	*out = (struct stores){f.stored, f.unknown, f.count, stored_type(&f)};
	flow_close(&f);
	return 0;
}
