/* SPDX-License-Identifier: MIT */
/* A launch's contents on the device: restored, changed and compared where they lie. */
#include "replay/board.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"

#define LONG_RUN     (4u << 20) /* bytes from which on the driver fills them: one call each */
#define TABLE_ROWS   (1 + BANK_COUNT)
#define SLICE_COPIES 0x0101010101010101ull /* a byte a slice of a chunk */

static int failed(const struct board *s, CUresult result, struct error *err, const char *what)
{
	char text[160];
	int code = result == CUDA_ERROR_OUT_OF_MEMORY ? ENOMEM : EIO;

	return error_set(err, code, ERROR_NO_OFFSET, "%s: %s", what,
			 driver_error_text(s->driver, result, text, sizeof(text)));
}

static int no_memory(struct error *err)
{
	return error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for a launch's contents");
}

static void *first_room(void *context, size_t i)
{
	(void)i;
	return context;
}

/* A page's bytes from its slot. */
static int fetch_page(void *owner, uint64_t place, void *data)
{
	struct board *s = owner;
	CUdeviceptr source = place;

	return ring_download(&s->ring, &source, 1, first_room, data) == CUDA_SUCCESS ? 0 : -EIO;
}

int board_open(struct board *s, const struct driver *driver, CUstream stream,
	       struct stopwatch *watch, struct error *err)
{
	CUresult result;

	*s = (struct board){.driver = driver,
			    .stream = stream,
			    .watch = watch,
			    .slots = {.driver = driver},
			    .store = {.owner = s, .fetch = fetch_page}};
	result = ring_open(&s->ring, driver, stream, watch);
	return result == CUDA_SUCCESS ? kernels_open(&s->kernels, driver, stream, err)
				      : failed(s, result, err, "pinned memory");
}

/* ---- tables ---- */

static CUdeviceptr row(const struct board *s, size_t r)
{
	return s->tables + r * s->capacity * sizeof(CUdeviceptr);
}

static CUdeviceptr bank_row(const struct board *s, enum bank b)
{
	return row(s, 1 + (size_t)b);
}

static void free_tables(struct board *s)
{
	if (s->tables)
		s->driver->cuMemFree_v2(s->tables);
	if (s->pinned)
		s->driver->cuMemFreeHost(s->pinned);
	for (size_t b = 0; b < BANK_COUNT; b++) {
		free(s->pictures[b].pages);
		free(s->pictures[b].own);
		s->pictures[b] = (struct picture){0};
	}
	s->tables = 0;
	s->pinned = NULL;
	s->capacity = 0;
}

/* Room for that many chunks; both ends hold the same: table rows, then flags. */
static int reserve_tables(struct board *s, size_t chunks, struct error *err)
{
	size_t capacity = 1024, bytes;
	CUresult result;

	if (chunks <= s->capacity)
		return 0;
	while (capacity < chunks)
		capacity *= 2;
	bytes = capacity * (TABLE_ROWS * sizeof(CUdeviceptr) + 2 * SLICES + 1);
	s->driver->cuStreamSynchronize(s->stream);
	free_tables(s);
	result = s->driver->cuMemAlloc_v2(&s->tables, bytes);
	if (result == CUDA_SUCCESS)
		result = s->driver->cuMemAllocHost_v2(&s->pinned, bytes);
	if (result != CUDA_SUCCESS) {
		free_tables(s);
		return failed(s, result, err, "tables of chunks");
	}
	s->capacity = capacity;
	s->live = s->pinned;
	s->flags = (uint8_t *)s->pinned + capacity * TABLE_ROWS * sizeof(CUdeviceptr);
	s->device_flags = row(s, TABLE_ROWS);
	s->finds = s->flags + 2 * capacity * SLICES;
	s->device_finds = s->device_flags + 2 * capacity * SLICES;
	for (size_t b = 0; b < BANK_COUNT; b++) {
		struct picture *p = &s->pictures[b];

		p->at = s->live + (1 + b) * capacity;
		p->pages = calloc(capacity, sizeof(*p->pages));
		p->own = calloc(capacity, sizeof(*p->own));
		if (!p->pages || !p->own) {
			free_tables(s);
			return no_memory(err);
		}
	}
	return 0;
}

