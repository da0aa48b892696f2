/* SPDX-License-Identifier: MIT */
/* Reads the bundles of a finished capture and says in one line what there is. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "kernelab/bundle.h"
#include "lib/base.h"
#include "lib/bundle/files.h"
#include "lib/image/context.h"
#include "tools/capture.h"

struct totals {
	uint64_t bundles, images, recorded, seen, bytes;
	uint64_t unreadable, unfinished, incomplete; /* bundles */
	uint64_t no_contents, no_outcome, no_metadata, no_code;
	uint64_t open_questions;
};

/* At least so many: a process that was killed had no time to write all of its counts. */
static uint64_t seen_by_counts(const struct bundle *b)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < b->classes.count; i++)
		sum += b->classes.items[i].seen;
	for (size_t i = 0; i < b->unrecordeds.count; i++)
		sum += b->unrecordeds.items[i].launches;
	return sum > b->launches.count ? sum : b->launches.count;
}

static void add_questions(struct totals *t, const struct bundle *b)
{
	size_t count, open = 0;
	const struct context_question *q = context_questions(&count);

	for (size_t i = 0; i < count; i++) {
		_cleanup_free_ char *owned = NULL;
		const char *how;

		open += !context_answer(b, &q[i], &how, &owned);
	}
	if (open > t->open_questions)
		t->open_questions = open;
}

static void add_bundle(struct totals *t, const char *path)
{
	size_t images, with;
	struct bundle *b;
	struct error err;

	t->bundles++;
	if (bundle_open(&b, path, &err) < 0) {
		t->unreadable++;
		return;
	}
	t->images += b->images.count;
	t->recorded += b->launches.count;
	t->bytes += b->file_bytes;
	if (b->ends.count && b->ends.items[b->ends.count - 1].clean)
		t->seen += b->ends.items[b->ends.count - 1].launches;
	else
		t->seen += seen_by_counts(b);
	t->unfinished += !b->complete;
	t->incomplete += b->ends.count && !b->ends.items[b->ends.count - 1].clean;
	for (size_t i = 0; i < b->launches.count; i++)
		t->no_contents += (b->launches.items[i].flags &
				   (LAUNCH_CONTENTS_MISSING | LAUNCH_IN_CAPTURE)) != 0;
	for (size_t i = 0; i < b->afters.count; i++)
		t->no_outcome += b->afters.items[i].sync_result != 0;
	for (size_t i = 0; i < b->images.count; i++)
		t->no_metadata += !b->images.items[i].cache_entry;
	if (bundle_fact(b, "env.KERNELAB_CUPTI")) {
		bundle_count_driver_cubins(b, &images, &with);
		t->no_code += images - with;
	}
	add_questions(t, b);
	bundle_close(b);
}

static void print_bytes(char *text, size_t size, uint64_t bytes)
{
	static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
	double value = (double)bytes;
	unsigned unit = 0;

	while (value >= 1024 && unit + 1 < ARRAY_LENGTH(units)) {
		value /= 1024;
		unit++;
	}
	snprintf(text, size, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
}

static void add_missing(char *text, size_t size, uint64_t count, const char *what)
{
	size_t used = strlen(text);

	if (count)
		snprintf(text + used, size - used, "%s%" PRIu64 " %s",
			 used ? ", " : "; missing: ", count, what);
}

void capture_summary_print(const char *folder, const char *program)
{
	char *operands[] = {(char *)folder};
	struct bundle_paths paths = {0};
	struct totals t = {0};
	char bytes[32], missing[800] = "";
	struct error err;

	if (bundle_paths_expand(&paths, operands, 1, &err) < 0 || !paths.count) {
		fprintf(stderr,
			"kernelab: capture: %s loaded no kernels of the origins to record: no "
			"bundle in "
			"%s\n",
			program, folder);
		return;
	}
	for (size_t i = 0; i < paths.count; i++)
		add_bundle(&t, paths.items[i]);
	bundle_paths_free(&paths);
	print_bytes(bytes, sizeof(bytes), t.bytes);
	add_missing(missing, sizeof(missing), t.unreadable, "bundles that cannot be read");
	add_missing(missing, sizeof(missing), t.unfinished,
		    "bundles without their end (process killed, or left by _exit or exec)");
	add_missing(missing, sizeof(missing), t.incomplete, "recordings that stopped early");
	add_missing(missing, sizeof(missing), t.no_contents, "launches without contents");
	add_missing(missing, sizeof(missing), t.no_outcome, "launches without contents afterwards");
	add_missing(missing, sizeof(missing), t.no_metadata, "images without Triton metadata");
	add_missing(missing, sizeof(missing), t.no_code,
		    "images without the driver's machine code (kernelab ls says why)");
	add_missing(missing, sizeof(missing), t.open_questions,
		    "answers about the model (kernelab context)");
	fprintf(stderr,
		"kernelab: capture: %" PRIu64 " bundle%s in %s: %" PRIu64 " images, %" PRIu64
		" launches recorded of %s%" PRIu64 " seen, %s%s\n",
		t.bundles, t.bundles == 1 ? "" : "s", folder, t.images, t.recorded,
		t.unfinished || t.incomplete ? "at least " : "", t.seen, bytes, missing);
}
