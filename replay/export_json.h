/* SPDX-License-Identifier: MIT */
/* What exported files say of a launch, as JSON values. NULL: no memory. */
#ifndef REPLAY_EXPORT_JSON_H
#define REPLAY_EXPORT_JSON_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "replay/bind.h"

/* Bytes as hexadecimal digits. */
json_t *export_hex(const void *data, size_t size);

/* A grid or block. */
json_t *export_three(const uint32_t v[3]);

/* [[offset, size], …] of the parameters. */
json_t *export_layout(const struct bound *b);

/* [[offset, bytes], …] of hidden scratch pointers, and what each is to lead to. */
json_t *export_scratch(const struct bound *b);

#endif
