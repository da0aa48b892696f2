/* SPDX-License-Identifier: MIT */
/* The device, or devices alike: their state, its settings, and the gate that every API call passes.
 */
#ifndef SOFTGPU_DEVICE_H
#define SOFTGPU_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "drv/entries.h"
#include "softgpu/context.h"
#include "softgpu/machine.h"

#define DEVICE_NAME           "kernelab software device"
#define DEVICE_ARCH           90u
#define DEVICE_SHARED_DEFAULT (48 * 1024)  /* a block, without opting in */
#define DEVICE_SHARED_OPTIN   (227 * 1024) /* a block, with it */
#define DEVICE_SHARED_SM      (228 * 1024)
#define DEVICE_SHARED_SYSTEM  1024 /* a block, taken by the driver */
#define DEVICE_MULTIPROCESSORS                                            \
	132 /* as the GPUs of that architecture: kernels size grids by it \
	     */
#define DEVICE_THREADS_SM 2048
#define DEVICE_MOST       64 /* devices that KERNELAB_SOFTGPU_DEVICES may ask for */
#define DEVICE_BLOCKS_SM  32
#define DEVICE_REGISTERS  65536

struct device_settings { /* from the environment, read by cuInit */
	enum machine_contract contract;
	uint64_t seed, quota, devices;
	bool varies;   /* each launch takes another seed */
	bool blocking; /* CUDA_LAUNCH_BLOCKING: a launch returns its own fault */
};
const struct device_settings *device_settings(void);

/* Whether there is a device of that number. After device_init. */
bool device_exists(int ordinal);

/* Reads the environment. CUDA_ERROR_INVALID_VALUE with a log line that names the variable. */
CUresult device_init(void);

/*
 * The error of the first launch that faulted; CUDA_SUCCESS before. As on a GPU it stays for the
 * rest of the process, in all its contexts: even a new primary context is refused. Under the API
 * lock.
 */
CUresult device_lost(void);
void device_lose(CUresult result);

/* What a call needs before it may run. */
enum api_need {
	NEED_INIT,    /* cuInit */
	NEED_CONTEXT, /* and a valid current context */
	NEED_LIVE     /* and no fault so far */
};

struct api_scope {
	CUresult result; /* CUDA_SUCCESS: go on; else what the call returns */
	bool lose;       /* it returns CUDA_SUCCESS without doing anything */
	struct context *context;
};

/*
 * Takes the one lock of the API and checks; entry: for faults on request. In a child of fork every
 * call returns CUDA_ERROR_NOT_INITIALIZED, as with a real driver.
 */
struct api_scope api_enter(enum api_need need, const char *entry);
void api_leave(struct api_scope *scope);

/* First line of an entry: `api` names the scope, and what is needed holds behind it. */
#define API_SCOPE(need)                                                                       \
	__attribute__((cleanup(api_leave))) struct api_scope api = api_enter(need, __func__); \
	if (api.result != CUDA_SUCCESS || api.lose)                                           \
	return api.result

/* A function of libcuda.so.1. */
#define API __attribute__((visibility("default"))) CUresult

/* 0, -EINVAL, -ENOMEM … as a CUresult. */
CUresult api_errno(int code);

#endif
