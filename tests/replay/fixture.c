/* SPDX-License-Identifier: MIT */
/* Captures made by hand: one small kernel in variants, its memory and what it should give. */
#include "tests/replay/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"

#define HEAD_FILE ".version 8.0\n.target sm_90\n.address_size 64\n\n"
#define COUNTER   HEAD_FILE ".visible .global .align 4 .u32 counter;\n"
#define HEAD      HEAD_FILE HEAD_ENTRY
#define HEAD_ENTRY                                                                                 \
	".visible .entry k(\n\t.param .u64 k_param_0,\n\t.param .u64 k_param_1,\n"                 \
	"\t.param .u32 k_param_2\n)\n{\n"                                                          \
	"\t.reg .pred %p<4>;\n\t.reg .b32 %r<12>;\n\t.reg .f32 %f<8>;\n\t.reg .b64 %rd<12>;\n"     \
	"\tld.param.u64 %rd1, [k_param_0];\n\tld.param.u64 %rd2, [k_param_1];\n"                   \
	"\tld.param.u32 %r1, [k_param_2];\n"                                                       \
	"\tmov.u32 %r2, %ctaid.x;\n\tmov.u32 %r3, %ntid.x;\n\tmov.u32 %r4, %tid.x;\n"              \
	"\tmad.lo.s32 %r5, %r2, %r3, %r4;\n"                                                       \
	"\tsetp.ge.s32 %p1, %r5, %r1;\n\t@%p1 bra $L_end;\n"                                       \
	"\tmul.wide.s32 %rd3, %r5, 4;\n\tadd.s64 %rd4, %rd1, %rd3;\n\tadd.s64 %rd5, %rd2, %rd3;\n" \
	"\tld.global.f32 %f1, [%rd4];\n\tadd.f32 %f2, %f1, %f1;\n"
#define TAIL      "$L_end:\n\tret;\n}\n"
#define TILE_LINE ".shared .align 4 .b8 tile[4096];\n"
#define SHARED    HEAD_FILE TILE_LINE
/* Reads what another warp has put there, and makes nothing of it. */
#define EXCHANGE(barrier)                                                                \
	"\tmov.u32 %r6, tile;\n\tmad.lo.s32 %r7, %r4, 4, %r6;\n\tst.shared.f32 [%r7], "  \
	"%f2;\n\t" barrier "\n\txor.b32 %r8, %r4, 32;\n\tmad.lo.s32 %r9, %r8, 4, %r6;\n" \
	"\tld.shared.f32 %f4, [%r9];\n"
#define STORE "\tst.global.f32 [%rd5], %f2;\n"

