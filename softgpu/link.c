/* SPDX-License-Identifier: MIT */
/* After the last line: calls to their functions, frames, memory layout, contraction. */
#include "softgpu/link.h"

#include <errno.h>

#include "lib/base.h"

static const struct function_parameters *find_parameters(const struct parser *p, struct slice name)
{
	for (size_t i = p->parameter_count; i-- > 0;)
		if (slice_equal(p->parameters[i].name, name))
			return &p->parameters[i];
	return NULL;
}

/* Functions that have no body here but are known. */
static int link_builtin(struct parser *p, const struct call_use *use)
{
	struct instruction *i = &p->program->code[use->pc];
	const uint32_t *extras = p->program->extras + i->extras;

	if (slice_is(use->name, "__assertfail") && extras[0] == 0 && extras[1] == 5) {
		i->code = CODE_ASSERT;
		return 0;
	}
	if (slice_is(use->name, "vprintf")) {
		i->code = CODE_UNSUPPORTED;
		return 0;
	}
	return parser_error(p, ENOTSUP, "the function %.*s has no body here", (int)use->name.size,
			    use->name.text);
}

/* New extras: number of copies in, (from, to, bytes) each, number of copies out, the same. */
static int link_copies(struct parser *p, struct instruction *i, const struct function_parameters *f)
{
	uint32_t at = i->extras, results = p->program->extras[at], start;
	uint32_t arguments = p->program->extras[at + 1];
	int r;

	if (results != f->result_count || arguments != f->count)
		return parser_error(p, EINVAL, "call with another number of arguments");
	start = (uint32_t)p->program->extra_count;
	r = append_extra(p, arguments);
	for (uint32_t k = 0; k < arguments && !r; k++) {
		uint32_t from = p->program->extras[at + 2 + 2 * (results + k)];
		uint32_t size = p->program->extras[at + 3 + 2 * (results + k)];

		if (size != f->size[results + k])
			return parser_error(p, EINVAL, "argument %u has another size", k);
		r = append_extra(p, from);
		if (!r)
			r = append_extra(p, f->offset[results + k]);
		if (!r)
			r = append_extra(p, size);
	}
	if (!r)
		r = append_extra(p, results);
	for (uint32_t k = 0; k < results && !r; k++) {
		uint32_t to = p->program->extras[at + 2 + 2 * k];
		uint32_t size = p->program->extras[at + 3 + 2 * k];

		if (size != f->size[k])
			return parser_error(p, EINVAL, "result %u has another size", k);
		r = append_extra(p, f->offset[k]);
		if (!r)
			r = append_extra(p, to);
		if (!r)
			r = append_extra(p, size);
	}
	i->extras = start;
	return r;
}

static int link_calls(struct parser *p)
{
	for (size_t c = 0; c < p->call_count; c++) {
		const struct call_use *use = &p->calls[c];
		const struct function_parameters *f = find_parameters(p, use->name);
		struct instruction *i = &p->program->code[use->pc];
		int r;

		p->statement_line = use->line;
		if (!f) {
			r = link_builtin(p, use);
		} else {
			r = link_copies(p, i, f);
			i->d = f->function;
			i->target = p->program->functions[f->function].start;
		}
		if (r)
			return r;
	}
	return 0;
}

static uint32_t function_of(const struct ptx_program *g, uint32_t pc)
{
	for (uint32_t f = 0; f < g->function_count; f++)
		if (g->functions[f].defined && pc >= g->functions[f].start &&
		    pc < g->functions[f].end)
			return f;
	return 0;
}

/* Each function has one frame, so nothing may call itself, not even by detours. */
static int refuse_recursion(struct parser *p)
{
	struct ptx_program *g = p->program;
	_cleanup_free_ uint32_t *depth = calloc(g->function_count + 1, sizeof(*depth));
	bool changed = p->call_count > 0;

	if (!depth)
		return parser_no_memory(p);
	while (changed) {
		changed = false;
		for (size_t c = 0; c < p->call_count; c++) {
			const struct instruction *i = &g->code[p->calls[c].pc];
			uint32_t caller = function_of(g, p->calls[c].pc);

			if (i->code != CODE_CALL || depth[i->d] > depth[caller])
				continue;
			depth[i->d] = depth[caller] + 1;
			changed = true;
			if (depth[i->d] > g->function_count) {
				p->statement_line = p->calls[c].line;
				return parser_error(p, ENOTSUP, "recursion");
			}
		}
	}
	return 0;
}

static int place_frames(struct parser *p)
{
	struct ptx_program *g = p->program;
	uint64_t slots = 0, predicates = 0;

	for (size_t i = 0; i < g->function_count; i++) {
		struct program_function *f = &g->functions[i];

		if (f->is_entry && f->slots > slots)
			slots = f->slots;
		if (f->is_entry && f->predicates > predicates)
			predicates = f->predicates;
	}
	for (size_t i = 0; i < g->function_count; i++) {
		struct program_function *f = &g->functions[i];

		if (f->is_entry || !f->defined)
			continue;
		f->slot_base = (uint32_t)slots;
		f->predicate_base = (uint32_t)predicates;
		slots += f->slots;
		predicates += f->predicates;
		if (slots > 4 * REGISTERS_MAX)
			return parser_error(p, E2BIG, "too many registers");
	}
	g->frame_slots = (uint32_t)slots;
	g->frame_predicates = (uint32_t)predicates;
	return 0;
}

int link_program(struct parser *p)
{
	struct ptx_program *g = p->program;
	uint64_t align = g->dynamic_base > 16 ? g->dynamic_base : 16;
	int r = link_calls(p);

	if (!r)
		r = refuse_recursion(p);
	if (!r)
		r = place_frames(p);
	if (r)
		return r;
	g->dynamic_base = (uint32_t)((p->shared_bytes + align - 1) & ~(align - 1));
	g->local_bytes = (uint32_t)((p->local_bytes + 15) & ~15ull);
	for (size_t i = 0; i < p->module->entry_count; i++) {
		p->module->entries[i].static_shared_bytes = (uint32_t)p->shared_bytes;
		p->module->entries[i].local_bytes = g->local_bytes;
	}
	return program_contract(g) ? parser_no_memory(p) : 0;
}
