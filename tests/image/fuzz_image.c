/* SPDX-License-Identifier: MIT */
/* Damaged cubins, IR and metadata, always the same ones: parsers accept or refuse, and never crash.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/base.h"
#include "lib/image/canonical.h"
#include "lib/image/cubin.h"
#include "lib/image/ptx_text.h"
#include "lib/image/shapes.h"
#include "lib/image/triton.h"
#include "lib/origin.h"
#include "lib/signature.h"

#define MAX_BYTES (1u << 20)
#define ROUNDS    1500

static uint64_t state = 0x9e3779b97f4a7c15u;

static uint64_t random_number(void) /* xorshift64, Marsaglia 2003 */
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static size_t below(size_t n)
{
	return n ? (size_t)(random_number() % n) : 0;
}

/* A damaged copy of exactly its size, so that a sanitizer sees each byte read beyond it. */
static char *damage(const char *data, size_t size, size_t *out_size)
{
	static const uint64_t values[] = {0,      1,          0x7f,       0xff,
					  0xffff, 0x7fffffff, 0xffffffff, UINT64_MAX};
	size_t kept = below(4) ? size : below(size + 1);
	char *copy = malloc(kept ? kept : 1);

	if (!copy)
		exit(99);
	memcpy(copy, data, kept);
	for (size_t i = below(8); i > 0 && kept > 8; i--) {
		size_t at = below(kept - 8), width = (size_t)1 << below(4);

		switch (below(3)) {
		case 0:
			copy[at] ^= (char)(1 << below(8));
			break;
		case 1:
			memcpy(copy + at, &values[below(ARRAY_LENGTH(values))], width);
			break;
		case 2: /* a piece from elsewhere */
			memmove(copy + at, copy + below(kept - 8), 8);
			break;
		}
	}
	*out_size = kept;
	return copy;
}

/* Each tries one input: 0 accepted, -errno refused. */
static int try_cubin(const char *data, size_t size)
{
	struct cubin *c = NULL;
	struct error e;
	int r = cubin_parse(&c, data, size, &e);

	if (!r) {
		for (size_t i = 0; i < c->kernel_count; i++)
			r |= cubin_kernel(c, c->kernels[i].entry) ? 0 : -1;
		if (c->ptx)
			ptx_canonical_hash(c->ptx, c->ptx_size);
		cubin_free(c);
	}
	return r;
}

static int try_source(const char *data, size_t size)
{
	struct origin_evidence evidence = {.source = data, .source_size = size};
	struct signature *s = NULL;
	struct shape *shapes;
	struct error e;
	size_t n;
	char *text;
	int r = signature_parse(&s, data, size, &e);

	signature_free(s);
	origin_decide(&evidence, NULL);
	if (canonical_source(data, size, &text, &n) < 0)
		return -ENOMEM;
	free(text);
	if (shapes_find(data, size, &shapes, &n) < 0)
		return -ENOMEM;
	free(shapes_text(shapes, n, 3));
	free(shapes);
	ptx_canonical_hash(data, size);
	return r;
}

static int try_json(const char *data, size_t size)
{
	struct triton_texts texts = {.json = {data, size}, .ttgir = {data, size}};
	struct triton_kernel *k = NULL;
	struct error e;
	int r = triton_kernel_parse(&k, &texts, &e);

	triton_kernel_free(k);
	return r;
}

static int try_note(const char *data, size_t size)
{
	struct span text = {data, size};
	struct note *n = NULL;
	struct error e;
	int r = note_parse(&n, &text, &e);

	note_free(n);
	return r;
}

static const struct {
	const char *file;
	int (*try)(const char *data, size_t size);
} inputs[] = {
	{"cubins/memory-12.8-sm_90.cubin", try_cubin},
	{"cubins/memory-13.4-sm_100.cubin", try_cubin},
	{"versions/triton-3.9.0/add_kernel.cubin", try_cubin},
	{"versions/triton-3.5.1/add_kernel.source", try_source},
	{"versions/triton-3.0.0/add_kernel.ttir", try_source},
	{"versions/fbtriton-3.7.4/tlx_ws.ttgir", try_source},
	{"cubins/memory.ptx", try_source},
	{"versions/triton-3.9.0/add_kernel.json", try_json},
	{"notes/scale_k.glue", try_note},
};

int main(int argc, char **argv)
{
	if (argc != 2 && argc != 3)
		return 1;
	if (argc == 3) /* another series, for long runs by hand */
		state ^= strtoull(argv[2], NULL, 0);
	for (size_t i = 0; i < ARRAY_LENGTH(inputs); i++) {
		_cleanup_free_ char *path = text_format("%s/%s", argv[1], inputs[i].file),
				    *data = NULL;
		size_t size, accepted = 0, refused = 0;

		if (!path || file_read_all(path, MAX_BYTES, &data, &size) < 0) {
			fprintf(stderr, "cannot read %s\n", inputs[i].file);
			return 1;
		}
		for (int round = 0; round < ROUNDS; round++) {
			size_t n;
			_cleanup_free_ char *copy = damage(data, size, &n);
			int r = inputs[i].try(copy, n);

			if (r && r != -EINVAL && r != -ENOEXEC && r != -ENOENT) {
				fprintf(stderr, "%s, round %d: %d\n", inputs[i].file, round, r);
				return 1;
			}
			accepted += !r;
			refused += r != 0;
		}
		printf("%s: %zu accepted, %zu refused\n", inputs[i].file, accepted, refused);
		if (!refused || (!accepted && !strstr(inputs[i].file, ".ptx")))
			return 1; /* it tried nothing */
	}
	return 0;
}
