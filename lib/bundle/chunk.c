/* SPDX-License-Identifier: MIT */
/* Zero, LZ4 and stored chunks, and the address arithmetic of chunks. */
#include "lib/bundle/chunk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <lz4.h>

#include "kernelab/bundle.h"

uint64_t chunk_count(uint64_t base, uint64_t size)
{
	uint64_t last;

	if (!size)
		return 0;
	/* base + size may be 2^64, so count by the last byte. */
	last = base + (size - 1);
	return last / CHUNK_BYTES - base / CHUNK_BYTES + 1;
}

void chunk_range(uint64_t base, uint64_t size, uint64_t index, uint64_t *address, uint32_t *bytes)
{
	uint64_t start = index ? (base / CHUNK_BYTES + index) * CHUNK_BYTES : base;
	uint64_t room = CHUNK_BYTES - start % CHUNK_BYTES;
	uint64_t left = size - (start - base);

	*address = start;
	*bytes = (uint32_t)(left < room ? left : room);
}

struct chunk_scratch *chunk_scratch_new(void)
{
	struct chunk_scratch *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->packed = malloc(CHUNK_BYTES);
	s->state = malloc((size_t)LZ4_sizeofState());
	if (!s->packed || !s->state) {
		chunk_scratch_free(s);
		return NULL;
	}
	return s;
}

void chunk_scratch_free(struct chunk_scratch *s)
{
	if (!s)
		return;
	free(s->packed);
	free(s->state);
	free(s);
}

bool chunk_is_zero(const void *data, size_t size)
{
	static const char zeros[4096];
	const char *p = data;

	while (size) {
		size_t n = size < sizeof(zeros) ? size : sizeof(zeros);

		if (memcmp(p, zeros, n) != 0)
			return false;
		p += n;
		size -= n;
	}
	return true;
}

enum chunk_codec chunk_pack(struct chunk_scratch *s, const void *data, uint32_t size,
			    const void **stored, uint32_t *stored_bytes)
{
	int n = 0;

	/* Room for one byte less than stored: LZ4 gives up where it does not gain. */
	if (size > 1)
		n = LZ4_compress_fast_extState(s->state, data, s->packed, (int)size, (int)size - 1,
					       1);
	if (n > 0) {
		*stored = s->packed;
		*stored_bytes = (uint32_t)n;
		return CHUNK_LZ4;
	}
	*stored = data;
	*stored_bytes = size;
	return CHUNK_STORED;
}

bool chunk_sizes_valid(uint32_t codec, uint32_t raw_bytes, uint64_t stored_bytes)
{
	if (!raw_bytes || raw_bytes > CHUNK_BYTES)
		return false;
	switch (codec) {
	case CHUNK_ZERO:
		return !stored_bytes;
	case CHUNK_LZ4:
		return stored_bytes && stored_bytes < raw_bytes;
	case CHUNK_STORED:
		return stored_bytes == raw_bytes;
	}
	return false;
}

int chunk_unpack(uint32_t codec, const void *stored, uint32_t stored_bytes, void *data,
		 uint32_t raw_bytes)
{
	if (!chunk_sizes_valid(codec, raw_bytes, stored_bytes))
		return -EBADMSG;
	switch (codec) {
	case CHUNK_ZERO:
		memset(data, 0, raw_bytes);
		return 0;
	case CHUNK_STORED:
		memcpy(data, stored, raw_bytes);
		return 0;
	default:
		if (LZ4_decompress_safe(stored, data, (int)stored_bytes, (int)raw_bytes) !=
		    (int)raw_bytes)
			return -EBADMSG;
		return 0;
	}
}
