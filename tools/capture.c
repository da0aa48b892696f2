/* SPDX-License-Identifier: MIT */
/* kernelab capture: runs a program with the shim in front of its CUDA driver. */
#include "tools/capture.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "drv/driver.h"
#include "kernelab/records.h"
#include "lib/base.h"
#include "lib/environment.h"
#include "lib/image/context.h"
#include "lib/log.h"
#include "lib/paths.h"
#include "lib/selection.h"
#include "tools/verbs.h"

/* ---- output folder ---- */

/* Exists and is empty, or is made. Nothing that is there already gets lost or mixed with new
 * things. */
static int output_prepare(const char *path, struct error *err)
{
	struct dirent *d;
	DIR *dir;

	for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		_cleanup_free_ char *above = strndup(path, (size_t)(slash - path));

		if (above)
			mkdir(above, 0777);
	}
	if (!mkdir(path, 0777))
		return 0;
	if (errno == EEXIST && access(path, W_OK | X_OK))
		return error_set(err, errno, ERROR_NO_OFFSET, "cannot write into %s: %s", path,
				 strerror(errno));
	dir = errno == EEXIST ? opendir(path) : NULL;
	if (!dir)
		return error_set(err, errno, ERROR_NO_OFFSET, "cannot make the folder %s: %s", path,
				 strerror(errno));
	while ((d = readdir(dir)) && (!strcmp(d->d_name, ".") || !strcmp(d->d_name, "..")))
		;
	if (d) /* before closedir, which takes the name with it */
		error_set(err, EEXIST, ERROR_NO_OFFSET,
			  "%s is not empty (it has %s): give another folder with -o", path,
			  d->d_name);
	closedir(dir);
	return d ? -EEXIST : 0;
}

static char *default_output(void)
{
	char text[64];
	time_t now = time(NULL);
	struct tm tm;

	localtime_r(&now, &tm);
	strftime(text, sizeof(text), "kernelab-%Y%m%d-%H%M%S", &tm);
	return strdup(text);
}

/* ---- environment of the program ---- */

static int set_list(const char *name, const char *item, bool in_front, struct error *err)
{
	const char *old = getenv(name);
	_cleanup_free_ char *value = NULL;

	if (!old || !*old)
		value = strdup(item);
	else
		value = in_front ? text_format("%s:%s", item, old)
				 : text_format("%s:%s", old, item);
	if (!value || setenv(name, value, 1))
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory");
	return 0;
}

/* malloc'ed path of a shim that LD_PRELOAD can name. */
static int find_shim(char **shim, struct error *err)
{
	int r = part_find(PART_SHIM, shim, err);

	if (r < 0)
		return r;
	if (strpbrk(*shim, " :"))
		return error_set(err, EINVAL, ERROR_NO_OFFSET,
				 "the loader cannot preload %s: a space or colon is in its path",
				 *shim);
	return 0;
}

/* A driver library alone says little: containers have one without a device. */
static bool gpu_there(void)
{
	static const char *const nodes[] = {"/dev/nvidiactl", "/dev/dxg", "/dev/nvhost-ctrl"};
	void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
	CUresult (*init)(unsigned) = NULL, (*get_count)(int *) = NULL;
	void *found;
	int count = 0;

	if (!library)
		return false;
	for (size_t i = 0; i < ARRAY_LENGTH(nodes); i++)
		if (!access(nodes[i], F_OK))
			return true;
	found = dlsym(library, "cuInit");
	memcpy(&init, &found, sizeof(init));
	found = dlsym(library, "cuDeviceGetCount");
	memcpy(&get_count, &found, sizeof(get_count));
	return init && get_count && init(0) == CUDA_SUCCESS && get_count(&count) == CUDA_SUCCESS &&
	       count > 0;
}

static int use_software_device(const char *why, struct error *err)
{
	_cleanup_free_ char *library = NULL;
	int r = part_find(PART_SOFTGPU, &library, err);

	if (r < 0) {
		error_prefix(err, "%s", why);
		return r;
	}
	*strrchr(library, '/') = 0;
	fprintf(stderr, "kernelab: capture: %s: the program runs on the software device in %s\n",
		why, library);
	return set_list("LD_LIBRARY_PATH", library, true, err);
}

