/* SPDX-License-Identifier: MIT */
/* Sweeps the configs of matmul as an autotuner does and remembers the winner of a shape. */
#include "tests/apps/matmul.h"

enum { TIMED_LAUNCHES = 2 };

static void launch(struct kernel_image *image, const struct arguments *a, int rows, int columns)
{
	int bm = (int)image->blocks[0], bn = (int)image->blocks[1];
	int blocks = (rows + bm - 1) / bm * ((columns + bn - 1) / bn);

	kernel_launch(image, a, (unsigned)blocks, 1, LAUNCH_EX);
}

static float time_config(struct kernel_image *image, const struct arguments *a, int rows,
			 int columns)
{
	CUevent start, stop;
	float ms;

	launch(image, a, rows, columns);
	CHECK(cuEventCreate(&start, CU_EVENT_DEFAULT));
	CHECK(cuEventCreate(&stop, CU_EVENT_DEFAULT));
	CHECK(cuEventRecord(start, cu.stream));
	for (int i = 0; i < TIMED_LAUNCHES; i++)
		launch(image, a, rows, columns);
	CHECK(cuEventRecord(stop, cu.stream));
	CHECK(cuEventSynchronize(stop));
	CHECK(cuEventElapsedTime(&ms, start, stop));
	CHECK(cuEventDestroy_v2(start));
	CHECK(cuEventDestroy_v2(stop));
	return ms;
}

static unsigned sweep(struct model *m, const struct arguments *a, int rows, int columns)
{
	struct kernel_image *image;
	unsigned best = 0, config = 0;
	float best_ms = 0, ms;

	if (m->no_sweep)
		return (unsigned)m->pinned_config;
	for (; (image = kernel_find(m->kernels, "matmul", a, config)); config++) {
		ms = time_config(image, a, rows, columns);
		if (!config || ms < best_ms) {
			best = config;
			best_ms = ms;
		}
	}
	if (m->pinned_config < 0)
		return best;
	if ((unsigned)m->pinned_config >= config)
		die("matmul has %u configs, not one of number %d", config, m->pinned_config);
	return (unsigned)m->pinned_config;
}

void matmul(struct model *m, struct matrix a, struct matrix b, struct matrix c, int rows,
	    int columns, int depth)
{
	struct arguments args = {0};
	struct tuned *t = m->tuned, *end = m->tuned + m->tuned_count;

	put_pointer(&args, a.data);
	put_pointer(&args, b.data);
	put_pointer(&args, c.data);
	put_integer(&args, rows);
	put_integer(&args, columns);
	put_integer(&args, depth);
	put_integer(&args, a.pitch);
	put_integer(&args, b.pitch);
	put_integer(&args, c.pitch);

	while (t < end && (t->m != rows || t->n != columns || t->k != depth))
		t++;
	if (t == end) {
		if (m->tuned_count == TUNER_KEYS)
			die("more than %d matmul shapes", TUNER_KEYS);
		m->tuned_count++;
		*t = (struct tuned){rows, columns, depth, sweep(m, &args, rows, columns)};
	}
	launch(kernel_find(m->kernels, "matmul", &args, t->config), &args, rows, columns);
}
