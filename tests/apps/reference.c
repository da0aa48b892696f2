/* SPDX-License-Identifier: MIT */
/* Forward, backward and Adam in double, by the textbook formulas. */
#include "tests/apps/reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double LOSS_TOLERANCE = 1e-5, GRADIENT_TOLERANCE = 2e-5, PARAMETER_TOLERANCE = 1e-6;

struct pass {
	double x[ROWS][WIDTH], h[ROWS][HIDDEN], act[ROWS][HIDDEN], xhat[ROWS][HIDDEN];
	double y[ROWS][HIDDEN], rstd[ROWS], dlogits[ROWS][CLASSES], dh[ROWS][HIDDEN];
	double loss;
	double gradients[PARAMETER_ELEMENTS];
};

static float *read_flat(CUdeviceptr flat)
{
	float *host = malloc(PARAMETER_ELEMENTS * sizeof *host);

	if (!host)
		die("out of memory");
	read_back(host, flat, PARAMETER_ELEMENTS * sizeof *host);
	return host;
}

void reference_read(struct reference_state *s, const struct model *m)
{
	s->parameters = read_flat(m->parameters);
	s->moment1 = read_flat(m->moment1);
	s->moment2 = read_flat(m->moment2);
}

void reference_free(struct reference_state *s)
{
	free(s->parameters);
	free(s->moment1);
	free(s->moment2);
}

/* Nearest bf16, ties to even; finite inputs only. */
static double round_bf16(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof bits);
	bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u;
	memcpy(&value, &bits, sizeof value);
	return value;
}

static void forward_hidden(struct pass *p, const float *w, const int32_t *ids, int row)
{
	const float *table = w + parameter_offset(PARAMETER_TABLE);
	const float *w1 = w + parameter_offset(PARAMETER_W1),
		    *b1 = w + parameter_offset(PARAMETER_B1);
	const float *gamma = w + parameter_offset(PARAMETER_GAMMA);
	const float *beta = w + parameter_offset(PARAMETER_BETA);
	double mean = 0, variance = 0;

	for (int t = 0; t < WORDS; t++)
		for (int i = 0; i < WIDTH; i++)
			p->x[row][i] += round_bf16(table[ids[row * WORDS + t] * WIDTH + i]) / WORDS;
	for (int j = 0; j < HIDDEN; j++) {
		for (int i = 0; i < WIDTH; i++)
			p->h[row][j] += p->x[row][i] * w1[i * HIDDEN + j];
		p->h[row][j] += b1[j];
		p->act[row][j] = 0.5 * p->h[row][j] * (1 + erf(p->h[row][j] * M_SQRT1_2));
		mean += p->act[row][j] / HIDDEN;
	}
	for (int j = 0; j < HIDDEN; j++)
		variance += pow(p->act[row][j] - mean, 2) / HIDDEN;
	p->rstd[row] = 1 / sqrt(variance + (double)NORM_EPSILON);
	for (int j = 0; j < HIDDEN; j++) {
		p->xhat[row][j] = (p->act[row][j] - mean) * p->rstd[row];
		p->y[row][j] = p->xhat[row][j] * gamma[j] + beta[j];
	}
}

static void forward_classes(struct pass *p, const float *w, int label, int row)
{
	const float *w2 = w + parameter_offset(PARAMETER_W2),
		    *b2 = w + parameter_offset(PARAMETER_B2);
	double z[CLASSES], sum = 0;

	for (int c = 0; c < CLASSES; c++) {
		z[c] = b2[c];
		for (int j = 0; j < HIDDEN; j++)
			z[c] += p->y[row][j] * w2[j * CLASS_PITCH + c];
		sum += exp(z[c]);
	}
	p->loss += (log(sum) - z[label]) / ROWS;
	for (int c = 0; c < CLASSES; c++)
		p->dlogits[row][c] = (exp(z[c]) / sum - (c == label)) / ROWS;
}

