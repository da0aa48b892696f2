/* SPDX-License-Identifier: MIT */
/* The cases that a model launches and existing tests do not, as a file of tests. */
#include "replay/export_pytest.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernelab/dtype.h"
#include "lib/base.h"
#include "lib/image/note.h"
#include "lib/paths.h"
#include "replay/bind.h"
#include "replay/export_json.h"
#include "replay/source.h"
#include "replay/stores.h"
#include "replay/workspace.h"

#define TEMPLATE_MAX (1u << 20)

struct exporter {
	const struct pytest_request *request;
	struct pytest_summary *summary;
	struct source *model, *tests;
	regex_t wanted;
	bool filtered;
	char *folder;  /* of the cubins */
	json_t *cases; /* array */
	json_t *names; /* object: kernels that have a case, with their arguments */
	struct error *err;
};

static int no_memory(const struct exporter *x)
{
	return error_set(x->err, ENOMEM, ERROR_NO_OFFSET, "no memory for %s", x->request->path);
}

/* ---- arguments ---- */

/* Where what the launch touches from p on ends: measured extents, else the next pointer. */
static uint64_t end_of(const struct record_launch *l, const struct pointer *list, size_t count,
		       size_t index)
{
	const struct pointer *p = &list[index];
	uint64_t limit = index + 1 < count && list[index + 1].address < p->limit
				 ? list[index + 1].address
				 : p->limit;
	uint64_t end = p->address;

	if (!l->measured)
		return limit;
	for (size_t i = 0; i < l->regions.count; i++) {
		const struct record_region *r = &l->regions.items[i];
		const struct u64s *pairs[] = {&r->reads, &r->writes};

		if (p->address - r->base >= r->size)
			continue;
		for (size_t k = 0; k < ARRAY_LENGTH(pairs); k++)
			for (size_t n = 0; n + 1 < pairs[k]->count; n += 2) {
				uint64_t from = r->base + pairs[k]->items[n];
				uint64_t to = from + pairs[k]->items[n + 1];

				to = to < limit ? to : limit;
				if (from < limit && to > end)
					end = to;
			}
	}
	return end;
}

static json_t *scalar(const struct record_arg *a, const uint8_t *raw, uint32_t size)
{
	int64_t whole = 0;
	float single;
	double wide;

	if (a->dtype == DTYPE_F32 && size == 4) {
		memcpy(&single, raw, 4);
		return json_real((double)single);
	}
	if (a->dtype == DTYPE_F64 && size == 8) {
		memcpy(&wide, raw, 8);
		return json_real(wide);
	}
	if (dtype_is_float((enum dtype)a->dtype) || size > 8)
		return NULL;
	memcpy(&whole, raw, size);
	if (size < 8 && whole >> (8 * size - 1) & 1)
		whole -= INT64_C(1) << (8 * size);
	return json_integer(whole);
}

/* One argument; NULL with the reason where it cannot be made up. */
static json_t *argument(const struct bound *b, const struct record_launch *l, size_t index,
			const struct record_arg *a, const struct pointer *pointers, size_t count,
			const char **why)
{
	const struct record_param *p = &b->layout[index];
	uint64_t address, bytes = dtype_bytes((enum dtype)a->dtype);
	json_t *value;

	if (p->offset + p->size > b->params_bytes)
		return NULL;
	if (!a->pointer) {
		value = scalar(a, b->params + p->offset, p->size);
		*why = "an argument is neither a pointer nor a plain number";
		return value ? json_pack("{s:s,s:b,s:s,s:I,s:o}", "name", a->name ?: "?", "pointer",
					 0, "dtype", dtype_name((enum dtype)a->dtype), "offset",
					 (json_int_t)p->offset, "value", value)
			     : NULL;
	}
	*why = "a pointer leads to memory that was not recorded";
	memcpy(&address, b->params + p->offset, 8);
	for (size_t i = 0; i < count; i++)
		if (pointers[i].address == address && bytes)
			return json_pack(
				"{s:s,s:b,s:s,s:I,s:b,s:I}", "name", a->name ?: "?", "pointer", 1,
				"dtype", dtype_name((enum dtype)a->dtype), "offset",
				(json_int_t)p->offset, "written", pointers[i].stored, "elements",
				(json_int_t)((end_of(l, pointers, count, i) - address) / bytes));
	return NULL;
}

