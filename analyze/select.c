/* SPDX-License-Identifier: MIT */
/* The k-th smallest of some numbers, by Hoare's selection (1961). */
#include "analyze/select.h"

double select_value(double *x, size_t n, size_t k)
{
	size_t low = 0, high = n - 1;

	while (low < high) {
		double pivot = x[low + (high - low) / 2];
		size_t i = low, j = high;

		for (;;) {
			while (x[i] < pivot)
				i++;
			while (x[j] > pivot)
				j--;
			if (i >= j)
				break;
			double swap = x[i];
			x[i++] = x[j];
			x[j--] = swap;
		}
		if (k <= j)
			high = j;
		else
			low = j + 1;
	}
	return x[k];
}
