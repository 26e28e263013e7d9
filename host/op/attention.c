/* SPDX-License-Identifier: MIT */
/* Checks the operands of fused attention and runs an engine. */
#include "op/attention.h"

#include "kernel/attention.h"
#include "op/attention_batch.h"
#include "op/engines.h"

static clf_status check_operand(const char *name, const clf_view *view, clf_dtype dtype, int32_t rows, int row_axis)
{
    char shape[CLFI_SHAPE_TEXT_BYTES];
    if (view->rank != 3)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: attention %s: expected rank 3, found %s", name,
                 clfi_shape_text(view->rank, view->dim, shape));
    if (!clfi_dtype_is_float(view->dtype) || (view->dtype != dtype && !(row_axis == 0 && view->dtype == CLF_F32)))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_DTYPE: attention %s is %s, q is %s", name, clf_dtype_name(view->dtype), clf_dtype_name(dtype));
    if (view->dim[row_axis] < rows)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: attention %s %s: the sequences need %d rows", name,
                 clfi_shape_text(view->rank, view->dim, shape), rows);
    if (view->dim[2] > 1 && view->stride[2] != 1)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: attention %s: stride %lld on the last axis, expected 1", name, (long long)view->stride[2]);
    return CLF_OK;
}

static clf_status check_vector(const char *name, const clf_view *view, clf_dtype dtype, int32_t count)
{
    char shape[CLFI_SHAPE_TEXT_BYTES];
    if (view->rank != 1 || view->dim[0] < count || view->dtype != dtype)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: attention %s: expected %s [%d], found %s %s", name, clf_dtype_name(dtype), count,
                 clf_dtype_name(view->dtype), clfi_shape_text(view->rank, view->dim, shape));
    return CLF_OK;
}

static clf_status check(const clf_attention_args *args)
{
    const clf_attention_batch *batch = args->batch;
    const clf_view *q = args->q, *k = args->k, *v = args->v, *out = args->out;
    char q_shape[CLFI_SHAPE_TEXT_BYTES], k_shape[CLFI_SHAPE_TEXT_BYTES], v_shape[CLFI_SHAPE_TEXT_BYTES], out_shape[CLFI_SHAPE_TEXT_BYTES];
    CLF_TRY(check_operand("q", q, q->dtype, batch->q_end, 1));
    CLF_TRY(check_operand("k", k, q->dtype, batch->k_end, 1));
    CLF_TRY(check_operand("v", v, q->dtype, batch->k_end, 1));
    CLF_TRY(check_operand("out", out, q->dtype, batch->q_end, 0));
    clfi_shape_text(3, q->dim, q_shape);
    clfi_shape_text(3, k->dim, k_shape);
    clfi_shape_text(3, v->dim, v_shape);
    clfi_shape_text(3, out->dim, out_shape);
    if (q->dim[2] != k->dim[2] || q->dim[2] == 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: attention q %s and k %s: expected equal last axes, not 0", q_shape, k_shape);
    if (k->dim[0] != v->dim[0] || k->dim[1] != v->dim[1])
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: attention k %s and v %s: expected equal heads and rows", k_shape, v_shape);
    if (k->dim[0] == 0 || q->dim[0] % k->dim[0] != 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: attention q %s: heads are not a multiple of those of k %s", q_shape, k_shape);
    if (out->dim[1] != q->dim[0] || out->dim[2] != v->dim[2])
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: attention out %s: expected [rows,%lld,%lld]", out_shape, (long long)q->dim[0],
                 (long long)v->dim[2]);
    if (args->key_mask)
        CLF_TRY(check_vector("key mask", args->key_mask, CLF_U8, batch->k_end));
    if (args->lengths)
        CLF_TRY(check_vector("lengths", args->lengths, CLF_I32, batch->sequences));
    if (args->bias && (args->bias->rank != 2 || args->bias->dim[0] != q->dim[0] || args->bias->dim[1] % 2 != 1 ||
                       args->bias->dtype != CLF_F32 || (args->bias->dim[1] > 1 && args->bias->stride[1] != 1)))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: attention bias: expected float32 [%lld, an odd number], found %s %s", (long long)q->dim[0],
                 clf_dtype_name(args->bias->dtype), clfi_shape_text(args->bias->rank, args->bias->dim, q_shape));
    if (args->window < 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "attention: window is %d, expected 0 or more", args->window);
    if ((unsigned)args->empty_rows > CLF_EMPTY_ROWS_UNIFORM)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "attention: policy %d for empty rows is unknown", (int)args->empty_rows);
    return CLF_OK;
}

clf_status clfi_attention(clf_context *context, const clf_attention_args *args)
{
    const clf_attention_batch *batch = args->batch;
    CLF_TRY(check(args));
    if (batch->tile_count == 0 || args->q->dim[0] == 0 || args->v->dim[2] == 0)
        return CLF_OK;
    const clf_attention_call call = {
        .tiles = batch->buffer,
        .tile_count = batch->tile_count,
        .tile_queries = batch->tile_queries,
        .max_keys = batch->max_keys,
        .q = args->q,
        .k = args->k,
        .v = args->v,
        .out = args->out,
        .key_mask = args->key_mask,
        .lengths = args->lengths,
        .keep = args->keep,
        .bias = args->bias,
        .window = args->window,
        .scale = args->scale,
        .is_causal = args->is_causal,
        .empty_rows = args->empty_rows,
    };
    return clfi_engine_run(context, CLF_OP_ATTENTION, &call);
}