static json_t *arguments(const struct exporter *x, const struct suite_member *m,
			 const struct bound *b, const struct record_launch *l, const char **why)
{
	_cleanup_free_ struct pointer *pointers = NULL;
	_cleanup_free_ char *ptx = NULL;
	struct stores stores = {0};
	json_t *list = json_array();
	size_t count = 0, size;
	bool known = !source_ptx(x->model, m, &ptx, &size, NULL) &&
		     !stores_find(&stores, ptx, size, m->entry, NULL) && !stores.unknown;

	*why = "no memory";
	if (launch_pointers(&pointers, &count, source_bundle(x->model, m), l, m, stores.params,
			    !known, DTYPE_UNKNOWN)) {
		json_decref(list);
		return NULL;
	}
	for (size_t i = 0; i < b->layout_count; i++) {
		const struct record_arg *a = member_arg(m, i);
		json_t *one;

		if (!a) /* hidden scratch stands behind the arguments */
			continue;
		one = argument(b, l, i, a, pointers, count, why);
		if (!one) {
			json_decref(list);
			return NULL;
		}
		json_array_append_new(list, one);
	}
	return list;
}

/* ---- a case ---- */

/* How the Python source is called; null where the glue noted none. */
static json_t *python(const struct suite_member *m)
{
	json_t *constexprs, *options;

	if (!m->note || !m->triton || !*m->note->file)
		return json_null();
	constexprs = json_loads(m->note->constexprs_json, 0, NULL);
	if (!json_is_object(constexprs)) {
		json_decref(constexprs);
		return json_null();
	}
	options = json_pack("{s:I,s:I,s:I}", "num_warps", (json_int_t)m->triton->num_warps,
			    "num_stages", (json_int_t)m->triton->num_stages, "num_ctas",
			    (json_int_t)m->triton->num_ctas);
	if (options && m->triton->maxnreg)
		json_object_set_new(options, "maxnreg", json_integer(m->triton->maxnreg));
	return json_pack("{s:s,s:o,s:o}", "file", m->note->file, "constexprs", constexprs,
			 "options", options);
}

static int put_cubin(const struct exporter *x, const struct bound *b, const char *name)
{
	_cleanup_free_ char *path = text_format("%s/%s", x->folder, name);
	_cleanup_free_ void *data = NULL;
	size_t size, done;
	FILE *f;
	int rc;

	if (!path)
		return no_memory(x);
	if (!access(path, F_OK))
		return 0;
	rc = bundle_read_image(b->bundle, b->image, &data, &size, x->err);
	if (rc)
		return rc;
	f = fopen(path, "wxe");
	done = f ? fwrite(data, 1, size, f) : 0;
	if (f && fclose(f))
		done = 0;
	if (!f || done != size)
		return error_set(x->err, errno ? errno : EIO, ERROR_NO_OFFSET, "%s: %s", path,
				 strerror(errno ? errno : EIO));
	return 0;
}

/* "matmul-num_warps=4 num_stages=3 64x32-grid 8x8x1 M=500 N=300" */
static char *case_id(const struct suite_member *m, const struct suite_config *c,
		     const struct record_launch *l, const json_t *args)
{
	char *text = NULL;
	size_t size, i;
	json_t *a;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fprintf(out, "%s-%s-grid %ux%ux%u", m->entry, c->options, l->grid[0], l->grid[1],
		l->grid[2]);
	json_array_foreach(args, i, a) if (json_is_integer(json_object_get(a, "value")))
		fprintf(out, " %s=%" JSON_INTEGER_FORMAT,
			json_string_value(json_object_get(a, "name")),
			json_integer_value(json_object_get(a, "value")));
	return fclose(out) ? NULL : text;
}

static const char *unsupported(const struct bound *b)
{
	if (b->descriptor_count || b->variable_word_count)
		return "a TMA descriptor or a module variable is an argument";
	if (b->cooperative || b->attribute_count)
		return "it is launched with attributes (cluster, cooperative)";
	return NULL;
}

/* Adds the case, or counts it as left with its reason. Takes args. */
static int add_case(struct exporter *x, const struct suite_member *m, const struct suite_config *c,
		    const struct record_launch *l, const struct bound *b, json_t *args)
{
	_cleanup_free_ char *id = case_id(m, c, l, args);
	char key[HASH_TEXT_BYTES], cubin[HASH_TEXT_BYTES + 8];
	json_t *one;
	int rc;

	snprintf(cubin, sizeof(cubin), "%s.cubin", hash_text(m->image->id, key));
	rc = put_cubin(x, b, cubin);
	if (rc) {
		json_decref(args);
		return rc;
	}
	one = json_pack("{s:s,s:s,s:s,s:o,s:o,s:I,s:o,s:o,s:o,s:O,s:o}", "id", id ?: "?", "kernel",
			m->entry, "cubin", cubin, "grid", export_three(b->grid), "block",
			export_three(b->block), "shared", (json_int_t)b->shared_bytes, "params",
			export_hex(b->params, b->params_bytes), "layout", export_layout(b),
			"scratch", export_scratch(b), "args", args, "python", python(m));
	rc = one && id && !json_array_append_new(x->cases, one) ? 0 : no_memory(x);
	if (!rc && !json_object_get(x->names, m->entry)) {
		json_object_set(x->names, m->entry, args);
		x->summary->kernels++;
	}
	json_decref(args);
	x->summary->cases += !rc;
	return rc;
}

