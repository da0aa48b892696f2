/* SPDX-License-Identifier: MIT */
/* What a replay would do, for people to review: the table of pairs and the list of launches. */
#include "replay/table.h"

#include <string.h>

#include "lib/base.h"

#define PAIRING_COUNT 6

/* ---- pairs ---- */

static const char *key_text(const struct suite_config *c, char *hex)
{
	return c ? hash_text(c->key, hex) : "-";
}

static const char *options_text(const struct suite_config *c)
{
	return c && c->options && *c->options ? c->options : "-";
}

/* True for a further image of the same two configs, with the same fate: one line is enough. */
static bool is_told(const struct plan *plan, size_t index)
{
	const struct pair *p = &plan->pairs.items[index], *q = p - 1;

	return index && plan->selected[index - 1] && p->config == q->config &&
	       p->b_config == q->b_config && p->pairing == q->pairing &&
	       !strcmp(p->reason ? p->reason : "", q->reason ? q->reason : "");
}

/* Launches of this line and those that is_told leaves to it. */
static size_t launches_of(const struct plan *plan, size_t index)
{
	size_t n = plan->pairs.items[index].launch_count;

	for (size_t i = index + 1; i < plan->pairs.count && plan->selected[i] && is_told(plan, i);
	     i++)
		n += plan->pairs.items[i].launch_count;
	return n;
}

void table_pairs(const struct plan *plan, FILE *out)
{
	size_t counts[PAIRING_COUNT] = {0}, untested = 0;

	fputs("#family\tconfig\tconfig of B\tpairing\tlaunches\toptions\toptions of B\treason\n",
	      out);
	for (size_t i = 0; i < plan->pairs.count; i++) {
		const struct pair *p = &plan->pairs.items[i];
		const struct suite_config *a = p->base ? p->config : NULL;
		char hex_a[HASH_TEXT_BYTES], hex_b[HASH_TEXT_BYTES];

		if (!plan->selected[i])
			continue;
		counts[p->pairing < PAIRING_COUNT ? p->pairing : 0]++;
		untested += p->reason != NULL;
		if (is_told(plan, i))
			continue;
		/* What only B has is no rule: a comment for --pair. */
		fprintf(out, "%s%s\t%s\t%s\t%s\t%zu\t%s\t%s\t%s\n",
			p->pairing == PAIRING_B_ONLY ? "#" : "", p->family->name,
			p->pairing == PAIRING_B_ONLY ? "-" : key_text(a, hex_a),
			key_text(p->b ? p->b_config : NULL, hex_b), pairing_name(p->pairing),
			launches_of(plan, i), options_text(a),
			options_text(p->b ? p->b_config : NULL),
			p->reason     ? p->reason
			: p->stand_in ? p->stand_in
				      : "-");
	}
	fputs("# images:", out);
	for (uint32_t i = 0; i < PAIRING_COUNT; i++)
		if (counts[i])
			fprintf(out, " %zu %s,", counts[i], pairing_name(i));
	fprintf(out, " %zu not tested\n", untested);
}

/* ---- launches ---- */

uint64_t launch_region_bytes(const struct record_launch *l)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < l->regions.count; i++)
		bytes += l->regions.items[i].size;
	return bytes;
}

static void put_totals(const struct plan *plan, FILE *out)
{
	const struct record_launch *largest = NULL;
	size_t run = 0, not_run = 0, untested = 0, derived = 0;
	uint64_t total = 0;

	for (size_t i = 0; i < plan->count; i++) {
		const struct replay_case *c = &plan->cases[i];

		not_run += c->reason != NULL;
		if (c->reason)
			continue;
		run++;
		derived += c->derived != NULL;
		total += launch_region_bytes(c->launch);
		if (!largest || launch_region_bytes(c->launch) > launch_region_bytes(largest))
			largest = c->launch;
	}
	for (size_t i = 0; i < plan->pairs.count; i++)
		untested += plan->selected[i] && plan->pairs.items[i].reason;
	fprintf(out, "%zu launches to run", run);
	if (derived)
		fprintf(out, " (%zu of them derived)", derived);
	fprintf(out, ", %zu not; %zu configs not tested; %.3f GB to restore", not_run, untested,
		(double)total * 1e-9);
	if (largest)
		fprintf(out,
			", device memory for the largest, launch %llu: %.3f GB, and as much for a "
			"pristine copy",
			(unsigned long long)largest->seq,
			(double)launch_region_bytes(largest) * 1e-9);
	fputc('\n', out);
}

void table_launches(const struct plan *plan, FILE *out)
{
	for (size_t i = 0; i < plan->pairs.count; i++) {
		const struct pair *pair = &plan->pairs.items[i];

		if (!plan->selected[i])
			continue;
		fprintf(out, "%s  %s  (%s)%s%s\n", pair->family->name,
			pair->config->options ? pair->config->options : "",
			pairing_name(pair->pairing), pair->reason ? "  not tested: " : "",
			pair->reason ? pair->reason : "");
		if (!pair->reason && pair->stand_in)
			fprintf(out, "  %s\n", pair->stand_in);
		for (size_t j = 0; j < plan->count; j++) {
			const struct replay_case *c = &plan->cases[j];

			if (c->pair != i)
				continue;
			fprintf(out, "  launch %llu  grid %ux%ux%u  %s%s%s%s%s\n",
				(unsigned long long)c->launch->seq, c->launch->grid[0],
				c->launch->grid[1], c->launch->grid[2],
				c->reason ? "not run: " : "A and B", c->reason ? c->reason : "",
				c->derived ? ", derived: " : "", c->derived ? c->derived->text : "",
				c->sibling_count > 1 ? ", 2 synthetic siblings"
				: c->sibling_count   ? ", 1 synthetic sibling"
						     : "");
		}
	}
	put_totals(plan, out);
}
