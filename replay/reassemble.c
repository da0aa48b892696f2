/* SPDX-License-Identifier: MIT */
/* A side made by another ptxas, or by other flags of it, from the recorded PTX. */
#include "replay/reassemble.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "replay/command.h"
#include "replay/progress.h"
#include "replay/remake.h"

#define MAX_FLAGS  24 /* of the command line, and as many of a kernel's ptx_options */
#define LOG_MAX    (1u << 20)
#define PTX_MAX    (256u << 20)
#define TARGET_MAX 32

struct flags {
	char *text; /* what the pointers point into */
	const char *items[MAX_FLAGS];
	size_t count;
};

/* An image's command and what its arguments point to. */
struct job {
	char *ptx, *cubin, *log;
	char target[TARGET_MAX + 16];
	struct flags own; /* ptx_options of the kernel */
	bool ready;       /* PTX is there: to be run */
	struct command command;
};

struct assembler {
	struct remake remake;
	const char *tool;
	struct flags flags;
	char version[32];
	struct job *jobs;
	struct progress progress;
};

static void assembler_free(struct assembler *a)
{
	for (size_t i = 0; a->jobs && i < a->remake.count; i++) {
		free(a->jobs[i].ptx);
		free(a->jobs[i].cubin);
		free(a->jobs[i].log);
		free(a->jobs[i].own.text);
	}
	free(a->jobs);
	free(a->flags.text);
	remake_end(&a->remake);
}

static int no_memory(const struct assembler *a, struct error *err)
{
	return error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for %s", a->tool);
}

/* Cuts text (taken over) at the separators. False where there are too many pieces. */
static bool split(struct flags *f, char *text, const char *separators)
{
	char *rest = text;

	f->text = text;
	for (char *word; (word = strsep(&rest, separators));) {
		if (!*word)
			continue;
		if (f->count == MAX_FLAGS)
			return false;
		f->items[f->count++] = word;
	}
	return true;
}

/* ptxas --version: "Cuda compilation tools, release 13.0, V13.0.88". */
static int ask_version(struct assembler *a, const struct source_request *r, struct error *err)
{
	_cleanup_free_ char *log = text_format("%s/version", a->remake.folder);
	_cleanup_free_ char *said = NULL, *failure = NULL;
	struct command c = {.argv = {a->tool, "--version"}, .log = log};
	const char *v;
	size_t size, n;
	int rc = log ? commands_run(&c, 1, 1, r->stop, NULL, NULL, err) : no_memory(a, err);

	if (rc)
		return rc;
	failure = command_failure(&c);
	if (!failure || *failure)
		return error_set(err, EINVAL, ERROR_NO_OFFSET, "%s --version: %s", a->tool,
				 failure ? failure : "no memory");
	if (file_read_all(log, LOG_MAX, &said, &size))
		return no_memory(a, err);
	v = strstr(said, ", V");
	n = v ? strspn(v + 3, "0123456789.") : 0;
	if (!n || n >= sizeof(a->version))
		return error_set(err, EINVAL, ERROR_NO_OFFSET,
				 "%s --version does not say a version of ptxas", a->tool);
	memcpy(a->version, v + 3, n);
	return 0;
}

/* ---- one image ---- */

/* "sm_90a" of ".target sm_90a, …" into "--gpu-name=sm_90a". */
static bool find_target(const char *ptx, char *out, size_t size)
{
	const char *at = strstr(ptx, ".target");
	size_t n;

	if (!at)
		return false;
	at += strlen(".target");
	at += strspn(at, " \t");
	n = strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789_");
	if (!n || n > TARGET_MAX)
		return false;
	snprintf(out, size, "--gpu-name=%.*s", (int)n, at);
	return true;
}

/* The options of its metadata that Triton hands to ptxas. */
static bool own_options(const struct remake *r, size_t index, struct flags *own)
{
	const struct suite_member *m = r->images[index].member;
	const struct bundle *b = source_bundle(r->request->base, m);
	const struct record_file *file = bundle_file(b, m->image->id, ".json");
	_cleanup_free_ char *text = NULL;
	const char *options;
	size_t size;
	json_t *json;
	bool ok = true;

	if (!file || bundle_read_file(b, file, &text, &size, NULL))
		return true;
	json = json_loadb(text, size, 0, NULL);
	options = json_string_value(json_object_get(json, "ptx_options"));
	if (options) {
		char *copy = strdup(options);

		ok = copy && split(own, copy, " ");
	}
	json_decref(json);
	return ok;
}

