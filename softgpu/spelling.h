/* SPDX-License-Identifier: MIT */
/* An instruction's name cut at its dots, and matched with the grammar of a row of the opcode table.
 */
#ifndef SOFTGPU_SPELLING_H
#define SOFTGPU_SPELLING_H

#include <stdbool.h>
#include <stdint.h>

#include "softgpu/program.h"
#include "softgpu/scan.h"

/* Modifiers that change what is executed; M(id, spelling). All others (cache hints) are only
 * checked. */
/* clang-format off */
#define MODIFIERS(M) \
	M(RN, "rn") M(RZ, "rz") M(RM, "rm") M(RP, "rp") M(RNA, "rna") \
	M(RNI, "rni") M(RZI, "rzi") M(RMI, "rmi") M(RPI, "rpi") \
	M(FTZ, "ftz") M(SAT, "sat") M(SATFINITE, "satfinite") M(RELU, "relu") M(NAN_, "NaN") \
	M(XORSIGN, "xorsign") M(ABS, "abs") M(APPROX, "approx") M(FULL, "full") \
	M(LO, "lo") M(HI, "hi") M(WIDE, "wide") M(SHIFTAMT, "shiftamt") \
	M(EQ, "eq") M(NE, "ne") M(LT, "lt") M(LE, "le") M(GT, "gt") M(GE, "ge") \
	M(LS, "ls") M(HS, "hs") \
	M(EQU, "equ") M(NEU, "neu") M(LTU, "ltu") M(LEU, "leu") M(GTU, "gtu") M(GEU, "geu") \
	M(NUM, "num") M(NAN, "nan") \
	M(AND, "and") M(OR, "or") M(XOR, "xor") M(ADD, "add") M(MIN, "min") M(MAX, "max") \
	M(EXCH, "exch") M(CAS, "cas") M(INC, "inc") M(DEC, "dec") M(POPC, "popc") \
	M(GENERIC, "generic") M(GLOBAL, "global") M(SHARED, "shared") M(SHARED_CTA, "shared::cta") \
	M(LOCAL, "local") M(CONST, "const") M(PARAM, "param") M(TO, "to") \
	M(V2, "v2") M(V4, "v4") M(V8, "v8") \
	M(UP, "up") M(DOWN, "down") M(BFLY, "bfly") M(IDX, "idx") \
	M(ALL, "all") M(ANY, "any") M(UNI, "uni") M(BALLOT, "ballot") \
	M(SYNC, "sync") M(ARRIVE, "arrive") M(RED, "red") M(WARP, "warp") \
	M(L, "l") M(R, "r") M(WRAP, "wrap") M(CLAMP, "clamp") \
	M(F4E, "f4e") M(B4E, "b4e") M(RC8, "rc8") M(ECL, "ecl") M(ECR, "ecr") M(RC16, "rc16") \
	M(FINITE, "finite") M(INFINITE, "infinite") M(NUMBER, "number") \
	M(NOTANUMBER, "notanumber") M(NORMAL, "normal") M(SUBNORMAL, "subnormal") \
	M(CA, "ca") M(CG, "cg") M(ROW, "row") M(COL, "col") M(TRANS, "trans") \
	M(X1, "x1") M(X2, "x2") M(X4, "x4") \
	M(VOLATILE, "volatile") M(RELAXED, "relaxed") M(ACQUIRE, "acquire") M(RELEASE, "release") \
	M(ACQ_REL, "acq_rel") M(MMIO, "mmio") \
	M(M16N8K4, "m16n8k4") M(M16N8K8, "m16n8k8") M(M16N8K16, "m16n8k16")
/* clang-format on */

enum modifier {
	MODIFIER_NONE,
#define M(id, text) MODIFIER_##id,
	MODIFIERS(M)
#undef M
		MODIFIER_COUNT
};

#define SPELLING_PARTS_MAX 20

struct spelling {
	uint8_t modifiers[SPELLING_PARTS_MAX]; /* in order, without MODIFIER_NONE */
	uint8_t modifier_count;
	uint8_t types[4]; /* enum type, in order */
	uint8_t type_count;
};

/*
 * Matches `name` ("add.rn.f32") with base "add" and a grammar: groups between blanks, alternatives
 * between bars, '?' behind an optional group: "rn|rz? ftz? f32|f64". Each part takes the first
 * unused group that has it, so the order of modifiers is not checked; types keep theirs.
 */
bool spelling_match(struct slice name, const char *base, const char *grammar, struct spelling *out);

bool spelling_has(const struct spelling *s, enum modifier m);
/* The first of the modifiers from..to (inclusive, in the order of MODIFIERS), or MODIFIER_NONE. */
enum modifier spelling_find(const struct spelling *s, enum modifier from, enum modifier to);

#endif
