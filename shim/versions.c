/* SPDX-License-Identifier: MIT */
/* Reads torch/version.py and triton/__init__.py; runs no Python. */
#include "shim/versions.h"

#include <errno.h>
#include <string.h>

#include "lib/base.h"
#include "shim/facts.h"

#define MAPS_MAX   (64u << 20)
#define SOURCE_MAX (1u << 20)

/* The folder in front of `below` in the first mapped file that ends so: "/x/torch"; or NULL. */
static char *mapped_folder(const char *maps, const char *below)
{
	for (const char *hit = strstr(maps, below); hit; hit = strstr(hit + 1, below)) {
		const char *end = hit + strlen(below), *start = hit;

		while (start > maps && start[-1] != '\n' && start[-1] != ' ')
			start--;
		if ((*end == '\n' || *end == ' ' || !*end) && *start == '/')
			return strndup(start, (size_t)(hit - start));
	}
	return NULL;
}

/* The quoted text after "key" at the start of a line: key = 'value', key: Optional[str] = 'value'.
 */
static char *assigned(const char *source, const char *key)
{
	size_t n = strlen(key);

	for (const char *line = source; line; line = strchr(line, '\n')) {
		const char *end, *quote;

		line += *line == '\n';
		if (strncmp(line, key, n) != 0 || !strchr(" :=", line[n]))
			continue;
		end = line + strcspn(line, "\n");
		quote = line + strcspn(line, "'\"\n");
		if (quote < end && quote + 1 + strcspn(quote + 1, "'\"\n") < end)
			return strndup(quote + 1, strcspn(quote + 1, "'\"\n"));
	}
	return NULL;
}

static int put_assigned(struct bundle_writer *w, const char *file, const char *source,
			const char *key, const char *name)
{
	_cleanup_free_ char *value = assigned(source, key);
	_cleanup_free_ char *how = text_format("%s in %s", key, file);

	return value && how ? facts_put(w, name, value, how) : 0;
}

static int put_torch(struct bundle_writer *w, const char *folder)
{
	_cleanup_free_ char *file = text_format("%s/version.py", folder), *source = NULL;
	size_t size;
	int r;

	if (!file || file_read_all(file, SOURCE_MAX, &source, &size) < 0)
		return 0;
	r = put_assigned(w, file, source, "__version__", "torch.version");
	if (r >= 0)
		r = put_assigned(w, file, source, "git_version", "torch.commit");
	if (r >= 0)
		r = put_assigned(w, file, source, "cuda", "torch.cuda");
	return r;
}

static int put_triton(struct bundle_writer *w, const char *folder)
{
	_cleanup_free_ char *file = text_format("%s/__init__.py", folder), *source = NULL;
	size_t size;
	int r;

	if (!file || file_read_all(file, SOURCE_MAX, &source, &size) < 0)
		return 0;
	r = put_assigned(w, file, source, "__version__", "triton.version");
	return r < 0 ? r : facts_put(w, "triton.folder", folder, "its loaded library");
}

int versions_write(struct bundle_writer *w, bool *done)
{
	_cleanup_free_ char *maps = NULL, *torch = NULL, *triton = NULL;
	size_t size;
	int r = 0;

	if (file_read_all("/proc/self/maps", MAPS_MAX, &maps, &size) < 0)
		return 0;
	torch = mapped_folder(maps, "/lib/libtorch_cpu.so");
	triton = mapped_folder(maps, "/_C/libtriton.so");
	*done = torch && triton;
	if (torch)
		r = put_torch(w, torch);
	if (r >= 0 && triton)
		r = put_triton(w, triton);
	return r;
}
