/* SPDX-License-Identifier: MIT */
/* Runs PTX texts on the machine without the driver API, for tests. */
#include "tests/softgpu/machine_client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"

struct ptx_module *job_module(const char *text)
{
	struct ptx_module *m = NULL;
	struct error err = {0};

	if (ptx_module_parse(&m, text, strlen(text), &err))
		fail_msg("%s", err.message);
	return m;
}

static int by_base(const void *a, const void *b)
{
	const struct memory_range *x = a, *y = b;

	return x->base < y->base ? -1 : x->base > y->base;
}

enum machine_fault_kind job_run_module(struct job *j, struct ptx_module *m)
{
	struct memory_range ranges[BUFFERS_MAX + 64];
	struct machine_launch l = {.module = m,
				   .entry = j->entry ? ptx_module_entry(m, j->entry) : m->entries,
				   .grid = {j->grid ? j->grid : 1, 1, 1},
				   .block = {j->block ? j->block : 32, 1, 1},
				   .dynamic_shared_bytes = j->shared,
				   .params = j->params,
				   .ranges = ranges,
				   .instruction_quota = j->quota,
				   .schedule_seed = j->seed,
				   .contract = j->contract,
				   .blocks = j->blocks,
				   .block_count = j->block_count,
				   .races = j->races,
				   .shadow = j->shadow};
	uint8_t *globals[64] = {0};
	uint64_t addresses[BUFFERS_MAX];
	enum machine_fault_kind kind;

	assert_non_null(l.entry);
	assert_true(m->global_count <= 64);
	for (unsigned i = 0; i < j->buffer_count; i++) {
		addresses[i] = BUFFER_ADDRESS(i);
		ranges[l.range_count++] =
			(struct memory_range){BUFFER_ADDRESS(i), j->sizes[i], j->buffers[i]};
	}
	for (size_t i = 0; i < m->global_count; i++) {
		struct ptx_global *g = &m->globals[i];

		globals[i] = calloc(1, g->size);
		if (g->initial)
			memcpy(globals[i], g->initial, g->size);
		g->address = 0x500000000000ull + (i << 32);
		ranges[l.range_count++] = (struct memory_range){g->address, g->size, globals[i]};
	}
	qsort(ranges, l.range_count, sizeof(*ranges), by_base);
	if (!l.params)
		l.params = addresses;
	kind = machine_run(&l, &j->fault, &j->counts);
	for (size_t i = 0; i < m->global_count; i++)
		free(globals[i]);
	return kind;
}

enum machine_fault_kind job_run(struct job *j, const char *text)
{
	struct ptx_module *m = job_module(text);
	enum machine_fault_kind kind = job_run_module(j, m);

	ptx_module_free(m);
	return kind;
}

void job_must_run(struct job *j, const char *text)
{
	if (job_run(j, text) != MACHINE_OK)
		fail_msg("%s", j->fault.message);
}

char *kernel_around(const char *body)
{
	char *text =
		text_format(".version 8.7\n.target sm_90a\n.address_size 64\n"
			    ".extern .shared .align 16 .b8 dynamic[];\n"
			    ".visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2)\n"
			    "{\n"
			    ".reg .pred %%p<20>; .reg .b16 %%h<20>; .reg .b32 %%r<40>;\n"
			    ".reg .f32 %%f<20>; .reg .b64 %%d<40>; .reg .f64 %%g<20>;\n"
			    ".reg .u32 %%t; .reg .u64 %%in, %%in2, %%out, %%o;\n"
			    "ld.param.u64 %%in, [p0]; ld.param.u64 %%in2, [p1];\n"
			    "ld.param.u64 %%out, [p2]; mov.u32 %%t, %%tid.x;\n"
			    "%s\nret;\n}\n",
			    body);

	assert_non_null(text);
	return text;
}

char *test_data(const char *name)
{
	const char *folder = getenv("KERNELAB_TEST_DATA");
	_cleanup_free_ char *path = text_format("%s/%s", folder ? folder : ".", name);
	size_t size;
	char *data;

	if (file_read_all(path, 1u << 28, &data, &size))
		fail_msg("cannot read %s", path);
	return data;
}

uint64_t test_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

float test_float(uint64_t *state)
{
	return (float)((double)(test_random(state) >> 40) / (1 << 23) - 1.0);
}
