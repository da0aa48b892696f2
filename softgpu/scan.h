/* SPDX-License-Identifier: MIT */
/* Reads PTX text character by character: blanks, comments, names, numbers. */
#ifndef SOFTGPU_SCAN_H
#define SOFTGPU_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct slice {
	const char *text;
	size_t size;
};

struct scan {
	const char *at, *end;
	uint32_t line; /* from 1 */
};

enum number_kind { NUMBER_NONE, NUMBER_INTEGER, NUMBER_F32, NUMBER_F64 };
struct number {
	enum number_kind kind;
	uint64_t bits; /* integer in two's complement, or the float's bits */
};

bool slice_is(struct slice s, const char *text);
bool slice_equal(struct slice a, struct slice b);

/* Skips blanks and both kinds of comments. */
void scan_blank(struct scan *s);
void scan_rest_of_line(struct scan *s);
/* The next character after blanks, 0 at the end. */
char scan_peek(struct scan *s);
/* Takes c if it comes next. */
bool scan_take(struct scan *s, char c);
/*
 * A name: letters, digits, _ $ % and, if dotted, also '.' and "::" in it. Empty if none. Directives
 * (".reg") are names that start with a dot.
 */
struct slice scan_name(struct scan *s, bool dotted);
/* A literal: [-]decimal, 0x, 0b, octal, each with optional U; 0f/0d hex floats; decimal floats. */
struct number scan_number(struct scan *s);
/* "{ ... }" with nested braces; false if unbalanced. */
bool scan_skip_braces(struct scan *s);

#endif
