/* SPDX-License-Identifier: MIT */
/* Memory, data, forward pass, backward pass and update of the client's network. */
#include "tests/apps/model.h"

#include <math.h>
#include <stdlib.h>

#include "tests/apps/matmul.h"

enum { SEGMENT_BYTES = 2 << 20, ROUND_BYTES = 512 };

const struct parameter_shape parameter_shapes[PARAMETER_COUNT] = {
#define P(name, rows, columns, pitch) {#name, rows, columns, pitch},
	PARAMETERS(P)
#undef P
};

unsigned parameter_offset(enum parameter which)
{
	unsigned offset = 0;

	for (unsigned i = 0; i < which; i++)
		offset += parameter_shapes[i].rows * parameter_shapes[i].pitch;
	return offset;
}

CUdeviceptr parameter_at(CUdeviceptr flat, enum parameter which)
{
	return flat + 4 * parameter_offset(which);
}

static CUdeviceptr allocate(struct pool *pool, size_t bytes)
{
	CUdeviceptr at;

	if (!pool->segment) {
		/* As in a long run, memory holds something before it is first written. */
		CHECK(cuMemAlloc_v2(&pool->segment, SEGMENT_BYTES));
		CHECK(cuMemsetD8Async(pool->segment, 0xa5, SEGMENT_BYTES, cu.stream));
		CHECK(cuStreamSynchronize(cu.stream));
	}
	at = pool->segment + pool->used_bytes;
	pool->used_bytes += (bytes + ROUND_BYTES - 1) / ROUND_BYTES * ROUND_BYTES;
	if (pool->used_bytes > SEGMENT_BYTES)
		die("a segment is too small");
	return at;
}

/* Knuth's MMIX generator: the same numbers on every machine. */
static uint32_t random_bits(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*state >> 33);
}

static float random_real(uint64_t *state, float scale)
{
	return scale * ((float)random_bits(state) / 1073741824.0f - 1.0f);
}

static void fill_parameters(struct model *m)
{
	static const float scales[PARAMETER_COUNT] = {
		[PARAMETER_W2] = 0.15f, [PARAMETER_W1] = 0.2f,  [PARAMETER_TABLE] = 1.0f,
		[PARAMETER_B2] = 0.05f, [PARAMETER_B1] = 0.05f, [PARAMETER_GAMMA] = 0.1f,
		[PARAMETER_BETA] = 0.1f};
	float *host = calloc(PARAMETER_ELEMENTS, sizeof *host), *at = host;
	uint64_t state = 2026;

	if (!host)
		die("out of memory");
	for (unsigned p = 0; p < PARAMETER_COUNT; p++) {
		const struct parameter_shape *s = &parameter_shapes[p];

		for (unsigned r = 0; r < s->rows; r++, at += s->pitch)
			for (unsigned c = 0; c < s->columns; c++)
				at[c] = random_real(&state, scales[p]) + (p == PARAMETER_GAMMA);
	}
	write_to(m->parameters, host, PARAMETER_ELEMENTS * sizeof *host);
	free(host);
}

/* A row's class follows from its first word; the other words are noise. */
static void fill_data(struct model *m, int32_t *ids, int32_t *labels)
{
	uint64_t state = 7;

	for (int row = 0; row < ROWS; row++) {
		for (int t = 0; t < WORDS; t++)
			ids[row * WORDS + t] = (int32_t)(random_bits(&state) % VOCABULARY);
		labels[row] = ids[row * WORDS] % CLASSES;
	}
	write_to(m->ids, ids, ROWS * WORDS * sizeof *ids);
	write_to(m->labels, labels, ROWS * sizeof *labels);
}

