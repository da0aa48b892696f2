/* SPDX-License-Identifier: MIT */
/* A warp a piece. */
#include "shim/pieces.h"

#include "lib/ptx/pieces.h"
#include "shim/hooks.h"

#define WARPS 8u

_Static_assert(PTX_PIECE_BYTES == 1024 && PTX_PIECE_NONE == 0 && PTX_PIECE_ALL == 1 &&
		       PTX_PIECE_MIXED == 2,
	       "as the kernel has it: two vectors of 16 bytes a lane");

static const char text[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
			   ".visible .entry kernelab_pieces(.param .u64 bitmaps, .param .u64 "
			   "count, .param .u64 kinds)\n"
			   ".maxntid 256, 1, 1\n"
			   "{\n"
			   "\t.reg .b64 %rd<12>;\n\t.reg .b32 %r<8>;\n\t.reg .pred %p<4>;\n"
			   "\tld.param.u64 %rd1, [bitmaps];\n\tld.param.u64 %rd2, [count];\n"
			   "\tld.param.u64 %rd3, [kinds];\n"
			   "\tmov.u32 %r1, %tid.x;\n\tmov.u32 %r2, %ctaid.x;\n"
			   "\tshr.u32 %r3, %r1, 5;\n\tand.b32 %r4, %r1, 31;\n"
			   "\tmad.lo.u32 %r5, %r2, 8, %r3;\n\tcvt.u64.u32 %rd4, %r5;\n"
			   "\tsetp.ge.u64 %p1, %rd4, %rd2;\n\t@%p1 bra done;\n"
			   "\tshl.b64 %rd5, %rd4, 10;\n\tadd.u64 %rd5, %rd5, %rd1;\n"
			   "\tmul.wide.u32 %rd6, %r4, 16;\n\tadd.u64 %rd5, %rd5, %rd6;\n"
			   "\tld.global.v2.u64 {%rd7, %rd8}, [%rd5];\n"
			   "\tld.global.v2.u64 {%rd9, %rd10}, [%rd5+512];\n"
			   "\tor.b64 %rd6, %rd7, %rd8;\n\tor.b64 %rd11, %rd9, %rd10;\n"
			   "\tor.b64 %rd6, %rd6, %rd11;\n\tsetp.ne.u64 %p1, %rd6, 0;\n"
			   "\tand.b64 %rd6, %rd7, %rd8;\n\tand.b64 %rd11, %rd9, %rd10;\n"
			   "\tand.b64 %rd6, %rd6, %rd11;\n\tsetp.eq.u64 %p2, %rd6, -1;\n"
			   "\tvote.sync.any.pred %p1, %p1, 0xffffffff;\n"
			   "\tvote.sync.all.pred %p2, %p2, 0xffffffff;\n"
			   "\tselp.u32 %r6, 2, 0, %p1;\n\tselp.u32 %r6, 1, %r6, %p2;\n"
			   "\tsetp.ne.u32 %p3, %r4, 0;\n\t@%p3 bra done;\n"
			   "\tadd.u64 %rd3, %rd3, %rd4;\n\tst.global.u8 [%rd3], %r6;\n"
			   "done:\n\tret;\n}\n";

CUfunction pieces_load(void)
{
	CUmodule module = NULL;
	CUfunction function = NULL;

	if (real.cuModuleLoadDataEx(&module, text, 0, NULL, NULL) != CUDA_SUCCESS)
		return NULL;
	if (real.cuModuleGetFunction(&function, module, "kernelab_pieces") == CUDA_SUCCESS)
		return function;
	real.cuModuleUnload(module);
	return NULL;
}

CUresult pieces_look(CUfunction function, CUdeviceptr bitmaps, uint64_t count, CUdeviceptr kinds,
		     CUstream stream)
{
	void *params[] = {&bitmaps, &count, &kinds};
	unsigned blocks = (unsigned)((count + WARPS - 1) / WARPS);

	return real.cuLaunchKernel(function, blocks, 1, 1, 32 * WARPS, 1, 1, 0, stream, params,
				   NULL);
}
