/* SPDX-License-Identifier: MIT */
/* Checks the operands of top-k and runs an engine. */
#include "op/top_k.h"

#include <limits.h>

#include "clformer/ops.h"
#include "op/check.h"
#include "op/engines.h"

_Static_assert((int)CLF_TOP_K_MAX == (int)CLFI_TOP_K_MAX, "the public limit is the kernels' limit");

static clf_status check_result(const char *what, const clf_view *view, clf_dtype dtype, int64_t rows, int k)
{
    static const char op[] = "top_k";
    CLF_TRY(clfi_check_dtype(op, what, view, dtype));
    CLF_TRY(clfi_check_rank(op, what, view, 2));
    if (view->dim[0] != rows || view->dim[1] != k || !clfi_view_is_dense(view))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: %s is [%lld,%lld], expected [%lld,%d] without gaps", op, what, (long long)view->dim[0],
                 (long long)view->dim[1], (long long)rows, k);
    return CLF_OK;
}

clf_status clfi_top_k(clf_context *context, const clf_view *scores, int k, const clf_view *values, const clf_view *indices)
{
    static const char op[] = "top_k";
    CLF_TRY(clfi_check_float(op, "scores", scores));
    CLF_TRY(clfi_check_rank(op, "scores", scores, 2));
    if (k < 1 || k > CLFI_TOP_K_MAX || k > scores->dim[1])
        CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: k is %d, expected 1 to %d and at most the %lld columns of scores", op, k, CLFI_TOP_K_MAX,
                 (long long)scores->dim[1]);
    if (scores->dim[1] > INT_MAX)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: scores has %lld columns, an index holds %d", op, (long long)scores->dim[1], INT_MAX);
    CLF_TRY(check_result("values", values, CLF_F32, scores->dim[0], k));
    CLF_TRY(check_result("indices", indices, CLF_I32, scores->dim[0], k));
    if (scores->dim[0] == 0)
        return CLF_OK;
    const clf_top_k_args args = {scores, k, values, indices};
    return clfi_engine_run(context, CLF_OP_TOP_K, &args);
}

clf_status clf_top_k(clf_context *context, const clf_tensor *scores, int k, clf_tensor *values, clf_tensor *indices)
{
    static const char op[] = "top_k";
    const clf_view *s, *v, *i;
    CLF_TRY(clfi_check_tensor(context, op, "scores", scores, &s));
    CLF_TRY(clfi_check_tensor(context, op, "values", values, &v));
    CLF_TRY(clfi_check_tensor(context, op, "indices", indices, &i));
    return clfi_top_k(context, s, k, v, i);
}
