// SPDX-License-Identifier: MIT
// The kernelab command: finds the verb and runs it.
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/environment.h"
#include "lib/log.h"
#include "tools/verbs.h"

static const struct verb verbs[] = {
#define V(name, function, operands, summary, status) {name, operands, summary, function, status},
	VERBS(V)
#undef V
		{0},
};

static void print_help(void)
{
	printf("Usage: kernelab VERB [OPTION]… [OPERAND]…\n"
	       "Tells, kernel by kernel, what a change of compiler does to a model's numerics.\n\n"
	       "First use (train.py under compiler A, then under compiler B):\n"
	       "  kernelab capture -o a --fresh-cache -- python3 train.py\n"
	       "  kernelab capture -o b --fresh-cache --no-data -- python3 train.py\n"
	       "  kernelab diff a --b b --html verdict.html\n\n"
	       "Verbs:\n");
	for (const struct verb *v = verbs; v->name; v++)
		printf("  %-10s %s\n", v->name, v->summary);
	printf("\nOptions:\n"
	       "  -h, --help     print this help; kernelab VERB --help tells of one verb\n"
	       "      --version  print the version\n\n"
	       "Environment:\n");
	for (int i = 0; i < ENVIRONMENT_COUNT; i++)
		printf("  %-24s %s\n", environment_name((enum environment_id)i),
		       environment_text((enum environment_id)i));
	printf("\nExit status: 0 good, 1 a finding at or above --fail-on, 2 could not do its "
	       "work;\n"
	       "of capture: the program's own, 125 to 127 for kernelab's.\n");
}

/*
 * Where a standard stream is closed, no file of ours gets its number: what is printed would land in
 * it. /dev/null for reading stands in, so that printing still fails; the captured program, which
 * exec gives none of it, finds the stream as closed as the caller left it.
 */
static void guard_standard_streams(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	guard_standard_streams();
	if (argc < 2) {
		log_error("no verb given; see kernelab --help");
		return 2;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		print_help();
		return fflush(stdout) ? 2 : 0;
	}
	if (!strcmp(argv[1], "--version")) {
		puts("kernelab " KERNELAB_VERSION);
		return fflush(stdout) ? 2 : 0;
	}
	for (const struct verb *v = verbs; v->name; v++) {
		if (strcmp(argv[1], v->name))
			continue;
		int status = v->run(v, argc - 1, argv + 1);

		if (fflush(stdout) && status == 0) {
			log_error("%s: cannot write standard output", v->name);
			status = v->usage_status;
		}
		return status;
	}
	log_error("no verb '%s'; see kernelab --help", argv[1]);
	return 2;
}
