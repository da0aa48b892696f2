/* SPDX-License-Identifier: MIT */
/* How coarsely a kernel rounds on the way to each output, and whether integers stay exact in it. */
#include "replay/precision.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "replay/flow.h"

#define ROUNDOFF_F64  0x1p-53
#define ROUNDOFF_F32  0x1p-24
#define ROUNDOFF_FP8  0x1p-13 /* accumulation of fp8 products by Hopper's tensor cores */
#define ROUNDOFF_F16  0x1p-11
#define ROUNDOFF_BF16 0x1p-8
#define ROUNDOFF_E4M3 0x1p-4
#define ROUNDOFF_E5M2 0x1p-3

/* ---- what one statement does to precision ---- */

/* True if `part` occurs in the opcode as a whole ".part". */
static bool has(struct token op, const char *part)
{
	size_t n = strlen(part);

	for (size_t i = 0; i + n < op.size; i++)
		if (op.text[i] == '.' && !memcmp(op.text + i + 1, part, n) &&
		    (i + 1 + n == op.size || op.text[i + 1 + n] == '.'))
			return true;
	return false;
}

/* The first type named in the opcode from `from` on: its roundoff; 0 for integers. */
static double first_type(struct token op, size_t from)
{
	static const struct {
		const char *name;
		double roundoff;
	} types[] = {{".f64", ROUNDOFF_F64},
		     {".f32", ROUNDOFF_F32},
		     {".f16", ROUNDOFF_F16},
		     {".bf16", ROUNDOFF_BF16},
		     {".e4m3", ROUNDOFF_E4M3},
		     {".e5m2", ROUNDOFF_E5M2},
		     {".tf32", ROUNDOFF_F32},
		     {".s32", 0},
		     {".u32", 0},
		     {".s64", 0},
		     {".u64", 0},
		     {".s16", 0},
		     {".u16", 0},
		     {".s8", 0},
		     {".u8", 0}};

	for (size_t i = from; i < op.size; i++)
		for (size_t k = 0; k < ARRAY_LENGTH(types); k++) {
			size_t n = strlen(types[k].name);

			if (op.size - i >= n && !memcmp(op.text + i, types[k].name, n))
				return types[k].roundoff;
		}
	return 0;
}

static bool is_mma(struct token op)
{
	return token_starts(op, "mma") || token_starts(op, "wgmma.mma") ||
	       token_starts(op, "tcgen05.mma");
}

static double mma_roundoff(struct token op)
{
	double d = first_type(op, 0);

	if (d == ROUNDOFF_F32 && (token_contains(op, ".e4m3") || token_contains(op, ".e5m2")))
		return ROUNDOFF_FP8;
	return d;
}

/* Operations whose result is rounded to their type. */
static bool rounds(struct token op)
{
	static const char *const names[] = {"add.", "sub.",  "mul.",  "fma.",  "mad.", "div.",
					    "rcp.", "sqrt.", "rsqrt", "ex2.",  "lg2.", "sin.",
					    "cos.", "tanh.", "red.",  "atom.", "add{", "redux."};

	for (size_t i = 0; i < ARRAY_LENGTH(names); i++)
		if (token_starts(op, names[i]))
			return true;
	return false;
}

static bool is_float_type(struct token op)
{
	return token_contains(op, ".f32") || token_contains(op, ".f64") ||
	       token_contains(op, ".f16") || token_contains(op, ".bf16");
}

/*
 * Documented greatest errors of approximate functions, as a share of the result (PTX ISA 9.1; its
 * section stands beside each). "ulp": of the result; one is at most 2^-23 of an f32. "abs": the
 * error documented is absolute, taken as that of a result near 1; that of sin and cos holds up to
 * 2 pi (2^-14.7 up to 100 pi), that of lg2 for arguments in (0.5, 2), and is relative elsewhere.
 */