static void set_command(const struct assembler *a, size_t index)
{
	struct job *job = &a->jobs[index];
	const struct triton_kernel *t = a->remake.images[index].member->triton;
	const char **argv = job->command.argv;
	size_t n = 0;

	argv[n++] = a->tool;
	argv[n++] = "-lineinfo"; /* Triton's default; keeps the PTX in the cubin */
	argv[n++] = job->target;
	if (t && !t->enable_fp_fusion)
		argv[n++] = "--fmad=false";
	for (size_t i = 0; i < job->own.count; i++)
		argv[n++] = job->own.items[i];
	for (size_t i = 0; i < a->flags.count; i++)
		argv[n++] = a->flags.items[i];
	argv[n++] = "-o";
	argv[n++] = job->cubin;
	argv[n++] = job->ptx;
	argv[n] = NULL;
	job->command.log = job->log;
}

_Static_assert(2 * MAX_FLAGS + 8 <= COMMAND_MAX_ARGUMENTS, "set_command's arguments fit");

/* Writes its PTX and command; a failure of the image alone is noted. */
static int prepare(struct assembler *a, size_t index, struct error *err)
{
	struct remake_image *image = &a->remake.images[index];
	struct job *job = &a->jobs[index];
	_cleanup_free_ char *ptx = NULL;
	struct error why;
	size_t size;
	int rc = source_ptx(a->remake.request->base, image->member, &ptx, &size, &why);

	job->ptx = remake_path(&a->remake, index, ".ptx");
	job->cubin = remake_path(&a->remake, index, ".cubin");
	job->log = remake_path(&a->remake, index, ".log");
	if (!job->ptx || !job->cubin || !job->log)
		return no_memory(a, err);
	if (rc)
		image->failure = strdup(why.message);
	else if (!find_target(ptx, job->target, sizeof(job->target)))
		image->failure = strdup("its PTX names no .target");
	else if (!own_options(&a->remake, index, &job->own))
		image->failure = strdup("too many ptx_options in its metadata");
	else
		job->ready = true;
	if (!job->ready)
		return image->failure ? 0 : no_memory(a, err);
	set_command(a, index);
	return remake_put(&a->remake, index, ".ptx", ptx, size, err);
}

/* ---- running ---- */

static void step(void *data)
{
	struct assembler *a = data;

	progress_step(&a->progress, a->remake.request->text);
}

/* Runs the commands of all jobs that are ready. */
static int run_ready(struct assembler *a, struct error *err)
{
	_cleanup_free_ struct command *commands = calloc(a->remake.count, sizeof(*commands));
	size_t n = 0;
	int rc;

	if (!commands)
		return no_memory(a, err);
	for (size_t i = 0; i < a->remake.count; i++)
		if (a->jobs[i].ready)
			commands[n++] = a->jobs[i].command;
	progress_start(&a->progress, a->remake.request->progress_fd, n, "images");
	rc = commands_run(commands, n, 0, a->remake.request->stop, step, a, err);
	progress_end(&a->progress);
	n = 0;
	for (size_t i = 0; !rc && i < a->remake.count; i++)
		if (a->jobs[i].ready)
			a->jobs[i].command.status = commands[n++].status;
	return rc;
}

/* Lowers .version to what the log says is the newest. False where that is not what it complains
 * of. */
