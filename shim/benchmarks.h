/* SPDX-License-Identifier: MIT */
/* Tells launches by which Inductor chooses a template's config at compile time, on random data. */
#ifndef SHIM_BENCHMARKS_H
#define SHIM_BENCHMARKS_H

#include <stdbool.h>

#include "shim/kernels.h"

/*
 * True for kernels under the bare name of an Inductor template (triton_mm, triton_bmm,
 * triton_convolution2d, triton_flex_attention, …): TritonTemplate.generate names what it benchmarks
 * "triton_" + template; generated code of a model has triton_tem_…, with what is fused into it. And
 * for all kernels of Inductor's benchmark processes. Benchmarks of fusions (TORCHINDUCTOR
 * benchmark_fusion) cannot be told from a model's kernels here: they are not marked. Any thread.
 */
bool benchmarks_kernel(const struct kernel *kernel);

/* This process is a worker of Inductor's autotuning in subprocesses. Reads /proc once. */
bool benchmarks_process(void);

#endif
