/* SPDX-License-Identifier: MIT */
/*
 * The registry of everything a bundle holds: one row a record type, one row a field with its
 * number on disk. From these rows come the C structs below, the MessagePack encoder and decoder
 * (lib/bundle/codec.c), and the tables of docs/format.md (a test compares them).
 *
 * A field that is zero, NULL or empty is not written; an absent field reads as zero, NULL or empty.
 * Numbers are never reused. A decoder refuses unknown field numbers and names them.
 *
 * Field kinds:
 *   U32 U64 I64 F64 BOOL   numbers
 *   STR                    const char *, UTF-8, NUL-terminated; NULL = absent
 *   BYTES                  struct bytes
 *   HASH                   struct hash128 (16 bytes on disk, high first, each little-endian)
 *   DIM3                   uint32_t[3], x y z
 *   STRS U64S HASHES       struct strs / u64s / hashes: counted arrays
 *   ARRAY                  counted array of another record: `struct { struct record_x *items;
 * size_t count; }` Owner of what a decoded record points to: the arena of the bundle it was read
 * from.
 */
#ifndef KERNELAB_RECORDS_H
#define KERNELAB_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernelab/hash.h"

struct bytes {
	const void *data;
	size_t size;
};
struct strs {
	const char **items;
	size_t count;
};
struct u64s {
	uint64_t *items;
	size_t count;
};
struct hashes {
	struct hash128 *items;
	size_t count;
};

/* ---- enumerations, stored as U32 ---- */

/* E(id, value, name in reports) */
#define IMAGE_KINDS(E) \
	E(UNKNOWN, 0, "unknown") E(CUBIN, 1, "cubin") E(PTX, 2, "ptx") E(FATBIN, 3, "fatbin")
#define ORIGINS(E)           \
	E(OTHER, 0, "other") \
	E(TRITON, 1, "triton") E(TLX, 2, "tlx") E(INDUCTOR, 3, "inductor") E(TEST, 4, "test")
#define MEMORY_KINDS(E)                \
	E(UNKNOWN, 0, "unknown")       \
	E(ALLOCATION, 1, "allocation") \
	E(VMM, 2, "vmm") E(MANAGED, 3, "managed") E(HOST, 4, "host") E(GLOBAL, 5, "module global")
#define SIDES(E) E(A, 0, "A") E(B, 1, "B")
#define PAIRINGS(E)                            \
	E(EXACT, 0, "exact")                   \
	E(SOURCE_CHANGED, 1, "source changed") \
	E(A_ONLY, 2, "A only")                 \
	E(B_ONLY, 3, "B only") E(AMBIGUOUS, 4, "ambiguous") E(BY_RULE, 5, "by rule")
#define FIDELITIES(E)                              \
	E(UNTESTED, 0, "untested")                 \
	E(FAITHFUL, 1, "faithful")                 \
	E(NONDETERMINISTIC, 2, "nondeterministic") \
	E(UNFAITHFUL, 3, "unfaithful")             \
	E(DERIVED, 4, "derived")
#define TRIALS(E)                                                                                \
	E(REPEAT, 0, "repeat")                                                                   \
	E(POISON, 1, "poison")                                                                   \
	E(PERTURBED, 2, "perturbed")         /* float inputs moved by a relative step */         \
	E(EXACT_INTEGER, 3, "exact-integer") /* float inputs replaced by small integers */       \
	E(BACK_TO_BACK, 4, "back-to-back")   /* several launches, nothing restored between */    \
	E(SCALED, 5, "scaled")               /* float inputs times a power of two */             \
	E(GUARD, 6, "guard")                 /* a pattern around what the launch touches */      \
	E(RACE, 7, "race")                   /* its PTX on the CPU: unordered shared accesses */ \
	E(DISTURBED, 8, "disturbed")         /* recorded inputs, other timing */                 \
	E(SIBLING, 9, "sibling") /* A compiled with another num_warps, on recorded inputs */
#define TRIAL_STATUSES(E)                                                                      \
	E(OK, 0, "ok")                                                                         \
	E(VOID, 1, "void") /* its precondition did not hold: says nothing about either side */ \
	E(LAUNCH_ERROR, 2, "launch error")                                                     \
	E(FAULT, 3, "fault") E(HANG, 4, "hang") E(CRASH, 5, "worker crash")

