/* SPDX-License-Identifier: MIT */
/* Linear layers: pack a weight, in pieces if one allocation cannot hold it, and multiply with it. */
#include "op/linear.h"

#include <stdio.h>

#include "base/alloc.h"
#include "op/check.h"
#include "op/gemm.h"
#include "op/left_out.h"

/* Columns first .. first + weight.n of the result. */
typedef struct linear_piece {
    clf_gemm_weight weight;
    int64_t first;
} linear_piece;

struct clf_linear {
    clf_context *context; /* borrowed: the weight's buffers keep it alive */
    int64_t n, k;
    linear_piece *pieces; /* one, unless parts have different types or the device's largest allocation is smaller than the weight */
    size_t count, capacity;
};

static clf_status check_parts(int parts, const clf_view *weights, const clf_view *biases)
{
    char text[CLFI_SHAPE_TEXT_BYTES];
    if (parts < 1)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "linear: %d weights", parts);
    for (int i = 0; i < parts; i++) {
        CLF_TRY(clfi_check_rank("linear", "weight", &weights[i], 2));
        if (weights[i].blocks == CLF_WEIGHT_F32)
            CLF_TRY(clfi_check_float("linear", "weight", &weights[i]));
        if (weights[i].dim[1] != weights[0].dim[1])
            CLF_FAIL(CLF_INVALID_ARGUMENT, "linear: weight %d is %s, expected %lld columns as weight 0", i,
                     clfi_shape_text(2, weights[i].dim, text), (long long)weights[0].dim[1]);
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

static clf_status add_piece(clf_context *context, const clf_engine_choice *choice, int parts, const clf_view *weights,
                            const clf_view *biases, clf_linear *linear)
{
    CLF_TRY(clfi_grow(&linear->pieces, &linear->capacity, linear->count + 1, sizeof *linear->pieces, "linear"));
    linear_piece *piece = &linear->pieces[linear->count];
    const uint64_t asker = context->asker;
    context->asker = clfi_engine_bit(choice->engine);
    const clf_status st = clfi_gemm_pack_weight(context, choice->engine->gemm, &choice->tile, parts, weights, biases, &piece->weight);
    context->asker = asker;
    CLF_TRY(st);
    piece->first = linear->n;
    linear->n += piece->weight.n;
    linear->count++;
    return CLF_OK;
}

/* Packs every part in pieces of at most `most` rows. */
static clf_status add_pieces(clf_context *context, const clf_engine_choice *choice, int parts, const clf_view *weights,
                             const clf_view *biases, int64_t most, clf_linear *linear)
{
    for (int i = 0; i < parts; i++) {
        for (int64_t first = 0; first < weights[i].dim[0]; first += most) {
            const bool has_bias = biases && biases[i].buffer;
            clf_view weight = weights[i], bias = has_bias ? biases[i] : (clf_view){.buffer = NULL};
            weight.dim[0] = weight.dim[0] - first < most ? weight.dim[0] - first : most;
            weight.offset += first * weight.stride[0];
            bias.dim[0] = weight.dim[0];
            bias.offset += first * bias.stride[0];
            CLF_TRY(add_piece(context, choice, 1, &weight, &bias, linear));
        }
    }
    return CLF_OK;
}

/* Packs parts in the form of the chosen engine, *out_engine. */
static clf_status add_chosen(clf_context *context, int parts, const clf_view *weights, const clf_view *biases, clf_linear *linear,
                             const clf_engine **out_engine)
{
    clf_engine_choice choice;
    int64_t rows = 0, most;
    const clf_weight_type type = weights[0].blocks;
    for (int i = 0; i < parts; i++)
        rows += weights[i].dim[0];
    if (type == CLF_WEIGHT_F32) {
        CLF_TRY(clfi_gemm_choose_form(context, rows, linear->k, &choice));
    } else {
        CLF_TRY(clfi_gemm_choose_block_form(context, type, rows, linear->k, &choice));
        if (!choice.engine)
            CLF_FAIL(CLF_UNSUPPORTED, "linear: no engine multiplies a weight of type %s with rows of %lld",
                     clfi_weight_type_info(type)->name, (long long)linear->k);
    }
    *out_engine = choice.engine;
    CLF_TRY(clfi_gemm_rows_per_block(context, choice.engine->gemm->form, weights, rows, &most));
    return most >= rows ? add_piece(context, &choice, parts, weights, biases, linear)
                        : add_pieces(context, &choice, parts, weights, biases, most, linear);
}

/* Packs neighbouring parts of one type. Tries again with another engine if the kernels that pack turn out to be unusable. */
static clf_status add_run(clf_context *context, int parts, const clf_view *weights, const clf_view *biases, clf_linear *linear)
{
    const size_t count = linear->count;
    const int64_t n = linear->n;
    for (;;) {
        const clf_engine *engine = NULL;
        const clf_status st = add_chosen(context, parts, weights, biases, linear, &engine);
        if (st != CLF_BUILD || !engine || !clfi_engine_is_left_out(context, engine))
            return st;
        while (linear->count > count)
            clfi_gemm_weight_clear(&linear->pieces[--linear->count].weight);
        linear->n = n;
    }
}

clf_status clfi_linear_create(clf_context *context, int parts, const clf_view *weights, const clf_view *biases, clf_linear **out)
{
    clf_linear *linear = NULL;
    int64_t rows = 0;
    clf_status st = CLF_OK;
    CLF_TRY(check_parts(parts, weights, biases));
    for (int i = 0; i < parts; i++)
        if (__builtin_add_overflow(rows, weights[i].dim[0], &rows) || rows > INT32_MAX)
            CLF_FAIL(CLF_UNSUPPORTED, "linear: more than 2^31 - 1 output features");
    CLF_TRY(clfi_alloc(1, sizeof *linear, "linear", &linear));
    linear->context = context;
    linear->k = weights[0].dim[1];
    for (int first = 0, end; st == CLF_OK && first < parts; first = end) {
        end = first + 1;
        while (end < parts && weights[end].blocks == weights[first].blocks && weights[end].dtype == weights[first].dtype)
            end++;
        st = add_run(context, end - first, weights + first, biases ? biases + first : NULL, linear);
    }
    if (st != CLF_OK) {
        clfi_linear_destroy(linear);
        return st;
    }
    *out = linear;
    return CLF_OK;
}

void clfi_linear_destroy(clf_linear *linear)
{
    if (!linear)
        return;
    for (size_t i = 0; i < linear->count; i++)
        clfi_gemm_weight_clear(&linear->pieces[i].weight);
    free(linear->pieces);
    free(linear);
}

/* The arguments of a piece's product that do not depend on x: the weight and its bias. */
static clf_gemm_args args_of(const linear_piece *piece, int64_t rows)
{
    clf_gemm_args args = CLFI_GEMM_ARGS_INIT;
    args.m = rows;
    args.n = piece->weight.n;
    args.k = piece->weight.k;
    args.weight = &piece->weight;
    args.bias = (clf_gemm_operand){.buffer = piece->weight.bias, .dtype = CLF_F32, .column_stride = 1};
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

static clf_status run_piece(clf_context *context, const linear_piece *piece, const clf_view *x, clf_activation activation,
                            const clf_view *residual, const clf_view *y, clf_gemm_input *input)
{
    clf_gemm_args args = args_of(piece, x->dim[0]);
    args.input = input;
    args.a = matrix(x);
    args.c = matrix(y);
    args.activation = activation;
    if (residual) {
        args.residual = matrix(residual);
        args.residual.offset += piece->first * args.residual.column_stride;
    }
    if (y->rank != 3) {
        args.c.offset += piece->first * args.c.column_stride;
        return clfi_gemm(context, &args);
    }
    args.column_block = y->dim[2];
    args.block_stride = y->stride[0];
    if (piece->first % args.column_block != 0 || args.n % args.column_block != 0)
        CLF_FAIL(
            CLF_UNSUPPORTED,
            "linear: columns %lld to %lld are a piece of the weight, as large as %s allocates: expected multiples of the block of %lld",
            (long long)piece->first, (long long)(piece->first + args.n), context->device.info.name, (long long)args.column_block);
    args.c.offset += piece->first / args.column_block * args.block_stride;
    return clfi_gemm(context, &args);
}

clf_status clfi_linear_run_shared(clf_context *context, const clf_linear *linear, const clf_view *x, clf_activation activation,
                                  const clf_view *residual, const clf_view *y, clf_gemm_input *input)
{
    CLF_TRY(clfi_check_rank("linear", "x", x, 2));
    const int64_t m = x->dim[0], n = linear->n;
    if (x->dim[1] != linear->k)
        return fail_shape("x", x, m, linear->k);
    if (y->rank == 3 ? y->dim[0] * y->dim[2] != n || y->dim[1] != m : y->rank != 2 || y->dim[0] != m || y->dim[1] != n)
        return fail_shape("y", y, m, n);
    if (residual && (residual->rank != 2 || residual->dim[0] != m || residual->dim[1] != n))
        return fail_shape("residual", residual, m, n);
    for (size_t i = 0; i < linear->count; i++)
        CLF_TRY(run_piece(context, &linear->pieces[i], x, activation, residual, y, input));
    return CLF_OK;
}

clf_status clfi_linear_run(clf_context *context, const clf_linear *linear, const clf_view *x, clf_activation activation,
                           const clf_view *residual, const clf_view *y)
{
    const clf_arena_mark mark = clfi_arena_top(context);
    clf_gemm_input input = {0};
    const clf_status st = clfi_linear_run_shared(context, linear, x, activation, residual, y, &input);
    clfi_arena_release(context, mark);
    return st;
}

/* The gated product of two layers of one piece each. */
static clf_gemm_args gated_args(const clf_linear *linear, const clf_linear *gate, int64_t rows)
{
    clf_gemm_args args = args_of(&linear->pieces[0], rows);
    args.gate = &gate->pieces[0].weight;
    return args;
}

bool clfi_linear_takes_gate(const clf_context *context, const clf_linear *linear, const clf_linear *gate, int64_t rows)
{
    clf_engine_choice choice;
    if (linear->count != 1 || gate->count != 1 || linear->n != gate->n || linear->k != gate->k || rows == 0 || linear->n == 0 ||
        linear->pieces[0].weight.blocks == CLF_WEIGHT_F32)
        return false;
    const clf_gemm_args args = gated_args(linear, gate, rows);
    clf_gemm_args alone = args;
    alone.gate = NULL;
    return clfi_gemm_choose(context, &alone, &choice) == CLF_OK && clfi_engine_is_able(context, choice.engine, &args);
}

clf_status clfi_linear_run_gated(clf_context *context, const clf_linear *linear, const clf_linear *gate, const clf_view *x,
                                 clf_activation activation, const clf_view *y)
{
    CLF_TRY(clfi_check_rank("linear", "x", x, 2));
    if (x->dim[1] != linear->k)
        return fail_shape("x", x, x->dim[0], linear->k);
    if (y->rank != 2 || y->dim[0] != x->dim[0] || y->dim[1] != linear->n)
        return fail_shape("y", y, x->dim[0], linear->n);
    clf_gemm_args args = gated_args(linear, gate, x->dim[0]);
    args.a = matrix(x);
    args.c = matrix(y);
    args.activation = activation;
    return clfi_gemm(context, &args);
}

int64_t clfi_linear_in_features(const clf_linear *linear)
{
    return linear->k;
}

int64_t clfi_linear_out_features(const clf_linear *linear)
{
    return linear->n;
}

bool clfi_linear_takes_blocks(const clf_context *context, clf_weight_type type, int64_t n, int64_t k)
{
    clf_engine_choice choice;
    return clfi_gemm_choose_block_form(context, type, n, k, &choice) == CLF_OK && choice.engine;
}

const char *clfi_linear_engine(const clf_context *context, const clf_linear *linear, int64_t rows)
{
    const clf_gemm_args args = args_of(&linear->pieces[0], rows);
    clf_engine_choice choice;
    return clfi_gemm_choose(context, &args, &choice) == CLF_OK ? choice.engine->name : "?";
}

bool clfi_linear_is_packed(const clf_linear *linear)
{
    for (size_t i = 0; i < linear->count; i++)
        if (clfi_gemm_form_info(linear->pieces[i].weight.form)->is_stored)
            return false;
    return true;
}

clf_status clfi_linear_check_tensors(const clf_context *context, const char *op, const char *name, const clf_tensor *weight,
                                     const clf_tensor *bias)
{
    char bias_name[64], found[CLFI_SHAPE_TEXT_BYTES];
    const clf_view *w, *b;
    CLF_TRY(clfi_check_tensor(context, op, name, weight, &w));
    CLF_TRY(clfi_check_rank(op, name, w, 2));
    CLF_TRY(clfi_check_float(op, name, w));
    snprintf(bias_name, sizeof bias_name, "bias of %s", name);
    CLF_TRY(clfi_check_optional(context, op, bias_name, bias, &b));
    if (!b)
        return CLF_OK;
    CLF_TRY(clfi_check_float(op, bias_name, b));
    if (b->rank != 1 || b->dim[0] != w->dim[0])
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: %s: %s is %s, expected [%lld]", op, bias_name, clfi_shape_text(b->rank, b->dim, found),
                 (long long)w->dim[0]);
    return CLF_OK;
}

clf_status clf_linear_create(clf_context *context, const clf_tensor *weight, const clf_tensor *bias, clf_linear **out)
{
    if (!out)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "linear: out must not be NULL");
    CLF_TRY(clfi_linear_check_tensors(context, "linear", "weight", weight, bias));
    const clf_view *view = clfi_tensor_view(weight);
    clf_linear *linear;
    CLF_TRY(clfi_linear_create(context, 1, view, bias ? clfi_tensor_view(bias) : NULL, &linear));
    clf_status st = CLF_OK;
    for (size_t i = 0; st == CLF_OK && i < linear->count; i++)
        st = clfi_gemm_weight_own(context, &linear->pieces[i].weight, view->buffer);
    if (st != CLF_OK) {
        clfi_linear_destroy(linear);
        return st;
    }
    *out = linear;
    return CLF_OK;
}

