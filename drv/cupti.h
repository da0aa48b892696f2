/* SPDX-License-Identifier: MIT */
/* The few types and functions of CUPTI that are used, as its headers of CUDA 11 to 13 have them. */
#ifndef DRV_CUPTI_H
#define DRV_CUPTI_H

#include <stddef.h>
#include <stdint.h>

/* Names are kernelab's own, so that NVIDIA's headers may be included beside. */
enum {
	CUPTI_OK = 0,
	CUPTI_HAS_SUBSCRIBER = 39, /* CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED */
	CUPTI_DOMAIN_RESOURCE = 3, /* CUPTI_CB_DOMAIN_RESOURCE */
	CUPTI_MODULE_LOADED = 6    /* CUPTI_CBID_RESOURCE_MODULE_LOADED */
};

/* CUpti_ModuleResourceData; valid within the callback only. */
struct cupti_module {
	uint32_t id;
	size_t cubin_size;
	const char *cubin;
};

/* CUpti_ResourceData: what every callback of the domain gets. */
struct cupti_resource {
	void *context;
	void *handle;
	const struct cupti_module *module; /* resourceDescriptor of CUPTI_MODULE_LOADED */
};
_Static_assert(sizeof(struct cupti_module) == 24 && sizeof(struct cupti_resource) == 24,
	       "as CUPTI's");

struct cupti_subscriber;
typedef void cupti_callback(void *data, uint32_t domain, uint32_t id, const void *resource);

typedef int cupti_subscribe(struct cupti_subscriber **out, cupti_callback *callback, void *data);
typedef int cupti_unsubscribe(struct cupti_subscriber *subscriber);
typedef int cupti_enable_callback(uint32_t enable, struct cupti_subscriber *subscriber,
				  uint32_t domain, uint32_t id);
typedef int cupti_get_version(uint32_t *version);
typedef int cupti_get_result_string(int result, const char **text);

#endif
