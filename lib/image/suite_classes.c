/* SPDX-License-Identifier: MIT */
/* Counts the launches of a suite. */
#include "lib/image/suite_classes.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "lib/base.h"

/* A record of a bundle under the number of its kernel. */
struct entry {
	uint32_t kernel;
	uint64_t order; /* among those of a kernel */
	const void *record;
};

/* Launches and classes of one bundle, by kernel number. */
struct by_kernel {
	struct entry *launches, *classes;
};

static int no_memory(struct error *err)
{
	return error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for the launches of a suite");
}

static int number_compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int entry_compare(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return x->kernel != y->kernel ? number_compare(x->kernel, y->kernel)
				      : number_compare(x->order, y->order);
}

static int class_compare(const void *a, const void *b)
{
	const struct suite_class *x = a, *y = b;

	for (int i = 0; i < 3; i++) {
		if (x->grid[i] != y->grid[i])
			return number_compare(x->grid[i], y->grid[i]);
	}
	return hash_compare(x->key, y->key);
}

static int index_bundle(struct by_kernel *k, const struct bundle *b, struct error *err)
{
	k->launches = calloc(b->launches.count + 1, sizeof(*k->launches));
	k->classes = calloc(b->classes.count + 1, sizeof(*k->classes));
	if (!k->launches || !k->classes)
		return no_memory(err);
	for (size_t i = 0; i < b->launches.count; i++) {
		const struct record_launch *l = &b->launches.items[i];

		k->launches[i] = (struct entry){l->kernel, l->seq, l};
		if (!bundle_kernel(b, l->kernel))
			return error_set(err, EINVAL, ERROR_NO_OFFSET,
					 "%s: launch %" PRIu64 " is of kernel %" PRIu32
					 ", which is not there",
					 b->path, l->seq, l->kernel);
	}
	for (size_t i = 0; i < b->classes.count; i++)
		k->classes[i] = (struct entry){b->classes.items[i].kernel, i, &b->classes.items[i]};
	if (b->launches.count)
		qsort(k->launches, b->launches.count, sizeof(*k->launches), entry_compare);
	if (b->classes.count)
		qsort(k->classes, b->classes.count, sizeof(*k->classes), entry_compare);
	return 0;
}

/* The entries of one kernel: *first and their number. */
static size_t entries_of(const struct entry *list, size_t count, uint32_t kernel,
			 const struct entry **first)
{
	size_t low = 0, high = count, n = 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (list[middle].kernel < kernel)
			low = middle + 1;
		else
			high = middle;
	}
	while (low + n < count && list[low + n].kernel == kernel)
		n++;
	*first = list + low;
	return n;
}

static int left_compare(const void *a, const void *b)
{
	const struct suite_left *x = a, *y = b;

	if (x->shape_class != y->shape_class)
		return x->shape_class < y->shape_class ? -1 : 1;
	return strcmp(x->reason, y->reason);
}

/* What CLASS records tell of launches that were only counted, and why most of them were. */
static int fill_left(struct suite_member *m, const struct entry *records, size_t count,
		     struct error *err)
{
	struct suite_left *left = calloc(count + 1, sizeof(*left));
	size_t kept = 0;

	if (!left)
		return no_memory(err);
	m->left = left;
	for (size_t i = 0; i < count; i++) {
		const struct record_class *r = records[i].record;
		struct suite_class key = {.key = r->shape_class};

		memcpy(key.grid, r->grid, sizeof(key.grid));
		left[i].shape_class = bsearch(&key, m->classes, m->class_count, sizeof(*m->classes),
					      class_compare);
		left[i].reason = r->reason ? r->reason : "";
		left[i].launches = (int64_t)(r->seen - r->recorded);
	}
	if (count)
		qsort(left, count, sizeof(*left), left_compare);
	for (size_t i = 0; i < count; i++) {
		if (kept && !left_compare(&left[kept - 1], &left[i]))
			left[kept - 1].launches += left[i].launches;
		else
			left[kept++] = left[i];
	}
	m->left_count = kept;
	for (size_t i = 0, best = 0; i < kept; i++) {
		if (left[i].shape_class != left[best].shape_class ||
		    left[i].launches >= left[best].launches)
			best = i;
		if (*left[best].reason)
			m->classes[left[best].shape_class - m->classes].reason = left[best].reason;
	}
	return 0;
}

/*
 * The classes are what CLASS records say, and what launches show: a capture that was killed has
 * launches without CLASS records.
 */
static int fill_classes(struct suite_member *m, const struct entry *records, size_t count,
			struct error *err)
{
	struct suite_class *c = calloc(count + m->launch_count + 1, sizeof(*c));
	size_t n = 0, kept = 0;