static double function_error(struct token op)
{
	static const struct {
		const char *name, *type;
		double error;
	} functions[] = {
		{"tanh.approx", ".bf16", 0x1p-8},          /* 9.7.4.9: 2^-8 abs */
		{"tanh.approx", ".f16", 0x1p-11 * 1.01},   /* 9.7.4.9: 2^-10.987 abs */
		{"tanh.approx", ".f32", 0x1p-11},          /* 9.7.3.22: 2^-11 */
		{"ex2.approx", ".bf16", 0x1p-7},           /* 9.7.4.10: 2^-7 */
		{"ex2.approx", ".f16", 0x1p-10 * 1.072},   /* 9.7.4.10: 2^-9.9 */
		{"ex2.approx", ".f32", 0x1p-22},           /* 9.7.3.21: 2 ulp */
		{"lg2.approx", ".f32", 0x1p-22},           /* 9.7.3.20: 2^-22, abs near 1 */
		{"sin.approx", ".f32", 0x1p-21 * 1.42},    /* 9.7.3.18: 2^-20.5 abs */
		{"cos.approx", ".f32", 0x1p-21 * 1.42},    /* 9.7.3.19: 2^-20.5 abs */
		{"rsqrt.approx", ".f32", 0x1p-23 * 1.072}, /* 9.7.3.16: 2^-22.9 */
		{"sqrt.approx", ".f32", 0x1p-23},          /* 9.7.3.15: 2^-23 */
		{"rcp.approx", ".f32", 0x1p-23},           /* 9.7.3.13: 1 ulp */
		{"div.approx", ".f32", 0x1p-22},           /* 9.7.3.8: 2 ulp, |b| in 2^±126 */
		{"div.full", ".f32", 0x1p-22},             /* 9.7.3.8: 2 ulp */
	};

	for (size_t i = 0; i < ARRAY_LENGTH(functions); i++)
		if (token_starts(op, functions[i].name) && token_contains(op, functions[i].type))
			return functions[i].error;
	return 0;
}

enum effect { EFFECT_MOVE, EFFECT_CAST, EFFECT_ROUND, EFFECT_END };

/* What the statement does to the value in its destination, and by which roundoff. */
static enum effect effect_of(struct token op, double *roundoff)
{
	static const char *const moves[] = {"mov.",     "shfl",      "prmt", "selp", "ldmatrix",
					    "stmatrix", "movmatrix", "bfe",  "bfi",  "shl",
					    "shr",      "and.",      "or."};

	*roundoff = 0;
	if (token_starts(op, "ld.shared") || token_starts(op, "st.shared"))
		return EFFECT_MOVE;
	if (token_starts(op, "ld"))
		return token_starts(op, "ldmatrix") ? EFFECT_MOVE : EFFECT_END;
	if (is_mma(op)) {
		*roundoff = mma_roundoff(op);
		return EFFECT_ROUND;
	}
	if (token_starts(op, "cvt.")) {
		if (has(op, "tf32") || (!is_float_type(op) && !token_contains(op, ".e")))
			return EFFECT_MOVE; /* between integers: the bits of a narrow float */
		*roundoff = first_type(op, 4);
		if (*roundoff && (token_contains(op, ".rn") || token_contains(op, ".rz") ||
				  token_contains(op, ".rna") || token_contains(op, ".rm") ||
				  token_contains(op, ".rp")))
			return EFFECT_CAST;
		*roundoff = 0; /* widening, or to an integer */
		return EFFECT_ROUND;
	}
	if (rounds(op)) {
		*roundoff = first_type(op, 3);
		return EFFECT_ROUND;
	}
	for (size_t i = 0; i < ARRAY_LENGTH(moves); i++)
		if (token_starts(op, moves[i]))
			return EFFECT_MOVE;
	return EFFECT_ROUND; /* integers, comparisons: no rounding, but no plain copy either */
}

/* ---- the backward slice ---- */

/* Where a name gets its value: a list of statements, linked through `next`. */
struct definition {
	uint32_t statement, next; /* plus one; 0 ends the list */
};

struct node {
	struct token name;
	uint32_t first; /* definition, plus one */
	uint8_t seen;   /* bit 0: as a copy of what is stored, bit 1: otherwise */
};

/* Statements [first, last] that a branch backwards repeats. */
struct loop {
	size_t first, last;
};

struct slice {
	const struct flow *flow;
	uint8_t *seen_load; /* a statement each, bits as in struct node */
	uint32_t *shared;   /* statements that store to shared memory */
	size_t shared_count;
	struct loop *loops;
	size_t loop_count, loop_capacity;
	struct node *nodes; /* open addressing, power of two */
	size_t capacity, count;
	struct definition *definitions;
	size_t definition_count, definition_capacity;
	uint32_t *work; /* node * 2 + (copy ? 0 : 1) */
	size_t work_count, work_capacity;
};

