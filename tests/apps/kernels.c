/* SPDX-License-Identifier: MIT */
/* Reads manifests, picks the specialisation that fits, launches as Triton's launcher does. */
#include "tests/apps/kernels.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned slot(struct arguments *a, char kind)
{
	if (a->count == KERNEL_ARGUMENTS_MAX)
		die("too many kernel arguments");
	a->kinds[a->count] = kind;
	return a->count++;
}

void put_pointer(struct arguments *a, CUdeviceptr value)
{
	a->values[slot(a, 'p')].pointer = value;
}

void put_integer(struct arguments *a, int32_t value)
{
	a->values[slot(a, 'n')].integer = value;
}

void put_real(struct arguments *a, float value)
{
	a->values[slot(a, 'f')].real = value;
}

static bool same_kernel(const struct kernel_image *x, const struct kernel_image *y)
{
	return !strcmp(x->entry, y->entry) && !strcmp(x->kinds, y->kinds) && x->warps == y->warps &&
	       !memcmp(x->blocks, y->blocks, sizeof x->blocks);
}

static bool parse_line(struct kernel_image *image, const char *folder, const char *line)
{
	char file[256], blocks[64], rest;
	char *at = blocks;

	memset(image, 0, sizeof *image);
	if (sscanf(line, "%63s %255s args=%16s scratch=%u warps=%u shared=%u blocks=%63s %c",
		   image->entry, file, image->kinds, &image->scratch, &image->warps,
		   &image->shared_bytes, blocks, &rest) != 7)
		return false;
	if (image->scratch > 2 || image->warps < 1 || image->warps > 32)
		return false;
	for (unsigned i = 0; i < KERNEL_BLOCKS_MAX && *at; i++) {
		image->blocks[i] = strtoul(at, &at, 10);
		if (!image->blocks[i] || (*at && *at++ != ','))
			return false;
	}
	return !*at && snprintf(image->path, sizeof image->path, "%s/%s", folder, file) <
			       (int)sizeof image->path;
}

void kernel_set_add(struct kernel_set *set, const char *folder)
{
	struct kernel_image image;
	char path[512], line[1024];
	unsigned number = 0, at;
	FILE *f;

	snprintf(path, sizeof path, "%s/manifest", folder);
	f = fopen(path, "re");
	if (!f)
		die("%s: %s", path, strerror(errno));
	while (fgets(line, sizeof line, f)) {
		number++;
		if (!parse_line(&image, folder, line))
			die("%s:%u: not a kernel line", path, number);
		for (at = 0; at < set->count && !same_kernel(&set->images[at], &image); at++)
			;
		if (at == KERNEL_IMAGES_MAX)
			die("%s:%u: more than %d kernels", path, number, KERNEL_IMAGES_MAX);
		set->images[at] = image;
		if (at == set->count)
			set->count++;
	}
	if (ferror(f) || !number)
		die("%s: no kernels", path);
	fclose(f);
}

void kernel_set_unload(struct kernel_set *set)
{
	for (unsigned i = 0; i < set->count; i++) {
		if (set->images[i].module)
			CHECK(cuModuleUnload(set->images[i].module));
		if (set->images[i].library)
			CHECK(cuLibraryUnload(set->images[i].library));
		set->images[i].module = NULL;
		set->images[i].library = NULL;
	}
}

static bool fits(const struct kernel_image *image, const struct arguments *a)
{
	if (strlen(image->kinds) != a->count)
		die("%s takes %zu arguments, not %u", image->entry, strlen(image->kinds), a->count);
	for (unsigned i = 0; i < a->count; i++) {
		char kind = tolower((unsigned char)image->kinds[i]);

		if ((kind == 'n' || kind == 'f' ? kind : 'p') != a->kinds[i])
			die("%s: argument %u has another type", image->entry, i);
		if (!isupper((unsigned char)image->kinds[i]))
			continue;
		if (a->kinds[i] == 'p' ? a->values[i].pointer % 16 != 0
				       : a->values[i].integer % 16 != 0)
			return false;
	}
	return true;
}

