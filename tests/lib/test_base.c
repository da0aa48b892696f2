/* SPDX-License-Identifier: MIT */
/* Errors, hashes, element types, names, files, environment, log and paths. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "kernelab/dtype.h"
#include "kernelab/error.h"
#include "kernelab/hash.h"
#include "kernelab/records.h"
#include "lib/base.h"
#include "lib/bundle/files.h"
#include "lib/bundle/utf8.h"
#include "lib/environment.h"
#include "lib/log.h"
#include "lib/paths.h"
#include "tests/lib/scratch.h"

static void errors_carry_code_place_and_words(void **state)
{
	struct error err;
	char longer[1000];

	assert_int_equal(error_set(&err, EBADMSG, 77, "record %d", 5), -EBADMSG);
	assert_int_equal(err.code, EBADMSG);
	assert_int_equal(err.offset, 77);
	assert_string_equal(err.message, "record 5");
	assert_int_equal(error_prefix(&err, "%s", "a.klab"), -EBADMSG);
	assert_string_equal(err.message, "a.klab: record 5");
	assert_int_equal(err.offset, 77);
	assert_int_equal(error_set(NULL, ENOENT, 0, "x"), -ENOENT);
	assert_true(error_prefix(NULL, "x") < 0);
	memset(longer, 'x', sizeof(longer));
	longer[sizeof(longer) - 1] = 0;
	error_set(&err, EINVAL, 0, "%s", longer);
	assert_int_equal(strlen(err.message), sizeof(err.message) - 1);
	error_prefix(&err, "%s", longer);
	assert_int_equal(strlen(err.message), sizeof(err.message) - 1);
}

/* Known values of XXH3-128 with seed 0. */
static void hashes_are_xxh3_128(void **state)
{
	char text[HASH_TEXT_BYTES];
	struct hash128 h, parsed;

	assert_string_equal(hash_text(hash_bytes(NULL, 0), text),
			    "99aa06d3014798d86001c324468d497f");
	h = hash_bytes("abc", 3);
	assert_string_equal(hash_text(h, text), "06b05ab6733a618578af5f94892f3950");
	assert_int_equal(hash_parse(text, &parsed), 0);
	assert_true(hash_equal(h, parsed));
	assert_int_equal(hash_parse("06B05AB6733A618578AF5F94892F3950", &parsed), 0);
	assert_true(hash_equal(h, parsed));
	assert_int_equal(hash_parse("06b05ab6733a618578af5f94892f395", &parsed), -EINVAL);
	assert_int_equal(hash_parse("06b05ab6733a618578af5f94892f39500", &parsed), -EINVAL);
	assert_int_equal(hash_parse("06b05ab6733a618578af5f94892f395g", &parsed), -EINVAL);
	assert_true(hash_equal(h, parsed));
	assert_true(hash_compare((struct hash128){1, 9}, (struct hash128){2, 0}) < 0);
	assert_true(hash_compare((struct hash128){2, 1}, (struct hash128){2, 0}) > 0);
	assert_int_equal(hash_compare(h, h), 0);
	assert_true(hash_is_zero((struct hash128){0, 0}));
	assert_false(hash_is_zero((struct hash128){0, 1}));
}

/* hash_bytes picks vectors by size and processor, the streamed form does not. */
static void one_hash_whatever_the_vectors(void **state)
{
	_cleanup_free_ char *data = malloc(300001);

	for (size_t i = 0; i < 300001; i++)
		data[i] = (char)(i * i >> 3);
	for (size_t size = 1000; size < 300000; size = size * 5 / 4 + 1) {
		struct hash_state *s = hash_state_new();

		hash_state_add(s, data + 1, size);
		assert_true(hash_equal(hash_state_end(s), hash_bytes(data + 1, size)));
		hash_state_free(s);
	}
}

static struct hash128 hash_of(const char *first, const char *second)
{
	struct hash_state *s = hash_state_new();
	struct hash128 h;

	assert_non_null(s);
	hash_state_add_text(s, first);
	hash_state_add_text(s, second);
	h = hash_state_end(s);
	hash_state_free(s);
	return h;
}

static void streamed_hashes(void **state)
{
	struct hash_state *s = hash_state_new();
	char data[5000];

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (char)(i * 7);
	hash_state_add(s, data, 1);
	hash_state_add(s, NULL, 0);
	hash_state_add(s, data + 1, sizeof(data) - 1);
	assert_true(hash_equal(hash_state_end(s), hash_bytes(data, sizeof(data))));
	hash_state_free(s);
	assert_false(hash_equal(hash_of("ab", "c"), hash_of("a", "bc")));
	assert_true(hash_equal(hash_of("ab", NULL), hash_of("ab", "")));
}

