/* SPDX-License-Identifier: MIT */
/* Matrix product on the best engine for the case. */
#ifndef CLFI_OP_GEMM_H
#define CLFI_OP_GEMM_H

#include "kernel/gemm.h"

/* See clf_gemm_args. k = 0 gives f(bias) + residual; any of m, n or a batch size 0 launches nothing. Enqueued; temporary memory comes from the
 * context's arena. INVALID_ARGUMENT: sizes, dtypes, strides. UNSUPPORTED: no engine (a forced one) can do it. */
clf_status clfi_gemm(clf_context *context, const clf_gemm_args *args);

/* Name of the engine that clfi_gemm would use, for plans and reports. */
clf_status clfi_gemm_engine_name(const clf_context *context, const clf_gemm_args *args, const char **out);

#endif
