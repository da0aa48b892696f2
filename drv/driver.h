/* SPDX-License-Identifier: MIT */
/* The driver as a struct of typed function pointers, filled from a library or through a resolver.
 */
#ifndef DRV_DRIVER_H
#define DRV_DRIVER_H

#include <stdbool.h>

#include "drv/entries.h"
#include "kernelab/error.h"

struct driver {
	void *library; /* dlopen handle; NULL where driver_fill was used */
#define E(symbol, need, use) __typeof__(symbol) *symbol;
	DRIVER_ENTRIES(E)
#undef E
};

/* Names, in the table's order. Static storage. */
const char *driver_entry_name(enum driver_entry e);
bool driver_entry_required(enum driver_entry e);
bool driver_entry_wrapped(enum driver_entry e);
/* The pointer of entry e in d, NULL where it is missing. */
void *driver_entry_address(const struct driver *d, enum driver_entry e);

/*
 * Fills every pointer by resolve(name, data) (a real dlsym). -ENOSYS with err naming the first
 * REQUIRED entry that is missing; what is missing becomes NULL, and all that is there is filled
 * even then. Does not call the driver.
 */
int driver_fill(struct driver *d, void *(*resolve)(const char *name, void *data), void *data,
		struct error *err);

/* dlopen(path, RTLD_NOW | RTLD_LOCAL) and driver_fill. -ENOENT where the library is not there. */
int driver_open(struct driver *d, const char *path, struct error *err);
void driver_close(struct driver *d);

/* "CUDA_ERROR_INVALID_VALUE (invalid argument)": static or driver-owned text in buf. */
const char *driver_error_text(const struct driver *d, CUresult result, char *buf, size_t size);

#endif
