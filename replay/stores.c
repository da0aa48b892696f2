/* SPDX-License-Identifier: MIT */
/* Which parameters a PTX entry stores through: data flow from ld.param to st, atom, red. */
#include "replay/stores.h"

#include "replay/flow.h"

int stores_find(struct stores *out, const char *ptx, size_t size, const char *entry,
		struct error *err)
{
	struct flow f;
	int rc = flow_open(&f, ptx, size, entry, err);

	*out = (struct stores){0};
	if (rc)
		return rc;
	*out = (struct stores){f.stored, f.unknown, f.count};
	flow_close(&f);
	return 0;
}
