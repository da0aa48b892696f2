/* SPDX-License-Identifier: MIT */
/* Device memory at recorded addresses: reserved once, mapped and restored launch by launch. */
#include "replay/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "replay/host_memory.h"

static int failed(const struct memory *m, CUresult result, struct error *err, const char *what,
		  uint64_t address, uint64_t size)
{
	char text[160];
	int code = result == CUDA_ERROR_OUT_OF_MEMORY ? ENOMEM : EIO;

	return error_set(err, code, ERROR_NO_OFFSET, "%s of 0x%llx, %llu bytes: %s", what,
			 (unsigned long long)address, (unsigned long long)size,
			 driver_error_text(m->driver, result, text, sizeof(text)));
}

static int reserve_device(struct memory *m, const struct ranges *wanted)
{
	for (size_t i = 0; i < wanted->count; i++) {
		const struct range *r = &wanted->items[i];
		CUdeviceptr got = 0;
		CUresult result = m->driver->cuMemAddressReserve(&got, r->size, 0, r->base, 0);
		bool granted = result == CUDA_SUCCESS && got == r->base;
		int rc;

		if (result == CUDA_SUCCESS && !granted)
			m->driver->cuMemAddressFree(got, r->size);
		rc = ranges_add(granted ? &m->reserved : &m->refused, r->base, r->size);
		if (rc)
			return rc;
	}
	return 0;
}

int memory_reserve(struct memory *m, const struct driver *driver, CUdevice device,
		   struct stopwatch *watch, const struct reservations *wanted, struct error *err)
{
	int rc;

	*m = (struct memory){.driver = driver, .device = device, .watch = watch};
	rc = reserve_device(m, &wanted->device);
	if (!rc)
		rc = host_memory_reserve(&m->host, &m->refused, &wanted->host);
	if (rc)
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for ranges");
	if (!m->refused.count)
		return 0;
	return error_set(err, EADDRNOTAVAIL, ERROR_NO_OFFSET,
			 "addresses 0x%llx to 0x%llx are taken in this process",
			 (unsigned long long)m->refused.items[0].base,
			 (unsigned long long)(m->refused.items[0].base + m->refused.items[0].size));
}

/* Restored as host memory, not as device memory that the driver maps. */
static bool is_host(const struct memory *m, const struct range *piece)
{
	return ranges_find(&m->host, piece->base, piece->size) != NULL;
}

void memory_unmap(struct memory *m)
{
	const struct driver *d = m->driver;

	for (size_t i = 0; m->contents && i < m->mapped; i++) {
		const struct range *p = &m->contents->pieces.items[i];

		if (address_is_stand_in(p->base))
			continue;
		if (is_host(m, p)) {
			host_memory_unmap(d, p);
			continue;
		}
		d->cuMemUnmap(p->base, p->size);
		d->cuMemRelease(m->handles[i]);
	}
	for (size_t i = 0; m->pristine && i < m->contents->pieces.count; i++)
		if (m->pristine[i])
			d->cuMemFree_v2(m->pristine[i]);
	free(m->handles);
	free(m->pristine);
	m->handles = NULL;
	m->pristine = NULL;
	m->contents = NULL;
	m->variables = NULL;
	m->mapped = 0;
}

void memory_use_variables(struct memory *m, const struct variables *variables)
{
	m->variables = variables;
}

/* Writes bytes that lie at `address` in the contents to where they are now. */
static CUresult put(struct memory *m, uint64_t address, const uint8_t *data, uint64_t bytes)
{
	if (address_is_stand_in(address))
		return variables_put(m->variables, m->driver, m->contents, address, data, bytes);
	return m->driver->cuMemcpyHtoD_v2(address, data, bytes);
}

/* Where the driver does not give us the address, say which recorded range it belongs to. */
static int check_reserved(const struct memory *m, const struct range *p, struct error *err)
{
	if (address_is_stand_in(p->base) || is_host(m, p) ||
	    ranges_find(&m->reserved, p->base, p->size))
		return 0;
	return error_set(err, EADDRNOTAVAIL, ERROR_NO_OFFSET,
			 "address not restorable: 0x%llx, %llu bytes, is taken in the replaying "
			 "process",
			 (unsigned long long)p->base, (unsigned long long)p->size);
}

