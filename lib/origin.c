/* SPDX-License-Identifier: MIT */
/* Decides where an image came from; the rules stand in the header. */
#include "lib/origin.h"

#include <string.h>

#include "lib/base.h"
#include "lib/ir.h"
#include "lib/signature.h"

#define INDUCTOR_KEY 51 /* base32 digits of a SHA-256, behind a "c" */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool origin_inductor_file(const char *path)
{
	const char *name = base_name(path);

	if (strlen(name) != 1 + INDUCTOR_KEY + 3 || name[0] != 'c' ||
	    strcmp(name + 1 + INDUCTOR_KEY, ".py") != 0)
		return false;
	for (size_t i = 1; i <= INDUCTOR_KEY; i++) {
		if (!(name[i] >= 'a' && name[i] <= 'z') && !(name[i] >= '2' && name[i] <= '7'))
			return false;
	}
	return name - path >= 3 && name[-2] == name[2] && name[-3] == name[1] &&
	       (name - path == 3 || name[-4] == '/');
}

static bool begins(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

/* "" or what Inductor appends to tell kernels apart: _0, _17 */
static bool number_suffix(const char *s)
{
	if (!*s)
		return true;
	if (*s++ != '_' || !*s)
		return false;
	while (*s >= '0' && *s <= '9')
		s++;
	return !*s;
}

bool origin_inductor_entry(const char *entry)
{
	static const char *const templates[] = {
		"mm",
		"mm_persistent",
		"mm_persistent_tma",
		"mm_plus_mm",
		"bmm",
		"grouped_mm",
		"scaled_grouped_mm",
		"scaled_mm",
		"scaled_mm_device_tma_epilogue_scaling",
		"scaled_mm_device_tma_main_loop_scaling",
		"blackwell_ws_persistent_device_tma",
		"blackwell_decompose_k_partial",
		"b2b_gemm_left",
		"b2b_gemm_right",
		"convolution",
		"convolution2d",
		"convolution3d",
		"flex_attention",
		"flex_attention_backward",
		"flex_decoding",
	};
	static const char *const categories[] = {"poi", "red",   "per", "tem", "for",
						 "spl", "split", "coo", "mix", "unk"};

	if (!begins(entry, "triton_"))
		return false;
	entry += strlen("triton_");
	if (!*entry)
		return true;
	for (size_t i = 0; i < ARRAY_LENGTH(categories); i++) {
		size_t n = strlen(categories[i]);

		if (begins(entry, categories[i]) &&
		    (begins(entry + n, "_fused") || (entry[n] && number_suffix(entry + n))))
			return true;
	}
	for (size_t i = 0; i < ARRAY_LENGTH(templates); i++) {
		if (begins(entry, templates[i]) && number_suffix(entry + strlen(templates[i])))
			return true;
	}
	return false;
}

/*
 * TLX's dialect in IR text: an operation (tlx.require_layout …), attribute (#tlx.…, tlx.has_… = …)
 * or type (!tlx.…), quoted or not. File names and symbols with "tlx." in them are none.
 */
static bool has_tlx(const char *text, size_t size)
{
	struct ir ir = {text, size, 0};

	while (!ir_end(&ir)) {
		struct span s;

		if (ir_peek(&ir) == '"') {
			if (!ir_string(&ir, &s))
				return false;
			if (s.size > 4 && !memcmp(s.data, "tlx.", 4) &&
			    (ir_peek(&ir) == '('
				     ? ir.text[ir.at + 1 < size ? ir.at + 1 : ir.at] != '#'
				     : ir_take(&ir, "=")))
				return true;
			continue;
		}
		if (ir_peek(&ir) == 't' && ir_begins(&ir, ir.at, "tlx.") &&
		    (!ir.at || (!ir_identifier_char(text[ir.at - 1]) && text[ir.at - 1] != '@' &&
				text[ir.at - 1] != '%')))
			return true;
		ir.at++;
	}
	return false;
}

/* cuda_utils….so compiles and loads images, __triton_launcher….so launches them. */
static bool triton_library(const char *path)
{
	const char *name = base_name(path);

	return begins(name, "cuda_utils") || begins(name, "__triton_launcher");
}

/* base32 without padding (Triton 3.3 and later), base64url (3.2), hexadecimal (before). */
static bool cache_key(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char c = s[i];
		bool upper = c >= 'A' && c <= 'Z', lower = c >= 'a' && c <= 'z';
		bool digit = c >= '0' && c <= '9';

		if (n == 52   ? !upper && !(c >= '2' && c <= '7')
		    : n == 43 ? !upper && !lower && !digit && c != '-' && c != '_'
			      : n != 64 || (!digit && !(c >= 'a' && c <= 'f')))
			return false;
	}
	return n > 0;
}

/* <cache>/<key of a SHA-256>/<name>.cubin (triton/runtime/cache.py). */
static bool triton_cache_file(const char *path)
{
	const char *name = base_name(path), *folder;
	size_t n = strlen(name);

	if (name == path || n < 7 || strcmp(name + n - 6, ".cubin") != 0)
		return false;
	folder = name - 1;
	while (folder > path && folder[-1] != '/')
		folder--;
	return cache_key(folder, (size_t)(name - 1 - folder));
}

static enum origin decide(const struct origin_evidence *e, const char *entry, const char *file,
			  const char **how)
{
	bool generated = file && origin_inductor_file(file);
	bool named = !(file && *file) && entry && origin_inductor_entry(entry);

	if ((e->source && has_tlx(e->source, e->source_size)) ||
	    (e->ttir && has_tlx(e->ttir, e->ttir_size))) {
		*how = "TLX operations in its Triton IR";
		return ORIGIN_TLX;
	}
	if (generated && entry && !begins(entry, "triton_")) {
		*how = "user-written kernel in a file that Inductor generated";
		return ORIGIN_TRITON;
	}
	if (generated || named) {
		*how = generated ? "its source is a file that Inductor generated"
				 : "its entry name is one of Inductor's";
		return ORIGIN_INDUCTOR;
	}
	if (e->source || e->ttir) {
		*how = "a Triton cache entry holds the same image";
		return ORIGIN_TRITON;
	}
	if (e->image_path && triton_cache_file(e->image_path)) {
		*how = "loaded from a file of a Triton cache";
		return ORIGIN_TRITON;
	}
	if (e->caller && triton_library(e->caller)) {
		*how = "loaded by Triton's driver utility";
		return ORIGIN_TRITON;
	}
	*how = "no sign of Triton";
	return ORIGIN_OTHER;
}

enum origin origin_decide(const struct origin_evidence *e, const char **how)
{
	const char *text = e->source ? e->source : e->ttir, *ignored;
	size_t size = e->source ? e->source_size : e->ttir_size;
	struct signature *s = NULL;
	enum origin origin;

	if (text && signature_parse(&s, text, size, NULL) < 0)
		s = NULL; /* unreadable IR says nothing; the other rules still hold */
	origin =
		decide(e, s ? s->entry : e->entry, s ? s->source_file : NULL, how ? how : &ignored);
	signature_free(s);
	return origin;
}
