/* SPDX-License-Identifier: MIT */
/* kernelab show: families and launches of captures in detail. */
#include <errno.h>
#include <inttypes.h>
#include <regex.h>
#include <stdio.h>
#include <string.h>

#include "kernelab/dtype.h"
#include "lib/base.h"
#include "lib/log.h"
#include "tools/show_launch.h"
#include "tools/show_tuning.h"
#include "tools/suite_report.h"
#include "tools/verbs.h"

/* A recorded launch of that class; NULL if there is none. */
static const struct record_launch *example(const struct suite_member *m,
					   const struct suite_class *c)
{
	for (size_t i = 0; i < m->launch_count; i++) {
		if (hash_equal(m->launches[i]->shape_class, c->key))
			return m->launches[i];
	}
	return NULL;
}

static void print_classes(FILE *f, const struct suite_member *m)
{
	for (size_t i = 0; i < m->class_count; i++) {
		const struct suite_class *c = &m->classes[i];
		const struct record_launch *l = example(m, c);
		_cleanup_free_ char *reason = suite_clean(c->reason);

		fprintf(f, "      grid %" PRIu32 "x%" PRIu32 "x%" PRIu32, c->grid[0], c->grid[1],
			c->grid[2]);
		if (l)
			show_scalars(f, m, l);
		fprintf(f, ": %" PRIu64 " seen, %" PRIu64 " recorded", c->seen, c->recorded);
		fprintf(f, "%s%s\n", reason && *reason && c->seen > c->recorded ? ": " : "",
			reason && c->seen > c->recorded ? reason : "");
	}
	if (!m->class_count)
		fprintf(f, "      never launched\n");
}

static void print_launches(FILE *f, const struct suite_member *m)
{
	if (m->launch_count)
		fprintf(f, "      recorded launches:");
	for (size_t i = 0; i < m->launch_count; i++)
		fprintf(f, " %" PRIu64, m->launches[i]->seq);
	if (m->launch_count)
		fprintf(f, "\n");
}

/* "A=16 M=16": the arguments that this image was specialised on. */
static void print_specialisation(FILE *f, const struct suite_member *m)
{
	const struct signature *s = m->triton ? m->triton->signature : NULL;
	bool any = false;

	for (size_t i = 0; s && i < s->arg_count; i++) {
		_cleanup_free_ char *name = suite_clean(s->args[i].name);

		if (!s->args[i].divisibility || !name)
			continue;
		fprintf(f, "%s %s=%" PRIu32, any ? "" : "      divisible:", name,
			s->args[i].divisibility);
		any = true;
	}
	if (any)
		fprintf(f, "\n");
}

/* What the Python glue noted when it was compiled. */
static int print_note(FILE *f, const struct suite_member *m)
{
	const struct note *n = m->note;
	_cleanup_free_ char *constexprs = suite_clean(n ? n->constexprs : "");
	_cleanup_free_ char *tensors = suite_clean(n ? n->tensors : "");
	_cleanup_free_ char *file = suite_clean(n ? n->file : "");

	if (!constexprs || !tensors || !file)
		return -ENOMEM;
	if (*constexprs)
		fprintf(f, "      constexprs: %s\n", constexprs);
	if (*tensors)
		fprintf(f, "      compiled for: %s\n", tensors);
	if (*file)
		fprintf(f, "      Python source %s:%" PRIu32 ", SHA-256 %.16s with helpers\n", file,
			n->line, n->python_hash);
	return 0;
}

/* What the driver made of PTX or a fatbin, where it was asked for (capture --cupti). */
static void print_driver_code(FILE *f, const struct bundle *b, const struct suite_member *m)
{
	const struct record_image *image = m->image;
	bool any = m->cubin != NULL; /* the fatbin's own */

	if (image->kind != IMAGE_PTX && image->kind != IMAGE_FATBIN)
		return;
	for (size_t i = 0; i < b->files.count; i++) {
		const struct record_file *file = &b->files.items[i];
		unsigned sm;
		bool only;

		if (!hash_equal(file->image, image->id) || !file_is_driver_cubin(file, &sm))
			continue;
		only = bundle_driver_cubin(b, image->id, sm) == file;
		fprintf(f, "      driver's machine code for sm_%u, %" PRIu64 " bytes (CUPTI): %s\n",
			sm, file->size,
			only ? "replay runs it on such a GPU"
			     : "one of several, so replay has the image compiled anew");
		any = true;
	}
	if (!any)
		fprintf(f, "      %s: compiled by the driver; its machine code is not recorded%s\n",
			image_kind_name(image->kind),
			bundle_fact(b, "capture.cupti") ? "" : " (capture --cupti)");
}

static int print_member(FILE *f, const struct suite *s, const struct suite_member *m)
{
	_cleanup_free_ char *path = suite_clean(s->bundles[m->bundle]->path);
	_cleanup_free_ char *ptxas = suite_clean(m->image->ptxas);
	_cleanup_free_ char *how = suite_clean(m->image->ptxas_how);
	_cleanup_free_ char *problem = suite_clean(m->problem);
	char text[HASH_TEXT_BYTES];
	int r;

	if (!path || !ptxas || !how || !problem)
		return -ENOMEM;
	fprintf(f, "    image %s of %s\n", hash_text(m->image->id, text), path);
	fprintf(f, "      ptxas %s%s%s%s", *ptxas ? ptxas : "unknown", *how ? " (" : "", how,
		*how ? ")" : "");
	if (m->triton)
		fprintf(f, ", Triton %s, %" PRIu64 " bytes shared",
			*m->triton->triton_version ? m->triton->triton_version : "unknown",
			m->triton->shared_bytes);
	if (m->code)
		fprintf(f, ", sm_%" PRIu32 ", %" PRIu32 " registers, code %.8s", m->cubin->arch,
			m->code->registers, hash_text(m->code_hash, text));
	fprintf(f, "\n");
	if (*problem)
		fprintf(f, "      cannot be read: %s\n", problem);
	print_driver_code(f, s->bundles[m->bundle], m);
	print_specialisation(f, m);
	r = print_note(f, m);
	print_classes(f, m);
	print_launches(f, m);
	return r;
}