void model_create(struct model *m, struct kernel_set *kernels, int pinned_config, int32_t *ids,
		  int32_t *labels)
{
	*m = (struct model){.kernels = kernels, .pinned_config = pinned_config};
#define B(name, bytes, pool) m->name = allocate(&m->pools[pool], bytes);
	BUFFERS(B)
#undef B
	fill_parameters(m);
	fill_data(m, ids, labels);
	/* Rows' padding has no gradient, and its parameters stay zero. */
	CHECK(cuMemsetD8Async(m->gradients, 0, PARAMETER_ELEMENTS * 4, cu.stream));
	CHECK(cuMemsetD8Async(m->moment1, 0, PARAMETER_ELEMENTS * 4, cu.stream));
	CHECK(cuMemsetD8Async(m->moment2, 0, PARAMETER_ELEMENTS * 4, cu.stream));
}

void model_destroy(struct model *m)
{
	for (unsigned i = 0; i < POOLS; i++)
		CHECK(cuMemFree_v2(m->pools[i].segment));
}

/* One block for each run of `blocks[0]` elements. */
static void launch_flat(struct model *m, const char *entry, const struct arguments *a, int total)
{
	struct kernel_image *image = kernel_find(m->kernels, entry, a, 0);
	unsigned block = image ? image->blocks[0] : 1;

	kernel_launch(image, a, ((unsigned)total + block - 1) / block, 1, LAUNCH_EX);
}

static void launch_rows(struct model *m, const char *entry, const struct arguments *a, int rows)
{
	kernel_launch(kernel_find(m->kernels, entry, a, 0), a, (unsigned)rows, 1, LAUNCH_EX);
}

/* Puts pointers first, then integers: the order that all kernels but adam follow. */
static struct arguments arguments_of(unsigned pointers, const CUdeviceptr *p, unsigned integers,
				     const int32_t *n)
{
	struct arguments a = {0};

	for (unsigned i = 0; i < pointers; i++)
		put_pointer(&a, p[i]);
	for (unsigned i = 0; i < integers; i++)
		put_integer(&a, n[i]);
	return a;
}

#define COUNT(type, ...) (sizeof((type[]){__VA_ARGS__}) / sizeof(type))
#define POINTERS(...)                                          \
	COUNT(CUdeviceptr, __VA_ARGS__), (const CUdeviceptr[]) \
	{                                                      \
		__VA_ARGS__                                    \
	}
#define INTEGERS(...)                                  \
	COUNT(int32_t, __VA_ARGS__), (const int32_t[]) \
	{                                              \
		__VA_ARGS__                            \
	}
#define ARGUMENTS(...)    arguments_of(__VA_ARGS__)
#define MATRIX(at, pitch) ((struct matrix){at, pitch})

static void embed(struct model *m)
{
	CUdeviceptr table = parameter_at(m->parameters, PARAMETER_TABLE);
	struct arguments a;

	a = ARGUMENTS(POINTERS(table, m->table), INTEGERS(VOCABULARY * WIDTH));
	launch_flat(m, "cast_bf16", &a, VOCABULARY * WIDTH);
	/* The vectors' copy is what a checkpoint would hold; their address is not aligned. */
	a = ARGUMENTS(POINTERS(parameter_at(m->parameters, PARAMETER_B1), m->vectors),
		      INTEGERS(VECTORS));
	launch_flat(m, "cast_bf16", &a, VECTORS);
	a = ARGUMENTS(POINTERS(m->table, m->ids, m->x), INTEGERS(WORDS, WIDTH));
	launch_rows(m, "embed_fwd", &a, ROWS);
}

static void normalise(struct model *m)
{
	struct arguments a;

	a = ARGUMENTS(POINTERS(m->h, parameter_at(m->parameters, PARAMETER_B1), m->act),
		      INTEGERS(ROWS * HIDDEN, HIDDEN));
	launch_flat(m, "bias_gelu", &a, ROWS * HIDDEN);
	a = ARGUMENTS(POINTERS(m->act, parameter_at(m->parameters, PARAMETER_GAMMA),
			       parameter_at(m->parameters, PARAMETER_BETA), m->y, m->mean, m->rstd),
		      INTEGERS(HIDDEN));
	put_real(&a, NORM_EPSILON);
	launch_rows(m, "layernorm_fwd", &a, ROWS);
}

