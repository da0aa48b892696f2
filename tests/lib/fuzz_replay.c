/* SPDX-License-Identifier: MIT */
/*
 * Runs the fuzz target without a fuzzer: on inputs cut from whole bundles, on mutations of them
 * that are the same in every run, and on input files given by name (what a fuzzer found).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "lib/bundle/codec.h"
#include "lib/bundle/format.h"
#include "tests/lib/fuzz.h"
#include "tests/lib/record_random.h"
#include "tests/lib/small_bundle.h"

#define INPUTS_MAX   512u
#define MUTATION_MAX (1u << 16)

struct input {
	uint8_t *data;
	size_t size;
};

static struct input inputs[INPUTS_MAX];
static size_t input_count;

static uint8_t *add_input(size_t size)
{
	uint8_t *data = malloc(size ? size : 1);

	if (!data || input_count == INPUTS_MAX)
		abort();
	inputs[input_count++] = (struct input){data, size};
	return data;
}

/* The file as it is; each structured payload; all records as ones to forge. */
static void add_bundle(const char *file, size_t size)
{
	struct small_record records[INPUTS_MAX];
	size_t count = small_bundle_walk(file, size, records, INPUTS_MAX), used = 2;
	uint8_t *whole = add_input(size + 1), *forged;
	struct input *forged_input;

	whole[0] = FUZZ_FILE;
	memcpy(whole + 1, file, size);
	forged = add_input(size + 2); /* frames are longer than what stands for them here */
	forged_input = &inputs[input_count - 1];
	forged[0] = FUZZ_FORGED;
	forged[1] = 1;
	for (size_t i = 0; i < count; i++) {
		const char *from = file + records[i].offset + sizeof(struct format_frame);
		size_t length = records[i].end - records[i].offset - sizeof(struct format_frame);
		uint8_t *payload;

		if (!codec_record(records[i].type))
			continue;
		payload = add_input(length + 2);
		payload[0] = FUZZ_PAYLOAD;
		payload[1] = (uint8_t)records[i].type;
		memcpy(payload + 2, from, length);
		forged[used] = (uint8_t)records[i].type;
		forged[used + 1] = (uint8_t)length;
		forged[used + 2] = (uint8_t)(length >> 8);
		memcpy(forged + used + 3, from, length);
		used += 3 + length;
	}
	forged_input->size = used;
}

static size_t mutate_once(uint8_t *data, size_t size, uint64_t *state)
{
	static const uint8_t edges[] = {0,    1,    0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0,
					0xc4, 0xc6, 0xcb, 0xcf, 0xd3, 0xd9, 0xdb, 0xdd, 0xdf, 0xff};
	size_t at = 1 + random_next(state) % (size - 1), n;

	switch (random_next(state) % 6) {
	case 0:
		data[at] ^= (uint8_t)(1u << random_next(state) % 8);
		return size;
	case 1:
		data[at] = edges[random_next(state) % sizeof(edges)];
		return size;
	case 2:
		data[at] = (uint8_t)random_next(state);
		return size;
	case 3: /* remove some */
		n = random_next(state) % 16 % (size - at);
		memmove(data + at, data + at + n, size - at - n);
		return size - n;
	case 4: /* repeat some */
		n = random_next(state) % 16 % (size - at);
		if (size + n > MUTATION_MAX)
			return size;
		memmove(data + at + n, data + at, size - at);
		return size + n;
	default: /* cut, seldom */
		return random_next(state) % 8 ? size : at + 1;
	}
}

static void run_mutations(size_t rounds)
{
	static uint8_t copy[MUTATION_MAX];
	uint64_t state = 1;

	for (size_t i = 0; i < rounds; i++) {
		const struct input *from = &inputs[random_next(&state) % input_count];
		size_t size, times;

		/* single payloads are many and quick: whole files get a third of the rounds */
		if (i % 3 == 0)
			from = &inputs[i / 3 % 2];
		size = from->size;
		times = 1 + random_next(&state) % 4;

		if (size < 2 || size > MUTATION_MAX)
			continue;
		memcpy(copy, from->data, size);
		while (times-- && size > 1)
			size = mutate_once(copy, size, &state);
		LLVMFuzzerTestOneInput(copy, size);
	}
}

/* fuzz_replay ROUNDS [FILE…]: *.klab are bundles to mutate, others are inputs to run. */
int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	for (int i = 2; i < argc; i++) {
		size_t size, length = strlen(argv[i]);
		char *data;

		if (file_read_all(argv[i], 64 << 20, &data, &size)) {
			fprintf(stderr, "cannot read %s\n", argv[i]);
			return 2;
		}
		if (length > 5 && !strcmp(argv[i] + length - 5, ".klab"))
			add_bundle(data, size);
		else
			memcpy(add_input(size), data, size);
		free(data);
	}
	for (size_t i = 0; i < input_count; i++)
		LLVMFuzzerTestOneInput(inputs[i].data, inputs[i].size);
	run_mutations(strtoul(argv[1], NULL, 10));
	printf("%zu inputs, %s mutations\n", input_count, argv[1]);
	for (size_t i = 0; i < input_count; i++)
		free(inputs[i].data);
	return input_count ? 0 : 2;
}
