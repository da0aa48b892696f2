/* SPDX-License-Identifier: MIT */
/* A recorded launch bound to one image: geometry, attributes and parameter buffer for that image.
 */
#include "replay/bind.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "drv/entries.h"
#include "kernelab/dtype.h"
#include "lib/base.h"

#define TENSOR_MAP_BYTES 128u

void bound_free(struct bound *b)
{
	free(b->params);
	*b = (struct bound){0};
}

const struct record_param *member_params(const struct suite_member *m, size_t *count)
{
	if (m->kernel && m->kernel->params.count) {
		*count = m->kernel->params.count;
		return m->kernel->params.items;
	}
	*count = m->code ? m->code->param_count : 0;
	return m->code ? m->code->params : NULL;
}

static size_t hidden_count(const struct suite_member *m)
{
	return m->triton ? (size_t)m->triton->has_global_scratch + m->triton->has_profile_scratch
			 : 0;
}

const struct record_arg *member_arg(const struct suite_member *m, size_t i)
{
	size_t params;

	if (!m->triton || !m->triton->signature)
		return NULL;
	member_params(m, &params);
	if (params != m->triton->signature->arg_count + hidden_count(m))
		return NULL;
	return i < m->triton->signature->arg_count ? &m->triton->signature->args[i] : NULL;
}

static bool has_names(const struct suite_member *m)
{
	size_t params;

	member_params(m, &params);
	return m->triton && m->triton->signature &&
	       params == m->triton->signature->arg_count + hidden_count(m);
}

static bool is_hidden(const struct suite_member *m, size_t i)
{
	return has_names(m) && i >= m->triton->signature->arg_count;
}

static bool layouts_equal(const struct record_param *x, size_t n, const struct record_param *y,
			  size_t m)
{
	if (n != m)
		return false;
	for (size_t i = 0; i < n; i++)
		if (x[i].offset != y[i].offset || x[i].size != y[i].size)
			return false;
	return true;
}

static bool text_equal(const char *x, const char *y)
{
	return x && y && !strcmp(x, y);
}

/* How many arguments before `index` have its name: the shapes and strides of a tensor descriptor
 * all have the descriptor's. */
static size_t same_name_before(const struct signature *s, size_t index)
{
	size_t n = 0;

	for (size_t i = 0; i < index; i++)
		n += text_equal(s->args[i].name, s->args[index].name);
	return n;
}

/* base's parameter for an argument of target; -1 if base has none. */
static int64_t find_arg(const struct suite_member *base, const struct suite_member *target,
			size_t index, const struct record_arg *arg)
{
	const struct signature *s = base->triton->signature;

	if (signature_has_names(s) && signature_has_names(target->triton->signature)) {
		size_t skip = same_name_before(target->triton->signature, index);

		for (size_t i = 0; i < s->arg_count; i++)
			if (text_equal(s->args[i].name, arg->name) && !skip--)
				return text_equal(s->args[i].type, arg->type) ? (int64_t)i : -1;
		return -1;
	}
	/* One without names (Triton before 3.5): by position, where the lists are equally long. */
	if (s->arg_count == target->triton->signature->arg_count &&
	    text_equal(s->args[index].type, arg->type))
		return (int64_t)index;
	return -1;
}

static int add_scratch(struct bound *b, const struct record_param *p, uint64_t block_bytes,
		       const struct suite_member *target, uint64_t recorded, struct error *err)
{
	uint64_t bytes = block_bytes;
	uint64_t factors[4] = {b->grid[0], b->grid[1], b->grid[2],
			       target->triton->num_ctas > 0 ? (uint64_t)target->triton->num_ctas
							    : 1};

	if (!bytes || p->size != 8)
		return 0;
	for (size_t i = 0; i < ARRAY_LENGTH(factors); i++)
		if (__builtin_mul_overflow(bytes, factors[i], &bytes))
			return error_set(err, EINVAL, ERROR_NO_OFFSET,
					 "%s: scratch of %llu bytes a block overflows", b->entry,
					 (unsigned long long)block_bytes);
	b->scratch[b->scratch_count++] = (struct scratch){p->offset, bytes, recorded};
	return 0;
}

static uint64_t read_word(const struct bytes *params, uint64_t offset)
{
	uint64_t word = 0;

	if (offset <= params->size && params->size - offset >= sizeof(word))
		memcpy(&word, (const uint8_t *)params->data + offset, sizeof(word));
	return word;
}