static int choose_device(const char *device, struct error *err)
{
	if (!device)
		device = "auto";
	if (!strcmp(device, "gpu"))
		return 0;
	if (!strcmp(device, "soft"))
		return use_software_device("--device soft", err);
	if (strcmp(device, "auto") != 0)
		return error_set(err, EINVAL, ERROR_NO_OFFSET, "--device %s: not auto, gpu or soft",
				 device);
	return gpu_there() ? 0 : use_software_device("no GPU found", err);
}

static int set_fresh_caches(const char *output, struct error *err)
{
	static const struct {
		const char *variable, *folder;
	} caches[] = {{"TRITON_CACHE_DIR", "triton"}, {"TORCHINDUCTOR_CACHE_DIR", "inductor"}};
	_cleanup_free_ char *cache = text_format("%s/cache", output);

	if (!cache || mkdir(cache, 0777))
		return error_set(err, errno, ERROR_NO_OFFSET, "cannot make %s/cache: %s", output,
				 strerror(errno));
	for (size_t i = 0; i < ARRAY_LENGTH(caches); i++) {
		_cleanup_free_ char *folder = text_format("%s/%s", cache, caches[i].folder);

		if (!folder || mkdir(folder, 0777) || setenv(caches[i].variable, folder, 1))
			return error_set(err, errno, ERROR_NO_OFFSET,
					 "cannot make the folder %s: %s", folder ? folder : cache,
					 strerror(errno));
	}
	/* The remote caches of Inductor would bring back what the empty folders are to avoid. */
	setenv("TORCHINDUCTOR_FX_GRAPH_REMOTE_CACHE", "0", 1);
	setenv("TORCHINDUCTOR_AUTOTUNE_REMOTE_CACHE", "0", 1);
	fprintf(stderr, "kernelab: capture: fresh caches of Triton and Inductor in %s\n", cache);
	return 0;
}

/*
 * The folder of the glue in front of the program's PYTHONPATH: the way to run in a Python that asks
 * for nothing. The glue itself gives way to the program's own sitecustomize.
 */
static int set_glue(const struct capture_options *o, struct error *err)
{
	_cleanup_free_ char *glue = NULL;

	if (o->no_glue)
		return setenv(environment_name(ENVIRONMENT_NO_GLUE), "1", 1)
			       ? error_set(err, errno, ERROR_NO_OFFSET, "cannot set %s",
					   environment_name(ENVIRONMENT_NO_GLUE))
			       : 0;
	if (part_find(PART_GLUE, &glue, err) < 0) {
		log_warning("capture: %s: no constexprs, source and shapes from Python",
			    err->message);
		*err = (struct error){0};
		return 0;
	}
	*strrchr(glue, '/') = 0;
	if (strchr(glue, ':')) {
		log_warning("capture: a colon is in %s: no Python glue", glue);
		return 0;
	}
	return set_list("PYTHONPATH", glue, true, err);
}

static int set_variable(enum environment_id id, const char *value, struct error *err)
{
	int r = setenv(environment_name(id), value, 1);

	return r ? error_set(err, errno, ERROR_NO_OFFSET, "cannot set %s", environment_name(id))
		 : 0;
}

/* What the shim reads. Set before anything is made, so that its own parser checks it. */
static int set_selection(const struct capture_options *o, struct error *err)
{
	struct selection selection;
	int r = o->no_data ? set_variable(ENVIRONMENT_NO_DATA, "1", err) : 0;

	if (r >= 0 && o->cupti)
		r = set_variable(ENVIRONMENT_CUPTI, "1", err);
	for (int id = 0; r >= 0 && id < ENVIRONMENT_COUNT; id++)
		if (o->text[id] && id != ENVIRONMENT_OUTPUT)
			r = set_variable((enum environment_id)id, o->text[id], err);
	if (r < 0)
		return r;
	r = selection_read(&selection, err);
	if (r >= 0)
		selection_free(&selection);
	return r;
}

static int set_settings(const struct capture_options *o, const char *output, struct error *err)
{
	_cleanup_free_ char *facts = text_format("%s/facts.tsv", output);
	int r;

	if (!facts)
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory");
	r = capture_facts_write(facts, o, err);
	if (r >= 0)
		r = set_variable(ENVIRONMENT_OUTPUT, output, err);
	return r < 0 ? r : set_variable(ENVIRONMENT_FACTS, facts, err);
}

/* ---- checks ---- */

