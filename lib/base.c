/* SPDX-License-Identifier: MIT */
/* Growing arrays, whole files, formatted text. */
#include "lib/base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>

int array_reserve(void *array, size_t count, size_t *capacity, size_t element)
{
	void **items = array;
	size_t more, bytes;
	void *grown;

	if (count < *capacity)
		return 0;
	more = *capacity ? *capacity : 8;
	if (__builtin_add_overflow(more, *capacity, &more) || !size_multiply(more, element, &bytes))
		return -ENOMEM;
	grown = realloc(*items, bytes);
	if (!grown)
		return -ENOMEM;
	*items = grown;
	*capacity = more;
	return 0;
}

/* Files of /proc have no size, so read until the end and grow. */
int file_read_all(const char *path, size_t max_bytes, char **data, size_t *size)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	_cleanup_free_ char *buffer = NULL;
	size_t used = 0, capacity = 0;

	if (fd < 0)
		return -errno;
	for (;;) {
		ssize_t n;

		if (used + 1 >= capacity) {
			size_t wanted = capacity ? capacity * 2 : 65536;
			char *grown = realloc(buffer, wanted);

			if (!grown)
				return -ENOMEM;
			buffer = grown;
			capacity = wanted;
		}
		n = read(fd, buffer + used, capacity - 1 - used);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		used += (size_t)n;
		if (used > max_bytes)
			return -EFBIG;
	}
	buffer[used] = 0;
	*data = steal_pointer(buffer);
	*size = used;
	return 0;
}

char *text_format(const char *format, ...)
{
	char *text = NULL;
	va_list ap;
	int n;

	va_start(ap, format);
	n = vasprintf(&text, format, ap);
	va_end(ap);
	return n < 0 ? NULL : text;
}