/* Fills the hidden parameters of target. base's own recorded words are kept for the exclusion. */
static int bind_hidden(struct bound *b, const struct record_launch *launch,
		       const struct suite_member *base, const struct suite_member *target,
		       struct error *err)
{
	size_t first = target->triton->signature->arg_count, i = first, base_count;
	const struct record_param *base_layout = member_params(base, &base_count);
	uint64_t recorded[2] = {0, 0};
	int rc = 0;

	if (has_names(base)) {
		size_t j = base->triton->signature->arg_count;

		if (base->triton->has_global_scratch && j < base_count)
			recorded[0] = read_word(&launch->params, base_layout[j++].offset);
		if (base->triton->has_profile_scratch && j < base_count)
			recorded[1] = read_word(&launch->params, base_layout[j].offset);
	}
	if (target->triton->has_global_scratch)
		rc = add_scratch(b, &b->layout[i++], target->triton->global_scratch_bytes, target,
				 recorded[0], err);
	if (!rc && target->triton->has_profile_scratch)
		rc = add_scratch(b, &b->layout[i], target->triton->profile_scratch_bytes, target,
				 recorded[1], err);
	return rc;
}

/* Copies the arguments of target from the recorded buffer by name and type. */
static int bind_named(struct bound *b, const struct record_launch *launch,
		      const struct suite_member *base, const struct suite_member *target,
		      struct error *err)
{
	size_t base_count, n = target->triton->signature->arg_count;
	const struct record_param *base_layout = member_params(base, &base_count);

	for (size_t i = 0; i < n; i++) {
		const struct record_arg *arg = &target->triton->signature->args[i];
		int64_t from = find_arg(base, target, i, arg);

		if (from < 0)
			return error_set(err, EINVAL, ERROR_NO_OFFSET,
					 "argument %s (%s) of %s is not in the recorded launch "
					 "(specialised away, or another type)",
					 arg->name ? arg->name : "?", arg->type ? arg->type : "?",
					 b->entry);
		if (base_layout[from].size != b->layout[i].size)
			return error_set(err, EINVAL, ERROR_NO_OFFSET,
					 "argument %s of %s has %u bytes, recorded were %u",
					 arg->name ? arg->name : "?", b->entry, b->layout[i].size,
					 base_layout[from].size);
		memcpy(b->params + b->layout[i].offset,
		       (const uint8_t *)launch->params.data + base_layout[from].offset,
		       b->layout[i].size);
	}
	return bind_hidden(b, launch, base, target, err);
}

/* End of the last parameter, every one checked against `limit`; 0 with none. */
static int64_t layout_end(const struct record_param *p, size_t n, uint64_t limit)
{
	uint64_t end = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t last = (uint64_t)p[i].offset + p[i].size;

		if (last > limit)
			return -1;
		if (last > end)
			end = last;
	}
	return (int64_t)end;
}

static int bind_params(struct bound *b, const struct record_launch *launch,
		       const struct suite_member *base, const struct suite_member *target,
		       struct error *err)
{
	size_t base_count;
	const struct record_param *base_layout = member_params(base, &base_count);
	int64_t end;

	b->layout = member_params(target, &b->layout_count);
	if (!b->layout || !base_layout) {
		if (launch->params.size || !launch->params.data)
			return error_set(err, EINVAL, ERROR_NO_OFFSET,
					 "parameter layout of %s is not known", b->entry);
		return 0;
	}
	if (layout_end(base_layout, base_count, launch->params.size) < 0)
		return error_set(err, EINVAL, ERROR_NO_OFFSET,
				 "launch %llu: %zu parameter bytes recorded, fewer than %s has",
				 (unsigned long long)launch->seq, launch->params.size, base->entry);
	end = layout_end(b->layout, b->layout_count, BOUND_MAX_PARAMS_BYTES);
	if (end < 0)
		return error_set(err, EINVAL, ERROR_NO_OFFSET, "parameters of %s exceed %u bytes",
				 b->entry, BOUND_MAX_PARAMS_BYTES);
	b->params_bytes = (uint32_t)end;
	b->params = calloc(1, b->params_bytes ? b->params_bytes : 1);
	if (!b->params)
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for parameters");
	if (has_names(base) && has_names(target))
		return bind_named(b, launch, base, target, err);
	if (!layouts_equal(base_layout, base_count, b->layout, b->layout_count))
		return error_set(
			err, EINVAL, ERROR_NO_OFFSET,
			"%s takes other parameters than the recorded launch, and there are "
			"no argument names to match them by",
			b->entry);
	memcpy(b->params, launch->params.data, b->params_bytes);
	return 0;
}

