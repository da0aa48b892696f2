/* SPDX-License-Identifier: MIT */
/* The C library's own dlsym and dlvsym, found without calling either. */
#ifndef SHIM_REAL_DL_H
#define SHIM_REAL_DL_H

#include <stdbool.h>

typedef void *real_dlsym_function(void *handle, const char *name);
typedef void *real_dlvsym_function(void *handle, const char *name, const char *version);

/*
 * NULL only where the C library is not glibc. Any thread, at any time after relocation, also before
 * constructors have run. The symbol tables are read directly, since each name that could be asked
 * for through the linker (dlsym, dlvsym) is one that the shim itself exports. Looks in libc.so.6
 * (GLIBC_2.34 and later), then libdl.so.2 (GLIBC_2.2.5, 2.17).
 */
real_dlsym_function *real_dlsym(void);
real_dlvsym_function *real_dlvsym(void);

/* Whether an object is loaded whose file name begins so. dlopen with RTLD_NOLOAD would look for
 * the file. */
bool real_dl_loaded(const char *prefix);

#endif
