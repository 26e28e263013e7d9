/* SPDX-License-Identifier: MIT */
/* Checks the operands of cached attention and runs an engine. */
#include "op/cached_attention.h"

#include "kernel/kv_cache.h"
#include "op/engines.h"

static clf_status check_shape(const char *name, const clf_view *view, clf_dtype dtype, const int64_t want[3])
{
    char have[CLFI_SHAPE_TEXT_BYTES], expected[CLFI_SHAPE_TEXT_BYTES];
    if (view->dtype != dtype)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_DTYPE: cached attention %s is %s, expected %s", name, clf_dtype_name(view->dtype),
                 clf_dtype_name(dtype));
    if (view->rank != 3 || view->dim[0] != want[0] || view->dim[1] != want[1] || view->dim[2] != want[2] || view->stride[2] != 1)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: cached attention %s is %s, expected %s with adjacent elements", name,
                 clfi_shape_text(view->rank, view->dim, have), clfi_shape_text(3, want, expected));
    return CLF_OK;
}

static clf_status check_table(const char *name, const clf_view *view, int rank, int64_t queries, int64_t columns)
{
    char have[CLFI_SHAPE_TEXT_BYTES];
    if (view->dtype != CLF_I32)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_DTYPE: cached attention %s is %s, expected int32", name, clf_dtype_name(view->dtype));
    if (view->rank != rank || view->dim[0] != queries || (rank == 2 && view->dim[1] < columns) ||
        (view->dim[rank - 1] > 1 && view->stride[rank - 1] != 1))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: cached attention %s is %s, expected %lld queries and adjacent elements", name,
                 clfi_shape_text(view->rank, view->dim, have), (long long)queries);
    return CLF_OK;
}

static clf_status check_bias(const clf_view *bias, int64_t heads)
{
    char have[CLFI_SHAPE_TEXT_BYTES];
    if (bias->dtype != CLF_F32 || bias->rank != 2 || bias->dim[0] != heads || bias->dim[1] % 2 != 1 || bias->stride[1] != 1)
        CLF_FAIL(CLF_INVALID_ARGUMENT,
                 "E_SHAPE: cached attention bias is %s %s, expected float32 of %lld heads and an odd number of columns",
                 clf_dtype_name(bias->dtype), clfi_shape_text(bias->rank, bias->dim, have), (long long)heads);
    return CLF_OK;
}

static clf_status check(const clf_cached_attention_args *args)
{
    const clf_view *q = args->q, *k = args->k;
    CLF_TRY(check_shape("q", q, CLF_F32, q->dim));
    const clf_dtype stored = k->dtype == CLF_F16 || k->dtype == CLF_U8 ? k->dtype : CLF_F32;
    const int64_t row = clfi_kv_row(stored, q->dim[2]);
    if (row == 0 && q->dim[2] > 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: cached attention: %lld elements of a head, expected a multiple of %d for keys of q8_0",
                 (long long)q->dim[2], CLFI_KV_BLOCK);
    CLF_TRY(check_shape("k", k, stored, (int64_t[]){k->dim[0], k->dim[1], row}));
    CLF_TRY(check_shape("v", args->v, k->dtype, k->dim));
    CLF_TRY(check_shape("out", args->out, CLF_F32, (int64_t[]){q->dim[1], q->dim[0], q->dim[2]}));
    if (k->dim[0] < 1 || q->dim[0] % k->dim[0] != 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: cached attention: %lld heads of queries, %lld of keys: expected a multiple",
                 (long long)q->dim[0], (long long)k->dim[0]);
    if (args->window < 0 || !(args->soft_cap >= 0))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_VALUE: cached attention: window %d, soft cap %g: expected 0 or more", args->window,
                 (double)args->soft_cap);
    if (args->bias)
        CLF_TRY(check_bias(args->bias, q->dim[0]));
    CLF_TRY(check_table("rows", args->rows, 2, q->dim[1], args->keys));
    return check_table("counts", args->counts, 1, q->dim[1], 0);
}

clf_status clfi_cached_attention(clf_context *context, const clf_cached_attention_args *args)
{
    CLF_TRY(check(args));
    if (clfi_view_count(args->q) == 0)
        return CLF_OK;
    return clfi_engine_run(context, CLF_OP_CACHED_ATTENTION, args);
}
