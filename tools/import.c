/* SPDX-License-Identifier: MIT */
/* kernelab import: a bundle of the kernels in a Triton or Inductor cache, or a folder of cubins. */
#include <stdio.h>

#include "lib/log.h"
#include "replay/import.h"
#include "tools/options.h"
#include "tools/verbs.h"

int verb_import(const struct verb *verb, int argc, char **argv)
{
	const char *output = NULL;
	const struct option_row rows[] = {
		{OPTION_TEXT, "output", 'o', "FILE", "bundle to write; must not exist", &output},
		{.kind = OPTION_END},
	};
	struct import_count imported;
	struct error err;
	char **operands;
	int count, status;

	if (options_parse(verb, rows, argc, argv, false, &operands, &count, &status) ==
	    OPTIONS_EXIT)
		return status;
	if (!count || !output) {
		log_error("import: %s; see kernelab import --help",
			  count ? "no bundle to write given (-o)" : "no FOLDER given");
		return verb->usage_status;
	}
	if (import_folders(output, (const char *const *)operands, (size_t)count, argc, argv,
			   &imported, &err)) {
		log_error("import: %s", err.message);
		return 2;
	}
	fprintf(stderr, "kernelab: %zu cubins, %zu with metadata, in %s\n", imported.cubins,
		imported.metadata, output);
	if (imported.unread) {
		log_error("import: %zu files are no cubins that can be read: %s", imported.unread,
			  imported.first);
		return 2;
	}
	return 0;
}
