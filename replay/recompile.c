/* SPDX-License-Identifier: MIT */
/* A side made by another Triton from the recorded IR. */
#include "replay/recompile.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base.h"
#include "lib/paths.h"
#include "replay/command.h"
#include "replay/progress.h"
#include "replay/remake.h"

#define MAX_WORKERS 64
#define MOST_WARPS  32 /* of a block */
#define NUMBER_MAX  24
#define ERROR_BYTES (1u << 16)
#define REASON_MAX  320

struct recompiler {
	struct remake remake;
	const char *python;
	char *script;
	json_t *about;
	struct command commands[MAX_WORKERS];
	char numbers[MAX_WORKERS][3][NUMBER_MAX];
	char *logs[MAX_WORKERS];
	size_t from_ttir;  /* images without .source */
	size_t with_notes; /* images whose Python source the glue noted */
	size_t frontend;   /* of which the frontend made the IR */
	char *refused;     /* why it did not make the first other one; NULL */
};

static int no_memory(const struct recompiler *c, struct error *err)
{
	return error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for %s", c->python);
}

static const char *about(const struct recompiler *c, const char *key)
{
	const char *text = json_string_value(json_object_get(c->about, key));

	return text ? text : "";
}

/* What is this Triton? Its answer into c->about. */
static int ask(struct recompiler *c, struct error *err)
{
	_cleanup_free_ char *log = text_format("%s/about.log", c->remake.folder);
	_cleanup_free_ char *answer = text_format("%s/about.json", c->remake.folder);
	_cleanup_free_ char *failure = NULL;
	struct command command = {.argv = {c->python, c->script, "about", c->remake.folder},
				  .log = log};
	int rc = log && answer
			 ? commands_run(&command, 1, 1, c->remake.request->stop, NULL, NULL, err)
			 : no_memory(c, err);

	if (rc)
		return rc;
	failure = command_failure(&command);
	if (!failure || *failure)
		return error_set(err, EINVAL, ERROR_NO_OFFSET, "%s: no Triton to ask: %s",
				 c->python, failure ? failure : "no memory");
	c->about = json_load_file(answer, 0, NULL);
	return c->about && *about(c, "version")
		       ? 0
		       : error_set(err, EINVAL, ERROR_NO_OFFSET,
				   "%s: its Triton does not say its version", c->python);
}

/* ---- input of one image ---- */

int64_t recompile_warps(const struct suite_member *m, enum warps warps)
{
	int64_t n = m->triton ? m->triton->num_warps : 0;

	if (warps == WARPS_RECORDED)
		return n;
	/* Partitions of a warp-specialised kernel count their own warps. */
	if (n < 1 || m->triton->total_warps != n)
		return 0;
	if (warps == WARPS_HALVED)
		return n % 2 ? 0 : n / 2;
	return n > MOST_WARPS / 2 ? 0 : 2 * n;
}

/* The recorded metadata, with the config's num_warps: of a warp-specialised kernel .json has all.
 */
static char *options_of(const struct recompiler *c, const char *text, size_t size,
			const struct suite_member *m, bool from_ttir)
{
	int64_t warps = recompile_warps(m, c->remake.request->warps);
	json_t *json = json_loadb(text, size, 0, NULL);
	char *out = NULL;

	if (json_is_object(json) && !json_object_set_new(json, "num_warps", json_integer(warps)) &&
	    !json_object_set_new(json, "kernelab_from_ttir", json_boolean(from_ttir)) &&
	    !json_object_set_new(json, "kernelab_other_warps",
				 json_boolean(c->remake.request->warps != WARPS_RECORDED)))
		out = json_dumps(json, 0);
	json_decref(json);
	return out;
}

/* The Python glue's note, where it has one: then the frontend can run too. */
static int put_note(struct recompiler *c, size_t index, struct error *err)
{
	const struct suite_member *m = c->remake.images[index].member;
	const struct bundle *b = source_bundle(c->remake.request->base, m);
	const struct record_file *note = m->note ? bundle_file(b, m->image->id, NOTE_SUFFIX) : NULL;
	_cleanup_free_ char *text = NULL;
	size_t size;
	int rc;

	if (!note)
		return 0;
	rc = bundle_read_file(b, note, &text, &size, err);
	if (rc)
		return rc;
	c->with_notes++;
	return remake_put(&c->remake, index, ".in" NOTE_SUFFIX, text, size, err);
}

