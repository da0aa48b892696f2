/* SPDX-License-Identifier: MIT */
/* A program over the driver API, loading and launching as Triton does; modes by name. */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "drv/driver.h"
#include "lib/base.h"
#include "tests/check.h"

#define BYTES (3 * 262144 + 1000) /* more chunks than one, the last not whole */

static struct driver d;
static CUfunction function;
static CUdeviceptr x, y;

/* How the image is loaded and its function found. */
enum way { BY_DATA, BY_PATH, BY_LIBRARY, BY_LIBRARY_MODULE, BY_ENUMERATION };

static CUfunction from_library(const char *data, const char *entry, enum way way)
{
	CUlibrary library;
	CUmodule module;
	CUkernel kernel;
	CUfunction f;

	CHECK(d.cuLibraryLoadData(&library, data, NULL, NULL, 0, NULL, NULL, 0));
	if (way == BY_LIBRARY) {
		CHECK(d.cuLibraryGetKernel(&kernel, library, entry));
		return (CUfunction)kernel;
	}
	CHECK(d.cuLibraryGetModule(&module, library));
	CHECK(d.cuModuleGetFunction(&f, module, entry));
	return f;
}

static void setup_by(const char *image, enum way way)
{
	const char *entry = strstr(image, "tma_k") ? "tma_k" : "softmax_k";
	struct error err;
	char *data;
	size_t size;
	CUmodule module;

	if (driver_open(&d, "libcuda.so.1", &err) < 0 ||
	    file_read_all(image, 1 << 20, &data, &size)) {
		fprintf(stderr, "client: no driver or image\n");
		exit(3);
	}
	CHECK(d.cuInit(0));
	if (way == BY_LIBRARY || way == BY_LIBRARY_MODULE) {
		function = from_library(data, entry, way);
	} else {
		CHECK(way == BY_PATH ? d.cuModuleLoad(&module, image)
				     : d.cuModuleLoadData(&module, data));
		CHECK(way == BY_ENUMERATION ? d.cuModuleEnumerateFunctions(&function, 1, module)
					    : d.cuModuleGetFunction(&function, module, entry));
	}
	free(data); /* as Triton, whose Python object goes */
	CHECK(d.cuMemAlloc_v2(&x, BYTES));
	CHECK(d.cuMemAlloc_v2(&y, BYTES));
	memset((void *)x, 7, BYTES);
}

static void setup(const char *image, bool by_path)
{
	setup_by(image, by_path ? BY_PATH : BY_DATA);
}

static CUresult launch(unsigned grid, CUdeviceptr from, CUdeviceptr to, int n)
{
	CUdeviceptr scratch = 0;
	void *params[] = {&from, &to, &n, &scratch, &scratch};
	CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE};
	CUlaunchConfig config = {.gridDimX = grid,
				 .gridDimY = 1,
				 .gridDimZ = 1,
				 .blockDimX = 128,
				 .blockDimY = 1,
				 .blockDimZ = 1,
				 .sharedMemBytes = 16,
				 .attrs = &attribute,
				 .numAttrs = 1};

	attribute.value.cooperative = 1;
	return d.cuLaunchKernelEx(&config, function, params, NULL);
}

static void basic(void)
{
	CHECK(launch(1, x, y, 300000)); /* recorded */
	CHECK(launch(1, x, y, 300000)); /* same class */
	CHECK(launch(2, x, y, 300000)); /* another grid */
	CHECK(launch(1, x, y, 5));      /* another scalar */
	CHECK(launch(1, x + 4, y, 5));  /* another alignment */
	CHECK(launch(1, x + 64, y, 5)); /* the same alignment as two above */
}

static void extra(void)
{
	struct {
		CUdeviceptr from, to;
		int n;
		CUdeviceptr scratch[2];
	} packed = {x, y, 9, {0}};
	size_t size = sizeof(packed);
	void *list[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
			CU_LAUNCH_PARAM_END};

	CHECK(d.cuLaunchKernel(function, 1, 1, 1, 128, 1, 1, 0, NULL, NULL, list));
}

static void capture(void)
{
	int *capturing = dlsym(d.library, "fake_capturing");

	*capturing = 1;
	CHECK(launch(1, x, y, 8));
	CHECK(launch(1, x, y, 8));
	*capturing = 0;
	CHECK(launch(1, x, y, 8)); /* now with contents */
}

static void tma_launch(void)
{
	CUtensorMap in, out;
	cuuint64_t dims[] = {256, 256}, strides[] = {512};
	cuuint32_t box[] = {64, 64}, ones[] = {1, 1};
	int side = 256;
	long stride = 1;
	CUdeviceptr scratch = 0;
	void *params[] = {&in,   &side, &side,   &stride, &stride,  &out,
			  &side, &side, &stride, &stride, &scratch, &scratch};

	CHECK(d.cuTensorMapEncodeTiled(&in, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, (void *)x, dims,
				       strides, box, ones, 0, 0, 0, 0));
	CHECK(d.cuTensorMapEncodeTiled(&out, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, (void *)y, dims,
				       strides, box, ones, 0, 0, 0, 0));
	CHECK(d.cuLaunchKernel(function, 4, 4, 1, 128, 1, 1, 0, NULL, params, NULL));
}

