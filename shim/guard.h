/* SPDX-License-Identifier: MIT */
/* What every function of the shim stands on: export, bootstrap and re-entry marks. */
#ifndef SHIM_GUARD_H
#define SHIM_GUARD_H

#include <stdbool.h>

/* The few symbols that the program's references bind to; everything else stays local. */
#define SHIM_EXPORT __attribute__((visibility("default")))

/*
 * What every launch of the program goes through. Between two of them the driver's own work takes
 * the caches: such functions lie side by side, and so do the few words that they all read.
 */
#define SHIM_HOT      __attribute__((hot))
#define SHIM_HOT_DATA __attribute__((section("shim_hot")))

/*
 * Runs before any sanitizer of the program is ready (AddressSanitizer calls dlsym while it sets
 * itself up): no instrumentation, no libc calls that a sanitizer intercepts.
 */
#define SHIM_BOOTSTRAP __attribute__((no_sanitize("address", "undefined"), no_stack_protector))

/*
 * Above zero while this thread is inside the shim: the driver calls exported functions and dlsym
 * itself, and those calls must reach the real ones.
 */
extern __thread int shim_depth __attribute__((tls_model("initial-exec")));

#endif
