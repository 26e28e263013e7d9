/* SPDX-License-Identifier: MIT */
/* Which workloads a run has: those of the suites that are asked for, and those that measure the limits they stand beside. */
#ifndef CLFI_BENCH_CATALOGUE_H
#define CLFI_BENCH_CATALOGUE_H

#include "workload/workload.h"

typedef enum clfi_suite { CLFI_SUITE_PEAK, CLFI_SUITE_OPS, CLFI_SUITE_MODELS, CLFI_SUITE_GENERATION, CLFI_SUITE_COUNT } clfi_suite;

/* As workloads name them. */
extern const char *const clfi_suite_names[CLFI_SUITE_COUNT];

typedef struct clfi_catalogue_params {
    bool suites[CLFI_SUITE_COUNT]; /* those that are wanted */
    bool quick;
    const char *const *models; /* beside the built-in ones: each is of the suite models, or of generation */
    size_t model_count;
    const char *filter; /* part of the ids that are wanted; NULL: all. Measurements of limits that the others need come in any case */
} clfi_catalogue_params;

/* Fills *out, which the caller frees in any case. NOT_FOUND: nothing is left. INVALID_ARGUMENT: two models of one name, a model
 * whose suite is not wanted while the other one is. Forwards failures of reading the models. */
clf_status clfi_catalogue(const clfi_catalogue_params *params, clfi_workload_list *out);

#endif
