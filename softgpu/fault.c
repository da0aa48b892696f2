/* SPDX-License-Identifier: MIT */
/* Parses and counts the faults on request. */
#include "softgpu/fault.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/base.h"
#include "lib/environment.h"
#include "softgpu/log.h"

#define FAULTS_MAX 32u

struct fault {
	const char *entry;
	int device;           /* -1: whichever */
	unsigned long number; /* from 1 */
	bool onwards;
	CUresult result; /* CUDA_SUCCESS: stalls or is lost */
	bool lose;
	double seconds;
	atomic_ulong calls;
};

static struct fault faults[FAULTS_MAX];
static size_t count;
static atomic_int device = -1; /* that cuDeviceGet was last asked for */

/* Those that answer before cuInit, which reads the faults. */
static bool never_fails(const char *entry)
{
	static const char *const names[] = {"cuInit",           "cuDriverGetVersion",
					    "cuGetErrorName",   "cuGetErrorString",
					    "cuGetProcAddress", "cuGetProcAddress_v2"};

	for (size_t i = 0; i < ARRAY_LENGTH(names); i++)
		if (!strcmp(entry, names[i]))
			return true;
	return false;
}

static const char *entry_find(const char *name)
{
	static const char *const entries[] = {
#define E(symbol, need, use) #symbol,
		DRIVER_ENTRIES(E)
#undef E
	};

	for (size_t i = 0; i < ARRAY_LENGTH(entries); i++)
		if (!strcmp(entries[i], name))
			return never_fails(name) ? NULL : entries[i];
	return NULL;
}

static bool parse_number(const char *text, struct fault *f)
{
	char *end;

	f->number = strtoul(text, &end, 10);
	f->onwards = *end == '+';
	return *text >= '0' && *text <= '9' && !end[f->onwards] && f->number;
}

static bool parse_effect(const char *text, const char *seconds, struct fault *f)
{
	char *end;
	long value;

	if (!strcmp(text, "stall")) {
		f->seconds = seconds ? strtod(seconds, &end) : 0;
		return seconds && end != seconds && !*end && f->seconds > 0 && f->seconds < 3600;
	}
	f->lose = !strcmp(text, "lose");
	if (f->lose)
		return !seconds;
	value = strtol(text, &end, 10);
	f->result = (CUresult)value;
	return !seconds && end != text && !*end && value > 0 && value < 1000;
}

/* "cuMemCreate", "cuMemCreate@1" */
static bool parse_entry(char *text, struct fault *f)
{
	char *name = strsep(&text, "@"), *end;
	long ordinal = text ? strtol(text, &end, 10) : -1;

	if (text && (*text < '0' || *text > '9' || *end || ordinal > INT_MAX))
		return false;
	f->device = (int)ordinal;
	f->entry = entry_find(name);
	return f->entry != NULL;
}

static bool parse(char *item, struct fault *f)
{
	char *entry = strsep(&item, ":"), *number = strsep(&item, ":"),
	     *effect = strsep(&item, ":"), *seconds = strsep(&item, ":");

	if (!effect || item)
		return false;
	return parse_entry(entry, f) && parse_number(number, f) && parse_effect(effect, seconds, f);
}

bool fault_read(void)
{
	const char *text = environment_get(ENVIRONMENT_SOFTGPU_FAULT);
	_cleanup_free_ char *copy = text ? strdup(text) : NULL;
	char *rest = copy, *item;

	while (rest && (item = strsep(&rest, ","))) {
		_cleanup_free_ char *whole = strdup(item);

		if (count == FAULTS_MAX || !whole || !parse(item, &faults[count])) {
			softgpu_log(SOFTGPU_LOG_ERROR,
				    "%s: '%s' is not ENTRY[@DEVICE]:N:RESULT, …:stall:SECONDS or "
				    "…:lose",
				    environment_name(ENVIRONMENT_SOFTGPU_FAULT),
				    whole ? whole : "");
			count = 0;
			return false;
		}
		count++;
	}
	return true;
}

void fault_device(int ordinal)
{
	device = ordinal;
}

CUresult fault_take(const char *entry, bool *lose)
{
	*lose = false;
	for (size_t i = 0; i < count; i++) {
		struct fault *f = &faults[i];
		unsigned long call;

		if (strcmp(f->entry, entry) != 0 || (f->device >= 0 && f->device != device))
			continue;
		call = atomic_fetch_add(&f->calls, 1) + 1;
		if (call != f->number && !(f->onwards && call > f->number))
			continue;
		softgpu_log(SOFTGPU_LOG_INFO, "call %lu of %s: fault on request", call, entry);
		if (f->result != CUDA_SUCCESS)
			return f->result;
		if (f->lose) {
			*lose = true;
			return CUDA_SUCCESS;
		}
		nanosleep(
			&(struct timespec){(time_t)f->seconds,
					   (long)((f->seconds - (double)(time_t)f->seconds) * 1e9)},
			NULL);
	}
	return CUDA_SUCCESS;
}