static void leave(struct exporter *x, const char *entry, const char *why)
{
	x->summary->left++;
	snprintf(x->summary->why, sizeof(x->summary->why), "%.60s: %.130s", entry, why);
}

static int take_launch(struct exporter *x, const struct suite_member *m,
		       const struct suite_config *c, const struct record_launch *l)
{
	const struct bundle *bundle = source_bundle(x->model, m);
	const char *why = NULL;
	struct bound b = {0};
	struct error err;
	json_t *args;
	int rc = bound_make(&b, bundle, l, m, m, bundle, &err);

	if (rc == -ENOMEM)
		return no_memory(x);
	if (rc)
		why = err.message;
	else if (!m->triton || !m->triton->signature)
		why = "its arguments are not known: no Triton metadata";
	else
		why = unsupported(&b);
	args = why ? NULL : arguments(x, m, &b, l, &why);
	rc = args ? add_case(x, m, c, l, &b, args) : 0;
	if (!args)
		leave(x, m->entry, why ?: "its parameters do not fit its layout");
	bound_free(&b);
	return rc;
}

/* ---- which ---- */

/* True where existing tests launch that class of the config. */
static bool is_covered(const struct exporter *x, struct hash128 family, struct hash128 config,
		       struct hash128 class)
{
	const struct suite_family *f = x->tests ? suite_family(x->tests->suite, family) : NULL;
	const struct suite_config *c = f ? suite_config(f, config) : NULL;

	for (size_t i = 0; c && i < c->member_count; i++)
		for (size_t k = 0; k < c->members[i].class_count; k++)
			if (hash_equal(c->members[i].classes[k].key, class))
				return true;
	return false;
}

/* True where an earlier launch of the config, in any bundle, is of the same class. */
static bool is_seen(const struct suite_config *c, size_t member, size_t launch)
{
	struct hash128 class = c->members[member].launches[launch]->shape_class;

	for (size_t i = 0; i <= member; i++)
		for (size_t k = 0; k < (i == member ? launch : c->members[i].launch_count); k++)
			if (hash_equal(c->members[i].launches[k]->shape_class, class))
				return true;
	return false;
}

static int take_config(struct exporter *x, const struct suite_family *f,
		       const struct suite_config *c)
{
	int rc = 0;

	for (size_t i = 0; i < c->member_count; i++)
		for (size_t k = 0; !rc && k < c->members[i].launch_count; k++) {
			const struct record_launch *l = c->members[i].launches[k];

			if (is_seen(c, i, k))
				continue;
			if (is_covered(x, f->key, c->key, l->shape_class))
				x->summary->covered++;
			else
				rc = take_launch(x, &c->members[i], c, l);
		}
	return rc;
}

static int take_all(struct exporter *x)
{
	const struct suite *s = x->model->suite;
	int rc = 0;

	for (size_t i = 0; i < s->family_count; i++) {
		if (x->filtered && regexec(&x->wanted, s->families[i].name, 0, NULL, 0))
			continue;
		for (size_t k = 0; !rc && k < s->families[i].config_count; k++)
			rc = take_config(x, &s->families[i], &s->families[i].configs[k]);
	}
	if (!rc && !x->summary->cases)
		rc = error_set(
			x->err, ENOENT, ERROR_NO_OFFSET,
			"%s: no case to write%s%s (%zu shape classes are launched by existing "
			"tests)",
			x->request->bundles[0], x->summary->left ? ": " : "", x->summary->why,
			x->summary->covered);
	return rc;
}

/* ---- the file ---- */

/* A reference to be filled, as a comment with the kernel's arguments. */
static void put_stub(FILE *out, const char *kernel, const json_t *args)
{
	size_t i;
	json_t *a;

	fprintf(out, "#\n# @reference(\"");
	for (const char *p = kernel; *p; p++)
		fputc(*p >= ' ' && *p < 0x7f && *p != '"' && *p != '\\' ? *p : '?', out);
	fputs("\")\n# def _(", out);
	json_array_foreach(args, i, a)
		fprintf(out, "%s, ", json_string_value(json_object_get(a, "name")));
	fputs("**_):\n#     return {", out);
	json_array_foreach(args, i, a) if (json_is_true(json_object_get(a, "written")))
		fprintf(out, "\"%s\": [...], ", json_string_value(json_object_get(a, "name")));
	fputs("}\n", out);
}

