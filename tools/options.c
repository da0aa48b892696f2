// SPDX-License-Identifier: MIT
// Parses a verb's command line by its option rows and prints its --help from the same rows.
#include "tools/options.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "lib/count.h"

static const struct option_row help_row = {OPTION_FLAG, "help", 'h', NULL, "print this help", NULL};

static void print_row(const struct option_row *row)
{
	char left[64];

	snprintf(left, sizeof(left), "  %c%c%c --%s%s%s", row->letter ? '-' : ' ',
		 row->letter ? row->letter : ' ', row->letter ? ',' : ' ', row->name,
		 row->argument ? " " : "", row->argument ? row->argument : "");
	printf(strlen(left) < 30 ? "%-30s %s\n" : "%s\n                               %s\n", left,
	       row->help);
}

static void print_help(const struct verb *verb, const struct option_row *rows)
{
	printf("Usage: kernelab %s [OPTION]… %s\n%s.\n\nOptions:\n", verb->name, verb->operands,
	       verb->summary);
	for (; rows->kind != OPTION_END; rows++)
		print_row(rows);
	print_row(&help_row);
	printf("\nSee kernelab-%s(1).\n", verb->name);
}

__attribute__((format(printf, 2, 3))) static int wrong(const struct verb *verb, const char *format,
						       ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fprintf(stderr, "kernelab %s: %s (see kernelab %s --help)\n", verb->name, text, verb->name);
	return -EINVAL;
}

static int texts_add(struct option_texts *t, const char *text)
{
	int r = array_reserve(&t->items, t->count, &t->capacity, sizeof(*t->items));

	if (r == 0)
		t->items[t->count++] = text;
	return r;
}

void option_texts_free(struct option_texts *t)
{
	free(t->items);
	*t = (struct option_texts){0};
}

int options_store(const struct verb *verb, const struct option_row *row, const char *value)
{
	char *end;
	double seconds;

	switch (row->kind) {
	case OPTION_FLAG:
		*(bool *)row->target = true;
		return 0;
	case OPTION_TEXT:
		*(const char **)row->target = value;
		return 0;
	case OPTION_TEXTS:
		if (texts_add(row->target, value))
			return wrong(verb, "out of memory");
		return 0;
	case OPTION_COUNT:
		if (count_parse(value, row->target))
			return wrong(verb, "option --%s needs a whole number, not '%s'", row->name,
				     value);
		return 0;
	case OPTION_SECONDS:
		seconds = strtod(value, &end);
		/* written so that NaN is refused as well */
		if (end == value || *end || !(seconds > 0 && seconds <= OPTION_SECONDS_MOST))
			return wrong(verb,
				     "option --%s needs seconds above 0, at most %g, not '%s'",
				     row->name, OPTION_SECONDS_MOST, value);
		*(double *)row->target = seconds;
		return 0;
	case OPTION_END:
		break;
	}
	return wrong(verb, "option --%s has no kind", row->name);
}

static const struct option_row *find_long(const struct option_row *rows, const char *name,
					  size_t length)
{
	for (; rows->kind != OPTION_END; rows++)
		if (strlen(rows->name) == length && !memcmp(rows->name, name, length))
			return rows;
	return length == 4 && !memcmp(name, "help", 4) ? &help_row : NULL;
}

static const struct option_row *find_letter(const struct option_row *rows, char letter)
{
	for (; rows->kind != OPTION_END; rows++)
		if (rows->letter && rows->letter == letter)
			return rows;
	return letter == 'h' ? &help_row : NULL;
}

/* What is still to be read of the command line. */
struct cursor {
	int argc;
	char **argv;
	int next;
	bool help;
};

/* The value of `row`: attached (--name=value, -ovalue), or the next word. */
static int take_value(const struct verb *verb, const struct option_row *row, const char *attached,
		      struct cursor *c)
{
	if (row == &help_row) {
		c->help = true;
		return 0;
	}
	if (row->kind == OPTION_FLAG)
		return attached ? wrong(verb, "option --%s takes no value", row->name)
				: options_store(verb, row, NULL);
	if (!attached) {
		if (c->next >= c->argc)
			return wrong(verb, "option --%s needs %s", row->name, row->argument);
		attached = c->argv[c->next++];
	}
	return options_store(verb, row, attached);
}

static int take_long(const struct verb *verb, const struct option_row *rows, const char *word,
		     struct cursor *c)
{
	const char *equals = strchr(word, '=');
	size_t length = equals ? (size_t)(equals - word) : strlen(word);
	const struct option_row *row = find_long(rows, word, length);

	if (!row)
		return wrong(verb, "unknown option --%.*s", (int)length, word);
	return take_value(verb, row, equals ? equals + 1 : NULL, c);
}

static int take_letters(const struct verb *verb, const struct option_row *rows, const char *word,
			struct cursor *c)
{
	for (; *word; word++) {
		const struct option_row *row = find_letter(rows, *word);

		if (!row)
			return wrong(verb, "unknown option -%c", *word);
		if (row->kind != OPTION_FLAG)
			return take_value(verb, row, word[1] ? word + 1 : NULL, c);
		int r = take_value(verb, row, NULL, c);

		if (r)
			return r;
	}
	return 0;
}

enum options_outcome options_parse(const struct verb *verb, const struct option_row *rows, int argc,
				   char **argv, bool stop_at_operand, char ***operands,
				   int *operand_count, int *status)
{
	struct cursor c = {.argc = argc, .argv = argv, .next = 1};
	int count = 0;

	while (c.next < argc) {
		char *word = argv[c.next++];
		int r = 0;

		if (!strcmp(word, "--"))
			break;
		if (word[0] != '-' || !word[1]) {
			if (stop_at_operand) {
				c.next--;
				break;
			}
			argv[1 + count++] = word;
			continue;
		}
		r = word[1] == '-' ? take_long(verb, rows, word + 2, &c)
				   : take_letters(verb, rows, word + 1, &c);
		if (c.help)
			print_help(verb, rows);
		if (r || c.help) {
			*status = c.help ? 0 : verb->usage_status;
			return OPTIONS_EXIT;
		}
	}
	while (c.next < argc)
		argv[1 + count++] = argv[c.next++];
	*operands = argv + 1;
	*operand_count = count;
	return OPTIONS_GO;
}
