/* SPDX-License-Identifier: MIT */
/* What must hold of a record by itself, so that its users need not check: writer and reader ask. */
#ifndef LIB_BUNDLE_CHECK_H
#define LIB_BUNDLE_CHECK_H

#include <stdint.h>

#include "kernelab/bundle.h"
#include "kernelab/error.h"

/*
 * Checks one record of type `type`: address ranges do not wrap; key arrays have no entry, or one
 * for each chunk of their range; images and files are not larger than FORMAT_FILE_MAX. 0, or
 * -EINVAL with err.
 */
int check_record(uint32_t type, const void *record, struct error *err);

/*
 * Checks what a record says of another one in the same bundle, where that one is there: AFTER's
 * changes lie in its launch's regions, TRIAL's contents fit its case's extents. 0, or -EINVAL.
 */
int check_links(const struct bundle *b, struct error *err);

#endif