static int put_inputs(struct recompiler *c, size_t index, const struct record_file *ir,
		      const struct record_file *json, struct error *err)
{
	const struct suite_member *m = c->remake.images[index].member;
	const struct bundle *b = source_bundle(c->remake.request->base, m);
	_cleanup_free_ char *ir_text = NULL, *text = NULL, *options = NULL;
	size_t ir_size, size;
	int rc = bundle_read_file(b, ir, &ir_text, &ir_size, err);

	if (!rc)
		rc = bundle_read_file(b, json, &text, &size, err);
	if (rc)
		return rc;
	options = options_of(c, text, size, m, strstr(ir->name, ".ttir") != NULL);
	if (!options)
		return no_memory(c, err);
	rc = put_note(c, index, err);
	if (rc)
		return rc;
	rc = remake_put(&c->remake, index, ".in.json", options, strlen(options), err);
	return rc ? rc : remake_put(&c->remake, index, ".in.mlir", ir_text, ir_size, err);
}

static int prepare(struct recompiler *c, size_t index, struct error *err)
{
	struct remake_image *image = &c->remake.images[index];
	const struct suite_member *m = image->member;
	const struct bundle *b = source_bundle(c->remake.request->base, m);
	const struct record_file *json = bundle_file(b, m->image->id, ".json");
	const struct record_file *source = bundle_file(b, m->image->id, ".source");
	const struct record_file *ir = source ? source : bundle_file(b, m->image->id, ".ttir");

	if (!m->triton || !json || !ir) {
		image->failure = text_format("no Triton IR of %s was recorded", m->entry);
		return image->failure ? 0 : no_memory(c, err);
	}
	c->from_ttir += !source;
	return put_inputs(c, index, ir, json, err);
}

/* ---- running ---- */

/* Worker i compiles images i, i + workers, … */
static int run(struct recompiler *c, struct error *err)
{
	size_t workers = usable_cores();
	struct progress progress;
	int rc;

	if (workers > MAX_WORKERS)
		workers = MAX_WORKERS;
	if (workers > c->remake.count)
		workers = c->remake.count;
	for (size_t i = 0; i < workers; i++) {
		size_t values[] = {i, workers, c->remake.count};
		const char **argv = c->commands[i].argv;

		for (size_t j = 0; j < 3; j++)
			snprintf(c->numbers[i][j], NUMBER_MAX, "%zu", values[j]);
		c->logs[i] = text_format("%s/worker%zu.log", c->remake.folder, i);
		if (!c->logs[i])
			return no_memory(c, err);
		c->commands[i].log = c->logs[i];
		argv[0] = c->python;
		argv[1] = c->script;
		argv[2] = "compile";
		argv[3] = c->remake.folder;
		for (size_t j = 0; j < 3; j++)
			argv[4 + j] = c->numbers[i][j];
	}
	progress_start(&progress, c->remake.request->progress_fd, c->remake.count, "images");
	if (progress.terminal)
		progress_note(&progress, "compiling %zu images with %s", c->remake.count,
			      c->python);
	rc = commands_run(c->commands, workers, workers, c->remake.request->stop, NULL, NULL, err);
	progress_end(&progress);
	return rc;
}

/* Did the frontend run for image `index`? */
static int judge_frontend(struct recompiler *c, size_t index, struct error *err)
{
	_cleanup_free_ char *path = remake_path(&c->remake, index, ".frontend"), *said = NULL;
	size_t size = 0;

	if (!path)
		return no_memory(c, err);
	if (file_read_all(path, ERROR_BYTES, &said, &size))
		return 0; /* there was no note, or its process ended before */
	if (!strcmp(said, "ran"))
		c->frontend++;
	else if (!c->refused)
		c->refused = text_format("%s: %.*s", c->remake.images[index].member->entry,
					 REASON_MAX, said);
	return 0;
}

