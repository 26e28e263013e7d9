/* SPDX-License-Identifier: MIT */
/* Matrix product on the best engine for the case. */
#ifndef CLFI_OP_GEMM_H
#define CLFI_OP_GEMM_H

#include "kernel/gemm.h"

/* One row of the table in op/engines.c. An engine owns how it packs a constant B, which form of A it wants, and its launch. */
typedef struct clf_gemm_engine {
    const char *name;
    clf_gemm_form weight_form;
    clf_gemm_activation_form activation_form;
    unsigned precisions; /* bit 1 << clf_precision for each that it keeps */
    /* A constant B into weight_form, once at load. */
    clf_status (*pack)(clf_context *context, int parts, const clf_view *weights, const clf_view *biases, clf_gemm_weight *out);
    bool (*supports)(const clf_context *context, const clf_gemm_args *args);
    bool (*suits)(const clf_context *context, const clf_gemm_args *args); /* the choice on devices that were not measured */
    clf_status (*run)(clf_context *context, const clf_gemm_args *args);
} clf_gemm_engine;

/* op/engines.c */
extern const clf_gemm_engine clfi_gemm_engines[];
extern const size_t clfi_gemm_engine_count;

/* The row for this case: the forced one (UNSUPPORTED when it cannot do it, INVALID_ARGUMENT when there is none of that name), else the first
 * that suits, else the first that can. Only rows that keep the context's precision. */
clf_status clfi_gemm_choose(const clf_context *context, const clf_gemm_args *args, const clf_gemm_engine **out);

/* The row whose form constant weights are packed in: the forced one, else the first that suits a product of many rows. */
clf_status clfi_gemm_choose_form(const clf_context *context, int64_t n, int64_t k, const clf_gemm_engine **out);

/* See clf_gemm_args. k = 0 gives f(bias) + residual; any of m, n or a batch size 0 launches nothing. Enqueued; temporary memory comes from the
 * context's arena. INVALID_ARGUMENT: sizes, dtypes, strides. UNSUPPORTED: no engine (a forced one) can do it. */
clf_status clfi_gemm(clf_context *context, const clf_gemm_args *args);

/* Name of the engine that clfi_gemm would use, for plans and reports. */
clf_status clfi_gemm_engine_name(const clf_context *context, const clf_gemm_args *args, const char **out);

#endif
