/* SPDX-License-Identifier: MIT */
/* Makes a capture out of Triton cache entries, for the tests of ls and show. */
#include <err.h>
#include <stdlib.h>

#include "tests/image/entry_bundle.h"

/* Arguments: OUTPUT STEM…; every kernel has two launches in class 4 and one of nine in class 6. */
int main(int argc, char **argv)
{
	struct record_unrecorded other = {
		.name = "ampere_sgemm", .origin = ORIGIN_OTHER, .launches = 12, .reason = "origin"};
	const char *command[] = {"python3", "train.py", "user"};
	struct record_run run = {.command = {command, 3}, .pid = 1, .rank = "RANK=0"};
	struct record_fact fact = {.name = "triton.version", .value = "3.5.1", .how = "test"};
	struct record_device device = {
		.name = "NVIDIA H200", .cc_major = 9, .driver_version = 13000};
	struct record_end end = {.clean = true};
	struct bundle_writer *w;
	uint64_t seq = 1;

	if (argc < 3 || bundle_writer_open(&w, argv[1], BUNDLE_CAPTURE) < 0)
		errx(1, "cannot create the bundle");
	bundle_put_run(w, &run);
	bundle_put_fact(w, &fact);
	bundle_put_device(w, &device);
	for (int i = 2; i < argc; i++) {
		uint32_t number = (uint32_t)(i - 2);

		entry_bundle_add(w, argv[i], number, 0);
		entry_bundle_launch(w, seq++, number, 4);
		entry_bundle_launch(w, seq++, number, 6);
		entry_bundle_class(w, number, 4, 2, "per-class limit of 1");
		entry_bundle_class(w, number, 6, 9, "per-class limit of 1");
	}
	bundle_put_unrecorded(w, &other);
	bundle_put_end(w, &end);
	return bundle_writer_close(w) < 0;
}