/* Why image `index` is not there, if it is not. */
static int judge(struct recompiler *c, size_t index, struct error *err)
{
	struct remake_image *image = &c->remake.images[index];
	_cleanup_free_ char *cubin = remake_path(&c->remake, index, ".cubin");
	_cleanup_free_ char *path = remake_path(&c->remake, index, ".error"), *said = NULL;
	size_t size = 0;

	if (!cubin || !path)
		return no_memory(c, err);
	if (image->failure || !access(cubin, R_OK))
		return 0;
	if (file_read_all(path, ERROR_BYTES, &said, &size))
		said = NULL;
	image->failure = text_format("Triton %s: %.*s", about(c, "version"), REASON_MAX,
				     said ? said : "ended without a word");
	return image->failure ? 0 : no_memory(c, err);
}

/* Which stages ran, for people. */
static char *stages_text(const struct recompiler *c)
{
	const char *ttir = c->from_ttir
				   ? "; nor is make_ttir run where only .ttir was recorded and the "
				     "frontend was not run"
				   : "";

	if (!c->with_notes)
		return text_format("recompile.py: make_ttir and all later stages on the recorded "
				   ".source; the Python frontend (source text to first IR) is not "
				   "run, as the Python glue noted no source%s",
				   ttir);
	if (c->frontend == c->remake.count)
		return text_format("recompile.py: all stages from the recorded Python source on");
	return text_format("recompile.py: all stages from the recorded Python source on for %zu of "
			   "%zu images, for the others from make_ttir on, on the recorded "
			   ".source%s%s%s%s",
			   c->frontend, c->remake.count,
			   c->refused ? " (the frontend refused " : "",
			   c->refused ? c->refused : "", c->refused ? ")" : "", ttir);
}

static int write_bundle(struct recompiler *c, const char *path, struct error *err)
{
	const char *ptxas = about(c, "ptxas_version");
	_cleanup_free_ char *version =
		text_format("triton %s%s%s", about(c, "version"), *ptxas ? ", ptxas " : "", ptxas);
	_cleanup_free_ char *how = text_format("asked of %s (%s)", c->python, about(c, "package"));
	_cleanup_free_ char *command = stages_text(c);
	_cleanup_free_ char *ptxas_how = text_format("%s --version", about(c, "ptxas"));

	if (!version || !how || !command || !ptxas_how)
		return no_memory(c, err);
	return remake_write(&c->remake, path,
			    &(struct remake_tool){.loader = "triton",
						  .version = version,
						  .commit = about(c, "commit"),
						  .how = how,
						  .command = command,
						  .ptxas = *ptxas ? ptxas : NULL,
						  .ptxas_how = *ptxas ? ptxas_how : NULL,
						  .metadata = true},
			    err);
}

static int compile(struct recompiler *c, const char *path, struct error *err)
{
	int rc = ask(c, err);

	for (size_t i = 0; !rc && i < c->remake.count; i++)
		rc = prepare(c, i, err);
	if (!rc)
		rc = run(c, err);
	for (size_t i = 0; !rc && i < c->remake.count; i++)
		rc = judge(c, i, err);
	for (size_t i = 0; !rc && i < c->remake.count; i++)
		rc = judge_frontend(c, i, err);
	return rc ? rc : write_bundle(c, path, err);
}

int recompile(const char *path, const char *folder, const struct source_request *request,
	      struct error *err)
{
	struct recompiler *c = calloc(1, sizeof(*c));
	int rc;

	if (!c)
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for %s", request->text);
	c->python = request->text + strlen(RECOMPILE_PREFIX);
	rc = *c->python ? part_find(PART_RECOMPILE, &c->script, err)
			: error_set(err, EINVAL, ERROR_NO_OFFSET,
				    "source %s: triton:PYTHON expected", request->text);
	if (!rc)
		rc = remake_begin(&c->remake, request, folder, err);
	if (!rc)
		rc = compile(c, path, err);
	remake_end(&c->remake);
	for (size_t i = 0; i < MAX_WORKERS; i++)
		free(c->logs[i]);
	json_decref(c->about);
	free(c->script);
	free(c->refused);
	free(c);
	return rc;
}
