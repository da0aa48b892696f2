/* SPDX-License-Identifier: MIT */
/*
 * A small training loop over the driver API with real Triton kernels: what there is to capture on
 * a machine without a GPU, and on one with.
 */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/apps/model.h"
#include "tests/apps/reference.h"

enum { STEPS_DEFAULT = 4, STEPS_MAX = 100000 };

static const char usage[] =
	"usage: train --kernels FOLDER [--replace FOLDER]... [--config N] [--steps N] [--check]\n"
	"       [--graph] [--library]\n"
	"  --kernels FOLDER  kernels and manifest made by make-kernels.py\n"
	"  --replace FOLDER  edited kernels that take the place of those of the same name\n"
	"  --config N        matmul's config number N wins every sweep (default: the fastest)\n"
	"  --steps N         training steps (default 4)\n"
	"  --graph           capture the first step into a graph and launch that for every step, "
	"the\n"
	"                    update's arguments set anew; needs --config, of which no sweep is "
	"made\n"
	"  --library         load kernels by cuLibraryLoadData and launch CUkernel handles\n"
	"  --check           hold each step against a reference in double precision\n"
	"Losses go to stdout, everything else to stderr. Status: 0 done, 1 failed, 2 usage.\n";

struct settings {
	struct kernel_set kernels;
	long config, steps;
	bool check, graph;
};

static long number(const char *text, long limit)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (errno || end == text || *end || value < 0 || value > limit) {
		fprintf(stderr, "train: not a number from 0 to %ld: %s\n", limit, text);
		exit(2);
	}
	return value;
}

static void parse(struct settings *s, int argc, char **argv)
{
	static const struct option options[] = {{"kernels", required_argument, NULL, 'k'},
						{"replace", required_argument, NULL, 'k'},
						{"config", required_argument, NULL, 'c'},
						{"steps", required_argument, NULL, 's'},
						{"check", no_argument, NULL, 'x'},
						{"graph", no_argument, NULL, 'g'},
						{"library", no_argument, NULL, 'l'},
						{"help", no_argument, NULL, 'h'},
						{NULL, 0, NULL, 0}};
	int option;

	s->config = -1;
	s->steps = STEPS_DEFAULT;
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'k') {
			kernel_set_add(&s->kernels, optarg);
		} else if (option == 'c') {
			s->config = number(optarg, KERNEL_IMAGES_MAX);
		} else if (option == 's') {
			s->steps = number(optarg, STEPS_MAX);
		} else if (option == 'x') {
			s->check = true;
		} else if (option == 'g') {
			s->graph = true;
		} else if (option == 'l') {
			s->kernels.as_libraries = true;
		} else {
			fputs(usage, option == 'h' ? stdout : stderr);
			exit(option == 'h' ? 0 : 2);
		}
	}
	if (optind != argc || !s->kernels.count || (s->graph && s->config < 0)) {
		fputs(usage, stderr);
		exit(2);
	}
}

/* The whole step as a graph; update: its kernel node of the optimizer. */
struct step_graph {
	CUgraph graph;
	CUgraphExec exec;
	CUgraphNode update;
};

/* A driver may name the function of a library's kernel, or the kernel itself. */
static CUgraphNode find_kernel(CUgraph graph, CUfunction f, CUfunction kernel)
{
	CUDA_KERNEL_NODE_PARAMS p;
	CUgraphNode nodes[256];
	CUgraphNodeType type;
	size_t count = 256;

	CHECK(cuGraphGetNodes(graph, nodes, &count));
	for (size_t i = 0; i < count; i++) {
		CHECK(cuGraphNodeGetType(nodes[i], &type));
		if (type != CU_GRAPH_NODE_TYPE_KERNEL)
			continue;
		CHECK(cuGraphKernelNodeGetParams_v2(nodes[i], &p));
		if (p.func ? p.func == f || p.func == kernel : (CUfunction)p.kern == kernel)
			return nodes[i];
	}
	die("the graph does not hold the update");
}

