/* SPDX-License-Identifier: MIT */
/* A note of the Python glue about one compilation (docs/glue.md): what is in no cache file. */
#ifndef LIB_IMAGE_NOTE_H
#define LIB_IMAGE_NOTE_H

#include <stddef.h>
#include <stdint.h>

#include "kernelab/error.h"
#include "kernelab/hash.h"
#include "lib/ir.h"

#define NOTE_SUFFIX ".glue" /* of the FILE record */

/* Immutable, owned by the caller, freed with note_free. No text is NULL. */
struct note {
	char *constexprs;      /* for people: "BLOCK=128 ACT=clamp"; "" if there are none */
	char *constexprs_json; /* {"BLOCK": 128, "ACT": "clamp"} */
	char *tensors;         /* of the launch it was compiled for: "X float32 20x50, …"; "" */
	char *tensors_json;    /* {"X": {"shape": [20, 50], "stride": [50, 1], "dtype": …}}; {} */
	char *python_hash;     /* SHA-256 of the source of function and helpers; "" unknown */
	char *file;            /* where the function stands; "" unknown */
	uint32_t line;
	struct hash128 values; /* hash of names and values of the constexprs; zero if unknown */
};

/* 0; -EINVAL with err for what is no note of a version known here; -ENOMEM. */
int note_parse(struct note **out, const struct span *text, struct error *err);
void note_free(struct note *n); /* NULL is allowed */

#endif
