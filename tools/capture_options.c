/* SPDX-License-Identifier: MIT */
/* The options of kernelab capture: one row an option, most of them handed on as a variable. */
#include <stdlib.h>

#include "lib/base.h"
#include "tools/capture.h"

#define TEXT(id, name, argument, help)                                           \
	{                                                                        \
		OPTION_TEXT, name, 0, argument, help, &o->text[ENVIRONMENT_##id] \
	}

/* What is not on the command line comes from the file, what is not there from the environment. */
static int fill(struct capture_options *o, const struct verb *verb, const struct option_row *rows)
{
	const char *config = o->text[ENVIRONMENT_CONFIG];

	if (!config)
		config = environment_get(ENVIRONMENT_CONFIG);
	if (config && capture_config_read(o, verb, rows, config) < 0)
		return -1;
	for (const struct option_row *row = rows; row->kind != OPTION_END; row++) {
		const char **target = row->target;

		if (row->kind == OPTION_TEXT && !*target)
			*target = environment_get((enum environment_id)(target - o->text));
	}
	o->no_data |= environment_flag(ENVIRONMENT_NO_DATA) != 0;
	o->more_configs |= environment_flag(ENVIRONMENT_MORE_CONFIGS) != 0;
	o->no_glue |= environment_flag(ENVIRONMENT_NO_GLUE) != 0;
	o->fresh_cache |= environment_flag(ENVIRONMENT_FRESH_CACHE) != 0;
	o->cupti |= environment_flag(ENVIRONMENT_CUPTI) != 0;
	return 0;
}

enum options_outcome capture_options_parse(struct capture_options *o, const struct verb *verb,
					   int argc, char **argv, char ***command, int *count,
					   int *status)
{
	const struct option_row rows[] = {
		{OPTION_TEXT, "output", 'o', "DIR",
		 "folder for the bundles, new or empty (default kernelab-DATE-TIME)",
		 &o->text[ENVIRONMENT_OUTPUT]},
		{OPTION_FLAG, "no-data", 0, NULL,
		 "kernels, geometry and metadata only: enough for side B", &o->no_data},
		{OPTION_FLAG, "fresh-cache", 0, NULL,
		 "empty Triton and Inductor caches in DIR/cache, so that each config is compiled",
		 &o->fresh_cache},
		{OPTION_FLAG, "more-configs", 0, NULL,
		 "have Inductor try more configs of pointwise kernels and reductions (slower)",
		 &o->more_configs},
		{OPTION_FLAG, "no-glue", 0, NULL,
		 "do without constexprs, source and tensor shapes from the program's Python",
		 &o->no_glue},
		{OPTION_FLAG, "cupti", 0, NULL,
		 "record what the driver's compiler makes of PTX and fatbins too, through CUPTI",
		 &o->cupti},
		TEXT(KERNELS, "kernels", "REGEX", "record only kernels whose entry name matches"),
		TEXT(EXCLUDE, "exclude", "REGEX", "record no kernels whose entry name matches"),
		TEXT(ORIGIN, "origin", "LIST",
		     "origins to record, comma-separated, or all (default "
		     "triton,tlx,inductor,test)"),
		TEXT(ORIGIN_NAME, "origin-name", "NAME",
		     "origin to note for what is recorded: test for a run of kernel tests"),
		TEXT(PER_CLASS, "per-class", "N",
		     "launches to record of each kernel and shape class (default 1)"),
		TEXT(SKIP_LAUNCHES, "skip-launches", "N",
		     "let the first N launches of each kernel and shape class pass"),
		TEXT(SAMPLE, "sample", "K[,FIRST[,FACTOR]]",
		     "K later launches of each class, about number FIRST (16), FACTOR (4) times "
		     "that, …"),
		TEXT(START_AFTER, "start-after", "30s|1000",
		     "record launches only after that time or number of launches"),
		TEXT(STOP_AFTER, "stop-after", "30s|1000",
		     "record no launch after that time or number of launches"),
		TEXT(MAX_LAUNCHES, "max-launches", "N", "launches to record in a process at most"),
		TEXT(MAX_BYTES, "max-bytes", "BYTES",
		     "record no further launch once a process's bundle is that large"),
		TEXT(MAX_REGION, "max-region", "BYTES",
		     "record no contents of an allocation larger than this (default 4G)"),
		TEXT(EXTENTS, "extents", "auto|off",
		     "auto: measure what a launch reads and writes, and record no more"),
		TEXT(WAIT_BEFORE, "wait-before", "20s",
		     "longest time that a recorded launch is held up before it (default 20s)"),
		TEXT(WAIT_AFTER, "wait-after", "60s",
		     "longest time that the program is held up behind it (default 60s)"),
		TEXT(COMPRESS, "compress", "lz4|none",
		     "of contents in the bundle (default lz4); none is faster and larger"),
		TEXT(HASH, "hash", "auto|off|verify",
		     "auto: hash memory on the device, and copy only what is not recorded yet"),
		TEXT(RING, "ring", "BYTES",
		     "pinned memory for copies, in each context of the program (default 256M)"),
		TEXT(HOST_MEMORY, "host-memory", "BYTES",
		     "host memory that recording takes at most for its buffers (default 1G)"),
		TEXT(RANKS, "ranks", "LIST",
		     "ranks to record contents of, as 0,2-3; others as with --no-data"),
		TEXT(PIN_WINNERS, "pin-winners", "DIR",
		     "triton.autotune takes the winners that the capture in DIR noted"),
		TEXT(CONFIG, "config", "FILE", "JSON object with long option names as keys"),
		TEXT(CONTEXT, "context", "FILE",
		     "answers about the model (kernelab context --template)"),
		TEXT(COMMIT, "commit", "COMMIT", "commit of the compiler under test"),
		TEXT(LABEL, "label", "TEXT", "a name for this run in reports"),
		TEXT(DEVICE, "device", "auto|gpu|soft",
		     "soft: the software device; auto: it where there is no GPU"),
		{0},
	};

	if (options_parse(verb, rows, argc, argv, true, command, count, status) == OPTIONS_EXIT)
		return OPTIONS_EXIT;
	if (fill(o, verb, rows) < 0) {
		*status = verb->usage_status;
		return OPTIONS_EXIT;
	}
	return OPTIONS_GO;
}

void capture_options_free(struct capture_options *o)
{
	for (size_t i = 0; i < o->owned_count; i++)
		free(o->owned[i]);
	free(o->owned);
}
