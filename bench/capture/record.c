// SPDX-License-Identifier: MIT
// How fast memory gets into a bundle, and the rates of the machine that bound it.
//   record d2h BYTES                     pinned copies from the device
//   record disk FILE BYTES               what one thread writes in pieces of 256 KiB
//   record launches BYTES COUNT ROUNDS   COUNT launches that read BYTES in all, ROUNDS times
//                                        (under kernelab capture --origin all --per-class 1000)
// Prints seconds and GB/s a line; the last line is the largest resident size of the process.
// BYTES are random, so that no chunk is like another and nothing can be compressed.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "drv/driver.h"
#include "lib/base.h"

#define PIECE       (4u << 20)
#define WRITE_BYTES (256u << 10)
#define BLOCKS      1056u
#define THREADS     256u
#define COUNT_MAX   256u

// A grid-stride loop over 16-byte vectors. `fill` writes a hash of their number, `read` their sum.
static const char ptx[] =
	".version 7.0\n.target sm_80\n.address_size 64\n"
	".visible .entry fill(.param .u64 p, .param .u64 n, .param .u32 seed)\n"
	"{\n"
	"\t.reg .b64 %rd<12>;\n\t.reg .b32 %r<16>;\n\t.reg .pred %q;\n"
	"\tld.param.u64 %rd1, [p];\n\tld.param.u64 %rd2, [n];\n"
	"\tld.param.u32 %r9, [seed];\n"
	"\tmov.u32 %r1, %ctaid.x;\n\tmov.u32 %r2, %ntid.x;\n\tmov.u32 %r3, %tid.x;\n"
	"\tmad.lo.u32 %r4, %r1, %r2, %r3;\n\tcvt.u64.u32 %rd3, %r4;\n"
	"\tmov.u32 %r5, %nctaid.x;\n\tmul.lo.u32 %r6, %r5, %r2;\n"
	"\tcvt.u64.u32 %rd4, %r6;\n"
	"again:\n"
	"\tsetp.ge.u64 %q, %rd3, %rd2;\n\t@%q bra done;\n"
	"\tshl.b64 %rd5, %rd3, 4;\n\tadd.u64 %rd6, %rd1, %rd5;\n"
	"\tcvt.u32.u64 %r7, %rd3;\n\txor.b32 %r7, %r7, %r9;\n"
	"\tmul.lo.u32 %r10, %r7, 0x9e3779b1;\n\tshr.u32 %r8, %r10, 15;\n"
	"\txor.b32 %r10, %r10, %r8;\n\tmul.lo.u32 %r10, %r10, 0x85ebca77;\n"
	"\tshr.u32 %r8, %r10, 13;\n\txor.b32 %r10, %r10, %r8;\n"
	"\tmul.lo.u32 %r11, %r10, 0xc2b2ae3d;\n\tshr.u32 %r8, %r11, 16;\n"
	"\txor.b32 %r11, %r11, %r8;\n"
	"\tmul.lo.u32 %r12, %r11, 0x27d4eb2f;\n\tshr.u32 %r8, %r12, 15;\n"
	"\txor.b32 %r12, %r12, %r8;\n"
	"\tmul.lo.u32 %r13, %r12, 0x165667b1;\n\tshr.u32 %r8, %r13, 14;\n"
	"\txor.b32 %r13, %r13, %r8;\n"
	"\tst.global.v4.u32 [%rd6], {%r10, %r11, %r12, %r13};\n"
	"\tadd.u64 %rd3, %rd3, %rd4;\n\tbra again;\n"
	"done:\n\tret;\n}\n"
	".visible .entry read(.param .u64 p, .param .u64 n, .param .u64 out)\n"
	"{\n"
	"\t.reg .b64 %rd<12>;\n\t.reg .b32 %r<16>;\n\t.reg .pred %q;\n"
	"\tld.param.u64 %rd1, [p];\n\tld.param.u64 %rd2, [n];\n"
	"\tld.param.u64 %rd7, [out];\n"
	"\tmov.u32 %r1, %ctaid.x;\n\tmov.u32 %r2, %ntid.x;\n\tmov.u32 %r3, %tid.x;\n"
	"\tmad.lo.u32 %r4, %r1, %r2, %r3;\n\tcvt.u64.u32 %rd3, %r4;\n"
	"\tmov.u32 %r5, %nctaid.x;\n\tmul.lo.u32 %r6, %r5, %r2;\n"
	"\tcvt.u64.u32 %rd4, %r6;\n\tmov.u32 %r7, 0;\n"
	"\tshl.b64 %rd8, %rd3, 2;\n\tadd.u64 %rd8, %rd7, %rd8;\n"
	"again:\n"
	"\tsetp.ge.u64 %q, %rd3, %rd2;\n\t@%q bra done;\n"
	"\tshl.b64 %rd5, %rd3, 4;\n\tadd.u64 %rd6, %rd1, %rd5;\n"
	"\tld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%rd6];\n"
	"\tadd.u32 %r7, %r7, %r10;\n\tadd.u32 %r7, %r7, %r11;\n"
	"\tadd.u32 %r7, %r7, %r12;\n\tadd.u32 %r7, %r7, %r13;\n"
	"\tadd.u64 %rd3, %rd3, %rd4;\n\tbra again;\n"
	"done:\n\tst.global.u32 [%rd8], %r7;\n\tret;\n}\n";

static struct driver d;
static CUfunction fill, sum;

