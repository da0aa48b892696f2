/* SPDX-License-Identifier: MIT */
/* Lays a table out in device memory, and brings what is needed of it. */
#include "shim/bitmaps.h"

#include <stdlib.h>
#include <string.h>

#include "shim/budget.h"
#include "shim/hooks.h"
#include "shim/pieces.h"

#define TABLE_BYTES_MAX (256u << 20) /* bitmaps of 16 GiB of regions */
/* Less is copied in the time of another kernel and another copy. */
#define PIECES_LEAST 256u
#define ALIGNMENT    256u

static uint64_t align(uint64_t n, uint64_t to)
{
	return (n + to - 1) / to * to;
}

const char *bitmaps_init(struct bitmaps *b, const struct ptx_span *spans, size_t count)
{
	uint64_t bits, front;

	b->table_bytes = ptx_table_bytes(spans, count, TABLE_BYTES_MAX, &b->head_bytes);
	if (!b->table_bytes)
		return "its regions are larger than 16 GiB";
	bits = b->table_bytes - b->head_bytes;
	front = b->table_bytes;
	b->device_bytes = b->table_bytes;
	if (bits >= PIECES_LEAST * PTX_PIECE_BYTES) {
		b->piece_count = (bits + PTX_PIECE_BYTES - 1) / PTX_PIECE_BYTES;
		b->kinds_bytes = align(b->piece_count, ALIGNMENT);
		front = b->kinds_bytes + b->head_bytes;
		b->device_bytes = front + b->piece_count * PTX_PIECE_BYTES;
	}
	if (!budget_take(front))
		return "no host memory for bitmaps (KERNELAB_HOST_MEMORY)";
	b->budget = front;
	b->front = malloc(front);
	return b->front ? NULL : "no host memory for bitmaps";
}

CUresult bitmaps_upload(struct bitmaps *b, const struct ptx_span *spans, size_t count,
			CUdeviceptr device, CUdeviceptr symbol, CUstream stream)
{
	CUdeviceptr table = device + b->kinds_bytes;
	CUresult r;

	b->device = device;
	ptx_table_fill(b->front + b->kinds_bytes, table, spans, count);
	r = real.cuMemsetD8Async(device, 0, b->device_bytes, stream);
	if (r == CUDA_SUCCESS)
		r = real.cuMemcpyHtoDAsync_v2(table, b->front + b->kinds_bytes, b->head_bytes,
					      stream);
	if (r == CUDA_SUCCESS)
		r = real.cuMemcpyHtoDAsync_v2(symbol, &table, sizeof(table), stream);
	return r;
}

CUresult bitmaps_look(struct bitmaps *b, CUfunction pieces, CUstream stream)
{
	if (!b->piece_count)
		return CUDA_SUCCESS;
	if (!pieces)
		return real.cuMemsetD8Async(b->device, PTX_PIECE_MIXED, b->piece_count, stream);
	return pieces_look(pieces, b->device + b->kinds_bytes + b->head_bytes, b->piece_count,
			   b->device, stream);
}

static CUresult copy(void *to, CUdeviceptr from, uint64_t bytes, CUstream stream)
{
	CUresult r = real.cuMemcpyDtoHAsync_v2(to, from, bytes, stream);

	return r == CUDA_SUCCESS ? real.cuStreamSynchronize(stream) : r;
}

/* Of the pieces that are not of one kind. */
static CUresult bring(struct bitmaps *b, CUstream stream)
{
	CUdeviceptr from = b->device + b->kinds_bytes + b->head_bytes;
	uint8_t *to = b->bits;
	CUresult r = CUDA_SUCCESS;

	for (size_t i = 0; r == CUDA_SUCCESS && i < b->pieces.run_count; i++) {
		const struct ptx_piece_run *run = &b->pieces.runs[i];
		uint64_t bytes = (uint64_t)run->count * PTX_PIECE_BYTES;

		r = real.cuMemcpyDtoHAsync_v2(to, from + (CUdeviceptr)run->first * PTX_PIECE_BYTES,
					      bytes, stream);
		to += bytes;
	}
	return r == CUDA_SUCCESS ? real.cuStreamSynchronize(stream) : r;
}

CUresult bitmaps_read(struct bitmaps *b, CUstream stream, const char **why)
{
	uint64_t bytes = b->piece_count ? b->kinds_bytes + b->head_bytes : b->table_bytes;
	CUresult r = copy(b->front, b->device, bytes, stream);

	*why = "reading its bitmaps";
	if (r != CUDA_SUCCESS || !b->piece_count)
		return r;
	*why = "host memory for its bitmaps";
	if (ptx_pieces_plan(&b->pieces, (const uint8_t *)b->front, b->piece_count) < 0)
		return CUDA_ERROR_OUT_OF_MEMORY;
	bytes = (uint64_t)b->pieces.brought * PTX_PIECE_BYTES;
	if (!budget_take(bytes))
		return CUDA_ERROR_OUT_OF_MEMORY;
	b->budget += bytes;
	b->bits = malloc(bytes + 1);
	if (!b->bits)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*why = "reading its bitmaps";
	return bring(b, stream);
}

struct ptx_table bitmaps_head(const struct bitmaps *b)
{
	struct ptx_table table;

	memcpy(&table, b->front + b->kinds_bytes, sizeof(table));
	return table;
}

struct ptx_bitmaps bitmaps_view(const struct bitmaps *b)
{
	if (b->piece_count)
		return (struct ptx_bitmaps){b->bits, b->pieces.where};
	return (struct ptx_bitmaps){(const uint8_t *)b->front + b->head_bytes, NULL};
}

void bitmaps_free(struct bitmaps *b)
{
	free(b->front);
	free(b->bits);
	ptx_pieces_free(&b->pieces);
	budget_give(b->budget);
	*b = (struct bitmaps){0};
}