#define ENUM_VALUE(prefix, id, value) prefix##id = value
#define E(id, value, name)            ENUM_VALUE(IMAGE_, id, value),
enum image_kind { IMAGE_KINDS(E) };
#undef E
#define E(id, value, name) ENUM_VALUE(ORIGIN_, id, value),
enum origin { ORIGINS(E) };
#undef E
#define E(id, value, name) ENUM_VALUE(MEMORY_, id, value),
enum memory_kind { MEMORY_KINDS(E) };
#undef E
#define E(id, value, name) ENUM_VALUE(SIDE_, id, value),
enum side { SIDES(E) SIDE_COUNT = 2 };
#undef E
#define E(id, value, name) ENUM_VALUE(PAIRING_, id, value),
enum pairing { PAIRINGS(E) };
#undef E
#define E(id, value, name) ENUM_VALUE(FIDELITY_, id, value),
enum fidelity { FIDELITIES(E) };
#undef E
#define E(id, value, name) ENUM_VALUE(TRIAL_, id, value),
enum trial_kind { TRIALS(E) TRIAL_KINDS };
#undef E
#define E(id, value, name) ENUM_VALUE(TRIAL_STATUS_, id, value),
enum trial_status { TRIAL_STATUSES(E) };
#undef E

/* "cubin", "inductor", …; "?" for a value outside the table. Static storage. */
const char *image_kind_name(uint32_t v);
const char *origin_name(uint32_t v);
const char *memory_kind_name(uint32_t v);
const char *side_name(uint32_t v);
const char *pairing_name(uint32_t v);
const char *fidelity_name(uint32_t v);
const char *trial_kind_name(uint32_t v);
const char *trial_status_name(uint32_t v);

/* LAUNCH.flags */
#define LAUNCH_IN_CAPTURE                                                      \
	(1u << 0) /* recorded while its stream was being captured: no contents \
		   */
#define LAUNCH_NO_DATA          (1u << 1) /* --no-data: no contents wanted */
#define LAUNCH_CONTENTS_MISSING (1u << 2) /* contents wanted, not obtained: see note */
#define LAUNCH_COOPERATIVE      (1u << 3)
#define LAUNCH_PARAMS_UNKNOWN   (1u << 4) /* the driver gave no layout: params is empty */
#define LAUNCH_SWEEP            (1u << 5) /* an autotuner's: see sweep, which names the first of it */
#define LAUNCH_BENCHMARK        (1u << 6) /* Inductor's compile-time benchmark, on random data */

/* EXTENT.flags */
#define EXTENT_IN_PLACE (1u << 0) /* the launch reads these bytes too: poison does not apply */
/* The PTX of A, of B adds floats to it atomically: no order of the additions is promised. */
#define EXTENT_ADDED_A (1u << 1)
#define EXTENT_ADDED_B (1u << 2)
/* sin.approx or cos.approx on the way: their documented error holds for |x| <= 2 pi */
#define EXTENT_PERIODIC (1u << 3)

/* ---- sub-records: F(number, kind, name, what it is) ---- */

#define RECORD_PARAM(F, A)                                       \
	F(1, U32, offset, "byte offset in the parameter buffer") \
	F(2, U32, size, "bytes")

#define RECORD_ATTRIBUTE(F, A)               \
	F(1, U32, id, "CUlaunchAttributeID") \
	F(2, BYTES, value, "CUlaunchAttributeValue, trailing zeros cut")

#define RECORD_REGION(F, A)                                                                        \
	F(1, U64, base, "virtual address of the first byte")                                       \
	F(2, U64, size, "bytes")                                                                   \
	F(3, U32, memory, "enum memory_kind")                                                      \
	F(4, U64, reservation_base, "VMM: first address of the whole reservation")                 \
	F(5, U64, reservation_size, "VMM: bytes of the whole reservation")                         \
	F(6, U64S, param_offsets, "byte offsets in the parameter buffer of words that point here") \
	F(7, STR, name, "module global: its symbol")                                               \
	F(8, HASHES, chunks,                                                                       \
	  "contents before the launch, one key a chunk of its address range; zero in a measured "  \
	  "launch: it touches nothing of the chunk, not recorded")                                 \
	F(9, STR, note, "why contents are missing or bounded")                                     \
	F(10, U64S, reads, "measured: what is read, ascending pairs of offset and bytes")          \
	F(11, U64S, writes, "measured: what is written, likewise")                                 \
	F(12, U32, dtype, "module global: enum dtype of its elements, where PTX declares it")      \
	F(13, BOOL, constant, "module global: in a constant bank, never written by a kernel")

