/* SPDX-License-Identifier: MIT */
/* Follows what was loaded from memory to addresses and branches. */
#include "lib/ptx/dependence.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernelab/hash.h"
#include "lib/base.h"

struct name {
	struct piece text;
	unsigned bits;
};

struct flow {
	struct name *names; /* open addressing; room is a power of two */
	size_t count, room;
	const struct piece *params;
	size_t param_count;
	unsigned shared, local, call; /* what these spaces may hold */
	unsigned reach;
	bool changed, no_memory;
};

/* ---- names ---- */

static struct name *slot(const struct flow *f, struct piece text)
{
	size_t i = hash_bytes(text.at, text.size).low & (f->room - 1);

	while (f->names[i].text.size && !piece_equal(f->names[i].text, text))
		i = (i + 1) & (f->room - 1);
	return &f->names[i];
}

static bool grow(struct flow *f)
{
	struct flow bigger = *f;

	bigger.room = f->room ? 2 * f->room : 1024;
	bigger.names = calloc(bigger.room, sizeof(*bigger.names));
	if (!bigger.names)
		return false;
	for (size_t i = 0; i < f->room; i++)
		if (f->names[i].text.size)
			*slot(&bigger, f->names[i].text) = f->names[i];
	free(f->names);
	*f = bigger;
	return true;
}

static void merge(struct flow *f, unsigned *into, unsigned bits)
{
	if (bits & ~*into)
		f->changed = true;
	*into |= bits;
}

static void name_add(struct flow *f, struct piece text, unsigned bits)
{
	struct name *n;

	if (!bits)
		return; /* a name that is not there depends on nothing */
	if (2 * (f->count + 1) > f->room && !grow(f)) {
		f->no_memory = true;
		return;
	}
	n = slot(f, text);
	if (!n->text.size) {
		n->text = text;
		f->count++;
	}
	merge(f, &n->bits, bits);
}

static unsigned name_bits(const struct flow *f, struct piece text)
{
	return f->room ? slot(f, text)->bits : 0;
}

static unsigned bits_of(const struct flow *f, struct piece operand)
{
	unsigned bits = 0;
	size_t at = 0;

	for (struct piece n; (n = name_next(operand, &at)).size;)
		bits |= name_bits(f, n);
	return bits;
}

static void set(struct flow *f, struct piece operand, unsigned bits)
{
	size_t at = 0;

	for (struct piece n; (n = name_next(operand, &at)).size;)
		name_add(f, n, bits);
}

static unsigned bits_from(const struct flow *f, const struct statement *s, size_t first)
{
	unsigned bits = 0;

	for (size_t i = first; i < s->operand_count; i++)
		bits |= bits_of(f, s->operands[i]);
	return bits;
}

/* ---- opcodes ---- */

static bool is_shared(const struct statement *s)
{
	return opcode_has(s, "shared") || opcode_has(s, "shared::cta") ||
	       opcode_has(s, "shared::cluster");
}

static bool no_space(const struct statement *s)
{
	return !is_shared(s) && !opcode_has(s, "global") && !opcode_has(s, "local") &&
	       !opcode_has(s, "const") && !opcode_has(s, "param") &&
	       !opcode_has(s, "param::entry") && !opcode_has(s, "param::func");
}

bool statement_is_access(const struct statement *s)
{
	static const char *const plain[] = {"ld", "ldu", "st", "atom", "red"};

	for (size_t i = 0; i < ARRAY_LENGTH(plain); i++)
		if (opcode_is(s, plain[i]))
			return opcode_has(s, "global") || no_space(s);
	return (opcode_is(s, "cp") && opcode_has(s, "global") && !opcode_has(s, "prefetch"));
}

/* Loads whose value may be another thread's of the same launch. */
static bool synchronises(const struct statement *s)
{
	return opcode_has(s, "volatile") || opcode_has(s, "relaxed") || opcode_has(s, "acquire") ||
	       opcode_has(s, "mmio");
}

static bool kernel_parameter(const struct flow *f, struct piece operand)
{
	size_t at = 0;
	struct piece name = name_next(operand, &at);

	for (size_t i = 0; i < f->param_count; i++)
		if (piece_equal(name, f->params[i]))
			return true;
	return false;
}

