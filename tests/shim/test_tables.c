/* SPDX-License-Identifier: MIT */
/* The tables that launches read without a lock: handles, classes and their credit. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "shim/classes.h"
#include "shim/functions.h"
#include "tests/shim/cmocka_all.h"

#define MANY    5000u
#define READERS 3

static const uint32_t one[3] = {1, 1, 1};

static CUfunction handle(uint64_t i)
{
	return (CUfunction)(uintptr_t)(0x7f0000000000u + 64 * i);
}

static struct kernel *kernel(uint64_t i)
{
	return (struct kernel *)(uintptr_t)(0x10 + 16 * i);
}

static void put(uint64_t i, uint64_t holder, uint64_t k)
{
	struct function f = {holder, kernel(k), i % 2};

	assert_int_equal(functions_put(handle(i), &f), 0);
}

static void handles(void **state)
{
	struct function f;

	functions_forget();
	assert_null(functions_kernel(handle(1)));
	assert_null(functions_kernel(NULL));
	assert_false(functions_get(NULL, &f));
	for (uint64_t i = 0; i < MANY; i++)
		put(i, i % 10, i);
	for (uint64_t i = 0; i < MANY; i++) {
		assert_ptr_equal(functions_kernel(handle(i)), kernel(i));
		assert_true(functions_get(handle(i), &f));
		assert_int_equal(f.holder, i % 10);
		assert_int_equal(f.in_library, i % 2);
	}
	functions_drop(3);
	for (uint64_t i = 0; i < MANY; i++)
		assert_ptr_equal(functions_kernel(handle(i)), i % 10 == 3 ? NULL : kernel(i));
	put(4, 3, 77); /* another module got the handle */
	put(13, 3, 78);
	assert_ptr_equal(functions_kernel(handle(4)), kernel(77));
	functions_drop(3);
	assert_null(functions_kernel(handle(4)));
	assert_null(functions_kernel(handle(13)));
	assert_false(functions_get(handle(13), &f));
	assert_ptr_equal(functions_kernel(handle(14)), kernel(14));
}

/* Modules that come and go for ever, at new addresses each time, beside some that stay. */
static void comings_and_goings(void **state)
{
	functions_forget();
	for (uint64_t i = 0; i < 50; i++)
		put(i, 1, i);
	for (uint64_t i = 0; i < 200000; i++) {
		put(1000 + i, 2, 7);
		assert_ptr_equal(functions_kernel(handle(1000 + i)), kernel(7));
		functions_drop(2);
		assert_null(functions_kernel(handle(1000 + i)));
	}
	for (uint64_t i = 0; i < 50; i++)
		assert_ptr_equal(functions_kernel(handle(i)), kernel(i));
}

static atomic_bool stop;
static atomic_uint wrong;

/* What stays is found at any time, with its own kernel. */
static void *read_handles(void *unused)
{
	while (!atomic_load(&stop))
		for (uint64_t i = 0; i < 50; i++)
			if (functions_kernel(handle(i)) != kernel(i))
				atomic_fetch_add(&wrong, 1);
	return NULL;
}

static void handles_while_they_change(void **state)
{
	pthread_t readers[READERS];

	functions_forget();
	atomic_store(&stop, false);
	atomic_store(&wrong, 0);
	for (uint64_t i = 0; i < 50; i++)
		put(i, 1, i);
	for (int i = 0; i < READERS; i++)
		assert_int_equal(pthread_create(&readers[i], NULL, read_handles, NULL), 0);
	for (uint64_t i = 0; i < 20000; i++) {
		put(1000 + i, 2 + i % 100, 7);
		if (i % 3)
			functions_drop(2 + i % 100);
	}
	atomic_store(&stop, true);
	for (int i = 0; i < READERS; i++)
		pthread_join(readers[i], NULL);
	assert_int_equal(atomic_load(&wrong), 0);
}

/* ---- classes ---- */

/* Of as many words as there may be, the last ones 0 or not. */
static struct class_id id(uint64_t i)
{
	struct class_id made;

