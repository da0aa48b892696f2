/* SPDX-License-Identifier: MIT */
/* A policy file: other values for thresholds of the decision procedure, by name. */
#ifndef ANALYZE_POLICY_H
#define ANALYZE_POLICY_H

#include "kernelab/error.h"

/*
 * Reads {"policy": "kernelab-policy/1", "thresholds": {"noise": 3e-5, …}} and sets the table of
 * thresholds.h for the whole process, all of them or none: call it before anything is judged, from
 * one thread. Names are those of the table, values finite and above 0. 0, or -errno with err
 * that names the file and the threshold at fault.
 */
int policy_apply(const char *path, struct error *err);

#endif
