/* SPDX-License-Identifier: MIT */
/* CLBlast's tuning parameters: which kernels our products reach, what their parameters are, and which values go together. */
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

/* Values in the kernels' order of parameters. Zeros: CLBlast's own everywhere. */
typedef struct clf_clblast_parameters {
    bool is_set[CLFI_CLBLAST_KERNELS];
    size_t value[CLFI_CLBLAST_KERNELS][CLFI_CLBLAST_MAX_PARAMETERS];
} clf_clblast_parameters;

bool clfi_clblast_is_any(const clf_clblast_parameters *parameters);
bool clfi_clblast_is_same(const clf_clblast_parameters *a, const clf_clblast_parameters *b);

/* Why these values cannot be used on the device: CLBlast itself checks nothing, and kernels of values that do not divide one another are
 * wrong without a word. Constraints of CLBlast's own tuner (Nugteren 2018). UNSUPPORTED names the kernel. */
clf_status clfi_clblast_check(const clf_context *context, const clf_clblast_parameters *parameters);

/* The parameters that products of this context run with: borrowed, they live as long as the context. OUT_OF_MEMORY. */
clf_status clfi_clblast_use(const clf_context *context, const clf_clblast_parameters *parameters);

/* NULL: CLBlast's own. */
const clf_clblast_parameters *clfi_clblast_used(const clf_context *context);

#endif
