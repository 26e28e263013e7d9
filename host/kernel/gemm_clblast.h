/* SPDX-License-Identifier: MIT */
/* CLBlast's tuning parameters: the kernels that our products use, their parameters, and the values that are valid together. */
#ifndef CLFI_KERNEL_GEMM_CLBLAST_H
#define CLFI_KERNEL_GEMM_CLBLAST_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/context.h"

enum { CLFI_CLBLAST_XGEMM, CLFI_CLBLAST_XGEMM_DIRECT, CLFI_CLBLAST_ROUTINE, CLFI_CLBLAST_KERNELS, CLFI_CLBLAST_MAX_PARAMETERS = 16 };

typedef struct clf_clblast_kernel {
    const char *name; /* as CLBlast names it */
    size_t count;
    const char *parameters[CLFI_CLBLAST_MAX_PARAMETERS];
} clf_clblast_kernel;
extern const clf_clblast_kernel clfi_clblast_kernels[CLFI_CLBLAST_KERNELS];

/* Values in the order of clfi_clblast_kernels[].parameters. A kernel that is not set uses CLBlast's own values. */
typedef struct clf_clblast_parameters {
    bool is_set[CLFI_CLBLAST_KERNELS];
    size_t value[CLFI_CLBLAST_KERNELS][CLFI_CLBLAST_MAX_PARAMETERS];
} clf_clblast_parameters;

bool clfi_clblast_is_any(const clf_clblast_parameters *parameters);
bool clfi_clblast_is_same(const clf_clblast_parameters *a, const clf_clblast_parameters *b);

/* Checks the values against the constraints of CLBlast's own tuner (Nugteren 2018) and the device. CLBlast itself checks nothing and
 * computes wrong results from values that do not divide one another. UNSUPPORTED names the kernel. */
clf_status clfi_clblast_check(const clf_context *context, const clf_clblast_parameters *parameters);

/* Sets the parameters that products of this context run with. They are borrowed and must live as long as the context. OUT_OF_MEMORY. */
clf_status clfi_clblast_use(const clf_context *context, const clf_clblast_parameters *parameters);

/* The parameters that were set, or NULL: CLBlast's own. */
const clf_clblast_parameters *clfi_clblast_used(const clf_context *context);

#endif
