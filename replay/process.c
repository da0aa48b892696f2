/* SPDX-License-Identifier: MIT */
/* The parent's end of a worker process, and the choice of the driver that workers open. */
#include "replay/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "drv/driver.h"
#include "lib/base.h"
#include "lib/environment.h"
#include "lib/paths.h"
#include "replay/runner.h"

#define SOCKET_BYTES (4 << 20)

/* What a child of ours does first. */
static void become_child(pid_t parent)
{
	signal(SIGINT, SIG_IGN); /* the parent decides */
	signal(SIGHUP, SIG_IGN);
	signal(SIGTERM, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}); /* it would hold the model's data */
	if (getppid() != parent)
		_exit(1);
}

int process_start(struct process *w, int ordinal, struct step first, const struct plan *plan,
		  const struct replay_options *options, const char *driver_path, struct error *err)
{
	int fds[2], size = SOCKET_BYTES;
	pid_t parent = getpid();

	pulse_close(w->pulse);
	*w = (struct process){.fd = -1, .pulse = pulse_open()};
	if (!w->pulse)
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for a worker");
	pulse_set(w->pulse, first);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		return error_set(err, errno, ERROR_NO_OFFSET, "socketpair: %s", strerror(errno));
	for (int i = 0; i < 2; i++) /* best effort: only speed depends on it */
		setsockopt(fds[i], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	fflush(NULL);
	w->pid = fork();
	if (w->pid < 0) {
		int code = errno;

		close(fds[0]);
		close(fds[1]);
		w->pid = 0;
		return error_set(err, code, ERROR_NO_OFFSET, "fork: %s", strerror(code));
	}
	if (!w->pid) {
		become_child(parent);
		close(fds[0]);
		_exit(worker_main(fds[1], ordinal, w->pulse, plan, options, driver_path));
	}
	close(fds[1]);
	w->fd = fds[0];
	return 0;
}

void process_end(struct process *w, bool kill_it, char *how, size_t size)
{
	int status = 0;

	if (how && size)
		how[0] = 0;
	if (!w->pid)
		return;
	if (kill_it)
		kill(w->pid, SIGKILL);
	if (w->fd >= 0)
		close(w->fd);
	while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (how && WIFSIGNALED(status))
		snprintf(how, size, "worker ended by signal %d (%s)", WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
	else if (how)
		snprintf(how, size, "worker ended with status %d", WEXITSTATUS(status));
	w->pid = 0;
	w->fd = -1;
}

void process_close(struct process *w)
{
	process_end(w, true, NULL, 0);
	pulse_close(w->pulse);
	w->pulse = NULL;
}

/* In a child: 0 the library has devices, whose number goes to `out`; 1 none, 2 not a driver. */
static int try_driver(const char *path, int out)
{
	struct driver d;
	int count = 0;

	if (driver_open(&d, path, NULL))
		return 2;
	if (d.cuInit(0) != CUDA_SUCCESS || d.cuDeviceGetCount(&count) != CUDA_SUCCESS)
		return 1;
	if (count <= 0)
		return 1;
	return write(out, &count, sizeof(count)) == sizeof(count) ? 0 : 2;
}

static int probe_into(const char *path, const int fds[2])
{
	pid_t parent = getpid(), pid;
	int status;

	fflush(NULL);
	pid = fork();
	if (pid < 0)
		return 3;
	if (!pid) {
		become_child(parent);
		_exit(try_driver(path, fds[1]));
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 3;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 3;
}

/* Number of the child's answer, or 3 where it died. *count: its devices. */
static int probe_driver(const char *path, size_t *count)
{
	int fds[2], found = 0, answer;

	*count = 0;
	if (pipe2(fds, O_CLOEXEC))
		return 3;
	answer = probe_into(path, fds);
	if (!answer && read(fds[0], &found, sizeof(found)) == sizeof(found))
		*count = (size_t)found;
	close(fds[0]);
	close(fds[1]);
	return answer;
}

static const char *probe_text(int answer)
{
	static const char *const texts[] = {"works", "has no device", "is not a usable driver",
					    "crashes"};

	return texts[answer >= 0 && answer < 4 ? answer : 3];
}

/* The driver that was named. */
static int choose_given(const char *given, const char *by, char **path, size_t *count, char *how,
			size_t size, struct error *err)
{
	int answer = probe_driver(given, count);
	struct error why = {0};
	struct driver d;

	if (answer == 2 && driver_open(&d, given, &why))
		return error_set(err, ENODEV, ERROR_NO_OFFSET, "%s: %.380s", by, why.message);
	if (answer)
		return error_set(err, ENODEV, ERROR_NO_OFFSET, "%s: %s %s", by, given,
				 probe_text(answer));
	snprintf(how, size, "%s", by);
	*path = strdup(given);
	return *path ? 0 : error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory");
}

int driver_choose(const struct replay_options *options, char **path, size_t *count, char *how,
		  size_t size, struct error *err)
{
	static const char system_driver[] = "libcuda.so.1";
	const char *given = options->driver ? options->driver : environment_get(ENVIRONMENT_DRIVER);
	struct error why = {0};
	int answer = 1, rc;

	*path = NULL;
	if (given)
		return choose_given(given, options->driver ? "driver given" : "KERNELAB_DRIVER",
				    path, count, how, size, err);
	if (options->device != REPLAY_DEVICE_SOFT) {
		answer = probe_driver(system_driver, count);
		if (!answer) {
			snprintf(how, size, "the system's libcuda.so.1 has a device");
			*path = strdup(system_driver);
			return *path ? 0 : error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory");
		}
		if (options->device == REPLAY_DEVICE_GPU)
			return error_set(err, ENODEV, ERROR_NO_OFFSET,
					 "--device gpu: the system's libcuda.so.1 %s",
					 answer == 2 ? "is not there or not usable"
						     : probe_text(answer));
	}
	rc = part_find(PART_SOFTGPU, path, &why);
	if (rc)
		return error_set(err, ENODEV, ERROR_NO_OFFSET, "%s%.400s",
				 options->device == REPLAY_DEVICE_AUTO
					 ? "no GPU, and no software device: "
					 : "no software device: ",
				 why.message);
	answer = probe_driver(*path, count);
	if (answer) {
		rc = error_set(err, ENODEV, ERROR_NO_OFFSET, "the software device %s %s", *path,
			       probe_text(answer));
		free(steal_pointer(*path));
		return rc;
	}
	snprintf(how, size, "%s",
		 options->device == REPLAY_DEVICE_SOFT ? "--device soft"
						       : "no GPU here: kernelab's software device");
	return 0;
}
