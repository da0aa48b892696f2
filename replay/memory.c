/* SPDX-License-Identifier: MIT */
/* Device memory at recorded addresses: reserved once, mapped launch by launch. */
#include "replay/memory.h"

#include <errno.h>

#include "lib/base.h"
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

static void unmap_piece(const struct memory *m, const struct range *p,
			CUmemGenericAllocationHandle handle)
{
	if (is_host(m, p)) {
		host_memory_unmap(m->driver, p);
		return;
	}
	m->driver->cuMemUnmap(p->base, p->size);
	m->driver->cuMemRelease(handle);
}

void memory_unmap(struct memory *m)
{
	for (size_t i = 0; i < m->mapped.count; i++)
		unmap_piece(m, &m->mapped.items[i], m->handles[i]);
	m->mapped.count = 0;
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

static int map_piece(struct memory *m, const struct range *p, CUmemGenericAllocationHandle *handle,
		     struct error *err)
{
	const struct driver *d = m->driver;
	CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
				    .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE,
						 .id = m->device}};
	CUmemAccessDesc access = {.location = prop.location,
				  .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
	CUresult result;

	*handle = 0;
	if (is_host(m, p))
		return host_memory_map(d, p, err);
	result = d->cuMemCreate(handle, p->size, &prop, 0);
	if (result != CUDA_SUCCESS)
		return failed(m, result, err, "physical memory", p->base, p->size);
	result = d->cuMemMap(p->base, p->size, 0, *handle, 0);
	if (result != CUDA_SUCCESS) {
		d->cuMemRelease(*handle);
		return failed(m, result, err, "mapping", p->base, p->size);
	}
	result = d->cuMemSetAccess(p->base, p->size, &access, 1);
	if (result == CUDA_SUCCESS)
		return 0;
	unmap_piece(m, p, *handle);
	return failed(m, result, err, "access", p->base, p->size);
}

static const struct range *find_same(const struct ranges *r, const struct range *p)
{
	const struct range *found = ranges_find(r, p->base, p->size);

	return found && found->base == p->base && found->size == p->size ? found : NULL;
}

/* Unmaps what is not among the wanted pieces. */
static void unmap_others(struct memory *m, const struct ranges *wanted)
{
	size_t kept = 0;

	for (size_t i = 0; i < m->mapped.count; i++) {
		if (!find_same(wanted, &m->mapped.items[i])) {
			unmap_piece(m, &m->mapped.items[i], m->handles[i]);
			continue;
		}
		m->mapped.items[kept] = m->mapped.items[i];
		m->handles[kept++] = m->handles[i];
	}
	m->mapped.count = kept;
}

/* Maps one more piece, behind the others. */
static int add_piece(struct memory *m, const struct range *p, struct error *err)
{
	CUmemGenericAllocationHandle handle;
	int rc = array_reserve(&m->handles, m->mapped.count, &m->handle_capacity,
			       sizeof(*m->handles));

	if (!rc)
		rc = array_reserve(&m->mapped.items, m->mapped.count, &m->mapped.capacity,
				   sizeof(*m->mapped.items));
	if (rc)
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for handles");
	rc = map_piece(m, p, &handle, err);
	if (rc)
		return rc;
	m->mapped.items[m->mapped.count] = *p;
	m->handles[m->mapped.count++] = handle;
	return 0;
}

/* Brings ranges and handles into the order of addresses again. */
static void sort_pieces(struct memory *m)
{
	for (size_t i = 1; i < m->mapped.count; i++) {
		struct range p = m->mapped.items[i];
		CUmemGenericAllocationHandle handle = m->handles[i];
		size_t at = i;

		for (; at && m->mapped.items[at - 1].base > p.base; at--) {
			m->mapped.items[at] = m->mapped.items[at - 1];
			m->handles[at] = m->handles[at - 1];
		}
		m->mapped.items[at] = p;
		m->handles[at] = handle;
	}
}

int memory_map(struct memory *m, const struct ranges *pieces, struct error *err)
{
	enum activity before = stopwatch_switch(m->watch, ACTIVITY_MAPPING);
	size_t old;
	int rc = 0;

	for (size_t i = 0; !rc && i < pieces->count; i++)
		rc = check_reserved(m, &pieces->items[i], err);
	if (!rc)
		unmap_others(m, pieces);
	old = m->mapped.count;
	for (size_t i = 0; !rc && i < pieces->count; i++) {
		struct ranges before_these = {m->mapped.items, old, old};

		if (!address_is_stand_in(pieces->items[i].base) &&
		    !find_same(&before_these, &pieces->items[i]))
			rc = add_piece(m, &pieces->items[i], err);
	}
	sort_pieces(m);
	stopwatch_switch(m->watch, before);
	return rc;
}
