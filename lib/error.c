/* SPDX-License-Identifier: MIT */
/* Filling of struct error. */
#include "kernelab/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int error_set(struct error *err, int code, uint64_t offset, const char *format, ...)
{
	if (err) {
		va_list ap;

		err->code = code;
		err->offset = offset;
		va_start(ap, format);
		if (vsnprintf(err->message, sizeof(err->message), format, ap) < 0)
			err->message[0] = 0;
		va_end(ap);
	}
	return -code;
}

int error_prefix(struct error *err, const char *format, ...)
{
	char old[sizeof(err->message)];
	size_t n;
	va_list ap;
	int length;

	if (!err)
		return -1;
	memcpy(old, err->message, sizeof(old));
	va_start(ap, format);
	length = vsnprintf(err->message, sizeof(err->message), format, ap);
	va_end(ap);
	n = length < 0 ? 0 : (size_t)length;
	if (n >= sizeof(err->message))
		n = sizeof(err->message) - 1;
	snprintf(err->message + n, sizeof(err->message) - n, ": %s", old);
	return -err->code;
}