static void capture_step(struct model *m, struct step_graph *g)
{
	struct arguments a;
	struct kernel_image *image;
	CUfunction f;

	CHECK(cuStreamBeginCapture_v2(cu.stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	model_forward(m);
	model_backward(m);
	model_update(m, 1);
	CHECK(cuStreamEndCapture(cu.stream, &g->graph));
	CHECK(cuGraphInstantiateWithFlags(&g->exec, g->graph, 0));
	image = model_update_arguments(m, 1, &a);
	f = image->function;
	if (image->library)
		CHECK(cuKernelGetFunction(&f, (CUkernel)image->function));
	g->update = find_kernel(g->graph, f, image->function);
}

static void launch_step(struct model *m, struct step_graph *g, int step)
{
	struct arguments a;
	struct kernel_image *image = model_update_arguments(m, step, &a);
	CUDA_KERNEL_NODE_PARAMS p;
	void *pointers[KERNEL_ARGUMENTS_MAX + 2];

	kernel_pointers(image, &a, pointers);
	CHECK(cuGraphKernelNodeGetParams_v2(g->update, &p));
	p.kernelParams = pointers;
	CHECK(cuGraphExecKernelNodeSetParams_v2(g->exec, g->update, &p));
	CHECK(cuGraphLaunch(g->exec, cu.stream));
}

/* One step; g: by that graph, or NULL. Returns how many disagreements with the reference there
 * were. */
static unsigned train_step(struct model *m, struct step_graph *g, const int32_t *ids,
			   const int32_t *labels, int step, bool check, struct step_result *result)
{
	struct reference_state before;
	unsigned faults = 0;

	if (check)
		reference_read(&before, m);
	if (g) {
		launch_step(m, g, step);
		model_read_result(m, labels, result);
	} else {
		model_forward(m);
		model_read_result(m, labels, result);
		model_backward(m);
		model_update(m, step);
	}
	CHECK(cuStreamSynchronize(cu.stream));
	printf("step %d loss %.17g right %u/%d\n", step, result->loss, result->right, ROWS);
	if (!check)
		return 0;
	faults = reference_check(&before, m, ids, labels, step, result->loss);
	if (!(fabs(result->loss_total / ROWS - result->loss) <= 1e-6 * result->loss)) {
		fprintf(stderr, "train: step %d: the atomic sum gives loss %.9g\n", step,
			(double)result->loss_total / ROWS);
		faults++;
	}
	reference_free(&before);
	return faults;
}

int main(int argc, char **argv)
{
	static struct settings settings;
	static struct model model;
	static int32_t ids[ROWS * WORDS], labels[ROWS];
	struct step_result result = {0};
	struct step_graph graph = {0};
	unsigned faults = 0;
	double first = 0;

	parse(&settings, argc, argv);
	driver_open();
	model_create(&model, &settings.kernels, (int)settings.config, ids, labels);
	model.no_sweep = settings.graph;
	if (settings.graph)
		capture_step(&model, &graph);
	for (int step = 1; step <= settings.steps; step++) {
		faults += train_step(&model, settings.graph ? &graph : NULL, ids, labels, step,
				     settings.check, &result);
		if (step == 1)
			first = result.loss;
	}
	if (settings.check && settings.steps > 1 && !(result.loss < first)) {
		fprintf(stderr, "train: the loss did not go down\n");
		faults++;
	}
	if (settings.graph) {
		CHECK(cuGraphExecDestroy(graph.exec));
		CHECK(cuGraphDestroy(graph.graph));
	}
	kernel_set_unload(&settings.kernels);
	model_destroy(&model);
	driver_close();
	if (fflush(stdout) || ferror(stdout))
		die("stdout: %s", strerror(errno));
	if (faults)
		die("%u disagreements with the reference", faults);
	return 0;
}
