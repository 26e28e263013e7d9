/* SPDX-License-Identifier: MIT */
/* OpenBLAS on the product of a linear layer, as a peer on the host. */
#ifndef CLF_BENCH_OPENBLAS_H
#define CLF_BENCH_OPENBLAS_H

#include "workload/workload.h"

typedef struct bench_openblas bench_openblas;

/* NULL where the workload is no linear layer, or the build found no OpenBLAS. */
bench_openblas *bench_openblas_create(const clfi_workload *workload);
void bench_openblas_destroy(bench_openblas *peer); /* NULL is a no-op */

/* Milliseconds for as many products as a run of the workload has, without its epilogue. */
double bench_openblas_sample(bench_openblas *peer);

#endif