#define RECORD_CHANGE(F, A)                                  \
	F(1, U32, region, "index into the launch's regions") \
	F(2, U64, chunk, "index into the region's chunks")   \
	F(3, HASH, key, "contents after the launch")

#define RECORD_ARG(F, A)                                                     \
	F(1, STR, name, "argument name in the kernel's source")              \
	F(2, STR, type, "Triton IR type, e.g. !tt.ptr<bf16>")                \
	F(3, U32, dtype, "enum dtype: of the element where it is a pointer") \
	F(4, BOOL, pointer, "points to global memory")                       \
	F(5, U32, divisibility, "tt.divisibility, 0 if none")

#define RECORD_EXTENT(F, A)                                                                      \
	F(1, U64, address, "first byte")                                                         \
	F(2, U64, size, "bytes")                                                                 \
	F(3, U32, arg, "index into the family's args, plus one; 0 = none known")                 \
	F(4, U32, dtype, "enum dtype of the elements")                                           \
	F(5, U32, flags, "EXTENT_*")                                                             \
	F(6, F64, roundoff, "u: largest unit roundoff on the way to its stores in A; 0 unknown") \
	F(7, STR, roundoff_how, "what u comes from")                                             \
	F(8, STR, global, "module global that it lies in; its address is a stand-in then")       \
	F(9, F64, function, "greatest documented error of approximate functions on that way")    \
	F(10, U64, serial, "additions one after the other in A's loops; 0 unknown")

#define RECORD_CONTENT(F, A) F(1, HASHES, chunks, "one key a chunk of the extent's address range")

/* ---- records of a capture ---- */

#define RECORD_RUN(F, A)                                                  \
	F(1, STR, tool_version, "kernelab's version")                     \
	F(2, STRS, command, "argv of the recorded program, or of replay") \
	F(3, STR, directory, "working directory")                         \
	F(4, STR, host, "host name")                                      \
	F(5, U64, pid, "process")                                         \
	F(6, U64, start_ns, "Unix time")                                  \
	F(7, BOOL, no_data, "geometry and metadata only")                 \
	F(8, STR, rank, "RANK, SLURM_PROCID or LOCAL_RANK with its name, e.g. RANK=3")

/* A FACT of a result: "FILE: WHY" of a recording that a side is from and that lacks something. */
#define FACT_PARTIAL_RECORDING "replay.partial_recording"
/* FACTs of a result: seconds, bytes and counts of the replay (docs/replay.md, What it costs). */
#define FACT_COST "replay.cost."

#define RECORD_FACT(F, A)                                                                        \
	F(1, STR, name, "dotted name, e.g. torch.version, env.TRITON_PTXAS_PATH, context.model") \
	F(2, STR, value, "its value")                                                            \
	F(3, STR, how, "how it was determined")

#define RECORD_DEVICE(F, A)                                         \
	F(1, U32, ordinal, "CUdevice")                              \
	F(2, STR, name, "cuDeviceGetName")                          \
	F(3, U32, cc_major, "compute capability")                   \
	F(4, U32, cc_minor, "compute capability")                   \
	F(5, U64, memory_bytes, "cuDeviceTotalMem")                 \
	F(6, U32, driver_version, "cuDriverGetVersion, e.g. 13000") \
	F(7, BOOL, software, "kernelab's software device")

#define RECORD_IMAGE(F, A)                                                             \
	F(1, HASH, id, "XXH3-128 of the bytes")                                        \
	F(2, U32, kind, "enum image_kind")                                             \
	F(3, U64, size, "bytes")                                                       \
	F(4, HASHES, chunks, "the bytes, cut every CHUNK_BYTES from offset 0")         \
	F(5, U32, origin, "enum origin")                                               \
	F(6, STR, origin_how, "which rule of lib/origin.h decided")                    \
	F(7, STR, loader, "driver entry that loaded it")                               \
	F(8, STR, path, "file it was loaded from, where known")                        \
	F(9, STR, cache_entry, "Triton cache folder with the same cubin, where found") \
	F(10, STR, ptxas, "version of the ptxas that made it")                         \
	F(11, STR, ptxas_how, "how that was determined")

