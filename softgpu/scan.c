/* SPDX-License-Identifier: MIT */
/* Reads PTX text character by character: blanks, comments, names, numbers. */
#include "softgpu/scan.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

bool slice_is(struct slice s, const char *text)
{
	return strlen(text) == s.size && memcmp(s.text, text, s.size) == 0;
}

bool slice_equal(struct slice a, struct slice b)
{
	return a.size == b.size && memcmp(a.text, b.text, a.size) == 0;
}

void scan_rest_of_line(struct scan *s)
{
	while (s->at < s->end && *s->at != '\n')
		s->at++;
}

static void skip_block_comment(struct scan *s)
{
	s->at += 2;
	while (s->at < s->end) {
		if (*s->at == '\n')
			s->line++;
		if (*s->at == '*' && s->at + 1 < s->end && s->at[1] == '/') {
			s->at += 2;
			return;
		}
		s->at++;
	}
}

void scan_blank(struct scan *s)
{
	while (s->at < s->end) {
		char c = *s->at;

		if (c == '\n')
			s->line++;
		if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v') {
			s->at++;
		} else if (c == '/' && s->at + 1 < s->end && s->at[1] == '/') {
			scan_rest_of_line(s);
		} else if (c == '/' && s->at + 1 < s->end && s->at[1] == '*') {
			skip_block_comment(s);
		} else {
			return;
		}
	}
}

char scan_peek(struct scan *s)
{
	scan_blank(s);
	return s->at < s->end ? *s->at : 0;
}

bool scan_take(struct scan *s, char c)
{
	if (scan_peek(s) != c || s->at >= s->end)
		return false;
	s->at++;
	return true;
}

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

struct slice scan_name(struct scan *s, bool dotted)
{
	struct slice name;
	const char *p;

	scan_blank(s);
	p = s->at;
	if (p < s->end && (*p == '.' || is_name_char(*p)) && !isdigit((unsigned char)*p)) {
		p++;
		while (p < s->end) {
			if (is_name_char(*p) || (dotted && *p == '.')) {
				p++;
			} else if (dotted && *p == ':' && p + 1 < s->end && p[1] == ':') {
				p += 2;
			} else {
				break;
			}
		}
	}
	name = (struct slice){s->at, (size_t)(p - s->at)};
	s->at = p;
	return name;
}

static struct number hex_float(struct scan *s, const char *p)
{
	bool single = p[1] == 'f' || p[1] == 'F';
	unsigned digits = single ? 8 : 16;
	struct number n = {single ? NUMBER_F32 : NUMBER_F64, 0};

	p += 2;
	for (unsigned i = 0; i < digits; i++, p++) {
		if (p >= s->end || !isxdigit((unsigned char)*p))
			return (struct number){NUMBER_NONE, 0};
		n.bits = n.bits << 4 |
			 (uint64_t)(isdigit((unsigned char)*p) ? *p - '0' : (*p | 32) - 'a' + 10);
	}
	s->at = p;
	return n;
}

static struct number decimal_float(struct scan *s, const char *p, bool negative)
{
	char text[64];
	size_t n = 0;
	double value;
	struct number out = {NUMBER_F64, 0};

	while (p < s->end && n + 1 < sizeof(text) &&
	       (isdigit((unsigned char)*p) || *p == '.' || *p == 'e' || *p == 'E' ||
		((*p == '-' || *p == '+') && n && (text[n - 1] | 32) == 'e')))
		text[n++] = *p++;
	text[n] = 0;
	value = strtod(text, NULL);
	if (negative)
		value = -value;
	memcpy(&out.bits, &value, 8);
	s->at = p;
	return out;
}

/* Digits of the base from p on; returns their end, NULL if there is none or the value is too big.
 */
static const char *digits(const char *p, const char *end, unsigned base, uint64_t *value)
{
	const char *start = p;

	*value = 0;
	for (; p < end; p++) {
		unsigned d;

		if (isdigit((unsigned char)*p))
			d = (unsigned)(*p - '0');
		else if (isxdigit((unsigned char)*p))
			d = (unsigned)((*p | 32) - 'a' + 10);
		else
			break;
		if (d >= base)
			break;
		if (__builtin_mul_overflow(*value, base, value) ||
		    __builtin_add_overflow(*value, d, value))
			return NULL;
	}
	return p == start ? NULL : p;
}

struct number scan_number(struct scan *s)
{
	struct number n = {NUMBER_INTEGER, 0};
	bool negative;
	const char *p, *q;
	unsigned base = 10;

	scan_blank(s);
	p = s->at;
	negative = p < s->end && *p == '-';
	if (negative)
		p++;
	while (p < s->end && (*p == ' ' || *p == '\t'))
		p++;
	if (p >= s->end || !isdigit((unsigned char)*p))
		return (struct number){NUMBER_NONE, 0};
	if (*p == '0' && p + 1 < s->end) {
		char c = (char)(p[1] | 32);

		if (c == 'f' || c == 'd') {
			n = hex_float(s, p);
			if (negative && n.kind != NUMBER_NONE)
				n.bits ^= n.kind == NUMBER_F32 ? 1ull << 31 : 1ull << 63;
			return n;
		}
		base = c == 'x' ? 16 : c == 'b' ? 2 : isdigit((unsigned char)p[1]) ? 8 : 10;
		if (base == 16 || base == 2)
			p += 2;
	}
	q = digits(p, s->end, base, &n.bits);
	if (base == 10 && q && q < s->end && (*q == '.' || (*q | 32) == 'e'))
		return decimal_float(s, p, negative);
	if (!q)
		return (struct number){NUMBER_NONE, 0};
	if (q < s->end && *q == 'U')
		q++;
	if (negative)
		n.bits = -n.bits;
	s->at = q;
	return n;
}

bool scan_skip_braces(struct scan *s)
{
	unsigned depth = 0;

	if (scan_peek(s) != '{')
		return false;
	while (scan_peek(s)) {
		char c = *s->at++;

		if (c == '{')
			depth++;
		else if (c == '}' && --depth == 0)
			return true;
		else if (c == '"')
			while (s->at < s->end && *s->at != '\n' && *s->at++ != '"')
				;
	}
	return false;
}
