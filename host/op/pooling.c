/* SPDX-License-Identifier: MIT */
/* Pooling: checks and engine rows. */
#include "op/pooling.h"

#include "kernel/pooling.h"
#include "op/check.h"
#include "op/family.h"

static const clf_engine vector = {"vector", clfi_pool_supports, clfi_pool_vector};
static const clf_engine group = {"group", clfi_pool_supports, clfi_pool_group};

clf_status clfi_pool(clf_context *context, clf_pooling mode, const clf_view *x, const clf_view *offsets, const clf_view *y)
{
    static const char op[] = "pool";
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
    CLF_TRY(clfi_check_adjacent(op, "offsets", offsets));
    if (x->dim[1] != y->dim[1])
        CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: x has %lld columns, y has %lld", op, (long long)x->dim[1], (long long)y->dim[1]);
    if (offsets->dim[0] != y->dim[0] + 1)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: %lld offsets for %lld sequences, expected one more than sequences", op, (long long)offsets->dim[0],
                 (long long)y->dim[0]);
    if (clfi_view_count(y) == 0)
        return CLF_OK;
    const clf_pool_args args = {mode, x, offsets, y};
    return clfi_family_run(context, op, &vector, &group, &args);
}
