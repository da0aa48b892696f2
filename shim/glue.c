/* SPDX-License-Identifier: MIT */
/* Finds the notes by the image's id or the process's number: OUTPUT/glue/… */
#include "shim/glue.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "lib/base.h"
#include "lib/environment.h"

#define NOTE_MAX (1u << 20)

__attribute__((visibility("default"))) void kernelab_image_id(const void *data, size_t size,
							      char *text)
{
	hash_text(hash_bytes(data, size), text);
}

bool glue_note(struct hash128 id, struct cache_file *out)
{
	const char *output = environment_get(ENVIRONMENT_OUTPUT);
	char text[HASH_TEXT_BYTES];

	*out = (struct cache_file){0};
	if (!output)
		return false;
	hash_text(id, text);
	out->path = text_format("%s/glue/%s.json", output, text);
	out->name = text_format("%s" GLUE_SUFFIX, text);
	if (out->path && out->name && !file_read_all(out->path, NOTE_MAX, &out->data, &out->size))
		return true;
	free(out->path);
	free(out->name);
	*out = (struct cache_file){0};
	return false;
}

char *glue_autotune_path(void)
{
	const char *output = environment_get(ENVIRONMENT_OUTPUT);
	struct utsname host;

	if (!output || uname(&host))
		return NULL;
	return text_format("%s/glue/autotune.%s.%ld.jsonl", output, host.nodename, (long)getpid());
}
