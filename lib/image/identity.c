/* SPDX-License-Identifier: MIT */
/* Makes the keys of families and configs. Each begins with a word of its own, so none equals
 * another. */
#include "lib/image/identity.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "kernelab/dtype.h"
#include "lib/base.h"
#include "lib/image/canonical.h"
#include "lib/origin.h"

static int no_memory(struct error *err)
{
	return error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for a kernel's keys");
}

static void add_number(struct hash_state *s, int64_t v)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, v);
	hash_state_add_text(s, text);
}

/*
 * An argument's type as it is the same in all configs and Triton versions: a descriptor without its
 * block shape (a constexpr), a pointer without address space.
 */
static void add_type(struct hash_state *s, const struct record_arg *arg)
{
	if (signature_is_descriptor(arg->type)) {
		hash_state_add_text(s, "descriptor");
		hash_state_add_text(s, dtype_name(arg->dtype));
	} else if (arg->pointer && arg->dtype != DTYPE_UNKNOWN) {
		hash_state_add_text(s, "pointer");
		hash_state_add_text(s, dtype_name(arg->dtype));
	} else {
		hash_state_add_text(s, arg->type);
	}
}

static void add_types(struct hash_state *s, const struct signature *sig)
{
	add_number(s, sig ? (int64_t)sig->arg_count : -1);
	for (size_t i = 0; sig && i < sig->arg_count; i++)
		add_type(s, &sig->args[i]);
}

/*
 * Where a kernel's source is a file of a person, its name and line tell kernels apart; the folder
 * does not count, for A and B may be two installations. Generated files have other names in every
 * build; there the argument names are what is left.
 */
static void add_place(struct hash_state *s, const struct signature *sig)
{
	const char *file = sig ? sig->source_file : "", *slash = strrchr(file, '/');

	if (*file && !origin_inductor_file(file)) {
		hash_state_add_text(s, "place");
		hash_state_add_text(s, slash ? slash + 1 : file);
		add_number(s, sig->source_line);
		return;
	}
	hash_state_add_text(s, "names");
	for (size_t i = 0; sig && i < sig->arg_count; i++)
		hash_state_add_text(s, sig->args[i].name);
}

static void add_options(struct hash_state *s, const struct triton_kernel *k)
{
	add_number(s, k->num_warps);
	add_number(s, k->num_stages);
	add_number(s, k->num_ctas);
	add_number(s, k->maxnreg);
	add_number(s, k->enable_fp_fusion);
}

static struct hash_state *begin(const char *word, const struct triton_kernel *k)
{
	struct hash_state *s = hash_state_new();

	if (s) {
		hash_state_add_text(s, word);
		hash_state_add_text(s, k->name);
	}
	return s;
}

static int finish(struct hash_state *s, struct hash128 *key)
{
	if (!s)
		return -ENOMEM;
	*key = hash_state_end(s);
	hash_state_free(s);
	return 0;
}

static int make_family(struct triton_kernel *k)
{
	struct hash_state *s = begin("family", k);

	if (s) {
		add_types(s, k->signature);
		add_place(s, k->signature);
	}
	return finish(s, &k->family);
}

static int make_config(struct triton_kernel *k, const struct span *source)
{
	_cleanup_free_ char *canonical = NULL;
	struct hash_state *s;
	size_t size = 0;

	if (source->data && canonical_source(source->data, source->size, &canonical, &size) < 0)
		return -ENOMEM;
	s = begin("config", k);
	if (s) {
		add_options(s, k);
		hash_state_add(s, canonical, size);
	}
	return finish(s, &k->config);
}

static int make_loose(struct triton_kernel *k, const struct shape *shapes, size_t shape_count)
{
	struct hash_state *s = begin("loose", k);

	if (s) {
		add_options(s, k);
		add_types(s, k->signature);
		for (size_t i = 0; i < shape_count; i++) {
			for (uint32_t d = 0; d < shapes[i].rank; d++)
				add_number(s, shapes[i].dims[d]);
			hash_state_add_text(s, ".");
		}
	}
	return finish(s, &k->loose);
}

static int make_special(struct triton_kernel *k)
{
	struct hash_state *s = hash_state_new();

	if (s) {
		hash_state_add_text(s, "special");
		for (size_t i = 0; k->signature && i < k->signature->arg_count; i++)
			add_number(s, k->signature->args[i].divisibility);
	}
	return finish(s, &k->special);
}

int identity_make(struct triton_kernel *k, const struct span *source, const struct shape *shapes,
		  size_t shape_count, struct error *err)
{
	if (make_family(k) < 0 || make_config(k, source) < 0 ||
	    make_loose(k, shapes, shape_count) < 0 || make_special(k) < 0)
		return no_memory(err);
	return 0;
}

int identity_plain(const char *entry, const struct record_param *params, size_t param_count,
		   struct hash128 *family, struct error *err)
{
	struct hash_state *s = hash_state_new();

	if (s) {
		hash_state_add_text(s, "plain");
		hash_state_add_text(s, entry);
		for (size_t i = 0; i < param_count; i++) {
			add_number(s, params[i].offset);
			add_number(s, params[i].size);
		}
	}
	return finish(s, family) < 0 ? no_memory(err) : 0;
}
