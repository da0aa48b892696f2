/* SPDX-License-Identifier: MIT */
/* Results in, verdicts out: every kernel family lands in exactly one bucket. */
#ifndef ANALYZE_ANALYZE_H
#define ANALYZE_ANALYZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/decide.h"
#include "analyze/junit.h"
#include "analyze/result.h"
#include "analyze/scope.h"
#include "analyze/stage.h"
#include "analyze/use.h"
#include "kernelab/error.h"

struct config_verdict {
	const struct record_config *record;
	struct outcome outcome; /* worst of its cases; bucket 0 untested, evidence says why */
	struct case_verdict
		*cases; /* a launch replayed twice (two shards) stands here once, the worse */
	size_t case_count;
	size_t worst_case; /* == case_count: none */
};

struct family_coverage {
	uint32_t configs, configs_tested;
	uint32_t cases, tested, faithful, nondeterministic, unfaithful, fidelity_untested;
	uint32_t classes, classes_tested; /* distinct shape classes */
	uint32_t derived, derived_tested; /* launches made from recorded ones; not in `cases` */
};

/* What an earlier report said of a family (analyze/since.h). */
struct earlier_verdict {
	bool known, unproven;
	int bucket;
	char rule[8]; /* number; cut */
};

struct since {
	const char *path; /* the earlier report; NULL: none was given */
	size_t worse, better, same, added;
	char **gone; /* families of then that are not there now */
	size_t gone_count;
};

struct family_verdict {
	const struct record_family *record;
	struct outcome outcome; /* bucket 1, 2 or 3; worst over its configs */
	struct config_verdict *configs;
	size_t config_count;
	size_t worst_config; /* == config_count: none */
	struct family_coverage coverage;
	char **notes; /* weak evidence, untested configs, … */
	size_t note_count, note_capacity;
	char *accepted; /* reason for which a baseline accepts this verdict; NULL: it does not */
	struct earlier_verdict before;
	struct scope scope; /* of buckets 2 and 3 */
	struct stage stage; /* of bucket 3 */
	struct use use;     /* what the model uses against what was tested */
};

/* A text that the model's owner should answer, or another fact for the head of reports. */
struct question {
	const char *name, *text;
};

struct analysis {
	struct result **results;
	bool results_temporary; /* their files go with the program: no report names them */
	size_t result_count;
	const struct record_side *sides[SIDE_COUNT];
	char *device;     /* names of the devices that replayed, each once; "unknown" */
	const char *mark; /* "PTX level: ptxas not executed" on the software device, else NULL */
	struct question *environment; /* what else than the compiler differs, as replay found it */
	size_t environment_count, environment_capacity;
	struct question *questions; /* unanswered questions of the model's context */
	size_t question_count;
	struct family_verdict *families; /* worst first */
	size_t family_count;
	size_t buckets[4]; /* families a bucket, [3] includes unproven; [0] stays 0 */
	size_t unproven;
	size_t accepted;       /* families that a baseline accepts, in any bucket */
	const char *baseline;  /* its file; NULL: none was given */
	char **baseline_notes; /* entries of it that do not hold */
	size_t baseline_note_count, baseline_note_capacity;
	struct since since;
	struct use_count use[USE_DIMENSION_COUNT]; /* sums over the families */
	struct junit tests[SIDE_COUNT]; /* of --a-junit and --b-junit; set by the caller */
	const char *policy; /* file that changed thresholds; NULL: none; set by the caller */
	char **incomplete;  /* what is missing or damaged, with the file's name */
	size_t incomplete_count, incomplete_capacity;
};

/* Called after each config; done and total count configs. May be NULL. */
typedef void analysis_progress(void *data, size_t done, size_t total);

/*
 * Opens the result bundles at paths (shards of one replay, or one result), judges every case and
 * merges: the same family in two results gets the worse of both. Results whose sides or kind of
 * device differ do not belong together: -EINVAL, err names both. Damaged contents do not stop it:
 * the family is unproven and `incomplete` says so.
 * 0 or -errno with err. Free with analysis_free. Threads: one analysis a thread.
 */
int analysis_run(struct analysis **out, char *const *paths, size_t count,
		 analysis_progress *progress, void *progress_data, struct error *err);
/* The same with shapes given by hand (NULL: none), which must outlive the analysis: one that is
 * about no output, or fits none, is -EINVAL. */
int analysis_run_shaped(struct analysis **out, char *const *paths, size_t count,
			struct shape_rules *shapes, analysis_progress *progress,
			void *progress_data, struct error *err);
void analysis_free(struct analysis *a); /* NULL is allowed */

/* Families at or above bucket `level` (1 … 3) that no baseline accepts. */
size_t analysis_at_least(const struct analysis *a, int level);

/* Worst case and output of a family; NULL if there is none in particular. */
const struct case_verdict *family_worst_case(const struct family_verdict *f);
const struct output_verdict *family_worst_output(const struct family_verdict *f);

/* "triton 3.6.0"; "unspecified" where text is empty. */
const char *text_or_unspecified(const char *text);

#endif
