/* SPDX-License-Identifier: MIT */
/* Rewrites the instructions that touch global memory. */
#include "lib/ptx/access.h"

#include <errno.h>
#include <string.h>

#include "lib/base.h"
#include "lib/ptx/dependence.h"
#include "lib/ptx/note.h"

#define P(piece) (int)(piece).size, (piece).at

static int refuse(char **reason, const char *why, const struct statement *s)
{
	*reason = text_format("%s: %.*s", why, P(s->opcode));
	return *reason ? 0 : -ENOMEM;
}

/* Bytes of one element by the last type among the modifiers; 0: none known. */
static unsigned element_bytes(const struct statement *s)
{
	static const struct {
		const char *name;
		unsigned bytes;
	} types[] = {{"b8", 1},  {"u8", 1},  {"s8", 1},    {"b16", 2},    {"u16", 2},
		     {"s16", 2}, {"f16", 2}, {"bf16", 2},  {"b32", 4},    {"u32", 4},
		     {"s32", 4}, {"f32", 4}, {"f16x2", 4}, {"bf16x2", 4}, {"b64", 8},
		     {"u64", 8}, {"s64", 8}, {"f64", 8},   {"b128", 16}};
	size_t dot = s->opcode.size;
	struct piece last;

	while (dot && s->opcode.at[dot - 1] != '.')
		dot--;
	last = (struct piece){s->opcode.at + dot, s->opcode.size - dot};
	for (size_t i = 0; i < ARRAY_LENGTH(types); i++) {
		if (piece_is(last, types[i].name))
			return types[i].bytes;
	}
	return 0;
}

static unsigned vector_length(const struct statement *s)
{
	return opcode_has(s, "v2") ? 2 : opcode_has(s, "v4") ? 4 : opcode_has(s, "v8") ? 8 : 1;
}

/* "[%rd1+16]" or "[%rd1, {…}]" into base and offset; false: of another form. */
static bool read_address(struct piece operand, struct piece *base, struct piece *offset)
{
	size_t at = 0;
	struct piece inner;

	if (operand.size < 3 || operand.at[0] != '[' || operand.at[operand.size - 1] != ']')
		return false;
	inner = piece_trim((struct piece){operand.at + 1, operand.size - 2});
	*base = name_next(inner, &at);
	if (!base->size || base->at != inner.at)
		return false;
	*offset = piece_trim((struct piece){inner.at + at, inner.size - at});
	if (!offset->size)
		return true;
	if (*offset->at != '+' && *offset->at != '-')
		return false;
	if (*offset->at == '+')
		*offset = piece_trim((struct piece){offset->at + 1, offset->size - 1});
	at = 0;
	return offset->size && !name_next(*offset, &at).size;
}

/* ---- the call ---- */

struct note {
	struct piece base, offset;
	const struct statement *s;
	char bytes[80]; /* a number or a 32-bit register */
	unsigned bits;  /* NOTE_*, but for NOTE_STOPS: */
	bool stops;
	bool generic;        /* only where the address turns out to be global */
	struct piece unless; /* cp.async: a predicate that makes it read nothing */
};

/*
 * klab_a: the address, klab_n: bytes, 0 where the guard is off or the address is not global;
 * klab_g: the address is global. The block is left open.
 */
static void write_note(FILE *out, const struct note *n)
{
	fputs("{\n.reg .b64 klab_a;\n.reg .b32 klab_n;\n.reg .pred klab_g;\n", out);
	fprintf(out, "mov.b64 klab_a, %.*s;\n", P(n->base));
	if (n->offset.size)
		fprintf(out, "add.s64 klab_a, klab_a, %.*s;\n", P(n->offset));
	fprintf(out, "mov.b32 klab_n, %s;\n", n->bytes);
	if (n->s->guard.size)
		fprintf(out,
			n->s->negated ? "selp.b32 klab_n, 0, klab_n, %.*s;\n"
				      : "selp.b32 klab_n, klab_n, 0, %.*s;\n",
			P(n->s->guard));
	if (n->unless.size)
		fprintf(out, "selp.b32 klab_n, 0, klab_n, %.*s;\n", P(n->unless));
	if (n->generic)
		fputs("isspacep.global klab_g, klab_a;\nselp.b32 klab_n, klab_n, 0, klab_g;\n",
		      out);
	fprintf(out,
		"{\n.param .b64 klab_p0;\n.param .b32 klab_p1;\n.param .b32 klab_p2;\n"
		"st.param.b64 [klab_p0], klab_a;\nst.param.b32 [klab_p1], klab_n;\n"
		"st.param.b32 [klab_p2], %u;\ncall klab_note, (klab_p0, klab_p1, klab_p2);\n}\n",
		n->bits | (n->stops ? NOTE_STOPS : 0));
}

