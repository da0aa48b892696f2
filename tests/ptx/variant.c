/* SPDX-License-Identifier: MIT */
/*
 * Makes the address-recording variant of PTX files: `variant [-o FOLDER] FILE…`. Prints a line an
 * entry: file, entry, "measured" or "careful" with the tensor parameters, or the reason; with -o
 * writes each variant under the file's name with / made _. Exit status 1 if a file cannot be read.
 */
#include <stdio.h>
#include <string.h>

#include "lib/base.h"
#include "lib/ptx/instrument.h"

static int write_text(const char *folder, const char *path, const struct ptx_variant *v)
{
	_cleanup_free_ char *flat = strdup(path);
	_cleanup_free_ char *name = NULL;
	_cleanup_file_ FILE *f = NULL;

	for (char *c = flat; *c; c++)
		if (*c == '/')
			*c = '_';
	name = text_format("%s/%s", folder, flat);
	f = fopen(name, "w");
	return f && fwrite(v->text, 1, v->size, f) == v->size ? 0 : 1;
}

static int one(const char *folder, const char *path)
{
	_cleanup_free_ char *text = NULL;
	struct ptx_variant v;
	struct error err = {0};
	size_t size;

	if (file_read_all(path, 64u << 20, &text, &size) < 0) {
		fprintf(stderr, "variant: cannot read %s\n", path);
		return 1;
	}
	if (ptx_instrument(&v, text, size, &err) < 0) {
		printf("%s\t-\trefused: %s\n", path, err.message);
		return 0;
	}
	for (size_t i = 0; i < v.count; i++) {
		const struct ptx_variant_entry *e = &v.entries[i];

		if (e->reason)
			printf("%s\t%s\trefused: %s\n", path, e->name, e->reason);
		else
			printf("%s\t%s\t%s reads %llx writes %llx\n", path, e->name,
			       e->careful ? "careful" : "measured",
			       (unsigned long long)e->tensor_reads,
			       (unsigned long long)e->tensor_writes);
	}
	if (folder && write_text(folder, path, &v)) {
		fprintf(stderr, "variant: cannot write into %s\n", folder);
		ptx_variant_free(&v);
		return 1;
	}
	ptx_variant_free(&v);
	return 0;
}

int main(int argc, char **argv)
{
	const char *folder = NULL;
	int first = 1, status = 0;

	if (argc > 2 && !strcmp(argv[1], "-o")) {
		folder = argv[2];
		first = 3;
	}
	for (int i = first; i < argc; i++)
		status |= one(folder, argv[i]);
	return status;
}