static CUresult send_row(struct board *s, size_t r)
{
	size_t bytes = s->contents->chunks * sizeof(CUdeviceptr);

	s->watch->cost->uploaded_bytes += bytes;
	return s->driver->cuMemcpyHtoDAsync_v2(row(s, r), s->live + r * s->capacity, bytes,
					       s->stream);
}

/* ---- a launch comes and goes ---- */

/* A bank gives up a page; whoever else has it wants its bytes now or never. */
static void let_go(struct page *p)
{
	if (p && p->refs > 1)
		page_bytes(p);
	page_unref(p);
}

static void empty_picture(struct board *s, enum bank b)
{
	struct picture *p = &s->pictures[b];

	for (size_t i = 0; i < s->contents->chunks; i++) {
		let_go(p->pages[i]);
		p->pages[i] = NULL;
		p->own[i] = 0;
	}
}

void board_drop(struct board *s)
{
	if (!s->contents)
		return;
	for (size_t b = 0; b < BANK_COUNT; b++)
		empty_picture(s, (enum bank)b);
	s->contents = NULL;
	s->rows_there = s->looked_there = false;
}

void board_clear(struct board *s)
{
	board_drop(s);
	s->driver->cuStreamSynchronize(s->stream);
	slots_clear(&s->slots);
}

/* Pages that no measured launch touches are all alike, and have no identity of their own. */
static struct hash128 identity_of(const struct contents *c, size_t i)
{
	static const struct hash128 untouched = {UINT64_MAX, GUARD_BYTE};

	return hash_is_zero(c->identity[i]) ? untouched : c->identity[i];
}

/* The device's copy of a chunk: still there, or sent now, or 0 where there is no room. */
static CUresult hold(struct board *s, size_t i)
{
	const struct contents *c = s->contents;
	CUdeviceptr *at = &s->pictures[BANK_BEFORE].at[i];
	CUresult result;

	if (!*at) /* another chunk with the same contents may have been sent by now */
		*at = slots_find(&s->slots, identity_of(c, i));
	if (*at)
		return CUDA_SUCCESS;
	*at = slots_take(&s->slots, identity_of(c, i));
	if (!*at) {
		s->unheld++;
		return CUDA_SUCCESS;
	}
	s->watch->cost->input_bytes += CHUNK_BYTES;
	result = ring_upload(&s->ring, *at, contents_chunk(c, i), CHUNK_BYTES);
	if (result != CUDA_SUCCESS)
		slots_forget(&s->slots, identity_of(c, i));
	return result;
}

int board_take(struct board *s, const struct contents *contents, struct error *err)
{
	const struct byteset shape = {.pieces = &contents->pieces, .chunks = contents->chunks};
	CUresult result = CUDA_SUCCESS;
	int rc;

	board_drop(s);
	s->driver->cuStreamSynchronize(s->stream); /* it reads the tables */
	rc = reserve_tables(s, contents->chunks, err);
	if (rc)
		return rc;
	s->contents = contents;
	s->unheld = 0;
	slots_begin(&s->slots);
	/* What is there is taken first, so that nothing of it makes room for the rest. */
	for (size_t i = 0; i < contents->chunks; i++)
		s->pictures[BANK_BEFORE].at[i] = slots_find(&s->slots, identity_of(contents, i));
	for (size_t i = 0; result == CUDA_SUCCESS && i < contents->chunks; i++) {
		s->live[i] = byteset_address(&shape, i);
		if (address_is_stand_in(s->live[i]))
			s->live[i] = slots_take(&s->slots, (struct hash128){0});
		result = s->live[i] ? hold(s, i) : CUDA_ERROR_OUT_OF_MEMORY;
		for (size_t b = 1; b < BANK_COUNT; b++)
			s->pictures[b].at[i] = s->pictures[BANK_BEFORE].at[i];
	}
	for (size_t r = 0; result == CUDA_SUCCESS && r < TABLE_ROWS; r++)
		result = send_row(s, r);
	if (result != CUDA_SUCCESS) {
		board_drop(s);
		return failed(s, result, err, "recorded contents");
	}
	board_spoil(s);
	return 0;
}

