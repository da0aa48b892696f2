/* SPDX-License-Identifier: MIT */
/* The texts for people that a result holds of configs and launches, cut into words. */
#ifndef ANALYZE_WORDS_H
#define ANALYZE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Of one text: CONFIG.options and CASE.params are of a recording, so what is beyond is left out.
 * 4 KiB of parameters are at most 512 pointers; block sizes are powers of two, of which there are
 * fewer than 64.
 */
#define WORDS_MAX  512u
#define WORD_SIZES 64u

/* "num_warps=4" or "64x32"; points into the text. */
struct word {
	const char *name, *value; /* value NULL: no '=' in it */
	int name_length, value_length;
};

/* Cuts text (may be NULL) at spaces. Number of words. All functions here are pure. */
size_t words_split(const char *text, struct word out[WORDS_MAX]);

bool words_equal(const char *x, int nx, const char *y, int ny);

/* A whole decimal number of at most 18 digits. */
bool word_whole(const char *text, int length, int64_t *out);

/* 0x… of at most 16 digits. */
bool word_address(const char *text, int length, int64_t *out);

/* Sizes in a word such as 64x32, all above 0: how many, 0 where it is no shape. */
size_t word_sizes(const struct word *w, int64_t out[WORD_SIZES]);

/*
 * The block of a matrix product a b of m×k by k×n, where the shapes among the words are just those
 * of its parts ("16x32 32x32": m 16, n 32, k 32) and only one product has them: out gets m, n, k.
 */
bool words_product(const char *options, int64_t out[3]);

#endif