/* A name of a file must not end the comment that it stands in. */
static bool plain_names(const json_t *args)
{
	size_t i;
	json_t *a;

	json_array_foreach(args, i, a) if (strpbrk(json_string_value(json_object_get(a, "name")),
						   "\r\n\"'\\")) return false;
	return true;
}

/* JSON within r'''…''': an apostrophe stands only in strings. */
static int put_cases(FILE *out, const json_t *cases)
{
	_cleanup_free_ char *text = json_dumps(cases, JSON_ENSURE_ASCII | JSON_INDENT(0));

	for (const char *p = text; p && *p; p++)
		if (*p == '\'')
			fputs("\\u0027", out);
		else
			fputc(*p, out);
	return text ? 0 : -ENOMEM;
}

static int fill_template(const struct exporter *x, const char *text, FILE *out)
{
	static const char stubs[] = "#STUBS#", cases[] = "#CASES#";
	const char *at = strstr(text, stubs), *then = at ? strstr(at, cases) : NULL;
	const char *kernel;
	json_t *args;

	if (!then)
		return error_set(x->err, EINVAL, ERROR_NO_OFFSET,
				 "the template of tests is damaged");
	fwrite(text, 1, (size_t)(at - text), out);
	json_object_foreach(x->names, kernel, args) if (plain_names(args))
		put_stub(out, kernel, args);
	at += strlen(stubs);
	fwrite(at, 1, (size_t)(then - at), out);
	if (put_cases(out, x->cases))
		return no_memory(x);
	fputs(then + strlen(cases), out);
	return 0;
}

static int write_file(const struct exporter *x)
{
	_cleanup_free_ char *from = NULL, *text = NULL;
	size_t size;
	bool bad;
	FILE *out;
	int rc = part_find(PART_PYTEST, &from, x->err);

	if (rc)
		return rc;
	rc = file_read_all(from, TEMPLATE_MAX, &text, &size);
	out = rc ? NULL : fopen(x->request->path, "wxe");
	if (!out)
		return error_set(x->err, rc ? -rc : errno, ERROR_NO_OFFSET, "%s: %s",
				 rc ? from : x->request->path, strerror(rc ? -rc : errno));
	rc = fill_template(x, text, out);
	bad = ferror(out) != 0;
	if (fclose(out))
		bad = true;
	if (bad && !rc)
		rc = error_set(x->err, EIO, ERROR_NO_OFFSET, "writing %s failed", x->request->path);
	if (rc)
		unlink(x->request->path);
	return rc;
}

/* ---- the whole ---- */

static int open_all(struct exporter *x)
{
	const struct pytest_request *r = x->request;
	int rc = source_open(&x->model, "recorded", r->bundles, r->bundle_count, x->err);

	if (!rc && r->tests)
		rc = source_open(&x->tests, "tests", &r->tests, 1, x->err);
	if (!rc && r->family) {
		if (regcomp(&x->wanted, r->family, REG_EXTENDED | REG_NOSUB))
			return error_set(x->err, EINVAL, ERROR_NO_OFFSET,
					 "--family '%s' is no regular expression", r->family);
		x->filtered = true;
	}
	return rc;
}

/* "tests.py" → "tests_cubins" */
static int make_folder(struct exporter *x)
{
	const char *path = x->request->path, *dot = strrchr(path, '.');

	if (!dot || strcmp(dot, ".py") != 0 || dot == path)
		return error_set(x->err, EINVAL, ERROR_NO_OFFSET, "%s: FILE.py is wanted", path);
	if (!access(path, F_OK))
		return error_set(x->err, EEXIST, ERROR_NO_OFFSET, "%s: %s", path, strerror(EEXIST));
	x->folder = text_format("%.*s_cubins", (int)(dot - path), path);
	if (!x->folder)
		return no_memory(x);
	if (!mkdir(x->folder, 0777))
		return 0;
	error_set(x->err, errno, ERROR_NO_OFFSET, "%s: %s", x->folder, strerror(errno));
	free(steal_pointer(x->folder)); /* it is not ours to remove */
	return -EEXIST;
}

int export_pytest(const struct pytest_request *request, struct pytest_summary *summary,
		  struct error *err)
{
	struct exporter x = {.request = request, .summary = summary, .err = err};
	int rc;

	*summary = (struct pytest_summary){0};
	x.cases = json_array();
	x.names = json_object();
	rc = x.cases && x.names ? open_all(&x) : no_memory(&x);
	if (!rc)
		rc = make_folder(&x);
	if (!rc)
		rc = take_all(&x);
	if (!rc)
		rc = write_file(&x);
	if (rc && x.folder)
		workspace_remove(steal_pointer(x.folder));
	free(x.folder);
	if (x.filtered)
		regfree(&x.wanted);
	source_free(x.tests);
	source_free(x.model);
	json_decref(x.cases);
	json_decref(x.names);
	return rc;
}
