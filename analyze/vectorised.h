/* SPDX-License-Identifier: MIT */
/* Loops over elements that are built for several instruction sets. */
#ifndef ANALYZE_VECTORISED_H
#define ANALYZE_VECTORISED_H

/*
 * A function so marked is built once for each instruction set named; which one runs is decided when
 * the program starts. Fused multiply-add is off (-ffp-contract=off), so that only the order of sums
 * depends on the machine. gcc only: clang 14 gives the chooser a name that other files do not find.
 */
#define VECTORISED
#if defined(__x86_64__) && defined(__has_attribute) && !defined(__clang__)
#if __has_attribute(target_clones)
#undef VECTORISED
#define VECTORISED __attribute__((target_clones("avx512f", "avx2", "default")))
#endif
#endif

#endif
