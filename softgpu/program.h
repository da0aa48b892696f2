/* SPDX-License-Identifier: MIT */
/* What decoding makes of PTX text: a compact array of instructions over numbered register slots. */
#ifndef SOFTGPU_PROGRAM_H
#define SOFTGPU_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "softgpu/ptx.h"

/* Lanes of a warp, and the mask of all of them. */
#define WARP_LANES 32u
#define WARP_FULL  UINT32_MAX

/*
 * Registers and constants are vectors of 32 lanes. A slot holds 32 x 32 bits; a 64-bit value takes
 * two slots, 8- and 16-bit values stand zero-extended in one. An operand is slot << 1, plus 1 if
 * the slot is one of the program's constants and not one of the warp's registers. A predicate
 * operand is predicate << 1, plus 1 if negated; a predicate is a mask of 32 lanes.
 */
#define SLOT_BYTES         128u
#define SLOT_SINK          0u /* two slots: where `_` is written to */
#define SLOT_FIRST         2u
#define PREDICATE_TRUE     0u /* operand 0: always true; operand 1: always false */
#define PREDICATE_SINK     1u
#define PREDICATE_FIRST    2u
#define OPERAND_NONE       UINT32_MAX
#define INSTRUCTIONS_MAX   (1u << 22)
#define BARRIERS_PER_BLOCK 16u
#define ACCESS_BYTES_MOST  32u /* a lane's, with all elements of a vector */

/* Generic addresses: where the windows of the other state spaces lie. Nothing else is that high. */
#define WINDOW_SHARED 0x7e00000000000000ull
#define WINDOW_LOCAL  0x7d00000000000000ull
#define WINDOW_PARAM  0x7c00000000000000ull
#define WINDOW_LOWEST WINDOW_PARAM
#define WINDOW_SIZE   (1ull << 32)

enum space {
	SPACE_GENERIC,
	SPACE_GLOBAL,
	SPACE_SHARED,
	SPACE_LOCAL,
	SPACE_CONST,
	SPACE_PARAM, /* of an entry; those of functions are SPACE_LOCAL */
	SPACE_REG    /* declarations only */
};

/* How an instruction is executed (softgpu/warp.c). */
enum code {
	CODE_NOP,
	CODE_LANES,     /* function: enum lane_function */
	CODE_COMPARE,   /* function: enum compare_function; d, e: predicates; c: predicate; mode:
			   comparison */
	CODE_SET,       /* as COMPARE, d: register; mode2: 1 float result */
	CODE_TEST,      /* testp: d predicate, a; mode */
	CODE_SELECT,    /* d, a, b, c: predicate */
	CODE_PREDICATE, /* d = a op b on predicates; mode: enum predicate_mode */
	CODE_SPECIAL,   /* d = special register; mode */
	CODE_PACK,      /* d = elements a[count] */
	CODE_UNPACK,    /* elements d[count] = a */
	CODE_SYMBOL,    /* d = address by base and offset */
	CODE_LOAD,
	CODE_STORE,
	CODE_ATOMIC,     /* mode: enum atomic_mode; element: type */
	CODE_COPY_ASYNC, /* a: shared, b: global, c: source bytes; count: copied bytes */
	CODE_COPY_COMMIT,
	CODE_COPY_WAIT, /* mode: groups that may stay open; count: 1 what is not committed too */
	CODE_TO_GENERIC,
	CODE_FROM_GENERIC,
	CODE_IS_SPACE,
	CODE_BRANCH, /* target */
	CODE_CALL,   /* function index; extras: copies */
	CODE_RETURN,
	CODE_EXIT,
	CODE_TRAP,
	CODE_ASSERT,       /* __assertfail: extras: local offsets of its parameters */
	CODE_BARRIER,      /* a: id; b: thread count or NONE; mode: enum barrier_mode; d: result */
	CODE_WARP_BARRIER, /* a: members */
	CODE_SHUFFLE,      /* d, e: predicate; a, b, c; members: extras[0] */
	CODE_VOTE,
	CODE_MATCH,
	CODE_REDUCE, /* redux.sync */
	CODE_ELECT,
	CODE_ACTIVE_MASK,
	CODE_LOAD_MATRIX, /* extras: registers[count]; a: address; mode: 1 transposed */
	CODE_STORE_MATRIX,
	CODE_MMA,        /* matrix.c */
	CODE_UNSUPPORTED /* found out only when it runs; text: reason */
};

