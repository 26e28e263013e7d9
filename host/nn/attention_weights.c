/* SPDX-License-Identifier: MIT */
/* Attention weights on request. */
#include "nn/attention_weights.h"

#include "op/gemm.h"
#include "op/masked_softmax.h"

clf_status clfi_attention_weights(clf_context *context, float scale, const clf_view *q, const clf_view *k, bool is_causal,
                                  const clf_view *weights)
{
    clf_gemm_args product = CLFI_GEMM_ARGS_INIT;
    clf_softmax_args softmax = CLFI_SOFTMAX_ARGS_INIT;
    product.batch_rank = 1;
    product.batch[0] = q->dim[0];
    product.m = q->dim[1];
    product.n = k->dim[1];
    product.k = q->dim[2];
    product.a = (clf_gemm_operand){q->buffer, q->dtype, q->offset, q->stride[1], q->stride[2], {q->stride[0]}};
    product.b = (clf_gemm_operand){k->buffer, k->dtype, k->offset, k->stride[2], k->stride[1], {k->stride[0]}};
    product.c = (clf_gemm_operand){weights->buffer, weights->dtype, weights->offset, weights->stride[1], weights->stride[2],
                                   {weights->stride[0]}};
    product.alpha = scale;
    CLF_TRY(clfi_gemm(context, &product));
    softmax.x = softmax.y = weights;
    softmax.axis = 2;
    softmax.query_axis = is_causal ? 1 : -1;
    return clfi_softmax(context, &softmax);
}
