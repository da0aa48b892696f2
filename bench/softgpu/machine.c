/* SPDX-License-Identifier: MIT */
/*
 * How fast the machine executes: nanoseconds a warp instruction of small loops, and of PTX files.
 * meson test -C build --benchmark runs the loops; bench_softgpu_machine FILE... the first entry of
 * files.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/base.h"
#include "softgpu/lanes.h"
#include "softgpu/machine.h"

#define BUFFER_BYTES (16u << 20)

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void measure(const char *name, const char *text, size_t size, uint8_t *data)
{
	struct memory_range range = {0x10000000, BUFFER_BYTES, data};
	struct machine_counts counts = {0};
	struct machine_fault fault;
	struct machine_launch l = {.grid = {64, 1, 1},
				   .dynamic_shared_bytes = 48u << 10,
				   .ranges = &range,
				   .range_count = 1};
	uint64_t params[64];
	struct ptx_module *m;
	struct error err;
	double start;

	if (ptx_module_parse(&m, text, size, &err)) {
		printf("%-24s %s\n", name, err.message);
		return;
	}
	for (unsigned i = 0; i < ARRAY_LENGTH(params); i++)
		params[i] = range.base;
	l.module = m;
	l.entry = m->entries;
	for (unsigned i = 0; i < l.entry->param_count; i++)
		if (l.entry->params[i].size == 4)
			memcpy((uint8_t *)params + l.entry->params[i].offset, &(uint32_t){1024}, 4);
	l.params = params;
	l.block[0] = l.entry->required_block[0] ? l.entry->required_block[0] : 128;
	l.block[1] = l.block[2] = 1;
	start = seconds();
	if (l.entry->params_bytes > sizeof(params) ||
	    machine_run(&l, &fault, &counts) != MACHINE_OK)
		printf("%-24s %s\n", name, fault.message);
	else
		printf("%-24s %6.2f ns a warp instruction, %llu of them\n", name,
		       (seconds() - start) * 1e9 / (double)counts.warp_instructions,
		       (unsigned long long)counts.warp_instructions);
	ptx_module_free(m);
}

#define LOOP(body)                                                                         \
	".version 8.0\n.target sm_80\n.address_size 64\n.extern .shared .b8 s[];\n"        \
	".entry k(.param .u64 p) { .reg .b32 %r<20>; .reg .b64 %d<9>; .reg .pred %q<4>;\n" \
	"ld.param.u64 %d0, [p]; mov.u32 %r0, %tid.x; mad.wide.u32 %d0, %r0, 4, %d0;\n"     \
	"mov.u32 %r1, s; mad.lo.s32 %r1, %r0, 4, %r1; mov.b32 %r2, 0;\n"                   \
	"again: " body body body body body body body body                                  \
	"add.s32 %r2, %r2, 1; setp.lt.s32 %q0, %r2, 1000; @%q0 bra again; ret; }"

int main(int argc, char **argv)
{
	static const struct {
		const char *name, *text;
	} loops[] = {
		{"add.s32", LOOP("add.s32 %r3, %r4, %r5;")},
		{"fma.rn.f32", LOOP("fma.rn.f32 %r3, %r4, %r5, %r3;")},
		{"mad.wide.u32", LOOP("mad.wide.u32 %d2, %r4, %r5, %d3;")},
		{"ex2.approx.f32", LOOP("ex2.approx.f32 %r3, %r4;")},
		{"setp.lt.f32", LOOP("setp.lt.f32 %q1, %r4, %r5;")},
		{"selp.b32", LOOP("selp.b32 %r3, %r4, %r5, %q1;")},
		{"shfl.sync.bfly", LOOP("shfl.sync.bfly.b32 %r3, %r4, 16, 31, -1;")},
		{"ld.global.b32", LOOP("ld.global.b32 %r3, [%d0];")},
		{"st.global.b32", LOOP("st.global.b32 [%d0], %r4;")},
		{"ld.shared.b32", LOOP("ld.shared.b32 %r3, [%r1];")},
		{"bar.sync", LOOP("bar.sync 0;")},
		{"atom.global.add.f32", LOOP("atom.global.add.f32 %r3, [%d0], %r4;")},
	};
	_cleanup_free_ uint8_t *data = calloc(1, BUFFER_BYTES);

	if (!data)
		return 2;
	printf("arithmetic: %s\n", lanes_available(0)->name);
	for (unsigned i = 0; i < ARRAY_LENGTH(loops); i++)
		measure(loops[i].name, loops[i].text, strlen(loops[i].text), data);
	for (int i = 1; i < argc; i++) {
		_cleanup_free_ char *text = NULL;
		size_t size;

		if (file_read_all(argv[i], 1u << 28, &text, &size)) {
			fprintf(stderr, "cannot read %s\n", argv[i]);
			return 2;
		}
		measure(strrchr(argv[i], '/') ? strrchr(argv[i], '/') + 1 : argv[i], text, size,
			data);
	}
	return 0;
}
