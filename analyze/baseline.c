/* SPDX-License-Identifier: MIT */
/* Matching verdicts with what was accepted; writing what is to be accepted. */
#include "analyze/baseline.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyze/document.h"
#include "analyze/phrase.h"
#include "lib/base.h"

/* One entry of the file; texts live in it. */
struct entry {
	const char *family, *rule, *expires, *reason;
	struct hash128 key;
	bool has_key;
	int bucket;
	double severity; /* infinite: may grow as it likes */
};

char *baseline_today(char out[11])
{
	time_t now = time(NULL);
	struct tm utc;

	gmtime_r(&now, &utc);
	strftime(out, 11, "%Y-%m-%d", &utc);
	return out;
}

static bool is_date(const char *text)
{
	static const char form[] = "0000-00-00";

	for (size_t i = 0; i < sizeof(form); i++)
		if (form[i] == '0' ? text[i] < '0' || text[i] > '9' : text[i] != form[i])
			return false;
	return true;
}

static int read_entry(const char *path, size_t index, const json_t *object, struct entry *x,
		      struct error *err)
{
	const char *key = document_text(object, "key"), *wrong = NULL;
	const json_t *severity = json_object_get(object, "severity");

	*x = (struct entry){
		.family = document_text(object, "family"),
		.rule = document_text(object, "rule"),
		.expires = document_text(object, "expires"),
		.reason = document_text(object, "reason"),
		.bucket = (int)json_integer_value(json_object_get(object, "bucket")),
		.severity = severity ? json_number_value(severity) : INFINITY,
		.has_key = key != NULL,
	};
	if (!x->family)
		wrong = "has no \"family\"";
	else if (!x->rule)
		wrong = "has no \"rule\"";
	else if (x->bucket < 2 || x->bucket > 3)
		wrong = "needs \"bucket\" 2 or 3";
	else if (key && hash_parse(key, &x->key))
		wrong = "has a \"key\" that is none";
	else if (json_object_get(object, "expires") && (!x->expires || !is_date(x->expires)))
		wrong = "needs \"expires\" as 2027-01-31";
	else if (severity && !json_is_number(severity))
		wrong = "needs a number as \"severity\"";
	return wrong ? error_set(err, EINVAL, ERROR_NO_OFFSET, "%s: entry %zu %s", path, index,
				 wrong)
		     : 0;
}

__attribute__((format(printf, 2, 3))) static int note(struct analysis *a, const char *format, ...)
{
	va_list args;
	char *text = NULL;
	int n;

	if (array_reserve(&a->baseline_notes, a->baseline_note_count, &a->baseline_note_capacity,
			  sizeof(*a->baseline_notes)))
		return -ENOMEM;
	va_start(args, format);
	n = vasprintf(&text, format, args);
	va_end(args);
	if (n < 0)
		return -ENOMEM;
	a->baseline_notes[a->baseline_note_count++] = text;
	return 0;
}

static bool entry_means(const struct entry *x, const struct family_verdict *f)
{
	return x->has_key ? hash_equal(x->key, f->record->key)
			  : !strcmp(x->family, f->record->name ? f->record->name : "");
}

static int accept(struct analysis *a, const struct entry *x, const char *today,
		  struct family_verdict *f)
{
	const struct outcome *o = &f->outcome;

	if (o->bucket < x->bucket)
		return note(a, "%.200s is in bucket %d now, %d was accepted: the entry can go",
			    x->family, o->bucket, x->bucket);
	if (o->bucket > x->bucket || strcmp(rule_number(o->rule), x->rule))
		return note(a,
			    "%.200s: bucket %d by rule %.20s was accepted, it is bucket %d by "
			    "rule %s now",
			    x->family, x->bucket, x->rule, o->bucket, rule_number(o->rule));
	if (o->severity > BASELINE_GROWTH * x->severity)
		return note(a, "%.200s has grown: severity %.3g was accepted, it is %.3g now",
			    x->family, x->severity, o->severity);
	if (x->expires && strcmp(today, x->expires) > 0)
		return note(a, "%.200s was accepted until %s only", x->family, x->expires);
	if (f->accepted)
		return 0;
	f->accepted = x->reason && *x->reason ? strdup(x->reason) : strdup("no reason given");
	if (!f->accepted)
		return -ENOMEM;
	a->accepted++;
	return 0;
}

static int apply_entry(struct analysis *a, const struct entry *x, const char *today)
{
	size_t found = 0;
	int e = 0;

	for (size_t i = 0; !e && i < a->family_count; i++) {
		if (!entry_means(x, &a->families[i]))
			continue;
		found++;
		e = accept(a, x, today, &a->families[i]);
	}
	return e || found ? e : note(a, "%.200s is not among the families", x->family);
}

int baseline_apply(struct analysis *a, const char *path, const char *today, struct error *err)
{
	json_t *root, *list, *object;
	size_t i;
	int e = document_load(&root, path, "baseline", BASELINE_VERSION, err);

	if (e)
		return e;
	list = json_object_get(root, "accepted");
	if (!json_is_array(list))
		e = error_set(err, EINVAL, ERROR_NO_OFFSET, "%s: \"accepted\" must be a list",
			      path);
	a->baseline = path;
	json_array_foreach(list, i, object)
	{
		struct entry x;

		if (e)
			break;
		e = read_entry(path, i, object, &x, err);
		if (!e && apply_entry(a, &x, today))
			e = error_set(err, ENOMEM, ERROR_NO_OFFSET, "out of memory");
	}
	json_decref(root);
	return e;
}

static json_t *entry_object(const struct family_verdict *f)
{
	char key[HASH_TEXT_BYTES];
	_cleanup_free_ char *name = strdup(f->record->name ? f->record->name : "?");
	json_t *object;

	if (!name)
		return NULL;
	object = json_pack("{s:s,s:s,s:i,s:s,s:s}", "family", phrase_clean(name), "key",
			   hash_text(f->record->key, key), "bucket", f->outcome.bucket, "rule",
			   rule_number(f->outcome.rule), "reason", "");
	if (object && isfinite(f->outcome.severity) &&
	    json_object_set_new(object, "severity", json_real(f->outcome.severity))) {
		json_decref(object);
		return NULL;
	}
	return object;
}

int baseline_write(const struct analysis *a, int level, FILE *out)
{
	json_t *list = json_array(), *root;
	int e = list ? 0 : -ENOMEM;

	for (size_t i = 0; !e && i < a->family_count; i++)
		if (a->families[i].outcome.bucket >= level && a->families[i].outcome.bucket > 1 &&
		    json_array_append_new(list, entry_object(&a->families[i])))
			e = -ENOMEM;
	root = json_pack("{s:s,s:o}", "baseline", BASELINE_VERSION, "accepted",
			 list); /* takes list */
	if (!root)
		return -ENOMEM;
	if (!e && json_dumpf(root, out, JSON_INDENT(1) | JSON_REAL_PRECISION(6)))
		e = ferror(out) ? 0 : -ENOMEM; /* a write error is the caller's to see */
	fputc('\n', out);
	json_decref(root);
	return e;
}
