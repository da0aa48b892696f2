/* SPDX-License-Identifier: MIT */
/* Reads a Triton cache entry: options and sizes from .json, arguments and shapes from .source. */
#include "lib/image/triton.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "lib/base.h"
#include "lib/image/identity.h"
#include "lib/image/shapes.h"

#define SHAPES_SHOWN 6u

static int bad(struct error *err, const char *key, const char *what)
{
	return error_set(err, EINVAL, ERROR_NO_OFFSET, "Triton metadata: %s %s", key, what);
}

/* An integer in [low, high]; null and absent read as `absent`. */
static int get_integer(const json_t *j, const char *key, int64_t low, int64_t high, int64_t absent,
		       int64_t *out, struct error *err)
{
	const json_t *v = json_object_get(j, key);

	*out = absent;
	if (!v || json_is_null(v))
		return 0;
	if (!json_is_integer(v))
		return bad(err, key, "is no integer");
	*out = json_integer_value(v);
	if (*out < low || *out > high)
		return bad(err, key, "is out of range");
	return 0;
}

static int get_bool(const json_t *j, const char *key, bool *out, struct error *err)
{
	const json_t *v = json_object_get(j, key);

	if (v && !json_is_null(v) && !json_is_boolean(v))
		return bad(err, key, "is no boolean");
	*out = json_is_true(v);
	return 0;
}

/* Sizes and options that are plain integers. */
static int read_integers(struct triton_kernel *k, const json_t *j, struct error *err)
{
	int64_t warp_size, shared, global, global_align, profile, profile_align;
	const struct {
		const char *key;
		int64_t low, high, absent, *out;
	} rows[] = {
		{"num_warps", 1, 64, 0, &k->total_warps},
		{"num_stages", 0, 1 << 16, 0, &k->num_stages},
		{"num_ctas", 1, 1 << 16, 1, &k->num_ctas},
		{"maxnreg", 0, 1 << 16, 0, &k->maxnreg},
		{"warp_size", 1, 128, 32, &warp_size},
		{"shared", 0, UINT32_MAX, 0, &shared},
		{"global_scratch_size", 0, INT64_MAX, 0, &global},
		{"global_scratch_align", 0, 1 << 20, 1, &global_align},
		{"profile_scratch_size", 0, INT64_MAX, 0, &profile},
		{"profile_scratch_align", 0, 1 << 20, 1, &profile_align},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		int r = get_integer(j, rows[i].key, rows[i].low, rows[i].high, rows[i].absent,
				    rows[i].out, err);

		if (r)
			return r;
	}
	if (!k->total_warps)
		return bad(err, "num_warps", "is missing");
	k->warp_size = (uint32_t)warp_size;
	k->shared_bytes = (uint64_t)shared;
	k->global_scratch_bytes = (uint64_t)global;
	k->global_scratch_align = (uint64_t)global_align;
	k->profile_scratch_bytes = (uint64_t)profile;
	k->profile_scratch_align = (uint64_t)profile_align;
	k->has_global_scratch = json_object_get(j, "global_scratch_size");
	k->has_profile_scratch = json_object_get(j, "profile_scratch_size");
	return 0;
}

static int read_texts(struct triton_kernel *k, const json_t *j, struct error *err)
{
	const char *name = json_string_value(json_object_get(j, "name"));
	const char *version = json_string_value(json_object_get(j, "triton_version"));

	if (!name || !*name)
		return bad(err, "name", "is missing");
	k->name = strdup(name);
	k->triton_version = strdup(version ? version : "");
	return k->name && k->triton_version ? 0
					    : error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory");
}

static int read_json(struct triton_kernel *k, const json_t *j, struct error *err)
{
	const json_t *target = json_object_get(j, "target");
	const json_t *arch = json_object_get(target, "arch");
	int r;

	if (!json_is_object(j))
		return error_set(err, EINVAL, 0, "Triton metadata: no JSON object");
	r = read_texts(k, j, err);
	if (!r)
		r = read_integers(k, j, err);
	if (!r)
		r = get_bool(j, "enable_fp_fusion", &k->enable_fp_fusion, err);
	if (!r)
		r = get_bool(j, "launch_cooperative_grid", &k->cooperative, err);
	if (!r)
		r = get_bool(j, "launch_pdl", &k->pdl, err);
	if (json_is_integer(arch) && json_integer_value(arch) > 0 &&
	    json_integer_value(arch) < UINT32_MAX)
		k->arch = (uint32_t)json_integer_value(arch);
	return r;
}

