/* SPDX-License-Identifier: MIT */
/*
 * Works on PTX files, for the tests in Python and for people:
 *   ptx_tool decode FILE...        parses each; names what is not supported
 *   ptx_tool run FILE...           runs each entry on zeros, then on random floats
 *   ptx_tool shadow FILE...        runs each entry on random floats with a shadow and without
 *   ptx_tool fuzz COUNT FILE...    parses and runs COUNT mutations of each
 *   ptx_tool coverage              the opcode table as Markdown
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "softgpu/machine.h"
#include "softgpu/opcodes.h"
#include "softgpu/shadow.h"

#define BUFFER_BYTES (2u << 20)
#define POINTERS     24

static uint64_t random_state = 1;

static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static void fill(uint8_t *data, bool zeros)
{
	for (size_t i = 0; i < BUFFER_BYTES; i += 4) {
		float x = zeros ? 0 : (float)((double)(next_random() >> 40) / (1 << 23) - 1.0);

		memcpy(data + i, &x, 4);
	}
}

/* Every 8-byte parameter points to a buffer of its own, every 4-byte one is 64. */
static enum machine_fault_kind run_entry(struct ptx_module *m, const struct ptx_entry *e,
					 uint8_t *data, uint64_t quota, struct shadow *shadow,
					 struct machine_fault *fault)
{
	_cleanup_free_ uint8_t *params = calloc(1, e->params_bytes + 1);
	struct memory_range ranges[POINTERS + 16];
	struct machine_launch l = {.module = m,
				   .entry = e,
				   .grid = {2, 1, 1},
				   .block = {e->required_block[0] ? e->required_block[0] : 32,
					     e->required_block[1] ? e->required_block[1] : 1,
					     e->required_block[2] ? e->required_block[2] : 1},
				   .dynamic_shared_bytes = 64u << 10,
				   .params = params,
				   .ranges = ranges,
				   .instruction_quota = quota,
				   .shadow = shadow};

	for (size_t i = 0; i < e->param_count; i++) {
		uint64_t address = 0x10000000000ull + ((uint64_t)l.range_count << 32);
		uint32_t scalar = 64;

		if (e->params[i].size == 8 && l.range_count < POINTERS) {
			memcpy(params + e->params[i].offset, &address, 8);
			ranges[l.range_count] = (struct memory_range){
				address, BUFFER_BYTES, data + l.range_count * (size_t)BUFFER_BYTES};
			l.range_count++;
		} else if (e->params[i].size == 4) {
			memcpy(params + e->params[i].offset, &scalar, 4);
		}
	}
	for (size_t i = 0; i < m->global_count && i < 16; i++) {
		struct ptx_global *g = &m->globals[i];

		g->address = 0x20000000000ull + ((uint64_t)i << 32);
		ranges[l.range_count++] =
			(struct memory_range){g->address, g->size < BUFFER_BYTES ? g->size : 0,
					      g->initial ? (uint8_t *)g->initial : data};
	}
	return machine_run(&l, fault, NULL);
}

static uint8_t *buffers(void)
{
	uint8_t *data = calloc(POINTERS, BUFFER_BYTES);

	if (!data) {
		fprintf(stderr, "no memory\n");
		exit(2);
	}
	return data;
}

static int decode_or_run(const char *path, uint8_t *data)
{
	struct machine_fault fault;
	struct error err = {0};
	struct ptx_module *m;
	char *text;
	size_t size;
	int bad = 0;

	if (file_read_all(path, 1u << 28, &text, &size)) {
		fprintf(stderr, "cannot read %s\n", path);
		return 1;
	}
	if (ptx_module_parse(&m, text, size, &err)) {
		printf("%s: %s\n", path, err.message);
		free(text);
		return 1;
	}
	for (size_t i = 0; data && i < m->entry_count; i++) {
		enum machine_fault_kind kind;

		memset(data, 0, POINTERS * (size_t)BUFFER_BYTES);
		kind = run_entry(m, &m->entries[i], data, 20000000, NULL, &fault);
		if (kind != MACHINE_OK) {
			printf("%s on zeros: %s\n", path, fault.message);
			bad = 1;
		}
		for (unsigned k = 0; k < m->entries[i].param_count && k < POINTERS; k++)
			fill(data + k * (size_t)BUFFER_BYTES, false);
		kind = run_entry(m, &m->entries[i], data, 20000000, NULL, &fault);
		/* Random bits taken for indices may point anywhere. */
		if (kind != MACHINE_OK && kind != MACHINE_ILLEGAL_ADDRESS && kind != MACHINE_TRAP) {
			printf("%s on random floats: %s\n", path, fault.message);
			bad = 1;
		}
	}
	ptx_module_free(m);
	free(text);
	return bad;
}

