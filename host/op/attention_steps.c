/* SPDX-License-Identifier: MIT */
/* Checks and launches the single steps of attention. */
#include "op/attention_steps.h"

#include "base/alloc.h"
#include "kernel/attention_steps.h"
#include "op/attention_keep.h"
#include "op/check.h"
#include "op/gemm.h"
#include "op/mask.h"

enum { LARGEST_RANK = 2 + CLFI_GEMM_MAX_BATCH };

/* view is [leading axes of like, rows, columns]. */
static clf_status check_matrices(const char *op, const char *what, const clf_view *view, const char *like_what, const clf_view *like,
                                 int64_t rows, int64_t columns)
{
    char found[CLFI_SHAPE_TEXT_BYTES], other[CLFI_SHAPE_TEXT_BYTES];
    CLF_TRY(clfi_check_float(op, what, view));
    bool fits = view->rank == like->rank && view->dim[view->rank - 2] == rows && view->dim[view->rank - 1] == columns;
    for (int i = 0; fits && i < like->rank - 2; i++)
        fits = view->dim[i] == like->dim[i];
    if (!fits)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: %s %s is %s, %s is %s: expected the same leading axes, then [%lld,%lld]", op, what,
                 clfi_shape_text(view->rank, view->dim, found), like_what, clfi_shape_text(like->rank, like->dim, other), (long long)rows,
                 (long long)columns);
    return CLF_OK;
}

static clf_status check_rank(const char *op, const char *what, const clf_view *view)
{
    CLF_TRY(clfi_check_float(op, what, view));
    if (view->rank < 2 || view->rank > LARGEST_RANK)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: %s %s has rank %d, expected 2 to %d", op, what, view->rank, LARGEST_RANK);
    return CLF_OK;
}

static clf_gemm_operand operand(const clf_view *view, bool is_transposed)
{
    const int64_t row = view->stride[view->rank - 2], column = view->stride[view->rank - 1];
    clf_gemm_operand o = {view->buffer, view->dtype, view->offset, is_transposed ? column : row, is_transposed ? row : column, {0}};
    for (int i = 0; i < view->rank - 2; i++)
        o.batch_stride[i] = view->dim[i] == 1 ? 0 : view->stride[i];
    return o;
}

/* c [...,m,n] = alpha a [...,m,k] b: b is [...,k,n], or transposed [...,n,k]. */
static clf_status multiply(clf_context *context, const clf_view *a, const clf_view *b, bool is_transposed, float alpha, const clf_view *c)
{
    clf_gemm_args args = CLFI_GEMM_ARGS_INIT;
    args.batch_rank = a->rank - 2;
    for (int i = 0; i < args.batch_rank; i++)
        args.batch[i] = a->dim[i];
    args.m = c->dim[c->rank - 2];
    args.n = c->dim[c->rank - 1];
    args.k = a->dim[a->rank - 1];
    args.a = operand(a, false);
    args.b = operand(b, is_transposed);
    args.c = operand(c, false);
    args.alpha = alpha;
    return clfi_gemm(context, &args);
}

clf_status clfi_attention_scores(clf_context *context, const clf_view *q, const clf_view *k, float scale, const clf_view *scores)
{
    static const char op[] = "attention scores:";
    CLF_TRY(check_rank(op, "q", q));
    if (k->rank < 2)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: %s k has rank %d, q has %d", op, k->rank, q->rank);
    const int64_t queries = q->dim[q->rank - 2], d = q->dim[q->rank - 1], keys = k->dim[k->rank - 2];
    CLF_TRY(check_matrices(op, "k", k, "q", q, keys, d));
    CLF_TRY(check_matrices(op, "scores", scores, "q", q, queries, keys));
    CLF_TRY(clfi_check_writable("attention scores", "scores", scores));
    return multiply(context, q, k, true, scale, scores);
}

clf_status clfi_attention_context(clf_context *context, const clf_view *weights, const clf_view *v, const clf_view *keep,
                                  const clf_view *out)
{
    static const char op[] = "attention context:";
    CLF_TRY(check_rank(op, "weights", weights));
    if (v->rank < 2)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: %s v has rank %d, weights have %d", op, v->rank, weights->rank);
    const int64_t queries = weights->dim[weights->rank - 2], keys = weights->dim[weights->rank - 1], dv = v->dim[v->rank - 1];
    CLF_TRY(check_matrices(op, "v", v, "weights", weights, keys, dv));
    CLF_TRY(check_matrices(op, "out", out, "weights", weights, queries, dv));
    CLF_TRY(clfi_check_writable("attention context", "out", out));
    if (clfi_view_count(out) == 0)
        return CLF_OK;
    return keep ? clfi_attention_context_launch(context, weights, v, keep, out) : multiply(context, weights, v, false, 1.0f, out);
}

