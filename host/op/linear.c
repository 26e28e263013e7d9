/* SPDX-License-Identifier: MIT */
/* Linear layers: a packed weight and the product with it. */
#include "op/linear.h"

#include "base/alloc.h"
#include "op/check.h"
#include "op/gemm.h"

struct clf_linear {
    clf_context *context; /* borrowed: the weight's buffers keep it alive */
    clf_gemm_weight weight;
};

static clf_status check_parts(int parts, const clf_view *weights, const clf_view *biases)
{
    char text[CLFI_SHAPE_TEXT_BYTES];
    if (parts < 1)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "linear: %d weights", parts);
    for (int i = 0; i < parts; i++) {
        CLF_TRY(clfi_check_rank("linear", "weight", &weights[i], 2));
        CLF_TRY(clfi_check_float("linear", "weight", &weights[i]));
        if (weights[i].dim[1] != weights[0].dim[1] || weights[i].dtype != weights[0].dtype)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "linear: weight %d is %s of %s, expected %lld columns of %s as weight 0", i,
                     clfi_shape_text(2, weights[i].dim, text), clf_dtype_name(weights[i].dtype), (long long)weights[0].dim[1],
                     clf_dtype_name(weights[0].dtype));
        if (!biases || !biases[i].buffer)
            continue;
        CLF_TRY(clfi_check_rank("linear", "bias", &biases[i], 1));
        CLF_TRY(clfi_check_float("linear", "bias", &biases[i]));
        if (biases[i].dim[0] != weights[i].dim[0])
            CLF_FAIL(CLF_INVALID_ARGUMENT, "linear: bias %d has %lld elements, its weight %lld rows", i, (long long)biases[i].dim[0],
                     (long long)weights[i].dim[0]);
    }
    return CLF_OK;
}

clf_status clfi_linear_create(clf_context *context, int parts, const clf_view *weights, const clf_view *biases, clf_linear **out)
{
    clf_gemm_choice choice;
    clf_linear *linear = NULL;
    int64_t rows = 0;
    CLF_TRY(check_parts(parts, weights, biases));
    for (int i = 0; i < parts; i++)
        rows += weights[i].dim[0];
    CLF_TRY(clfi_gemm_choose_form(context, rows, weights[0].dim[1], &choice));
    CLF_TRY(clfi_alloc(1, sizeof *linear, "linear", &linear));
    linear->context = context;
    const clf_status st = choice.engine->pack(context, &choice.tile, parts, weights, biases, &linear->weight);
    if (st != CLF_OK) {
        free(linear);
        return st;
    }
    *out = linear;
    return CLF_OK;
}

void clfi_linear_destroy(clf_linear *linear)
{
    if (!linear)
        return;
    clfi_gemm_weight_clear(&linear->weight);
    free(linear);
}

/* The fixed part of the product: the weight, and its bias. */
static clf_gemm_args args_of(const clf_linear *linear, int64_t rows)
{
    clf_gemm_args args = CLFI_GEMM_ARGS_INIT;
    args.m = rows;
    args.n = linear->weight.n;
    args.k = linear->weight.k;
    args.weight = &linear->weight;
    args.bias = (clf_gemm_operand){.buffer = linear->weight.bias, .dtype = CLF_F32, .column_stride = 1};
    args.a.dtype = args.c.dtype = CLF_F32;
    return args;
}

static clf_gemm_operand matrix(const clf_view *view)
{
    return (clf_gemm_operand){.buffer = view->buffer,
                              .dtype = view->dtype,
                              .offset = view->offset,
                              .row_stride = view->stride[view->rank - 2],
                              .column_stride = view->stride[view->rank - 1]};
}

static clf_status fail_shape(const char *what, const clf_view *view, int64_t rows, int64_t columns)
{
    char text[CLFI_SHAPE_TEXT_BYTES];
    CLF_FAIL(CLF_INVALID_ARGUMENT, "linear: %s is %s, expected [%lld,%lld]", what, clfi_shape_text(view->rank, view->dim, text),
             (long long)rows, (long long)columns);
}

