/* SPDX-License-Identifier: MIT */
/*
 * dlsym and dlvsym of the shim. glibc finds the caller of RTLD_NEXT and RTLD_DEFAULT by the return
 * address, so the exported functions are a few instructions that ask shim_route_*() where to go and
 * jump there with stack and arguments as they came: nearly always the C library's own function.
 */
#include <dlfcn.h>
#include <stddef.h>

#include "shim/guard.h"
#include "shim/hooks.h"
#include "shim/real_dl.h"
#include "shim/recorder.h"

void *shim_route_dlsym(void *handle, const char *name);
void *shim_route_dlvsym(void *handle, const char *name);
void *shim_dlsym(void *handle, const char *name);
void *shim_dlvsym(void *handle, const char *name, const char *version);

#if defined(__x86_64__)
#define TRAMPOLINE(name)                                     \
	__asm__(".text\n"                                    \
		".globl " #name "\n"                         \
		".type " #name ", @function\n"               \
		".p2align 4\n" #name ":\n"                   \
		"\t.cfi_startproc\n"                         \
		"\tendbr64\n"                                \
		"\tpushq %rdi\n\t.cfi_adjust_cfa_offset 8\n" \
		"\tpushq %rsi\n\t.cfi_adjust_cfa_offset 8\n" \
		"\tpushq %rdx\n\t.cfi_adjust_cfa_offset 8\n" \
		"\tcall shim_route_" #name "\n"              \
		"\tpopq %rdx\n\t.cfi_adjust_cfa_offset -8\n" \
		"\tpopq %rsi\n\t.cfi_adjust_cfa_offset -8\n" \
		"\tpopq %rdi\n\t.cfi_adjust_cfa_offset -8\n" \
		"\tjmp *%rax\n"                              \
		"\t.cfi_endproc\n"                           \
		".size " #name ", . - " #name "\n")
#elif defined(__aarch64__)
#define TRAMPOLINE(name)                                                     \
	__asm__(".text\n"                                                    \
		".globl " #name "\n"                                         \
		".type " #name ", %function\n"                               \
		".p2align 4\n" #name ":\n"                                   \
		"\t.cfi_startproc\n"                                         \
		"\thint #34\n"                                               \
		"\tstp x29, x30, [sp, #-48]!\n\t.cfi_adjust_cfa_offset 48\n" \
		"\t.cfi_rel_offset x29, 0\n\t.cfi_rel_offset x30, 8\n"       \
		"\tstp x0, x1, [sp, #16]\n"                                  \
		"\tstr x2, [sp, #32]\n"                                      \
		"\tbl shim_route_" #name "\n"                                \
		"\tmov x16, x0\n"                                            \
		"\tldp x0, x1, [sp, #16]\n"                                  \
		"\tldr x2, [sp, #32]\n"                                      \
		"\tldp x29, x30, [sp], #48\n\t.cfi_adjust_cfa_offset -48\n"  \
		"\t.cfi_restore x29\n\t.cfi_restore x30\n"                   \
		"\tbr x16\n"                                                 \
		"\t.cfi_endproc\n"                                           \
		".size " #name ", . - " #name "\n")
#else
#error "dlsym needs a jump of a few instructions for this architecture"
#endif

TRAMPOLINE(dlsym);
TRAMPOLINE(dlvsym);

/* Only a look-up of a hooked name by something else than the shim itself is of interest. */
SHIM_BOOTSTRAP static bool of_interest(void *handle, const char *name)
{
	return handle != RTLD_NEXT && !shim_depth && hooks_name(name);
}

SHIM_BOOTSTRAP void *shim_route_dlsym(void *handle, const char *name)
{
	return of_interest(handle, name) ? (void *)shim_dlsym : (void *)real_dlsym();
}

SHIM_BOOTSTRAP void *shim_route_dlvsym(void *handle, const char *name)
{
	return of_interest(handle, name) ? (void *)shim_dlvsym : (void *)real_dlvsym();
}

/* The real answer, replaced if it is a hooked function of the driver and the driver did not ask. */
static void *replace(void *found, const void *caller)
{
	void *wrapper;

	if (!found || !recorder_wanted() || !hooks_ready())
		return found;
	wrapper = hooks_replacement(found);
	return wrapper && !hooks_driver_calls(caller) ? wrapper : found;
}

/*
 * A look-up in the global scope (RTLD_DEFAULT, the handle of the program) finds the shim's own
 * wrapper first, whether there is a driver or not. The program must see what it would see without
 * the shim, so the look-up goes on behind it.
 */
void *shim_dlsym(void *handle, const char *name)
{
	const void *caller = __builtin_return_address(0);
	void *found = real_dlsym()(handle, name);

	if (found && hooks_own(found))
		found = real_dlsym()(RTLD_NEXT, name);
	if (!found && handle == RTLD_DEFAULT && hooks_ready()) {
		/* A driver that only the caller's own scope holds; RTLD_DEFAULT would look there.
		 */
		found = real_dlsym()(real.library, name);
		if (!found) /* once more, so that dlerror() speaks of it */
			return real_dlsym()(RTLD_NEXT, name);
	}
	return replace(found, caller);
}

void *shim_dlvsym(void *handle, const char *name, const char *version)
{
	const void *caller = __builtin_return_address(0);
	void *found = real_dlvsym()(handle, name, version);

	if (found && hooks_own(found))
		found = real_dlvsym()(RTLD_NEXT, name, version);
	return replace(found, caller);
}
