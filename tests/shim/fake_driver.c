/* SPDX-License-Identifier: MIT */
/*
 * A libcuda.so.1 for tests: host memory is device memory, a launch adds one to each byte of its
 * second pointer's n bytes from the first. The environment makes it misbehave.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "drv/entries.h"

#define EXPORT __attribute__((visibility("default")))
#define MAX    64
#define PIECE  (1u << 18)

static struct {
	char *base;
	size_t size;
} allocations[MAX];
static unsigned allocation_count;

struct CUfunc_st {
	char name[64];
};

/* At the end of the process the driver may be down before the shim's destructor runs. */
static int down;

static void go_down(void)
{
	down = 1;
}

/* A call after that is what the shim must never make. */
static void still_up(void)
{
	if (down)
		abort();
}

static int flag(const char *name)
{
	const char *v = getenv(name);

	return v ? atoi(v) : 0;
}

/* The program may change it at run time. */
EXPORT int fake_capturing;
EXPORT int fake_capturing;

/* ---- resolution ---- */

static CUresult hidden_launch(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
			      unsigned by, unsigned bz, unsigned shared, CUstream stream,
			      void **params, void **extra)
{
	return cuLaunchKernel(f, gx, gy, gz, bx, by, bz, shared, stream, params, extra);
}

static void *own(const char *name)
{
	Dl_info info;
	void *self =
		dladdr((void *)own, &info) ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;

	return self ? dlsym(self, name) : NULL;
}

EXPORT CUresult CUDAAPI cuGetProcAddress_v2(const char *symbol, void **function, int version,
					    cuuint64_t flags,
					    CUdriverProcAddressQueryResult *status)
{
	static const char *const plain[] = {"_v2", ""}, *const per_thread[] = {"_v2_ptsz", "_ptsz",
									       "_v2", ""};
	int threads = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
	const char *const *suffixes = threads ? per_thread : plain;

	*function = NULL;
	if (flag("FAKE_HIDDEN") && !strcmp(symbol, "cuLaunchKernel"))
		*function = (void *)hidden_launch;
	if (!strcmp(symbol, "cuGetProcAddress"))
		*function = own(version >= 12000 ? "cuGetProcAddress_v2" : "cuGetProcAddress");
	for (int i = 0; !*function && i < (threads ? 4 : 2); i++) {
		char name[80];

		snprintf(name, sizeof(name), "%s%s", symbol, suffixes[i]);
		*function = own(name);
	}
	if (status)
		*status = *function ? CU_GET_PROC_ADDRESS_SUCCESS
				    : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

EXPORT CUresult CUDAAPI cuGetProcAddress(const char *symbol, void **function, int version,
					 cuuint64_t flags)
{
	return cuGetProcAddress_v2(symbol, function, version, flags, NULL);
}

/* As the real one, it asks the loader for its own functions. The program checks what it got. */
EXPORT void *fake_asked_itself;
EXPORT void *fake_asked_itself;

EXPORT CUresult CUDAAPI cuInit(unsigned flags)
{
	if (!fake_asked_itself)
		atexit(go_down);
	fake_asked_itself = own("cuLaunchKernel");
	return CUDA_SUCCESS;
}

/* ---- device, context, memory ---- */

EXPORT CUresult CUDAAPI cuDriverGetVersion(int *version)
{
	still_up();
	*version = 13000;
	return CUDA_SUCCESS;
}

EXPORT CUresult CUDAAPI cuDeviceGetName(char *name, int size, CUdevice device)
{
	still_up();
	snprintf(name, (size_t)size, "fake");
	return CUDA_SUCCESS;
}

EXPORT CUresult CUDAAPI cuDeviceGetAttribute(int *value, CUdevice_attribute which, CUdevice device)
{
	*value = which == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? 9 : 0;
	return CUDA_SUCCESS;
}

EXPORT CUresult CUDAAPI cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
	*bytes = 1 << 30;
	return CUDA_SUCCESS;
}

EXPORT CUresult CUDAAPI cuCtxGetCurrent(CUcontext *context)
{
	still_up();
	*context = (CUcontext)0x1234;
	return CUDA_SUCCESS;
}

EXPORT CUresult CUDAAPI cuCtxGetDevice(CUdevice *device)
{
	still_up();
	*device = 0;
	return CUDA_SUCCESS;
}

EXPORT CUresult CUDAAPI cuMemAlloc_v2(CUdeviceptr *address, size_t size)
{
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || allocation_count == MAX)
		return CUDA_ERROR_OUT_OF_MEMORY;
	allocations[allocation_count].base = p;
	allocations[allocation_count++].size = size;
	*address = (CUdeviceptr)p;
	return CUDA_SUCCESS;
}