static int map_piece(struct memory *m, const struct range *p, struct error *err)
{
	const struct driver *d = m->driver;
	CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
				    .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE,
						 .id = m->device}};
	CUmemAccessDesc access = {.location = prop.location,
				  .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
	CUresult result;

	if (address_is_stand_in(p->base)) { /* it is in a module */
		m->mapped++;
		return 0;
	}
	if (is_host(m, p)) {
		int rc = host_memory_map(d, p, err);

		m->mapped += !rc;
		return rc;
	}
	result = d->cuMemCreate(&m->handles[m->mapped], p->size, &prop, 0);
	if (result != CUDA_SUCCESS)
		return failed(m, result, err, "physical memory", p->base, p->size);
	result = d->cuMemMap(p->base, p->size, 0, m->handles[m->mapped], 0);
	if (result != CUDA_SUCCESS) {
		d->cuMemRelease(m->handles[m->mapped]);
		return failed(m, result, err, "mapping", p->base, p->size);
	}
	m->mapped++;
	result = d->cuMemSetAccess(p->base, p->size, &access, 1);
	if (result != CUDA_SUCCESS)
		return failed(m, result, err, "access", p->base, p->size);
	return 0;
}

/* Copies between host and device through the pinned buffer. */
static int upload(struct memory *m, CUdeviceptr to, const uint8_t *from, uint64_t size,
		  struct error *err)
{
	enum activity before = stopwatch_switch(m->watch, ACTIVITY_UPLOADING);

	m->watch->cost->uploaded_bytes += size;
	while (size) {
		uint64_t n = size < STAGING_BYTES ? size : STAGING_BYTES;
		CUresult result;

		memcpy(m->staging, from, n);
		result = put(m, to, m->staging, n);
		if (result != CUDA_SUCCESS)
			return failed(m, result, err, "copy to the device", to, n);
		to += n;
		from += n;
		size -= n;
	}
	stopwatch_switch(m->watch, before);
	return 0;
}

/* A device copy of everything, if three quarters of the free memory hold it; else none. */
static int make_pristine(struct memory *m, struct error *err)
{
	const struct ranges *pieces = &m->contents->pieces;
	uint64_t total = ranges_bytes(pieces);
	size_t free_bytes = 0, all_bytes = 0;

	if (m->driver->cuMemGetInfo_v2(&free_bytes, &all_bytes) != CUDA_SUCCESS ||
	    total > free_bytes / 4 * 3)
		return 0;
	m->pristine = calloc(pieces->count ? pieces->count : 1, sizeof(*m->pristine));
	if (!m->pristine)
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for the device copy");
	for (size_t i = 0; i < pieces->count; i++) {
		CUresult result;
		int rc;

		if (address_is_stand_in(pieces->items[i].base))
			continue;
		result = m->driver->cuMemAlloc_v2(&m->pristine[i], pieces->items[i].size);
		if (result != CUDA_SUCCESS) {
			m->pristine[i] = 0; /* restored from the host then */
			continue;
		}
		rc = upload(m, m->pristine[i], m->contents->before[i], pieces->items[i].size, err);
		m->watch->cost->input_bytes += pieces->items[i].size;
		if (rc)
			return rc;
	}
	return 0;
}

int memory_map(struct memory *m, const struct contents *contents, struct error *err)
{
	enum activity before = stopwatch_switch(m->watch, ACTIVITY_MAPPING);
	int rc = 0;

	memory_unmap(m);
	m->contents = contents;
	for (size_t i = 0; !rc && i < contents->pieces.count; i++)
		rc = check_reserved(m, &contents->pieces.items[i], err);
	if (rc)
		goto fail;
	m->handles =
		calloc(contents->pieces.count ? contents->pieces.count : 1, sizeof(*m->handles));
	if (!m->handles) {
		rc = error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for handles");
		goto fail;
	}
	for (size_t i = 0; !rc && i < contents->pieces.count; i++)
		rc = map_piece(m, &contents->pieces.items[i], err);
	if (!rc && !m->staging) {
		CUresult result = m->driver->cuMemAllocHost_v2((void **)&m->staging, STAGING_BYTES);

		if (result != CUDA_SUCCESS)
			rc = failed(m, result, err, "pinned memory", 0, STAGING_BYTES);
	}
	if (!rc)
		rc = make_pristine(m, err);
fail:
	stopwatch_switch(m->watch, before);
	if (rc)
		memory_unmap(m);
	return rc;
}

