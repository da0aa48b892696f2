/* SPDX-License-Identifier: MIT */
/*
 * What has broken other recorders, done by a program on the software device; modes by name.
 *   pitfall_client MODE IMAGE   IMAGE: softmax_k's cubin
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "drv/driver.h"
#include "lib/base.h"
#include "shim/real_dl.h"
#include "tests/check.h"

#define HEAD ".version 7.0\n.target sm_80\n.address_size 64\n"

static struct driver d;

static void setup(void)
{
	CUcontext context;
	CUdevice device;
	struct error err;

	if (driver_open(&d, "libcuda.so.1", &err) < 0)
		exit(3);
	CHECK(d.cuInit(0));
	CHECK(d.cuDeviceGet(&device, 0));
	CHECK(d.cuDevicePrimaryCtxRetain(&context, device));
	CHECK(d.cuCtxSetCurrent(context));
}

static CUfunction load(CUmodule *module, const char *ptx, const char *entry)
{
	CUfunction f;

	CHECK(d.cuModuleLoadData(module, ptx));
	CHECK(d.cuModuleGetFunction(&f, *module, entry));
	return f;
}

static void launch(CUfunction f, void *parameter)
{
	void *params[] = {parameter};

	CHECK(d.cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
}

#define STORES(value)                                                           \
	HEAD ".visible .entry triton_(.param .u64 p)\n{\n\t.reg .b64 %rd<2>;\n" \
	     "\tld.param.u64 %rd1, [p];\n\tst.global.u32 [%rd1], " #value ";\n\tret;\n}\n"

/* Two images with the same entry; the function of the second one is got past every wrapper, as by
 * one who swaps live functions. */
static void swapped(void)
{
	void *found = real_dlsym()(d.library, "cuModuleGetFunction");
	__typeof__(cuModuleGetFunction) *get;
	CUfunction first, second;
	CUmodule modules[2];
	CUdeviceptr p;

	memcpy(&get, &found, sizeof(get));
	CHECK(d.cuMemAlloc_v2(&p, 4096));
	first = load(&modules[0], STORES(1), "triton_");
	CHECK(d.cuModuleLoadData(&modules[1], STORES(2)));
	CHECK(get(&second, modules[1], "triton_"));
	launch(first, &p);
	launch(second, &p);
	launch(second, &p);
}

/* More than 16 bits can count. */
static void many(void)
{
	CUmodule module;
	CUfunction f = load(&module, HEAD ".visible .entry k(.param .u32 n)\n{\n\tret;\n}\n", "k");
	int n = 1;

	for (int i = 0; i < 70000; i++)
		launch(f, &n);
}

/* A LAUNCH record of far more than 65,535 bytes: 2,000 pointers to as many allocations. */
static void large(void)
{
	static CUdeviceptr pointers[2000];
	CUmodule module;
	CUfunction f =
		load(&module,
		     HEAD ".visible .entry k(.param .align 8 .b8 p[16000])\n{\n\tret;\n}\n", "k");

	for (size_t i = 0; i < ARRAY_LENGTH(pointers); i++)
		CHECK(d.cuMemAlloc_v2(&pointers[i], 512));
	launch(f, pointers);
}

/* As Inductor, whose file is gone when anybody looks; and an unloaded module. */
static void vanishing(const char *image)
{
	char path[] = "/tmp/kernelab-pitfall-XXXXXX";
	_cleanup_free_ char *data = NULL;
	CUdeviceptr x, y, scratch = 0;
	int n = 100, fd = mkstemp(path);
	void *params[] = {&x, &y, &n, &scratch, &scratch};
	CUmodule module;
	CUfunction f;
	size_t size;

	if (fd < 0 || file_read_all(image, 1 << 20, &data, &size) ||
	    write(fd, data, size) != (ssize_t)size)
		exit(3);
	close(fd);
	CHECK(d.cuModuleLoad(&module, path));
	unlink(path);
	CHECK(d.cuModuleGetFunction(&f, module, "softmax_k"));
	CHECK(d.cuMemAlloc_v2(&x, 4096));
	CHECK(d.cuMemAlloc_v2(&y, 4096));
	CHECK(d.cuLaunchKernel(f, 1, 1, 1, 128, 1, 1, 64, NULL, params, NULL));
	CHECK(d.cuModuleUnload(module));
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	setup();
	if (!strcmp(argv[1], "swapped"))
		swapped();
	else if (!strcmp(argv[1], "many"))
		many();
	else if (!strcmp(argv[1], "large"))
		large();
	else if (!strcmp(argv[1], "vanishing"))
		vanishing(argv[2]);
	else
		return 2;
	return 0;
}
