/* SPDX-License-Identifier: MIT */
/* Keys of shape classes: what counts, and that it does not matter how a launch gives its
 * parameters. */
#include <stdlib.h>
#include <string.h>

#include "shim/params.h"
#include "tests/shim/cmocka_all.h"

#define COUNT_MAX 100u

static const uint32_t one[3] = {1, 1, 1};

/* A kernel of `count` parameters of these kinds and sizes, again and again. */
struct made {
	struct kernel *kernel;
	unsigned char packed[2048];
	size_t size;
	void *params[COUNT_MAX];
};

struct shape {
	enum param_kind kind;
	uint32_t size;
};

static void make(struct made *m, const struct shape *shapes, size_t kinds, size_t count)
{
	struct kernel *k = aligned_alloc(CACHE_LINE, sizeof(*k));
	uint32_t at = 0;

	assert_non_null(k);
	memset(k, 0, sizeof(*k));
	memset(m, 0, sizeof(*m));
	m->kernel = k;
	k->params = calloc(count, sizeof(*k->params));
	k->kinds = calloc(count, sizeof(*k->kinds));
	k->param_count = count;
	k->layout_known = true;
	for (size_t i = 0; i < count; i++) {
		const struct shape *s = &shapes[i % kinds];

		at = (at + 7) & ~7u;
		k->params[i].offset = at;
		k->params[i].size = s->size;
		k->kinds[i] = s->kind;
		m->params[i] = m->packed + at;
		at += s->size;
	}
	m->size = k->params_bytes = at;
	assert_true(at <= sizeof(m->packed));
	assert_int_equal(params_plan(k), 0);
	for (size_t i = 0; i < count; i++)
		memset(m->params[i], (int)(i + 1), k->params[i].size);
}

static void unmake(struct made *m)
{
	params_plan_free(m->kernel);
	free(m->kernel->params);
	free(m->kernel->kinds);
	free(m->kernel);
}

/* The key of a launch, as it stands in the bundle. */
static struct hash128 params_class(const struct kernel *k, const uint32_t grid[3], void **params,
				   void **extra)
{
	struct class_id id;

	params_id(&id, k, grid, params, extra);
	return class_id_key(&id);
}

/* By kernelParams, which must be the same by `extra`. */
static struct hash128 key(struct made *m)
{
	void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, m->packed, CU_LAUNCH_PARAM_BUFFER_SIZE,
			 &m->size, CU_LAUNCH_PARAM_END};
	struct hash128 k = params_class(m->kernel, one, m->params, NULL);

	assert_true(hash_equal(k, params_class(m->kernel, one, NULL, extra)));
	return k;
}

/* Changing one byte of a parameter changes the key if and only if it counts. */
static void check_bytes(struct made *m)
{
	struct hash128 before = key(m);

	for (size_t i = 0; i < m->kernel->param_count; i++) {
		enum param_kind kind = m->kernel->kinds[i];
		unsigned char *p = m->params[i];
		bool counts = kind == PARAM_INTEGER;

		if (kind == PARAM_UNKNOWN && m->kernel->params[i].size < 8)
			counts = true;
		p[m->kernel->params[i].size - 1] ^= 0x40; /* of a pointer: not the alignment */
		if (hash_equal(key(m), before) == counts)
			fail_msg("parameter %zu of kind %d, %u bytes", i, kind,
				 m->kernel->params[i].size);
		p[m->kernel->params[i].size - 1] ^= 0x40;
	}
	assert_true(hash_equal(key(m), before));
}

static const struct shape every[] = {
	{PARAM_POINTER, 8}, {PARAM_INTEGER, 4},  {PARAM_FLOAT, 4},   {PARAM_UNKNOWN, 8},
	{PARAM_HIDDEN, 8},  {PARAM_INTEGER, 8},  {PARAM_UNKNOWN, 4}, {PARAM_DESCRIPTOR, 128},
	{PARAM_INTEGER, 1}, {PARAM_UNKNOWN, 24}, {PARAM_UNKNOWN, 2},
};