#define RECORD_FILE(F, A)                                               \
	F(1, HASH, image, "image it belongs to; zero: the whole run")   \
	F(2, STR, name, "file name without folder, e.g. matmul_k.json") \
	F(3, STR, path, "where it was read")                            \
	F(4, U64, size, "bytes")                                        \
	F(5, HASHES, chunks, "the bytes, cut every CHUNK_BYTES from offset 0")

#define RECORD_KERNEL(F, A)                                                   \
	F(1, U32, number, "from 0, unique in the bundle")                     \
	F(2, HASH, image, "image id")                                         \
	F(3, STR, entry, "entry name")                                        \
	A(4, PARAM, param, params, "layout of the parameter buffer")          \
	F(5, STR, params_how, "cuFuncGetParamInfo, or .nv.info")              \
	F(6, U32, registers, "CU_FUNC_ATTRIBUTE_NUM_REGS")                    \
	F(7, U32, static_shared_bytes, "CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES") \
	F(8, U32, local_bytes, "CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES")          \
	F(9, U32, max_dynamic_shared_bytes,                                   \
	  "CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES at its first launch")

#define RECORD_TENSOR_MAP(F, A)                                                           \
	F(1, BYTES, descriptor, "the 128 bytes of the CUtensorMap")                       \
	F(2, STR, call, "driver entry: cuTensorMapEncodeTiled or …Im2col")                \
	F(3, U32, data_type, "CUtensorMapDataType")                                       \
	F(4, U64, address, "globalAddress")                                               \
	F(5, U64S, dims, "globalDim, one a dimension (rank = count)")                     \
	F(6, U64S, strides_bytes, "globalStrides, rank - 1")                              \
	F(7, U64S, box, "boxDim; none of Im2col")                                         \
	F(8, U64S, element_strides, "elementStrides")                                     \
	F(9, U32, interleave, "CUtensorMapInterleave")                                    \
	F(10, U32, swizzle, "CUtensorMapSwizzle")                                         \
	F(11, U32, l2_promotion, "CUtensorMapL2promotion")                                \
	F(12, U32, oob_fill, "CUtensorMapFloatOOBfill")                                   \
	F(13, U64S, lower_corner, "Im2col: pixelBoxLowerCorner, sign-extended, rank - 2") \
	F(14, U64S, upper_corner, "Im2col: pixelBoxUpperCorner, sign-extended, rank - 2") \
	F(15, U32, channels, "Im2col: channelsPerPixel")                                  \
	F(16, U32, pixels, "Im2col: pixelsPerColumn")

#define RECORD_LAUNCH(F, A)                                                                    \
	F(1, U64, seq, "number of the launch among all launches of the process, from 1")       \
	F(2, U32, kernel, "KERNEL.number")                                                     \
	F(3, DIM3, grid, "blocks")                                                             \
	F(4, DIM3, block, "threads")                                                           \
	F(5, U32, shared_bytes, "dynamic shared memory")                                       \
	A(6, ATTRIBUTE, attribute, attributes, "launch attributes in their order")             \
	F(7, BYTES, params, "parameter buffer, laid out as KERNEL.params")                     \
	F(8, U64, stream, "CUstream handle")                                                   \
	F(9, U32, device, "CUdevice")                                                          \
	F(10, U64, context, "CUcontext handle")                                                \
	F(11, U32, flags, "LAUNCH_*")                                                          \
	F(12, HASH, shape_class, "hash of grid, integer scalars and pointer alignments")       \
	F(13, STR, call, "driver entry that launched it")                                      \
	A(14, REGION, region, regions, "memory its parameters reach, and module globals")      \
	F(15, U64, time_ns, "Unix time")                                                       \
	F(16, STR, note, "why something is missing")                                           \
	F(17, BOOL, measured, "what is in no pair of its regions is not read or written")      \
	F(18, STR, extents, "why its extents are not measured, or what limits them")           \
	F(19, U64, sweep, "seq of the first launch of its sweep; 0: none, or it is the first") \
	F(20, HASH, inputs, "hash of the parameters but for scratch and descriptors")          \
	F(21, STR, test,                                                                       \
	  "existing test that ran: PYTEST_CURRENT_TEST but for its last word, cut at 4096 bytes")