clf_status clfi_linear_run(clf_context *context, const clf_linear *linear, const clf_view *x, clf_activation activation,
                           const clf_view *residual, const clf_view *y)
{
    CLF_TRY(clfi_check_rank("linear", "x", x, 2));
    clf_gemm_args args = args_of(linear, x->dim[0]);
    if (x->dim[1] != args.k)
        return fail_shape("x", x, args.m, args.k);
    const bool is_blocked = y->rank == 3;
    if (is_blocked ? y->dim[0] * y->dim[2] != args.n || y->dim[1] != args.m
                   : y->rank != 2 || y->dim[0] != args.m || y->dim[1] != args.n)
        return fail_shape("y", y, args.m, args.n);
    if (residual && (residual->rank != 2 || residual->dim[0] != args.m || residual->dim[1] != args.n))
        return fail_shape("residual", residual, args.m, args.n);
    args.a = matrix(x);
    args.c = matrix(y);
    args.activation = activation;
    if (residual)
        args.residual = matrix(residual);
    if (is_blocked) {
        args.column_block = y->dim[2];
        args.block_stride = y->stride[0];
    }
    return clfi_gemm(context, &args);
}

int64_t clfi_linear_in_features(const clf_linear *linear)
{
    return linear->weight.k;
}

int64_t clfi_linear_out_features(const clf_linear *linear)
{
    return linear->weight.n;
}

const char *clfi_linear_engine(const clf_context *context, const clf_linear *linear, int64_t rows)
{
    const clf_gemm_args args = args_of(linear, rows);
    clf_gemm_choice choice;
    return clfi_gemm_choose(context, &args, &choice) == CLF_OK ? choice.engine->name : "?";
}

bool clfi_linear_is_packed(const clf_linear *linear)
{
    return linear->weight.form != CLFI_GEMM_ROWS;
}

clf_status clf_linear_create(clf_context *context, const clf_tensor *weight, const clf_tensor *bias, clf_linear **out)
{
    CLF_TRY(clfi_tensor_check(context, "weight", weight));
    if (bias)
        CLF_TRY(clfi_tensor_check(context, "bias", bias));
    return clfi_linear_create(context, 1, clfi_tensor_view(weight), bias ? clfi_tensor_view(bias) : NULL, out);
}

void clf_linear_destroy(clf_linear *linear)
{
    clfi_linear_destroy(linear);
}

/* All leading axes as one: [rows, columns]. */
static clf_status as_matrix(const char *what, const clf_view *view, int64_t columns, clf_view *out)
{
    char text[CLFI_SHAPE_TEXT_BYTES];
    const int last = view->rank - 1;
    if (view->rank < 1 || view->dim[last] != columns)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "linear: %s is %s, expected [..., %lld]", what, clfi_shape_text(view->rank, view->dim, text),
                 (long long)columns);
    int64_t rows = 1, row_stride = 0;
    for (int i = last - 1; i >= 0; i--) {
        if (view->dim[i] == 1)
            continue;
        if (rows > 1 && view->stride[i] != row_stride * rows)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "linear: the rows of %s, %s, are not evenly spaced", what,
                     clfi_shape_text(view->rank, view->dim, text));
        row_stride = rows > 1 ? row_stride : view->stride[i];
        rows *= view->dim[i];
    }
    *out = (clf_view){.buffer = view->buffer, .dtype = view->dtype, .rank = 2, .dim = {rows, columns},
                      .stride = {row_stride, view->stride[last]}, .offset = view->offset};
    return CLF_OK;
}

static clf_status check_leading(const char *what, const clf_view *view, const clf_view *x)
{
    bool is_same = view->rank == x->rank;
    for (int i = 0; is_same && i < x->rank - 1; i++)
        is_same = view->dim[i] == x->dim[i];
    if (!is_same)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "linear: the leading sizes of %s are not those of x", what);
    return CLF_OK;
}

clf_status clf_linear_apply(clf_context *context, const clf_linear *linear, const clf_tensor *x, clf_activation activation,
                            const clf_tensor *residual, clf_tensor *y)
{
    clf_view xm, ym, rm;
    if (!linear)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "linear is NULL");
    if (linear->context != context)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "linear belongs to another context");
    CLF_TRY(clfi_tensor_check(context, "x", x));
    CLF_TRY(clfi_tensor_check(context, "y", y));
    const clf_view *xv = clfi_tensor_view(x), *yv = clfi_tensor_view(y);
    CLF_TRY(check_leading("y", yv, xv));
    CLF_TRY(as_matrix("x", xv, linear->weight.k, &xm));
    CLF_TRY(as_matrix("y", yv, linear->weight.n, &ym));
    if (residual) {
        CLF_TRY(clfi_tensor_check(context, "residual", residual));
        CLF_TRY(clfi_check_same_shape("linear", "residual", clfi_tensor_view(residual), "y", yv));
        CLF_TRY(as_matrix("residual", clfi_tensor_view(residual), linear->weight.n, &rm));
    }
    return clfi_linear_run(context, linear, &xm, activation, residual ? &rm : NULL, &ym);
}