void clf_linear_destroy(clf_linear *linear)
{
    clfi_linear_destroy(linear);
}

/* Joins all leading axes: [rows, columns]. */
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
    *out = (clf_view){.buffer = view->buffer,
                      .dtype = view->dtype,
                      .rank = 2,
                      .dim = {rows, columns},
                      .stride = {row_stride, view->stride[last]},
                      .offset = view->offset};
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
    CLF_TRY(clfi_context_check(context, linear->context, "linear"));
    CLF_TRY(clfi_tensor_check(context, "x", x));
    CLF_TRY(clfi_tensor_check(context, "y", y));
    const clf_view *xv = clfi_tensor_view(x), *yv = clfi_tensor_view(y);
    CLF_TRY(check_leading("y", yv, xv));
    CLF_TRY(as_matrix("x", xv, linear->k, &xm));
    CLF_TRY(as_matrix("y", yv, linear->n, &ym));
    CLF_TRY(clfi_check_writable("linear", "y", yv));
    if (residual) {
        CLF_TRY(clfi_tensor_check(context, "residual", residual));
        CLF_TRY(clfi_check_same_shape("linear", "residual", clfi_tensor_view(residual), "y", yv));
        CLF_TRY(as_matrix("residual", clfi_tensor_view(residual), linear->n, &rm));
    }
    return clfi_linear_run(context, linear, &xm, activation, residual ? &rm : NULL, &ym);
}
