/* SPDX-License-Identifier: MIT */
/* The hash on the CPU. */
#include "shim/nh.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "kernelab/hash.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

static struct nh_keys keys;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Without a source of random numbers: from what differs between processes. */
static void derive(unsigned char *to, size_t size)
{
	struct {
		struct timespec now;
		pid_t pid;
		const void *address;
		uint64_t counter;
	} seed;

	memset(&seed, 0, sizeof(seed));
	clock_gettime(CLOCK_REALTIME, &seed.now);
	seed.pid = getpid();
	seed.address = &seed;
	for (size_t at = 0; at < size; at += sizeof(struct hash128), seed.counter++) {
		struct hash128 h = hash_bytes(&seed, sizeof(seed));

		memcpy(to + at, &h, size - at < sizeof(h) ? size - at : sizeof(h));
	}
}

static void make_keys(void)
{
	unsigned char *to = (unsigned char *)&keys;
	size_t done = 0;

	while (done < sizeof(keys)) {
		ssize_t n = getrandom(to + done, sizeof(keys) - done, GRND_NONBLOCK);

		if (n <= 0)
			break;
		done += (size_t)n;
	}
	if (done < sizeof(keys))
		derive(to + done, sizeof(keys) - done);
}

const struct nh_keys *nh_keys(void)
{
	pthread_once(&once, make_keys);
	return &keys;
}

/* ---- columns ---- */

static void add_vector(uint64_t sums[4], const uint32_t m[4], const uint32_t *k)
{
	for (unsigned i = 0; i < 4; i++, k += 2)
		sums[i] += (uint64_t)(m[0] + k[0]) * (m[1] + k[1]) +
			   (uint64_t)(m[2] + k[2]) * (m[3] + k[3]);
}

/* Keys of row j, for a vector's four words and the three shifts. */
static const uint32_t *row_keys(unsigned j)
{
	return &keys.first[2 + 4 * j];
}

/* Columns column … column + 3 over `rows` whole rows of 256 vectors. */
static void add_columns(uint64_t sums[4][4], const unsigned char *data, unsigned rows)
{
	for (unsigned j = 0; j < rows; j++)
		for (unsigned c = 0; c < 4; c++) {
			uint32_t m[4];

			memcpy(m, data + (size_t)j * NH_COLUMNS * 16 + (size_t)c * 16, sizeof(m));
			add_vector(sums[c], m, row_keys(j));
		}
}

#ifdef __x86_64__
/* The low and the high half of each 64-bit lane are a pair of words. */
__attribute__((target("avx2"))) static void add_columns_avx2(uint64_t sums[4][4],
							     const unsigned char *data,
							     unsigned rows)
{
	__m256i low[4], high[4]; /* of shift i: columns 0 and 1, columns 2 and 3 */
	uint64_t lanes[4];

	for (unsigned i = 0; i < 4; i++)
		low[i] = high[i] = _mm256_setzero_si256();
	for (unsigned j = 0; j < rows; j++, data += (size_t)NH_COLUMNS * 16) {
		__m256i a = _mm256_loadu_si256((const __m256i *)data);
		__m256i b = _mm256_loadu_si256((const __m256i *)(data + 32));

		for (unsigned i = 0; i < 4; i++) {
			__m256i k = _mm256_broadcastsi128_si256(
				_mm_loadu_si128((const __m128i *)(row_keys(j) + 2 * i)));
			__m256i x = _mm256_add_epi32(a, k), y = _mm256_add_epi32(b, k);

			low[i] = _mm256_add_epi64(low[i],
						  _mm256_mul_epu32(x, _mm256_srli_epi64(x, 32)));
			high[i] = _mm256_add_epi64(high[i],
						   _mm256_mul_epu32(y, _mm256_srli_epi64(y, 32)));
		}
	}
	for (unsigned i = 0; i < 4; i++) {
		_mm256_storeu_si256((__m256i *)lanes, low[i]);
		sums[0][i] += lanes[0] + lanes[1];
		sums[1][i] += lanes[2] + lanes[3];
		_mm256_storeu_si256((__m256i *)lanes, high[i]);
		sums[2][i] += lanes[0] + lanes[1];
		sums[3][i] += lanes[2] + lanes[3];
	}
}
#endif

typedef void columns_function(uint64_t sums[4][4], const unsigned char *data, unsigned rows);

static columns_function *best_columns(void)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("avx2"))
		return add_columns_avx2;
#endif
	return add_columns;
}

/* The vectors behind the last whole row: at most 256, the last one may be shorter. */
static void add_rest(uint64_t sums[][4], const unsigned char *data, uint32_t bytes, unsigned row)
{
	for (uint32_t at = 0; at < bytes; at += 16) {
		uint32_t m[4] = {0};

		memcpy(m, data + at, bytes - at < 16 ? bytes - at : 16);
		add_vector(sums[at / 16], m, row_keys(row));
	}
}

struct nh nh_hash(const void *data, uint32_t bytes)
{
	columns_function *columns = best_columns();
	const uint32_t row_bytes = NH_COLUMNS * 16;
	unsigned rows = bytes / row_bytes;
	uint64_t sums[NH_COLUMNS][4];
	struct nh out = {{0}};

	nh_keys();
	memset(sums, 0, sizeof(sums));
	for (unsigned t = 0; rows && t < NH_COLUMNS; t += 4)
		columns(&sums[t], (const unsigned char *)data + (size_t)t * 16, rows);
	add_rest(sums, (const unsigned char *)data + (size_t)rows * row_bytes,
		 bytes - rows * row_bytes, rows);
	for (unsigned t = 0; t < NH_COLUMNS; t++)
		for (unsigned p = 0; p < 4; p++)
			for (unsigned i = 0; i < 4; i++) {
				const uint32_t *k = &keys.second[8 * t + 2 * p + 2 * i];

				out.sums[i] += (uint64_t)((uint32_t)sums[t][p] + k[0]) *
					       ((uint32_t)(sums[t][p] >> 32) + k[1]);
			}
	return out;
}