/* The recorded word is one of those that were noted with the region. */
static bool leads_to(const struct record_region *r, const struct bytes *params, uint64_t word)
{
	for (size_t i = 0; word && i < r->param_offsets.count; i++)
		if (read_word(params, r->param_offsets.items[i]) == word)
			return true;
	return false;
}

/* Finds the words that lead into module variables: these lie elsewhere in another process. */
static int bind_variables(struct bound *b, const struct record_launch *launch, struct error *err)
{
	uint32_t variable = 0;

	for (size_t k = 0; k < launch->regions.count; k++) {
		const struct record_region *r = &launch->regions.items[k];

		if (region_is_addressed(r) || !r->size)
			continue;
		for (uint32_t at = 0; at + 8 <= b->params_bytes; at += 8) {
			uint64_t word;

			memcpy(&word, b->params + at, sizeof(word));
			if (word - r->base >= r->size || !leads_to(r, &launch->params, word))
				continue;
			if (b->variable_word_count == BOUND_MAX_VARIABLE_WORDS)
				return error_set(err, EINVAL, ERROR_NO_OFFSET,
						 "more than %d parameters of %s lead to module "
						 "variables",
						 BOUND_MAX_VARIABLE_WORDS, b->entry);
			b->variable_words[b->variable_word_count++] =
				(struct variable_word){at, variable, word - r->base};
		}
		variable++;
	}
	return 0;
}

static const struct record_tensor_map *find_tensor_map(const struct bundle *bundle,
						       const void *descriptor)
{
	for (size_t i = 0; bundle && i < bundle->tensor_maps.count; i++) {
		const struct record_tensor_map *m = &bundle->tensor_maps.items[i];

		if (m->descriptor.size == TENSOR_MAP_BYTES &&
		    !memcmp(m->descriptor.data, descriptor, TENSOR_MAP_BYTES))
			return m;
	}
	return NULL;
}

/* A recorded launch of target: of the same shape class if there is one. */
static const struct record_launch *target_launch(const struct suite_member *target,
						 const struct record_launch *launch)
{
	for (size_t i = 0; i < target->launch_count; i++)
		if (hash_equal(target->launches[i]->shape_class, launch->shape_class))
			return target->launches[i];
	return target->launch_count ? target->launches[0] : NULL;
}

/* Attributes without handles or addresses of the recorded process. */
static bool attribute_is_portable(uint32_t id)
{
	return id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE ||
	       id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION ||
	       id == CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE ||
	       id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION ||
	       id == 11 /* CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION, CUDA 12.8 */;
}

static void add_attribute(struct bound *b, uint32_t id, const void *value, size_t size)
{
	struct bound_attribute *a;

	if (b->attribute_count >= BOUND_MAX_ATTRIBUTES || size > sizeof(a->value))
		return;
	a = &b->attributes[b->attribute_count++];
	*a = (struct bound_attribute){.id = id};
	if (size)
		memcpy(a->value, value, size);
}

static void set_geometry(struct bound *b, const struct record_launch *from)
{
	memcpy(b->block, from->block, sizeof(b->block));
	b->shared_bytes = from->shared_bytes;
	b->attribute_count = 0;
	for (size_t i = 0; i < from->attributes.count; i++) {
		const struct record_attribute *a = &from->attributes.items[i];

		if (attribute_is_portable(a->id))
			add_attribute(b, a->id, a->value.data, a->value.size);
	}
	b->cooperative = from->flags & LAUNCH_COOPERATIVE;
}

