/* SPDX-License-Identifier: MIT */
/* Messages between the replaying parent and its worker: framed, over a socket pair. */
#ifndef REPLAY_WIRE_H
#define REPLAY_WIRE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernelab/hash.h"

#define WIRE_MAX_BYTES (64u << 20)

enum wire_type {
	WIRE_READY = 1, /* worker: device description; ranges refused */
	WIRE_FAILED,    /* worker: cannot work at all; text, device name */
	WIRE_CHUNK,     /* worker: contents, raw */
	WIRE_EXTENTS,   /* worker: the case's write extents */
	WIRE_CASE,      /* worker: fidelity */
	WIRE_TRIAL,     /* worker: one trial, contents as keys */
	WIRE_REFERENCE, /* worker: values in double precision of one extent */
	WIRE_DONE,      /* worker: case finished; flags: context lost, again, too large */
	WIRE_JOB        /* parent: case number, caution level */
};

/* A message being built or read. Reading beyond the end or failing to grow sets `bad`. */
struct packet {
	uint8_t *data;
	size_t size, capacity, at;
	bool bad;
};

void packet_free(struct packet *p);
void packet_clear(struct packet *p);

void packet_put_u64(struct packet *p, uint64_t v);
void packet_put_f64(struct packet *p, double v);
void packet_put_hash(struct packet *p, struct hash128 h);
void packet_put_text(struct packet *p, const char *text); /* NULL = "" */
void packet_put_bytes(struct packet *p, const void *data, size_t size);

uint64_t packet_get_u64(struct packet *p);
double packet_get_f64(struct packet *p);
struct hash128 packet_get_hash(struct packet *p);
/* Points into the packet; "" if it is bad. */
const char *packet_get_text(struct packet *p);
/* Bytes from here to the end. */
size_t packet_left(const struct packet *p);

/* Sends one message. 0 or -errno; -EPIPE where the other end is gone (no signal). */
int wire_send(int fd, enum wire_type type, const struct packet *p);
int wire_send_raw(int fd, enum wire_type type, const void *data, size_t size);

/*
 * Receives one message into *p (cleared first). *deadline_ns is CLOCK_MONOTONIC, 0 for none;
 * another process may move it meanwhile; NULL: never. 0; -EPIPE the other end is gone; -ETIMEDOUT;
 * -EINTR when *stop became non-zero (may be NULL); -EBADMSG for a frame that cannot be.
 */
int wire_receive(int fd, enum wire_type *type, struct packet *p,
		 const _Atomic uint64_t *deadline_ns, const volatile int *stop);

uint64_t monotonic_ns(void);

#endif