#define RECORD_AFTER(F, A)                                           \
	F(1, U64, seq, "LAUNCH.seq")                                 \
	F(2, I64, result, "CUresult of the launch call")             \
	F(3, I64, sync_result, "CUresult of waiting for its stream") \
	A(4, CHANGE, change, changes, "chunks whose contents differ from before")

/*
 * Counts since the last record of the same class: a reader adds them up. They are written every few
 * seconds, so that a killed process loses little; for UNRECORDED the same holds.
 */
#define RECORD_CLASS(F, A)                                          \
	F(1, U32, kernel, "KERNEL.number")                          \
	F(2, HASH, shape_class, "as LAUNCH.shape_class")            \
	F(3, DIM3, grid, "blocks")                                  \
	F(4, U64, seen, "launches of this class")                   \
	F(5, U64, recorded, "of which LAUNCH records were written") \
	F(6, STR, reason, "why the others were not recorded")

#define RECORD_UNRECORDED(F, A)                                                             \
	F(1, STR, name, "kernel name")                                                      \
	F(2, U32, origin, "enum origin")                                                    \
	F(3, U64, launches, "how many, beyond those of earlier records of the same kernel") \
	F(4, STR, reason, "why")

#define RECORD_END(F, A)                                                        \
	F(1, BOOL, clean, "the process ended by itself and nothing is missing") \
	F(2, STR, incomplete, "what went wrong, where clean is false")          \
	F(3, U64, launches, "launches seen")                                    \
	F(4, U64, recorded, "launches recorded")                                \
	F(5, U64, time_ns, "Unix time")

/* ---- records of a replay's result ---- */

#define RECORD_SIDE(F, A)                                                   \
	F(1, U32, side, "enum side")                                        \
	F(2, STR, source, "SOURCE as given: recorded, or a path")           \
	F(3, STR, version, "e.g. triton 3.6.0, ptxas 12.8.93; unspecified") \
	F(4, STR, commit, "commit; unspecified")                            \
	F(5, STR, how, "how version and commit were determined")            \
	A(6, FACT, fact, facts, "facts of the run that made the kernels")

#define RECORD_FAMILY(F, A)                                                 \
	F(1, HASH, key, "entry, argument names and types, source location") \
	F(2, STR, name, "entry name")                                       \
	F(3, U32, origin, "enum origin")                                    \
	F(4, STR, source, "source file")                                    \
	F(5, U32, line, "line in it")                                       \
	A(6, ARG, arg, args, "in order, without hidden scratch")

#define RECORD_CONFIG(F, A)                                                \
	F(1, U32, number, "from 0, unique in the result")                  \
	F(2, HASH, family, "FAMILY.key")                                   \
	F(3, HASH, key, "config key")                                      \
	F(4, STR, options, "for people: num_warps=4 num_stages=3 64x32")   \
	F(5, U32, pairing, "enum pairing")                                 \
	F(6, HASH, a_image, "image of A; zero if none")                    \
	F(7, HASH, b_image, "image of B; zero if none")                    \
	F(8, BOOL, tested, "at least one case ran on both sides")          \
	F(9, STR, reason, "why it was not tested")                         \
	F(10, BOOL, same_code, "machine code (.text) of A and B is equal") \
	F(11, BOOL, same_ptx, "canonical PTX of A and B is equal")         \
	F(12, STR, a_ptxas, "IMAGE.ptxas of A")                            \
	F(13, STR, b_ptxas, "IMAGE.ptxas of B")                            \
	F(14, STR, a_python, "SHA-256 of A's Python source, as noted")     \
	F(15, STR, b_python, "SHA-256 of B's")                             \
	F(16, STR, stand_in, "it has no launch of its own: on whose it was run")

