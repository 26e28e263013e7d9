/* SPDX-License-Identifier: MIT */
/* Matrix product on the best engine for the case. */
#ifndef CLFI_OP_GEMM_H
#define CLFI_OP_GEMM_H

#include "op/engines.h"

/* The row for this case and its tile: clfi_engine_choose with the rule that was measured for this device (op/tuned.h). */
clf_status clfi_gemm_choose(const clf_context *context, const clf_gemm_args *args, clf_engine_choice *out);

/* The row in whose form constant weights of floats are packed. It is the forced one, else the choice for a product of 128 rows. One copy of
 * a weight must serve one row and many: if no engine reads the choice's form for one row, it is the first row whose form serves both.
 * UNSUPPORTED: there is none. */
clf_status clfi_gemm_choose_form(const clf_context *context, int64_t n, int64_t k, clf_engine_choice *out);

/* The row in whose form quantised weights of that type are kept: the first one that multiplies one row and many rows with it, or only the
 * forced one if an engine is forced. out->engine NULL: there is none, and the weights have to become floats. */
clf_status clfi_gemm_choose_block_form(const clf_context *context, clf_weight_type type, int64_t n, int64_t k, clf_engine_choice *out);

/* Bytes of the arena that the engine of a product takes beside A and C, for rows of floats and a weight of that type; 0 also where no
 * engine multiplies such a weight. For memory plans. */
uint64_t clfi_gemm_scratch(const clf_context *context, clf_weight_type type, int64_t m, int64_t n, int64_t k);

/* See clf_gemm_args. k = 0 gives f(bias) + residual; any of m, n or a batch size 0 launches nothing. Enqueued; temporary memory comes from
 * the context's arena, where args->input keeps some of it. INVALID_ARGUMENT: sizes, dtypes, strides. UNSUPPORTED: a size near 2^31 or
 * above, or no engine (a forced engine) can run it. */
clf_status clfi_gemm(clf_context *context, const clf_gemm_args *args);

/* Name of the engine that clfi_gemm would use, for plans and reports. */
clf_status clfi_gemm_engine_name(const clf_context *context, const clf_gemm_args *args, const char **out);

#endif