/* The glue looks for DIR/glue/autotune.*.jsonl, from whatever folder the program goes to. */
static int set_pin(const struct capture_options *o, struct error *err)
{
	const char *given = o->text[ENVIRONMENT_PIN_WINNERS];
	_cleanup_free_ char *pattern = text_format("%s/glue/autotune.*.jsonl", given);
	_cleanup_free_ char *absolute = realpath(given, NULL);
	glob_t found;
	int missing;

	if (!absolute || !pattern)
		return error_set(err, errno, ERROR_NO_OFFSET, "--pin-winners %s: %s", given,
				 strerror(errno));
	if (o->no_glue)
		return error_set(
			err, EINVAL, ERROR_NO_OFFSET,
			"--pin-winners works by the Python glue, which --no-glue leaves out");
	missing = glob(pattern, 0, NULL, &found);
	if (!missing)
		globfree(&found);
	if (missing)
		return error_set(err, ENOENT, ERROR_NO_OFFSET,
				 "--pin-winners %s: no winners were noted there (%s)", given,
				 pattern);
	return set_variable(ENVIRONMENT_PIN_WINNERS, absolute, err);
}

static int ignore_answer(const char *fact, const char *value, void *data)
{
	return 0;
}

/* Everything that can be wrong before anything is made. */
static int check(const struct capture_options *o, struct error *err)
{
	int r = set_selection(o, err);

	if (r >= 0 && o->text[ENVIRONMENT_PIN_WINNERS])
		r = set_pin(o, err);
	if (r >= 0 && o->text[ENVIRONMENT_CONTEXT])
		r = context_file_read(o->text[ENVIRONMENT_CONTEXT], ignore_answer, NULL, err);
	return r;
}

/* The program did not even start: takes away what was made for it, so that the folder can be used.
 */
static void undo(const char *output)
{
	static const char *const made[] = {"facts.tsv", "cache/triton", "cache/inductor", "cache",
					   ""};

	for (size_t i = 0; i < ARRAY_LENGTH(made); i++) {
		_cleanup_free_ char *path = text_format("%s/%s", output, made[i]);

		if (path && remove(path)) /* not empty, or never made: stays */
			continue;
	}
}

/* The preload comes last: what is started until then (ptxas) is not to have it. */
static int prepare(const struct capture_options *o, const char *output, char **absolute,
		   struct error *err)
{
	_cleanup_free_ char *shim = NULL;
	int r = check(o, err);

	if (r >= 0)
		r = find_shim(&shim, err);
	if (r >= 0)
		r = output_prepare(output, err);
	if (r < 0)
		return r;
	r = choose_device(o->text[ENVIRONMENT_DEVICE], err);
	if (r < 0) {
		undo(output);
		return r;
	}
	*absolute = realpath(output, NULL);
	if (!*absolute)
		return error_set(err, errno, ERROR_NO_OFFSET, "%s: %s", output, strerror(errno));
	if (o->fresh_cache)
		r = set_fresh_caches(*absolute, err);
	if (r >= 0 && o->more_configs && setenv("TORCHINDUCTOR_MAX_AUTOTUNE_POINTWISE", "1", 1))
		r = error_set(err, errno, ERROR_NO_OFFSET,
			      "cannot set TORCHINDUCTOR_MAX_AUTOTUNE_POINTWISE");
	if (r >= 0)
		r = set_settings(o, *absolute, err);
	if (r >= 0)
		r = set_glue(o, err);
	return r < 0 ? r : set_list("LD_PRELOAD", shim, false, err);
}

static int run(const struct capture_options *o, char **command)
{
	const char *output = o->text[ENVIRONMENT_OUTPUT];
	_cleanup_free_ char *chosen = output ? strdup(output) : default_output(), *absolute = NULL;
	struct error err = {0};
	int status;

	if (!chosen || prepare(o, chosen, &absolute, &err) < 0) {
		log_error("capture: %s", chosen ? err.message : "no memory");
		return CAPTURE_FAILED;
	}
	status = capture_child_run(command, &err);
	if (err.code) {
		log_error("capture: %s", err.message);
		undo(absolute);
	} else {
		capture_summary_print(chosen, command[0]);
	}
	return status;
}

int verb_capture(const struct verb *verb, int argc, char **argv)
{
	struct capture_options o = {0};
	char **command;
	int count, status = 0;

	if (capture_options_parse(&o, verb, argc, argv, &command, &count, &status) == OPTIONS_GO) {
		if (count) {
			command[count] = NULL; /* the operands were moved down in argv */
			status = run(&o, command);
		} else {
			log_error("capture: no program given; see kernelab capture --help");
			status = CAPTURE_FAILED;
		}
	}
	capture_options_free(&o);
	return status;
}