static size_t hash_name(struct token t)
{
	size_t h = 14695981039346656037ull;

	for (size_t i = 0; i < t.size; i++)
		h = (h ^ (unsigned char)t.text[i]) * 1099511628211ull;
	return h;
}

static size_t node_slot(const struct slice *s, struct token t)
{
	size_t i = hash_name(t) & (s->capacity - 1);

	while (s->nodes[i].name.text &&
	       (s->nodes[i].name.size != t.size || memcmp(s->nodes[i].name.text, t.text, t.size)))
		i = (i + 1) & (s->capacity - 1);
	return i;
}

static int nodes_grow(struct slice *s)
{
	struct node *old = s->nodes;
	size_t old_capacity = s->capacity, capacity = old_capacity ? 2 * old_capacity : 1024;

	s->nodes = calloc(capacity, sizeof(*s->nodes));
	if (!s->nodes) {
		s->nodes = old;
		return -ENOMEM;
	}
	s->capacity = capacity;
	for (size_t i = 0; i < old_capacity; i++)
		if (old[i].name.text)
			s->nodes[node_slot(s, old[i].name)] = old[i];
	free(old);
	return 0;
}

static int define(struct slice *s, struct token name, size_t statement)
{
	struct node *n;
	int rc = 0;

	if (2 * (s->count + 1) > s->capacity)
		rc = nodes_grow(s);
	if (!rc)
		rc = array_reserve(&s->definitions, s->definition_count, &s->definition_capacity,
				   sizeof(*s->definitions));
	if (rc)
		return rc;
	n = &s->nodes[node_slot(s, name)];
	if (!n->name.text) {
		n->name = name;
		s->count++;
	}
	s->definitions[s->definition_count++] =
		(struct definition){(uint32_t)statement + 1, n->first};
	n->first = (uint32_t)s->definition_count;
	return 0;
}

static bool stores_shared(struct token op)
{
	return token_starts(op, "st.shared") || token_starts(op, "stmatrix") ||
	       token_starts(op, "red.shared") || token_starts(op, "atom.shared");
}

static int index_definitions(struct slice *s)
{
	for (size_t i = 0; i < s->flow->count; i++) {
		const struct statement *x = &s->flow->statements[i];
		struct token rest = x->rest, destination, name;
		int rc = 0;

		if (stores_shared(x->opcode))
			s->shared[s->shared_count++] = (uint32_t)i;
		else if (!token_starts(x->opcode, "st.") && !token_starts(x->opcode, "bra") &&
			 !token_starts(x->opcode, "red") && !token_starts(x->opcode, "cp.")) {
			destination = first_operand(&rest);
			while (!rc && next_name(&destination, &name))
				rc = define(s, name, i);
		}
		if (rc)
			return rc;
	}
	return 0;
}

/* Branches to a label above them. */
static int find_loops(struct slice *s)
{
	const struct statement *x = s->flow->statements;

	for (size_t i = 0; i < s->flow->count; i++) {
		struct token rest = x[i].rest, target;

		if (!token_starts(x[i].opcode, "bra") || !next_name(&rest, &target))
			continue;
		for (size_t k = 0; k <= i; k++) {
			if (!x[k].label.text || x[k].label.size != target.size ||
			    memcmp(x[k].label.text, target.text, target.size))
				continue;
			if (array_reserve(&s->loops, s->loop_count, &s->loop_capacity,
					  sizeof(*s->loops)))
				return -ENOMEM;
			s->loops[s->loop_count++] = (struct loop){k, i};
			break;
		}
	}
	return 0;
}

static int visit(struct slice *s, struct token name, bool copy)
{
	size_t i;
	uint8_t bit = copy ? 1 : 2;
	int rc;

	if (!s->capacity)
		return 0;
	i = node_slot(s, name);
	if (!s->nodes[i].name.text || s->nodes[i].seen & bit)
		return 0;
	s->nodes[i].seen |= bit;
	rc = array_reserve(&s->work, s->work_count, &s->work_capacity, sizeof(*s->work));
	if (!rc)
		s->work[s->work_count++] = (uint32_t)(2 * i + !copy);
	return rc;
}