/* The statement itself where the address is not global: closes the block. */
static void write_elsewhere(FILE *out, const struct note *n)
{
	const struct statement *s = n->s;
	const char *operands = s->opcode.at;
	size_t size = s->text.size - (size_t)(operands - s->text.at);

	if (n->generic) {
		fputs(".reg .pred klab_h;\nnot.pred klab_h, klab_g;\n", out);
		if (s->guard.size && s->negated)
			fprintf(out,
				".reg .pred klab_i;\nnot.pred klab_i, %.*s;\n"
				"and.pred klab_h, klab_h, klab_i;\n",
				P(s->guard));
		else if (s->guard.size)
			fprintf(out, "and.pred klab_h, klab_h, %.*s;\n", P(s->guard));
		fprintf(out, "@klab_h %.*s\n", (int)size, operands);
	}
	fputs("}\n", out);
}

/* ---- kinds of access ---- */

static int write_load(FILE *out, const struct access_scope *scope, struct note *n, char **reason)
{
	unsigned bytes = element_bytes(n->s) * vector_length(n->s);

	if (!bytes || n->s->operand_count < 2 ||
	    !read_address(n->s->operands[1], &n->base, &n->offset))
		return refuse(reason, "a load that cannot be read", n->s);
	snprintf(n->bytes, sizeof(n->bytes), "%u", bytes);
	n->bits = NOTE_READ | (scope->careful ? NOTE_CAREFUL : 0);
	write_note(out, n);
	fprintf(out, "}\n%.*s\n", P(n->s->text));
	return 1;
}

static int write_store(FILE *out, struct note *n, unsigned bits, char **reason)
{
	unsigned bytes = element_bytes(n->s) * vector_length(n->s);

	if (!bytes || !n->s->operand_count ||
	    !read_address(n->s->operands[0], &n->base, &n->offset))
		return refuse(reason, "a store that cannot be read", n->s);
	snprintf(n->bytes, sizeof(n->bytes), "%u", bytes);
	n->bits = bits;
	write_note(out, n);
	write_elsewhere(out, n);
	return 1;
}

/* Untyped moves fit a register of any type of that size. */
static void write_zero(FILE *out, const struct statement *s, struct piece destination,
		       unsigned bytes)
{
	size_t at = 0;

	for (struct piece d; (d = name_next(destination, &at)).size;) {
		if (piece_is(d, "_"))
			continue;
		if (s->guard.size)
			fprintf(out, "@%s%.*s ", s->negated ? "!" : "", P(s->guard));
		fprintf(out, "mov.b%u %.*s, 0;\n", 8 * bytes, P(d));
	}
}

static int write_atomic(FILE *out, struct note *n, char **reason)
{
	unsigned bytes = element_bytes(n->s);

	if (!bytes || bytes == 16 || n->s->operand_count < 2 ||
	    !read_address(n->s->operands[1], &n->base, &n->offset))
		return refuse(reason, "an atomic that cannot be read", n->s);
	snprintf(n->bytes, sizeof(n->bytes), "%u", bytes * vector_length(n->s));
	n->bits = NOTE_READ | NOTE_WRITE;
	write_note(out, n);
	/* After the note: the address may stand in the same register as the result. */
	write_zero(out, n->s, n->s->operands[0], bytes);
	write_elsewhere(out, n);
	return 1;
}