static const char *const bodies[BODY_COUNT] = {
	[BODY_SCALE] = HEAD "// body scale\n" STORE TAIL,
	[BODY_OTHER] = HEAD "// body other\n\tadd.f32 %f2, %f2, %f1;\n" STORE TAIL,
	[BODY_SKIP] =
		HEAD "// body skip\n\tsetp.eq.s32 %p2, %r5, 999;\n\t@%p2 bra $L_end;\n" STORE TAIL,
	[BODY_STRAY] = HEAD "// body stray\n" STORE "\tst.global.f32 [%rd5+16384], %f2;\n" TAIL,
	[BODY_FAULT] =
		HEAD "// body fault\n\tmov.u64 %rd6, 64;\n\tst.global.f32 [%rd6], %f2;\n" TAIL,
	[BODY_LOOP] = HEAD "// body loop\n$L_loop:\n\tbra $L_loop;\n" STORE TAIL,
	[BODY_READS] = HEAD "// body reads\n\tld.global.f32 %f3, [%rd5];\n"
			    "\tadd.f32 %f2, %f2, %f3;\n" STORE TAIL,
	[BODY_NOISE] = COUNTER HEAD_ENTRY
	"// body noise\n\tsetp.ne.s32 %p2, %r5, 5;\n\t@%p2 bra $L_store;\n"
	"\tmov.u64 %rd6, counter;\n\tatom.global.add.u32 %r6, [%rd6], 1;\n"
	"\tcvt.rn.f32.u32 %f3, %r6;\n\tadd.f32 %f2, %f2, %f3;\n"
	"$L_store:\n" STORE TAIL,
	[BODY_TILE] = SHARED HEAD_ENTRY "// body tile\n" EXCHANGE("bar.sync 0;") STORE TAIL,
	[BODY_RACE] = SHARED HEAD_ENTRY "// body race\n" EXCHANGE("") STORE TAIL,
	[BODY_RARE] = COUNTER TILE_LINE HEAD_ENTRY
	"// body rare\n\tsetp.ne.s32 %p2, %r5, 5;\n\t@%p2 bra $L_store;\n"
	"\tmov.u64 %rd6, counter;\n\tatom.global.add.u32 %r6, [%rd6], 1;\n"
	"\trem.u32 %r7, %r6, 10;\n\tsetp.ne.s32 %p3, %r7, 9;\n\t@%p3 bra $L_store;\n"
	"\tadd.f32 %f2, %f2, %f1;\n"
	"$L_store:\n" STORE TAIL,
	[BODY_GREAT] = HEAD "// body great\n\tsetp.gt.f32 %p2, %f1, 0f469C4000;\n"
			    "\t@%p2 add.f32 %f2, %f2, %f1;\n" STORE TAIL,
	[BODY_THIRD] = HEAD "// body third\n\tmov.f32 %f3, 0f40400000;\n"
			    "\tdiv.rn.f32 %f2, %f2, %f3;\n" STORE TAIL,
	[BODY_COARSE] = HEAD "// body coarse\n\tmov.f32 %f3, 0f3EAAAA3B;\n"
			     "\tmul.f32 %f2, %f2, %f3;\n" STORE TAIL,
	[BODY_PAST] = HEAD "// body past\n" STORE "\tadd.s32 %r7, %r5, 1;\n"
			   "\tsetp.ne.s32 %p3, %r7, %r1;\n\t@%p3 bra $L_end;\n"
			   "\tmov.f32 %f3, 0f00000000;\n\tst.global.f32 [%rd5+4], %f3;\n" TAIL,
	[BODY_OVER] = HEAD "// body over\n\tadd.s32 %r7, %r5, 1;\n"
			   "\tsetp.ne.s32 %p3, %r7, %r1;\n\t@%p3 bra $L_store;\n"
			   "\tld.global.f32 %f3, [%rd4+4];\n"
			   "\tsetp.gt.f32 %p2, %f3, 0f7149F2CA;\n\t@!%p2 bra $L_store;\n"
			   "\tadd.f32 %f2, %f2, %f3;\n$L_store:\n" STORE TAIL,
	[BODY_EDGE] = HEAD "// body edge\n\tand.b32 %r6, %r1, 127;\n\tsetp.ne.s32 %p2, %r6, 0;\n"
			   "\t@%p2 bra $L_store;\n\tadd.s32 %r7, %r5, 1;\n"
			   "\tsetp.eq.s32 %p3, %r7, %r1;\n\t@%p3 bra $L_end;\n"
			   "$L_store:\n" STORE TAIL,
	[BODY_INDEX] = HEAD "// body index\n\tld.global.u32 %r6, [%rd5];\n"
			    "\tmul.wide.u32 %rd6, %r6, 4;\n\tadd.s64 %rd7, %rd1, %rd6;\n"
			    "\tld.global.f32 %f3, [%rd7];\n\tadd.f32 %f2, %f2, %f3;\n" STORE TAIL,
};

const char *body_ptx(enum body b)
{
	return bodies[b];
}

/* n's attributes; the mask. */
static const char source[] =
	"#loc = loc(\"/home/user/demo/fixture.py\":7:0)\nmodule {\n"
	"  tt.func public @k(%%X: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc(\"X\"(#loc)), "
	"%%Y: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc(\"Y\"(#loc)), "
	"%%n: i32%s loc(\"n\"(#loc))) attributes {noinline = false} {\n"
	"    %%0 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32> loc(#loc)\n%s"
	"    tt.return loc(#loc)\n  } loc(#loc)\n} loc(#loc)\n";

static void check(int rc, const char *what)
{
	if (rc) {
		fprintf(stderr, "fixture: %s: %s\n", what, strerror(-rc));
		exit(1);
	}
}

