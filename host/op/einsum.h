/* SPDX-License-Identifier: MIT */
/* Runs einsum plans on views. */
#ifndef CLFI_OP_EINSUM_H
#define CLFI_OP_EINSUM_H

#include "clformer/einsum.h"
#include "op/einsum_plan.h"

/* Runs `plan` on operands and out of exactly its shapes, f32, f16 or bf16, any strides (out: none of 0 where the size is above 1).
 * Intermediates come from the context's arena. Enqueued. The caller checks shapes and dtypes. */
clf_status clfi_einsum_run(clf_context *context, const clf_einsum_plan *plan, const clf_view *const *operands, const clf_view *out);

#endif