static int print_args(FILE *f, const struct suite_family *k)
{
	for (size_t i = 0; i < k->arg_count; i++) {
		_cleanup_free_ char *name = suite_clean(k->args[i].name);
		_cleanup_free_ char *type = suite_clean(k->args[i].type);

		if (!name || !type)
			return -ENOMEM;
		fprintf(f, "  argument %-20s %-24s %s\n", name, type,
			dtype_name((enum dtype)k->args[i].dtype));
	}
	if (!k->metadata)
		fprintf(f, "  no Triton metadata: arguments unknown\n");
	return 0;
}

static int print_family(FILE *f, const struct suite *s, const struct suite_family *k)
{
	_cleanup_free_ char *name = suite_clean(k->name), *source = suite_clean(k->source);
	_cleanup_free_ char *how = suite_clean(k->origin_how);
	char key[HASH_TEXT_BYTES];
	int r;

	if (!name || !source || !how)
		return -ENOMEM;
	fprintf(f, "%s\n  key %s\n  origin %s%s%s%s\n", name, hash_text(k->key, key),
		origin_name(k->origin), *how ? " (" : "", how, *how ? ")" : "");
	if (*source)
		fprintf(f, "  source %s:%" PRIu32 "\n", source, k->line);
	else
		fprintf(f, "  source unknown\n");
	r = print_args(f, k);
	if (!r)
		r = show_tuning(f, s, k);
	for (size_t i = 0; i < k->config_count && !r; i++) {
		const struct suite_config *c = &k->configs[i];

		fprintf(f, "  config %s (%s): %" PRIu64 " launches seen, %" PRIu64 " recorded\n",
			c->options, hash_text(c->key, key), c->seen, c->recorded);
		for (size_t m = 0; m < c->member_count && !r; m++)
			r = print_member(f, s, &c->members[m]);
	}
	return r;
}

/* Families whose name matches; *shown counts them. */
static int show_families(const struct suite *s, const regex_t *regex, size_t *shown)
{
	for (size_t i = 0; i < s->family_count; i++) {
		int r;

		if (regex && regexec(regex, s->families[i].name, 0, NULL, 0))
			continue;
		printf("%s", (*shown)++ ? "\n" : "");
		r = print_family(stdout, s, &s->families[i]);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Launches with that number: one a capture that has it. */
static int show_launches(const struct suite *s, const regex_t *regex, uint64_t seq, size_t *shown)
{
	for (size_t i = 0; i < s->family_count; i++) {
		const struct suite_family *k = &s->families[i];

		for (size_t c = 0; c < k->config_count; c++) {
			for (size_t n = 0; n < k->configs[c].member_count; n++) {
				const struct suite_member *m = &k->configs[c].members[n];
				const struct bundle *b = s->bundles[m->bundle];
				const struct record_launch *l = bundle_launch(b, seq);

				if (!l || !m->kernel || l->kernel != m->kernel->number ||
				    (regex && regexec(regex, k->name, 0, NULL, 0)))
					continue;
				printf("%s", (*shown)++ ? "\n" : "");
				if (show_launch(stdout, b, m, l) < 0)
					return -ENOMEM;
			}
		}
	}
	return 0;
}

static int show(const struct capture_set *set, const char *family, const regex_t *regex,
		uint64_t seq)
{
	size_t shown = 0;
	int r = seq ? show_launches(set->suite, regex, seq, &shown)
		    : show_families(set->suite, regex, &shown);

	if (r < 0 || fflush(stdout) || ferror(stdout)) {
		log_error("show: %s", r < 0 ? "no memory" : "cannot write standard output");
		return 2;
	}
	if (!shown && seq) {
		log_error("show: launch %" PRIu64 "%s%s is in none of the captures", seq,
			  family ? " of a family that matches " : "", family ? family : "");
		return 2;
	}
	if (!shown && family) {
		log_error("show: no family matches %s", family);
		return 2;
	}
	return 0;
}

int verb_show(const struct verb *verb, int argc, char **argv)
{
	const char *family = NULL;
	uint64_t seq = 0;
	const struct option_row rows[] = {
		{OPTION_TEXT, "family", 0, "REGEX",
		 "only families whose name matches (POSIX extended)", &family},
		{OPTION_COUNT, "launch", 0, "SEQ", "the recorded launch of that number", &seq},
		{.kind = OPTION_END},
	};
	struct capture_set set;
	int count, status;
	char **operands;
	regex_t regex;

	if (options_parse(verb, rows, argc, argv, false, &operands, &count, &status) ==
	    OPTIONS_EXIT)
		return status;
	if (family) {
		char message[160];
		int r = regcomp(&regex, family, REG_EXTENDED | REG_NOSUB);

		if (r) {
			regerror(r, &regex, message, sizeof(message));
			log_error("show: --family %s: %s", family, message);
			return verb->usage_status;
		}
	}
	status = capture_set_open(&set, "show", operands, count);
	if (!status)
		status = show(&set, family, family ? &regex : NULL, seq);
	capture_set_close(&set);
	if (family)
		regfree(&regex);
	return status;
}