/* True if the name was declared as a predicate, as "%p<7>" or by itself. */
static bool is_predicate(const struct access_scope *scope, struct piece name)
{
	for (size_t i = 0; i < scope->count; i++) {
		const struct statement *s = &scope->body[i];
		struct piece text = s->text;
		size_t at = 0;

		if (s->kind != STATEMENT_DECLARATION || text.size < 4 || memcmp(text.at, ".reg", 4))
			continue;
		while (at + 5 < text.size && memcmp(text.at + at, ".pred", 5))
			at++;
		if (at + 5 >= text.size)
			continue;
		text = (struct piece){text.at + at + 5, text.size - at - 5};
		at = 0;
		for (struct piece n; (n = name_next(text, &at)).size;) {
			bool many = at < text.size && text.at[at] == '<';

			if (piece_equal(n, name) ||
			    (many && name.size > n.size && !memcmp(n.at, name.at, n.size)))
				return true;
		}
	}
	return false;
}

/* cp.async [shared], [global], size {, source size | , ignore} {, policy}. */
static int write_copy_async(FILE *out, const struct access_scope *scope, struct note *n,
			    char **reason)
{
	const struct statement *s = n->s;
	size_t extra = s->operand_count - opcode_has(s, "L2::cache_hint");
	struct piece size;

	if (extra < 3 || extra > 4 || !read_address(s->operands[1], &n->base, &n->offset))
		return refuse(reason, "a copy that cannot be read", s);
	size = s->operands[2];
	if (extra == 4 && is_predicate(scope, s->operands[3]))
		n->unless = s->operands[3];
	else if (extra == 4)
		size = s->operands[3];
	if (size.size >= sizeof(n->bytes))
		return refuse(reason, "a copy that cannot be read", s);
	snprintf(n->bytes, sizeof(n->bytes), "%.*s", P(size));
	n->bits = NOTE_READ | (scope->careful ? NOTE_CAREFUL : 0);
	write_note(out, n);
	fprintf(out, "}\n%.*s\n", P(s->text));
	return 1;
}

/* cp.async.bulk [to], [from], size, …: from global memory, or (also reducing) into it. */
static int write_copy_bulk(FILE *out, const struct access_scope *scope, struct note *n,
			   char **reason)
{
	const struct statement *s = n->s;
	size_t global = opcode_begins(s, "cp.async.bulk.global") ||
					opcode_begins(s, "cp.reduce.async.bulk.global")
				? 0
				: 1;

	if (s->operand_count < 3 || opcode_has(s, "ignore_oob") || opcode_has(s, "cp_mask") ||
	    !read_address(s->operands[global], &n->base, &n->offset) ||
	    s->operands[2].size >= sizeof(n->bytes))
		return refuse(reason, "a bulk copy that cannot be read", s);
	snprintf(n->bytes, sizeof(n->bytes), "%.*s", P(s->operands[2]));
	n->bits = global                    ? NOTE_READ | (scope->careful ? NOTE_CAREFUL : 0)
		  : opcode_has(s, "reduce") ? NOTE_READ | NOTE_WRITE
					    : NOTE_WRITE;
	write_note(out, n);
	fputs("}\n", out);
	if (global)
		fprintf(out, "%.*s\n", P(s->text));
	return 1;
}

/* ---- tensor copies ---- */

/* The parameter whose address the register holds, through moves; SIZE_MAX: not known. */
static size_t descriptor_of(const struct access_scope *scope, struct piece name)
{
	for (unsigned step = 0; step < 8; step++) {
		const struct statement *only = NULL;

		for (size_t i = 0; i < scope->param_count; i++)
			if (piece_equal(scope->params[i], name))
				return i;
		for (size_t i = 0; i < scope->count; i++) {
			const struct statement *s = &scope->body[i];
			size_t at = 0;
			bool defines = false;

			if (s->kind != STATEMENT_INSTRUCTION || !s->operand_count)
				continue;
			for (struct piece d; (d = name_next(s->operands[0], &at)).size;)
				defines |= *s->operands[0].at != '[' && piece_equal(d, name);
			if (!defines)
				continue;
			if (only)
				return SIZE_MAX;
			only = s;
		}
		if (!only || only->guard.size || only->operand_count != 2 ||
		    (!opcode_is(only, "mov") && !opcode_is(only, "cvta")))
			return SIZE_MAX;
		name = only->operands[1];
	}
	return SIZE_MAX;
}

