/* SPDX-License-Identifier: MIT */
/* Gathers facts from /proc, the environment and the files given; starts no process. */
#include "shim/facts.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base.h"
#include "lib/environment.h"
#include "shim/benchmarks.h"
#include "shim/bypass.h"
#include "shim/hooks.h"
#include "shim/recorder.h"
#include "shim/versions.h"

#define FACTS_FILE_MAX (1u << 20)
#define COMMAND_MAX    (1u << 20)
#define ENV_VALUE_MAX  4096u
#define DEVICES_MAX    64u /* as many as a bit mask has; CUDA machines have at most 16 */

extern char **environ;

static char *given; /* KERNELAB_FACTS, NULs for tabs and newlines */
static struct {
	const char *name, *value, *how;
} given_lines[512];
static size_t given_count;
static atomic_ullong devices_seen;
static bool versions_done;

const char *facts_rank(void)
{
	static const char *const names[] = {"RANK", "SLURM_PROCID", "LOCAL_RANK"};
	static char text[40];

	for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
		const char *value = getenv(names[i]);

		if (value && *value && strlen(value) < 8 && !value[strspn(value, "0123456789")]) {
			snprintf(text, sizeof(text), "%s=%s", names[i], value);
			return text;
		}
	}
	return NULL;
}

int facts_put(struct bundle_writer *w, const char *name, const char *value, const char *how)
{
	struct record_fact fact = {.name = name, .value = value, .how = how};

	return bundle_put_fact(w, &fact);
}

/* ---- RUN ---- */

static int put_run(struct bundle_writer *w, const struct selection *settings)
{
	struct record_run run = {
		.tool_version = KERNELAB_VERSION,
		.pid = (uint64_t)getpid(),
		.start_ns = recorder_time_ns(),
		.no_data = settings->no_data,
		.rank = facts_rank(),
	};
	char directory[PATH_MAX], host[256] = "";
	_cleanup_free_ char *command = NULL;
	_cleanup_free_ const char **argv = NULL;
	size_t size = 0, n = 0;

	if (getcwd(directory, sizeof(directory)))
		run.directory = directory;
	if (!gethostname(host, sizeof(host) - 1))
		run.host = host;
	if (!file_read_all("/proc/self/cmdline", COMMAND_MAX, &command, &size)) {
		for (size_t i = 0; i < size; i++)
			n += !command[i];
		argv = calloc(n + 1, sizeof(*argv));
		if (!argv)
			return -ENOMEM;
		n = 0;
		for (size_t i = 0; i < size; i += strlen(command + i) + 1)
			argv[n++] = command + i;
		run.command.items = argv;
		run.command.count = n;
	}
	return bundle_put_run(w, &run);
}

/* ---- environment ---- */

