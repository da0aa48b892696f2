/* SPDX-License-Identifier: MIT */
/* Prints a launch: what the numbers in its records mean. */
#include "tools/show_launch.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "analyze/number.h"
#include "kernelab/dtype.h"
#include "lib/base.h"
#include "lib/pairs.h"
#include "lib/signature.h"
#include "tools/suite_report.h"

#define TENSOR_MAP_BYTES 128u

static void print_size(FILE *f, uint64_t bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	double v = (double)bytes;
	size_t unit = 0;

	while (v >= 1024 && unit + 1 < ARRAY_LENGTH(units)) {
		v /= 1024;
		unit++;
	}
	fprintf(f, "%.*f %s", unit && v < 100 ? 1 : 0, v, units[unit]);
}

/* " → region 2 + 0x40"; nothing where the address is in no region. */
static void print_target(FILE *f, const struct record_launch *l, uint64_t address)
{
	for (size_t i = 0; i < l->regions.count; i++) {
		const struct record_region *r = &l->regions.items[i];

		if (address >= r->base && address - r->base < r->size) {
			fprintf(f, " → region %zu + 0x%" PRIx64, i, address - r->base);
			return;
		}
	}
}

static void print_list(FILE *f, const char *name, const struct u64s *list)
{
	fprintf(f, " %s", name);
	for (size_t i = 0; i < list->count; i++)
		fprintf(f, "%s%" PRIu64, i ? "x" : " ", list->items[i]);
}

/* The encode call that made these 128 bytes: the latest one that the capture saw. */
static void print_tensor_map(FILE *f, const struct bundle *b, const struct record_launch *l,
			     const uint8_t *bytes)
{
	for (size_t i = b->tensor_maps.count; i > 0; i--) {
		const struct record_tensor_map *t = &b->tensor_maps.items[i - 1];

		if (t->descriptor.size != TENSOR_MAP_BYTES ||
		    memcmp(t->descriptor.data, bytes, TENSOR_MAP_BYTES) != 0)
			continue;
		fprintf(f, "TMA descriptor of type %" PRIu32 " at 0x%" PRIx64, t->data_type,
			t->address);
		print_target(f, l, t->address);
		print_list(f, "shape", &t->dims);
		print_list(f, "strides", &t->strides_bytes);
		print_list(f, "box", &t->box);
		return;
	}
	fprintf(f, "TMA descriptor whose encoding was not seen");
}

static void print_bytes(FILE *f, const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		fprintf(f, "%02x", bytes[i]);
}

/* dtype UNKNOWN: an integer or address of unknown kind, shown both ways. */
static void print_value(FILE *f, const struct bundle *b, const struct record_launch *l,
			const struct record_arg *arg, const uint8_t *bytes, uint32_t size)
{
	enum dtype t = arg ? (enum dtype)arg->dtype : DTYPE_UNKNOWN;
	uint64_t v = 0;
	double number;
	int64_t integer;

	if (arg ? signature_is_descriptor(arg->type) : size == TENSOR_MAP_BYTES) {
		if (size == TENSOR_MAP_BYTES)
			print_tensor_map(f, b, l, bytes);
		return;
	}
	if (size > 8) {
		print_bytes(f, bytes, size);
		return;
	}
	memcpy(&v, bytes, size);
	if ((arg && arg->pointer) || (!arg && size == 8)) {
		fprintf(f, "0x%" PRIx64, v);
		print_target(f, l, v);
	} else if (!arg || t == DTYPE_UNKNOWN || dtype_bytes(t) != size) {
		fprintf(f, "%" PRIu64 " (0x%" PRIx64 ")", v, v);
	} else {
		number_load(t, bytes, 1, &number, &integer);
		if (dtype_is_float(t))
			fprintf(f, "%.9g", number);
		else
			fprintf(f, "%" PRId64, t == DTYPE_BOOL ? (int64_t)v : integer);
	}
}

/*
 * Parameters are the arguments in their order, then, at the end, the hidden ones; what stands
 * between (automatic TMA descriptors of TLX) has no name.
 */