/* Names among the operands behind the first one; predicates are none. */
static int visit_operands(struct slice *s, struct token rest, bool copy)
{
	struct token name;
	int rc = 0;

	while (!rc && next_name(&rest, &name))
		if (!token_starts(name, "%p"))
			rc = visit(s, name, copy);
	return rc;
}

/* Can what is stored at `from` be read at `to`: earlier in the text, or around a loop? */
static bool reaches(const struct slice *s, size_t from, size_t to)
{
	if (from < to)
		return true;
	for (size_t i = 0; i < s->loop_count; i++)
		if (s->loops[i].first <= to && from <= s->loops[i].last)
			return true;
	return false;
}

/* Everything that the shared memory read by statement `at` may hold. */
static int visit_shared(struct slice *s, size_t at, bool copy)
{
	uint8_t bit = copy ? 1 : 2;
	int rc = 0;

	if (s->seen_load[at] & bit)
		return 0;
	s->seen_load[at] |= bit;
	for (size_t i = 0; !rc && i < s->shared_count; i++) {
		struct token rest = s->flow->statements[s->shared[i]].rest;

		first_operand(&rest); /* the address */
		if (reaches(s, s->shared[i], at))
			rc = visit_operands(s, rest, copy);
	}
	return rc;
}

/* Visits the values that a statement computes with. */
static int visit_sources(struct slice *s, size_t at, bool copy)
{
	const struct statement *x = &s->flow->statements[at];
	struct token rest = x->rest;
	int rc;

	if (token_starts(x->opcode, "ld.shared") || token_starts(x->opcode, "ldmatrix"))
		return visit_shared(s, at, copy);
	if (token_starts(x->opcode, "wgmma.mma") || token_starts(x->opcode, "tcgen05.mma")) {
		rc = visit_shared(s, at, copy);
		return rc ? rc : visit_operands(s, rest, copy);
	}
	first_operand(&rest);
	return visit_operands(s, rest, copy);
}

static bool is_periodic(struct token op)
{
	return (token_starts(op, "sin.") || token_starts(op, "cos.")) && has(op, "approx");
}

static int follow(struct slice *s, double *inner, double *cast, double *function, bool *periodic)
{
	while (s->work_count) {
		uint32_t item = s->work[--s->work_count];
		bool copy = !(item & 1);

		for (uint32_t d = s->nodes[item / 2].first; d; d = s->definitions[d - 1].next) {
			size_t at = s->definitions[d - 1].statement - 1;
			const struct statement *x = &s->flow->statements[at];
			double roundoff;
			enum effect e = effect_of(x->opcode, &roundoff);
			int rc;

			if (e == EFFECT_END)
				continue;
			*function = fmax(*function, function_error(x->opcode));
			*periodic |= is_periodic(x->opcode);
			if (e == EFFECT_CAST && copy)
				*cast = fmax(*cast, roundoff);
			else
				*inner = fmax(*inner, roundoff);
			rc = visit_sources(s, at, copy && e == EFFECT_MOVE);
			if (rc)
				return rc;
		}
	}
	return 0;
}

/* The slice of everything that is stored through parameter p. */
static int slice_param(struct slice *s, struct flow *f, unsigned p, struct precision *out)
{
	for (size_t i = 0; i < s->capacity; i++)
		s->nodes[i].seen = 0;
	memset(s->seen_load, 0, f->count);
	for (size_t i = 0; i < f->count; i++) {
		const struct statement *x = &f->statements[i];
		struct token rest = x->rest;
		int rc = 0;

		if (!is_global_store(x->opcode) || !(params_of(f, address_of(x->rest)) >> p & 1))
			continue;
		if (token_starts(x->opcode, "cp.")) {
			rc = visit_shared(s, i, true);
		} else {
			bool adds = !token_starts(x->opcode, "st.");

			if (adds) /* the sum in memory is rounded too */
				out->inner[p] = fmax(out->inner[p], first_type(x->opcode, 3));
			out->added[p] |=
				adds && (has(x->opcode, "cas") ||
					 (has(x->opcode, "add") && first_type(x->opcode, 3) > 0));
			if (token_starts(x->opcode, "atom"))
				first_operand(&rest);
			first_operand(&rest);
			rc = visit_operands(s, rest, !adds);
		}
		if (!rc)
			rc = follow(s, &out->inner[p], &out->cast[p], &out->function[p],
				    &out->periodic[p]);
		if (rc)
			return rc;
	}
	return 0;
}