/* ---- restoring ---- */

void board_spoil(struct board *s)
{
	size_t bytes = s->contents->chunks * SLICES;

	/* An error shows in the next call. */
	s->driver->cuMemsetD8Async(s->device_flags, SLICE_CHANGED, bytes, s->stream);
	memset(s->flags, SLICE_CHANGED, bytes);
}

static uint64_t chunk_flags(const struct board *s, size_t chunk)
{
	uint64_t flags;

	memcpy(&flags, s->flags + chunk * SLICES, sizeof(flags));
	return flags;
}

static uint64_t changed_bytes(const struct board *s)
{
	uint64_t slices = 0;

	for (size_t i = 0; i < s->contents->chunks; i++)
		if (s->pictures[BANK_BEFORE].at[i])
			slices += (uint64_t)__builtin_popcountll(chunk_flags(s, i) &
								 SLICE_CHANGED * SLICE_COPIES);
	return slices * SLICE_BYTES;
}

int board_restore(struct board *s, struct error *err)
{
	const struct contents *c = s->contents;
	CUresult result;

	s->watch->cost->restored_bytes += changed_bytes(s);
	result = kernels_restore(&s->kernels, row(s, 0), bank_row(s, BANK_BEFORE), s->device_flags,
				 c->chunks, s->stream);
	for (size_t i = 0; s->unheld && result == CUDA_SUCCESS && i < c->chunks; i++)
		if (!s->pictures[BANK_BEFORE].at[i])
			result = ring_upload(&s->ring, s->live[i], contents_chunk(c, i),
					     CHUNK_BYTES);
	return result == CUDA_SUCCESS ? 0 : failed(s, result, err, "restoring");
}

/* Puts an array on the device. */
static CUresult send_to(struct board *s, struct device_list *list, const void *data, size_t bytes)
{
	const uint8_t *from = data;
	CUresult result = CUDA_SUCCESS;

	if (bytes > list->bytes) {
		s->driver->cuStreamSynchronize(s->stream);
		if (list->at)
			s->driver->cuMemFree_v2(list->at);
		*list = (struct device_list){0};
		result = s->driver->cuMemAlloc_v2(&list->at, 2 * bytes);
		if (result != CUDA_SUCCESS)
			return result;
		list->bytes = 2 * bytes;
	}
	for (size_t done = 0; result == CUDA_SUCCESS && done < bytes; done += CHUNK_BYTES)
		result = ring_upload(&s->ring, list->at + done, from + done,
				     bytes - done < CHUNK_BYTES ? bytes - done : CHUNK_BYTES);
	return result;
}

static CUresult send_list(struct board *s, const void *data, size_t bytes)
{
	s->rows_there = false;
	return send_to(s, &s->list, data, bytes);
}

static int add_run(struct run_list *list, uint64_t address, uint64_t size)
{
	if (array_reserve(&list->items, list->count, &list->capacity, sizeof(*list->items)))
		return -ENOMEM;
	list->items[list->count++] = (struct device_run){address, size};
	return 0;
}

/* A run on the device; one that the driver does not fill is cut, so that many blocks share it. */
static int add_runs(struct board *s, uint64_t address, uint64_t size)
{
	int rc = 0;

	if (size >= LONG_RUN)
		return add_run(&s->long_runs, address, size);
	while (!rc && size) {
		uint64_t n = size < SLICE_BYTES ? size : SLICE_BYTES;

		rc = add_run(&s->short_runs, address, n);
		address += n;
		size -= n;
	}
	return rc;
}

