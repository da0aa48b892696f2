/* SPDX-License-Identifier: MIT */
/* Fills the struct of driver pointers from the one table of entries. */
#include "drv/driver.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum need { NEED_REQUIRED, NEED_OPTIONAL };
enum use { USE_WRAPPED, USE_CALLED };

struct entry_row {
	const char *name;
	size_t offset; /* of its pointer in struct driver */
	enum need need;
	enum use use;
};

#define ROW(symbol, need, use) {#symbol, offsetof(struct driver, symbol), NEED_##need, USE_##use},

static const struct entry_row rows[DRIVER_ENTRY_COUNT] = {DRIVER_ENTRIES(ROW)};

const char *driver_entry_name(enum driver_entry e)
{
	return (unsigned)e < DRIVER_ENTRY_COUNT ? rows[e].name : "?";
}

bool driver_entry_required(enum driver_entry e)
{
	return (unsigned)e < DRIVER_ENTRY_COUNT && rows[e].need == NEED_REQUIRED;
}

bool driver_entry_wrapped(enum driver_entry e)
{
	return (unsigned)e < DRIVER_ENTRY_COUNT && rows[e].use == USE_WRAPPED;
}

void *driver_entry_address(const struct driver *d, enum driver_entry e)
{
	void *address = NULL;

	/* memcpy, since the pointers have different function types. */
	if ((unsigned)e < DRIVER_ENTRY_COUNT)
		memcpy(&address, (const char *)d + rows[e].offset, sizeof(address));
	return address;
}

int driver_fill(struct driver *d, void *(*resolve)(const char *name, void *data), void *data,
		struct error *err)
{
	const char *missing = NULL;

	memset(d, 0, sizeof(*d));
	for (unsigned e = 0; e < DRIVER_ENTRY_COUNT; e++) {
		void *address = resolve(rows[e].name, data);

		if (!address && rows[e].need == NEED_REQUIRED && !missing)
			missing = rows[e].name;
		memcpy((char *)d + rows[e].offset, &address, sizeof(address));
	}
	if (missing)
		return error_set(err, ENOSYS, ERROR_NO_OFFSET,
				 "the CUDA driver has no %s: it is older than kernelab needs",
				 missing);
	return 0;
}

static void *resolve_in_library(const char *name, void *data)
{
	return dlsym(data, name);
}

int driver_open(struct driver *d, const char *path, struct error *err)
{
	void *library;
	int r;

	memset(d, 0, sizeof(*d));
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		const char *why = dlerror();

		return error_set(err, ENOENT, ERROR_NO_OFFSET, "cannot open %s: %s", path,
				 why ? why : "unknown reason");
	}
	r = driver_fill(d, resolve_in_library, library, err);
	if (r < 0) {
		error_prefix(err, "%s", path);
		dlclose(library);
		memset(d, 0, sizeof(*d));
		return r;
	}
	d->library = library;
	return 0;
}

void driver_close(struct driver *d)
{
	if (d->library)
		dlclose(d->library);
	memset(d, 0, sizeof(*d));
}

const char *driver_error_text(const struct driver *d, CUresult result, char *buf, size_t size)
{
	const char *name = NULL, *text = NULL;

	if (d->cuGetErrorName && d->cuGetErrorName(result, &name) != CUDA_SUCCESS)
		name = NULL;
	if (d->cuGetErrorString && d->cuGetErrorString(result, &text) != CUDA_SUCCESS)
		text = NULL;
	if (name && text)
		snprintf(buf, size, "%s (%s)", name, text);
	else
		snprintf(buf, size, "%s%sCUresult %d", name ? name : "", name ? " " : "",
			 (int)result);
	return buf;
}
