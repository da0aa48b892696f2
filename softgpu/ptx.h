/* SPDX-License-Identifier: MIT */
/* A PTX module: parsed, decoded, checked against the opcode table. The API side sees only this. */
#ifndef SOFTGPU_PTX_H
#define SOFTGPU_PTX_H

#include <stddef.h>
#include <stdint.h>

#include "kernelab/error.h"
#include "kernelab/records.h"

struct ptx_global { /* .global or .const variable of the module */
	const char *name;
	uint64_t size, align;
	const uint8_t *initial; /* size bytes, or NULL for zeros */
	uint64_t address;       /* device address; set by the API side before the first launch */
};

struct ptx_entry {
	const char *name;
	const struct record_param *params; /* in order */
	size_t param_count;
	uint32_t params_bytes;
	uint32_t static_shared_bytes;
	uint32_t local_bytes;       /* .local depot a thread */
	uint32_t max_threads;       /* from .reqntid/.maxntid; 1024 if neither */
	uint32_t required_block[3]; /* .reqntid; zeros if none */
};

struct ptx_module {
	uint32_t target; /* 90 for sm_90a */
	struct ptx_entry *entries;
	size_t entry_count;
	struct ptx_global *globals;
	size_t global_count;
	struct ptx_program *program; /* private to the interpreter */
};

/*
 * Parses and decodes all of `text`. An unknown opcode or modifier is an error at load: -ENOTSUP
 * with err->offset = line number (from 1) and a message that quotes the line. -EINVAL for bad
 * syntax. Owned by the caller, freed with ptx_module_free. Immutable afterwards but for
 * globals[].address.
 */
int ptx_module_parse(struct ptx_module **out, const char *text, size_t size, struct error *err);
void ptx_module_free(struct ptx_module *m);
const struct ptx_entry *ptx_module_entry(const struct ptx_module *m,
					 const char *name); /* or NULL */

#endif