	if (!c)
		return no_memory(err);
	m->classes = c;
	for (size_t i = 0; i < count; i++, n++) {
		const struct record_class *r = records[i].record;

		c[n] = (struct suite_class){.key = r->shape_class, .seen = r->seen, .reason = ""};
		memcpy(c[n].grid, r->grid, sizeof(c[n].grid));
	}
	for (size_t i = 0; i < m->launch_count; i++, n++) {
		c[n] = (struct suite_class){
			.key = m->launches[i]->shape_class, .recorded = 1, .reason = ""};
		memcpy(c[n].grid, m->launches[i]->grid, sizeof(c[n].grid));
	}
	if (n)
		qsort(c, n, sizeof(*c), class_compare);
	for (size_t i = 0; i < n; i++) {
		if (!kept || class_compare(&c[kept - 1], &c[i]) != 0) {
			c[kept++] = c[i];
			continue;
		}
		c[kept - 1].seen += c[i].seen;
		c[kept - 1].recorded += c[i].recorded;
	}
	m->class_count = kept;
	for (size_t i = 0; i < kept; i++) {
		if (c[i].seen < c[i].recorded)
			c[i].seen = c[i].recorded;
		m->seen += c[i].seen;
		m->recorded += c[i].recorded;
	}
	return fill_left(m, records, count, err);
}

static int fill_member(struct suite_member *m, const struct by_kernel *k, const struct bundle *b,
		       struct error *err)
{
	const struct entry *launches, *classes;
	size_t class_count;

	if (!m->kernel)
		return 0;
	m->launch_count = entries_of(k->launches, b->launches.count, m->kernel->number, &launches);
	class_count = entries_of(k->classes, b->classes.count, m->kernel->number, &classes);
	m->launches = calloc(m->launch_count + 1, sizeof(*m->launches));
	if (!m->launches)
		return no_memory(err);
	for (size_t i = 0; i < m->launch_count; i++)
		m->launches[i] = launches[i].record;
	return fill_classes(m, classes, class_count, err);
}

static int key_compare(const void *a, const void *b)
{
	return hash_compare(*(const struct hash128 *)a, *(const struct hash128 *)b);
}

static size_t distinct(struct hash128 *keys, size_t count)
{
	size_t kept = 0;

	if (count)
		qsort(keys, count, sizeof(*keys), key_compare);
	for (size_t i = 0; i < count; i++) {
		if (!kept || !hash_equal(keys[kept - 1], keys[i]))
			keys[kept++] = keys[i];
	}
	return kept;
}

/* Sums over a config's members; its class keys go to keys, which has room for them. */
static size_t sum_config(struct suite_config *c, struct hash128 *keys)
{
	size_t n = 0;

	for (size_t i = 0; i < c->member_count; i++) {
		const struct suite_member *m = &c->members[i];

		c->seen += m->seen;
		c->recorded += m->recorded;
		for (size_t k = 0; k < m->class_count; k++)
			keys[n++] = m->classes[k].key;
	}
	c->class_count = distinct(keys, n);
	return c->class_count;
}

static struct hash128 sweep_key(const struct suite_member *m, uint64_t seq)
{
	return (struct hash128){.high = m->bundle, .low = seq};
}

/* Whether a launch of the config is in a sweep: it says so, or one that does names it. */
static bool in_sweep(const struct suite_config *c, const struct hash128 *sweeps, size_t count)
{
	for (size_t i = 0; i < c->member_count; i++) {
		const struct suite_member *m = &c->members[i];

		for (size_t k = 0; k < m->launch_count; k++) {
			struct hash128 key = sweep_key(m, m->launches[k]->seq);

			if (m->launches[k]->sweep ||
			    bsearch(&key, sweeps, count, sizeof(*sweeps), key_compare))
				return true;
		}
	}
	return false;
}

/* Sweeps and compile-time benchmarks of a family. */
static int sum_marks(struct suite_family *f, struct error *err)
{
	struct hash128 *keys = NULL;
	size_t n = 0, capacity = 0;

	for (size_t c = 0; c < f->config_count; c++) {
		for (size_t i = 0; i < f->configs[c].member_count; i++) {
			const struct suite_member *m = &f->configs[c].members[i];

			for (size_t k = 0; k < m->launch_count; k++) {
				f->benchmarks += (m->launches[k]->flags & LAUNCH_BENCHMARK) != 0;
				if (!m->launches[k]->sweep)
					continue;
				if (array_reserve(&keys, n, &capacity, sizeof(*keys)) < 0) {
					free(keys);
					return no_memory(err);
				}
				keys[n++] = sweep_key(m, m->launches[k]->sweep);
			}
		}
	}
	f->sweeps = distinct(keys, n);
	for (size_t c = 0; n && c < f->config_count; c++)
		f->sweep_configs += in_sweep(&f->configs[c], keys, f->sweeps);
	free(keys);
	return 0;
}