static void many_classes(void)
{
	for (int i = 0; i < 200; i++)
		CHECK(launch(1, x, y, i));
}

/* Of two classes: 100 launches, in turns. */
static void many_launches(void)
{
	for (int i = 0; i < 200; i++)
		CHECK(launch(1 + i % 2, x, y, 300000));
}

/*
 * Two configs: the image, and it with another byte of padding in its header. An autotuner tries
 * them on the same arguments; then a program launches them in turn.
 */
static void sweep(const char *image)
{
	CUfunction configs[2] = {function};
	CUmodule module;
	char *data;
	size_t size;

	if (file_read_all(image, 1 << 20, &data, &size))
		exit(3);
	data[15] = 1;
	CHECK(d.cuModuleLoadData(&module, data));
	CHECK(d.cuModuleGetFunction(&configs[1], module, "softmax_k"));
	free(data);
	for (int i = 0; i < 10; i++) {
		function = configs[i / 5];
		CHECK(launch(1, x, y, 7));
	}
	for (int i = 0; i < 10; i++) {
		function = configs[i % 2];
		CHECK(launch(1, x, y, 9));
	}
}

/* softmax_k six times, then tma_k, whose file lies in the folder beside. */
static void two_kernels(const char *image)
{
	static const char tma[] =
		"/YPBJEK4ADOTK3G6POU52VLDGLGQ3FQSBBAAOWXIQMBGL4QYAFWRA/tma_k.cubin";
	_cleanup_free_ char *path = malloc(strlen(image) + sizeof(tma));
	const char *end = strrchr(image, '/');

	while (end > image && *--end != '/')
		;
	if (!path)
		exit(4);
	memcpy(path, image, (size_t)(end - image));
	memcpy(path + (end - image), tma, sizeof(tma));
	basic();
	driver_close(&d);
	setup(path, false);
	tma_launch();
}

static void unknown_function(void)
{
	struct {
		char name[64];
	} other = {"elsewhere"};
	int n = 1;
	CUdeviceptr scratch = 0;
	void *params[] = {&x, &y, &n, &scratch, &scratch};

	CHECK(launch(1, x, y, 1));
	for (int i = 0; i < 5; i++)
		CHECK(d.cuLaunchKernel((CUfunction)&other, 1, 1, 1, 1, 1, 1, 0, NULL, params,
				       NULL));
}

/*
 * What the runtime does for PyTorch's own code: a fatbin of some size, loaded as a library, whose
 * kernels are launched by either handle.
 */