/* How much an image assumes: Triton takes the image that assumes all that holds. */
static unsigned assumptions(const struct kernel_image *image)
{
	unsigned count = 0;

	for (const char *k = image->kinds; *k; k++)
		count += !!isupper((unsigned char)*k);
	return count;
}

struct kernel_image *kernel_find(struct kernel_set *set, const char *entry,
				 const struct arguments *a, unsigned config)
{
	unsigned best = 0;

	for (unsigned i = 0; i < set->count; i++) {
		const struct kernel_image *image = &set->images[i];

		if (!strcmp(image->entry, entry) && fits(image, a) && assumptions(image) > best)
			best = assumptions(image);
	}
	for (unsigned i = 0; i < set->count; i++) {
		struct kernel_image *image = &set->images[i];

		if (!strcmp(image->entry, entry) && fits(image, a) && assumptions(image) == best &&
		    !config--) {
			image->as_library = set->as_libraries;
			return image;
		}
	}
	return NULL;
}

/* Large shared memory is set on the function of the kernel; the launch takes the kernel itself. */
static CUfunction load_library(struct kernel_image *image, const char *data)
{
	CUkernel kernel;
	CUfunction f;

	driver_check(cu.cuLibraryLoadData(&image->library, data, NULL, NULL, 0, NULL, NULL, 0),
		     image->path);
	CHECK(cuLibraryGetKernel(&kernel, image->library, image->entry));
	CHECK(cuKernelGetFunction(&f, kernel));
	image->function = (CUfunction)kernel;
	return f;
}

static CUfunction load_module(struct kernel_image *image, const char *data)
{
	driver_check(cu.cuModuleLoadData(&image->module, data), image->path);
	CHECK(cuModuleGetFunction(&image->function, image->module, image->entry));
	return image->function;
}

static void load(struct kernel_image *image)
{
	CUfunction function;
	size_t size = 0, room = 8 << 20;
	char *data = malloc(room);
	FILE *f = fopen(image->path, "rbe");

	if (!f)
		die("%s: %s", image->path, strerror(errno));
	if (data)
		size = fread(data, 1, room, f);
	if (!size || size == room)
		die("%s: not read", image->path);
	fclose(f);
	function = image->as_library ? load_library(image, data) : load_module(image, data);
	if (image->shared_bytes > 49152)
		CHECK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
					 (int)image->shared_bytes));
	free(data);
}

void kernel_pointers(const struct kernel_image *image, struct arguments *a, void **pointers)
{
	static CUdeviceptr no_scratch = 0;
	unsigned count = 0;

	for (; count < a->count; count++)
		pointers[count] = &a->values[count];
	for (unsigned i = 0; i < image->scratch; i++)
		pointers[count++] = &no_scratch;
}

void kernel_launch(struct kernel_image *image, const struct arguments *a, unsigned x, unsigned y,
		   enum launch_call call)
{
	struct arguments copy = *a;
	void *pointers[KERNEL_ARGUMENTS_MAX + 2];

	if (!image)
		die("no kernel fits the arguments");
	if (!image->module && !image->library)
		load(image);
	kernel_pointers(image, &copy, pointers);
	if (call == LAUNCH_CLASSIC) {
		driver_check(cu.launch_kernel(image->function, x, y, 1, 32 * image->warps, 1, 1,
					      image->shared_bytes, cu.stream, pointers, NULL),
			     image->entry);
		return;
	}
	CUlaunchConfig config = {.gridDimX = x,
				 .gridDimY = y,
				 .gridDimZ = 1,
				 .blockDimX = 32 * image->warps,
				 .blockDimY = 1,
				 .blockDimZ = 1,
				 .sharedMemBytes = image->shared_bytes,
				 .hStream = cu.stream};
	driver_check(cu.cuLaunchKernelEx(&config, image->function, pointers, NULL), image->entry);
}
