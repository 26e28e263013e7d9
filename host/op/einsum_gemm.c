/* SPDX-License-Identifier: MIT */
/* Turns a lowered pair into arguments of the matrix engines. */
#include "op/einsum_lower.h"

_Static_assert((int)CLFI_EINSUM_MAX_BATCH <= (int)CLFI_GEMM_MAX_BATCH, "every lowered product is one call");

/* Term t (0 A, 1 B, 2 C) with its strides along two dimensions. */
static clf_gemm_operand operand_of(const clf_einsum_gemm *gemm, const clf_einsum_memory *memory, int t, const clf_einsum_dim *row,
                                   const clf_einsum_dim *column)
{
    clf_gemm_operand operand = {
        .buffer = memory->buffer,
        .dtype = memory->dtype,
        .offset = memory->offset,
        .row_stride = row->stride[t],
        .column_stride = column->stride[t],
    };
    for (int i = 0; i < gemm->batch_rank; i++)
        operand.batch_stride[i] = gemm->batch[i].stride[t];
    return operand;
}

void clfi_einsum_gemm_args(const clf_einsum_gemm *gemm, const clf_einsum_memory term[3], clf_gemm_args *out)
{
    *out = (clf_gemm_args)CLFI_GEMM_ARGS_INIT;
    out->batch_rank = gemm->batch_rank;
    for (int i = 0; i < gemm->batch_rank; i++)
        out->batch[i] = gemm->batch[i].size;
    out->m = gemm->m.size;
    out->n = gemm->n.size;
    out->k = gemm->k.size;
    out->a = operand_of(gemm, &term[gemm->swapped], 0, &gemm->m, &gemm->k);
    out->b = operand_of(gemm, &term[!gemm->swapped], 1, &gemm->k, &gemm->n);
    out->c = operand_of(gemm, &term[2], 2, &gemm->m, &gemm->n);
}