static void classify(struct model *m)
{
	CUdeviceptr bias = parameter_at(m->parameters, PARAMETER_B2);
	struct arguments a;

	a = ARGUMENTS(POINTERS(m->logits, bias, m->labels, m->loss, m->lse),
		      INTEGERS(CLASSES, CLASS_PITCH));
	launch_rows(m, "softmax_xent", &a, ROWS);
	a = ARGUMENTS(POINTERS(m->logits, bias, m->best), INTEGERS(CLASSES, CLASS_PITCH));
	launch_rows(m, "predict", &a, ROWS);
	CHECK(cuMemsetD8Async(m->loss_total, 0, 4, cu.stream));
	a = ARGUMENTS(POINTERS(m->loss, m->loss_total), INTEGERS(ROWS));
	launch_flat(m, "loss_sum", &a, ROWS);
}

void model_forward(struct model *m)
{
	embed(m);
	matmul(m, MATRIX(m->x, WIDTH), MATRIX(parameter_at(m->parameters, PARAMETER_W1), HIDDEN),
	       MATRIX(m->h, HIDDEN), ROWS, HIDDEN, WIDTH);
	normalise(m);
	matmul(m, MATRIX(m->y, HIDDEN),
	       MATRIX(parameter_at(m->parameters, PARAMETER_W2), CLASS_PITCH),
	       MATRIX(m->logits, CLASS_PITCH), ROWS, CLASSES, HIDDEN);
	classify(m);
}

void model_read_result(struct model *m, const int32_t *labels, struct step_result *result)
{
	float loss[ROWS];
	int32_t best[ROWS];

	read_back(loss, m->loss, sizeof loss);
	read_back(best, m->best, sizeof best);
	read_back(&result->loss_total, m->loss_total, sizeof result->loss_total);
	result->loss = 0;
	result->right = 0;
	for (int row = 0; row < ROWS; row++) {
		result->loss += (double)loss[row] / ROWS;
		result->right += best[row] == labels[row];
	}
}

static void transpose(struct model *m, struct matrix x, struct matrix y, int rows, int columns)
{
	struct arguments a =
		ARGUMENTS(POINTERS(x.data, y.data), INTEGERS(rows, columns, x.pitch, y.pitch));
	struct kernel_image *image = kernel_find(m->kernels, "transpose", &a, 0);

	if (!image)
		die("no transpose fits the arguments");
	kernel_launch(image, &a, ((unsigned)rows + image->blocks[0] - 1) / image->blocks[0],
		      ((unsigned)columns + image->blocks[1] - 1) / image->blocks[1], LAUNCH_EX);
}

static void column_sum(struct model *m, struct matrix x, enum parameter gradient, int columns)
{
	struct arguments a = ARGUMENTS(POINTERS(x.data, parameter_at(m->gradients, gradient)),
				       INTEGERS(ROWS, columns, x.pitch));
	struct kernel_image *image = kernel_find(m->kernels, "column_sum", &a, 0);

	if (!image)
		die("no column_sum fits the arguments");
	kernel_launch(image, &a, ((unsigned)columns + image->blocks[1] - 1) / image->blocks[1], 1,
		      LAUNCH_EX);
}

/* Gradients of w2, b2 and y from those of the logits. */
static void backward_classes(struct model *m)
{
	struct matrix w2 = {parameter_at(m->parameters, PARAMETER_W2), CLASS_PITCH};
	struct matrix dw2 = {parameter_at(m->gradients, PARAMETER_W2), CLASS_PITCH};
	struct matrix dlogits = {m->dlogits, CLASS_PITCH};
	struct arguments a;

	a = ARGUMENTS(POINTERS(m->logits, parameter_at(m->parameters, PARAMETER_B2), m->labels,
			       m->lse, m->dlogits),
		      INTEGERS(CLASSES, CLASS_PITCH));
	put_real(&a, 1.0f / ROWS);
	launch_rows(m, "xent_bwd", &a, ROWS);
	column_sum(m, dlogits, PARAMETER_B2, CLASSES);
	transpose(m, MATRIX(m->y, HIDDEN), MATRIX(m->yt, ROW_PITCH), ROWS, HIDDEN);
	matmul(m, MATRIX(m->yt, ROW_PITCH), dlogits, dw2, HIDDEN, CLASSES, ROWS);
	transpose(m, w2, MATRIX(m->w2t, HIDDEN), HIDDEN, CLASSES);
	matmul(m, dlogits, MATRIX(m->w2t, HIDDEN), MATRIX(m->dy, HIDDEN), ROWS, HIDDEN, CLASSES);
}

