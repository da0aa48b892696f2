/* SPDX-License-Identifier: MIT */
/* The versions of a side that several runs make up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "lib/base.h"
#include "replay/versions.h"

/* Each once, and also those that begin as another one does. */
static void versions_are_told_once(void **state)
{
	static const char *const texts[] = {
		"2.11.0+cu130", "2.11.0", "2.11.0+cu130", "2.11.0", "", "2.1, ours", "2.1, ours"};
	struct record_fact facts[ARRAY_LENGTH(texts)];
	struct bundle bundles[ARRAY_LENGTH(texts)] = {0};
	struct bundle *list[ARRAY_LENGTH(texts)];
	struct suite suite = {0};
	struct source s = {.bundles = list, .count = ARRAY_LENGTH(texts), .suite = &suite};
	char *text;

	for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
		facts[i] = (struct record_fact){.name = "torch.version", .value = texts[i]};
		bundles[i].facts.items = &facts[i];
		bundles[i].facts.count = 1;
		list[i] = &bundles[i];
	}
	text = versions_text(&s);
	assert_string_equal(text, "torch 2.11.0+cu130, torch 2.11.0, torch 2.1, ours");
	free(text);
	s.count = 0;
	text = versions_text(&s);
	assert_string_equal(text, "");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(versions_are_told_once)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
