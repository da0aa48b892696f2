/* SPDX-License-Identifier: MIT */
/* Writes the results that the report tests read: FOLDER/gpu.klab, soft.klab, shard.klab, … */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base.h"
#include "tests/analyze/maker.h"

#define N 1024

static float plain[N], near[N], nan_tail[N], far[N];
static int32_t ints[N], other_ints[N];
static uint16_t narrow[N], truncated[N];

/* Values that are exact in binary, so that every figure prints the same everywhere. */
static void fill(void)
{
	for (int i = 0; i < N; i++) {
		uint32_t x;

		plain[i] = (float)(i % 64 + 1) * 0.25f;
		near[i] = plain[i] + (i % 8 ? 0 : plain[i] * 0x1p-22f);
		nan_tail[i] = i < N - 128 ? plain[i] : NAN;
		far[i] = i == 77 ? plain[i] + 2 : plain[i];
		ints[i] = other_ints[i] = i;
		memcpy(&x, &plain[i], 4);
		narrow[i] = truncated[i] = (uint16_t)(x >> 16);
		truncated[i] ^= i % 4 == 0;
	}
	other_ints[5] = 500;
}

static uint64_t next_launch = 17;

static void add(struct maker *m, const char *name, const char *options, enum dtype t, const void *a,
		const void *b)
{
	struct hash128 family = maker_family(m, name, t);

	maker_case(m, maker_config(m, family, options), next_launch++, t, N);
	maker_trials(m, a, b);
}

static void add_untested(struct maker *m, const char *name)
{
	struct record_config c = {.family = maker_family(m, name, DTYPE_F32),
				  .options = "num_warps=4 BLOCK=128",
				  .pairing = PAIRING_A_ONLY,
				  .reason = "B never compiled this config"};

	maker_config_full(m, &c);
}

/* Faults under B in one of two configs; a third one is not tested. */
static void add_fault(struct maker *m)
{
	struct record_trial t = {.side = SIDE_B,
				 .status = TRIAL_STATUS_FAULT,
				 .reason = "illegal address 0x302000000"};
	struct record_config c = {.options = "num_warps=16 128x128", .reason = "too many spills"};
	struct hash128 family = maker_family(m, "matmul_k", DTYPE_F32);
	const void *p = plain;

	maker_case(m, maker_config(m, family, "num_warps=4 64x64"), next_launch++, DTYPE_F32, N);
	maker_trials(m, plain, plain);
	maker_case(m, maker_config(m, family, "num_warps=8 128x64"), next_launch++, DTYPE_F32, N);
	for (uint32_t i = 0; i < 3; i++)
		maker_trial(m, SIDE_A, TRIAL_REPEAT, i, &p);
	maker_trial_full(m, &t, NULL);
	c.family = family;
	maker_config_full(m, &c);
}

static void make_gpu(const char *path)
{
	struct maker m;

	maker_begin(&m, path, NULL);
	add(&m, "triton_poi_fused_add_mul_native_layer_norm_backward_0",
	    "num_warps=4 num_stages=1 XBLOCK=1024", DTYPE_F32, plain, plain);
	add(&m, "softmax_k", "num_warps=4 64x32", DTYPE_F32, plain, nan_tail);
	add(&m, "layernorm_k", "num_warps=8 1024", DTYPE_F32, plain, near);
	add(&m, "dropped_tail_k", "num_warps=8 1024", DTYPE_F32, plain, far);
	add(&m, "argmax_k", "num_warps=2", DTYPE_I32, ints, other_ints);
	add(&m, "cast_bf16_k", "num_warps=2", DTYPE_BF16, narrow, truncated);
	add(&m, "weird|name`\x1b[31m\xff", "num_warps=1 | a<b> *c*", DTYPE_UNKNOWN, plain, far);
	add_untested(&m, "never_k");
	add_fault(&m);
	maker_end(&m);
}

static void make_one(const char *path, const char *name, const float *b, bool software)
{
	struct maker_head head = {.version_a = "triton 3.6.0, ptxas 12.8.93",
				  .version_b = "triton 3.7.1",
				  .software = software};
	struct maker m;

	maker_begin(&m, path, &head);
	add(&m, name, "num_warps=4", DTYPE_F32, plain, b);
	maker_end(&m);
}

#define SIDE 256 /* of a square output with one tile of 32 x 64 that is wrong */

static float square[SIDE * SIDE], spoilt[SIDE * SIDE];

static void fill_square(void)
{
	for (int i = 0; i < SIDE * SIDE; i++) {
		int row = i / SIDE, column = i % SIDE;
		bool tile = row >= 64 && row < 96 && column >= 128 && column < 192;

		square[i] = (float)(i % 251 - 125) * 0.125f;
		spoilt[i] = square[i] + (tile ? square[i] * 0x1p-6f : 0);
	}
	spoilt[5] = INFINITY;
}