static const char *param_name(const struct suite_member *m, size_t index, size_t count,
			      const struct record_arg **arg)
{
	const struct triton_kernel *t = m->triton;
	size_t args = t && t->signature ? t->signature->arg_count : 0;
	size_t hidden = t ? (size_t)t->has_global_scratch + t->has_profile_scratch : 0;

	*arg = NULL;
	if (index < args) {
		*arg = &t->signature->args[index];
		return (*arg)->name;
	}
	if (t && index + hidden >= count)
		return index + hidden == count && t->has_global_scratch ? "(global scratch)"
									: "(profile scratch)";
	return "(unnamed)";
}

static int print_params(FILE *f, const struct bundle *b, const struct suite_member *m,
			const struct record_launch *l)
{
	size_t count = m->kernel->params.count;

	if (l->flags & LAUNCH_PARAMS_UNKNOWN) {
		fprintf(f, "  parameters: the driver gave no layout\n");
		return 0;
	}
	for (size_t i = 0; i < count; i++) {
		const struct record_param *p = &m->kernel->params.items[i];
		const struct record_arg *arg;
		_cleanup_free_ char *name = suite_clean(param_name(m, i, count, &arg));
		_cleanup_free_ char *type = suite_clean(arg ? arg->type : "");

		if (!name || !type)
			return -ENOMEM;
		fprintf(f, "  %-24s %-16s ", name, type);
		if (p->offset > l->params.size || p->size > l->params.size - p->offset)
			fprintf(f, "beyond the recorded parameters");
		else
			print_value(f, b, l, arg, (const uint8_t *)l->params.data + p->offset,
				    p->size);
		fprintf(f, "\n");
	}
	return 0;
}

void show_scalars(FILE *f, const struct suite_member *m, const struct record_launch *l)
{
	const struct signature *s = m->triton ? m->triton->signature : NULL;

	if (l->flags & LAUNCH_PARAMS_UNKNOWN)
		return;
	for (size_t i = 0; s && i < s->arg_count && i < m->kernel->params.count; i++) {
		const struct record_param *p = &m->kernel->params.items[i];
		const struct record_arg *a = &s->args[i];
		_cleanup_free_ char *name = suite_clean(a->name);
		double number;
		int64_t v;

		if (!name || a->pointer || a->dtype == DTYPE_UNKNOWN ||
		    signature_is_descriptor(a->type) || dtype_is_float((enum dtype)a->dtype) ||
		    p->offset > l->params.size || dtype_bytes((enum dtype)a->dtype) != p->size ||
		    p->size > l->params.size - p->offset)
			continue;
		number_load((enum dtype)a->dtype, (const uint8_t *)l->params.data + p->offset, 1,
			    &number, &v);
		fprintf(f, " %s=%" PRId64, name, v);
	}
}

static void print_attributes(FILE *f, const struct record_launch *l)
{
	for (size_t i = 0; i < l->attributes.count; i++) {
		const struct record_attribute *a = &l->attributes.items[i];

		fprintf(f, "  attribute %" PRIu32 "%s: ", a->id,
			a->id == 2   ? " (cooperative)"
			: a->id == 4 ? " (cluster)"
			: a->id == 6 ? " (programmatic stream serialization)"
				     : "");
		print_bytes(f, a->value.data, a->value.size);
		fprintf(f, "%s\n", a->value.size ? "" : "0");
	}
}

static int print_region(FILE *f, const struct record_region *r, size_t index)
{
	_cleanup_free_ char *name = suite_clean(r->name), *note = suite_clean(r->note);

	if (!name || !note)
		return -ENOMEM;
	fprintf(f, "  region %zu: 0x%" PRIx64 ", ", index, r->base);
	print_size(f, r->size);
	fprintf(f, ", %s%s%s", memory_kind_name(r->memory), *name ? " " : "", name);
	if (r->reservation_size) {
		fprintf(f, ", reservation 0x%" PRIx64 " of ", r->reservation_base);
		print_size(f, r->reservation_size);
	}
	fprintf(f, "; %s%s%s\n", r->chunks.count ? "contents recorded" : "no contents",
		*note ? ": " : "", note);
	if (r->reads.count || r->writes.count) {
		fputs("    reads ", f);
		print_size(f, pairs_bytes(&r->reads));
		fprintf(f, " in %zu ranges, writes ", r->reads.count / 2);
		print_size(f, pairs_bytes(&r->writes));
		fprintf(f, " in %zu ranges\n", r->writes.count / 2);
	}
	return 0;
}