static float element(uint32_t i)
{
	return (float)i * 0.5f + 1.0f;
}

/* What the kernel gives on zeros in Y (or on its own result, for `stale`). */
static void expect(const struct fixture *f, uint8_t *memory)
{
	enum body b = f->recorded;
	uint64_t from = (f->y ? f->y : FIXTURE_Y) - FIXTURE_BASE;

	for (uint32_t i = 0; i < FIXTURE_ELEMENTS; i++) {
		float x = element(i), y, old;
		uint8_t *at = memory + from + 4 * i;

		memcpy(&old, at, 4);
		y = b == BODY_OTHER ? x + x + x : x + x;
		if (b == BODY_THIRD)
			y = (x + x) / 3.0f;
		if (b == BODY_READS)
			y += old;
		if (b == BODY_NOISE && i == 5)
			y += 1000; /* the recorded module had run before */
		if (b == BODY_RARE && f->rare && i == 5)
			y += x;
		if (b == BODY_INDEX)
			y += element(0);
		if (b == BODY_SKIP && i == 999)
			continue;
		memcpy(at, &y, 4);
		if (b == BODY_STRAY)
			memcpy(at + 16384, &y, 4);
	}
}

/* malloc'ed. */
static char *source_text(const struct fixture *f)
{
	_cleanup_free_ char *special =
		f->divisible ? text_format(" {tt.divisibility = %u : i32}", f->divisible)
			     : strdup("");
	_cleanup_free_ char *mask =
		f->block
			? text_format("    %%1 = tt.make_range {end = %u : i32, start = 0 : i32} : "
				      "tensor<128xi32> loc(#loc)\n"
				      "    %%2 = tt.splat %%n : i32 -> tensor<128xi32> loc(#loc)\n"
				      "    %%3 = arith.cmpi slt, %%1, %%2 : tensor<128xi32> "
				      "loc(#loc)\n"
				      "    tt.store %%9, %%8, %%3 : tensor<128x!tt.ptr<f32>> "
				      "loc(#loc)\n",
				      f->block)
			: strdup("");

	return text_format(source, special, mask);
}

static void put_file(struct bundle_writer *w, struct hash128 image, const char *name,
		     const char *text)
{
	struct hash128 keys[1];
	struct record_file file = {
		.image = image, .name = name, .size = strlen(text), .chunks = {keys, 1}};

	check(bundle_put_content(w, 0, text, strlen(text), keys), "file contents");
	check(bundle_put_file(w, &file), "file");
}

static struct hash128 put_image(struct bundle_writer *w, const struct fixture *f)
{
	_cleanup_free_ char *text = strdup(body_ptx(f->recorded));
	struct hash128 keys[1];
	struct record_image image = {.kind = IMAGE_PTX,
				     .size = strlen(text),
				     .chunks = {keys, 1},
				     .origin = ORIGIN_TRITON,
				     .ptxas = "12.8.93"};
	_cleanup_free_ char *json = text_format(
		"{\"target\": {\"backend\": \"cuda\", \"arch\": 90, \"warp_size\": 32}, %s, "
		"\"num_ctas\": 1, \"num_stages\": 3, \"maxnreg\": null, \"enable_fp_fusion\": "
		"true, "
		"\"triton_version\": \"3.2.0\", \"shared\": 0, \"name\": \"k\"}",
		f->options ? f->options : "\"num_warps\": 4");

	_cleanup_free_ char *ir = source_text(f);

	if (f->other_arch)
		memcpy(strstr(text, "sm_90"), "sm_99", 5);
	image.id = hash_bytes(text, strlen(text));
	check(bundle_put_content(w, 0, text, strlen(text), keys), "image contents");
	check(bundle_put_image(w, &image), "image");
	if (!f->no_metadata) {
		put_file(w, image.id, "k.json", json);
		put_file(w, image.id, "k.source", ir);
	}
	return image.id;
}