static bool begins(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

/* name: up to '='. Only what decides which kernels come about or where they run. */
static bool environment_wanted(const char *name, size_t size)
{
	static const char *const prefixes[] = {"TRITON_",       "TORCHINDUCTOR_", "TORCHDYNAMO_",
					       "TORCH_COMPILE", "TORCH_LOGS",     "KERNELAB_"};
	static const char *const names[] = {
		"CUDA_VISIBLE_DEVICES", "CUDA_FORCE_PTX_JIT", "CUDA_MODULE_LOADING",
		"CUDA_LAUNCH_BLOCKING", "CUBLAS_WORKSPACE_CONFIG", "NVIDIA_TF32_OVERRIDE",
		"TORCH_ALLOW_TF32_CUBLAS_OVERRIDE",
		/* those that Triton's cache key has besides TRITON_… */
		"DISABLE_LLVM_OPT", "DISABLE_PTXAS_OPT", "DISABLE_MMA_V3", "DISABLE_MMA_V5",
		"PTXAS_OPTIONS", "LLVM_PASS_PLUGIN_PATH", "CUDA_DEVICE_ORDER", "RANK", "LOCAL_RANK",
		"WORLD_SIZE", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_JOB_ID"};
	static const char *const secrets[] = {"TOKEN",   "SECRET",     "PASSW", "CREDENTIAL",
					      "API_KEY", "ACCESS_KEY", "REDIS", "AUTH"};
	char text[128];

	if (size >= sizeof(text))
		return false;
	memcpy(text, name, size);
	text[size] = 0;
	for (size_t i = 0; i < ARRAY_LENGTH(secrets); i++)
		if (strstr(text, secrets[i]))
			return false;
	for (size_t i = 0; i < ARRAY_LENGTH(names); i++)
		if (!strcmp(text, names[i]))
			return true;
	for (size_t i = 0; i < ARRAY_LENGTH(prefixes); i++)
		if (begins(text, prefixes[i]))
			return true;
	return begins(text, "PYTORCH_") && strstr(text, "ALLOC");
}

static int put_environment(struct bundle_writer *w)
{
	int r = 0;

	for (char **e = environ; e && *e && r >= 0; e++) {
		const char *equals = strchr(*e, '=');
		_cleanup_free_ char *name = NULL, *value = NULL;

		if (!equals || !environment_wanted(*e, (size_t)(equals - *e)))
			continue;
		name = text_format("env.%.*s", (int)(equals - *e), *e);
		value = strndup(equals + 1, ENV_VALUE_MAX);
		if (!name || !value)
			return -ENOMEM;
		r = facts_put(w, name, value,
			      strlen(equals + 1) > ENV_VALUE_MAX ? "environment, cut at 4096 bytes"
								 : "environment");
	}
	return r;
}

/* ---- KERNELAB_FACTS ---- */

static void read_given(void)
{
	const char *path = environment_get(ENVIRONMENT_FACTS);
	size_t size = 0;

	if (given || !path || file_read_all(path, FACTS_FILE_MAX, &given, &size) < 0)
		return;
	for (char *line = given, *next; line && *line; line = next) {
		char *value, *how;

		next = strchr(line, '\n');
		if (next)
			*next++ = 0;
		value = strchr(line, '\t');
		how = value ? strchr(value + 1, '\t') : NULL;
		if (!how || given_count == ARRAY_LENGTH(given_lines))
			continue;
		*value++ = 0;
		*how++ = 0;
		given_lines[given_count].name = line;
		given_lines[given_count].value = value;
		given_lines[given_count++].how = how;
	}
}

const char *facts_given(const char *name)
{
	for (size_t i = 0; i < given_count; i++)
		if (!strcmp(given_lines[i].name, name))
			return given_lines[i].value;
	return NULL;
}

static int put_given(struct bundle_writer *w)
{
	int r = 0;

	read_given();
	for (size_t i = 0; i < given_count && r >= 0; i++)
		r = facts_put(w, given_lines[i].name, given_lines[i].value, given_lines[i].how);
	if (r >= 0 && environment_get(ENVIRONMENT_FACTS) && !given)
		r = facts_put(w, "capture.facts_missing", environment_get(ENVIRONMENT_FACTS),
			      "KERNELAB_FACTS could not be read");
	return r;
}

/* What a launcher set that does not run kernelab capture. */
static int put_named(struct bundle_writer *w)
{
	static const struct {
		enum environment_id id;
		const char *fact;
	} named[] = {{ENVIRONMENT_COMMIT, "compiler.commit"}, {ENVIRONMENT_LABEL, "run.label"}};
	int r = 0;

	for (size_t i = 0; r >= 0 && i < ARRAY_LENGTH(named); i++)
		if (environment_get(named[i].id) && !facts_given(named[i].fact))
			r = facts_put(w, named[i].fact, environment_get(named[i].id),
				      environment_name(named[i].id));
	return r;
}

/* ---- driver and program ---- */

static int put_driver(struct bundle_writer *w)
{
	char text[64], path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	int version = 0, r = 0;

	if (real.cuDriverGetVersion(&version) == CUDA_SUCCESS) {
		snprintf(text, sizeof(text), "%d.%d", version / 1000, version % 1000 / 10);
		r = facts_put(w, "driver.cuda", text, "cuDriverGetVersion");
	}
	if (r >= 0 && n > 0) {
		path[n] = 0;
		r = facts_put(w, "run.executable", path, "/proc/self/exe");
	}
	return r;
}

int facts_write_start(struct bundle_writer *w, const struct selection *settings)
{
	int r = put_run(w, settings);

	if (r >= 0)
		r = put_given(w);
	if (r >= 0)
		r = put_named(w);
	if (r >= 0 && benchmarks_process())
		r = facts_put(w, "capture.compile_benchmarks", "the whole process",
			      "its command line names torch/_inductor/__autotune_main__.py");
	if (r >= 0 && recorder_rank_left_out())
		r = facts_put(w, "capture.rank", "without contents",
			      "KERNELAB_RANKS does not name it: geometry and metadata only");
	if (r >= 0)
		r = put_environment(w);
	if (r >= 0)
		r = put_driver(w);
	if (r >= 0)
		r = facts_put(w, "capture.module_globals", "recorded",
			      "names from symbol tables and PTX; texts of assert and printf are "
			      "left out");
	if (r >= 0)
		r = versions_write(w, &versions_done);
	return r;
}

int facts_write_end(struct bundle_writer *w)
{
	_cleanup_free_ char *past = bypass_libraries();
	char text[32];
	int r = 0;

	if (!versions_done)
		r = versions_write(w, &versions_done);
	if (r >= 0 && hooks_by_name_count()) {
		snprintf(text, sizeof(text), "%lu", hooks_by_name_count());
		r = facts_put(w, "capture.resolved_by_name", text,
			      "cuGetProcAddress answers that no exported symbol has");
	}
	if (r >= 0 && past)
		r = facts_put(w, "capture.unseen_callers", past,
			      "their references are bound to the driver itself (RTLD_DEEPBIND): "
			      "what they load and launch is not in here");
	return r;
}

void facts_note_device(struct bundle_writer *w, CUdevice device)
{
	char name[256] = "";
	size_t memory = 0;
	int major = 0, minor = 0, version = 0;
	struct record_device record = {.ordinal = (uint32_t)device, .name = name};

	if (device < 0 || (unsigned)device >= DEVICES_MAX ||
	    atomic_fetch_or(&devices_seen, 1ull << device) & 1ull << device)
		return;
	if (real.cuDeviceGetName(name, sizeof(name) - 1, device) != CUDA_SUCCESS)
		name[0] = 0;
	real.cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
	real.cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
	real.cuDeviceTotalMem_v2(&memory, device);
	real.cuDriverGetVersion(&version);
	record.cc_major = (uint32_t)major;
	record.cc_minor = (uint32_t)minor;
	record.memory_bytes = memory;
	record.driver_version = (uint32_t)version;
	record.software = begins(name, "kernelab");
	recorder_put(bundle_put_device(w, &record), "writing a device");
}

void facts_forget(void)
{
	atomic_store(&devices_seen, 0);
	versions_done = false;
}
