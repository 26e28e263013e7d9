/* SPDX-License-Identifier: MIT */
/* Merges the changes of an adapter into one weight, as peft's merge_and_unload does. */
#ifndef CLFI_MODEL_ADAPTER_MERGE_H
#define CLFI_MODEL_ADAPTER_MERGE_H

#include "io/checkpoint.h"
#include "io/safetensors.h"

typedef enum clf_adapter_change_kind {
    CLF_ADAPTER_PRODUCT,   /* W += scaling * B A, of a matrix [out, in]: B [out, r], A [r, in] */
    CLF_ADAPTER_TURNED,    /* W += scaling * (B A)^T, of a matrix [in, out] */
    CLF_ADAPTER_EMBEDDING, /* W += scaling * (B A)^T, of a table [n, width]: A [r, n], B [width, r]; the product is rounded to W's type */
    CLF_ADAPTER_BIAS       /* w += scaling * b */
} clf_adapter_change_kind;

typedef struct clf_adapter_change {
    clf_adapter_change_kind kind;
    const clf_file_tensor *a, *b; /* a NULL: of a bias */
    double scaling;
    size_t order; /* position among the changes of one tensor; set by the planner */
} clf_adapter_change;

/* Base of a merged tensor: the model's own, or one of the adapter's file, which has the same sizes. */
typedef struct clf_adapter_base {
    clf_weight_type type; /* of the result: F32, F16 or BF16 */
    int64_t rows, columns;
    clf_weight_type own_type;        /* F32, F16 or BF16 */
    const void *own;                 /* NULL: replaced */
    const clf_file_tensor *replaced; /* F32, F16 or BF16; rounded to the type */
} clf_adapter_base;

/* *out: the merged tensor in new memory, which the caller frees. Sums are in double, rounded to float32 and to the type after each change.
 * FORMAT: a result is not finite (named). */
clf_status clfi_adapter_merge(const char *name, const clf_adapter_base *base, const clf_adapter_change *changes, size_t count, void **out);

#endif
