/* SPDX-License-Identifier: MIT */
/* Until the interpreter lands: every PTX module is refused. */
#include "softgpu/machine.h"

#include <errno.h>

int ptx_module_parse(struct ptx_module **out, const char *text, size_t size, struct error *err)
{
	return error_set(err, ENOTSUP, ERROR_NO_OFFSET, "this build has no PTX interpreter");
}

void ptx_module_free(struct ptx_module *m)
{
}

const struct ptx_entry *ptx_module_entry(const struct ptx_module *m, const char *name)
{
	return NULL;
}

enum machine_fault_kind machine_run(const struct machine_launch *launch,
				    struct machine_fault *fault, struct machine_counts *counts)
{
	return MACHINE_UNSUPPORTED;
}
