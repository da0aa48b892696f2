/* SPDX-License-Identifier: MIT */
/* Names in reports of the enumerations that records hold. */
#include "kernelab/records.h"

/* clang-format off */
#define E(id, value, name) case value: return name;
#define NAME_FUNCTION(function, list)                                                              \
	const char *function(uint32_t v)                                                           \
	{                                                                                          \
		switch (v) { list(E) }                                                             \
		return "?";                                                                        \
	}
/* clang-format on */

NAME_FUNCTION(image_kind_name, IMAGE_KINDS)
NAME_FUNCTION(origin_name, ORIGINS)
NAME_FUNCTION(memory_kind_name, MEMORY_KINDS)
NAME_FUNCTION(side_name, SIDES)
NAME_FUNCTION(pairing_name, PAIRINGS)
NAME_FUNCTION(fidelity_name, FIDELITIES)
NAME_FUNCTION(trial_kind_name, TRIALS)
NAME_FUNCTION(trial_status_name, TRIAL_STATUSES)
