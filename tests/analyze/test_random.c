/* SPDX-License-Identifier: MIT */
/* Random results, sensible or not: each is refused with a message, or every family gets one bucket.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/analyze.h"
#include "analyze/report.h"
#include "lib/base.h"
#include "tests/analyze/maker.h"
#include "tests/lib/scratch.h"

static uint64_t state_;

static uint32_t pick(uint32_t n)
{
	state_ = state_ * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(state_ >> 33) % n;
}

/* Mostly what is valid, now and then a number that means nothing. */
static uint32_t odd(uint32_t n, uint32_t one_in)
{
	return pick(one_in) ? pick(n) : pick(UINT32_MAX);
}

static const char *words(void)
{
	static const char *const list[] = {NULL,
					   "",
					   "k",
					   "x\n\033[0m",
					   "|`<b>",
					   "Ünï",
					   "a very long name indeed that goes on and on and on"};

	return list[pick(ARRAY_LENGTH(list))];
}

/* Bytes that are often equal, often numbers, sometimes anything. */
static void fill(unsigned char *data, size_t size, uint32_t kind)
{
	for (size_t i = 0; i < size; i++)
		data[i] = kind == 0   ? 0
			  : kind == 1 ? (i % 4 == 3 ? 0x3f : (unsigned char)(i >> 2))
				      : (unsigned char)pick(256);
	if (kind == 1 && size && !pick(3))
		data[pick((uint32_t)size)] ^= 1u << pick(8);
}

#define EXTENTS      4
#define EXTENT_BYTES 300

static void put_trials(struct maker *m)
{
	static unsigned char data[EXTENTS][EXTENT_BYTES];
	const void *contents[EXTENTS];
	uint32_t kind = pick(3);

	for (uint32_t i = 0, n = pick(12); i < n; i++) {
		struct record_trial t = {.side = i % 2,
					 .kind = pick(2),
					 .index = i,
					 .status = pick(20) ? 0 : odd(6, 10),
					 .reason = words(),
					 .time_us = pick(100)};

		t.index = pick(200) ? i / 2 : 0;
		t.stray_bytes = pick(60) ? 0 : pick(100);
		t.unwritten_bytes = pick(60) ? 0 : pick(100);
		for (size_t k = 0; k < EXTENTS; k++) {
			if (!i || !pick(9))
				fill(data[k], EXTENT_BYTES, pick(4) ? kind : pick(3));
			contents[k] = data[k];
		}
		maker_trial_full(m, &t, t.status ? NULL : contents);
	}
}

static void put_case(struct maker *m)
{
	struct record_extent e[EXTENTS];
	struct record_case c = {.config = m->configs ? odd(m->configs, 500) : 0,
				.bundle = words(),
				.seq = pick(5),
				.fidelity = pick(6) ? FIDELITY_FAITHFUL : odd(4, 10),
				.extents = {e, pick(EXTENTS + 1)},
				.params = words(),
				.repro = words()};

	for (size_t i = 0; i < c.extents.count; i++)
		e[i] = (struct record_extent){.address = MAKER_ADDRESS + i * (1 << 20) +
							 4 * pick(8) + !pick(9),
					      .size = 1 + pick(EXTENT_BYTES),
					      .arg = odd(6, 50),
					      .dtype = odd(DTYPE_COUNT, 50)};
	for (size_t i = 0; i < c.extents.count; i++)
		if (pick(5))
			e[i].size = (e[i].size + 7) / 8 * 8 > EXTENT_BYTES
					    ? 8
					    : (e[i].size + 7) / 8 * 8;
	maker_case_full(m, &c);
	put_trials(m);
}

static void make(const char *path)
{
	struct maker_head head = {.version_a = words(), .version_b = words(), .software = pick(2)};
	struct maker m;

	maker_begin(&m, path, &head);
	for (uint32_t f = 0, n = pick(4); f < n; f++) {
		char name[32];
		struct hash128 key;

		snprintf(name, sizeof(name), "k%u", (unsigned)(pick(200) ? f : 0));
		key = maker_family(&m, name, (enum dtype)pick(DTYPE_COUNT));
		for (uint32_t c = 0, configs = pick(4); c < configs; c++) {
			struct record_config r = {.family = key,
						  .options = pick(2) ? "w4" : "w8",
						  .pairing = odd(4, 20),
						  .a_image = {pick(2), 1},
						  .same_ptx = pick(2),
						  .same_code = pick(2),
						  .reason = words()};

			maker_config_full(&m, &r);
			for (uint32_t k = 0, cases = pick(4); k < cases; k++)
				put_case(&m);
		}
	}
	maker_end(&m);
}

/* What must hold whatever the input. */
static void check(const struct analysis *a)
{
	size_t unproven = 0;

	assert_int_equal(a->buckets[0], 0);
	assert_int_equal(a->buckets[1] + a->buckets[2] + a->buckets[3], a->family_count);
	for (size_t i = 0; i < a->family_count; i++) {
		const struct family_verdict *f = &a->families[i];
		const struct family_coverage *c = &f->coverage;
		const struct case_verdict *worst = family_worst_case(f);

		assert_in_range(f->outcome.bucket, 1, 3);
		unproven += f->outcome.unproven;
		assert_true(c->configs_tested <= c->configs && c->tested <= c->cases);
		assert_true(c->classes_tested <= c->classes);
		assert_true(f->outcome.evidence[0]);
		if (!c->tested)
			assert_true(f->outcome.unproven && !worst);
		for (size_t k = 0; k < f->config_count; k++)
			for (size_t n = 0; n < f->configs[k].case_count; n++)
				assert_true(f->configs[k].cases[n].outcome.bucket <=
					    f->outcome.bucket);
		if (i)
			assert_true(outcome_compare(&a->families[i - 1].outcome, &f->outcome) >= 0);
		if (worst)
			assert_int_equal(worst->outcome.bucket, f->outcome.bucket);
	}
	assert_int_equal(unproven, a->unproven);
}

static void report(const struct analysis *a)
{
	FILE *null = fopen("/dev/null", "w");

	report_terminal(a, null, true);
	report_markdown(a, null, 3);
	assert_int_equal(report_json(a, null), 0);
	fclose(null);
}

#define ROUNDS 600

static void test_random_results(void **state)
{
	_cleanup_free_ char *x = scratch_path("x.klab"), *y = scratch_path("y.klab");
	size_t judged = 0, refused = 0, buckets[4] = {0};

	for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
		char *paths[] = {x, y};
		size_t count = seed % 5 ? 1 : 2;
		struct analysis *a;
		struct error err = {0};

		state_ = seed * UINT64_C(0x9e3779b97f4a7c15);
		make(x);
		if (count == 2)
			make(y);
		if (analysis_run(&a, paths, count, NULL, NULL, &err)) {
			assert_true(strstr(err.message, ".klab") != NULL);
			refused++;
		} else {
			check(a);
			report(a);
			judged++;
			for (int b = 1; b <= 3; b++)
				buckets[b] += a->buckets[b];
			analysis_free(a);
		}
	}
	print_message("%zu judged, %zu refused; buckets %zu %zu %zu\n", judged, refused, buckets[1],
		      buckets[2], buckets[3]);
	/* The generator reaches what it should. */
	assert_true(judged > ROUNDS / 4 && refused > ROUNDS / 20);
	assert_true(buckets[1] > 10 && buckets[2] > 10 && buckets[3] > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_results)};

	return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
