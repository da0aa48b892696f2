/* SPDX-License-Identifier: MIT */
/* What cmocka.h wants to be included before it. */
#ifndef TESTS_SHIM_CMOCKA_ALL_H
#define TESTS_SHIM_CMOCKA_ALL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
