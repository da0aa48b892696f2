// SPDX-License-Identifier: MIT
// kernelab context: what is known of a model, what is still asked, and the file to answer it.
#include <stdio.h>
#include <stdlib.h>

#include "kernelab/bundle.h"
#include "lib/base.h"
#include "lib/bundle/files.h"
#include "lib/image/context.h"
#include "lib/log.h"
#include "tools/verbs.h"

static void print_template(void)
{
	size_t count;
	const struct context_question *q = context_questions(&count);

	printf("{\n");
	for (size_t i = 0; i < count; i++)
		printf("  \"%s\": \"\"%s\n", q[i].name, i + 1 < count ? "," : "");
	printf("}\n");
	for (size_t i = 0; i < count; i++)
		fprintf(stderr, "%-17s %s\n", q[i].name, q[i].question);
}

/* Prints one bundle's answers; returns the number of open questions. */
static size_t print_bundle(const struct bundle *b)
{
	size_t count, open = 0;
	const struct context_question *q = context_questions(&count);

	printf("%s\n", b->path);
	for (size_t i = 0; i < count; i++) {
		_cleanup_free_ char *owned = NULL;
		const char *how = NULL;
		const char *answer = context_answer(b, &q[i], &how, &owned);

		if (answer)
			printf("  %-17s %s (%s)\n", q[i].name, answer, how);
		else
			printf("  %-17s ? %s\n", q[i].name, q[i].question);
		open += !answer;
	}
	printf("  %zu of %zu questions are open\n", open, count);
	return open;
}

int verb_context(const struct verb *verb, int argc, char **argv)
{
	bool template = false, strict = false;
	const struct option_row rows[] = {
		{OPTION_FLAG, "template", 0, NULL,
		 "print an empty context file for kernelab capture --context", &template},
		{OPTION_FLAG, "strict", 0, NULL, "exit with 1 if a question is open", &strict},
		{.kind = OPTION_END},
	};
	struct bundle_paths paths = {0};
	char **operands;
	size_t open = 0;
	struct error err = {0};
	int count, status = 0;

	if (options_parse(verb, rows, argc, argv, false, &operands, &count, &status) ==
	    OPTIONS_EXIT)
		return status;
	if (template) {
		if (count) {
			log_error("context: --template takes no bundle");
			return 2;
		}
		print_template();
		return 0;
	}
	if (!count) {
		log_error("context: no bundle given");
		return 2;
	}
	if (bundle_paths_expand(&paths, operands, (size_t)count, &err)) {
		log_error("context: %s", err.message);
		return 2;
	}
	for (size_t i = 0; i < paths.count; i++) {
		struct bundle *b;

		if (bundle_open(&b, paths.items[i], &err)) {
			log_error("context: %s", err.message);
			status = 2;
			continue;
		}
		open += print_bundle(b);
		bundle_close(b);
	}
	bundle_paths_free(&paths);
	return status ? status : strict && open;
}
