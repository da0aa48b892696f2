/* SPDX-License-Identifier: MIT */
/* The options of a replay, as replay and diff share them. */
#include "tools/replay_rows.h"

#include <errno.h>

#include "lib/log.h"

int replay_rows_take(const struct verb *verb, struct replay_options *o, const char *device,
		     const char *trials, const struct option_texts *dtypes)
{
	if (replay_device_parse(device, &o->device)) {
		log_error("%s: --device %s: auto, gpu or soft", verb->name, device);
		return -EINVAL;
	}
	if (replay_trials_parse(trials, &o->trials)) {
		log_error("%s: --trials %s: all, none, or a list of poison, perturbed, "
			  "exact-integer, back-to-back, scaled, guard, race, disturbed, derived",
			  verb->name, trials);
		return -EINVAL;
	}
	o->dtypes = dtypes->items;
	o->dtype_count = dtypes->count;
	return 0;
}
