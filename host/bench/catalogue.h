/* SPDX-License-Identifier: MIT */
/* Lists the workloads of a run of clformer bench: those of the wanted suites, and those that measure the device limits they are
 * compared with. */
#ifndef CLFI_BENCH_CATALOGUE_H
#define CLFI_BENCH_CATALOGUE_H

#include "workload/workload.h"

typedef enum clfi_suite { CLFI_SUITE_PEAK, CLFI_SUITE_OPS, CLFI_SUITE_MODELS, CLFI_SUITE_GENERATION, CLFI_SUITE_COUNT } clfi_suite;

/* The names of the suites, as in clfi_workload.suite. */
extern const char *const clfi_suite_names[CLFI_SUITE_COUNT];

typedef struct clfi_catalogue_params {
    bool suites[CLFI_SUITE_COUNT]; /* the wanted suites */
    bool quick;
    const char *const *models; /* paths of models, measured in addition to the built-in ones; each model belongs to one suite, models or
                                  generation */
    size_t model_count;
    const char *filter; /* keeps the workloads whose id contains it, and the limits that they need; NULL: all */
} clfi_catalogue_params;

/* Fills *out, which the caller frees, also after a failure. INVALID_ARGUMENT: no workload of the suites passes the filter, two different
 * workloads have one id, or the suite of a model is not wanted. Forwards failures of reading the models. */
clf_status clfi_catalogue(const clfi_catalogue_params *params, clfi_workload_list *out);

#endif