/* Changed chunks, those that touch as one range; order is that of the record. */
static void print_changes(FILE *f, const struct record_launch *l, const struct record_after *after)
{
	size_t n = after->changes.count;

	for (size_t i = 0, next; i < n; i = next) {
		const struct record_change *c = &after->changes.items[i];
		const struct record_region *r;
		uint64_t first, end = 0;
		uint32_t bytes;

		next = i + 1;
		if (c->region >= l->regions.count ||
		    c->chunk >= chunk_count(l->regions.items[c->region].base,
					    l->regions.items[c->region].size)) {
			fprintf(f,
				"  changed: chunk %" PRIu64 " of region %" PRIu32
				", which is not there\n",
				c->chunk, c->region);
			continue;
		}
		r = &l->regions.items[c->region];
		chunk_range(r->base, r->size, c->chunk, &first, &bytes);
		end = first + bytes;
		while (next < n && after->changes.items[next].region == c->region &&
		       after->changes.items[next].chunk == c->chunk + (next - i) &&
		       end - r->base < r->size) {
			uint64_t start;

			chunk_range(r->base, r->size, after->changes.items[next].chunk, &start,
				    &bytes);
			end = start + bytes;
			next++;
		}
		fprintf(f, "  changed: region %" PRIu32 " + 0x%" PRIx64 ", %zu %s, ", c->region,
			first - r->base, next - i, next - i == 1 ? "chunk" : "chunks");
		print_size(f, end - first);
		fprintf(f, "\n");
	}
}

static void print_after(FILE *f, const struct bundle *b, const struct record_launch *l)
{
	const struct record_after *after = bundle_after(b, l->seq);

	if (!after) {
		fprintf(f, "  after: not recorded\n");
		return;
	}
	fprintf(f, "  after: call returned %" PRId64 ", its stream %" PRId64 "\n", after->result,
		after->sync_result);
	if (!after->changes.count && !(l->flags & (LAUNCH_NO_DATA | LAUNCH_IN_CAPTURE)))
		fprintf(f, "  changed: nothing\n");
	print_changes(f, l, after);
}

static void print_flags(FILE *f, uint32_t flags)
{
	static const struct {
		uint32_t flag;
		const char *text;
	} rows[] = {
		{LAUNCH_IN_CAPTURE, "inside stream capture: no contents"},
		{LAUNCH_NO_DATA, "captured with --no-data"},
		{LAUNCH_CONTENTS_MISSING, "contents missing"},
		{LAUNCH_COOPERATIVE, "cooperative"},
		{LAUNCH_PARAMS_UNKNOWN, "parameter layout unknown"},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		if (flags & rows[i].flag)
			fprintf(f, "  %s\n", rows[i].text);
	}
}

int show_launch(FILE *f, const struct bundle *b, const struct suite_member *m,
		const struct record_launch *l)
{
	_cleanup_free_ char *path = suite_clean(b->path), *entry = suite_clean(m->entry);
	_cleanup_free_ char *call = suite_clean(l->call), *note = suite_clean(l->note);
	_cleanup_free_ char *extents = suite_clean(l->extents);
	int r;

	if (!path || !entry || !call || !note || !extents)
		return -ENOMEM;
	fprintf(f, "launch %" PRIu64 " of %s: %s", l->seq, path, entry);
	if (m->triton)
		fprintf(f, " (%s)", m->triton->options);
	fprintf(f,
		"\n  grid %" PRIu32 "x%" PRIu32 "x%" PRIu32 ", block %" PRIu32 "x%" PRIu32
		"x%" PRIu32 ", %" PRIu32 " bytes dynamic shared memory, device %" PRIu32
		", stream 0x%" PRIx64 ", by %s\n",
		l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2],
		l->shared_bytes, l->device, l->stream, *call ? call : "?");
	print_flags(f, l->flags);
	if (*note)
		fprintf(f, "  note: %s\n", note);
	if (l->measured || *extents)
		fprintf(f, "  extents: %s%s%s\n", l->measured ? "measured" : "not measured",
			*extents ? ": " : "", extents);
	print_attributes(f, l);
	r = print_params(f, b, m, l);
	for (size_t i = 0; i < l->regions.count && !r; i++)
		r = print_region(f, &l->regions.items[i], i);
	if (!r)
		print_after(f, b, l);
	return r;
}
