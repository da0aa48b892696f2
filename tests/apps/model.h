/* SPDX-License-Identifier: MIT */
/*
 * The network that the client trains: a bag of words classifier on the device.
 *
 *   x = mean of bf16(table)[ids]     h = x w1      act = gelu(h + b1)
 *   y = layernorm(act)               logits = y w2 loss = cross-entropy(logits + b2, labels)
 */
#ifndef TESTS_APPS_MODEL_H
#define TESTS_APPS_MODEL_H

#include "tests/apps/kernels.h"

enum {
	ROWS = 50,
	WORDS = 7,
	VOCABULARY = 203,
	WIDTH = 80,
	HIDDEN = 112,
	CLASSES = 37,
	CLASS_PITCH = 48,    /* logits and w2 have padded rows, as models pad their vocabulary */
	ROW_PITCH = 64,      /* rows of transposed activations */
	VECTORS = 3 * HIDDEN /* elements of b1, gamma and beta, which follow each other */
};

/*
 * P(name, rows, columns, pitch): one flat buffer holds all parameters, others of the same layout
 * their gradients and Adam's moments. The odd length of b2 leaves b1, gamma and beta unaligned.
 */
#define PARAMETERS(P)                       \
	P(W2, HIDDEN, CLASSES, CLASS_PITCH) \
	P(W1, WIDTH, HIDDEN, HIDDEN)        \
	P(TABLE, VOCABULARY, WIDTH, WIDTH)  \
	P(B2, 1, CLASSES, CLASSES)          \
	P(B1, 1, HIDDEN, HIDDEN)            \
	P(GAMMA, 1, HIDDEN, HIDDEN)         \
	P(BETA, 1, HIDDEN, HIDDEN)

enum parameter {
#define P(name, rows, columns, pitch) PARAMETER_##name,
	PARAMETERS(P)
#undef P
		PARAMETER_COUNT
};

struct parameter_shape {
	const char *name;
	unsigned rows, columns, pitch; /* elements */
};

extern const struct parameter_shape parameter_shapes[PARAMETER_COUNT];

/* Elements of a flat buffer. */
enum {
	PARAMETER_ELEMENTS = 0
#define P(name, rows, columns, pitch) +(rows) * (pitch)
	PARAMETERS(P)
#undef P
};

#define ADAM_RATE    0.01f
#define ADAM_BETA1   0.9f
#define ADAM_BETA2   0.999f
#define ADAM_EPSILON 1e-8f
#define NORM_EPSILON 1e-5f

/* B(name, bytes, pool): device buffers; a pool is one or more segments that hold several. */
#define BUFFERS(B)                               \
	B(parameters, PARAMETER_ELEMENTS * 4, 0) \
	B(table, VOCABULARY *WIDTH * 2, 0)       \
	B(vectors, VECTORS * 2, 0)               \
	B(gradients, PARAMETER_ELEMENTS * 4, 1)  \
	B(moment1, PARAMETER_ELEMENTS * 4, 1)    \
	B(moment2, PARAMETER_ELEMENTS * 4, 1)    \
	B(ids, ROWS *WORDS * 4, 2)               \
	B(labels, ROWS * 4, 2)                   \
	B(x, ROWS *WIDTH * 4, 2)                 \
	B(h, ROWS *HIDDEN * 4, 2)                \
	B(act, ROWS *HIDDEN * 4, 2)              \
	B(y, ROWS *HIDDEN * 4, 2)                \
	B(mean, ROWS * 4, 2)                     \
	B(rstd, ROWS * 4, 2)                     \
	B(logits, ROWS *CLASS_PITCH * 4, 2)      \
	B(loss, ROWS * 4, 2)                     \
	B(lse, ROWS * 4, 2)                      \
	B(best, ROWS * 4, 2)                     \
	B(loss_total, 4, 2)                      \
	B(dlogits, ROWS *CLASS_PITCH * 4, 3)     \
	B(yt, HIDDEN *ROW_PITCH * 4, 3)          \
	B(w2t, CLASSES *HIDDEN * 4, 3)           \
	B(dy, ROWS *HIDDEN * 4, 3)               \
	B(dact, ROWS *HIDDEN * 4, 3)             \
	B(xhat_dy, ROWS *HIDDEN * 4, 3)          \
	B(dh, ROWS *HIDDEN * 4, 3)               \
	B(xt, WIDTH *ROW_PITCH * 4, 3)           \
	B(w1t, HIDDEN *WIDTH * 4, 3)             \
	B(dx, ROWS *WIDTH * 4, 3)

enum { POOLS = 4, TUNER_KEYS = 16 };

struct pool {
	CUdeviceptr segment; /* 2 MiB, as PyTorch's small pool */
	size_t used_bytes;
};

struct tuned {
	int m, n, k;
	unsigned config;
};

struct model {
	struct kernel_set *kernels;
	int pinned_config; /* of matmul; < 0: the fastest of the sweep */
	bool no_sweep;     /* take the pinned one without trying them */
	struct tuned tuned[TUNER_KEYS];
	unsigned tuned_count;
	struct pool pools[POOLS];
#define B(name, bytes, pool) CUdeviceptr name;
	BUFFERS(B)
#undef B
};

struct step_result {
	double loss;      /* mean over the rows, added on the host */
	float loss_total; /* their sum by the device's atomics */
	unsigned right;   /* rows whose largest logit is the label's */
};

/* Allocates, fills parameters and data (the same at each call). ids and labels: host arrays. */
void model_create(struct model *m, struct kernel_set *kernels, int pinned_config, int32_t *ids,
		  int32_t *labels);
/* Frees all device memory. */
void model_destroy(struct model *m);

/* Elements before one parameter in a flat buffer, and its address there. */
unsigned parameter_offset(enum parameter which);
CUdeviceptr parameter_at(CUdeviceptr flat, enum parameter which);

/* Launches of the forward pass; its loss is read behind them. */
void model_forward(struct model *m);
void model_read_result(struct model *m, const int32_t *labels, struct step_result *result);
void model_backward(struct model *m);
/* step counts from 1. */
void model_update(struct model *m, int step);
/* The update's kernel and what it is launched with. */
struct kernel_image *model_update_arguments(struct model *m, int step, struct arguments *a);

#endif
