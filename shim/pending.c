/* SPDX-License-Identifier: MIT */
/* The list of records that wait for contents. */
#include "shim/pending.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "shim/clock.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pending *first;
static struct pending **last = &first;
static atomic_ulong steps; /* anything stored or written */

void pending_add(struct pending *p)
{
	p->next = NULL;
	p->holds = 1;
	p->writing = false;
	pthread_mutex_lock(&lock);
	*last = p;
	last = &p->next;
	pthread_mutex_unlock(&lock);
}

void pending_hold(struct pending *p)
{
	pthread_mutex_lock(&lock);
	p->holds++;
	pthread_mutex_unlock(&lock);
}

/* Whether one of the same order comes before p. */
static bool waits(const struct pending *p)
{
	for (const struct pending *q = first; q != p; q = q->next)
		if (q->order == p->order)
			return true;
	return false;
}

static struct pending *next_to_write(void)
{
	for (struct pending *p = first; p; p = p->next)
		if (!p->holds && !p->writing && !waits(p))
			return p;
	return NULL;
}

static void take_out(struct pending *p)
{
	struct pending **at = &first;

	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
	if (last == &p->next)
		last = at;
}

void pending_release(struct pending *p)
{
	pthread_mutex_lock(&lock);
	p->holds--;
	while ((p = next_to_write())) {
		p->writing = true;
		pthread_mutex_unlock(&lock);
		p->write(p);
		pending_progress();
		pthread_mutex_lock(&lock);
		take_out(p);
		pthread_mutex_unlock(&lock);
		p->free(p);
		pthread_mutex_lock(&lock);
	}
	pthread_mutex_unlock(&lock);
}

void pending_progress(void)
{
	atomic_fetch_add(&steps, 1);
}

static bool none_left(void)
{
	bool none;

	pthread_mutex_lock(&lock);
	none = !first;
	pthread_mutex_unlock(&lock);
	return none;
}

bool pending_drain(double idle_s, double all_s, void (*look)(void))
{
	double start = clock_seconds(), changed = start;
	unsigned long seen = atomic_load(&steps);

	while (!none_left()) {
		double now = clock_seconds();

		if (atomic_load(&steps) != seen) {
			seen = atomic_load(&steps);
			changed = now;
		}
		if (now - changed > idle_s || now - start > all_s)
			return false;
		if (look)
			look();
		clock_sleep(0.001);
	}
	return true;
}

void pending_forget(void)
{
	pthread_mutex_init(&lock, NULL);
	first = NULL;
	last = &first;
	atomic_store(&steps, 0);
}