/* Gradients of one row through the classes and the norm; leaves dh. */
static void backward_norm(struct pass *p, const float *w, int row)
{
	const float *w2 = w + parameter_offset(PARAMETER_W2);
	const float *gamma = w + parameter_offset(PARAMETER_GAMMA);
	double *g = p->gradients, dy[HIDDEN], c1 = 0, c2 = 0;

	for (int j = 0; j < HIDDEN; j++) {
		dy[j] = 0;
		for (int c = 0; c < CLASSES; c++) {
			dy[j] += p->dlogits[row][c] * w2[j * CLASS_PITCH + c];
			g[parameter_offset(PARAMETER_W2) + j * CLASS_PITCH + c] +=
				p->y[row][j] * p->dlogits[row][c];
		}
		g[parameter_offset(PARAMETER_GAMMA) + j] += dy[j] * p->xhat[row][j];
		g[parameter_offset(PARAMETER_BETA) + j] += dy[j];
		c1 += p->xhat[row][j] * dy[j] * gamma[j] / HIDDEN;
		c2 += dy[j] * gamma[j] / HIDDEN;
	}
	for (int c = 0; c < CLASSES; c++)
		g[parameter_offset(PARAMETER_B2) + c] += p->dlogits[row][c];
	for (int j = 0; j < HIDDEN; j++) {
		double z = p->h[row][j], slope = 0.5 * (1 + erf(z * M_SQRT1_2)) +
						 z * exp(-z * z / 2) / sqrt(2 * M_PI);

		p->dh[row][j] =
			(dy[j] * gamma[j] - p->xhat[row][j] * c1 - c2) * p->rstd[row] * slope;
		g[parameter_offset(PARAMETER_B1) + j] += p->dh[row][j];
	}
}

static void backward_words(struct pass *p, const float *w, const int32_t *ids, int row)
{
	const float *w1 = w + parameter_offset(PARAMETER_W1);
	double *g = p->gradients, dx;

	for (int i = 0; i < WIDTH; i++) {
		dx = 0;
		for (int j = 0; j < HIDDEN; j++) {
			dx += p->dh[row][j] * w1[i * HIDDEN + j];
			g[parameter_offset(PARAMETER_W1) + i * HIDDEN + j] +=
				p->x[row][i] * p->dh[row][j];
		}
		for (int t = 0; t < WORDS; t++)
			g[parameter_offset(PARAMETER_TABLE) + ids[row * WORDS + t] * WIDTH + i] +=
				dx / WORDS;
	}
}

/* 1 if the device's gradient of one parameter is not the reference's. */
static unsigned compare_gradient(const double *want, const float *got, enum parameter which,
				 int step)
{
	const struct parameter_shape *s = &parameter_shapes[which];
	unsigned first = parameter_offset(which), count = s->rows * s->pitch;
	double largest = 0, worst = 0;

	for (unsigned i = first; i < first + count; i++) {
		double difference = fabs(want[i] - got[i]);

		largest = fmax(largest, fabs(want[i]));
		if (!(difference <= worst)) /* NaN stays */
			worst = difference;
	}
	if (worst <= GRADIENT_TOLERANCE * largest)
		return 0;
	fprintf(stderr, "train: step %d: gradient of %s is off by %g, its largest element is %g\n",
		step, s->name, worst, largest);
	return 1;
}

/* 1 if Adam's result is not what the device's own gradients give. */
static unsigned compare_update(const struct reference_state *before, const float *gradients,
			       const float *after, int step)
{
	double c1 = 1 - pow(ADAM_BETA1, step), c2 = 1 - pow(ADAM_BETA2, step), worst = 0;

	for (unsigned i = 0; i < PARAMETER_ELEMENTS; i++) {
		double g = gradients[i], want = before->parameters[i];
		double m = ADAM_BETA1 * (double)before->moment1[i] + (1 - (double)ADAM_BETA1) * g;
		double v =
			ADAM_BETA2 * (double)before->moment2[i] + (1 - (double)ADAM_BETA2) * g * g;
		double difference;

		want -= ADAM_RATE * (m / c1) / (sqrt(v / c2) + (double)ADAM_EPSILON);
		difference = fabs(want - after[i]);
		if (!(difference <= worst))
			worst = difference;
	}
	if (worst <= PARAMETER_TOLERANCE)
		return 0;
	fprintf(stderr, "train: step %d: a parameter is off by %g after the update\n", step, worst);
	return 1;
}

unsigned reference_check(const struct reference_state *before, const struct model *m,
			 const int32_t *ids, const int32_t *labels, int step, double loss)
{
	struct pass *p = calloc(1, sizeof *p);
	float *gradients = read_flat(m->gradients), *after = read_flat(m->parameters);
	unsigned faults = 0;

	if (!p)
		die("out of memory");
	for (int row = 0; row < ROWS; row++) {
		forward_hidden(p, before->parameters, ids, row);
		forward_classes(p, before->parameters, labels[row], row);
		backward_norm(p, before->parameters, row);
		backward_words(p, before->parameters, ids, row);
	}
	if (!(fabs(p->loss - loss) <= LOSS_TOLERANCE * p->loss)) {
		fprintf(stderr, "train: step %d: loss %.9g, reference %.9g\n", step, loss, p->loss);
		faults++;
	}
	for (unsigned i = 0; i < PARAMETER_COUNT; i++)
		faults += compare_gradient(p->gradients, gradients, i, step);
	faults += compare_update(before, gradients, after, step);
	free(p);
	free(gradients);
	free(after);
	return faults;
}
