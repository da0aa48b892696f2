/* SPDX-License-Identifier: MIT */
/* The options of a replay, as replay and diff share them. */
#ifndef TOOLS_REPLAY_ROWS_H
#define TOOLS_REPLAY_ROWS_H

#include "replay/replay.h"
#include "tools/options.h"

/* Exit status of an interrupted program, as the shell has it. */
#define STATUS_INTERRUPTED 130

/* Rows for options_parse. o: struct replay_options; device and trials: const char *, dtypes: struct
 * option_texts, all three for replay_rows_take. */
// clang-format off
#define REPLAY_OPTION_ROWS(o, device, trials, dtypes)                                                              \
	{OPTION_TEXT, "b", 'b', "SOURCE",                                                          \
	 "kernels of side B: recorded, a bundle, a folder of bundles or cubins, ptxas:PATH[,flag], " \
	 "triton:PYTHON",                                                                          \
	 &(o).b},                                                                                  \
	{OPTION_TEXT, "a", 'a', "SOURCE",                                                          \
	 "kernels of side A; default recorded: those of BUNDLE", &(o).a},                          \
	{OPTION_TEXT, "family", 0, "REGEX", "only families whose entry name matches",              \
	 &(o).family},                                                                             \
	{OPTION_TEXT, "config", 0, "REGEX",                                                        \
	 "only configs whose options match, as ls prints them", &(o).config},                      \
	{OPTION_TEXT, "pair", 0, "FILE",                                                           \
	 "which config of B belongs to which recorded one, as --pairs prints it",                  \
	 &(o).pair_file},                                                                          \
	{OPTION_TEXT, "siblings", 0, "PYTHON",                                                     \
	 "compile A with other num_warps by that Python's Triton where a family has one config: "  \
	 "a noise floor for its verdict",                                                          \
	 &(o).siblings},                                                                           \
	{OPTION_COUNT, "launch", 0, "SEQ", "only the launch of that number", &(o).launch},         \
	{OPTION_COUNT, "repeats", 0, "N", "identical runs of A and of B; default 3",               \
	 &(o).repeats},                                                                            \
	{OPTION_COUNT, "repeats-max", 0, "N", "runs of A where only B varies; default 100",         \
	 &(o).repeats_max},                                                                        \
	{OPTION_TEXT, "trials", 0, "LIST",                                                         \
	 "all, none, or of: poison,perturbed,exact-integer,back-to-back,scaled,guard,race,disturbed,derived; default all",       \
	 &(trials)},                                                                                \
	{OPTION_FLAG, "store-all", 0, NULL,                                                        \
	 "outputs on changed inputs are stored too where A and B are equal", &(o).store_all},       \
	{OPTION_TEXTS, "dtype", 0, "KERNEL.ARG=TYPE",                                              \
	 "what an argument points to, e.g. matmul.c=bf16; may be repeated", &(dtypes)},            \
	{OPTION_SECONDS, "timeout", 0, "SECONDS", "limit of one launch; default 60",               \
	 &(o).timeout_s},                                                                          \
	{OPTION_SECONDS, "reference", 0, "SECONDS",                                                \
	 "where B differs, A's PTX in double precision on the CPU, at most so long a launch; default none", \
	 &(o).reference_s},                                                                        \
	{OPTION_TEXT, "device", 0, "WHICH", "auto, gpu or soft; default auto", &(device)},         \
	{OPTION_TEXT, "devices", 0, "LIST",                                                        \
	 "replay on several at once: all, how many, or a list as 0,2 or 1-3; default the first",   \
	 &(o).devices},                                                                            \
	{OPTION_TEXT, "a-version", 0, "TEXT", "version of side A, for the report",                 \
	 &(o).a_version},                                                                          \
	{OPTION_TEXT, "a-commit", 0, "TEXT", "commit of side A", &(o).a_commit},                   \
	{OPTION_TEXT, "b-version", 0, "TEXT", "version of side B", &(o).b_version},                \
	{OPTION_TEXT, "b-commit", 0, "TEXT", "commit of side B", &(o).b_commit}
// clang-format on

/*
 * What the rows' texts mean goes into o; dtypes stay the caller's. 0, or -EINVAL after one line on
 * stderr.
 */
int replay_rows_take(const struct verb *verb, struct replay_options *o, const char *device,
		     const char *trials, const struct option_texts *dtypes);

#endif
