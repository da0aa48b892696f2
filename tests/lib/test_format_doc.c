/* SPDX-License-Identifier: MIT */
/* docs/format.md lists exactly the registry's records, fields, numbers and kinds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base.h"
#include "lib/bundle/codec.h"

#define BEGIN "<!-- registry: begin -->\n"
#define END   "<!-- registry: end -->\n"

static void print_row(FILE *to, const struct codec_record *r)
{
	size_t count;
	const struct codec_field *fields = r->fields(&count);

	if (r->type)
		fprintf(to, "\n### %s, record type %u\n", r->name, r->type);
	else
		fprintf(to, "\n### %s, inside other records\n", r->name);
	fprintf(to, "| number | field | kind | what it is |\n|---|---|---|---|\n");
	for (size_t i = 0; i < count; i++)
		fprintf(to, "| %u | %s | %s%s%s | %s |\n", fields[i].number, fields[i].name,
			codec_kind_name(fields[i].kind), fields[i].sub ? " of " : "",
			fields[i].sub ? fields[i].sub->name : "", fields[i].text);
}

static char *registry_text(void)
{
	const struct codec_record *row;
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	for (size_t i = 0; (row = codec_row(i)); i++)
		print_row(to, row);
	fputc('\n', to);
	fclose(to);
	return text;
}

static void document_equals_registry(void **state)
{
	const char *path = getenv("KERNELAB_FORMAT_DOC");
	_cleanup_free_ char *wanted = registry_text();
	_cleanup_free_ char *document = NULL;
	char *begin, *end;
	size_t size;

	assert_non_null(path);
	assert_int_equal(file_read_all(path, 1 << 20, &document, &size), 0);
	begin = strstr(document, BEGIN);
	assert_non_null(begin);
	begin += strlen(BEGIN);
	end = strstr(begin, END);
	assert_non_null(end);
	*end = 0;
	assert_string_equal(begin, wanted);
}

/* What the decoder relies on: ascending, unique numbers from 1 up. */
static void numbers_ascend(void **state)
{
	const struct codec_record *row;

	for (size_t i = 0; (row = codec_row(i)); i++) {
		size_t count;
		const struct codec_field *fields = row->fields(&count);

		for (size_t j = 0; j < count; j++)
			assert_true(fields[j].number > (j ? fields[j - 1].number : 0));
		if (row->type)
			assert_ptr_equal(codec_record(row->type), row);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(document_equals_registry),
		cmocka_unit_test(numbers_ascend),
	};

	/* test_format_doc --print: the block to put into the document */
	if (argc == 2 && !strcmp(argv[1], "--print")) {
		_cleanup_free_ char *text = registry_text();

		printf(BEGIN "%s" END, text);
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