static void what_counts(void **state)
{
	/* Plain ones first, then with others; few, many, and too many for a plain key. */
	static const size_t kinds[] = {1, 2, 4, 6, 7, 8, 11};
	static const size_t counts[] = {1, 2, 3, 5, 8, 9, 20, 21, 33, 80};
	struct made m;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		for (size_t c = 0; c < sizeof(counts) / sizeof(*counts); c++) {
			if (kinds[i] > 7 && counts[c] > 40)
				continue;
			make(&m, every, kinds[i], counts[c]);
			check_bytes(&m);
			unmake(&m);
		}
}

static void words_too_many_for_a_plain_key(void **state)
{
	static const struct shape eight[] = {{PARAM_INTEGER, 8}};
	struct made m;

	make(&m, eight, 1, 62);
	assert_int_equal(m.kernel->plan.words, 64);
	check_bytes(&m);
	unmake(&m);
	make(&m, eight, 1, 63);
	assert_int_equal(m.kernel->plan.words, 0);
	check_bytes(&m);
	unmake(&m);
}

static void set_word(struct made *m, size_t i, uint64_t value)
{
	memcpy(m->params[i], &value, sizeof(value));
}

static void alignments(void **state)
{
	static const struct shape pointer[] = {{PARAM_POINTER, 8}}, word[] = {{PARAM_UNKNOWN, 8}};
	static const uint64_t offsets[] = {0, 1, 2, 4, 8};
	struct hash128 keys[6];
	struct made m;

	for (int unknown = 0; unknown < 2; unknown++) {
		make(&m, unknown ? word : pointer, 1, 9);
		for (size_t i = 0; i < 5; i++) {
			set_word(&m, 8, 0x7f0000001000 + offsets[i]);
			keys[i] = key(&m);
			set_word(&m, 8, 0x7f00beef1000 + offsets[i]);
			assert_true(hash_equal(keys[i], key(&m)));
		}
		set_word(&m, 8, 0); /* NULL, or the number 0 */
		keys[5] = key(&m);
		for (size_t i = 0; i < 6; i++)
			for (size_t j = 0; j < i; j++)
				assert_false(hash_equal(keys[i], keys[j]));
		set_word(&m, 8, 0x7f0000001010); /* more than 16 counts as 16 */
		assert_true(hash_equal(keys[0], key(&m)));
		unmake(&m);
	}
	/* A number is told from a pointer of that alignment. */
	make(&m, word, 1, 1);
	set_word(&m, 0, 16);
	keys[0] = key(&m);
	set_word(&m, 0, 0x7f0000000010);
	assert_false(hash_equal(keys[0], key(&m)));
	unmake(&m);
}

static void grids_and_missing_parameters(void **state)
{
	static const uint32_t two[3] = {1, 2, 1}, three[3] = {1, 1, 2};
	void *none[] = {CU_LAUNCH_PARAM_END};
	struct hash128 alone = hash_bytes(one, sizeof(one));
	struct made m;

	make(&m, every, 4, 8);
	assert_false(hash_equal(key(&m), params_class(m.kernel, two, m.params, NULL)));
	assert_false(hash_equal(params_class(m.kernel, three, m.params, NULL),
				params_class(m.kernel, two, m.params, NULL)));
	assert_true(hash_equal(alone, params_class(m.kernel, one, NULL, none)));
	assert_true(hash_equal(alone, params_class(m.kernel, one, NULL, NULL)));
	m.params[1] = NULL;
	assert_true(hash_equal(alone, params_class(m.kernel, one, m.params, NULL)));
	unmake(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_counts),
		cmocka_unit_test(words_too_many_for_a_plain_key),
		cmocka_unit_test(alignments),
		cmocka_unit_test(grids_and_missing_parameters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
