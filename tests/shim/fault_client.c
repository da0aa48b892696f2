/* SPDX-License-Identifier: MIT */
/* A program that launches a real kernel while something goes wrong; prints what it sees of it. */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "drv/driver.h"
#include "lib/base.h"

#define N 5000

static struct driver d;
static CUmodule module;
static CUfunction function;
static CUcontext context;
static CUdeviceptr from, to;

/* Results are part of the output: they must be those without the shim. */
static CUresult report(const char *what, CUresult r)
{
	printf("%s %d\n", what, (int)r);
	return r;
}
#define SAY(call) report(#call, call)

static void setup(const char *cubin)
{
	float in[N];
	struct error err;
	char *data;
	size_t size;

	if (driver_open(&d, "libcuda.so.1", &err) < 0 ||
	    file_read_all(cubin, 1 << 20, &data, &size)) {
		fprintf(stderr, "fault_client: no driver or image\n");
		exit(3);
	}
	for (int i = 0; i < N; i++)
		in[i] = (float)i * 0.37f;
	SAY(d.cuInit(0));
	SAY(d.cuCtxCreate_v2(&context, 0, 0));
	SAY(d.cuModuleLoadData(&module, data));
	free(data);
	SAY(d.cuModuleGetFunction(&function, module, "cast_bf16"));
	SAY(d.cuMemAlloc_v2(&from, sizeof(in)));
	SAY(d.cuMemAlloc_v2(&to, 2 * N));
	SAY(d.cuMemcpyHtoD_v2(from, in, sizeof(in)));
	SAY(d.cuMemsetD8_v2(to, 0, 2 * N));
}

static CUresult launch(int n, unsigned threads)
{
	CUdeviceptr scratch = 0;
	void *params[] = {&from, &to, &n, &scratch, &scratch};

	return d.cuLaunchKernel(function, (unsigned)(n + 1023) / 1024, 1, 1, threads, 1, 1, 0, NULL,
				params, NULL);
}

static void print_sum(void)
{
	unsigned short out[N];
	unsigned long sum = 0;

	memset(out, 0, sizeof(out));
	SAY(d.cuMemcpyDtoH_v2(out, to, sizeof(out)));
	for (int i = 0; i < N; i++)
		sum = sum * 31 + out[i];
	printf("sum %lu\n", sum);
	fflush(stdout);
}

static void launches(void)
{
	for (int n = 1000; n <= N; n += 1000)
		SAY(launch(n, 128));
	print_sum();
}

/* ---- what goes wrong ---- */

static void launch_fails(void)
{
	SAY(launch(100, 128));
	SAY(launch(100, 4096)); /* a block larger than any */
	launches();
}

static void context_goes(void)
{
	SAY(launch(100, 128));
	SAY(d.cuCtxDestroy_v2(context));
	SAY(launch(200, 128));
	SAY(d.cuCtxCreate_v2(&context, 0, 0));
	SAY(launch(300, 128)); /* of a function of the old one */
}

static void files_close(void)
{
	launches();
	for (int fd = 3; fd < 1024; fd++)
		close(fd);
	launch(77, 128);
	launches();
}

static void limit(int resource, rlim_t value)
{
	struct rlimit l = {value, value};

	if (setrlimit(resource, &l))
		exit(4);
	launches();
}

static void *exit_here(void *unused)
{
	launches();
	exit(7);
}

static void thread_exits(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, exit_here, NULL))
		exit(4);
	pthread_join(thread, NULL);
}

static void *launch_quietly(void *unused)
{
	for (int i = 0; i < 40; i++)
		launch(i % 20 + 1, 128);
	return NULL;
}

/* Forks while other threads launch; the child has no CUDA but ends well. */
static void fork_with_threads(void)
{
	pthread_t threads[2];
	int status = 0;
	pid_t child;

	fflush(stdout);
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, launch_quietly, NULL))
			exit(4);
	for (int i = 0; i < 5; i++) {
		child = fork();
		if (!child)
			exit(launch(1, 128) == CUDA_ERROR_NOT_INITIALIZED ? 0 : 5);
		if (waitpid(child, &status, 0) != child || status)
			exit(6);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	launches();
}

int main(int argc, char **argv)
{
	const char *mode = argc == 3 ? argv[1] : "";

	if (argc != 3)
		return 2;
	setup(argv[2]);
	if (!strcmp(mode, "plain")) {
		launches();
	} else if (!strcmp(mode, "launch-fails")) {
		launch_fails();
	} else if (!strcmp(mode, "context-goes")) {
		context_goes();
	} else if (!strcmp(mode, "files-close")) {
		files_close();
	} else if (!strcmp(mode, "few-files")) {
		limit(RLIMIT_NOFILE, 3);
	} else if (!strcmp(mode, "little-memory")) {
		limit(RLIMIT_AS, 1);
	} else if (!strcmp(mode, "thread-exits")) {
		thread_exits();
	} else if (!strcmp(mode, "fork-threads")) {
		fork_with_threads();
	} else if (!strcmp(mode, "terminated")) {
		launches();
		raise(SIGTERM);
	} else if (!strcmp(mode, "aborted")) {
		launches();
		abort();
	} else if (!strcmp(mode, "quick-exit")) {
		launches();
		_exit(9);
	} else if (!strcmp(mode, "replaced")) {
		launches();
		execl("/bin/sh", "sh", "-c", "echo another program; exit 5", (char *)NULL);
	} else {
		return 2;
	}
	return 0;
}