enum address_base {
	BASE_OPERAND,
	BASE_GLOBAL,  /* a is an index of globals[] */
	BASE_DYNAMIC, /* program->dynamic_base: where dynamic shared memory starts */
};
enum predicate_mode { PREDICATE_AND, PREDICATE_OR, PREDICATE_XOR, PREDICATE_NOT, PREDICATE_MOVE };
enum combine { COMBINE_NONE, COMBINE_AND, COMBINE_OR, COMBINE_XOR };
enum barrier_mode { BARRIER_SYNC, BARRIER_ARRIVE, BARRIER_POPC, BARRIER_AND, BARRIER_OR };
enum shuffle_mode { SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_BFLY, SHUFFLE_IDX };
enum vote_mode { VOTE_ALL, VOTE_ANY, VOTE_UNI, VOTE_BALLOT };
enum reduce_mode { REDUCE_ADD, REDUCE_MIN, REDUCE_MAX, REDUCE_AND, REDUCE_OR, REDUCE_XOR };
enum atomic_mode {
	ATOMIC_ADD,
	ATOMIC_MIN,
	ATOMIC_MAX,
	ATOMIC_AND,
	ATOMIC_OR,
	ATOMIC_XOR,
	ATOMIC_EXCH,
	ATOMIC_CAS,
	ATOMIC_INC,
	ATOMIC_DEC
};
enum special {
	SPECIAL_TID_X,
	SPECIAL_TID_Y,
	SPECIAL_TID_Z,
	SPECIAL_NTID_X,
	SPECIAL_NTID_Y,
	SPECIAL_NTID_Z,
	SPECIAL_CTAID_X,
	SPECIAL_CTAID_Y,
	SPECIAL_CTAID_Z,
	SPECIAL_NCTAID_X,
	SPECIAL_NCTAID_Y,
	SPECIAL_NCTAID_Z,
	SPECIAL_LANEID,
	SPECIAL_WARPID,
	SPECIAL_NWARPID,
	SPECIAL_SMID,
	SPECIAL_NSMID,
	SPECIAL_GRIDID,
	SPECIAL_LANEMASK_EQ,
	SPECIAL_LANEMASK_LT,
	SPECIAL_LANEMASK_LE,
	SPECIAL_LANEMASK_GT,
	SPECIAL_LANEMASK_GE,
	SPECIAL_CLOCK,
	SPECIAL_CLOCK_HI,
	SPECIAL_CLOCK64,
	SPECIAL_GLOBALTIMER,
	SPECIAL_GLOBALTIMER_LO,
	SPECIAL_GLOBALTIMER_HI,
	SPECIAL_DYNAMIC_SMEM,
	SPECIAL_TOTAL_SMEM,
	SPECIAL_ZERO, /* %cluster_ctaid.*, %cluster_ctarank: no clusters yet */
	SPECIAL_ONE,  /* %cluster_nctaid.*, %cluster_nctarank */
	SPECIAL_COUNT
};

/* Element types; see type_bytes. */
enum type {
	TYPE_NONE,
	TYPE_B8,
	TYPE_U8,
	TYPE_S8,
	TYPE_B16,
	TYPE_U16,
	TYPE_S16,
	TYPE_F16,
	TYPE_BF16,
	TYPE_B32,
	TYPE_U32,
	TYPE_S32,
	TYPE_F32,
	TYPE_F16X2,
	TYPE_BF16X2,
	TYPE_TF32,
	TYPE_U16X2,
	TYPE_S16X2,
	TYPE_B64,
	TYPE_U64,
	TYPE_S64,
	TYPE_F64,
	TYPE_E4M3X2,
	TYPE_E5M2X2,
	TYPE_B128,
	TYPE_PRED,
	TYPE_COUNT
};

struct instruction {
	uint16_t code;     /* enum code */
	uint16_t function; /* lane function or the like */
	uint32_t guard;    /* predicate operand */
	uint32_t d, a, b, c, e;
	uint32_t flags;  /* of the lane function; lanes.h */
	uint32_t extras; /* index into program->extras, where used */
	uint8_t mode, space;
	uint8_t element; /* enum type */
	uint8_t count;   /* vector elements */
	bool wide;       /* the destination (load/store: each register) has 64-bit lanes */
	bool wide_address;
	bool strong;    /* volatile, relaxed, acquire, release: orders what other warps see */
	bool contracts; /* float add/sub/mul without a rounding modifier */
	uint8_t base;   /* enum address_base: what the address starts from */
	union {
		int64_t offset; /* of an address */
		uint32_t target;
	};
	uint32_t line;
};

/* A body: an entry or a device function. Its registers are a frame of their own. */
struct program_function {
	const char *name;
	bool is_entry, defined;
	uint32_t start, end; /* instructions */
	uint32_t slots, predicates;
	uint32_t slot_base, predicate_base; /* of its frame in a warp's arenas */
};

struct ptx_program {
	char *text; /* the PTX, NUL-terminated; names point into memory of their own */
	size_t text_size;
	struct instruction *code;
	struct instruction *contracted; /* same length: with mul + add fused */
	uint32_t code_count;
	size_t code_capacity;
	uint8_t *constants; /* 64-byte aligned slots */
	uint32_t constant_slots;
	uint32_t *extras;
	size_t extra_count, extra_capacity;
	struct program_function *functions;
	size_t function_count, function_capacity;
	uint32_t *entry_functions;              /* per ptx_entry: index into functions */
	uint32_t frame_slots, frame_predicates; /* of all frames of one warp */
	uint32_t local_bytes, dynamic_base;
};

/* Bytes of an element type; 0 for TYPE_NONE and TYPE_PRED. */
unsigned type_bytes(enum type t);
bool type_is_float(enum type t); /* also packed ones */
bool type_is_signed(enum type t);
const char *type_name(enum type t);

/* Copies line `line` (from 1) of the text, trimmed, into out. */
void program_line_text(const struct ptx_program *p, uint32_t line, char *out, size_t out_size);

/* Fills p->contracted from p->code. 0 or -ENOMEM. Rules in contract.c. */
int program_contract(struct ptx_program *p);

#endif