static void element_types(void **state)
{
	assert_string_equal(dtype_name(DTYPE_BF16), "bf16");
	assert_string_equal(dtype_name((enum dtype)999), "?");
	assert_int_equal(dtype_bytes(DTYPE_F64), 8);
	assert_int_equal(dtype_bytes((enum dtype) - 1), 1);
	assert_true(dtype_is_float(DTYPE_F8E4M3));
	assert_false(dtype_is_float(DTYPE_I32));
	for (int i = 0; i < DTYPE_COUNT; i++)
		assert_int_equal(dtype_parse(dtype_name((enum dtype)i)), i);
	assert_int_equal(dtype_parse("f8E4M3FN"), DTYPE_F8E4M3);
	assert_int_equal(dtype_parse("i1"), DTYPE_BOOL);
	assert_int_equal(dtype_parse("i128"), DTYPE_UNKNOWN);
}

static void names_of_values(void **state)
{
	assert_string_equal(origin_name(ORIGIN_INDUCTOR), "inductor");
	assert_string_equal(image_kind_name(IMAGE_CUBIN), "cubin");
	assert_string_equal(memory_kind_name(MEMORY_GLOBAL), "module global");
	assert_string_equal(side_name(SIDE_B), "B");
	assert_string_equal(pairing_name(PAIRING_B_ONLY), "B only");
	assert_string_equal(fidelity_name(FIDELITY_UNFAITHFUL), "unfaithful");
	assert_string_equal(trial_kind_name(TRIAL_POISON), "poison");
	assert_string_equal(trial_status_name(TRIAL_STATUS_HANG), "hang");
	assert_string_equal(trial_status_name(77), "?");
}

static void arrays_grow(void **state)
{
	uint64_t *items = NULL;
	size_t capacity = 0;

	for (size_t i = 0; i < 1000; i++) {
		assert_int_equal(array_reserve(&items, i, &capacity, sizeof(*items)), 0);
		items[i] = i;
	}
	assert_int_equal(items[999], 999);
	free(items);
	items = NULL;
	capacity = SIZE_MAX / 2;
	assert_int_equal(array_reserve(&items, capacity, &capacity, 16), -ENOMEM);
	assert_null(items);
}

static void whole_files(void **state)
{
	_cleanup_free_ char *path = scratch_path("file");
	char *data, *big = malloc(200000);
	size_t size;

	memset(big, 'b', 200000);
	scratch_write(path, big, 200000);
	assert_int_equal(file_read_all(path, 200000, &data, &size), 0);
	assert_int_equal(size, 200000);
	assert_memory_equal(data, big, size);
	assert_int_equal(data[size], 0);
	free(data);
	free(big);
	assert_int_equal(file_read_all(path, 199999, &data, &size), -EFBIG);
	assert_int_equal(file_read_all("/nonexistent", 10, &data, &size), -ENOENT);
	assert_int_equal(file_read_all("/", 10, &data, &size), -EISDIR);
	/* a file that says it has 0 bytes */
	assert_int_equal(file_read_all("/proc/self/stat", 1 << 20, &data, &size), 0);
	assert_true(size > 10);
	free(data);
}

static void utf8(void **state)
{
	static const char *const good[] = {
		"", "a", "é", "…", "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbf"};
	static const char *const bad[] = {"\x80",
					  "\xc0\xaf",
					  "\xc3",
					  "\xe0\x80\xaf",
					  "\xed\xa0\x80",
					  "\xf0\x80\x80\x80",
					  "\xf4\x90\x80\x80",
					  "\xf5",
					  "\xe2\x80"};

	for (size_t i = 0; i < ARRAY_LENGTH(good); i++)
		assert_int_equal(utf8_valid(good[i], strlen(good[i])), strlen(good[i]));
	for (size_t i = 0; i < ARRAY_LENGTH(bad); i++) {
		size_t size;
		_cleanup_free_ char *repaired = utf8_repair(bad[i], strlen(bad[i]), &size);

		assert_int_equal(utf8_valid(bad[i], strlen(bad[i])), 0);
		assert_int_equal(utf8_valid(repaired, size), size);
	}
}

static void environment(void **state)
{
	setenv("KERNELAB_NO_DATA", "yes", 1);
	assert_true(environment_flag(ENVIRONMENT_NO_DATA));
	setenv("KERNELAB_NO_DATA", "0", 1);
	assert_false(environment_flag(ENVIRONMENT_NO_DATA));
	setenv("KERNELAB_NO_DATA", "", 1);
	assert_null(environment_get(ENVIRONMENT_NO_DATA));
	unsetenv("KERNELAB_NO_DATA");
	assert_null(environment_get(ENVIRONMENT_NO_DATA));
	assert_string_equal(environment_name(ENVIRONMENT_OUTPUT), "KERNELAB_OUTPUT");
	for (int i = 0; i < ENVIRONMENT_COUNT; i++) {
		assert_memory_equal(environment_name((enum environment_id)i), "KERNELAB_", 9);
		assert_true(*environment_text((enum environment_id)i));
	}
}

