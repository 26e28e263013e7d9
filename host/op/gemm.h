/* SPDX-License-Identifier: MIT */
/* Matrix product on the best engine for the case. */
#ifndef CLFI_OP_GEMM_H
#define CLFI_OP_GEMM_H

#include "op/engines.h"

/* The row for this case and its tile, by what was measured for this device (op/tuned.h) where nothing is forced: clfi_engine_choose. */
clf_status clfi_gemm_choose(const clf_context *context, const clf_gemm_args *args, clf_engine_choice *out);

/* The row whose form constant weights are packed in. It is the forced one, else the choice for a product of 128 rows, unless no row takes
 * that form for few rows too, because one copy of a weight serves both. */
clf_status clfi_gemm_choose_form(const clf_context *context, int64_t n, int64_t k, clf_engine_choice *out);

/* The row whose form quantised weights of that type are kept in: one that takes it for one row and for many; the forced one alone where one
 * is forced. out->engine NULL: none does, and they have to become floats. */
clf_status clfi_gemm_choose_block_form(const clf_context *context, clf_weight_type type, int64_t n, int64_t k, clf_engine_choice *out);

/* See clf_gemm_args. k = 0 gives f(bias) + residual; any of m, n or a batch size 0 launches nothing. Enqueued; temporary memory comes from
 * the context's arena, where args->input keeps some of it. INVALID_ARGUMENT: sizes, dtypes, strides. UNSUPPORTED: no engine (a forced one)
 * can do it. */
clf_status clfi_gemm(clf_context *context, const clf_gemm_args *args);

/* Name of the engine that clfi_gemm would use, for plans and reports. */
clf_status clfi_gemm_engine_name(const clf_context *context, const clf_gemm_args *args, const char **out);

#endif
