/* SPDX-License-Identifier: MIT */
/* CUDA C kernels of the labelled corpus, compiled by NVRTC; a family a function, table.py edits them. */
#ifdef REFERENCE /* in double precision, inputs and outputs too */
typedef double real;
typedef double narrow;
#define EXP(x) exp(x)
__device__ double widen(narrow x) { return x; }
__device__ narrow rounded(double x) { return x; }
#else
typedef float real;
typedef unsigned short narrow; /* bf16 */
#define EXP(x) __expf(x)
__device__ float widen(narrow x) { return __uint_as_float((unsigned)x << 16); }
__device__ narrow rounded(float x)
{
	narrow y;
	asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y) : "f"(x));
	return y;
}
#endif
#define THREADS 128

/* Of a block, by shared memory; all threads get it. */
__device__ real block_sum(real x, real *shared)
{
	int t = threadIdx.x;
	shared[t] = x;
	__syncthreads();
	for (int s = THREADS / 2; s > 0; s >>= 1) {
		if (t < s) shared[t] += shared[t + s];
		__syncthreads();
	}
	real sum = shared[0];
	__syncthreads();
	return sum;
}

/* Softmax of a row a block. */
extern "C" __global__ void cu_softmax(const real *x, real *y, int width, int pitch)
{
	__shared__ real shared[THREADS];
	const real *row = x + blockIdx.x * (long long)pitch;
	real top = -1e30f, total = 0;
	for (int i = threadIdx.x; i < width; i += THREADS) top = fmax(top, row[i]);
	shared[threadIdx.x] = top;
	__syncthreads();
	for (int i = 0; i < THREADS; i++) top = fmax(top, shared[i]);
	__syncthreads();
	for (int i = threadIdx.x; i < width; i += THREADS) total += EXP(row[i] - top);
	total = block_sum(total, shared);
	for (int i = threadIdx.x; i < width; i += THREADS) {
		real out = EXP(row[i] - top) / total;
		y[blockIdx.x * (long long)pitch + i] = out;
	}
}

/* c = a b, a tile of 8 by 16 a block, 16 of K a step through shared memory. */
extern "C" __global__ void cu_gemm(const real *a, const real *b, real *c, int M, int N, int K,
                                   int lda, int ldb, int ldc)
{
	__shared__ real ta[8][16], tb[16][16];
	int t = threadIdx.x, r = t / 16, q = t % 16, m = blockIdx.x * 8 + r, n = blockIdx.y * 16 + q;
	real acc = 0;
	int steps = (K + 15) / 16;
	for (int step = 0; step < steps; step++) {
		int k = step * 16;
		ta[r][q] = m < M && k + q < K ? a[m * lda + k + q] : 0;
		for (int i = r; i < 16; i += 8) tb[i][q] = n < N && k + i < K ? b[(k + i) * ldb + n] : 0;
		__syncthreads();
		for (int i = 0; i < 16; i++) acc += ta[r][i] * tb[i][q];
		__syncthreads();
	}
	if (m < M && n < N) c[m * ldc + n] = acc;
}

/* RMS norm of a row a block, bf16. */
extern "C" __global__ void cu_rmsnorm(const narrow *x, const real *gamma, narrow *y, int width,
                                      int pitch, float eps)
{
	__shared__ real shared[THREADS];
	const narrow *row = x + blockIdx.x * (long long)pitch;
	real square = 0;
	for (int i = threadIdx.x; i < width; i += THREADS) square += widen(row[i]) * widen(row[i]);
	square = block_sum(square, shared) / width;
	real r = rsqrt(square + eps);
	for (int i = threadIdx.x; i < width; i += THREADS) {
		real out = widen(row[i]) * r * gamma[i];
		y[blockIdx.x * (long long)pitch + i] = rounded(out);
	}
}
