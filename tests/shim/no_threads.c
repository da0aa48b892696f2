/* SPDX-License-Identifier: MIT */
/* Preloaded: a process that may not make threads. */
#include <errno.h>
#include <pthread.h>

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
		   void *argument)
{
	return EAGAIN;
}
