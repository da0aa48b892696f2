/* SPDX-License-Identifier: MIT */
/* Walks the entries of a fatbin. */
#include "lib/fatbin.h"

#include <errno.h>
#include <lz4.h>
#include <stdlib.h>
#include <string.h>

#define ENTRY_MAX_BYTES (1u << 30)

struct container {
	uint32_t magic;
	uint16_t version, header_bytes;
	uint64_t bytes;
};
_Static_assert(sizeof(struct container) == FATBIN_HEADER_BYTES, "container header");

struct entry {
	uint16_t kind, version;
	uint32_t header_bytes;
	uint64_t bytes; /* that follow the header, padded */
	uint32_t compressed_bytes, unknown1;
	uint16_t minor, major;
	uint32_t arch;
	uint32_t name_offset, name_bytes;
	uint64_t flags, unknown2;
	uint64_t plain_bytes; /* of a compressed entry */
};
_Static_assert(sizeof(struct entry) == 64, "entry header");

#define LZ4_RATIO_MAX 255u

#define FLAG_LZ4  0x2000u
#define FLAG_ZSTD 0x8000u

/* Images need not be aligned, so headers are copied out. */
bool fatbin_detect(const void *data)
{
	struct container c;

	memcpy(&c, data, sizeof(c));
	return c.magic == FATBIN_CONTAINER_MAGIC;
}

size_t fatbin_measure(const void *data)
{
	struct container c;
	size_t bytes;

	memcpy(&c, data, sizeof(c));
	return __builtin_add_overflow(c.bytes, c.header_bytes, &bytes) ? SIZE_MAX - 1 : bytes;
}

static int entry_unpack(const struct entry *e, struct fatbin_entry *out, size_t offset,
			struct error *err)
{
	int n;

	/* A byte of LZ4 stands for 255 at most: nothing is allocated for what cannot be. */
	if (!e->plain_bytes || e->plain_bytes > ENTRY_MAX_BYTES ||
	    e->compressed_bytes > out->size || e->plain_bytes / LZ4_RATIO_MAX > e->compressed_bytes)
		return error_set(err, EINVAL, offset, "fatbin entry with bad compressed size");
	out->owned = malloc(e->plain_bytes);
	if (!out->owned)
		return error_set(err, ENOMEM, offset, "out of memory for a fatbin entry");
	n = LZ4_decompress_safe(out->data, out->owned, (int)e->compressed_bytes,
				(int)e->plain_bytes);
	if (n != (int)e->plain_bytes) {
		free(out->owned);
		out->owned = NULL;
		return error_set(err, EINVAL, offset, "fatbin entry does not decompress");
	}
	out->data = out->owned;
	out->size = e->plain_bytes;
	return 0;
}

int fatbin_next(const void *data, size_t size, size_t *cursor, struct fatbin_entry *out,
		struct error *err)
{
	struct container c;
	struct entry e;
	int rc;

	memcpy(&c, data, sizeof(c));
	if (!*cursor)
		*cursor = c.header_bytes;
	if (*cursor >= size)
		return 0;
	if (size - *cursor < sizeof(e))
		return error_set(err, EINVAL, *cursor, "fatbin ends within an entry's header");
	memcpy(&e, (const char *)data + *cursor, sizeof(e));
	if (e.header_bytes < sizeof(e) || e.header_bytes > size - *cursor ||
	    e.bytes > size - *cursor - e.header_bytes)
		return error_set(err, EINVAL, *cursor, "fatbin entry leads outside the fatbin");
	*out = (struct fatbin_entry){.kind = e.kind,
				     .arch = e.arch,
				     .zstd = e.flags & FLAG_ZSTD,
				     .data = (const char *)data + *cursor + e.header_bytes,
				     .size = e.bytes};
	if (e.flags & FLAG_LZ4) {
		rc = entry_unpack(&e, out, *cursor, err);
		if (rc)
			return rc;
	}
	*cursor += e.header_bytes + e.bytes;
	return 1;
}

/* ---- choosing ---- */

void fatbin_pick_free(struct fatbin_pick *p)
{
	free(p->cubin);
	free(p->ptx);
	*p = (struct fatbin_pick){0};
}

static int keep(void **to, size_t *to_size, const void *data, size_t size, struct error *err)
{
	char *copy = malloc(size + 1);

	if (!copy)
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "out of memory for a fatbin entry");
	memcpy(copy, data, size);
	copy[size] = 0;
	free(*to);
	*to = copy;
	*to_size = size;
	return 0;
}

static int consider(struct fatbin_pick *p, const struct fatbin_entry *e, unsigned sm,
		    bool no_cubins, struct error *err)
{
	bool cubin = e->kind == FATBIN_CUBIN && !no_cubins && e->arch / 10 == sm / 10 &&
		     e->arch <= sm && e->arch > p->cubin_arch;
	bool ptx = e->kind == FATBIN_PTX && e->arch <= sm && e->arch > p->ptx_arch;
	int rc = 0;

	if (e->zstd && (cubin || ptx))
		return error_set(err, ENOTSUP, ERROR_NO_OFFSET,
				 "fatbin entry for sm_%u is packed with zstd, which is not read",
				 e->arch);
	if (cubin) {
		rc = keep(&p->cubin, &p->cubin_size, e->data, e->size, err);
		p->cubin_arch = e->arch;
	} else if (ptx) {
		void *text = p->ptx;

		rc = keep(&text, &p->ptx_size, e->data, strnlen(e->data, e->size), err);
		p->ptx = text;
		p->ptx_arch = e->arch;
	}
	return rc;
}

int fatbin_pick(struct fatbin_pick *out, const void *data, size_t size, unsigned sm, bool no_cubins,
		struct error *err)
{
	struct fatbin_entry entry;
	size_t cursor = 0;
	int rc = 1;

	*out = (struct fatbin_pick){0};
	if (size < FATBIN_HEADER_BYTES || !fatbin_detect(data))
		return error_set(err, EINVAL, 0, "no fatbin");
	while (rc > 0) {
		rc = fatbin_next(data, size, &cursor, &entry, err);
		if (rc <= 0)
			break;
		rc = consider(out, &entry, sm, no_cubins, err);
		free(entry.owned);
		if (!rc)
			rc = 1;
	}
	return rc;
}
