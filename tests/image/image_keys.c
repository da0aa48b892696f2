/* SPDX-License-Identifier: MIT */
/* Prints what the image part reads out of Triton cache entries: one line an entry, for pairing.py.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/base.h"
#include "lib/image/cubin.h"
#include "lib/image/ptx_text.h"
#include "lib/image/triton.h"
#include "lib/origin.h"

#define MAX_BYTES (64u << 20)

static struct span read_text(const char *stem, const char *suffix, char **data)
{
	_cleanup_free_ char *path = text_format("%s%s", stem, suffix);
	size_t size = 0;

	*data = NULL;
	if (path && file_read_all(path, MAX_BYTES, data, &size) < 0)
		*data = NULL;
	return (struct span){*data, *data ? size : 0};
}

static void print_hash(const char *name, struct hash128 h)
{
	char text[HASH_TEXT_BYTES];

	printf("\t%s=%s", name, hash_text(h, text));
}

static int print_code(const struct triton_kernel *k, struct span cubin, struct span ptx)
{
	const struct cubin_kernel *code;
	struct cubin *c = NULL;
	struct error err;

	if (ptx.data)
		print_hash("ptx", ptx_canonical_hash(ptx.data, ptx.size));
	if (!cubin.data)
		return 0;
	if (cubin_parse(&c, cubin.data, cubin.size, &err) < 0) {
		fprintf(stderr, "%s: %s\n", k->name, err.message);
		return 1;
	}
	code = cubin_kernel(c, k->name);
	if (!code) {
		fprintf(stderr, "%s: not in its cubin\n", k->name);
		return 1;
	}
	print_hash("code", code->code);
	if (c->ptx)
		print_hash("recovered", ptx_canonical_hash(c->ptx, c->ptx_size));
	printf("\ttool=%s\tarch=%" PRIu32 "\tparams=", c->tool ? c->tool : "", c->arch);
	for (size_t i = 0; i < code->param_count; i++)
		printf("%s%" PRIu32 ":%" PRIu32, i ? "," : "", code->params[i].offset,
		       code->params[i].size);
	printf("\tparams_bytes=%" PRIu32 "\tregisters=%" PRIu32 "\tshared=%" PRIu32
	       "\tthreads=%" PRIu32,
	       code->params_bytes, code->registers, code->static_shared_bytes, code->max_threads);
	cubin_free(c);
	return 0;
}

static void print_signature(const struct triton_kernel *k)
{
	const struct signature *s = k->signature;

	printf("\tsource=%s:%" PRIu32 "\targs=", s->source_file, s->source_line);
	for (size_t i = 0; i < s->arg_count; i++)
		printf("%s%s:%" PRIu32, i ? "," : "", s->args[i].name,
		       signature_type_bytes(s->args[i].type));
}

static int print_entry(const char *stem)
{
	_cleanup_free_ char *json = NULL, *source = NULL, *ttir = NULL, *ttgir = NULL,
			    *cubin = NULL, *ptx = NULL;
	struct span ttir_text = read_text(stem, ".ttir", &ttir);
	struct triton_texts texts = {
		.json = read_text(stem, ".json", &json),
		.source = read_text(stem, ".source", &source),
		.ttgir = read_text(stem, ".ttgir", &ttgir),
	};
	struct origin_evidence evidence = {.ttir = ttir_text.data, .ttir_size = ttir_text.size};
	struct triton_kernel *k = NULL;
	struct error err;
	int r;

	evidence.source = texts.source.data;
	evidence.source_size = texts.source.size;
	if (!signature_readable(texts.source.data, texts.source.size))
		texts.source = ttir_text;
	if (triton_kernel_parse(&k, &texts, &err) < 0) {
		fprintf(stderr, "%s: %s\n", stem, err.message);
		return 1;
	}
	printf("stem=%s\tname=%s\torigin=%s", stem, k->name,
	       origin_name(origin_decide(&evidence, NULL)));
	print_hash("family", k->family);
	print_hash("config", k->config);
	print_hash("loose", k->loose);
	print_hash("special", k->special);
	printf("\toptions=%s\twarps=%" PRId64 "\ttotal_warps=%" PRId64 "\tversion=%s\tscratch=%d%d",
	       k->options, k->num_warps, k->total_warps, k->triton_version, k->has_global_scratch,
	       k->has_profile_scratch);
	if (k->signature)
		print_signature(k);
	r = print_code(k, read_text(stem, ".cubin", &cubin), read_text(stem, ".ptx", &ptx));
	printf("\n");
	triton_kernel_free(k);
	return r;
}

/* Arguments: cache entries without suffix, e.g. FOLDER/KEY/matmul_k. */
int main(int argc, char **argv)
{
	int r = 0;

	for (int i = 1; i < argc; i++)
		r |= print_entry(argv[i]);
	return r;
}