	class_id_begin(&made, one, CLASS_WORDS - i % 12);
	made.words[2 + i % 2] = i;
	return made;
}

static struct shape_class *find(const struct classes *classes, uint64_t i)
{
	struct class_id wanted = id(i);

	return classes_find(classes, &wanted);
}

static struct shape_class *get(struct classes *classes, uint64_t i)
{
	struct class_id wanted = id(i);

	return classes_get(classes, &wanted, one);
}

static void limit_of_classes(void **state)
{
	struct classes classes = {.count = 0};
	struct shape_class *more;
	size_t n = 0;

	assert_null(find(&classes, 0));
	for (uint64_t i = 0; i < CLASSES_MAX; i++) {
		struct shape_class *c = get(&classes, i);

		assert_non_null(c);
		assert_false(classes_is_more(&classes, c));
		assert_null(find(&classes, i + 1));
	}
	more = get(&classes, 1000);
	assert_true(classes_is_more(&classes, more));
	assert_ptr_equal(find(&classes, 2000), more);
	for (struct shape_class *c = classes.first; c; c = c->next, n++) {
		struct class_id made = id(n);

		assert_true(hash_equal(c->key, class_id_key(&made)));
		assert_ptr_equal(find(&classes, n), c);
		assert_int_equal((uintptr_t)c % (2 * CACHE_LINE), 0);
	}
	assert_int_equal(n, CLASSES_MAX);
}

static void credit(void **state)
{
	struct classes classes = {.count = 0};
	struct shape_class *c = get(&classes, 1);

	assert_false(classes_pass(c));
	classes_grant(c, LEFT_SKIPPED, 3);
	assert_true(classes_pass(c));
	classes_fold(c);
	assert_int_equal(c->seen, 1);
	classes_fold(c);
	assert_int_equal(c->left[LEFT_SKIPPED].count, 1);
	assert_true(classes_pass(c));
	assert_true(classes_pass(c));
	assert_false(classes_pass(c));
	assert_false(classes_pass(c));
	classes_revoke(c);
	assert_int_equal(c->seen, 3);
	assert_int_equal(c->left[LEFT_SKIPPED].count, 3);
	classes_grant(c, LEFT_PER_CLASS, CREDIT_FOREVER);
	assert_true(classes_pass(c));
	classes_revoke(c);
	assert_false(classes_pass(c));
	assert_int_equal(c->left[LEFT_PER_CLASS].count, 1);
	assert_int_equal(c->left[LEFT_SKIPPED].count, 3);
	assert_int_equal(c->seen, 4);
}

/* Each launch either passes or is decided, whoever takes or grants credit meanwhile. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct shape_class *shared;
#define EACH 100000u

static void *launch(void *unused)
{
	for (unsigned i = 0; i < EACH; i++) {
		if (classes_pass(shared))
			continue;
		pthread_mutex_lock(&lock);
		classes_revoke(shared);
		shared->seen++;
		shared->left[i % LEFT_COUNT].count++;
		classes_grant(shared, (enum launch_left)(i % LEFT_COUNT), i % 7);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static void credit_of_many_threads(void **state)
{
	struct classes classes = {.count = 0};
	pthread_t threads[READERS];
	uint64_t left = 0;

	shared = get(&classes, 1);
	for (int i = 0; i < READERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, launch, NULL), 0);
	for (int i = 0; i < 1000; i++) { /* as the writer of counts */
		pthread_mutex_lock(&lock);
		classes_fold(shared);
		pthread_mutex_unlock(&lock);
	}
	for (int i = 0; i < READERS; i++)
		pthread_join(threads[i], NULL);
	classes_revoke(shared);
	for (int i = 0; i < LEFT_COUNT; i++)
		left += shared->left[i].count;
	assert_int_equal(shared->seen, READERS * EACH);
	assert_int_equal(left, READERS * EACH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(handles),
		cmocka_unit_test(comings_and_goings),
		cmocka_unit_test(handles_while_they_change),
		cmocka_unit_test(limit_of_classes),
		cmocka_unit_test(credit),
		cmocka_unit_test(credit_of_many_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
