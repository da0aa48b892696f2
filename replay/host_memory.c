/* SPDX-License-Identifier: MIT */
/* Host memory at recorded addresses. */
#include "replay/host_memory.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

static void *pointer(const struct range *r)
{
	return (void *)(uintptr_t)r->base;
}

/* Addresses without memory, which nothing else in the process then gets. */
static bool take(const struct range *r, int how)
{
	void *p = mmap(pointer(r), r->size, PROT_NONE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | how, -1, 0);

	if (p == pointer(r))
		return true;
	if (p != MAP_FAILED) /* a kernel that does not know MAP_FIXED_NOREPLACE */
		munmap(p, r->size);
	return false;
}

int host_memory_reserve(struct ranges *taken, struct ranges *refused, const struct ranges *wanted)
{
	for (size_t i = 0; i < wanted->count; i++) {
		const struct range *r = &wanted->items[i];
		int rc = ranges_add(take(r, MAP_FIXED_NOREPLACE) ? taken : refused, r->base,
				    r->size);

		if (rc)
			return rc;
	}
	return 0;
}

void host_memory_unmap(const struct driver *driver, const struct range *piece)
{
	if (driver->cuMemHostUnregister)
		driver->cuMemHostUnregister(pointer(piece));
	take(piece, MAP_FIXED);
}

int host_memory_map(const struct driver *driver, const struct range *piece, struct error *err)
{
	CUdeviceptr seen = 0;
	CUresult result;
	char text[160];

	if (!driver->cuMemHostRegister_v2 || !driver->cuMemHostUnregister ||
	    !driver->cuMemHostGetDevicePointer_v2)
		return error_set(err, ENOTSUP, ERROR_NO_OFFSET,
				 "the driver cannot register host memory");
	if (mprotect(pointer(piece), piece->size, PROT_READ | PROT_WRITE))
		return error_set(err, errno, ERROR_NO_OFFSET, "host memory at 0x%llx: %s",
				 (unsigned long long)piece->base, strerror(errno));
	result = driver->cuMemHostRegister_v2(pointer(piece), piece->size,
					      CU_MEMHOSTREGISTER_PORTABLE |
						      CU_MEMHOSTREGISTER_DEVICEMAP);
	if (result != CUDA_SUCCESS) {
		take(piece, MAP_FIXED);
		return error_set(err, EIO, ERROR_NO_OFFSET,
				 "registering host memory at 0x%llx, %llu bytes: %s",
				 (unsigned long long)piece->base, (unsigned long long)piece->size,
				 driver_error_text(driver, result, text, sizeof(text)));
	}
	result = driver->cuMemHostGetDevicePointer_v2(&seen, pointer(piece), 0);
	if (result == CUDA_SUCCESS && seen == piece->base)
		return 0;
	host_memory_unmap(driver, piece);
	return error_set(err, ENOTSUP, ERROR_NO_OFFSET,
			 "the device sees host memory at 0x%llx under another address",
			 (unsigned long long)piece->base);
}