/* ---- exactness ---- */

/* Float constants: 0fXXXXXXXX and 0dXXXXXXXXXXXXXXXX. Small integers and infinities are harmless.
 */
static bool constants_exact(struct token t)
{
	for (size_t i = 0; i + 10 <= t.size; i++) {
		char kind = t.text[i + 1], digits[17] = "";
		size_t n = kind == 'f' || kind == 'F' ? 8 : 16;
		uint64_t bits;
		double value;

		if (t.text[i] != '0' || !strchr("fFdD", kind) || i + 2 + n > t.size ||
		    (i &&
		     (t.text[i - 1] == 'x' || strchr("0123456789abcdefABCDEF", t.text[i - 1]))))
			continue;
		memcpy(digits, t.text + i + 2, n);
		bits = strtoull(digits, NULL, 16);
		if (n == 8) {
			uint32_t word = (uint32_t)bits;
			float x;

			memcpy(&x, &word, sizeof(x));
			value = (double)x;
		} else {
			memcpy(&value, &bits, sizeof(value));
		}
		if (isfinite(value) && (value != nearbyint(value) || fabs(value) > 16))
			return false;
		i += 1 + n;
	}
	return true;
}

static bool statement_exact(const struct statement *x)
{
	static const char *const never[] = {"div.", "rcp.", "sqrt.", "rsqrt.", "ex2.",
					    "lg2.", "sin.", "cos.",  "tanh."};
	struct token op = x->opcode;

	if (has(op, "approx") || (token_starts(op, "call") && !is_harmless_call(x->rest)))
		return false;
	for (size_t i = 0; i < ARRAY_LENGTH(never); i++)
		if (token_starts(op, never[i]) && is_float_type(op))
			return false;
	if (is_mma(op))
		return mma_roundoff(op) <= ROUNDOFF_F32;
	if (rounds(op) && first_type(op, 3) > ROUNDOFF_F32)
		return false;
	/* Immediates stand in moves and float operations only. */
	return constants_exact(x->rest);
}

static void judge_exactness(const struct flow *f, struct precision *out)
{
	out->exact = false;
	if (f->float_params) {
		snprintf(out->inexact, sizeof(out->inexact), "takes a float by value");
		return;
	}
	for (size_t i = 0; i < f->count; i++) {
		const struct statement *x = &f->statements[i];

		if (statement_exact(x))
			continue;
		snprintf(out->inexact, sizeof(out->inexact), "%.*s with its operands",
			 (int)(x->opcode.size < 60 ? x->opcode.size : 60), x->opcode.text);
		return;
	}
	out->exact = true;
}

int precision_find(struct precision *out, const char *ptx, size_t size, const char *entry,
		   struct error *err)
{
	struct flow f;
	struct slice s = {.flow = &f};
	int rc = flow_open(&f, ptx, size, entry, err);

	*out = (struct precision){0};
	if (rc)
		return rc;
	judge_exactness(&f, out);
	s.seen_load = calloc(f.count ? f.count : 1, sizeof(*s.seen_load));
	s.shared = calloc(f.count ? f.count : 1, sizeof(*s.shared));
	rc = s.seen_load && s.shared ? index_definitions(&s) : -ENOMEM;
	if (!rc)
		rc = find_loops(&s);
	for (unsigned p = 0; !rc && p < STORES_MAX_PARAMS; p++) {
		if (f.stored >> p & 1)
			rc = slice_param(&s, &f, p, out);
		if (out->exact && out->inner[p] > ROUNDOFF_F32) {
			out->exact = false;
			snprintf(out->inexact, sizeof(out->inexact),
				 "rounds to a narrow type on the way to an output");
		}
	}
	if (rc)
		error_set(err, -rc, ERROR_NO_OFFSET, "no memory for %s", entry);
	free(s.seen_load);
	free(s.shared);
	free(s.loops);
	free(s.nodes);
	free(s.definitions);
	free(s.work);
	flow_close(&f);
	return rc;
}
