/* SPDX-License-Identifier: MIT */
/* Launchers of row normalisation (cl/cpu/row_norm_vector.cl, cl/gpu/row_norm_group.cl): layer norm, RMS norm, L2 normalisation. */
#ifndef CLFI_KERNEL_ROW_NORM_H
#define CLFI_KERNEL_ROW_NORM_H

#include "tensor/view.h"

typedef enum clf_row_norm_kind { CLF_ROW_LAYER_NORM, CLF_ROW_RMS_NORM, CLF_ROW_L2_NORMALIZE } clf_row_norm_kind;

/* Checked by the ops: shapes agree, 1 <= axes <= rank, the normalised size is 1 or more, dtypes are floats. */
typedef struct clf_row_norm {
    clf_row_norm_kind kind;
    const clf_view *x, *residual, *gamma, *beta, *y; /* residual, gamma, beta may be NULL */
    int axes;                                        /* last axes that are normalised together */
    float eps;
} clf_row_norm;

/* CPU family: whole rows per work-item, no barriers. GPU family: work-items share a row through local memory. Each runs on every device,
 * but not every length on a device with short loops. args: a clf_row_norm. */
bool clfi_row_norm_vector_supports(const clf_context *context, const void *args);
bool clfi_row_norm_group_supports(const clf_context *context, const void *args);
clf_status clfi_row_norm_vector(clf_context *context, const void *args);
clf_status clfi_row_norm_group(clf_context *context, const void *args);

#endif
