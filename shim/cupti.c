/* SPDX-License-Identifier: MIT */
/* The machine code that the driver's JIT makes of PTX and fatbins, through CUPTI (--cupti). */
#include "shim/cupti.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drv/cupti.h"
#include "lib/base.h"
#include "shim/cupti_find.h"
#include "shim/facts.h"
#include "shim/real_dl.h"
#include "shim/recorder.h"

#define CUBIN_MAX (1u << 30)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Under the lock. */
static bool tried;
static const char *how; /* it was found; static; NULL: there is none that can be used */
static char path[512];
static char refused[240]; /* why no subscription was given, the first time */
static bool told, told_refused;
static unsigned listeners;
static struct cupti_subscriber *subscriber;
static struct {
	cupti_subscribe *subscribe;
	cupti_unsubscribe *unsubscribe;
	cupti_enable_callback *enable_callback;
	cupti_get_version *get_version;
	cupti_get_result_string *get_result_string;
} api;

static __thread struct cupti_watch *current __attribute__((tls_model("initial-exec")));

/* Runs inside the driver's load, on the loading thread: copies and goes. */
static void heard(void *data, uint32_t domain, uint32_t id, const void *resource)
{
	const struct cupti_resource *r = resource;
	struct cupti_watch *w = current;

	if (!w || domain != CUPTI_DOMAIN_RESOURCE || id != CUPTI_MODULE_LOADED || !r || !r->module)
		return;
	if (w->modules++ || !r->module->cubin || !r->module->cubin_size ||
	    r->module->cubin_size > CUBIN_MAX)
		return;
	w->cubin = malloc(r->module->cubin_size);
	if (!w->cubin)
		return;
	memcpy(w->cubin, r->module->cubin, r->module->cubin_size);
	w->size = r->module->cubin_size;
}

static void *function(void *library, const char *name)
{
	void *f = real_dlsym()(library, name);

	dlerror();
	return f;
}

static void open_library(void)
{
	const char *found;
	void *library = cupti_find(&found);
	Dl_info info;

	tried = true;
	if (!library) {
		snprintf(path, sizeof(path), "no libcupti.so was found");
		return;
	}
	api.subscribe = function(library, "cuptiSubscribe");
	api.unsubscribe = function(library, "cuptiUnsubscribe");
	api.enable_callback = function(library, "cuptiEnableCallback");
	api.get_version = function(library, "cuptiGetVersion");
	api.get_result_string = function(library, "cuptiGetResultString");
	if (!api.subscribe || !api.unsubscribe || !api.enable_callback) {
		snprintf(path, sizeof(path), "libcupti.so lacks cuptiSubscribe or its like");
		return;
	}
	if (!dladdr((void *)api.subscribe, &info) || !info.dli_fname)
		info.dli_fname = "libcupti.so";
	snprintf(path, sizeof(path), "%s", info.dli_fname);
	how = found;
}

/* Also says it the first time. */
static bool good(int result, const char *call)
{
	const char *text = NULL;

	if (result == CUPTI_OK)
		return true;
	if (*refused)
		return false;
	if (!api.get_result_string || api.get_result_string(result, &text) != CUPTI_OK)
		text = NULL;
	snprintf(refused, sizeof(refused), "%s: %s (%d)%s", call, text ? text : "error", result,
		 result == CUPTI_HAS_SUBSCRIBER
			 ? ": a profiler of the program has CUPTI's only subscription"
			 : "");
	return false;
}

static bool subscribe(void)
{
	if (!good(api.subscribe(&subscriber, heard, NULL), "cuptiSubscribe"))
		return false;
	if (good(api.enable_callback(1, subscriber, CUPTI_DOMAIN_RESOURCE, CUPTI_MODULE_LOADED),
		 "cuptiEnableCallback"))
		return true;
	api.unsubscribe(subscriber);
	return false;
}

void cupti_begin(struct cupti_watch *w)
{
	*w = (struct cupti_watch){.outer = current};
	if (!recorder_settings()->cupti)
		return;
	pthread_mutex_lock(&lock);
	if (!tried)
		open_library();
	if (how && (listeners || subscribe())) {
		listeners++;
		w->listening = true;
	}
	pthread_mutex_unlock(&lock);
	if (w->listening)
		current = w;
}

void cupti_end(struct cupti_watch *w)
{
	if (!w->listening)
		return;
	current = w->outer;
	pthread_mutex_lock(&lock);
	if (listeners && !--listeners)
		api.unsubscribe(subscriber);
	pthread_mutex_unlock(&lock);
}

static int put_library(struct bundle_writer *w)
{
	_cleanup_free_ char *text = NULL;
	uint32_t version = 0;

	if (!how)
		return facts_put(w, "capture.cupti", "unavailable", path);
	if (!api.get_version || api.get_version(&version) != CUPTI_OK)
		version = 0;
	text = text_format("CUPTI API %u, %s: subscribed only while PTX or a fatbin is loaded",
			   version, how);
	return text ? facts_put(w, "capture.cupti", path, text) : -ENOMEM;
}

int cupti_write_facts(struct bundle_writer *w)
{
	int r = 0;

	pthread_mutex_lock(&lock);
	if (tried && !told) {
		told = true;
		r = put_library(w);
	}
	if (r >= 0 && *refused && !told_refused) {
		told_refused = true;
		r = facts_put(w, "capture.cupti_refused", refused,
			      "the driver's machine code of what was loaded then is not recorded");
	}
	pthread_mutex_unlock(&lock);
	return r;
}

/* A child of a process that used the driver cannot use it, so its CUPTI is of no use either. */
void cupti_forget(void)
{
	pthread_mutex_init(&lock, NULL);
	current = NULL;
	listeners = 0;
	told = told_refused = false;
}
