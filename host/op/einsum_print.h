/* SPDX-License-Identifier: MIT */
/* Prints an einsum plan as text for users. */
#ifndef CLFI_OP_EINSUM_PRINT_H
#define CLFI_OP_EINSUM_PRINT_H

#include "base/str.h"
#include "op/einsum_lower.h"

/* Appends the name of what runs a lowered step, for example "gemm packed". */
typedef clf_status (*clf_einsum_engine_name)(void *user, const clf_einsum_lowering *lowering, clf_str *out);

/* Appends the plan's equation, operands, path (positions, as NumPy and opt_einsum write it) and cost, and one line per step. A line says
 * what the step multiplies and sums, how it is lowered for these strides, its cost and the size of its result. engine: NULL names the kind
 * of step only. */
clf_status clfi_einsum_print(const clf_einsum_plan *plan, const clf_einsum_strides *strides, clf_einsum_engine_name engine, void *user,
                             clf_str *out);

#endif