/* A run of the contents, cut where chunks do not lie side by side. */
static int add_range(struct board *s, size_t chunk, struct range run)
{
	int rc = 0;

	while (!rc && run.size) {
		CUdeviceptr at = s->live[chunk] + run.base % CHUNK_BYTES;
		uint64_t n = CHUNK_BYTES - run.base % CHUNK_BYTES;

		for (chunk++; n < run.size && s->live[chunk] == s->live[chunk - 1] + CHUNK_BYTES;
		     chunk++)
			n += CHUNK_BYTES;
		n = n < run.size ? n : run.size;
		rc = add_runs(s, at, n);
		run.base += n;
		run.size -= n;
	}
	return rc;
}

int board_plan_fill(struct board *s, const struct byteset *bytes, struct error *err)
{
	CUresult result = CUDA_SUCCESS;
	uint64_t cursor = 0;
	struct range run;

	s->short_runs.count = s->long_runs.count = 0;
	while (byteset_next(bytes, &cursor, &run))
		if (add_range(s, byteset_chunk(bytes, run.base), run))
			return no_memory(err);
	if (s->short_runs.count)
		result = send_list(s, s->short_runs.items,
				   s->short_runs.count * sizeof(*s->short_runs.items));
	return result == CUDA_SUCCESS ? 0 : failed(s, result, err, "poison");
}

static uint64_t runs_bytes(const struct run_list *list)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < list->count; i++)
		bytes += list->items[i].size;
	return bytes;
}

int board_fill(struct board *s, uint8_t fill, struct error *err)
{
	CUresult result =
		kernels_fill(&s->kernels, s->list.at, s->short_runs.count, fill, s->stream);

	for (size_t i = 0; result == CUDA_SUCCESS && i < s->long_runs.count; i++)
		result = s->driver->cuMemsetD8Async(s->long_runs.items[i].address, fill,
						    s->long_runs.items[i].size, s->stream);
	s->watch->cost->changed_bytes += runs_bytes(&s->short_runs) + runs_bytes(&s->long_runs);
	return result == CUDA_SUCCESS ? 0 : failed(s, result, err, "poison");
}

/* The rows depend on what is changed, not on seed, step or exponent. */
static bool same_rows(const struct board *s, const struct change *c)
{
	return s->rows_there && s->rows_of.inputs == c->inputs && s->rows_of.keep == c->keep &&
	       s->rows_of.zero == c->zero;
}

static int make_rows(struct board *s, const struct change *change, struct error *err)
{
	const struct byteset shape = {.pieces = &s->contents->pieces,
				      .chunks = s->contents->chunks};
	CUresult result;

	s->rows.count = 0;
	for (size_t i = 0; i < s->contents->chunks; i++)
		if (change_rows(&s->rows, change, i, byteset_address(&shape, i), s->live[i]))
			return no_memory(err);
	result = send_list(s, s->rows.items, s->rows.count * sizeof(*s->rows.items));
	if (result != CUDA_SUCCESS)
		return failed(s, result, err, "changed inputs");
	s->rows_of = *change;
	s->rows_there = true;
	return 0;
}

int board_plan_change(struct board *s, const struct change *change, struct error *err)
{
	return same_rows(s, change) ? 0 : make_rows(s, change, err);
}

int board_change(struct board *s, const struct change *change, struct error *err)
{
	CUresult result = kernels_change(&s->kernels, s->list.at, s->rows.count, change, s->stream);

	for (size_t i = 0; i < s->rows.count; i++)
		s->watch->cost->changed_bytes += s->rows.items[i].count * s->rows.items[i].bytes;
	return result == CUDA_SUCCESS ? 0 : failed(s, result, err, "changed inputs");
}

/* ---- comparing and reading back ---- */

int board_plan_look(struct board *s, const struct extents *extents, const struct byteset *written,
		    bool *can, struct error *err)
{
	CUresult result = CUDA_SUCCESS;
	int rc;

	*can = true;
	if (s->looked_there)
		return 0;
	s->looked.count = 0;
	rc = look_rows(&s->looked, extents, written, (const uint64_t *)s->live);
	*can = !rc;
	if (rc)
		return rc < 0 ? no_memory(err) : 0;
	if (s->looked.count)
		result = send_to(s, &s->look_list, s->looked.items,
				 s->looked.count * sizeof(*s->looked.items));
	s->looked_there = result == CUDA_SUCCESS;
	return result == CUDA_SUCCESS ? 0 : failed(s, result, err, "looking at outputs");
}