#define RECORD_CASE(F, A)                                                                \
	F(1, U32, number, "from 0, unique in the result")                                \
	F(2, U32, config, "CONFIG.number")                                               \
	F(3, STR, bundle, "file name of the bundle the launch comes from")               \
	F(4, U64, seq, "LAUNCH.seq in it")                                               \
	F(5, DIM3, grid, "blocks")                                                       \
	F(6, HASH, shape_class, "of the launch")                                         \
	F(7, U32, fidelity, "enum fidelity")                                             \
	F(8, STR, fidelity_reason, "what was established")                               \
	A(9, EXTENT, extent, extents, "write extents: what TRIAL.contents lists")        \
	F(10, STR, params, "for people: scalars and pointers of the launch")             \
	F(11, STR, repro, "command that replays this case alone")                        \
	F(12, HASH, inputs,                                                              \
	  "scalars, pointers and memory before the launch, without what it only writes") \
	F(13, STR, derived,                                                              \
	  "not recorded: what was changed in launch seq, e.g. n: 4080 in place of 4096") \
	F(14, BOOL, test, "launched by existing tests, not by the model")

#define RECORD_TRIAL(F, A)                                                                         \
	F(1, U32, test_case, "CASE.number")                                                        \
	F(2, U32, side, "enum side")                                                               \
	F(3, U32, kind, "enum trial_kind")                                                         \
	F(4, U32, index, "of its kind: repeat number, or poison pattern")                          \
	F(5, U32, status, "enum trial_status")                                                     \
	F(6, STR, reason, "where status is not ok")                                                \
	F(7, F64, time_us, "kernel time, 0 if not measured")                                       \
	A(8, CONTENT, content, contents, "one an extent, in CASE.extents' order; empty if not ok") \
	F(9, U64, stray_bytes, "bytes changed outside the case's extents")                         \
	F(10, U64, stray_address, "first of them")                                                 \
	F(11, U64, unwritten_bytes,                                                                \
	  "poison: bytes that still hold the pattern although A writes them")                      \
	F(12, U64, unwritten_address, "first of them")                                             \
	F(13, F64, step, "perturbed, scaled: relative step h of the float inputs")                 \
	F(14, U64, seed, "perturbed, exact-integer, scaled: chooses directions or values")         \
	F(15, U32, launches, "back-to-back: launches in a row")                                    \
	F(16, F64, scale, "scaled: float inputs times this")                                       \
	F(17, BOOL, zeroed, "scaled: floats that are updated in place begin as zero")              \
	F(18, U64, races, "race: accesses to shared memory that nothing orders")                   \
	F(19, STR, race, "race: the first of them, for people")                                    \
	F(20, STR, how,                                                                            \
	  "disturbed: by what; sibling: its options, e.g. num_warps=8 in place of 4")              \
	F(21, BOOL, unstored,                                                                      \
	  "ok, without contents; of B: every byte of the extents was A's; a later record of the "  \
	  "same trial takes its place")

/* What crossing the sides' compiler stages told of a family: A's PTX through B's ptxas, and so on.
 */
#define RECORD_STAGE(F, A)                                                                       \
	F(1, HASH, family, "FAMILY.key")                                                         \
	F(2, STR, a_ptxas, "program that assembled B's PTX")                                     \
	F(3, STR, b_ptxas, "program that assembled A's PTX")                                     \
	F(4, U32, ptxas_bucket, "A's PTX by B's ptxas against A; 0: not tested")                 \
	F(5, STR, ptxas_evidence, "rule and figures of it, or why it was not tested")            \
	F(6, U32, before_bucket, "B's PTX by A's ptxas against A; 0: not tested")                \
	F(7, STR, before_evidence, "rule and figures of it, or why it was not tested")           \
	F(8, U32, a_images, "images whose A's PTX was assembled by A's ptxas too; 0: not tried") \
	F(9, U32, a_same, "of which the machine code is A's")                                    \
	F(10, U32, b_images, "images whose B's PTX was assembled by B's ptxas too")              \
	F(11, U32, b_same, "of which the machine code is B's")

/* How often the recorded run launched a config in a shape class, whether recorded or not. */
#define RECORD_USE(F, A)                                                              \
	F(1, U32, config, "CONFIG.number")                                            \
	F(2, HASH, shape_class, "of the launches")                                    \
	F(3, DIM3, grid, "blocks")                                                    \
	F(4, U64, seen, "launches")                                                   \
	F(5, U64, recorded, "of which LAUNCH records were written")                   \
	F(6, STR, reason, "why the others were not recorded")                         \
	F(7, BOOL, test, "launched by existing tests, not by the model")              \
	F(8, STR, params, "for people: as CASE.params, of its first recorded launch") \
	F(9, STRS, tests, "LAUNCH.test of its recorded launches")

