/* SPDX-License-Identifier: MIT */
/* Finds the real driver once the program has loaded it, and maps its addresses to wrappers. */
#include "shim/hooks.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "lib/base.h"
#include "shim/guard.h"
#include "shim/real_dl.h"

struct driver real;
__thread int shim_depth __attribute__((tls_model("initial-exec")));

SHIM_HOT_DATA static atomic_bool ready;
static struct error lacking; /* code 0: nothing */
static atomic_ulong by_name;

#define WRAPPER_WRAPPED(symbol) [DRIVER_ENTRY_##symbol] = (void *)symbol,
#define WRAPPER_CALLED(symbol)
#define E(symbol, need, use) WRAPPER_##use(symbol)
static void *const wrappers[DRIVER_ENTRY_COUNT] = {DRIVER_ENTRIES(E)};
#undef E

#define NAME_WRAPPED(symbol) #symbol,
#define NAME_CALLED(symbol)
#define E(symbol, need, use) NAME_##use(symbol)
static const char hooked_names[][48] = {DRIVER_ENTRIES(E)};
#undef E

static void *resolve(const char *name, void *data)
{
	return real_dlsym()(data, name);
}

/* The handle is kept: the driver must not move while pointers into it are about. */
__attribute__((cold)) static bool find_driver(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	void *library;

	if (!real_dlsym() || !real_dl_loaded("libcuda.so"))
		return false;
	library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
	if (!library)
		return false;
	pthread_mutex_lock(&lock);
	if (!atomic_load_explicit(&ready, memory_order_relaxed)) {
		driver_fill(&real, resolve, library, &lacking);
		real.library = library;
		/*
		 * A look-up of an entry that this driver lacks has left an error behind, and who
		 * asks for a function looks at dlerror() afterwards (Triton's launcher does).
		 */
		dlerror();
		atomic_store_explicit(&ready, true, memory_order_release);
	}
	pthread_mutex_unlock(&lock);
	return true;
}

SHIM_HOT bool hooks_ready(void)
{
	return atomic_load_explicit(&ready, memory_order_acquire) || find_driver();
}

bool hooks_complete(const char **why)
{
	*why = lacking.message;
	return !lacking.code;
}

/* The loop of real_dl.c again, since strcmp may be a sanitizer's that is not ready. */
SHIM_BOOTSTRAP bool hooks_name(const char *name)
{
	if (!name || name[0] != 'c' || name[1] != 'u')
		return false;
	for (size_t i = 0; i < ARRAY_LENGTH(hooked_names); i++) {
		const char *a = name, *b = hooked_names[i];

		while (*a && *a == *b) {
			a++;
			b++;
		}
		if (*a == *b)
			return true;
	}
	return false;
}

void *hooks_replacement(const void *address)
{
	for (unsigned e = 0; address && e < DRIVER_ENTRY_COUNT; e++)
		if (wrappers[e] && driver_entry_address(&real, (enum driver_entry)e) == address)
			return wrappers[e];
	return NULL;
}

bool hooks_own(const void *address)
{
	for (unsigned e = 0; address && e < DRIVER_ENTRY_COUNT; e++)
		if (wrappers[e] == address)
			return true;
	return false;
}

static bool name_fits(const char *entry, const char *name, int version, bool per_thread)
{
	size_t n = strlen(name);
	const char *rest = entry + n;

	if (strncmp(entry, name, n) != 0)
		return false;
	if (!strcmp(name, "cuGetProcAddress"))
		return !strcmp(rest, version >= 12000 ? "_v2" : "");
	if (!strcmp(rest, "_ptsz"))
		return per_thread;
	return !*rest && !per_thread;
}

/* An entry without a per-thread twin is the same function for both. */
static void *wrapper_by_name(const char *name, int version, bool per_thread)
{
	for (int twins = per_thread; twins >= 0; twins--)
		for (unsigned e = 0; e < DRIVER_ENTRY_COUNT; e++)
			if (wrappers[e] && driver_entry_address(&real, (enum driver_entry)e) &&
			    name_fits(driver_entry_name((enum driver_entry)e), name, version,
				      twins))
				return wrappers[e];
	return NULL;
}

void *hooks_replacement_by_name(const char *name, int version, cuuint64_t flags,
				const void *address)
{
	bool per_thread = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
	void *wrapper = wrapper_by_name(name, version, per_thread);
	Dl_info info;

	/* If a symbol lies at the address, it has spoken already: it is not a hooked entry. */
	if (!wrapper || (dladdr(address, &info) && info.dli_saddr == address))
		return NULL;
	atomic_fetch_add(&by_name, 1);
	return wrapper;
}

unsigned long hooks_by_name_count(void)
{
	return atomic_load(&by_name);
}

bool hooks_driver_calls(const void *caller)
{
	Dl_info info;
	const char *name;

	if (!dladdr(caller, &info) || !info.dli_fname)
		return false;
	name = strrchr(info.dli_fname, '/');
	name = name ? name + 1 : info.dli_fname;
	return !strncmp(name, "libcuda.so", 10) || !strncmp(name, "libnvidia-", 10) ||
	       !strncmp(name, "libcudadebugger", 15);
}
