/* SPDX-License-Identifier: MIT */
/* Numbers of launches: no two are the same, none is lost, whatever threads come and go. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "shim/numbers.h"
#include "shim/recorder.h"
#include "tests/shim/cmocka_all.h"

#define THREADS 4
#define ROUNDS  20
#define EACH    20000u

static struct selection settings;

const struct selection *recorder_settings(void)
{
	return &settings;
}

struct numbered {
	uint64_t *numbers;
	size_t count, capacity;
	uint64_t unnumbered;
};

/* As launches go: most are only counted, some need a number, and a graph needs several. */
static void *launch(void *data)
{
	struct numbered *n = data;

	for (unsigned i = 0; i < EACH; i++) {
		if (i % 7 && numbers_can_count()) {
			numbers_count();
			n->unnumbered++;
		} else if (i % 5 == 4) {
			numbers_add(3);
			n->unnumbered += 3;
		} else {
			uint64_t first = numbers_take(2);

			n->numbers[n->count++] = first;
			n->numbers[n->count++] = first + 1;
		}
	}
	return NULL;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void run(struct numbered *all)
{
	pthread_t threads[THREADS];
	struct numbered each[THREADS];

	for (int i = 0; i < THREADS; i++) {
		each[i] = (struct numbered){.numbers = calloc(2 * EACH, sizeof(uint64_t))};
		assert_non_null(each[i].numbers);
		assert_int_equal(pthread_create(&threads[i], NULL, launch, &each[i]), 0);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		for (size_t k = 1; k < each[i].count; k++)
			assert_true(each[i].numbers[k] > each[i].numbers[k - 1]);
		assert_true(all->count + each[i].count <= all->capacity);
		memcpy(all->numbers + all->count, each[i].numbers,
		       each[i].count * sizeof(uint64_t));
		all->count += each[i].count;
		all->unnumbered += each[i].unnumbered;
		free(each[i].numbers);
	}
}

static void many_threads(bool exact)
{
	size_t capacity = (size_t)THREADS * ROUNDS * 2 * EACH;
	struct numbered all = {.numbers = calloc(capacity, sizeof(uint64_t)), .capacity = capacity};

	assert_non_null(all.numbers);
	settings = (struct selection){.start.launches = exact};
	numbers_forget();
	assert_int_equal(numbers_total(), 0);
	assert_int_equal(numbers_exact(), exact);
	for (int i = 0; i < (exact ? 2 : ROUNDS); i++)
		run(&all);
	if (!exact)
		assert_true(all.unnumbered > all.count); /* or it would be no use */
	assert_int_equal(numbers_total(), all.count + all.unnumbered);
	qsort(all.numbers, all.count, sizeof(uint64_t), compare);
	assert_true(all.numbers[0] >= 1);
	assert_true(all.numbers[all.count - 1] <= all.count + all.unnumbered);
	for (size_t i = 1; i < all.count; i++)
		assert_true(all.numbers[i] != all.numbers[i - 1]);
	free(all.numbers);
}

static void each_number_once(void **state)
{
	many_threads(false);
}

static void where_all_are_numbered(void **state)
{
	many_threads(true);
}

/* A thread alone counts as if each launch had its number. */
static void one_thread(void **state)
{
	settings = (struct selection){.samples = 0};
	numbers_forget();
	assert_int_equal(numbers_take(1), 1);
	for (int i = 0; i < 5; i++) {
		assert_true(numbers_can_count());
		numbers_count();
	}
	assert_int_equal(numbers_take(10), 7);
	assert_int_equal(numbers_take(1), 17);
	for (unsigned i = 0; i < NUMBERS_ROUND; i++) {
		assert_true(numbers_can_count());
		numbers_count();
	}
	assert_false(numbers_can_count());
	assert_int_equal(numbers_take(1), 18 + NUMBERS_ROUND);
	assert_true(numbers_can_count());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_thread),
		cmocka_unit_test(each_number_once),
		cmocka_unit_test(where_all_are_numbered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