static int sum_family(struct suite_family *f, struct error *err)
{
	struct hash128 *keys;
	size_t room = 0, n = 0;

	for (size_t i = 0; i < f->config_count; i++) {
		for (size_t k = 0; k < f->configs[i].member_count; k++)
			room += f->configs[i].members[k].class_count;
	}
	keys = calloc(room + 1, sizeof(*keys));
	if (!keys)
		return no_memory(err);
	for (size_t i = 0; i < f->config_count; i++) {
		n += sum_config(&f->configs[i], keys + n);
		f->seen += f->configs[i].seen;
		f->recorded += f->configs[i].recorded;
	}
	f->class_count = distinct(keys, n);
	free(keys);
	return sum_marks(f, err);
}

static int fill_members(struct suite *s, const struct by_kernel *k, struct error *err)
{
	int r = 0;

	for (size_t i = 0; i < s->family_count && !r; i++) {
		struct suite_family *f = &s->families[i];

		for (size_t c = 0; c < f->config_count && !r; c++) {
			for (size_t m = 0; m < f->configs[c].member_count && !r; m++) {
				struct suite_member *member = &f->configs[c].members[m];

				r = fill_member(member, &k[member->bundle],
						s->bundles[member->bundle], err);
			}
		}
		if (!r)
			r = sum_family(f, err);
		s->seen += f->seen;
		s->recorded += f->recorded;
	}
	return r;
}

int suite_count(struct suite *s, struct error *err)
{
	struct by_kernel *k = calloc(s->bundle_count + 1, sizeof(*k));
	int r = k ? 0 : no_memory(err);

	for (size_t i = 0; i < s->bundle_count && !r; i++)
		r = index_bundle(&k[i], s->bundles[i], err);
	if (!r)
		r = fill_members(s, k, err);
	for (size_t i = 0; k && i < s->bundle_count; i++) {
		free(k[i].launches);
		free(k[i].classes);
	}
	free(k);
	return r;
}

static int missing_compare(const void *a, const void *b)
{
	const struct suite_missing *x = a, *y = b;
	int r = strcmp(x->reason, y->reason);

	if (!r)
		r = number_compare(x->origin, y->origin);
	return r ? r : strcmp(x->name, y->name);
}

/* Room for all entries: UNRECORDED records and classes. */
static size_t missing_room(const struct suite *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->bundle_count; i++)
		n += s->bundles[i]->unrecordeds.count;
	for (size_t i = 0; i < s->family_count; i++) {
		for (size_t c = 0; c < s->families[i].config_count; c++) {
			const struct suite_config *config = &s->families[i].configs[c];

			for (size_t m = 0; m < config->member_count; m++)
				n += config->members[m].left_count;
		}
	}
	return n;
}

/* Launches of recorded classes beyond those that were recorded. */
static void add_surplus(struct suite *s, const struct suite_family *f, const struct suite_member *m)
{
	for (size_t i = 0; i < m->left_count; i++) {
		const struct suite_left *l = &m->left[i];

		if (l->launches > 0)
			s->missing[s->missing_count++] =
				(struct suite_missing){.name = f->name,
						       .origin = f->origin,
						       .reason = l->reason,
						       .launches = (uint64_t)l->launches};
	}
}

static void add_unrecorded(struct suite *s, const struct bundle *b)
{
	for (size_t i = 0; i < b->unrecordeds.count; i++) {
		const struct record_unrecorded *u = &b->unrecordeds.items[i];

		s->missing[s->missing_count++] =
			(struct suite_missing){.name = u->name ? u->name : "",
					       .origin = (enum origin)u->origin,
					       .reason = u->reason ? u->reason : "",
					       .launches = u->launches};
		s->unlisted += u->launches;
	}
}

int suite_find_missing(struct suite *s, struct error *err)
{
	size_t kept = 0;

	s->missing = calloc(missing_room(s) + 1, sizeof(*s->missing));
	if (!s->missing)
		return no_memory(err);
	for (size_t i = 0; i < s->bundle_count; i++)
		add_unrecorded(s, s->bundles[i]);
	for (size_t i = 0; i < s->family_count; i++) {
		for (size_t c = 0; c < s->families[i].config_count; c++) {
			const struct suite_config *config = &s->families[i].configs[c];

			for (size_t m = 0; m < config->member_count; m++)
				add_surplus(s, &s->families[i], &config->members[m]);
		}
	}
	if (s->missing_count)
		qsort(s->missing, s->missing_count, sizeof(*s->missing), missing_compare);
	for (size_t i = 0; i < s->missing_count; i++) {
		if (kept && !missing_compare(&s->missing[kept - 1], &s->missing[i]))
			s->missing[kept - 1].launches += s->missing[i].launches;
		else
			s->missing[kept++] = s->missing[i];
	}
	s->missing_count = kept;
	return 0;
}
