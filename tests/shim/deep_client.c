/* SPDX-License-Identifier: MIT */
/*
 * Opens deep_library with the flags of its first argument (deep, plain), and launches by it.
 *   deep_client deep|plain|both LIBRARY IMAGE   both: launches by itself too
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"

static int call(const char *library, int flags, const void *image)
{
	void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL | flags), *found;
	int (*launch)(const void *);

	if (!handle) {
		fprintf(stderr, "deep_client: %s\n", dlerror());
		exit(3);
	}
	found = dlsym(handle, "deep_launch");
	memcpy(&launch, &found, sizeof(launch));
	return launch(image);
}

int main(int argc, char **argv)
{
	_cleanup_free_ char *image = NULL;
	size_t size;

	if (argc < 4 || file_read_all(argv[3], 1 << 20, &image, &size))
		return 2;
	printf("%d\n", call(argv[2], strcmp(argv[1], "plain") ? RTLD_DEEPBIND : 0, image));
	/* A library that is open already keeps its bindings: the second one is a copy. */
	if (argc == 5)
		printf("%d\n", call(argv[4], 0, image));
	return 0;
}
