/* SPDX-License-Identifier: MIT */
/* Result bundles as a replay would write them, made by hand. */
#include "tests/analyze/maker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"

#define MUST(call)                                                     \
	do {                                                           \
		int e_ = (call);                                       \
		if (e_) {                                              \
			fprintf(stderr, "maker: %s: %d\n", #call, e_); \
			abort();                                       \
		}                                                      \
	} while (0)

void maker_begin(struct maker *m, const char *path, const struct maker_head *head)
{
	static const struct maker_head plain = {.version_a = "triton 3.6.0, ptxas 12.8.93"};
	static const char *const command[] = {"kernelab", "replay", "a", "--b", "b"};
	struct record_run run = {.tool_version = "0.1.0", .command = {(const char **)command, 5}};
	struct record_side a = {.side = SIDE_A, .source = "recorded", .commit = "0123abc"};
	struct record_side b = {.side = SIDE_B, .source = "b"};
	struct record_device device = {.name = "NVIDIA H200", .cc_major = 9};
	struct record_fact level = {.name = "replay.level",
				    .value = "PTX level: ptxas not executed"};
	struct record_fact model = {.name = "context.model", .value = "tiny"};
	struct record_fact other = {.name = "environment.torch.version",
				    .value = "A: 2.11.0; B: 2.12.0"};

	head = head ? head : &plain;
	device.name = head->device ?: device.name;
	other.value = head->torch_b ?: other.value;
	*m = (struct maker){0};
	unlink(path);
	MUST(bundle_writer_open(&m->writer, path, BUNDLE_RESULT));
	MUST(bundle_put_run(m->writer, &run));
	a.version = head->version_a;
	b.version = head->version_b;
	MUST(bundle_put_side(m->writer, &a));
	MUST(bundle_put_side(m->writer, &b));
	device.software = head->software;
	if (head->software) {
		device.name = "kernelab software device";
		MUST(bundle_put_fact(m->writer, &level));
	}
	MUST(bundle_put_fact(m->writer, &model));
	MUST(bundle_put_fact(m->writer, &other));
	MUST(bundle_put_device(m->writer, &device));
}

void maker_end(struct maker *m)
{
	MUST(bundle_writer_close(m->writer));
	m->writer = NULL;
}

struct hash128 maker_family(struct maker *m, const char *name, enum dtype t)
{
	char type[32];
	struct record_arg args[] = {
		{.name = "x_ptr", .type = "!tt.ptr<f32>", .dtype = DTYPE_F32, .pointer = true},
		{.name = "out_ptr", .type = type, .dtype = t, .pointer = true},
		{.name = "aux_ptr", .type = "!tt.ptr<i32>", .dtype = DTYPE_I32, .pointer = true},
		{.name = "n", .type = "i32", .dtype = DTYPE_I32},
	};
	struct record_family f = {.key = hash_bytes(name, strlen(name)),
				  .name = name,
				  .origin = ORIGIN_TRITON,
				  .source = "/home/user/demo/kernels.py",
				  .line = 12,
				  .args = {args, ARRAY_LENGTH(args)}};

	snprintf(type, sizeof(type), "!tt.ptr<%s>", dtype_name(t));
	MUST(bundle_put_family(m->writer, &f));
	return f.key;
}

uint32_t maker_config_full(struct maker *m, struct record_config *c)
{
	c->number = m->configs++;
	c->key = hash_bytes(c->options, strlen(c->options));
	MUST(bundle_put_config(m->writer, c));
	return c->number;
}

uint32_t maker_config(struct maker *m, struct hash128 family, const char *options)
{
	struct record_config c = {.family = family,
				  .options = options,
				  .a_image = {1, 1},
				  .b_image = {2, 2},
				  .tested = true};

	return maker_config_full(m, &c);
}

uint32_t maker_case_full(struct maker *m, struct record_case *c)
{
	c->number = m->cases++;
	if (c->extents.count > MAKER_EXTENTS)
		abort();
	m->extent_count = c->extents.count;
	if (c->extents.count)
		memcpy(m->extents, c->extents.items, c->extents.count * sizeof(*m->extents));
	MUST(bundle_put_case(m->writer, c));
	return c->number;
}

uint32_t maker_case(struct maker *m, uint32_t config, uint64_t seq, enum dtype t, size_t n)
{
	struct record_extent e = {
		.address = MAKER_ADDRESS, .size = n * dtype_bytes(t), .arg = 2, .dtype = t};
	struct record_case c = {
		.config = config,
		.bundle = "train-1.klab",
		.seq = seq,
		.grid = {(uint32_t)n, 1, 1},
		.shape_class = {seq, n},
		.fidelity = FIDELITY_FAITHFUL,
		.fidelity_reason = "reproduces the recorded contents",
		.extents = {&e, 1},
		.params = "n=1000",
		.repro = "kernelab diff a --b b --launch 17",
	};

	return maker_case_full(m, &c);
}

void maker_trial_full(struct maker *m, struct record_trial *t, const void *const *contents)
{
	struct record_content stored[MAKER_EXTENTS] = {0};

	t->test_case = m->cases - 1;
	for (size_t i = 0; contents && i < m->extent_count; i++) {
		const struct record_extent *e = &m->extents[i];
		uint64_t n = chunk_count(e->address, e->size);

		stored[i].chunks.items = calloc(n, sizeof(struct hash128));
		stored[i].chunks.count = n;
		MUST(bundle_put_content(m->writer, e->address, contents[i], e->size,
					stored[i].chunks.items));
	}
	if (contents) {
		t->contents.items = stored;
		t->contents.count = m->extent_count;
	}
	MUST(bundle_put_trial(m->writer, t));
	for (size_t i = 0; i < MAKER_EXTENTS; i++)
		free(stored[i].chunks.items);
}

void maker_trial(struct maker *m, uint32_t side, uint32_t kind, uint32_t index,
		 const void *const *contents)
{
	struct record_trial t = {.side = side, .kind = kind, .index = index, .time_us = 10};

	maker_trial_full(m, &t, contents);
}

void maker_trials(struct maker *m, const void *a, const void *b)
{
	for (uint32_t i = 0; i < 3; i++) {
		maker_trial(m, SIDE_A, TRIAL_REPEAT, i, &a);
		maker_trial(m, SIDE_B, TRIAL_REPEAT, i, &b);
	}
	for (uint32_t i = 0; i < 2; i++) {
		maker_trial(m, SIDE_A, TRIAL_POISON, i, &a);
		maker_trial(m, SIDE_B, TRIAL_POISON, i, &b);
	}
}
