/* SPDX-License-Identifier: MIT */
/* Launches the kernels of the labelled corpus by a plan, on inputs that depend on nothing else. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/apps/kernels.h"
#include "tests/corpus/values.h"

/* A kernel with a fault may reach behind its buffer, as it does in an allocator's larger blocks:
 * then the program goes on, and the rules must see it. The neighbour's bytes are not zero. */
enum { LINE_MAX_BYTES = 2048, ELEMENTS_MAX = 1 << 22, SLACK_BYTES = 16384 };

/* A device buffer of the launch at hand. */
struct buffer {
	CUdeviceptr device;
	const struct value_type *type;
	size_t count;
	bool output;
};

struct launch {
	const char *entry, *kind, *shape;
	unsigned x, y, buffer_count;
	struct arguments arguments;
	struct buffer buffers[KERNEL_ARGUMENTS_MAX];
};

static void upload(struct launch *l, struct buffer *b, const void *data)
{
	size_t bytes = b->count * b->type->bytes;

	CHECK(cuMemAlloc_v2(&b->device, bytes + SLACK_BYTES));
	CHECK(cuMemsetD8Async(b->device + bytes, 0x5a, SLACK_BYTES, cu.stream));
	write_to(b->device, data, bytes);
	put_pointer(&l->arguments, b->device);
	l->buffer_count++;
}

/* ROLE:TYPE[/f64]:COUNT:KIND, for "index" the limit in place of the kind. */
static void put_buffer(struct launch *l, char *token)
{
	struct buffer *b = &l->buffers[l->buffer_count];
	char *role = strsep(&token, ":"), *type = strsep(&token, ":"), *count = strsep(&token, ":");
	char *wide = type ? strchr(type, '/') : NULL;
	const struct value_type *source;
	uint64_t seed = l->arguments.count;
	void *data;

	if (!count || !token)
		die("%s: an argument of the plan is not understood", l->entry);
	if (wide)
		*wide++ = '\0';
	source = value_type_find(type);
	b->type = wide ? value_type_find(wide) : source;
	b->count = strtoul(count, NULL, 10);
	if (!source || !b->type || !b->count || b->count > ELEMENTS_MAX)
		die("%s: %s:%s:%s is no buffer", l->entry, role, type, count);
	data = calloc(b->count, b->type->bytes);
	if (!data)
		die("out of memory");
	b->output = !strcmp(role, "out") || !strcmp(role, "both") || !strcmp(role, "sum");
	if (!strcmp(role, "index"))
		values_index(data, b->count, (uint32_t)strtoul(token, NULL, 10), seed);
	else if (!strcmp(role, "out"))
		values_ones(data, b->type, b->count);
	else if (strcmp(role, "sum") != 0 &&
		 !values_fill(data, b->type, source, b->count, token, seed))
		die("%s: no such inputs: %s", l->entry, token);
	upload(l, b, data);
	free(data);
}

static void put_token(struct launch *l, char *token)
{
	if (!strncmp(token, "n:", 2))
		put_integer(&l->arguments, (int32_t)strtol(token + 2, NULL, 10));
	else if (!strncmp(token, "f:", 2))
		put_real(&l->arguments, strtof(token + 2, NULL));
	else
		put_buffer(l, token);
}

static void parse(struct launch *l, char *line)
{
	char *x, *y, *token;

	l->entry = strsep(&line, " ");
	l->kind = strsep(&line, " ");
	l->shape = strsep(&line, " ");
	x = strsep(&line, " ");
	y = strsep(&line, " ");
	if (!y || !line)
		die("a line of the plan is too short");
	l->x = (unsigned)strtoul(x, NULL, 10);
	l->y = (unsigned)strtoul(y, NULL, 10);
	while ((token = strsep(&line, " ")))
		put_token(l, token);
}

/* For each output a line "ENTRY KIND SHAPE ARGUMENT TYPE COUNT" and its bytes. */
static void dump(const struct launch *l, FILE *f)
{
	for (unsigned i = 0; i < l->buffer_count; i++) {
		const struct buffer *b = &l->buffers[i];
		size_t bytes = b->count * b->type->bytes;
		void *data;

		if (!b->output)
			continue;
		data = malloc(bytes);
		if (!data)
			die("out of memory");
		read_back(data, b->device, bytes);
		fprintf(f, "%s %s %s %u %s %zu\n", l->entry, l->kind, l->shape, i, b->type->name,
			b->count);
		fwrite(data, 1, bytes, f);
		free(data);
	}
}

static void run_line(struct kernel_set *set, char *line, FILE *output)
{
	struct launch l = {0};

	parse(&l, line);
	kernel_launch(kernel_find(set, l.entry, &l.arguments, 0), &l.arguments, l.x, l.y,
		      LAUNCH_EX);
	CHECK(cuStreamSynchronize(cu.stream));
	if (output)
		dump(&l, output);
	for (unsigned i = 0; i < l.buffer_count; i++)
		CHECK(cuMemFree_v2(l.buffers[i].device));
}

int main(int argc, char **argv)
{
	static struct kernel_set set;
	char line[LINE_MAX_BYTES];
	FILE *plan, *output = NULL;
	unsigned launches = 0;

	if (argc != 3 && argc != 4) {
		fputs("usage: corpus_client KERNELS PLAN [DUMP]\n", stderr);
		return 2;
	}
	kernel_set_add(&set, argv[1]);
	plan = fopen(argv[2], "re");
	if (!plan)
		die("%s: %s", argv[2], strerror(errno));
	if (argc == 4 && !(output = fopen(argv[3], "wbe")))
		die("%s: %s", argv[3], strerror(errno));
	driver_open();
	for (; fgets(line, sizeof line, plan); launches++) {
		char *end = strchr(line, '\n');

		if (!end)
			die("%s: a line is longer than %d", argv[2], LINE_MAX_BYTES);
		*end = '\0';
		run_line(&set, line, output);
	}
	if (ferror(plan) || !launches)
		die("%s: no launches", argv[2]);
	fclose(plan);
	if (output && fclose(output) != 0)
		die("%s: %s", argv[3], strerror(errno));
	kernel_set_unload(&set);
	driver_close();
	return 0;
}