/* Mapped memory: only the physical piece around the address is shown. */
static void one_piece(CUdeviceptr *base, size_t *size, CUdeviceptr address)
{
	CUdeviceptr start = *base + (address - *base) / PIECE * PIECE, end = *base + *size;

	*base = start;
	*size = end - start < PIECE ? end - start : PIECE;
}

EXPORT CUresult CUDAAPI cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *size,
						CUdeviceptr address)
{
	still_up();
	for (unsigned i = 0; i < allocation_count; i++)
		if (address - (CUdeviceptr)allocations[i].base < allocations[i].size) {
			*base = (CUdeviceptr)allocations[i].base;
			*size = allocations[i].size;
			if (flag("FAKE_VMM"))
				one_piece(base, size, address);
			return CUDA_SUCCESS;
		}
	return CUDA_ERROR_NOT_FOUND;
}

/* With FAKE_VMM each allocation is the mapped part of a reservation that begins one piece earlier.
 */
EXPORT CUresult CUDAAPI cuPointerGetAttribute(void *data, CUpointer_attribute which,
					      CUdeviceptr address)
{
	uint64_t base = 0, size = 0;

	for (unsigned i = 0; flag("FAKE_VMM") && i < allocation_count; i++)
		if (address - (CUdeviceptr)allocations[i].base < allocations[i].size) {
			base = (CUdeviceptr)allocations[i].base - PIECE;
			size = 100 * PIECE;
		}
	if (!size || (which != CU_POINTER_ATTRIBUTE_RANGE_START_ADDR &&
		      which != CU_POINTER_ATTRIBUTE_RANGE_SIZE))
		return CUDA_ERROR_INVALID_VALUE;
	memcpy(data, which == CU_POINTER_ATTRIBUTE_RANGE_SIZE ? &size : &base, sizeof(size));
	return CUDA_SUCCESS;
}

static CUresult copy(void *to, const void *from, size_t size)
{
	still_up();
	if (flag("FAKE_COPY_FAILS"))
		return CUDA_ERROR_INVALID_VALUE;
	if (fake_capturing) /* a copy in stream capture is what the shim must never do */
		abort();
	memcpy(to, from, size);
	return CUDA_SUCCESS;
}

EXPORT CUresult CUDAAPI cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t size,
					     CUstream stream)
{
	return copy(to, (void *)from, size);
}

EXPORT CUresult CUDAAPI cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status)
{
	still_up();
	*status = fake_capturing ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
	return CUDA_SUCCESS;
}

EXPORT CUresult CUDAAPI cuStreamQuery(CUstream stream)
{
	still_up();
	if (fake_capturing)
		abort();
	return CUDA_SUCCESS;
}

/* ---- modules and libraries ---- */

/* What the soft libcupti wants to hear of: as the driver's own tools interface. */
EXPORT void (*fake_module_loaded)(void);
EXPORT void (*fake_module_loaded)(void);

/* With FAKE_LAZY=1 code is loaded when it is first needed: once, behind the call that hands it
 * over. */
static int code_waits;

static void code_given(void)
{
	code_waits = flag("FAKE_LAZY");
	if (fake_module_loaded && !code_waits)
		fake_module_loaded();
}

static void code_needed(void)
{
	if (code_waits && fake_module_loaded)
		fake_module_loaded();
	code_waits = 0;
}

/* A library's kernel is no function, but may be launched as one. */
struct CUkern_st {
	struct CUfunc_st function;
};
static struct CUkern_st kernels[MAX];
static unsigned kernel_count;

static int is_kernel(const void *handle)
{
	return (char *)handle >= (char *)kernels && (char *)handle < (char *)&kernels[MAX];
}

/* The last handle that was given back: it comes again, as from a driver's allocator. */
static CUmodule spare;

EXPORT CUresult CUDAAPI cuModuleLoadData(CUmodule *module, const void *image)
{
	*module = spare ? spare : malloc(1);
	spare = NULL;
	code_given();
	return *module ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

EXPORT CUresult CUDAAPI cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count,
					   CUjit_option *options, void **values)
{
	return cuModuleLoadData(module, image);
}

EXPORT CUresult CUDAAPI cuModuleLoad(CUmodule *module, const char *path)
{
	return cuModuleLoadData(module, path);
}

EXPORT CUresult CUDAAPI cuModuleUnload(CUmodule module)
{
	free(spare);
	spare = module;
	return CUDA_SUCCESS;
}