int memory_restore(struct memory *m, struct error *err)
{
	enum activity before = stopwatch_switch(m->watch, ACTIVITY_RESTORING);
	const struct ranges *pieces = &m->contents->pieces;
	CUresult result;

	for (size_t i = 0; i < pieces->count; i++) {
		const struct range *p = &pieces->items[i];
		int rc = 0;

		if (m->pristine && m->pristine[i]) {
			result = m->driver->cuMemcpyDtoD_v2(p->base, m->pristine[i], p->size);
			m->watch->cost->restored_bytes += p->size;
			if (result != CUDA_SUCCESS)
				rc = failed(m, result, err, "restoring", p->base, p->size);
		} else {
			rc = upload(m, p->base, m->contents->before[i], p->size, err);
		}
		if (rc)
			return rc;
	}
	result = m->driver->cuCtxSynchronize();
	stopwatch_switch(m->watch, before);
	return result == CUDA_SUCCESS ? 0 : failed(m, result, err, "restoring", 0, 0);
}

/* The staging buffer's first bytes to the device. */
static CUresult put_staged(struct memory *m, uint64_t address, size_t size)
{
	enum activity before = stopwatch_switch(m->watch, ACTIVITY_UPLOADING);
	CUresult result = put(m, address, m->staging, size);

	m->watch->cost->uploaded_bytes += size;
	stopwatch_switch(m->watch, before);
	return result;
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

int memory_fill(struct memory *m, const struct byteset *bytes, uint8_t fill, struct error *err)
{
	_Static_assert(STAGING_BYTES >= CHUNK_BYTES, "a chunk fits");
	uint8_t *data = m->staging;

	for (size_t i = 0; i < bytes->chunks; i++) {
		uint64_t address;
		CUresult result;

		if (!bytes->words[i])
			continue;
		memcpy(data, contents_chunk(m->contents, i), CHUNK_BYTES);
		fill_bytes(data, bytes->words[i], fill);
		address = byteset_address(bytes, i);
		result = put_staged(m, address, CHUNK_BYTES);
		if (result != CUDA_SUCCESS)
			return failed(m, result, err, "poison", address, CHUNK_BYTES);
	}
	return 0;
}

int memory_change(struct memory *m, const struct change *change, struct error *err)
{
	const struct ranges *pieces = &m->contents->pieces;
	size_t chunk = 0, held = 0;
	uint64_t start = 0;

	for (size_t i = 0; i < pieces->count; i++) {
		for (uint64_t k = 0; k < pieces->items[i].size / CHUNK_BYTES; k++, chunk++) {
			uint64_t at = pieces->items[i].base + k * CHUNK_BYTES;
			bool touches = change_touches(change, at);
			CUresult result = CUDA_SUCCESS;

			/* runs of chunks go over in one copy */
			if (held && (!touches || start + held != at ||
				     held + CHUNK_BYTES > STAGING_BYTES)) {
				result = put_staged(m, start, held);
				held = 0;
			}
			if (result != CUDA_SUCCESS)
				return failed(m, result, err, "changed inputs", start, CHUNK_BYTES);
			if (!touches)
				continue;
			start = held ? start : at;
			memcpy(m->staging + held, contents_chunk(m->contents, chunk), CHUNK_BYTES);
			change_chunk(change, chunk, at, m->staging + held);
			held += CHUNK_BYTES;
		}
	}
	if (held) {
		CUresult result = put_staged(m, start, held);

		if (result != CUDA_SUCCESS)
			return failed(m, result, err, "changed inputs", start, held);
	}
	return 0;
}

/* n chunks from `chunk` on into the staging buffer; they lie at `address` in the contents. */
static CUresult get(struct memory *m, size_t chunk, uint64_t address, size_t n)
{
	if (!address_is_stand_in(address))
		return m->driver->cuMemcpyDtoH_v2(m->staging, address, n * (size_t)CHUNK_BYTES);
	for (size_t i = 0; i < n; i++)
		memcpy(m->staging + i * (size_t)CHUNK_BYTES, contents_chunk(m->contents, chunk + i),
		       CHUNK_BYTES);
	return variables_get(m->variables, m->driver, m->contents, address, m->staging,
			     n * (uint64_t)CHUNK_BYTES);
}

/* Reads [from, from + count) chunks of a piece; `first` is the piece's first chunk number. */
static int read_chunks(struct memory *m, struct snapshot *out, const struct range *piece,
		       size_t first, size_t from, size_t count, struct error *err)
{
	while (count) {
		size_t n =
			count < STAGING_BYTES / CHUNK_BYTES ? count : STAGING_BYTES / CHUNK_BYTES;
		uint64_t address = piece->base + from * (uint64_t)CHUNK_BYTES;
		enum activity before = stopwatch_switch(m->watch, ACTIVITY_DOWNLOADING);
		CUresult result = get(m, first + from, address, n);

		m->watch->cost->downloaded_bytes += n * (uint64_t)CHUNK_BYTES;
		stopwatch_switch(m->watch, before);
		if (result != CUDA_SUCCESS)
			return failed(m, result, err, "reading", address,
				      n * (uint64_t)CHUNK_BYTES);
		for (size_t i = 0; i < n; i++)
			if (snapshot_put(out, first + from + i,
					 m->staging + i * (size_t)CHUNK_BYTES))
				return error_set(err, ENOMEM, ERROR_NO_OFFSET,
						 "no memory for a snapshot");
		from += n;
		count -= n;
	}
	return 0;
}

/* Reads the runs of chunks whose flags are set. */
static int read_flagged(struct memory *m, struct snapshot *out, const struct range *piece,
			size_t first, const uint32_t *flags, struct error *err)
{
	size_t chunks = piece->size / CHUNK_BYTES;

	for (size_t i = 0; i < chunks;) {
		size_t n = 0;
		int rc;

		while (i + n < chunks && flags[i + n])
			n++;
		rc = n ? read_chunks(m, out, piece, first, i, n, err) : 0;
		if (rc)
			return rc;
		i += n + 1;
	}
	return 0;
}

/* The chunks that hold a byte of `only`. */
static int read_only(struct memory *m, struct snapshot *out, const struct range *piece,
		     size_t first, const struct byteset *only, struct error *err)
{
	size_t chunks = piece->size / CHUNK_BYTES;

	for (size_t i = 0; i < chunks;) {
		size_t n = 0;
		int rc;

		while (i + n < chunks && only->words[first + i + n])
			n++;
		rc = n ? read_chunks(m, out, piece, first, i, n, err) : 0;
		if (rc)
			return rc;
		i += n + 1;
	}
	return 0;
}

/* compare_chunks, on the clock. */
static const uint32_t *find_changed(struct memory *m, const struct range *p, CUdeviceptr pristine)
{
	enum activity before = stopwatch_switch(m->watch, ACTIVITY_COMPARING);
	const uint32_t *flags = compare_chunks(&m->comparer, m->driver, p->base, pristine, p->size);

	if (flags)
		m->watch->cost->compared_bytes += p->size;
	stopwatch_switch(m->watch, before);
	return flags;
}

int memory_read(struct memory *m, const struct byteset *only, struct snapshot *out,
		struct error *err)
{
	const struct ranges *pieces = &m->contents->pieces;
	size_t first = 0;

	for (size_t i = 0; i < pieces->count; i++) {
		const struct range *p = &pieces->items[i];
		const uint32_t *flags = NULL;
		int rc;

		if (only) {
			rc = read_only(m, out, p, first, only, err);
		} else {
			if (m->pristine && m->pristine[i])
				flags = find_changed(m, p, m->pristine[i]);
			rc = flags ? read_flagged(m, out, p, first, flags, err)
				   : read_chunks(m, out, p, first, 0, p->size / CHUNK_BYTES, err);
		}
		if (rc)
			return rc;
		first += p->size / CHUNK_BYTES;
	}
	return 0;
}
