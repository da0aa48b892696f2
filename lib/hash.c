/* SPDX-License-Identifier: MIT */
/* XXH3-128 from xxhash.h, compiled in so that the shim needs no libxxhash at run time. */
#include "kernelab/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_HASH_AVX2
#include "lib/hash_avx2.h"
#endif

#define XXH_INLINE_ALL
#include <xxhash.h>

struct hash_state {
	XXH3_state_t xxh;
};

static struct hash128 from_xxh(XXH128_hash_t h)
{
	return (struct hash128){.high = h.high64, .low = h.low64};
}

/* Below this the call costs more than it saves. */
#define AVX2_LEAST_BYTES 1024u

struct hash128 hash_bytes(const void *data, size_t size)
{
#ifdef HAVE_HASH_AVX2
	if (size >= AVX2_LEAST_BYTES && __builtin_cpu_supports("avx2"))
		return hash_bytes_avx2(data, size);
#endif
	return from_xxh(XXH3_128bits(data ? data : "", size));
}

int hash_compare(struct hash128 a, struct hash128 b)
{
	if (a.high != b.high)
		return a.high < b.high ? -1 : 1;
	if (a.low != b.low)
		return a.low < b.low ? -1 : 1;
	return 0;
}

static char *put_hex(char *to, uint64_t v)
{
	for (int shift = 60; shift >= 0; shift -= 4)
		*to++ = "0123456789abcdef"[(v >> shift) & 15];
	return to;
}

char *hash_text(struct hash128 h, char *text)
{
	char *p = put_hex(text, h.high);

	p = put_hex(p, h.low);
	*p = 0;
	return text;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

int hash_parse(const char *text, struct hash128 *h)
{
	uint64_t part[2] = {0, 0};

	for (int i = 0; i < 32; i++) {
		int digit = hex_digit(text[i]);

		if (digit < 0)
			return -EINVAL;
		part[i / 16] = part[i / 16] << 4 | (uint64_t)digit;
	}
	if (text[32])
		return -EINVAL;
	*h = (struct hash128){.high = part[0], .low = part[1]};
	return 0;
}

struct hash_state *hash_state_new(void)
{
	struct hash_state *s = NULL;

	/* XXH3's state wants 64-byte alignment, which malloc does not give. */
	if (posix_memalign((void **)&s, 64, (sizeof(*s) + 63) / 64 * 64))
		return NULL;
	memset(s, 0, sizeof(*s));
	XXH3_128bits_reset(&s->xxh);
	return s;
}

void hash_state_free(struct hash_state *s)
{
	free(s);
}

void hash_state_add(struct hash_state *s, const void *data, size_t size)
{
	if (size)
		XXH3_128bits_update(&s->xxh, data, size);
}

void hash_state_add_text(struct hash_state *s, const char *text)
{
	if (!text)
		text = "";
	hash_state_add(s, text, strlen(text) + 1);
}

struct hash128 hash_state_end(const struct hash_state *s)
{
	return from_xxh(XXH3_128bits_digest(&s->xxh));
}