static void fatbin(void)
{
	static struct {
		uint32_t magic;
		uint16_t version, header_bytes;
		uint64_t bytes;
		char data[64];
	} container = {0xba55ed50u, 1, 16, 64, "code"};
	struct {
		uint32_t magic, version;
		const void *data, *list;
	} wrapper = {0x466243b1u, 1, &container, NULL};
	CUdeviceptr scratch = 0;
	CUlibrary library;
	CUkernel kernel;
	CUfunction f;
	int n = 1;
	void *params[] = {&x, &y, &n, &scratch, &scratch};

	CHECK(launch(1, x, y, 1));
	CHECK(d.cuLibraryLoadData(&library, &wrapper, NULL, NULL, 0, NULL, NULL, 0));
	CHECK(d.cuLibraryGetKernel(&kernel, library, "elementwise"));
	CHECK(d.cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
	CHECK(d.cuKernelGetFunction(&f, kernel));
	CHECK(d.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
	CHECK(d.cuLibraryUnload(library));
}

/* Everything that changes how a kernel runs. */
static void attributes(void)
{
	CUdeviceptr scratch = 0;
	int n = 5;
	void *params[] = {&x, &y, &n, &scratch, &scratch};
	CUlaunchAttribute list[] = {
		{.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value.clusterDim = {2, 1, 1}},
		{.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
		 .value.programmaticStreamSerializationAllowed = 1},
	};
	CUlaunchConfig config = {.gridDimX = 4,
				 .gridDimY = 1,
				 .gridDimZ = 1,
				 .blockDimX = 128,
				 .blockDimY = 1,
				 .blockDimZ = 1,
				 .sharedMemBytes = 65536,
				 .attrs = list,
				 .numAttrs = ARRAY_LENGTH(list)};

	CHECK(d.cuLaunchKernelEx(&config, function, params, NULL));
}

/* A module goes and another image comes; the fake gives it the same handle. */
static void reloaded(const char *image)
{
	CUmodule first, second;
	char *data;
	size_t size;

	if (file_read_all(image, 1 << 20, &data, &size))
		exit(3);
	CHECK(d.cuModuleLoadData(&first, data));
	CHECK(d.cuModuleGetFunction(&function, first, "softmax_k"));
	CHECK(launch(1, x, y, 5));
	CHECK(d.cuModuleUnload(first));
	data[15] = 1; /* padding in the header: another image */
	CHECK(d.cuModuleLoadData(&second, data));
	if (second != first)
		exit(6);
	CHECK(d.cuModuleGetFunction(&function, second, "softmax_k"));
	CHECK(launch(1, x, y, 5));
	free(data);
}

static void cooperative(void)
{
	CUdeviceptr scratch = 0;
	int n = 5;
	void *params[] = {&x, &y, &n, &scratch, &scratch};

	CHECK(d.cuLaunchCooperativeKernel(function, 2, 1, 1, 128, 1, 1, 0, NULL, params));
}

/* The child has the parent's pointers but must load its own images. */
static void forked(const char *image)
{
	pid_t child;
	int status;

	CHECK(launch(1, x, y, 1));
	child = fork();
	if (!child) {
		d.library = NULL;
		setup(image, false);
		CHECK(launch(1, x, y, 2));
		exit(0);
	}
	waitpid(child, &status, 0);
	if (status)
		exit(4);
	CHECK(launch(1, x, y, 3));
}

/* Four threads; each of 32 classes is launched by all of them. */
static void *launch_many(void *unused)
{
	for (int i = 0; i < 200; i++)
		CHECK(launch(1, x, y, i % 32));
	return NULL;
}

static void threads(void)
{
	pthread_t ids[4];

	for (int i = 0; i < 4; i++)
		if (pthread_create(&ids[i], NULL, launch_many, NULL))
			exit(4);
	for (int i = 0; i < 4; i++)
		pthread_join(ids[i], NULL);
}

/* Of one class, until half a second has passed by the clock. */
static void paced(void)
{
	struct timespec start, now;

	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		CHECK(launch(1, x, y, 300000));
		usleep(2000);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 <
		 500);
	CHECK(launch(1, x, y, 300000));
}

/* No file of this process can grow beyond 40,000 bytes. */
static void full(void)
{
	struct rlimit limit = {40000, 40000};

	signal(SIGXFSZ, SIG_IGN);
	if (setrlimit(RLIMIT_FSIZE, &limit))
		exit(4);
	for (CUdeviceptr i = 0; i < BYTES; i++)
		((unsigned char *)x)[i] = (unsigned char)(i * 2654435761u >> 13);
	basic();
}

/* Until it is killed. */
static void loop(void)
{
	for (int i = 0;; i++) {
		CHECK(launch(1 + i % 50, x, y, i % 1000));
		if (i == 600) {
			puts("going");
			fflush(stdout);
		}
	}
}

int main(int argc, char **argv)
{
	const char *mode = argc == 3 ? argv[1] : "";

	if (argc != 3)
		return 2;
	if (!strcmp(mode, "probe")) { /* opens CUDA, loads nothing */
		struct error err;

		return driver_open(&d, "libcuda.so.1", &err) < 0 || d.cuInit(0) != CUDA_SUCCESS;
	}
	setup_by(argv[2], !strcmp(mode, "path")             ? BY_PATH
			  : !strcmp(mode, "library")        ? BY_LIBRARY
			  : !strcmp(mode, "library-module") ? BY_LIBRARY_MODULE
			  : !strcmp(mode, "enumerated")     ? BY_ENUMERATION
							    : BY_DATA);
	if (!strcmp(mode, "basic") || !strcmp(mode, "library") || !strcmp(mode, "library-module") ||
	    !strcmp(mode, "enumerated"))
		basic();
	else if (!strcmp(mode, "fatbin"))
		fatbin();
	else if (!strcmp(mode, "cooperative"))
		cooperative();
	else if (!strcmp(mode, "attributes"))
		attributes();
	else if (!strcmp(mode, "reloaded"))
		reloaded(argv[2]);
	else if (!strcmp(mode, "path"))
		CHECK(launch(1, x, y, 5));
	else if (!strcmp(mode, "middle"))
		CHECK(launch(1, x + 2 * 262144 + 64, y, 5));
	else if (!strcmp(mode, "extra"))
		extra();
	else if (!strcmp(mode, "capture"))
		capture();
	else if (!strcmp(mode, "tma"))
		tma_launch();
	else if (!strcmp(mode, "classes"))
		many_classes();
	else if (!strcmp(mode, "sweep"))
		sweep(argv[2]);
	else if (!strcmp(mode, "two"))
		two_kernels(argv[2]);
	else if (!strcmp(mode, "many"))
		many_launches();
	else if (!strcmp(mode, "other"))
		unknown_function();
	else if (!strcmp(mode, "fork"))
		forked(argv[2]);
	else if (!strcmp(mode, "fails"))
		return launch(1, x, y, 1) == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES ? 0 : 5;
	else if (!strcmp(mode, "threads"))
		threads();
	else if (!strcmp(mode, "paced"))
		paced();
	else if (!strcmp(mode, "full"))
		full();
	else if (!strcmp(mode, "loop"))
		loop();
	else
		return 2;
	return 0;
}
