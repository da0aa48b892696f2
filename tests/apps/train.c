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
	"  --kernels FOLDER  kernels and manifest made by make-kernels.py\n"
	"  --replace FOLDER  edited kernels that take the place of those of the same name\n"
	"  --config N        matmul's config number N wins every sweep (default: the fastest)\n"
	"  --steps N         training steps (default 4)\n"
	"  --check           hold each step against a reference in double precision\n"
	"Losses go to stdout, everything else to stderr. Status: 0 done, 1 failed, 2 usage.\n";

struct settings {
	struct kernel_set kernels;
	long config, steps;
	bool check;
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
		} else {
			fputs(usage, option == 'h' ? stdout : stderr);
			exit(option == 'h' ? 0 : 2);
		}
	}
	if (optind != argc || !s->kernels.count) {
		fputs(usage, stderr);
		exit(2);
	}
}

/* One step; returns how many disagreements with the reference there were. */
static unsigned train_step(struct model *m, const int32_t *ids, const int32_t *labels, int step,
			   bool check, struct step_result *result)
{
	struct reference_state before;
	unsigned faults = 0;

	if (check)
		reference_read(&before, m);
	model_forward(m, labels, result);
	model_backward(m);
	model_update(m, step);
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
	unsigned faults = 0;
	double first = 0;

	parse(&settings, argc, argv);
	driver_open();
	model_create(&model, &settings.kernels, (int)settings.config, ids, labels);
	for (int step = 1; step <= settings.steps; step++) {
		faults += train_step(&model, ids, labels, step, settings.check, &result);
		if (step == 1)
			first = result.loss;
	}
	if (settings.check && settings.steps > 1 && !(result.loss < first)) {
		fprintf(stderr, "train: the loss did not go down\n");
		faults++;
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
