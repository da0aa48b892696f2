/* SPDX-License-Identifier: MIT */
/* State of one ptx_module_parse, shared by ptx.c, body.c, operand.c and decode.c. Private. */
#ifndef SOFTGPU_PARSER_H
#define SOFTGPU_PARSER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "softgpu/opcodes.h"
#include "softgpu/program.h"
#include "softgpu/ptx.h"
#include "softgpu/scan.h"
#include "softgpu/spelling.h"

#define OPERANDS_MAX       12
#define VECTOR_MAX         8
#define REGISTERS_MAX      (1u << 20) /* declared in a function */
#define VARIABLE_BYTES_MAX (1ull << 31)

struct register_declaration {
	struct slice prefix; /* the whole name where count is 0 */
	uint32_t count, first, scope;
	enum type type;
};

struct symbol {
	struct slice name;
	enum space space;
	uint32_t scope;  /* 0: module */
	uint64_t offset; /* in its space; SPACE_GLOBAL, SPACE_CONST: index of globals[] */
	uint64_t size;
	bool dynamic_shared; /* its offset is known when the entry is launched */
};

struct label {
	struct slice name;
	uint32_t scope, pc;
};
struct label_use {
	struct slice name;
	uint32_t scope, pc, line;
};
struct call_use {
	uint32_t pc, line;
	struct slice name;
};

/* Formal parameters of a function: offsets in local memory. */
struct function_parameters {
	struct slice name;
	uint32_t function;
	uint32_t result_count, count;
	uint32_t offset[64], size[64]; /* results first */
};

enum operand_kind {
	OPERAND_REGISTER,
	OPERAND_NUMBER,
	OPERAND_SPECIAL,
	OPERAND_SYMBOL,
	OPERAND_ADDRESS,
	OPERAND_VECTOR,
	OPERAND_SINK
};

struct parsed_register {
	uint32_t slot; /* predicate number for TYPE_PRED */
	enum type type;
};

struct operand {
	enum operand_kind kind;
	bool negated;
	bool has_second; /* p|q */
	struct parsed_register reg, second;
	bool second_sink;
	struct number number;
	enum special special;
	const struct symbol *symbol; /* SYMBOL, ADDRESS; NULL: address of a register or number */
	struct slice name;           /* SYMBOL not found: a label or a function */
	int64_t offset;              /* SYMBOL, ADDRESS */
	bool has_register;           /* ADDRESS */
	struct {
		enum operand_kind kind; /* REGISTER, NUMBER or SINK */
		struct parsed_register reg;
		struct number number;
	} items[VECTOR_MAX];
	unsigned count;
};

struct memo {
	struct slice name;
	const struct opcode *opcode;
	struct spelling spelling;
};
#define MEMO_SIZE 1024u

struct parser {
	struct scan scan;
	struct ptx_module *module;
	struct ptx_program *program;
	struct error *err;
	uint32_t statement_line;

	struct symbol *symbols;
	size_t symbol_count, symbol_capacity;
	struct function_parameters *parameters;
	size_t parameter_count, parameter_capacity;
	size_t global_capacity, entry_capacity;
	uint64_t shared_bytes, local_bytes; /* laid out so far */
	uint64_t module_shared_bytes;

	/* the function being parsed */
	uint32_t function;
	struct register_declaration *declarations;
	size_t declaration_count, declaration_capacity;
	uint32_t *slots; /* of each declared register, 0 until used */
	size_t slot_count, slot_capacity;
	uint32_t next_slot, next_predicate;
	uint32_t *scope_parents;
	size_t scope_count, scope_capacity;
	uint32_t scope;
	struct label *labels;
	size_t label_count, label_capacity;
	struct label_use *label_uses;
	size_t label_use_count, label_use_capacity;
	struct call_use *calls; /* of the whole module */
	size_t call_count, call_capacity;

	struct memo *memo; /* MEMO_SIZE */
	uint64_t *constant_keys;
	uint32_t *constant_slots; /* open addressing: slot + 1 */
	size_t constant_capacity, constant_count;
	size_t constant_slot_capacity;
};

/* An error at the statement's line, which is quoted. Returns -code. */
__attribute__((format(printf, 3, 4))) int parser_error(struct parser *p, int code,
						       const char *format, ...);
int parser_no_memory(struct parser *p);

/* body.c: from '{' to the matching '}'. */
int parse_body(struct parser *p);
/* ptx.c: a variable declaration behind .shared, .local, .param ..., which may have several names.
 */
int parse_variables(struct parser *p, enum space space, bool is_extern);
const struct symbol *find_symbol(const struct parser *p, struct slice name);

/* operand.c */
int parse_operand(struct parser *p, struct operand *out);
/* Slot of a name, or false. First use gives it a slot. */
bool find_register(struct parser *p, struct slice name, struct parsed_register *out);
/* A constant of 32 or 64 bits in every lane, as an operand; OPERAND_NONE without memory. */
uint32_t constant_operand(struct parser *p, uint64_t bits, bool wide);
int new_slot(struct parser *p, bool wide, uint32_t *slot);

/* decode.c: appends one instruction. */
int decode_instruction(struct parser *p, struct slice name, uint32_t guard);
int append_instruction(struct parser *p, const struct instruction *i);
int append_extra(struct parser *p, uint32_t value);

#endif
