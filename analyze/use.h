/* SPDX-License-Identifier: MIT */
/* What the model uses of a kernel against what was tested of it, and by what. */
#ifndef ANALYZE_USE_H
#define ANALYZE_USE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/junit.h"
#include "kernelab/error.h"
#include "kernelab/hash.h"

struct analysis;
struct family_verdict;

/* D(id, name in reports) */
#define USE_DIMENSIONS(D)           \
	D(CONFIGS, "configs")       \
	D(CLASSES, "shape classes") \
	D(TAILS, "tails")           \
	D(ALIGNMENTS, "alignments") \
	D(TYPES, "types")

enum use_dimension {
#define D(id, name) USE_##id,
	USE_DIMENSIONS(D)
#undef D
		USE_DIMENSION_COUNT
};

/* "configs", … Static storage. */
const char *use_dimension_name(enum use_dimension d);

/* One thing that a launch may be: a config, a shape class, "n % 64 ≠ 0", "x aligned to 16 bytes".
 */
struct use_item {
	enum use_dimension dimension;
	char *text;
	struct hash128 key; /* of a shape class; else zero */
	uint64_t launches;  /* of the model, recorded or not */
	uint64_t tests;     /* of existing tests */
	bool known;         /* its launches are: else a count of one class stands for them */
	const char *reason; /* why launches of it were not recorded; NULL */
	bool by_model, by_tests, by_derived; /* a launch of it was replayed and judged */
};

struct use_count {
	size_t used, tested; /* by the model; of which by any launch */
	size_t by_model, by_tests, by_derived;
	size_t in_tests; /* used by the model, and launched by existing tests, replayed or not */
};

struct use {
	struct use_item *items; /* by dimension */
	size_t count, capacity;
	const char *
		*tests; /* existing tests that were seen to launch it, as the results have them */
	size_t test_count, test_capacity;
	struct use_count counts[USE_DIMENSION_COUNT];
	bool counted; /* the result says what the model launched: else only what was replayed counts
		       */
};

/*
 * Fills use of every family from USE and CASE records, and the sums of the analysis. Tails are
 * integer scalars modulo block sizes of the config, alignments those of pointers to 16 bytes, types
 * those of the outputs and inputs. 0 or -ENOMEM with err.
 */
int use_families(struct analysis *a, struct error *err);
void use_clear(struct use *u);

/* Used by the model, and no launch of any sort was tested. */
static inline bool use_untested(const struct use_item *i)
{
	return i->launches && !i->by_model && !i->by_tests && !i->by_derived;
}

/*
 * Outcome of a test of use.tests on a side, of --a-junit or --b-junit: *out, NULL where it is not
 * in there. 0 or -ENOMEM.
 */
int use_test_outcome(const struct junit *j, const char *test, const struct junit_test **out);

/*
 * "existing tests that launch it: 3; under A 3 pass; under B 2 pass, 1 fails (t.k::test_b)";
 * malloc'ed, "" where none was seen. NULL without memory.
 */
char *use_tests_text(const struct analysis *a, const struct use *u);

/* "shape class grid 3x1x1 n=100: 12 launches (budget); existing tests launch it"; malloc'ed. */
char *use_text(const struct use_item *i);

#endif