static int write_tensor(struct access_scope *scope, const struct statement *s, char **reason)
{
	bool reduce = opcode_begins(s, "cp.reduce");
	size_t global = 1, descriptor, at = 0;
	struct piece inner = {0};

	for (size_t i = 0; i + 7 < s->opcode.size; i++) { /* the first space is where it goes */
		if (memcmp(s->opcode.at + i, ".global", 7) != 0 &&
		    memcmp(s->opcode.at + i, ".shared", 7) != 0)
			continue;
		global = s->opcode.at[i + 1] == 'g' ? 0 : 1;
		break;
	}
	if (s->operand_count > global && s->operands[global].size > 2)
		inner = piece_trim(
			(struct piece){s->operands[global].at + 1, s->operands[global].size - 2});
	inner = name_next(inner, &at);
	descriptor = inner.size ? descriptor_of(scope, inner) : SIZE_MAX;
	if (descriptor >= 64)
		return refuse(reason, "a TMA descriptor that is no parameter of the kernel", s);
	if (global || reduce)
		scope->tensor_reads |= 1ull << descriptor;
	if (!global)
		scope->tensor_writes |= 1ull << descriptor;
	return global ? 0 : 1;
}

/* ---- all ---- */

/* Opcodes of which a modifier names global memory although they do not access its contents. */
static bool harmless(const struct statement *s)
{
	static const char *const names[] = {"cvta",      "isspacep",     "prefetch",
					    "prefetchu", "createpolicy", "fence",
					    "membar",    "mapa",         "mov"};

	for (size_t i = 0; i < ARRAY_LENGTH(names); i++)
		if (opcode_is(s, names[i]))
			return true;
	return opcode_begins(s, "cp.async.bulk.prefetch");
}

static bool unknown(const struct statement *s)
{
	static const char *const names[] = {"tex",      "tld4",    "suld",
					    "sust",     "sured",   "tensormap",
					    "multimem", "discard", "applypriority"};

	for (size_t i = 0; i < ARRAY_LENGTH(names); i++)
		if (opcode_is(s, names[i]))
			return true;
	if (opcode_is(s, "wmma") && (opcode_has(s, "load") || opcode_has(s, "store")))
		return !opcode_has(s, "shared");
	return opcode_has(s, "global");
}

static int write_call(FILE *out, const struct statement *s, char **reason)
{
	for (size_t i = 0; i < s->operand_count; i++)
		if (piece_is(s->operands[i], "__assertfail"))
			return 1; /* the exit behind it ends the thread */
	return refuse(reason, "it calls a function", s);
}

int access_write(FILE *out, struct access_scope *scope, const struct statement *s, char **reason)
{
	struct note n = {.s = s, .stops = scope->careful, .generic = !opcode_has(s, "global")};

	if (opcode_is(s, "call"))
		return write_call(out, s, reason);
	if (opcode_is(s, "trap") || opcode_is(s, "brkpt")) {
		if (s->guard.size)
			fprintf(out, "@%s%.*s ", s->negated ? "!" : "", P(s->guard));
		fputs("exit;\n", out);
		return 1;
	}
	if (harmless(s))
		return 0;
	if (opcode_is(s, "cp")) {
		if (!opcode_has(s, "global")) /* waits and groups, and within shared memory */
			return 0;
		if (opcode_has(s, "tensor"))
			return write_tensor(scope, s, reason);
		if (opcode_has(s, "bulk"))
			return write_copy_bulk(out, scope, &n, reason);
		return write_copy_async(out, scope, &n, reason);
	}
	if (!statement_is_access(s))
		return unknown(s) ? refuse(reason, "an access that is not known", s) : 0;
	if (opcode_is(s, "st"))
		return write_store(out, &n, NOTE_WRITE, reason);
	if (opcode_is(s, "red"))
		return write_store(out, &n, NOTE_READ | NOTE_WRITE, reason);
	if (opcode_is(s, "atom"))
		return write_atomic(out, &n, reason);
	return write_load(out, scope, &n, reason);
}