/* Gradients of gamma, beta, b1 and h from that of y. */
static void backward_norm(struct model *m)
{
	struct arguments a;

	a = ARGUMENTS(POINTERS(m->dy, m->act, parameter_at(m->parameters, PARAMETER_GAMMA), m->mean,
			       m->rstd, m->dact, m->xhat_dy),
		      INTEGERS(HIDDEN));
	launch_rows(m, "layernorm_bwd", &a, ROWS);
	column_sum(m, MATRIX(m->xhat_dy, HIDDEN), PARAMETER_GAMMA, HIDDEN);
	column_sum(m, MATRIX(m->dy, HIDDEN), PARAMETER_BETA, HIDDEN);
	a = ARGUMENTS(POINTERS(m->h, parameter_at(m->parameters, PARAMETER_B1), m->dact, m->dh),
		      INTEGERS(ROWS * HIDDEN, HIDDEN));
	launch_flat(m, "gelu_bwd", &a, ROWS * HIDDEN);
	column_sum(m, MATRIX(m->dh, HIDDEN), PARAMETER_B1, HIDDEN);
}

/* Gradients of w1 and the table from that of h. */
static void backward_words(struct model *m)
{
	struct matrix w1 = {parameter_at(m->parameters, PARAMETER_W1), HIDDEN};
	struct matrix dw1 = {parameter_at(m->gradients, PARAMETER_W1), HIDDEN};
	struct matrix dh = {m->dh, HIDDEN};
	struct arguments a;

	transpose(m, MATRIX(m->x, WIDTH), MATRIX(m->xt, ROW_PITCH), ROWS, WIDTH);
	matmul(m, MATRIX(m->xt, ROW_PITCH), dh, dw1, WIDTH, HIDDEN, ROWS);
	transpose(m, w1, MATRIX(m->w1t, WIDTH), WIDTH, HIDDEN);
	matmul(m, dh, MATRIX(m->w1t, WIDTH), MATRIX(m->dx, WIDTH), ROWS, WIDTH, HIDDEN);
	a = ARGUMENTS(POINTERS(m->dx, m->ids, parameter_at(m->gradients, PARAMETER_TABLE)),
		      INTEGERS(ROWS, WORDS, WIDTH));
	launch_rows(m, "embed_bwd", &a, VOCABULARY);
}

void model_backward(struct model *m)
{
	backward_classes(m);
	backward_norm(m);
	backward_words(m);
}

struct kernel_image *model_update_arguments(struct model *m, int step, struct arguments *a)
{
	struct kernel_image *image;

	*a = ARGUMENTS(POINTERS(m->parameters, m->gradients, m->moment1, m->moment2),
		       INTEGERS(PARAMETER_ELEMENTS));
	put_real(a, ADAM_RATE);
	put_real(a, ADAM_BETA1);
	put_real(a, ADAM_BETA2);
	put_real(a, (float)(1.0 / (1.0 - pow(ADAM_BETA1, step))));
	put_real(a, (float)(1.0 / (1.0 - pow(ADAM_BETA2, step))));
	put_real(a, ADAM_EPSILON);
	image = kernel_find(m->kernels, "adam", a, 0);
	if (!image)
		die("no adam fits the arguments");
	return image;
}

void model_update(struct model *m, int step)
{
	struct arguments a;
	struct kernel_image *image = model_update_arguments(m, step, &a);

	kernel_launch(image, &a, (PARAMETER_ELEMENTS + image->blocks[0] - 1) / image->blocks[0], 1,
		      LAUNCH_CLASSIC);
}