int board_look(struct board *s, enum look look, struct error *err)
{
	size_t bytes = s->contents->chunks;
	CUresult result = s->driver->cuMemsetD8Async(s->device_finds, 0, bytes, s->stream);

	if (result == CUDA_SUCCESS)
		result = kernels_look(&s->kernels, s->look_list.at, s->looked.count, look,
				      s->device_finds, s->stream);
	if (result == CUDA_SUCCESS)
		result = s->driver->cuMemcpyDtoHAsync_v2(s->finds, s->device_finds, bytes,
							 s->stream);
	s->watch->cost->downloaded_bytes += bytes;
	s->look = look;
	return result == CUDA_SUCCESS ? 0 : failed(s, result, err, "looking at outputs");
}

static CUresult compare(struct board *s, enum bank bank, CUdeviceptr device_flags, uint8_t *flags)
{
	size_t chunks = s->contents->chunks, bytes = chunks * SLICES;
	CUresult result = kernels_compare(&s->kernels, row(s, 0), bank_row(s, BANK_BEFORE),
					  bank_row(s, bank), device_flags, chunks, s->stream);

	if (result == CUDA_SUCCESS && bytes)
		result = s->driver->cuMemcpyDtoHAsync_v2(flags, device_flags, bytes, s->stream);
	s->watch->cost->compared_bytes += chunks * (uint64_t)CHUNK_BYTES;
	s->watch->cost->downloaded_bytes += bytes;
	return result;
}

int board_compare(struct board *s, enum bank bank, struct error *err)
{
	size_t all = s->capacity * SLICES;
	CUresult result = compare(s, bank, s->device_flags, s->flags);

	s->look = LOOK_NONE;
	/* What was filled and is as after a plain run of A need not be read either. */
	if (result == CUDA_SUCCESS && bank == BANK_FILLED)
		result = compare(s, BANK_A, s->device_flags + all, s->flags + all);
	return result == CUDA_SUCCESS ? 0 : failed(s, result, err, "comparing");
}

/* The page of a picture that the last comparison found the chunk to equal; NULL: of none. */
static struct page *equal_page(const struct board *s, enum bank bank, size_t i)
{
	const uint8_t *as_a = s->flags + (s->capacity + i) * SLICES;

	if (!(chunk_flags(s, i) & SLICE_DIFFERS * SLICE_COPIES))
		return s->pictures[bank].pages[i];
	for (size_t k = 0; k < SLICES; k++)
		if (bank != BANK_FILLED || as_a[k] & SLICE_DIFFERS)
			return NULL;
	return s->pictures[BANK_A].pages[i];
}

struct reading {
	struct snapshot *out;
	const size_t *chunks; /* to read */
};

static void *page_to_fill(void *context, size_t i)
{
	const struct reading *r = context;
	struct page *p = page_new();

	r->out->chunks[r->chunks[i]] = p;
	return p ? p->data : NULL;
}

/* A chunk that the device has no copy of could not be compared there. */
static void drop_unchanged(const struct board *s, struct snapshot *out, size_t i)
{
	if (s->pictures[BANK_BEFORE].at[i] ||
	    memcmp(out->chunks[i]->data, contents_chunk(s->contents, i), CHUNK_BYTES) != 0)
		return;
	page_unref(out->chunks[i]);
	out->chunks[i] = NULL;
}

/* A page of the chunk that stays in a slot of the bank; NULL: it has no room. */
static struct page *leave_page(struct board *s, enum bank keep, size_t i)
{
	struct picture *p = &s->pictures[keep];
	struct page *page;

	/* One that is held on the host only is compared there. */
	if (keep == BANK_BEFORE || !s->pictures[BANK_BEFORE].at[i])
		return NULL;
	let_go(p->pages[i]);
	p->pages[i] = NULL;
	if (!p->own[i])
		p->own[i] = slots_take(&s->slots, (struct hash128){0});
	page = p->own[i] ? page_away(&s->store, p->own[i]) : NULL;
	if (page && s->look != LOOK_NONE && !s->finds[i])
		page->clean = 1u << s->look;
	return page;
}

