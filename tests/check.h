/* SPDX-License-Identifier: MIT */
/* A call of the driver that must succeed, in programs that tests run. */
#ifndef TESTS_CHECK_H
#define TESTS_CHECK_H

#include <stdio.h>
#include <stdlib.h>

/* Else the program ends with status 3, and says where. */
#define CHECK(call)                                                                             \
	do {                                                                                    \
		CUresult r_ = (call);                                                           \
		if (r_ != CUDA_SUCCESS) {                                                       \
			fprintf(stderr, "%s:%d: %s: %d\n", __FILE__, __LINE__, #call, (int)r_); \
			exit(3);                                                                \
		}                                                                               \
	} while (0)

#endif
