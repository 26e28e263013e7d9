/* SPDX-License-Identifier: MIT */
/* Checks the operands of pooling and runs an engine. */
#include "op/pooling.h"

#include "base/alloc.h"
#include "kernel/pooling.h"
#include "op/check.h"
#include "op/engines.h"

clf_status clfi_pool(clf_context *context, clf_pooling mode, const clf_view *x, const clf_view *offsets, const clf_view *y)
{
    return clfi_pool_behind(context, mode, x, offsets, 0, y);
}

clf_status clfi_pool_behind(clf_context *context, clf_pooling mode, const clf_view *x, const clf_view *offsets, int32_t skipped,
                            const clf_view *y)
{
    static const char op[] = "pool";
    if (skipped < 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: skipped is %d: expected 0 or more", op, (int)skipped);
    if ((unsigned)mode >= CLF_POOLING_COUNT)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: mode %d is unknown", op, (int)mode);
    CLF_TRY(clfi_check_float(op, "x", x));
    CLF_TRY(clfi_check_float(op, "y", y));
    CLF_TRY(clfi_check_dtype(op, "offsets", offsets, CLF_I32));
    CLF_TRY(clfi_check_rank(op, "x", x, 2));
    CLF_TRY(clfi_check_rank(op, "y", y, 2));
    CLF_TRY(clfi_check_rank(op, "offsets", offsets, 1));
    CLF_TRY(clfi_check_adjacent(op, "x", x));
    CLF_TRY(clfi_check_adjacent(op, "y", y));
    CLF_TRY(clfi_check_writable(op, "y", y));
    CLF_TRY(clfi_check_adjacent(op, "offsets", offsets));
    if (x->dim[1] != y->dim[1])
        CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: x has %lld columns, y has %lld", op, (long long)x->dim[1], (long long)y->dim[1]);
    if (offsets->dim[0] != y->dim[0] + 1)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: %lld offsets for %lld sequences, expected one more than sequences", op,
                 (long long)offsets->dim[0], (long long)y->dim[0]);
    if (clfi_view_count(y) == 0)
        return CLF_OK;
    const clf_pool_args args = {mode, x, offsets, y, skipped};
    return clfi_engine_run(context, CLF_OP_POOL, &args);
}

/* Reads the offsets back and checks that they never fall and lie in 0 .. T. */
static clf_status check_offsets(const clf_tensor *offsets, int64_t tokens)
{
    const size_t count = clf_tensor_count(offsets);
    int32_t *value;
    CLF_TRY(clfi_alloc(count, sizeof *value, "offsets", &value));
    clf_status st = clf_tensor_read(offsets, value, count * sizeof *value);
    for (size_t i = 0; st == CLF_OK && i < count; i++)
        if (value[i] < (i ? value[i - 1] : 0) || value[i] > tokens)
            st = clfi_fail(CLF_INVALID_ARGUMENT, "pool: offsets[%zu] is %d, expected %d to %lld", i, (int)value[i],
                           i ? (int)value[i - 1] : 0, (long long)tokens);
    free(value);
    return st;
}

clf_status clf_pool(clf_context *context, clf_pooling mode, const clf_tensor *x, const clf_tensor *offsets, clf_tensor *y)
{
    static const char op[] = "pool";
    const clf_view *vx, *vo, *vy;
    CLF_TRY(clfi_check_tensor(context, op, "x", x, &vx));
    CLF_TRY(clfi_check_tensor(context, op, "offsets", offsets, &vo));
    CLF_TRY(clfi_check_tensor(context, op, "y", y, &vy));
    CLF_TRY(clfi_check_rank(op, "x", vx, 2));
    CLF_TRY(clfi_check_dtype(op, "offsets", vo, CLF_I32));
    CLF_TRY(check_offsets(offsets, vx->dim[0]));
    return clfi_pool(context, mode, vx, vo, vy);
}