static void load(struct flow *f, const struct statement *s, unsigned guard)
{
	unsigned bits = guard | bits_from(f, s, 1), from = 0;
	bool any = no_space(s);

	if (any || opcode_has(s, "global"))
		from |= synchronises(s) ? DEPENDS_ATOMIC : DEPENDS_CONTENTS;
	if (any || is_shared(s))
		from |= f->shared;
	if (any || opcode_has(s, "local"))
		from |= f->local;
	if ((opcode_has(s, "param") || opcode_has(s, "param::func")) && s->operand_count > 1 &&
	    !kernel_parameter(f, s->operands[1]))
		from |= f->call;
	if (s->operand_count)
		set(f, s->operands[0], bits | from);
	if (s->operand_count > 1)
		merge(f, &f->reach, bits_of(f, s->operands[1]));
}

/* st, red and whatever else puts values somewhere. */
static void store(struct flow *f, const struct statement *s, unsigned guard)
{
	unsigned bits = guard | bits_from(f, s, 0);
	bool any = no_space(s);

	if (any || is_shared(s))
		merge(f, &f->shared, bits);
	if (any || opcode_has(s, "local"))
		merge(f, &f->local, bits);
	if (opcode_has(s, "param") || opcode_has(s, "param::func"))
		merge(f, &f->call, bits);
	if (s->operand_count)
		merge(f, &f->reach, bits_of(f, s->operands[0]));
}

static void atomic(struct flow *f, const struct statement *s, unsigned guard)
{
	unsigned bits = guard | bits_from(f, s, 1);
	bool any = no_space(s);

	if (any || is_shared(s))
		merge(f, &f->shared, bits);
	if (any || opcode_has(s, "global"))
		bits |= DEPENDS_ATOMIC;
	if (s->operand_count)
		set(f, s->operands[0], bits | (any || is_shared(s) ? f->shared : 0));
	if (s->operand_count > 1)
		merge(f, &f->reach, bits_of(f, s->operands[1]));
}

/* Copies between spaces: all operands are addresses, sizes and barriers. */
static void copy(struct flow *f, const struct statement *s)
{
	if (opcode_has(s, "global"))
		merge(f, &f->shared, DEPENDS_CONTENTS);
	merge(f, &f->reach, bits_from(f, s, 0));
}

static bool in(const struct statement *s, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (opcode_is(s, list[i]))
			return true;
	return false;
}

static void follow(struct flow *f, const struct statement *s)
{
	static const char *const control[] = {"bra",     "brx",      "call",      "ret",
					      "exit",    "trap",     "bar",       "brkpt",
					      "barrier", "mbarrier", "setmaxnreg"};
	static const char *const nothing[] = {"membar",    "fence",     "prefetch",
					      "prefetchu", "nanosleep", "griddepcontrol",
					      "pmevent"};
	static const char *const from_shared[] = {"ldmatrix", "wgmma", "tcgen05"};
	unsigned guard = s->guard.size ? name_bits(f, s->guard) : 0;

	if (statement_is_access(s))
		merge(f, &f->reach, guard);
	if (in(s, control, ARRAY_LENGTH(control))) {
		merge(f, &f->reach, guard);
		if (!opcode_is(s, "call"))
			merge(f, &f->reach, bits_from(f, s, 0));
	} else if (opcode_is(s, "ld") || opcode_is(s, "ldu")) {
		load(f, s, guard);
	} else if (opcode_is(s, "st") || opcode_is(s, "red") || opcode_is(s, "stmatrix")) {
		store(f, s, guard);
	} else if (opcode_is(s, "atom")) {
		atomic(f, s, guard);
	} else if (opcode_is(s, "cp")) {
		copy(f, s);
	} else if (!in(s, nothing, ARRAY_LENGTH(nothing)) && s->operand_count) {
		unsigned bits = guard | bits_from(f, s, 1);

		if (in(s, from_shared, ARRAY_LENGTH(from_shared)))
			bits |= f->shared;
		set(f, s->operands[0], bits);
	}
}

int dependence_find(struct dependence *out, const struct statement *body, size_t count,
		    const struct piece *params, size_t param_count)
{
	struct flow f = {.params = params, .param_count = param_count, .changed = true};

	while (f.changed && !f.no_memory) {
		f.changed = false;
		for (size_t i = 0; i < count; i++)
			if (body[i].kind == STATEMENT_INSTRUCTION)
				follow(&f, &body[i]);
	}
	out->reach = f.reach;
	free(f.names);
	return f.no_memory ? -ENOMEM : 0;
}