/* Replaces the recorded cluster by the one that num_ctas asks for. */
static void set_cluster(struct bound *b, int64_t num_ctas)
{
	uint32_t dims[3] = {(uint32_t)num_ctas, 1, 1};
	size_t kept = 0;

	for (size_t i = 0; i < b->attribute_count; i++)
		if (b->attributes[i].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE ||
		    b->attributes[i].id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
			b->attributes[kept++] = b->attributes[i];
	b->attribute_count = kept;
	if (num_ctas > 1)
		add_attribute(b, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, dims, sizeof(dims));
}

/* Geometry of a target without a launch of its own: from its metadata. */
static int derive_geometry(struct bound *b, const struct record_launch *launch,
			   const struct suite_member *base, const struct suite_member *target,
			   struct error *err)
{
	const struct triton_kernel *t = target->triton;

	set_geometry(b, launch);
	if (!hash_is_zero(target->ptx_hash) && hash_equal(target->ptx_hash, base->ptx_hash)) {
		snprintf(b->note, sizeof(b->note), "geometry as recorded: the same PTX");
		return 0;
	}
	if (!t || t->total_warps <= 0) {
		size_t n, m;
		const struct record_param *x = member_params(base, &n);
		const struct record_param *y = member_params(target, &m);

		if (!layouts_equal(x, n, y, m))
			return error_set(err, EINVAL, ERROR_NO_OFFSET,
					 "geometry of %s is not known: no launch and no metadata",
					 b->entry);
		snprintf(b->note, sizeof(b->note), "geometry as recorded: no launch, no metadata");
		return 0;
	}
	b->block[0] = (t->warp_size ? t->warp_size : 32) * (uint32_t)t->total_warps;
	b->block[1] = b->block[2] = 1;
	b->shared_bytes = (uint32_t)t->shared_bytes; /* bounded by the driver at the launch */
	b->cooperative = t->cooperative;
	snprintf(b->note, sizeof(b->note), "block and shared memory from metadata");
	set_cluster(b, t->num_ctas);
	return 0;
}

static bool u64s_equal(const struct u64s *x, const struct u64s *y)
{
	return x->count == y->count &&
	       (!x->count || !memcmp(x->items, y->items, x->count * sizeof(*x->items)));
}

/* What a kernel's code presumes of its descriptor; address, sizes and strides are the tensor's. */
static bool same_shape(const struct record_tensor_map *x, const struct record_tensor_map *y)
{
	return x->data_type == y->data_type && u64s_equal(&x->box, &y->box) &&
	       u64s_equal(&x->element_strides, &y->element_strides) &&
	       x->interleave == y->interleave && x->swizzle == y->swizzle &&
	       x->oob_fill == y->oob_fill && u64s_equal(&x->lower_corner, &y->lower_corner) &&
	       u64s_equal(&x->upper_corner, &y->upper_corner) && x->channels == y->channels &&
	       x->pixels == y->pixels;
}

/* Finds the descriptors that target's own launch `own` had in another shape. */
static int bind_descriptors(struct bound *b, const struct bundle *launch_bundle,
			    const struct bundle *target_bundle, const struct record_launch *own,
			    struct error *err)
{
	for (size_t i = 0; i < b->layout_count; i++) {
		const struct record_param *p = &b->layout[i];
		const struct record_tensor_map *tensor, *shape;

		if (p->size != TENSOR_MAP_BYTES || (uint64_t)p->offset + p->size > own->params.size)
			continue;
		tensor = find_tensor_map(launch_bundle, b->params + p->offset);
		shape = find_tensor_map(target_bundle,
					(const uint8_t *)own->params.data + p->offset);
		if (!tensor || !shape || same_shape(tensor, shape))
			continue;
		if (tensor->dims.count != shape->dims.count ||
		    b->descriptor_count == BOUND_MAX_DESCRIPTORS)
			return error_set(err, EINVAL, ERROR_NO_OFFSET,
					 "parameter %zu of %s is a TMA descriptor of another rank, "
					 "or there are more than %d of them",
					 i, b->entry, BOUND_MAX_DESCRIPTORS);
		b->descriptors[b->descriptor_count++] =
			(struct descriptor){p->offset, tensor, shape};
	}
	return 0;
}

int bound_make(struct bound *out, const struct bundle *launch_bundle,
	       const struct record_launch *launch, const struct suite_member *base,
	       const struct suite_member *target, const struct bundle *target_bundle,
	       struct error *err)
{
	bool same = target == base || (hash_equal(target->image->id, base->image->id) &&
				       !strcmp(target->entry, base->entry));
	const struct record_launch *own = same ? launch : target_launch(target, launch);
	int rc = 0;

	*out = (struct bound){
		.bundle = target_bundle, .image = target->image, .entry = target->entry};
	memcpy(out->grid, launch->grid, sizeof(out->grid));
	if (own)
		set_geometry(out, own);
	else
		rc = derive_geometry(out, launch, base, target, err);
	if (!rc)
		rc = bind_params(out, launch, base, target, err);
	if (!rc && own && !same)
		rc = bind_descriptors(out, launch_bundle, target_bundle, own, err);
	if (!rc)
		rc = bind_variables(out, launch, err);
	if (rc)
		bound_free(out);
	return rc;
}

/* ---- pointers ---- */

/* The region that holds the recorded address; *at: where that lies in the launch's contents. */
static const struct record_region *region_of(const struct record_launch *launch, uint64_t address,
					     uint64_t *at)
{
	for (size_t i = 0; i < launch->regions.count; i++) {
		const struct record_region *r = &launch->regions.items[i];

		if (address < r->base || address - r->base >= r->size)
			continue;
		*at = layout_address(launch->regions.items, i) + (address - r->base);
		return r;
	}
	return NULL;
}

struct pointer_list {
	struct pointer *items;
	size_t count, capacity;
};

static int add_pointer(struct pointer_list *list, const struct record_launch *launch,
		       uint64_t address, const struct record_arg *arg, uint32_t number, bool stored)
{
	uint64_t at;
	const struct record_region *region = region_of(launch, address, &at);
	int rc;

	if (!region)
		return 0;
	rc = array_reserve(&list->items, list->count, &list->capacity, sizeof(*list->items));
	if (!rc)
		list->items[list->count++] =
			(struct pointer){.address = at,
					 .limit = at + (region->base + region->size - address),
					 .arg = number,
					 .dtype = arg ? arg->dtype : DTYPE_UNKNOWN,
					 .stored = stored};
	return rc;
}

/* Written by the kernel: measured, or seen to change. */
static bool is_written(const struct bundle *bundle, const struct record_launch *launch,
		       size_t region)
{
	const struct record_after *after = bundle ? bundle_after(bundle, launch->seq) : NULL;

	if (launch->measured)
		return launch->regions.items[region].writes.count;
	for (size_t i = 0; after && i < after->changes.count; i++)
		if (after->changes.items[i].region == region)
			return true;
	return false;
}

/* No parameter need lead to a module variable: the kernel's code names it. */
static int add_variables(struct pointer_list *list, const struct bundle *bundle,
			 const struct record_launch *launch)
{
	for (size_t i = 0; i < launch->regions.count; i++) {
		const struct record_region *r = &launch->regions.items[i];
		uint64_t at = layout_address(launch->regions.items, i);
		int rc;

		if (region_is_addressed(r) || !r->size)
			continue;
		rc = array_reserve(&list->items, list->count, &list->capacity,
				   sizeof(*list->items));
		if (rc)
			return rc;
		list->items[list->count++] =
			(struct pointer){.address = at,
					 .limit = at + r->size,
					 .dtype = r->dtype,
					 .stored = is_written(bundle, launch, i)};
	}
	return 0;
}

/* Outputs that pointers in memory lead to. */
static int add_found(struct pointer_list *list, const struct record_launch *launch)
{
	for (size_t i = 0; launch->measured && i < launch->regions.count; i++) {
		const struct record_region *r = &launch->regions.items[i];
		int rc;

		if (!region_is_addressed(r) || !r->writes.count || r->param_offsets.count)
			continue;
		rc = array_reserve(&list->items, list->count, &list->capacity,
				   sizeof(*list->items));
		if (rc)
			return rc;
		list->items[list->count++] = (struct pointer){
			.address = r->base, .limit = r->base + r->size, .stored = true};
	}
	return 0;
}

/* Whether a measured launch writes something of [from, end). */
static bool writes_within(const struct record_launch *launch, uint64_t from, uint64_t end)
{
	for (size_t k = 0; k < launch->regions.count; k++) {
		const struct record_region *r = &launch->regions.items[k];
		uint64_t base = layout_address(launch->regions.items, k);

		for (size_t i = 0; i + 1 < r->writes.count; i += 2)
			if (base + r->writes.items[i] < end &&
			    base + r->writes.items[i] + r->writes.items[i + 1] > from)
				return true;
	}
	return false;
}

/* The list is sorted. Without measurement the code must tell what is stored through. */
static void set_stored_type(struct pointer_list *list, const struct record_launch *launch,
			    bool told, enum dtype t)
{
	for (size_t i = 0; i < list->count; i++) {
		struct pointer *p = &list->items[i];
		uint64_t end = p->limit;

		if (i + 1 < list->count && p[1].address < end)
			end = p[1].address;
		if (p->stored && p->dtype == DTYPE_UNKNOWN &&
		    (launch->measured ? writes_within(launch, p->address, end) : told))
			p->dtype = t;
	}
}

/* Pointers of one parameter: the word, a descriptor's base, or every word of a struct. */
static int add_param(struct pointer_list *list, const struct bundle *bundle,
		     const struct record_launch *launch, const struct record_param *p,
		     const struct record_arg *arg, uint32_t number, bool stored)
{
	const uint8_t *at = (const uint8_t *)launch->params.data + p->offset;
	const struct record_tensor_map *map = NULL;
	int rc = 0;

	if ((uint64_t)p->offset + p->size > launch->params.size)
		return 0;
	if (p->size == TENSOR_MAP_BYTES)
		map = find_tensor_map(bundle, at);
	if (map)
		return add_pointer(list, launch, map->address, arg, number, stored);
	for (uint32_t i = 0; !rc && i + 8 <= p->size; i += 8)
		if (p->size == 8 ? !arg || arg->pointer : true)
			rc = add_pointer(list, launch, read_word(&launch->params, p->offset + i),
					 arg, number, stored);
	return rc;
}

int launch_pointers(struct pointer **out, size_t *count, const struct bundle *bundle,
		    const struct record_launch *launch, const struct suite_member *base,
		    uint64_t stored_params, bool all_stored, enum dtype stored_dtype)
{
	struct pointer_list list = {0};
	size_t n;
	const struct record_param *layout = member_params(base, &n);
	int rc = 0;

	*out = NULL;
	*count = 0;
	for (size_t i = 0; !rc && i < n; i++) {
		const struct record_arg *arg = member_arg(base, i);
		bool stored = all_stored || (i < 64 && stored_params >> i & 1);

		if (!is_hidden(base, i))
			rc = add_param(&list, bundle, launch, &layout[i], arg,
				       arg ? (uint32_t)i + 1 : 0, stored);
	}
	for (size_t i = 0; !rc && !n && i + 8 <= launch->params.size; i += 8)
		rc = add_pointer(&list, launch, read_word(&launch->params, i), NULL, 0, all_stored);
	if (!rc)
		rc = add_variables(&list, bundle, launch);
	if (!rc)
		rc = add_found(&list, launch);
	if (rc) {
		free(list.items);
		return rc;
	}
	pointers_sort(list.items, &list.count);
	set_stored_type(&list, launch, !all_stored, stored_dtype);
	*out = list.items;
	*count = list.count;
	return 0;
}

/* ---- text ---- */

static void print_value(FILE *f, const struct record_arg *arg, const uint8_t *at, uint32_t size)
{
	uint64_t word = 0;

	memcpy(&word, at, size < sizeof(word) ? size : sizeof(word));
	if (size > sizeof(word))
		fprintf(f, "(%u bytes)", size);
	else if (arg && !arg->pointer && arg->dtype == DTYPE_F32 && size == 4)
		fprintf(f, "%.9g", (double)*(const float *)memcpy(&(float){0}, at, 4));
	else if (arg && !arg->pointer && arg->dtype == DTYPE_F64 && size == 8)
		fprintf(f, "%.17g", *(const double *)memcpy(&(double){0}, at, 8));
	else if (size == 8 && (!arg || arg->pointer))
		fprintf(f, "0x%llx", (unsigned long long)word);
	else if (size == 4)
		fprintf(f, "%d", (int)(int32_t)(uint32_t)word);
	else
		fprintf(f, "%lld", (long long)word);
}

char *launch_params_text(const struct record_launch *launch, const struct suite_member *base)
{
	char *text = NULL;
	size_t size, n;
	FILE *f = open_memstream(&text, &size);
	const struct record_param *layout = member_params(base, &n);

	if (!f)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		const struct record_arg *arg = member_arg(base, i);

		if (is_hidden(base, i) ||
		    (uint64_t)layout[i].offset + layout[i].size > launch->params.size)
			continue;
		if (arg && arg->name)
			fprintf(f, "%s%s=", i ? " " : "", arg->name);
		else
			fprintf(f, "%sp%zu=", i ? " " : "", i);
		print_value(f, arg, (const uint8_t *)launch->params.data + layout[i].offset,
			    layout[i].size);
	}
	if (fclose(f)) {
		free(text);
		return NULL;
	}
	return text;
}
