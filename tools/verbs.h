/* SPDX-License-Identifier: MIT */
/* The table of verbs: drives dispatch, --help and the check that each has a man page. */
#ifndef TOOLS_VERBS_H
#define TOOLS_VERBS_H

#include "tools/options.h"

/* V(name, function, operands, summary, status of a wrong command line) */
#define VERBS(V)                                                                                   \
	V("analyze", verb_analyze, "RESULT…", "put every kernel family of a replay into a bucket", \
	  2)                                                                                       \
	V("capture", verb_capture, "PROGRAM [ARGUMENT]…", "run a program and record its kernels",  \
	  125)                                                                                     \
	V("context", verb_context, "BUNDLE…",                                                      \
	  "tell what is known of the model, and what is asked", 2)                                 \
	V("diff", verb_diff, "BUNDLE…",                                                            \
	  "replay under A and B, and put every family into a bucket", 2)                           \
	V("export", verb_export, "BUNDLE…",                                                        \
	  "write a launch as a folder that runs without kernelab, or cases as tests", 2)           \
	V("import", verb_import, "FOLDER…",                                                        \
	  "make a bundle of the kernels in a cache folder or a folder of cubins", 2)               \
	V("ls", verb_ls, "BUNDLE…", "print the kernel suite of captures", 2)                       \
	V("replay", verb_replay, "BUNDLE…", "run recorded launches under builds A and B", 2)       \
	V("show", verb_show, "BUNDLE…", "print families or a launch of captures in detail", 2)     \
	V("verify", verb_verify, "BUNDLE…", "check that everything in bundles is whole", 2)

#define V(name, function, operands, summary, status) \
	int function(const struct verb *verb, int argc, char **argv);
VERBS(V)
#undef V

#endif