EXPORT CUresult CUDAAPI cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
	code_needed();
	*function = calloc(1, sizeof(**function));
	snprintf((*function)->name, sizeof((*function)->name), "%s", name);
	return CUDA_SUCCESS;
}

EXPORT CUresult CUDAAPI cuFuncGetName(const char **name, CUfunction function)
{
	still_up();
	*name = function->name;
	return is_kernel(function) ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

EXPORT CUresult CUDAAPI cuFuncGetAttribute(int *value, CUfunction_attribute which, CUfunction f)
{
	still_up();
	if (is_kernel(f))
		abort(); /* as a driver that takes it for what it is not */
	*value = which == CU_FUNC_ATTRIBUTE_NUM_REGS                        ? 32
		 : which == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES ? 98304
									    : 0;
	return CUDA_SUCCESS;
}

EXPORT CUresult CUDAAPI cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *jit,
					  void **jit_values, unsigned jit_count,
					  CUlibraryOption *options, void **values, unsigned count)
{
	code_given();
	*library = malloc(1);
	return *library ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

EXPORT CUresult CUDAAPI cuLibraryLoadFromFile(CUlibrary *library, const char *path,
					      CUjit_option *jit, void **jit_values,
					      unsigned jit_count, CUlibraryOption *options,
					      void **values, unsigned count)
{
	return cuLibraryLoadData(library, path, jit, jit_values, jit_count, options, values, count);
}

EXPORT CUresult CUDAAPI cuLibraryUnload(CUlibrary library)
{
	free(library);
	return CUDA_SUCCESS;
}

EXPORT CUresult CUDAAPI cuLibraryGetModule(CUmodule *module, CUlibrary library)
{
	*module = (CUmodule)((char *)library + 1);
	return CUDA_SUCCESS;
}

EXPORT CUresult CUDAAPI cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name)
{
	*kernel = &kernels[kernel_count++ % MAX];
	snprintf((*kernel)->function.name, sizeof((*kernel)->function.name), "%s", name);
	return CUDA_SUCCESS;
}

EXPORT CUresult CUDAAPI cuLibraryEnumerateKernels(CUkernel *list, unsigned count, CUlibrary library)
{
	for (unsigned i = 0; i < count; i++)
		cuLibraryGetKernel(&list[i], library, "softmax_k");
	return CUDA_SUCCESS;
}

EXPORT CUresult CUDAAPI cuKernelGetName(const char **name, CUkernel kernel)
{
	*name = kernel->function.name;
	return is_kernel(kernel) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

EXPORT CUresult CUDAAPI cuKernelGetFunction(CUfunction *function, CUkernel kernel)
{
	if (!is_kernel(kernel))
		return CUDA_ERROR_INVALID_HANDLE;
	code_needed();
	*function = calloc(1, sizeof(**function));
	**function = kernel->function;
	return CUDA_SUCCESS;
}

EXPORT CUresult CUDAAPI cuModuleEnumerateFunctions(CUfunction *list, unsigned count,
						   CUmodule module)
{
	for (unsigned i = 0; i < count; i++)
		cuModuleGetFunction(&list[i], module, "softmax_k");
	return CUDA_SUCCESS;
}

/* [counted_]args_P_N: P pointers, then N 32-bit numbers. NULL: another kernel. */
static const char *args_of(CUfunction f)
{
	const char *name = f->name;

	if (!strncmp(name, "counted_", 8))
		name += 8;
	return strncmp(name, "args_", 5) ? NULL : name + 5;
}

static CUresult args_info(const char *args, size_t index, size_t *offset, size_t *size)
{
	char *end;
	size_t pointers = strtoul(args, &end, 10), numbers = strtoul(end + 1, NULL, 10);

	if (index >= pointers + numbers)
		return CUDA_ERROR_INVALID_VALUE;
	*size = index < pointers ? 8 : 4;
	*offset = index < pointers ? 8 * index : 8 * pointers + 4 * (index - pointers);
	return CUDA_SUCCESS;
}

/* softmax_k(X, Y, n) and scratch, as Triton 3.6 makes it; tma_k likewise. */
EXPORT CUresult CUDAAPI cuFuncGetParamInfo(CUfunction f, size_t index, size_t *offset, size_t *size)
{
	static const size_t plain[][2] = {{0, 8}, {8, 8}, {16, 4}, {24, 8}, {32, 8}};
	static const size_t tma[][2] = {{0, 128}, {128, 4},   {132, 4}, {136, 8},
					{144, 8}, {192, 128}, {320, 4}, {324, 4},
					{328, 8}, {336, 8},   {344, 8}, {352, 8}};
	int is_tma = !strcmp(f->name, "tma_k");

	still_up();
	if (is_kernel(f))
		abort();
	if (args_of(f))
		return args_info(args_of(f), index, offset, size);
	if (index >= (is_tma ? sizeof(tma) : sizeof(plain)) / sizeof(plain[0]))
		return CUDA_ERROR_INVALID_VALUE;
	*offset = (is_tma ? tma : plain)[index][0];
	*size = (is_tma ? tma : plain)[index][1];
	return CUDA_SUCCESS;
}

EXPORT CUresult CUDAAPI cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t *offset,
					     size_t *size)
{
	struct CUfunc_st function = kernel->function;

	code_needed();
	return cuFuncGetParamInfo(&function, index, offset, size);
}

