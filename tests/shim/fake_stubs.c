/* SPDX-License-Identifier: MIT */
/* Every row of the driver table as an exported function that does nothing: the rest of the fake. */
#include "drv/entries.h"

/* Weak, so that fake_driver.c can put its own in their place; each has an address of its own. */
#if defined(__x86_64__)
#define RETURN_ZERO "xorl %eax, %eax\n\tret\n"
#elif defined(__aarch64__)
#define RETURN_ZERO "mov w0, #0\n\tret\n"
#endif

#define E(symbol, need, use)                                                       \
	__asm__(".text\n.weak " #symbol "\n.type " #symbol ", %function\n" #symbol \
		":\n\t" RETURN_ZERO ".size " #symbol ", . - " #symbol "\n");
DRIVER_ENTRIES(E)
