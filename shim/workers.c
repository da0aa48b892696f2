/* SPDX-License-Identifier: MIT */
/* Threads of the shim in the program. */
#include "shim/workers.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "shim/guard.h"
#include "shim/ring.h"

#define WORKERS_MAX 4
#define STACK_BYTES (512u << 10)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t threads[WORKERS_MAX];
static int count;
static bool tried;

static void *run(void *unused)
{
	(void)unused;
	shim_depth++; /* whatever it calls is the shim's own */
	ring_work();
	return NULL;
}

static int wanted(void)
{
	cpu_set_t set;
	int n = 0;

	if (!sched_getaffinity(0, sizeof(set), &set))
		n = CPU_COUNT(&set) / 2;
	return n < 2 ? 2 : n > WORKERS_MAX ? WORKERS_MAX : n;
}

/* A signal of the program is the program's: none of its handlers runs on a thread of ours. */
static void start(void)
{
	sigset_t all, old;
	pthread_attr_t attributes;
	char name[16];

	sigfillset(&all);
	if (pthread_attr_init(&attributes))
		return;
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	for (int n = wanted(); count < n; count++) {
		if (pthread_create(&threads[count], &attributes, run, NULL))
			break;
		snprintf(name, sizeof(name), "kernelab-%d", count);
		pthread_setname_np(threads[count], name);
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attributes);
}

bool workers_start(void)
{
	bool there;

	pthread_mutex_lock(&lock);
	if (!tried) {
		tried = true;
		start();
	}
	there = count > 0;
	pthread_mutex_unlock(&lock);
	return there;
}

bool workers_stop(double seconds)
{
	struct timespec until;
	bool all = true;

	ring_stop();
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += (time_t)seconds;
	pthread_mutex_lock(&lock);
	for (int i = 0; i < count; i++)
		all = !pthread_timedjoin_np(threads[i], NULL, &until) && all;
	count = 0;
	pthread_mutex_unlock(&lock);
	return all;
}

void workers_forget(void)
{
	pthread_mutex_init(&lock, NULL);
	count = 0;
	tried = false;
}