int board_read(struct board *s, enum bank bank, const struct byteset *only, enum bank keep,
	       struct snapshot *out, struct error *err)
{
	size_t chunks = s->contents->chunks, count = 0;
	_cleanup_free_ size_t *list = malloc((chunks + 1) * sizeof(*list));
	_cleanup_free_ CUdeviceptr *sources = calloc(chunks + 1, sizeof(*sources));
	struct reading reading = {out, list};
	CUresult result;

	if (!list || !sources)
		return no_memory(err);
	for (size_t i = 0; i < chunks; i++) {
		struct page *equal;

		if (!(chunk_flags(s, i) & SLICE_CHANGED * SLICE_COPIES) ||
		    (only && !only->words[i]))
			continue;
		equal = equal_page(s, bank, i);
		if (equal) {
			out->chunks[i] = page_ref(equal);
			continue;
		}
		out->chunks[i] = leave_page(s, keep, i);
		if (out->chunks[i])
			continue;
		sources[count] = s->live[i];
		list[count++] = i;
	}
	result = ring_download(&s->ring, sources, count, page_to_fill, &reading);
	for (size_t i = 0; s->unheld && result == CUDA_SUCCESS && i < count; i++)
		drop_unchanged(s, out, list[i]);
	return result == CUDA_SUCCESS ? 0 : failed(s, result, err, "reading");
}

static void *room_of_page(void *context, size_t i)
{
	struct page **pages = context;

	return pages[i]->data;
}

int board_fetch(struct board *s, const struct snapshot *what, struct error *err)
{
	size_t chunks = s->contents->chunks, count = 0;
	_cleanup_free_ struct page **pages = calloc(chunks + 1, sizeof(struct page *));
	_cleanup_free_ CUdeviceptr *sources = calloc(chunks + 1, sizeof(*sources));
	CUresult result;

	if (!pages || !sources)
		return no_memory(err);
	for (size_t i = 0; i < chunks; i++) {
		struct page *p = what->chunks[i];

		if (!p || p->store != &s->store)
			continue;
		sources[count] = p->place;
		pages[count++] = p;
	}
	result = ring_download(&s->ring, sources, count, room_of_page, pages);
	for (size_t i = 0; result == CUDA_SUCCESS && i < count; i++)
		pages[i]->store = NULL;
	return result == CUDA_SUCCESS ? 0 : failed(s, result, err, "reading");
}

int board_fetched(const struct board *s, struct error *err)
{
	return s->store.error ? error_set(err, -s->store.error, ERROR_NO_OFFSET,
					  "outputs kept on the device could not be read")
			      : 0;
}

/* ---- banks ---- */

/* Where the device holds the bank's page of a chunk already; 0: nowhere. */
static CUdeviceptr find_kept(const struct board *s, enum bank bank, size_t i)
{
	const struct picture *p = &s->pictures[bank], *a = &s->pictures[BANK_A];

	if (!p->pages[i])
		return s->pictures[BANK_BEFORE].at[i];
	if (bank != BANK_A && a->pages[i] == p->pages[i])
		return a->at[i];
	if (i && p->pages[i] == p->pages[i - 1]) /* filled chunks are all alike */
		return p->at[i - 1];
	return 0;
}

/* Copies live chunks to their slots, runs of neighbours at once. */
static CUresult copy_to_slots(struct board *s, const struct picture *p, const bool *copy)
{
	size_t chunks = s->contents->chunks;
	CUresult result = CUDA_SUCCESS;

	for (size_t i = 0, n; result == CUDA_SUCCESS && i < chunks; i += n) {
		n = 1;
		if (!copy[i])
			continue;
		while (i + n < chunks && copy[i + n] &&
		       s->live[i + n] == s->live[i] + n * (size_t)CHUNK_BYTES &&
		       p->own[i + n] == p->own[i] + n * (size_t)CHUNK_BYTES)
			n++;
		result = s->driver->cuMemcpyDtoDAsync_v2(p->own[i], s->live[i],
							 n * (size_t)CHUNK_BYTES, s->stream);
		s->watch->cost->kept_bytes += n * (uint64_t)CHUNK_BYTES;
	}
	return result;
}

