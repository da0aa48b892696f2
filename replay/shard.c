/* SPDX-License-Identifier: MIT */
/* Part i of n of a replay: which cases belong to it. */
#include "replay/shard.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"

/* A whole number up to SHARD_MAX; false for anything else. */
static bool read_number(const char *text, size_t length, uint32_t *out)
{
	uint32_t value = 0;

	if (!length || length > 6)
		return false;
	for (size_t i = 0; i < length; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		value = value * 10 + (uint32_t)(text[i] - '0');
	}
	*out = value;
	return value <= SHARD_MAX;
}

static int read_variable(const char *name, uint32_t *out, struct error *err)
{
	const char *text = getenv(name);

	if (!text)
		return error_set(err, EINVAL, ERROR_NO_OFFSET, "--shard: %s is not set", name);
	return read_number(text, strlen(text), out)
		       ? 0
		       : error_set(err, EINVAL, ERROR_NO_OFFSET,
				   "--shard: %s is '%.40s', no whole number up to %u", name, text,
				   SHARD_MAX);
}

static int check(const struct shard *s, const char *what, struct error *err)
{
	return s->count && s->index < s->count
		       ? 0
		       : error_set(err, EINVAL, ERROR_NO_OFFSET,
				   "--shard %s: %u/%u: i from 0 to n - 1 expected", what, s->index,
				   s->count);
}

/* An array 3-6 is four shards. One like 1,5,9 has a step: its ids do not tell the index. */
static int from_slurm(struct shard *out, struct error *err)
{
	uint32_t id, min = 0, max;
	int rc = read_variable("SLURM_ARRAY_TASK_ID", &id, err);

	if (!rc && getenv("SLURM_ARRAY_TASK_MIN"))
		rc = read_variable("SLURM_ARRAY_TASK_MIN", &min, err);
	if (!rc)
		rc = read_variable("SLURM_ARRAY_TASK_COUNT", &out->count, err);
	if (rc)
		return rc;
	max = min + out->count - 1;
	if (getenv("SLURM_ARRAY_TASK_MAX"))
		rc = read_variable("SLURM_ARRAY_TASK_MAX", &max, err);
	if (rc)
		return rc;
	if (max != min + out->count - 1 || id < min)
		return error_set(err, EINVAL, ERROR_NO_OFFSET,
				 "--shard: %u tasks from %u to %u are no array without gaps: give "
				 "--shard i/n",
				 out->count, min, max);
	out->index = id - min;
	return check(out, "slurm", err);
}

int shard_parse(struct shard *out, const char *text, struct error *err)
{
	const char *slash;
	int rc;

	*out = (struct shard){0};
	if (text ? !strcmp(text, "whole") : !getenv("SLURM_ARRAY_TASK_ID"))
		return 0;
	if (!text || !strcmp(text, "slurm"))
		return from_slurm(out, err);
	if (!strcmp(text, "rank")) {
		rc = read_variable("RANK", &out->index, err);
		if (!rc)
			rc = read_variable("WORLD_SIZE", &out->count, err);
		return rc ? rc : check(out, text, err);
	}
	slash = strchr(text, '/');
	if (!slash || !read_number(text, (size_t)(slash - text), &out->index) ||
	    !read_number(slash + 1, strlen(slash + 1), &out->count))
		return error_set(err, EINVAL, ERROR_NO_OFFSET,
				 "--shard %s: i/n, slurm, rank or whole expected", text);
	return check(out, text, err);
}