static void must(CUresult r, const char *what)
{
	if (r == CUDA_SUCCESS)
		return;
	fprintf(stderr, "record: %s: CUDA error %d\n", what, (int)r);
	exit(1);
}
#define MUST(call) must(d.call, #call)

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void report(const char *what, double seconds, uint64_t bytes)
{
	printf("%s %.4f s %.3f GB/s\n", what, seconds, (double)bytes * 1e-9 / seconds);
	fflush(stdout);
}

static void open_device(void)
{
	struct error err;
	CUcontext context;
	CUdevice device;
	CUmodule module;

	if (driver_open(&d, "libcuda.so.1", &err) < 0) {
		fprintf(stderr, "record: %s\n", err.message);
		exit(1);
	}
	MUST(cuInit(0));
	MUST(cuDeviceGet(&device, 0));
	MUST(cuDevicePrimaryCtxRetain(&context, device));
	MUST(cuCtxSetCurrent(context));
	MUST(cuModuleLoadData(&module, ptx));
	MUST(cuModuleGetFunction(&fill, module, "fill"));
	MUST(cuModuleGetFunction(&sum, module, "read"));
}

static CUdeviceptr filled(uint64_t bytes, unsigned seed)
{
	CUdeviceptr p;
	uint64_t n = bytes / 16;
	void *params[] = {&p, &n, &seed};

	MUST(cuMemAlloc_v2(&p, bytes));
	MUST(cuLaunchKernel(fill, BLOCKS, 1, 1, THREADS, 1, 1, 0, NULL, params, NULL));
	return p;
}

static int run_d2h(uint64_t bytes)
{
	CUdeviceptr p;
	double start;
	char *host;

	open_device();
	p = filled(PIECE, 1);
	MUST(cuMemAllocHost_v2((void **)&host, 16 * PIECE));
	MUST(cuCtxSynchronize());
	for (int round = 0; round < 2; round++) { // the first warms up
		start = now_s();
		for (uint64_t at = 0; at < bytes; at += PIECE)
			MUST(cuMemcpyDtoHAsync_v2(host + at / PIECE % 16 * PIECE, p, PIECE, NULL));
		MUST(cuCtxSynchronize());
	}
	report("d2h", now_s() - start, bytes);
	return 0;
}

static int run_disk(const char *path, uint64_t bytes)
{
	uint32_t *data = malloc(PIECE);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	uint32_t x = 1;
	double start;

	if (fd < 0 || !data) {
		fprintf(stderr, "record: %s: %s\n", path, strerror(errno));
		return 1;
	}
	for (size_t i = 0; i < PIECE / 4; i++)
		data[i] = x = x * 1664525 + 1013904223;
	start = now_s();
	for (uint64_t at = 0; at < bytes; at += WRITE_BYTES)
		if (write(fd, (char *)data + at % PIECE, WRITE_BYTES) != (ssize_t)WRITE_BYTES) {
			fprintf(stderr, "record: %s: %s\n", path, strerror(errno));
			return 1;
		}
	report("disk", now_s() - start, bytes);
	close(fd);
	unlink(path);
	free(data);
	return 0;
}

static long resident_bytes(void)
{
	_cleanup_free_ char *status = NULL;
	const char *line;
	size_t size = 0;

	if (file_read_all("/proc/self/status", 1 << 16, &status, &size))
		return 0;
	line = strstr(status, "VmHWM:");
	return line ? strtol(line + 6, NULL, 10) * 1024 : 0;
}

static int run_launches(uint64_t bytes, unsigned count, unsigned rounds)
{
	CUdeviceptr inputs[COUNT_MAX], out;
	uint64_t n = bytes / count / 16;

	open_device();
	MUST(cuMemAlloc_v2(&out, 4 * BLOCKS * THREADS));
	MUST(cuMemsetD8_v2(out, 0, 4 * BLOCKS * THREADS));
	for (unsigned i = 0; i < count; i++)
		inputs[i] = filled(16 * n, i + 1);
	MUST(cuCtxSynchronize());
	for (unsigned round = 0; round < rounds; round++) {
		double start = now_s();
		char name[32];

		for (unsigned i = 0; i < count; i++) {
			void *params[] = {&inputs[i], &n, &out};

			MUST(cuLaunchKernel(sum, BLOCKS, 1, 1, THREADS, 1, 1, 0, NULL, params,
					    NULL));
		}
		MUST(cuCtxSynchronize());
		snprintf(name, sizeof(name), "round %u", round + 1);
		report(name, now_s() - start, 16 * n * count);
	}
	printf("resident %ld\n", resident_bytes());
	return 0;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	if (!strcmp(mode, "d2h") && argc == 3)
		return run_d2h(strtoull(argv[2], NULL, 0));
	if (!strcmp(mode, "disk") && argc == 4)
		return run_disk(argv[2], strtoull(argv[3], NULL, 0));
	if (!strcmp(mode, "launches") && argc == 5) {
		uint64_t bytes = strtoull(argv[2], NULL, 0);
		unsigned count = (unsigned)strtoul(argv[3], NULL, 0);

		if (count && count <= COUNT_MAX && bytes / count >= 16)
			return run_launches(bytes, count, (unsigned)strtoul(argv[4], NULL, 0));
	}
	fprintf(stderr,
		"usage: record d2h BYTES | disk FILE BYTES | launches BYTES COUNT ROUNDS\n");
	return 2;
}
