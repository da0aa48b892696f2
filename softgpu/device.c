/* SPDX-License-Identifier: MIT */
/* Settings from the environment, the API lock, fork. */
#include "softgpu/device.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/environment.h"
#include "softgpu/backing.h"
#include "softgpu/fault.h"
#include "softgpu/log.h"
#include "softgpu/space.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool initialised, forked;
static CUresult lost = CUDA_SUCCESS;
static struct device_settings settings = {.devices = 1};

const struct device_settings *device_settings(void)
{
	return &settings;
}

bool device_exists(int ordinal)
{
	return ordinal >= 0 && (uint64_t)ordinal < settings.devices;
}

CUresult device_lost(void)
{
	return lost;
}

void device_lose(CUresult result)
{
	if (lost == CUDA_SUCCESS)
		lost = result;
}

static bool setting_number(enum environment_id id, uint64_t max, uint64_t *out)
{
	const char *text = environment_get(id);
	unsigned shift = 0;
	char *end;

	if (!text)
		return true;
	errno = 0;
	*out = strtoull(text, &end, 0);
	if (id == ENVIRONMENT_SOFTGPU_MEMORY && *end && !end[1]) {
		const char *suffix = strchr("KMGT", *end);

		shift = suffix ? 10 * (unsigned)(suffix - "KMGT" + 1) : 0;
		end += suffix != NULL;
	}
	if (errno || end == text || *end || *text == '-' || *out > max >> shift) {
		softgpu_log(SOFTGPU_LOG_ERROR, "%s=%s is no number from 0 to %llu",
			    environment_name(id), text, (unsigned long long)max);
		return false;
	}
	*out <<= shift;
	return true;
}

/* A plus behind the seed: the next launch takes the next one. */
static bool setting_seed(void)
{
	const char *text = environment_get(ENVIRONMENT_SOFTGPU_SEED);
	char *end;

	if (!text)
		return true;
	errno = 0;
	settings.seed = strtoull(text, &end, 0);
	settings.varies = *end == '+';
	if (errno || end == text || end[settings.varies] || *text == '-') {
		softgpu_log(SOFTGPU_LOG_ERROR,
			    "%s=%s is no number from 0 to %llu, with or without a + behind",
			    environment_name(ENVIRONMENT_SOFTGPU_SEED), text,
			    (unsigned long long)UINT64_MAX);
		return false;
	}
	return true;
}

static bool setting_word(enum environment_id id, const char *const *words, size_t count, int *out)
{
	const char *text = environment_get(id);

	if (!text)
		return true;
	for (size_t i = 0; i < count; i++) {
		if (!strcmp(text, words[i])) {
			*out = (int)i;
			return true;
		}
	}
	softgpu_log(SOFTGPU_LOG_ERROR, "%s=%s: not one of the known words (%s …)",
		    environment_name(id), text, words[0]);
	return false;
}

static CUresult settings_read(void)
{
	static const char *const levels[] = {"quiet", "error", "info"};
	static const char *const contracts[] = {"may", "off"};
	int level = SOFTGPU_LOG_ERROR, contract = CONTRACT_MAY;
	uint64_t total = space_total(), fill = backing_fill();
	const char *blocking = getenv("CUDA_LAUNCH_BLOCKING");

	if (!setting_word(ENVIRONMENT_SOFTGPU_LOG, levels, 3, &level) ||
	    !setting_word(ENVIRONMENT_SOFTGPU_CONTRACT, contracts, 2, &contract) ||
	    !setting_number(ENVIRONMENT_SOFTGPU_MEMORY, SPACE_ADDRESS_END / 2, &total) ||
	    !setting_number(ENVIRONMENT_SOFTGPU_FILL, 255, &fill) || !setting_seed() ||
	    !setting_number(ENVIRONMENT_SOFTGPU_QUOTA, UINT64_MAX, &settings.quota) ||
	    !setting_number(ENVIRONMENT_SOFTGPU_DEVICES, DEVICE_MOST, &settings.devices) ||
	    !fault_read())
		return CUDA_ERROR_INVALID_VALUE;
	softgpu_log_set_level((enum softgpu_log_level)level);
	settings.contract = (enum machine_contract)contract;
	settings.blocking = blocking && strcmp(blocking, "0") != 0 && *blocking;
	space_set_total(total);
	backing_set_fill((uint8_t)fill);
	return CUDA_SUCCESS;
}

/* The child holds a copy of a device in an unknown state: it may not use it, as on a GPU. */
static void fork_child(void)
{
	pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;

	lock = fresh;
	forked = true;
}

CUresult device_init(void)
{
	CUresult result = CUDA_SUCCESS;

	pthread_mutex_lock(&lock);
	if (forked) {
		result = CUDA_ERROR_NOT_INITIALIZED;
	} else if (!initialised) {
		result = settings_read();
		if (result == CUDA_SUCCESS && pthread_atfork(NULL, NULL, fork_child))
			result = CUDA_ERROR_OUT_OF_MEMORY;
		initialised = result == CUDA_SUCCESS;
	}
	pthread_mutex_unlock(&lock);
	return result;
}

struct api_scope api_enter(enum api_need need, const char *entry)
{
	struct api_scope scope = {0};
	CUcontext current;

	scope.result = fault_take(entry, &scope.lose);
	pthread_mutex_lock(&lock);
	if (scope.result != CUDA_SUCCESS || scope.lose)
		return scope;
	if (!initialised || forked) {
		scope.result = CUDA_ERROR_NOT_INITIALIZED;
	} else if (need != NEED_INIT) {
		current = context_current();
		scope.context = context_get(current);
		if (!current)
			scope.result = CUDA_ERROR_INVALID_CONTEXT;
		else if (!scope.context)
			scope.result = CUDA_ERROR_CONTEXT_IS_DESTROYED;
		else if (need == NEED_LIVE)
			scope.result = lost;
	}
	return scope;
}

void api_leave(struct api_scope *scope)
{
	(void)scope;
	pthread_mutex_unlock(&lock);
}

CUresult api_errno(int code)
{
	switch (code) {
	case 0:
		return CUDA_SUCCESS;
	case -ENOMEM:
		return CUDA_ERROR_OUT_OF_MEMORY;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}
