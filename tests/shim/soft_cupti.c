/* SPDX-License-Identifier: MIT */
/*
 * A libcupti.so.13 for tests, beside the fake driver: one subscriber at a time, told of every
 * module with the bytes of SOFT_CUPTI_CUBIN. SOFT_CUPTI: refuse, no-callback, twice,
 * differ (other bytes each time).
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drv/cupti.h"
#include "lib/base.h"

#define EXPORT __attribute__((visibility("default")))

struct cupti_subscriber {
	cupti_callback *callback;
	void *data;
	int enabled, taken;
};
static struct cupti_subscriber only;
static atomic_uint told;

EXPORT cupti_subscribe cuptiSubscribe;
EXPORT cupti_unsubscribe cuptiUnsubscribe;
EXPORT cupti_enable_callback cuptiEnableCallback;
EXPORT cupti_get_version cuptiGetVersion;
EXPORT cupti_get_result_string cuptiGetResultString;

static int is(const char *what)
{
	const char *mode = getenv("SOFT_CUPTI");

	return mode && !strcmp(mode, what);
}

/* What is told in the callback is gone behind it. */
static void tell(void)
{
	struct cupti_module module = {.id = 1};
	struct cupti_resource resource = {.module = &module};
	_cleanup_free_ char *cubin = NULL;

	if (file_read_all(getenv("SOFT_CUPTI_CUBIN"), 1 << 20, &cubin, &module.cubin_size))
		exit(5);
	if (is("differ"))
		cubin[module.cubin_size - 1] = (char)atomic_fetch_add(&told, 1);
	module.cubin = cubin;
	only.callback(only.data, CUPTI_DOMAIN_RESOURCE, CUPTI_MODULE_LOADED, &resource);
	memset(cubin, 0xee, module.cubin_size);
}

static void module_loaded(void)
{
	if (!only.enabled)
		return;
	tell();
	if (is("twice"))
		tell();
}

EXPORT int cuptiSubscribe(struct cupti_subscriber **out, cupti_callback *callback, void *data)
{
	void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
	void (**hook)(void) = driver ? dlsym(driver, "fake_module_loaded") : NULL;

	if (only.taken || is("refuse"))
		return CUPTI_HAS_SUBSCRIBER;
	if (!hook)
		exit(5);
	*hook = module_loaded;
	only = (struct cupti_subscriber){.callback = callback, .data = data, .taken = 1};
	*out = &only;
	return CUPTI_OK;
}

EXPORT int cuptiUnsubscribe(struct cupti_subscriber *subscriber)
{
	if (subscriber != &only || !only.taken)
		return 1;
	only = (struct cupti_subscriber){0};
	return CUPTI_OK;
}

EXPORT int cuptiEnableCallback(uint32_t enable, struct cupti_subscriber *subscriber,
			       uint32_t domain, uint32_t id)
{
	if (subscriber != &only || domain != CUPTI_DOMAIN_RESOURCE || id != CUPTI_MODULE_LOADED ||
	    is("no-callback"))
		return 1;
	only.enabled = enable;
	return CUPTI_OK;
}

EXPORT int cuptiGetVersion(uint32_t *version)
{
	*version = 130001;
	return CUPTI_OK;
}

EXPORT int cuptiGetResultString(int result, const char **text)
{
	*text = result == CUPTI_HAS_SUBSCRIBER ? "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"
					       : "CUPTI_ERROR_INVALID_PARAMETER";
	return CUPTI_OK;
}