static void add_square(struct maker *m, const char *name, const char *options, const char *hostile)
{
	struct record_extent e = {
		.address = MAKER_ADDRESS, .size = sizeof(square), .arg = 2, .dtype = DTYPE_F32};
	struct record_case c = {
		.config = maker_config(m, maker_family(m, name, DTYPE_F32), options),
		.bundle = hostile ? hostile : "train-1.klab",
		.seq = next_launch++,
		.grid = {8, 4, 1},
		.shape_class = {1, 2},
		.fidelity = FIDELITY_FAITHFUL,
		.fidelity_reason = hostile,
		.extents = {&e, 1},
		.params = hostile ? hostile : "M=256 N=256 K=512",
		.repro = hostile ? hostile : "kernelab diff a --b 'b' --launch 17",
	};

	maker_case_full(m, &c);
	maker_trials(m, square, spoilt);
}

/* What a page must cope with: text that is markup, a wrong tile, unproven and equal families. */
static void make_page(const char *path)
{
	static const char hostile[] = "</script><script>document.title='owned'</script>"
				      "<img src=x onerror=\"document.title='owned'\">&lt;'\\";
	struct maker m;

	fill_square();
	maker_begin(&m, path, NULL);
	add_square(&m, "tile_k", "num_warps=4 num_stages=3 32x64", NULL);
	add_square(&m, hostile, hostile, hostile);
	add(&m, "layernorm_k", "num_warps=8 1024", DTYPE_F32, plain, near);
	add(&m, "cast_bf16_k", "num_warps=2", DTYPE_BF16, narrow, truncated);
	add(&m, "same_k", "num_warps=2", DTYPE_F32, plain, plain);
	add_untested(&m, "never_k");
	maker_end(&m);
}

/* As many families and configs as a large model has. */
static void make_many(const char *path)
{
	struct maker m;
	char name[64], options[64];

	maker_begin(&m, path, NULL);
	for (int f = 0; f < 400; f++) {
		snprintf(name, sizeof(name), "triton_poi_fused_%d", f);
		struct hash128 family = maker_family(&m, name, DTYPE_F32);

		for (int c = 0; c < 30; c++) {
			snprintf(options, sizeof(options), "num_warps=%d num_stages=%d %d",
				 1 << c % 4, 1 + c / 8, 64 << c % 5);
			maker_case(&m, maker_config(&m, family, options), next_launch++, DTYPE_F32,
				   N);
			maker_trials(&m, plain, f % 3 ? plain : near);
		}
	}
	maker_end(&m);
}

/* The same with about 1 GB of outputs, for bench/analyze/page.py: no two cases have the same. */
static void make_large(const char *path)
{
	enum { LARGE = 16384, FAMILIES = 400, CONFIGS = 30 };
	static float a[LARGE], b[LARGE];
	uint32_t state = 1;
	struct maker m;
	char name[64], options[64];

	maker_begin(&m, path, NULL);
	for (int f = 0; f < FAMILIES; f++) {
		snprintf(name, sizeof(name), "triton_per_fused_%d", f);
		struct hash128 family = maker_family(&m, name, DTYPE_F32);

		for (int c = 0; c < CONFIGS; c++) {
			for (int i = 0; i < LARGE; i++) {
				state = state * 1664525u + 1013904223u;
				a[i] = b[i] = (float)(int32_t)state * 0x1p-31f;
				if (f % 2 && i % 16 == 0)
					b[i] *= 1 + 0x1p-22f;
			}
			if (f % 8 == 1 && c == 3)
				b[77] += 2;
			snprintf(options, sizeof(options), "num_warps=%d num_stages=%d %d",
				 1 << c % 4, 1 + c / 8, 64 << c % 5);
			maker_case(&m, maker_config(&m, family, options), next_launch++, DTYPE_F32,
				   LARGE);
			maker_trials(&m, a, b);
		}
	}
	maker_end(&m);
}

int main(int argc, char **argv)
{
	bool large = argc == 3 && !strcmp(argv[2], "large");

	if ((argc != 2 && !large) || chdir(argv[1])) {
		fprintf(stderr, "usage: make_results FOLDER [large]\n");
		return 2;
	}
	fill();
	if (large) {
		make_large("large.klab");
		return 0;
	}
	make_gpu("gpu.klab");
	make_page("page.klab");
	make_many("many.klab");
	make_one("soft.klab", "softmax_k", near, true);
	make_one("equal.klab", "softmax_k", plain, true);
	make_one("stranger.klab", "softmax_k", plain, false);
	make_one("cut.klab", "softmax_k", plain, true);
	if (truncate("cut.klab", 3000))
		return 2;
	return 0;
}
