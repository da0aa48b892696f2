/* SPDX-License-Identifier: MIT */
/* Which chunks of two device ranges differ, found on the device: only those are copied back. */
#include "replay/compare.h"

#include <stdlib.h>

#include "kernelab/bundle.h"

#define THREADS 256u

_Static_assert(CHUNK_BYTES == 64 * THREADS * 16, "64 rounds of 16 bytes a thread");

/* One block a chunk; whoever sees a difference sets the chunk's flag. */
static const char program[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
			      ".visible .entry kernelab_compare(\n"
			      ".param .u64 pa,\n.param .u64 pb,\n.param .u64 pflags\n)\n{\n"
			      ".reg .pred %p<3>;\n.reg .b32 %r<6>;\n.reg .b64 %rd<16>;\n"
			      "ld.param.u64 %rd1, [pa];\n"
			      "ld.param.u64 %rd2, [pb];\n"
			      "ld.param.u64 %rd3, [pflags];\n"
			      "mov.u32 %r1, %ctaid.x;\n"
			      "mov.u32 %r2, %tid.x;\n"
			      "mul.wide.u32 %rd4, %r1, 262144;\n"
			      "mul.wide.u32 %rd5, %r2, 16;\n"
			      "add.s64 %rd4, %rd4, %rd5;\n"
			      "add.s64 %rd6, %rd1, %rd4;\n"
			      "add.s64 %rd7, %rd2, %rd4;\n"
			      "mov.u64 %rd8, 0;\n"
			      "mov.u32 %r3, 0;\n"
			      "$L_round:\n"
			      "ld.global.v2.u64 {%rd9, %rd10}, [%rd6];\n"
			      "ld.global.v2.u64 {%rd11, %rd12}, [%rd7];\n"
			      "xor.b64 %rd9, %rd9, %rd11;\n"
			      "xor.b64 %rd10, %rd10, %rd12;\n"
			      "or.b64 %rd8, %rd8, %rd9;\n"
			      "or.b64 %rd8, %rd8, %rd10;\n"
			      "add.s64 %rd6, %rd6, 4096;\n"
			      "add.s64 %rd7, %rd7, 4096;\n"
			      "add.s32 %r3, %r3, 1;\n"
			      "setp.lt.u32 %p1, %r3, 64;\n"
			      "@%p1 bra $L_round;\n"
			      "setp.eq.u64 %p2, %rd8, 0;\n"
			      "@%p2 bra $L_end;\n"
			      "mul.wide.u32 %rd13, %r1, 4;\n"
			      "add.s64 %rd14, %rd3, %rd13;\n"
			      "mov.u32 %r4, 1;\n"
			      "st.global.u32 [%rd14], %r4;\n"
			      "$L_end:\n"
			      "ret;\n}\n";

/* Room for that many flags on both ends. */
static bool reserve(struct comparer *c, const struct driver *d, size_t count)
{
	if (count <= c->capacity)
		return true;
	if (c->flags)
		d->cuMemFree_v2(c->flags);
	free(c->host);
	c->flags = 0;
	c->capacity = 0;
	c->host = malloc(count * sizeof(*c->host));
	if (!c->host || d->cuMemAlloc_v2(&c->flags, count * sizeof(*c->host)) != CUDA_SUCCESS)
		return false;
	c->capacity = count;
	return true;
}

static bool compare(struct comparer *c, const struct driver *d, CUdeviceptr a, CUdeviceptr b,
		    size_t count)
{
	void *params[] = {&a, &b, &c->flags};

	return reserve(c, d, count) && d->cuMemsetD32_v2(c->flags, 0, count) == CUDA_SUCCESS &&
	       d->cuLaunchKernel(c->function, (unsigned)count, 1, 1, THREADS, 1, 1, 0, NULL, params,
				 NULL) == CUDA_SUCCESS &&
	       d->cuMemcpyDtoH_v2(c->host, c->flags, count * sizeof(*c->host)) == CUDA_SUCCESS;
}

/* Four chunks, of which the first and last byte of the two in the middle differ by one bit. */
static bool try_known_pair(struct comparer *c, const struct driver *d)
{
	enum { CHUNKS = 4 };
	CUdeviceptr a = 0, b = 0;
	bool good = d->cuMemAlloc_v2(&a, CHUNKS * CHUNK_BYTES) == CUDA_SUCCESS &&
		    d->cuMemAlloc_v2(&b, CHUNKS * CHUNK_BYTES) == CUDA_SUCCESS &&
		    d->cuMemsetD8_v2(a, 0x5c, CHUNKS * CHUNK_BYTES) == CUDA_SUCCESS &&
		    d->cuMemsetD8_v2(b, 0x5c, CHUNKS * CHUNK_BYTES) == CUDA_SUCCESS &&
		    d->cuMemsetD8_v2(b + CHUNK_BYTES, 0x5d, 1) == CUDA_SUCCESS &&
		    d->cuMemsetD8_v2(b + 3 * CHUNK_BYTES - 1, 0xdc, 1) == CUDA_SUCCESS &&
		    compare(c, d, a, b, CHUNKS) && !c->host[0] && c->host[1] && c->host[2] &&
		    !c->host[3];

	if (a)
		d->cuMemFree_v2(a);
	if (b)
		d->cuMemFree_v2(b);
	return good;
}

const uint32_t *compare_chunks(struct comparer *c, const struct driver *d, CUdeviceptr a,
			       CUdeviceptr b, uint64_t size)
{
	size_t count = size / CHUNK_BYTES;

	if (!c->opened) {
		c->opened = true;
		c->usable = d->cuModuleLoadData(&c->module, program) == CUDA_SUCCESS &&
			    d->cuModuleGetFunction(&c->function, c->module, "kernelab_compare") ==
				    CUDA_SUCCESS &&
			    try_known_pair(c, d);
	}
	if (!c->usable || count > INT32_MAX)
		return NULL;
	return compare(c, d, a, b, count) ? c->host : NULL;
}
