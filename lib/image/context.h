/* SPDX-License-Identifier: MIT */
/* What a person must know of a model: the questions, their answers in a bundle, the context file.
 */
#ifndef LIB_IMAGE_CONTEXT_H
#define LIB_IMAGE_CONTEXT_H

#include <stddef.h>

#include "kernelab/bundle.h"
#include "kernelab/error.h"

/* Q(name, question). An answer is the FACT "context.<name>". */
#define CONTEXT_QUESTIONS(Q)                                                                  \
	Q(model, "Which model is it (name, version, size)?")                                  \
	Q(doc, "Where is it described (link or file)?")                                       \
	Q(entry_point, "Which program or function is its entry point?")                       \
	Q(repro, "Which command runs it?")                                                    \
	Q(precision, "Which precision does it train in (bf16 autocast, fp8, tf32, ...)?")     \
	Q(dtypes, "Which element types do its parameters and activations have?")              \
	Q(shapes, "Which batch, sequence and layer shapes are representative?")               \
	Q(compile_settings, "Which torch.compile, Inductor and Triton settings does it use?") \
	Q(generated_code, "Where does the generated code lie (cache folders)?")               \
	Q(traces, "Where do traces or logs of the run lie?")

struct context_question {
	const char *name;     /* "model" */
	const char *fact;     /* "context.model" */
	const char *question; /* one sentence */
};

/* The table; *count gets its length. Static storage. */
const struct context_question *context_questions(size_t *count);

/*
 * The answer that a bundle holds: the FACT itself, or what the run itself shows (repro: the
 * command, entry_point: its first file, generated_code: the cache folders). *how tells which
 * (static, or the fact's own text). NULL if the question is open. *text is owned by the bundle, or
 * by *owned (malloc'ed, the caller frees) where it had to be put together.
 */
const char *context_answer(const struct bundle *b, const struct context_question *q,
			   const char **how, char **owned);

/*
 * Reads a context file: one flat JSON object, name → text. Calls take(fact, value, data) for every
 * non-empty answer. An unknown name, a value that is no text, bad JSON: -EINVAL, err names the
 * file. take's negative value ends it and is returned.
 */
int context_file_read(const char *path,
		      int (*take)(const char *fact, const char *value, void *data), void *data,
		      struct error *err);

#endif