static bool lower_version(struct assembler *a, size_t index)
{
	static const char complaint[] = "Unsupported .version ", newest[] = "current version is '";
	struct job *job = &a->jobs[index];
	_cleanup_free_ char *log = NULL, *ptx = NULL, *changed = NULL;
	const char *is, *may, *at;
	size_t size;
	int is_size, may_size;

	if (file_read_all(job->log, LOG_MAX, &log, &size) || !(is = strstr(log, complaint)) ||
	    !(may = strstr(is, newest)) || file_read_all(job->ptx, PTX_MAX, &ptx, &size))
		return false;
	is += strlen(complaint);
	may += strlen(newest);
	is_size = (int)strspn(is, "0123456789.");
	may_size = (int)strspn(may, "0123456789.");
	at = strstr(ptx, ".version");
	if (!at || !is_size || !may_size)
		return false;
	changed = text_format("%.*s.version %.*s%s", (int)(at - ptx), ptx, may_size, may,
			      at + strcspn(at, "\r\n"));
	a->remake.images[index].ptxas_how = text_format(
		"%s --version; .version of its PTX lowered from %.*s to %.*s, the newest it reads",
		a->tool, is_size, is, may_size, may);
	return changed && a->remake.images[index].ptxas_how &&
	       !remake_put(&a->remake, index, ".ptx", changed, strlen(changed), NULL);
}

/* Notes what ptxas refused; *again: some job is to be run once more. */
static int judge(struct assembler *a, bool last, bool *again, struct error *err)
{
	*again = false;
	for (size_t i = 0; i < a->remake.count; i++) {
		struct job *job = &a->jobs[i];
		_cleanup_free_ char *failure = NULL;

		if (!job->ready)
			continue;
		failure = command_failure(&job->command);
		job->ready = false;
		if (!failure)
			return no_memory(a, err);
		if (!*failure)
			continue;
		if (!last && lower_version(a, i)) {
			job->ready = *again = true;
			continue;
		}
		a->remake.images[i].failure = text_format("ptxas %s: %s", a->version, failure);
		if (!a->remake.images[i].failure)
			return no_memory(a, err);
	}
	return 0;
}

static int write_bundle(struct assembler *a, const char *path, struct error *err)
{
	_cleanup_free_ char *flags = strdup(""), *how = text_format("%s --version", a->tool);
	_cleanup_free_ char *version = NULL, *command = NULL;

	for (size_t i = 0; flags && i < a->flags.count; i++) {
		char *longer = text_format("%s %s", flags, a->flags.items[i]);

		free(flags);
		flags = longer;
	}
	version = text_format("ptxas %s%s", a->version, flags ? flags : "");
	command =
		text_format("%s -lineinfo --gpu-name=TARGET%s (PTX as recorded: the stages before "
			    "ptxas are not run)",
			    a->tool, flags ? flags : "");
	if (!flags || !how || !version || !command)
		return no_memory(a, err);
	return remake_write(&a->remake, path,
			    &(struct remake_tool){.loader = "ptxas",
						  .version = version,
						  .how = how,
						  .command = command,
						  .ptxas = a->version,
						  .ptxas_how = how},
			    err);
}

static int assemble(struct assembler *a, const char *path, struct error *err)
{
	bool again;
	int rc = 0;

	a->jobs = calloc(a->remake.count, sizeof(*a->jobs));
	if (!a->jobs)
		return no_memory(a, err);
	for (size_t i = 0; !rc && i < a->remake.count; i++)
		rc = prepare(a, i, err);
	if (!rc)
		rc = run_ready(a, err);
	if (!rc)
		rc = judge(a, false, &again, err);
	if (!rc && again) {
		rc = run_ready(a, err);
		if (!rc)
			rc = judge(a, true, &again, err);
	}
	return rc ? rc : write_bundle(a, path, err);
}

int reassemble(const char *path, const char *folder, const struct source_request *request,
	       struct error *err)
{
	struct assembler a = {.progress = {.fd = -1}};
	char *text = strdup(request->text + strlen(REASSEMBLE_PREFIX));
	int rc;

	a.tool = request->text;
	if (!text)
		return no_memory(&a, err);
	if (!split(&a.flags, text, ",") || !a.flags.count) {
		rc = error_set(err, EINVAL, ERROR_NO_OFFSET, "source %s: %s", request->text,
			       a.flags.count ? "too many flags" : "ptxas:PATH[,flag…] expected");
		free(a.flags.text);
		return rc;
	}
	a.tool = a.flags.items[0];
	memmove(a.flags.items, a.flags.items + 1, --a.flags.count * sizeof(*a.flags.items));
	rc = remake_begin(&a.remake, request, folder, err);
	if (!rc)
		rc = ask_version(&a, request, err);
	if (!rc)
		rc = assemble(&a, path, err);
	assembler_free(&a);
	return rc;
}