/* What A's PTX gives in double precision where B's first repeat differs from A's. */
#define RECORD_REFERENCE(F, A)                                                                \
	F(1, U32, test_case, "CASE.number")                                                   \
	F(2, U32, extent, "index into CASE.extents")                                          \
	F(3, STR, reason, "why there are no values")                                          \
	F(4, U64, differing, "elements that differ")                                          \
	F(5, U64S, elements, "of those, indices in the extent, ascending, that have a value") \
	F(6, BYTES, values, "one a listed element: IEEE 754 binary64, little-endian")         \
	F(7, U64, operations, "float operations that were computed in double")                \
	F(8, U32, lost_places, "instructions that made a float of which no double is known")  \
	F(9, STR, lost, "the first of them")                                                  \
	F(10, U64, blocks, "blocks that were run")                                            \
	F(11, U64, all_blocks, "blocks of the grid")

/* R(type on disk, NAME, struct/function name, array in struct bundle) */
#define RECORDS(R)                                 \
	R(1, RUN, run, runs)                       \
	R(2, FACT, fact, facts)                    \
	R(3, DEVICE, device, devices)              \
	R(4, IMAGE, image, images)                 \
	R(5, FILE, file, files)                    \
	R(6, KERNEL, kernel, kernels)              \
	R(7, TENSOR_MAP, tensor_map, tensor_maps)  \
	R(8, LAUNCH, launch, launches)             \
	R(9, AFTER, after, afters)                 \
	R(10, CLASS, class, classes)               \
	R(11, UNRECORDED, unrecorded, unrecordeds) \
	R(12, END, end, ends)                      \
	R(32, SIDE, side, sides)                   \
	R(33, FAMILY, family, families)            \
	R(34, CONFIG, config, configs)             \
	R(35, CASE, case, cases)                   \
	R(36, TRIAL, trial, trials)                \
	R(37, STAGE, stage, stages)                \
	R(38, USE, use, uses)                      \
	R(39, REFERENCE, reference, references)

/* Records that stand only inside others. */
#define SUB_RECORDS(R)          \
	R(PARAM, param)         \
	R(ATTRIBUTE, attribute) \
	R(REGION, region) R(CHANGE, change) R(ARG, arg) R(EXTENT, extent) R(CONTENT, content)

/* Framed records without MessagePack (lib/bundle/format.h). */
#define RECORD_TYPE_CHUNK  64u
#define RECORD_TYPE_INDEX  65u
#define RECORD_TYPE_FOOTER 66u

enum record_type {
#define R(type, NAME, name, array) RECORD_TYPE_##NAME = type,
	RECORDS(R)
#undef R
};

#define RECORD_FIELD_U32(name)    uint32_t name;
#define RECORD_FIELD_U64(name)    uint64_t name;
#define RECORD_FIELD_I64(name)    int64_t name;
#define RECORD_FIELD_F64(name)    double name;
#define RECORD_FIELD_BOOL(name)   bool name;
#define RECORD_FIELD_STR(name)    const char *name;
#define RECORD_FIELD_BYTES(name)  struct bytes name;
#define RECORD_FIELD_HASH(name)   struct hash128 name;
#define RECORD_FIELD_DIM3(name)   uint32_t name[3];
#define RECORD_FIELD_STRS(name)   struct strs name;
#define RECORD_FIELD_U64S(name)   struct u64s name;
#define RECORD_FIELD_HASHES(name) struct hashes name;

#define F(number, kind, name, text) RECORD_FIELD_##kind(name)
#define A(number, SUB, sub, name, text)     \
	struct {                            \
		struct record_##sub *items; \
		size_t count;               \
	} name;

struct record_param {
	RECORD_PARAM(F, A)
};
struct record_attribute {
	RECORD_ATTRIBUTE(F, A)
};
struct record_region {
	RECORD_REGION(F, A)
};
struct record_change {
	RECORD_CHANGE(F, A)
};
struct record_arg {
	RECORD_ARG(F, A)
};
struct record_extent {
	RECORD_EXTENT(F, A)
};
struct record_content {
	RECORD_CONTENT(F, A)
};
#define R(type, NAME, name, array)  \
	struct record_##name {      \
		RECORD_##NAME(F, A) \
	};
RECORDS(R)
#undef R
#undef F
#undef A

#endif
