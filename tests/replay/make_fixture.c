/* SPDX-License-Identifier: MIT */
/* Writes one fixture capture: make_fixture PATH BODY [no-data] [other-arch]. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/replay/fixture.h"

int main(int argc, char **argv)
{
	static const char *const names[BODY_COUNT] = {
		[BODY_SCALE] = "scale", [BODY_OTHER] = "other", [BODY_SKIP] = "skip",
		[BODY_STRAY] = "stray", [BODY_FAULT] = "fault", [BODY_LOOP] = "loop",
		[BODY_READS] = "reads", [BODY_INDEX] = "index", [BODY_NOISE] = "noise",
		[BODY_EDGE] = "edge",   [BODY_RARE] = "rare",   [BODY_TILE] = "tile",
		[BODY_RACE] = "race",   [BODY_PAST] = "past",   [BODY_OVER] = "over",
		[BODY_GREAT] = "great", [BODY_THIRD] = "third", [BODY_COARSE] = "coarse"};
	struct fixture f = {.recorded = BODY_COUNT};

	if (argc < 3) {
		fprintf(stderr, "usage: make_fixture PATH BODY [no-data] [other-arch]\n");
		return 2;
	}
	f.path = argv[1];
	for (int i = 0; i < BODY_COUNT; i++)
		if (!strcmp(argv[2], names[i]))
			f.recorded = (enum body)i;
	for (int i = 3; i < argc; i++) {
		f.no_data |= !strcmp(argv[i], "no-data");
		f.other_arch |= !strcmp(argv[i], "other-arch");
	}
	if (f.recorded == BODY_COUNT) {
		fprintf(stderr, "make_fixture: no body %s\n", argv[2]);
		return 2;
	}
	fixture_write(&f);
	return 0;
}