clf_status clfi_check_dropout(const char *op, float probability)
{
    if (!(probability >= 0.0f && probability < 1.0f))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_VALUE: %s: dropout %g, expected 0 <= p < 1", op, (double)probability);
    return CLF_OK;
}

clf_status clfi_dropout(clf_context *context, const clf_view *x, float probability, uint64_t seed, const clf_view *y)
{
    char x_shape[CLFI_SHAPE_TEXT_BYTES], y_shape[CLFI_SHAPE_TEXT_BYTES];
    CLF_TRY(clfi_check_float("dropout", "x", x));
    CLF_TRY(clfi_check_float("dropout", "y", y));
    if (!clfi_view_same_shape(x, y))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: dropout: y is %s, x is %s", clfi_shape_text(y->rank, y->dim, y_shape),
                 clfi_shape_text(x->rank, x->dim, x_shape));
    CLF_TRY(clfi_check_writable("dropout", "y", y));
    CLF_TRY(clfi_check_dropout("dropout", probability));
    if (clfi_view_count(x) == 0)
        return CLF_OK;
    return clfi_dropout_launch(context, x, probability, seed, y);
}

clf_status clfi_attention_dense(clf_context *context, int64_t sequences, int64_t queries, int64_t keys, const clf_attention_args *args)
{
    clf_attention_span *spans = NULL;
    clf_attention_batch *batch = NULL;
    if (sequences > INT32_MAX || queries > INT32_MAX || keys > INT32_MAX ||
        (sequences > 0 && (queries > INT32_MAX / sequences || keys > INT32_MAX / sequences)))
        CLF_FAIL(CLF_UNSUPPORTED, "attention: %lld sequences of %lld queries and %lld keys are more than 2^31 rows", (long long)sequences,
                 (long long)queries, (long long)keys);
    CLF_TRY(clfi_alloc((size_t)sequences, sizeof *spans, "attention spans", &spans));
    for (int32_t s = 0; s < (int32_t)sequences; s++)
        spans[s] = (clf_attention_span){s * (int32_t)queries, (int32_t)queries, s * (int32_t)keys, (int32_t)keys, 0};
    clf_status st = clfi_attention_batch_create(context, &batch);
    if (st == CLF_OK)
        st = clfi_attention_batch_set_spans(batch, (int32_t)sequences, spans);
    if (st == CLF_OK) {
        clf_attention_args complete = *args;
        complete.batch = batch;
        st = clfi_attention(context, &complete);
    }
    clfi_attention_batch_destroy(batch); /* the driver keeps the memory of enqueued kernels */
    free(spans);
    return st;
}

static clf_status check_tensors(const clf_context *context, const char *const what[3], const clf_tensor *const tensor[3], int count)
{
    for (int i = 0; i < count; i++)
        CLF_TRY(clfi_tensor_check(context, what[i], tensor[i]));
    return CLF_OK;
}

clf_status clf_attention_scores(clf_context *context, const clf_tensor *q, const clf_tensor *k, float scale, clf_tensor *scores)
{
    CLF_TRY(check_tensors(context, (const char *const[3]){"q", "k", "scores"}, (const clf_tensor *const[3]){q, k, scores}, 3));
    return clfi_attention_scores(context, clfi_tensor_view(q), clfi_tensor_view(k), scale, clfi_tensor_view(scores));
}

clf_status clf_attention_context(clf_context *context, const clf_tensor *weights, const clf_tensor *v, const clf_tensor *mask,
                                 clf_tensor *out)
{
    CLF_TRY(check_tensors(context, (const char *const[3]){"weights", "v", "out"}, (const clf_tensor *const[3]){weights, v, out}, 3));
    const clf_view *w = clfi_tensor_view(weights);
    clf_mask_form form = {"mask", CLF_U8, w->rank, {0}, CLFI_MASK_REPEATS};
    clf_view bound, keep;
    CLF_TRY(check_rank("attention context:", "weights", w));
    for (int i = 0; i < w->rank; i++)
        form.map[i] = i;
    CLF_TRY(clfi_mask_bind(context, "attention context:", &form, mask, w, &bound));
    const clf_arena_mark mark = clfi_arena_top(context);
    const clf_keep_masks masks = {.mask = &bound};
    clf_status st = mask ? clfi_attention_keep(context, &masks, w->rank, w->dim, &keep) : CLF_OK;
    if (st == CLF_OK)
        st = clfi_attention_context(context, w, clfi_tensor_view(v), mask ? &keep : NULL, clfi_tensor_view(out));
    clfi_arena_release(context, mark);
    return st;
}

clf_status clf_dropout(clf_context *context, const clf_tensor *x, float probability, uint64_t seed, clf_tensor *y)
{
    CLF_TRY(check_tensors(context, (const char *const[3]){"x", "y", NULL}, (const clf_tensor *const[3]){x, y, NULL}, 2));
    return clfi_dropout(context, clfi_tensor_view(x), probability, seed, clfi_tensor_view(y));
}