static void put_after(struct bundle_writer *w, const struct fixture *f, uint64_t seq,
		      uint8_t *memory, const struct hash128 *before)
{
	struct hash128 keys[FIXTURE_BYTES / CHUNK_BYTES];
	struct record_change changes[FIXTURE_BYTES / CHUNK_BYTES];
	struct record_after after = {.seq = seq, .result = f->failed ? 1 : 0};
	size_t n = 0;

	expect(f, memory);
	if (f->wrong_after)
		memory[FIXTURE_Y - FIXTURE_BASE + 40] ^= 1;
	check(bundle_put_content(w, FIXTURE_BASE, memory, f->size ? f->size : FIXTURE_BYTES, keys),
	      "contents after");
	for (uint64_t i = 0; i < chunk_count(FIXTURE_BASE, f->size ? f->size : FIXTURE_BYTES); i++)
		if (!hash_equal(keys[i], before[i]))
			changes[n++] = (struct record_change){0, i, keys[i]};
	after.changes.items = changes;
	after.changes.count = n;
	check(bundle_put_after(w, &after), "after");
}

static void put_launch(struct bundle_writer *w, const struct fixture *f, uint64_t seq)
{
	uint64_t base = f->base ? f->base : FIXTURE_BASE;
	uint64_t offsets[2] = {0, 8},
		 pointers[2] = {base + (FIXTURE_X - FIXTURE_BASE),
				base + (f->y ? f->y : FIXTURE_Y) - FIXTURE_BASE};
	uint64_t reads[2] = {FIXTURE_X - FIXTURE_BASE, 4 * FIXTURE_ELEMENTS};
	uint64_t writes[2] = {pointers[1] - base, 4 * FIXTURE_ELEMENTS};
	uint32_t n = FIXTURE_ELEMENTS;
	uint8_t params[20], *memory = calloc(1, FIXTURE_BYTES);
	struct hash128 keys[FIXTURE_BYTES / CHUNK_BYTES];
	struct record_region region = {.base = base,
				       .size = f->size ? f->size : FIXTURE_BYTES,
				       .memory = MEMORY_ALLOCATION,
				       .param_offsets = {offsets, 2},
				       .chunks = {keys, ARRAY_LENGTH(keys)}};
	struct record_launch launch = {.seq = seq,
				       .grid = {8, 1, 1},
				       .block = {128, 1, 1},
				       .params = {params, sizeof(params)},
				       .shape_class = hash_bytes("8", 1)};

	if (f->measured) {
		launch.measured = true;
		region.reads = (struct u64s){reads, 2};
		region.writes = (struct u64s){writes, 2};
	}
	region.chunks.count = chunk_count(base, region.size);
	memcpy(params, pointers, 16);
	memcpy(params + 16, &n, 4);
	for (uint32_t i = 0; i < FIXTURE_ELEMENTS; i++) {
		float x = element(i);

		memcpy(memory + (FIXTURE_X - FIXTURE_BASE) + 4 * i, &x, 4);
	}
	if (f->stale)
		expect(f, memory);
	check(bundle_put_content(w, base, memory, region.size, keys), "contents before");
	if (f->no_data) {
		launch.flags = LAUNCH_NO_DATA;
		region.chunks.count = 0;
	}
	launch.regions.items = &region;
	launch.regions.count = 1;
	check(bundle_put_launch(w, &launch), "launch");
	if (!f->no_data && !f->no_after)
		put_after(w, f, seq, memory, keys);
	free(memory);
}

void fixture_write(const struct fixture *f)
{
	struct record_param layout[] = {{0, 8}, {8, 8}, {16, 4}};
	struct record_kernel kernel = {.entry = "k", .params_how = "cuFuncGetParamInfo"};
	struct record_device device = {.name = "test device", .cc_major = 9};
	struct record_end end = {.clean = true};
	struct bundle_writer *w;

	remove(f->path);
	check(bundle_writer_open(&w, f->path, BUNDLE_CAPTURE), f->path);
	check(bundle_put_device(w, &device), "device");
	kernel.image = put_image(w, f);
	kernel.params.items = layout;
	kernel.params.count = 3;
	check(bundle_put_kernel(w, &kernel), "kernel");
	for (uint32_t i = 0; i < (f->launches ? f->launches : 1); i++)
		put_launch(w, f, i + 1);
	check(bundle_put_end(w, &end), "end");
	check(bundle_writer_close(w), "close");
}