/*
 * The module attribute ttg.num-warps (triton_gpu.num-warps before 3.2): what the config asked for.
 * Only the first lines matter: the attribute stands on the module.
 */
static int64_t config_warps(const struct span *ttgir)
{
	static const char *const keys[] = {"\"ttg.num-warps\"", "\"triton_gpu.num-warps\""};
	struct ir ir = {ttgir->data, ttgir->size, 0};

	while (!ir_end(&ir) && !ir_begins(&ir, ir.at, "tt.func")) {
		for (size_t i = 0; i < ARRAY_LENGTH(keys); i++) {
			struct ir value = ir;
			int64_t v = 0;

			if (!ir_take(&value, keys[i]) || !ir_take(&value, "="))
				continue;
			ir_skip_space(&value);
			while (ir_peek(&value) >= '0' && ir_peek(&value) <= '9' && v < 1000)
				v = v * 10 + (value.text[value.at++] - '0');
			return v >= 1 && v <= 64 ? v : 0;
		}
		if (ir_peek(&ir) != '"' || !ir_string(&ir, NULL))
			ir.at++;
	}
	return 0;
}

static char *options_text(const struct triton_kernel *k, const char *shapes, const char *constexprs)
{
	char ctas[32] = "", maxnreg[32] = "";

	if (k->num_ctas != 1)
		snprintf(ctas, sizeof(ctas), " num_ctas=%" PRId64, k->num_ctas);
	if (k->maxnreg)
		snprintf(maxnreg, sizeof(maxnreg), " maxnreg=%" PRId64, k->maxnreg);
	return text_format("num_warps=%" PRId64 " num_stages=%" PRId64 "%s%s%s%s%s%s%s",
			   k->num_warps, k->num_stages, ctas, maxnreg,
			   k->enable_fp_fusion ? "" : " enable_fp_fusion=false", *shapes ? " " : "",
			   shapes, *constexprs ? " " : "", constexprs);
}

static int read_source(struct triton_kernel *k, const struct span *source, const struct note *note,
		       struct error *err)
{
	_cleanup_free_ struct shape *shapes = NULL;
	_cleanup_free_ char *shown = NULL;
	size_t shape_count = 0;
	int r;

	if (source->data) {
		r = signature_parse(&k->signature, source->data, source->size, err);
		if (r == -ENOENT)
			return error_set(err, EINVAL, ERROR_NO_OFFSET,
					 "Triton metadata of %s: no public tt.func in its IR",
					 k->name);
		if (!r)
			r = shapes_find(source->data, source->size, &shapes, &shape_count);
		if (r)
			return r;
	}
	shown = shapes_text(shapes, shape_count, SHAPES_SHOWN);
	k->options = shown ? options_text(k, shown, note ? note->constexprs : "") : NULL;
	if (!k->options)
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory");
	return identity_make(k, source, shapes, shape_count, err);
}

int triton_kernel_parse(struct triton_kernel **out, const struct triton_texts *texts,
			struct error *err)
{
	struct triton_kernel *k;
	json_error_t at;
	json_t *j;
	int r;

	if (!texts->json.data)
		return error_set(err, EINVAL, ERROR_NO_OFFSET, "Triton metadata: no .json");
	j = json_loadb(texts->json.data, texts->json.size, 0, &at);
	if (!j)
		return error_set(err, EINVAL, (uint64_t)at.position, "Triton metadata: %s",
				 at.text);
	k = calloc(1, sizeof(*k));
	r = k ? read_json(k, j, err) : error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory");
	json_decref(j);
	if (!r) {
		k->num_warps = texts->ttgir.data ? config_warps(&texts->ttgir) : 0;
		k->warps_known = k->num_warps;
		if (!k->warps_known)
			k->num_warps = k->total_warps;
		r = read_source(k, &texts->source, texts->note, err);
	}
	if (r) {
		triton_kernel_free(k);
		return r;
	}
	*out = k;
	return 0;
}

void triton_kernel_free(struct triton_kernel *k)
{
	if (!k)
		return;
	signature_free(k->signature);
	free(k->name);
	free(k->triton_version);
	free(k->options);
	free(k);
}
