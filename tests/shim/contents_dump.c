/* SPDX-License-Identifier: MIT */
/*
 * Prints a line a launch with all that its contents are, read from the file: equal for two bundles
 * if and only if they hold the same. Without sequence numbers, which threads make differ. Behind it
 * a line with the bytes of its chunks before and of those that changed, and each extent that it
 * reads or writes (r or w REGION:OFFSET+BYTES; whole regions where it was not measured). And a line
 * a fact.
 */
#include <stdio.h>
#include <string.h>

#include "kernelab/bundle.h"
#include "lib/base.h"

static void print_hash(const char *name, struct hash128 h)
{
	char text[HASH_TEXT_BYTES];

	printf(" %s %s", name, hash_text(h, text));
}

/* Reads every chunk, so that a key without its chunk is found. */
static int check_chunk(const struct bundle *b, const struct record_region *r, uint64_t index,
		       struct hash128 key)
{
	static char data[CHUNK_BYTES];
	struct error err = {0};
	uint64_t address;
	uint32_t bytes;

	if (hash_is_zero(key))
		return 0;
	chunk_range(r->base, r->size, index, &address, &bytes);
	if (bundle_read_chunk(b, key, data, bytes, &err) >= 0)
		return 0;
	fprintf(stderr, "contents_dump: %s\n", err.message);
	return 1;
}

static uint64_t chunk_bytes(const struct record_region *r, uint64_t index)
{
	uint64_t address;
	uint32_t bytes;

	chunk_range(r->base, r->size, index, &address, &bytes);
	return bytes;
}

static void print_pairs(char kind, size_t region, const struct u64s *pairs)
{
	for (size_t i = 0; i + 1 < pairs->count; i += 2)
		printf(" %c%zu:%llu+%llu", kind, region, (unsigned long long)pairs->items[i],
		       (unsigned long long)pairs->items[i + 1]);
}

static void print_sizes(const struct bundle *b, const struct record_launch *l)
{
	const struct record_after *after = bundle_after(b, l->seq);
	uint64_t before = 0, changed = 0;

	for (size_t i = 0; i < l->regions.count; i++)
		for (size_t j = 0; j < l->regions.items[i].chunks.count; j++)
			if (!hash_is_zero(l->regions.items[i].chunks.items[j]))
				before += chunk_bytes(&l->regions.items[i], j);
	for (size_t i = 0; after && i < after->changes.count; i++)
		changed += chunk_bytes(&l->regions.items[after->changes.items[i].region],
				       after->changes.items[i].chunk);
	printf("sizes %llu %llu", (unsigned long long)before, (unsigned long long)changed);
	for (size_t i = 0; i < l->regions.count; i++) {
		const struct record_region *r = &l->regions.items[i];
		uint64_t whole[] = {0, r->size};
		struct u64s all = {whole, 2};

		print_pairs('r', i, l->measured ? &r->reads : &all);
		print_pairs('w', i, l->measured ? &r->writes : &all);
	}
	printf("\n");
}

static int print_launch(const struct bundle *b, const struct record_launch *l)
{
	const struct record_after *after = bundle_after(b, l->seq);
	struct hash_state *changes = hash_state_new();
	int bad = !changes;

	printf("launch flags %u", l->flags);
	for (size_t i = 0; i < l->regions.count; i++) {
		const struct record_region *r = &l->regions.items[i];

		printf(" region 0x%llx+%llu%s", (unsigned long long)r->base,
		       (unsigned long long)r->size, r->note ? " note" : "");
		print_hash("keys",
			   hash_bytes(r->chunks.items, r->chunks.count * sizeof(*r->chunks.items)));
		for (size_t j = 0; j < r->chunks.count; j++)
			bad |= check_chunk(b, r, j, r->chunks.items[j]);
	}
	for (size_t i = 0; after && changes && i < after->changes.count; i++) {
		const struct record_change *c = &after->changes.items[i];

		hash_state_add(changes, &c->region, sizeof(c->region));
		hash_state_add(changes, &c->chunk, sizeof(c->chunk));
		hash_state_add(changes, &c->key, sizeof(c->key));
		bad |= check_chunk(b, &l->regions.items[c->region], c->chunk, c->key);
	}
	if (after)
		printf(" after %lld %lld changes %zu", (long long)after->result,
		       (long long)after->sync_result, after->changes.count);
	if (changes)
		print_hash("hash", hash_state_end(changes));
	hash_state_free(changes);
	printf("\n");
	return bad;
}

int main(int argc, char **argv)
{
	struct error err = {0};
	struct bundle *b;
	int bad = 0;

	bool facts_only = argc == 3 && !strcmp(argv[1], "--facts");

	if (argc != 2 && !facts_only)
		return 2;
	if (bundle_open(&b, argv[argc - 1], &err) < 0) {
		fprintf(stderr, "contents_dump: %s\n", err.message);
		return 1;
	}
	for (size_t i = 0; !facts_only && i < b->launches.count; i++) {
		bad |= print_launch(b, &b->launches.items[i]);
		print_sizes(b, &b->launches.items[i]);
	}
	for (size_t i = 0; i < b->facts.count; i++)
		printf("fact %s %s %s\n", b->facts.items[i].name, b->facts.items[i].value,
		       b->facts.items[i].how ? b->facts.items[i].how : "");
	bundle_close(b);
	return bad;
}
