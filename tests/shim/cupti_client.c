/* SPDX-License-Identifier: MIT */
/* A program that hands PTX to the driver, for captures with --cupti; modes by name. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drv/cupti.h"
#include "drv/driver.h"
#include "lib/base.h"
#include "tests/check.h"

#define BYTES 4096

static struct driver d;
static CUdeviceptr x, y;
static char *ptx; /* of the cubin that the program was given */

static void open_all(const char *cubin)
{
	_cleanup_free_ char *path = text_format("%.*s.ptx", (int)strlen(cubin) - 6, cubin);
	struct error err;
	_cleanup_free_ char *text = NULL;
	size_t size;

	if (driver_open(&d, "libcuda.so.1", &err) || file_read_all(path, 1 << 20, &text, &size)) {
		fprintf(stderr, "client: no driver or image\n");
		exit(3);
	}
	ptx = text_format("\n%s", text);
	CHECK(d.cuInit(0));
	CHECK(d.cuMemAlloc_v2(&x, BYTES));
	CHECK(d.cuMemAlloc_v2(&y, BYTES));
}

static void launch(CUfunction function)
{
	CUdeviceptr scratch = 0;
	int n = 256;
	void *params[] = {&x, &y, &n, &scratch, &scratch};

	CHECK(d.cuLaunchKernel(function, 1, 1, 1, 128, 1, 1, 0, NULL, params, NULL));
}

static void by_module(void)
{
	CUfunction function;
	CUmodule module;

	CHECK(d.cuModuleLoadDataEx(&module, ptx, 0, NULL, NULL));
	CHECK(d.cuModuleGetFunction(&function, module, "softmax_k"));
	launch(function);
}

/* Launched by the CUkernel handle: nothing but the launch has the driver load its code. */
static void by_library(void)
{
	CUlibrary library;
	CUkernel kernel;

	CHECK(d.cuLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
	CHECK(d.cuLibraryGetKernel(&kernel, library, "softmax_k"));
	launch((CUfunction)kernel);
}

/* The file that FATBIN names. */
static void by_fatbin(void)
{
	_cleanup_free_ char *data = NULL;
	CUfunction function;
	CUmodule module;
	size_t size;

	if (file_read_all(getenv("FATBIN"), 1 << 20, &data, &size))
		exit(3);
	CHECK(d.cuModuleLoadData(&module, data));
	CHECK(d.cuModuleGetFunction(&function, module, "softmax_k"));
	launch(function);
}

static void *load_often(void *data)
{
	for (int i = 0; i < 50; i++) {
		CUmodule module;

		CHECK(d.cuModuleLoadData(&module, ptx));
	}
	return NULL;
}

static void by_threads(void)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, load_often, NULL))
			exit(4);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	by_module();
}

static void callback(void *data, uint32_t domain, uint32_t id, const void *resource)
{
	++*(int *)data;
}

/* A profiler: in front of the first load, or behind it; another image is loaded while it is there.
 */
static void with_profiler(bool first)
{
	void *library = dlopen("libcupti.so.13", RTLD_NOW | RTLD_LOCAL);
	cupti_subscribe *subscribe = library ? dlsym(library, "cuptiSubscribe") : NULL;
	cupti_unsubscribe *unsubscribe = library ? dlsym(library, "cuptiUnsubscribe") : NULL;
	cupti_enable_callback *enable = library ? dlsym(library, "cuptiEnableCallback") : NULL;
	struct cupti_subscriber *subscriber;
	int calls = 0;

	if (!first)
		by_module();
	ptx[0] = '\t'; /* another image */
	if (!subscribe || !unsubscribe || !enable || subscribe(&subscriber, callback, &calls) ||
	    enable(1, subscriber, CUPTI_DOMAIN_RESOURCE, CUPTI_MODULE_LOADED))
		exit(6);
	by_module();
	if (!calls || unsubscribe(subscriber))
		exit(6);
	ptx[0] = ' ';
	by_module();
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	open_all(argv[2]);
	if (!strcmp(argv[1], "library"))
		by_library();
	else if (!strcmp(argv[1], "fatbin"))
		by_fatbin();
	else if (!strcmp(argv[1], "threads"))
		by_threads();
	else if (!strcmp(argv[1], "profiler-first") || !strcmp(argv[1], "profiler-later"))
		with_profiler(!strcmp(argv[1], "profiler-first"));
	else
		by_module();
	free(ptx);
	return 0;
}