static void log_lines_go_to_stderr(void **state)
{
	_cleanup_free_ char *path = scratch_path("log");
	_cleanup_free_ char *text = NULL;
	int saved = dup(STDERR_FILENO);
	size_t size;

	scratch_write(path, "", 0);
	assert_non_null(freopen(path, "a", stderr));
	log_set_level(LOG_WARNING);
	errno = 5;
	log_error("%s is %d", "x", 1);
	assert_int_equal(errno, 5);
	log_warning("w");
	log_info("not shown");
	log_set_level(LOG_DEBUG);
	log_debug("d");
	dup2(saved, STDERR_FILENO);
	close(saved);
	text = scratch_read(path, &size);
	assert_string_equal(text, "kernelab: error: x is 1\nkernelab: warning: w\n"
				  "kernelab: debug: d\n");
}

static void find_in(const char *libdir, enum part part, const char *below)
{
	_cleanup_free_ char *wanted = text_format("%s/%s", libdir, below);
	_cleanup_free_ char *found = NULL;
	struct error err;

	if (part_find(part, &found, &err))
		fail_msg("%s", err.message);
	assert_string_equal(found, wanted);
}

static void parts_are_found_in_both_layouts(void **state)
{
	_cleanup_free_ char *dir = scratch_path("libdir");
	_cleanup_free_ char *shim = scratch_path("libdir/shim");
	_cleanup_free_ char *soft = scratch_path("libdir/softgpu");
	_cleanup_free_ char *installed = scratch_path("libdir/libkernelab-shim.so");
	_cleanup_free_ char *built = scratch_path("libdir/shim/libkernelab-shim.so");
	_cleanup_free_ char *cuda = scratch_path("libdir/softgpu/libcuda.so.1");
	struct error err;
	char *path;

	mkdir(dir, 0700);
	mkdir(shim, 0700);
	mkdir(soft, 0700);
	setenv("KERNELAB_LIBDIR", dir, 1);
	assert_int_equal(part_find(PART_SHIM, &path, &err), -ENOENT);
	assert_non_null(strstr(err.message, installed));
	assert_non_null(strstr(err.message, built));
	assert_int_equal(part_find(PART_SOFTGPU, &path, &err), -ENOENT);
	assert_non_null(strstr(err.message, cuda));
	scratch_write(built, "", 0);
	scratch_write(cuda, "", 0);
	find_in(dir, PART_SHIM, "shim/libkernelab-shim.so");
	find_in(dir, PART_SOFTGPU, "softgpu/libcuda.so.1");
	scratch_write(installed, "", 0);
	find_in(dir, PART_SHIM, "libkernelab-shim.so");
	unsetenv("KERNELAB_LIBDIR");
	/* elsewhere: beside this program (build/tests/lib) there is none, nor is it installed */
	if (!part_find(PART_SHIM, &path, &err))
		free(path);
	else
		assert_non_null(strstr(err.message, KERNELAB_LIBDIR_DEFAULT));
}

static void folders_become_their_bundles(void **state)
{
	_cleanup_free_ char *dir = scratch_path("bundles");
	_cleanup_free_ char *empty = scratch_path("empty");
	_cleanup_free_ char *b = scratch_path("bundles/b.klab");
	_cleanup_free_ char *a = scratch_path("bundles/a.klab");
	_cleanup_free_ char *other = scratch_path("bundles/a.txt");
	_cleanup_free_ char *hidden = scratch_path("bundles/.klab");
	char *operands[] = {"file.klab", dir, "x"};
	struct bundle_paths paths;
	struct error err;

	mkdir(dir, 0700);
	mkdir(empty, 0700);
	scratch_write(b, "", 0);
	scratch_write(a, "", 0);
	scratch_write(other, "", 0);
	scratch_write(hidden, "", 0);
	assert_int_equal(bundle_paths_expand(&paths, operands, 3, &err), 0);
	assert_int_equal(paths.count, 4);
	assert_string_equal(paths.items[0], "file.klab");
	assert_string_equal(paths.items[1], a);
	assert_string_equal(paths.items[2], b);
	assert_string_equal(paths.items[3], "x");
	bundle_paths_free(&paths);
	operands[2] = empty;
	assert_int_equal(bundle_paths_expand(&paths, operands, 3, &err), -ENOENT);
	assert_non_null(strstr(err.message, "no bundle in "));
	assert_int_equal(paths.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errors_carry_code_place_and_words),
		cmocka_unit_test(hashes_are_xxh3_128),
		cmocka_unit_test(one_hash_whatever_the_vectors),
		cmocka_unit_test(streamed_hashes),
		cmocka_unit_test(element_types),
		cmocka_unit_test(names_of_values),
		cmocka_unit_test(arrays_grow),
		cmocka_unit_test(whole_files),
		cmocka_unit_test(utf8),
		cmocka_unit_test(environment),
		cmocka_unit_test(log_lines_go_to_stderr),
		cmocka_unit_test(parts_are_found_in_both_layouts),
		cmocka_unit_test(folders_become_their_bundles),
	};

	return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