/* What a kernel does is the same with a shadow; how much of it the shadow follows. */
static int with_shadow(const char *path, uint8_t *data)
{
	_cleanup_free_ uint8_t *copy = buffers();
	struct machine_fault fault;
	struct error err = {0};
	struct ptx_module *m;
	char *text;
	size_t size;
	int bad = 0;

	if (file_read_all(path, 1u << 28, &text, &size) || ptx_module_parse(&m, text, size, &err)) {
		printf("%s: %s\n", path, err.message);
		return 1;
	}
	for (size_t i = 0; i < m->entry_count; i++) {
		const struct ptx_entry *e = &m->entries[i];
		const struct shadow_counts *c;
		enum machine_fault_kind kind;
		struct shadow *s;

		for (unsigned k = 0; k < e->param_count && k < POINTERS; k++)
			fill(data + k * (size_t)BUFFER_BYTES, false);
		memcpy(copy, data, POINTERS * (size_t)BUFFER_BYTES);
		kind = run_entry(m, e, copy, 20000000, NULL, &fault);
		if (shadow_new(&s, 1u << 30))
			return 1;
		if (run_entry(m, e, data, 20000000, s, &fault) != kind ||
		    memcmp(data, copy, POINTERS * (size_t)BUFFER_BYTES)) {
			printf("%s: another result with a shadow\n", path);
			bad = 1;
		}
		c = shadow_counts(s);
		printf("%s: %llu operations, %u places without shadow, the first at line %u\n",
		       e->name, (unsigned long long)c->operations, c->lost_places, c->lost_line);
		shadow_free(s);
	}
	ptx_module_free(m);
	free(text);
	return bad;
}

/* One small damage: a byte, a cut, a line lost or doubled, two words exchanged. */
static size_t mutate(char *text, size_t size, size_t room)
{
	size_t at = next_random() % size, end = at, line;

	switch (next_random() % 6) {
	case 0:
		text[at] = (char)next_random();
		return size;
	case 1:
		text[at] = "{}[]();,.%@!|<>:-+0xf\n"[next_random() % 22];
		return size;
	case 2:
		return at + 1;
	case 3: /* lose a line */
	case 4: /* or double it */
		while (at && text[at - 1] != '\n')
			at--;
		while (end < size && text[end] != '\n')
			end++;
		line = end - at;
		if (next_random() % 2) {
			memmove(text + at, text + end, size - end);
			return size - line ? size - line : 1;
		}
		if (size + line > room)
			return size;
		memmove(text + end, text + at, size - at);
		return size + line;
	default:
		text[at] ^= (char)(1 << next_random() % 8);
		return size;
	}
}

static int fuzz(const char *path, unsigned count, uint8_t *data)
{
	char *text, *copy;
	size_t size, room;

	if (file_read_all(path, 1u << 28, &text, &size) || !size)
		return 1;
	room = 2 * size + 16;
	copy = malloc(room);
	if (!copy)
		return 1;
	for (unsigned k = 0; k < count; k++) {
		struct machine_fault fault;
		struct ptx_module *m;
		struct error err;
		size_t n = size;

		memcpy(copy, text, size);
		for (uint64_t i = 1 + next_random() % 3; i; i--)
			n = mutate(copy, n, room);
		if (ptx_module_parse(&m, copy, n, &err))
			continue;
		for (size_t i = 0; i < m->entry_count; i++)
			run_entry(m, &m->entries[i], data, 2000, NULL, &fault);
		ptx_module_free(m);
	}
	free(copy);
	free(text);
	return 0;
}

/* "a|b? c" becomes {.a|.b} .c, with what may be left out in braces. */
static void print_form(const struct opcode *o)
{
	printf("| `%s", o->base);
	for (const char *g = o->grammar; *g;) {
		size_t n = strcspn(g, " "), plain = n - (g[n - 1] == '?');
		bool optional = plain != n, several = memchr(g, '|', plain) != NULL;

		printf("%s.", optional ? "{" : several ? "(" : "");
		for (size_t i = 0; i < plain; i++)
			if (g[i] == '|')
				printf("\\|.");
			else
				putchar(g[i]);
		printf("%s", optional ? "}" : several ? ")" : "");
		g += n;
		g += strspn(g, " ");
	}
	printf("` |\n");
}

int main(int argc, char **argv)
{
	const char *verb = argc > 1 ? argv[1] : "";
	_cleanup_free_ uint8_t *data = NULL;
	int bad = 0, first = 2;
	unsigned count = 0;

	if (!strcmp(verb, "coverage")) {
		for (unsigned i = 0; i < opcode_count; i++)
			print_form(&opcodes[i]);
		return 0;
	}
	if (argc < 3 || (strcmp(verb, "decode") && strcmp(verb, "run") && strcmp(verb, "shadow") &&
			 strcmp(verb, "fuzz"))) {
		fprintf(stderr, "usage: ptx_tool decode|run|shadow|fuzz COUNT|coverage FILE...\n");
		return 2;
	}
	if (strcmp(verb, "decode"))
		data = buffers();
	if (!strcmp(verb, "fuzz"))
		count = (unsigned)atoi(argv[first++]);
	for (int i = first; i < argc; i++)
		bad += count                     ? fuzz(argv[i], count, data)
		       : !strcmp(verb, "shadow") ? with_shadow(argv[i], data)
						 : decode_or_run(argv[i], data);
	printf("%d of %d bad\n", bad, argc - first);
	return bad != 0;
}