/* ---- launches ---- */

static CUresult run(CUfunction f, void **params, void **extra)
{
	char packed[512];
	char *x, *y;
	unsigned n;

	if (args_of(f)) /* takes no time: what a wrapper adds is seen alone */
		return CUDA_SUCCESS;
	memset(packed, 0, sizeof(packed));
	if (flag("FAKE_LAUNCH_FAILS"))
		return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
	if (!params && extra) {
		memcpy(packed, extra[1], *(size_t *)extra[3]);
	} else {
		size_t offset, size;

		struct CUfunc_st function = *f;

		for (size_t i = 0; !cuFuncGetParamInfo(&function, i, &offset, &size); i++)
			memcpy(packed + offset, params[i], size);
	}
	if (!strcmp(f->name, "tma_k"))
		return CUDA_SUCCESS;
	memcpy(&x, packed, 8);
	memcpy(&y, packed + 8, 8);
	memcpy(&n, packed + 16, 4);
	for (unsigned i = 0; !fake_capturing && i < n; i++)
		y[i] = (char)(x[i] + 1);
	return CUDA_SUCCESS;
}

#define LAUNCH(symbol)                                                                         \
	EXPORT CUresult CUDAAPI symbol(CUfunction f, unsigned gx, unsigned gy, unsigned gz,    \
				       unsigned bx, unsigned by, unsigned bz, unsigned shared, \
				       CUstream stream, void **params, void **extra)           \
	{                                                                                      \
		return run(f, params, extra);                                                  \
	}
LAUNCH(cuLaunchKernel)
LAUNCH(cuLaunchKernel_ptsz)

#define LAUNCH_COOPERATIVE(symbol)                                                             \
	EXPORT CUresult CUDAAPI symbol(CUfunction f, unsigned gx, unsigned gy, unsigned gz,    \
				       unsigned bx, unsigned by, unsigned bz, unsigned shared, \
				       CUstream stream, void **params)                         \
	{                                                                                      \
		return run(f, params, NULL);                                                   \
	}
LAUNCH_COOPERATIVE(cuLaunchCooperativeKernel)
LAUNCH_COOPERATIVE(cuLaunchCooperativeKernel_ptsz)

#define LAUNCH_EX(symbol)                                                                         \
	EXPORT CUresult CUDAAPI symbol(const CUlaunchConfig *config, CUfunction f, void **params, \
				       void **extra)                                              \
	{                                                                                         \
		return run(f, params, extra);                                                     \
	}
LAUNCH_EX(cuLaunchKernelEx)
LAUNCH_EX(cuLaunchKernelEx_ptsz)

EXPORT CUresult CUDAAPI cuTensorMapEncodeTiled(
	CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address,
	const cuuint64_t *dims, const cuuint64_t *strides, const cuuint32_t *box,
	const cuuint32_t *element_strides, CUtensorMapInterleave interleave,
	CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill)
{
	unsigned long hidden =
		~(unsigned long)address; /* opaque: the address itself is not in it */

	memset(map, 0x5a, sizeof(*map));
	memcpy(map, &hidden, sizeof(hidden));
	return CUDA_SUCCESS;
}

EXPORT CUresult CUDAAPI cuTensorMapEncodeIm2col(
	CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address,
	const cuuint64_t *dims, const cuuint64_t *strides, const int *lower, const int *upper,
	cuuint32_t channels, cuuint32_t pixels, const cuuint32_t *element_strides,
	CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
	CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill)
{
	return cuTensorMapEncodeTiled(map, type, rank, address, dims, strides, NULL,
				      element_strides, interleave, swizzle, promotion, fill);
}
