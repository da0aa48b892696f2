/* SPDX-License-Identifier: MIT */
/* What differs between two recorded runs, beyond the compiler. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "lib/base.h"
#include "replay/environment.h"

static struct record_fact facts_a[] = {
	{.name = "driver.cuda", .value = "13000"},
	{.name = "torch.version", .value = "2.10.0"},
	{.name = "torch.version", .value = "2.11.0"}, /* the last counts */
	{.name = "torch.cuda", .value = "13.0"},
	{.name = "triton.version", .value = "3.6.0"},
	{.name = "env.TRITON_PTXAS_PATH", .value = "/a/ptxas"},
	{.name = "env.TRITON_CACHE_DIR", .value = "/a"},
	{.name = "env.NVIDIA_TF32_OVERRIDE", .value = "0"},
	{.name = "context.model", .value = "a"},
};
static struct record_fact facts_b[] = {
	{.name = "driver.cuda", .value = "13000"},
	{.name = "torch.version", .value = "2.12.0"},
	{.name = "torch.cuda", .value = "13.0"},
	{.name = "triton.version", .value = "3.7.0"},
	{.name = "env.TRITON_PTXAS_PATH", .value = "/b/ptxas"},
	{.name = "env.CUBLAS_WORKSPACE_CONFIG", .value = ":4096:8"},
	{.name = "context.model", .value = "b"},
};
static struct record_device device_a = {.name = "NVIDIA H100"}, device_b = {.name = "NVIDIA H200"};

static int collect(void *data, const char *name, const char *a, const char *b)
{
	char *text = data;

	sprintf(text + strlen(text), "%s %s %s|", name, a ? a : "-", b ? b : "-");
	return 0;
}

static struct bundle bundle_of(struct record_fact *facts, size_t count,
			       struct record_device *device)
{
	struct bundle b = {0};

	b.facts.items = facts;
	b.facts.count = count;
	b.devices.items = device;
	b.devices.count = 1;
	return b;
}

static void differences_are_listed(void **state)
{
	struct bundle a = bundle_of(facts_a, ARRAY_LENGTH(facts_a), &device_a);
	struct bundle b = bundle_of(facts_b, ARRAY_LENGTH(facts_b), &device_b);
	struct bundle *of_a[] = {&a}, *of_b[] = {&b};
	struct source x = {.bundles = of_a, .count = 1}, y = {.bundles = of_b, .count = 1};
	char text[1000] = "";

	assert_int_equal(environment_compare(&x, &y, collect, text), 0);
	assert_string_equal(text, "gpu NVIDIA H100 NVIDIA H200|torch.version 2.11.0 2.12.0|"
				  "env.NVIDIA_TF32_OVERRIDE 0 -|"
				  "env.CUBLAS_WORKSPACE_CONFIG - :4096:8|");
	text[0] = '\0';
	assert_int_equal(environment_compare(&x, &x, collect, text), 0);
	b.facts.count = 0; /* no run */
	assert_int_equal(environment_compare(&x, &y, collect, text), 0);
	assert_string_equal(text, "");
}

/* Each name once, also where it is a part of another one. */
static void gpus_are_told_by_their_whole_names(void **state)
{
	struct record_device mixed[] = {
		{.name = "NVIDIA H200 NVL"}, {.name = "NVIDIA H200"}, {.name = "NVIDIA H200 NVL"}};
	struct bundle a = bundle_of(facts_a, 1, mixed), b = bundle_of(facts_b, 1, mixed);
	struct bundle *of_a[] = {&a, &a}, *of_b[] = {&b};
	struct source x = {.bundles = of_a, .count = 2}, y = {.bundles = of_b, .count = 1};
	char text[1000] = "";

	a.devices.count = 3;
	assert_int_equal(environment_compare(&x, &y, collect, text), 0);
	assert_string_equal(text, "gpu NVIDIA H200 NVL, NVIDIA H200 NVIDIA H200 NVL|");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(differences_are_listed),
		cmocka_unit_test(gpus_are_told_by_their_whole_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
