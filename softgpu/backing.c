/* SPDX-License-Identifier: MIT */
/*
 * Host memory behind device memory. A large allocation is a row of private mappings of one file of
 * fill bytes: it costs nothing until it is written, like the zeros of an anonymous mapping.
 */
#include "softgpu/backing.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/base.h"

#define PATTERN_BYTES                                                               \
	((size_t)32 << 20) /* mappings a process may have are counted: 16 GiB = 512 \
			    */
#define EAGER_BYTES ((size_t)4 << 20)

static uint8_t fill = 0xff;
static int pattern_fd = -1;

void backing_set_fill(uint8_t byte)
{
	fill = byte;
}

uint8_t backing_fill(void)
{
	return fill;
}

static size_t page_round(size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (size + page - 1) & ~(page - 1);
}

/* The file of fill bytes; -1 where it cannot be made (then memory is filled at once). */
static int pattern_open(void)
{
	uint8_t block[65536];
	int fd;

	if (pattern_fd >= 0)
		return pattern_fd;
	fd = memfd_create("kernelab-softgpu-fill", MFD_CLOEXEC);
	if (fd < 0)
		return -1;
	memset(block, fill, sizeof(block));
	for (size_t done = 0; done < PATTERN_BYTES; done += sizeof(block)) {
		if (pwrite(fd, block, sizeof(block), (off_t)done) != (ssize_t)sizeof(block)) {
			close(fd);
			return -1;
		}
	}
	return pattern_fd = fd;
}

static bool pattern_map(uint8_t *host, size_t size)
{
	int fd = pattern_open();

	if (fd < 0)
		return false;
	for (size_t done = 0; done < size; done += PATTERN_BYTES) {
		size_t part = size - done < PATTERN_BYTES ? size - done : PATTERN_BYTES;

		if (mmap(host + done, part, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, fd, 0) == MAP_FAILED)
			return false;
	}
	return true;
}

uint8_t *backing_map(size_t size)
{
	size_t bytes = page_round(size);
	bool zero = !fill;
	uint8_t *host;

	if (bytes < size)
		return NULL;
	host = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (host == MAP_FAILED)
		return NULL;
	if (zero)
		return host;
	if (bytes > EAGER_BYTES && pattern_map(host, bytes))
		return host;
	/* A MAP_FIXED that failed may have left a hole: memset must not meet it. */
	if (bytes > EAGER_BYTES &&
	    mmap(host, bytes, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED) {
		munmap(host, bytes);
		return NULL;
	}
	memset(host, fill, bytes);
	return host;
}

void backing_unmap(uint8_t *host, size_t size)
{
	if (host)
		munmap(host, page_round(size));
}

int backing_is_mapped(const void *address, size_t size)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t first = (uintptr_t)address & ~(page - 1);
	uintptr_t last;
	unsigned char resident[1024];

	if (!address || __builtin_add_overflow((uintptr_t)address, size ? size - 1 : 0, &last))
		return 0;
	while (first <= last) {
		uintptr_t pages = (last - first) / page + 1;

		if (pages > sizeof(resident))
			pages = sizeof(resident);
		if (mincore((void *)first, pages * page, resident))
			return 0;
		if (__builtin_add_overflow(first, pages * page, &first))
			break;
	}
	return 1;
}

int backing_begins_with(const void *address, const void *bytes, size_t size)
{
	const uint8_t *a = address, *b = bytes;

	for (size_t i = 0; i < size; i++)
		if (!backing_is_mapped(a + i, 1) || a[i] != b[i])
			return 0;
	return 1;
}