/* pages: a chunk each, NULL for as before. References are taken over. */
static int keep_pages(struct board *s, enum bank bank, struct page **pages, struct error *err)
{
	struct picture *p = &s->pictures[bank];
	size_t chunks = s->contents->chunks;
	_cleanup_free_ bool *copy = calloc(chunks + 1, sizeof(*copy));
	CUresult result;

	for (size_t i = 0; i < chunks; i++) {
		let_go(p->pages[i]);
		p->pages[i] = pages[i];
		p->at[i] = find_kept(s, bank, i);
		if (p->at[i])
			continue;
		if (!p->own[i])
			p->own[i] = slots_take(&s->slots, (struct hash128){0});
		p->at[i] = p->own[i]; /* 0: no room, it will be read back each time */
		if (copy)
			copy[i] = p->own[i];
	}
	if (!copy)
		return no_memory(err);
	result = copy_to_slots(s, p, copy);
	if (result == CUDA_SUCCESS) /* a run is waited for before the bank changes again */
		result = send_row(s, 1 + (size_t)bank);
	return result == CUDA_SUCCESS ? 0 : failed(s, result, err, "keeping outputs");
}

int board_keep(struct board *s, enum bank bank, const struct snapshot *now, struct error *err)
{
	size_t chunks = s->contents->chunks;
	_cleanup_free_ struct page **pages = calloc(chunks + 1, sizeof(struct page *));

	if (!pages)
		return no_memory(err);
	for (size_t i = 0; i < chunks; i++)
		pages[i] = page_ref(now->chunks[i]);
	return keep_pages(s, bank, pages, err);
}

int board_copy_variables(struct board *s, const struct variables *v, bool to_module,
			 struct error *err)
{
	CUresult result = variables_copy(v, s->driver, s->contents, s->live, to_module, s->stream);

	return result == CUDA_SUCCESS ? 0 : failed(s, result, err, "module variables");
}

static bool all_set(const uint64_t *words)
{
	for (size_t i = 0; i < BYTESET_WORDS; i++)
		if (words[i] != UINT64_MAX)
			return false;
	return true;
}

/* Fills those bytes of a chunk whose bits are set; most words are all or nothing. */
static void fill_bytes(uint8_t *data, const uint64_t *words, uint8_t fill)
{
	for (size_t i = 0; i < BYTESET_WORDS; i++) {
		if (words[i] == UINT64_MAX) {
			memset(data + 64 * i, fill, 64);
			continue;
		}
		for (uint64_t w = words[i]; w; w &= w - 1)
			data[64 * i + (size_t)__builtin_ctzll(w)] = fill;
	}
}

/* What board_fill made of a chunk. */
static struct page *filled_page(struct board *s, size_t i, const uint64_t *words, uint8_t fill)
{
	struct page *p;

	if (all_set(words)) {
		if (!s->filler || s->filler->uniform != fill) {
			page_unref(s->filler);
			s->filler = page_uniform(fill);
		}
		return page_ref(s->filler);
	}
	p = page_new();
	if (p) {
		memcpy(p->data, contents_chunk(s->contents, i), CHUNK_BYTES);
		fill_bytes(p->data, words, fill);
	}
	return p;
}

int board_keep_filled(struct board *s, const struct byteset *bytes, uint8_t fill, struct error *err)
{
	size_t chunks = s->contents->chunks;
	_cleanup_free_ struct page **pages = calloc(chunks + 1, sizeof(struct page *));

	if (!pages)
		return no_memory(err);
	for (size_t i = 0; i < chunks; i++) {
		if (!bytes->words[i])
			continue;
		pages[i] = filled_page(s, i, bytes->words[i], fill);
		if (pages[i])
			continue;
		while (i--)
			page_unref(pages[i]);
		return no_memory(err);
	}
	return keep_pages(s, BANK_FILLED, pages, err);
}
