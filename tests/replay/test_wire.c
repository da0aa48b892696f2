/* SPDX-License-Identifier: MIT */
/* Messages between parent and worker: whole, bounded, with deadline. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "replay/wire.h"

static int ends[2];

static int open_ends(void **state)
{
	return socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
}

static int close_ends(void **state)
{
	close(ends[0]);
	close(ends[1]);
	return 0;
}

static void carries_a_message(void **state)
{
	struct packet out = {0}, in = {0};
	struct hash128 h = hash_bytes("x", 1);
	enum wire_type type;

	packet_put_u64(&out, 7);
	packet_put_text(&out, "reason");
	packet_put_text(&out, NULL);
	packet_put_f64(&out, 1.5);
	packet_put_hash(&out, h);
	assert_int_equal(wire_send(ends[0], WIRE_TRIAL, &out), 0);
	assert_int_equal(wire_receive(ends[1], &type, &in, NULL, NULL), 0);
	assert_int_equal(type, WIRE_TRIAL);
	assert_int_equal(packet_get_u64(&in), 7);
	assert_string_equal(packet_get_text(&in), "reason");
	assert_string_equal(packet_get_text(&in), "");
	assert_true(packet_get_f64(&in) == 1.5);
	assert_true(hash_equal(packet_get_hash(&in), h));
	assert_int_equal(packet_left(&in), 0);
	assert_false(in.bad);
	assert_int_equal(packet_get_u64(&in), 0);
	assert_true(in.bad);
	packet_free(&out);
	packet_free(&in);
}

static void refuses_nonsense(void **state)
{
	uint32_t frame[2] = {WIRE_JOB + 1, 0};
	struct packet in = {0};
	enum wire_type type;

	assert_int_equal(write(ends[0], frame, sizeof(frame)), sizeof(frame));
	assert_int_equal(wire_receive(ends[1], &type, &in, NULL, NULL), -EBADMSG);
	frame[0] = WIRE_CHUNK;
	frame[1] = WIRE_MAX_BYTES + 1;
	assert_int_equal(write(ends[0], frame, sizeof(frame)), sizeof(frame));
	assert_int_equal(wire_receive(ends[1], &type, &in, NULL, NULL), -EBADMSG);
	packet_free(&in);
}

static void ends_at_the_deadline_stop_and_hangup(void **state)
{
	struct packet in = {0};
	enum wire_type type;
	volatile int stop = 1;
	_Atomic uint64_t deadline = monotonic_ns() + 1000000;

	assert_int_equal(wire_receive(ends[1], &type, &in, &deadline, NULL), -ETIMEDOUT);
	assert_int_equal(wire_receive(ends[1], &type, &in, NULL, &stop), -EINTR);
	shutdown(ends[0], SHUT_WR);
	assert_int_equal(wire_receive(ends[1], &type, &in, NULL, NULL), -EPIPE);
	packet_free(&in);
}

static void text_without_end_is_bad(void **state)
{
	struct packet p = {0};

	packet_put_bytes(&p, "abc", 3);
	assert_string_equal(packet_get_text(&p), "");
	assert_true(p.bad);
	packet_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(carries_a_message, open_ends, close_ends),
		cmocka_unit_test_setup_teardown(refuses_nonsense, open_ends, close_ends),
		cmocka_unit_test_setup_teardown(ends_at_the_deadline_stop_and_hangup, open_ends,
						close_ends),
		cmocka_unit_test(text_without_end_is_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
