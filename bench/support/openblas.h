/* SPDX-License-Identifier: MIT */
/* Measures OpenBLAS at the matrix product of a linear layer, for bench_op to compare with. */
#ifndef CLF_BENCH_OPENBLAS_H
#define CLF_BENCH_OPENBLAS_H

#include "workload/workload.h"

typedef struct bench_openblas bench_openblas;

/* NULL if the workload is not a linear layer of float weights, or the build found no OpenBLAS. */
bench_openblas *bench_openblas_create(const clfi_workload *workload);
void bench_openblas_destroy(bench_openblas *peer); /* NULL is a no-op */

/* Milliseconds for the products of one run of the workload, without bias, activation or residual. */
double bench_openblas_sample(bench_openblas *peer);

#endif
