/* SPDX-License-Identifier: MIT */
/* Which workloads a run has: those of the suites that are asked for, and those that measure the limits they stand beside. */
#ifndef CLFI_BENCH_CATALOGUE_H
#define CLFI_BENCH_CATALOGUE_H

#include "workload/workload.h"

typedef struct clfi_catalogue_params {
    bool peak, ops, models;        /* suites */
    bool quick;
    const char *const *model_dirs; /* of the models suite, beside the built-in model */
    size_t model_count;
    const char *filter; /* part of the ids that are wanted; NULL: all. Measurements of limits that the others need come in any case */
} clfi_catalogue_params;

/* Fills *out, which the caller frees in any case. NOT_FOUND: nothing is left. INVALID_ARGUMENT: two models of one name. Forwards failures
 * of reading the models. */
clf_status clfi_catalogue(const clfi_catalogue_params *params, clfi_workload_list *out);

#endif
