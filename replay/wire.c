/* SPDX-License-Identifier: MIT */
/* Messages between the replaying parent and its worker: framed, over a socket pair. */
#include "replay/wire.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

struct frame {
	uint32_t type;
	uint32_t size;
};

#define POLL_MS 200 /* how late a stop flag may be seen */

void packet_free(struct packet *p)
{
	free(p->data);
	*p = (struct packet){0};
}

void packet_clear(struct packet *p)
{
	p->size = p->at = 0;
	p->bad = false;
}

static bool grow(struct packet *p, size_t more)
{
	size_t capacity = p->capacity ? p->capacity : 256;
	uint8_t *data;

	if (p->bad || more > WIRE_MAX_BYTES - p->size) {
		p->bad = true;
		return false;
	}
	while (capacity < p->size + more)
		capacity *= 2;
	if (capacity == p->capacity)
		return true;
	data = realloc(p->data, capacity);
	if (!data) {
		p->bad = true;
		return false;
	}
	p->data = data;
	p->capacity = capacity;
	return true;
}

void packet_put_bytes(struct packet *p, const void *data, size_t size)
{
	if (!size || !grow(p, size))
		return;
	memcpy(p->data + p->size, data, size);
	p->size += size;
}

void packet_put_u64(struct packet *p, uint64_t v)
{
	packet_put_bytes(p, &v, sizeof(v));
}

void packet_put_f64(struct packet *p, double v)
{
	packet_put_bytes(p, &v, sizeof(v));
}

void packet_put_hash(struct packet *p, struct hash128 h)
{
	packet_put_bytes(p, &h, sizeof(h));
}

void packet_put_text(struct packet *p, const char *text)
{
	packet_put_bytes(p, text ? text : "", strlen(text ? text : "") + 1);
}

static void get(struct packet *p, void *out, size_t size)
{
	if (p->bad || size > p->size - p->at) {
		p->bad = true;
		memset(out, 0, size);
		return;
	}
	memcpy(out, p->data + p->at, size);
	p->at += size;
}

uint64_t packet_get_u64(struct packet *p)
{
	uint64_t v;

	get(p, &v, sizeof(v));
	return v;
}

double packet_get_f64(struct packet *p)
{
	double v;

	get(p, &v, sizeof(v));
	return v;
}

struct hash128 packet_get_hash(struct packet *p)
{
	struct hash128 h;

	get(p, &h, sizeof(h));
	return h;
}

const char *packet_get_text(struct packet *p)
{
	const char *text = (const char *)p->data + p->at;
	const char *end = p->bad || p->at >= p->size ? NULL : memchr(text, 0, p->size - p->at);

	if (!end) {
		p->bad = true;
		return "";
	}
	p->at += (size_t)(end - text) + 1;
	return text;
}

size_t packet_left(const struct packet *p)
{
	return p->size - p->at;
}

static int send_all(int fd, const void *data, size_t size)
{
	const uint8_t *at = data;

	while (size) {
		ssize_t n = send(fd, at, size, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == ECONNRESET ? -EPIPE : -errno;
		at += n;
		size -= (size_t)n;
	}
	return 0;
}

int wire_send_raw(int fd, enum wire_type type, const void *data, size_t size)
{
	struct frame frame = {type, (uint32_t)size};
	int rc;

	if (size > WIRE_MAX_BYTES)
		return -EMSGSIZE;
	rc = send_all(fd, &frame, sizeof(frame));
	return rc ? rc : send_all(fd, data, size);
}

int wire_send(int fd, enum wire_type type, const struct packet *p)
{
	return p->bad ? -ENOMEM : wire_send_raw(fd, type, p->data, p->size);
}

uint64_t monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Waits until fd can be read. */
static int wait_readable(int fd, const _Atomic uint64_t *deadline_ns, const volatile int *stop)
{
	for (;;) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		uint64_t now = monotonic_ns(), end = deadline_ns ? atomic_load(deadline_ns) : 0;
		int ms = POLL_MS, n;

		if (stop && *stop)
			return -EINTR;
		if (end && now >= end)
			return -ETIMEDOUT;
		if (end && (end - now) / 1000000u < POLL_MS)
			ms = (int)((end - now) / 1000000u) + 1;
		n = poll(&p, 1, ms);
		if (n > 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return -errno;
	}
}

static int receive_all(int fd, void *data, size_t size, const _Atomic uint64_t *deadline_ns,
		       const volatile int *stop)
{
	uint8_t *at = data;

	while (size) {
		int rc = wait_readable(fd, deadline_ns, stop);
		ssize_t n;

		if (rc)
			return rc;
		n = recv(fd, at, size, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n == 0 || errno == ECONNRESET ? -EPIPE : -errno;
		at += n;
		size -= (size_t)n;
	}
	return 0;
}

int wire_receive(int fd, enum wire_type *type, struct packet *p,
		 const _Atomic uint64_t *deadline_ns, const volatile int *stop)
{
	struct frame frame;
	int rc = receive_all(fd, &frame, sizeof(frame), deadline_ns, stop);

	packet_clear(p);
	if (rc)
		return rc;
	if (frame.type < WIRE_READY || frame.type > WIRE_JOB || frame.size > WIRE_MAX_BYTES)
		return -EBADMSG;
	if (!grow(p, frame.size ? frame.size : 1))
		return -ENOMEM;
	rc = receive_all(fd, p->data, frame.size, deadline_ns, stop);
	if (rc)
		return rc;
	p->size = frame.size;
	*type = (enum wire_type)frame.type;
	return 0;
}
