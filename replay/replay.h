/* SPDX-License-Identifier: MIT */
/* Runs every recorded launch under compiler builds A and B and writes a result bundle. */
#ifndef REPLAY_REPLAY_H
#define REPLAY_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "kernelab/error.h"
#include "kernelab/records.h"
#include "replay/cost.h"

enum replay_device { REPLAY_DEVICE_AUTO, REPLAY_DEVICE_GPU, REPLAY_DEVICE_SOFT };

/* What the user asked for. Texts are borrowed; NULL = not given. replay_options_init sets defaults.
 */
struct replay_options {
	const char *const *bundles; /* bundles or folders of bundles: the recorded run */
	size_t bundle_count;
	const char *a, *b;     /* SOURCE: "recorded", a bundle, a folder of bundles */
	const char *result;    /* file to write; must not exist without `resume` */
	const char *family;    /* extended regular expression on the entry name */
	const char *config;    /* extended regular expression on the config's options text */
	const char *siblings;  /* Python whose Triton makes synthetic siblings of A: siblings.h */
	const char *pair_file; /* rules of pairing: replay/rules.h */
	const char *shard;     /* part of the cases: replay/shard.h */
	uint64_t launch;       /* only this LAUNCH.seq; 0: all */
	const uint64_t *launches; /* only these; NULL: all */
	size_t launch_count;
	uint64_t repeats;          /* identical runs of A and of B, 1 to REPLAY_MAX_REPEATS */
	uint64_t repeats_max;      /* of A at most, where only B varies */
	bool store_all;            /* outputs on changed inputs too where A and B are equal */
	double timeout_s;          /* of one launch */
	double reference_s;        /* of one launch, for values in double precision; 0: none */
	uint32_t trials;           /* TRIALS_*: beside the identical repeats */
	const char *const *dtypes; /* KERNEL.ARG=TYPE: what an argument points to */
	size_t dtype_count;
	enum replay_device device;
	const char *devices; /* which of them: replay/devices.h */
	const char *driver;  /* libcuda.so.1 to use, before `device` decides */
	const char *a_version, *a_commit, *b_version, *b_commit;
	bool resume;     /* go on with `result` where it is there */
	bool dry_run;    /* list on `out` what would run */
	bool anew;       /* see replay_run */
	bool pairs;      /* print the pairing on `out`, run nothing */
	FILE *out;       /* for dry_run and pairs; default stdout */
	int progress_fd; /* progress lines; -1: none. Default: stderr */
	int argc;        /* the command line, for the RUN record */
	char **argv;
};

#define REPLAY_MAX_REPEATS 1000u

/* replay_options.trials: a bit an enum trial_kind, and one for derived launches. */
#define TRIALS_POISON       (1u << TRIAL_POISON)
#define TRIALS_PERTURBED    (1u << TRIAL_PERTURBED)
#define TRIALS_EXACT        (1u << TRIAL_EXACT_INTEGER)
#define TRIALS_BACK_TO_BACK (1u << TRIAL_BACK_TO_BACK)
#define TRIALS_SCALED       (1u << TRIAL_SCALED)
#define TRIALS_GUARD        (1u << TRIAL_GUARD)
#define TRIALS_RACE         (1u << TRIAL_RACE)
#define TRIALS_DISTURBED    (1u << TRIAL_DISTURBED)
#define TRIALS_DERIVED      (1u << 16) /* boundary launches: cases of their own */
#define TRIALS_ALL                                                                               \
	(TRIALS_POISON | TRIALS_PERTURBED | TRIALS_EXACT | TRIALS_BACK_TO_BACK | TRIALS_SCALED | \
	 TRIALS_GUARD | TRIALS_RACE | TRIALS_DISTURBED | TRIALS_DERIVED)

/* "all", "none", or kinds with commas between: "poison,perturbed". -EINVAL for another word. */
int replay_trials_parse(const char *text, uint32_t *trials);

/* What happened, for the summary line. */
struct replay_summary {
	uint64_t families, configs, configs_tested;
	uint64_t cases, faithful, nondeterministic, unfaithful, untested; /* recorded launches */
	uint64_t derived;     /* launches made from them that ran */
	uint64_t compiled;    /* images of PTX and fatbins, of both sides */
	uint64_t driver_code; /* of them, run as what the recorded run's driver made of them */
	uint64_t failures;    /* trials that ended in a fault, hang, crash or launch error */
	uint64_t restarts;    /* workers started anew */
	uint64_t devices;     /* that were used */
	bool interrupted;     /* SIGINT or SIGTERM: the result is valid and marked incomplete */
	bool addresses_taken; /* the replay is to be started anew */
	bool software;        /* ran on kernelab's software device */
	char device[96];
	uint64_t wall_ns;    /* from the first worker's start to the end */
	uint64_t writing_ns; /* of it, writing the result */
	struct cost cost;    /* of all workers together */
};

void replay_options_init(struct replay_options *o);

/* "auto", "gpu", "soft" into *device; -EINVAL. */
int replay_device_parse(const char *text, enum replay_device *device);

/*
 * Runs it. The calling process never touches the driver: workers are forked before any call of it,
 * so call this before the process initialises CUDA, from a single-threaded program. SIGINT and
 * SIGTERM are caught meanwhile. One line says on progress_fd which device is used where that was
 * not asked for. 0 with *summary filled (interrupted too), or -errno with err: -EEXIST the result
 * exists, -ENOTSUP a SOURCE form that is not there yet, -ENODEV no device of the wanted sort,
 * -ENOENT nothing to replay, -EADDRNOTAVAIL with summary->addresses_taken: only with
 * options->anew, recorded addresses are taken in this process, and nothing was replayed yet. Then
 * no result is left, or with `resume` the old one: another process, started by exec and not by
 * fork, has another layout of addresses.
 */
int replay_run(const struct replay_options *options, struct replay_summary *summary,
	       struct error *err);

#endif
