/* SPDX-License-Identifier: MIT */
/* clf_attention: scoring functions with one call. Dot and bilinear scores under simple masks run fused; everything else goes score,
 * softmax, context. */
#include "clformer/attention.h"

#include <math.h>

#include "base/options.h"
#include "kernel/attention_steps.h"
#include "op/attention_keep.h"
#include "op/attention_steps.h"
#include "op/gemm.h"
#include "op/mask.h"
#include "op/masked_softmax.h"

/* Checked operands. */
typedef struct scoring {
    const clf_attention_params *params;
    const clf_view *q, *k, *v, *out, *w_q, *w_k, *w_v, *m;
    clf_softmax_args softmax; /* its masks are the views below, in the shape of the scores */
    clf_view mask, padding, attention, bias, lengths;
    clf_view weights; /* buffer NULL until there is one */
    int64_t batch, queries, keys;
    float scale;
} scoring;

static clf_status bind(clf_context *context, const char *what, const clf_tensor *tensor, int rank, const clf_view **out)
{
    char shape[CLFI_SHAPE_TEXT_BYTES];
    CLF_TRY(clfi_tensor_check(context, what, tensor));
    const clf_view *view = clfi_tensor_view(tensor);
    if (view->dtype != CLF_F32 && view->dtype != CLF_F16 && view->dtype != CLF_BF16)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_DTYPE: attention %s is %s, expected float32, float16 or bfloat16", what,
                 clf_dtype_name(view->dtype));
    if (view->rank != rank)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: attention %s is %s, expected rank %d", what, clfi_shape_text(view->rank, view->dim, shape),
                 rank);
    *out = view;
    return CLF_OK;
}

static clf_status expect(const char *what, const clf_view *view, int64_t d0, int64_t d1, int64_t d2)
{
    char found[CLFI_SHAPE_TEXT_BYTES], expected[CLFI_SHAPE_TEXT_BYTES];
    const int64_t want[3] = {d0, d1, d2};
    for (int i = 0; i < view->rank; i++)
        if (view->dim[i] != want[i])
            CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: attention %s is %s, expected %s", what, clfi_shape_text(view->rank, view->dim, found),
                     clfi_shape_text(view->rank, want, expected));
    return CLF_OK;
}

/* h of the additive score: what two of its three weights agree on, so that a message names the third. */
static int64_t hidden_width(const scoring *s)
{
    return s->w_k->dim[0] == s->w_v->dim[0] ? s->w_k->dim[0] : s->w_q->dim[0];
}

/* The weights that a score needs, and no others. */
static clf_status bind_score(clf_context *context, scoring *s)
{
    const clf_attention_params *p = s->params;
    const bool is_additive = p->score == CLF_SCORE_ADDITIVE, is_bilinear = p->score == CLF_SCORE_BILINEAR;
    const int64_t dq = s->q->dim[2], dk = s->k->dim[2];
    if ((unsigned)p->score > CLF_SCORE_DISTANCE)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_VALUE: attention: score %d is unknown", (int)p->score);
    if (!p->w_q != !is_additive || !p->w_k != !is_additive || !p->w_v != !is_additive)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_VALUE: attention: w_q, w_k and w_v belong to the additive score%s",
                 is_additive ? ": one is missing" : "");
    if (!p->m != !is_bilinear)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_VALUE: attention: m belongs to the bilinear score%s", is_bilinear ? " and is missing" : "");
    if (!is_additive && !is_bilinear && dq != dk)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: attention q has %lld columns, k has %lld: this score needs equal widths", (long long)dq,
                 (long long)dk);
    if (is_additive) {
        CLF_TRY(bind(context, "w_q", p->w_q, 2, &s->w_q));
        CLF_TRY(bind(context, "w_k", p->w_k, 2, &s->w_k));
        CLF_TRY(bind(context, "w_v", p->w_v, 1, &s->w_v));
        const int64_t h = hidden_width(s);
        CLF_TRY(expect("w_q", s->w_q, h, dq, 0));
        CLF_TRY(expect("w_k", s->w_k, h, dk, 0));
        CLF_TRY(expect("w_v", s->w_v, h, 0, 0));
    }
    if (is_bilinear) {
        CLF_TRY(bind(context, "m", p->m, 2, &s->m));
        CLF_TRY(expect("m", s->m, dq, dk, 0));
    }
    const int64_t width = is_bilinear ? dk : dq;
    const bool is_scaled = p->score == CLF_SCORE_DOT || is_bilinear;
    s->scale = p->scale != 0.0f ? p->scale : is_scaled && width > 0 ? (float)(1.0 / sqrt((double)width)) : 1.0f;
    return CLF_OK;
}

/* Masks in the shape of the scores [B,Q,K]. */
static clf_status bind_masks(clf_context *context, scoring *s)
{
    static const clf_mask_form mask = {"mask", CLF_U8, 3, {0, 1, 2}, CLFI_MASK_REPEATS},
                               bias = {"bias", CLF_F32, 3, {0, 1, 2}, CLFI_MASK_REPEATS};
    static const clf_mask_form padding = {"padding mask", CLF_U8, 2, {0, -1, 1}, 0},
                               attention = {"attention mask", CLF_U8, 2, {-1, 0, 1}, 0};
    const clf_attention_params *p = s->params;
    const clf_view scores = {.rank = 3, .dim = {s->batch, s->queries, s->keys}};
    if ((unsigned)p->empty_rows > CLF_EMPTY_ROWS_UNIFORM)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_VALUE: attention: policy %d for empty rows is unknown", (int)p->empty_rows);
    CLF_TRY(clfi_lengths_bind(context, "attention", p->lengths, &scores, 0, 1, &s->lengths));
    CLF_TRY(clfi_mask_bind(context, "attention", &mask, p->mask, &scores, &s->mask));
    CLF_TRY(clfi_mask_bind(context, "attention", &padding, p->padding_mask, &scores, &s->padding));
    CLF_TRY(clfi_mask_bind(context, "attention", &attention, p->attention_mask, &scores, &s->attention));
    CLF_TRY(clfi_mask_bind(context, "attention", &bias, p->bias, &scores, &s->bias));
    s->softmax = (clf_softmax_args)CLFI_SOFTMAX_ARGS_INIT;
    s->softmax.axis = 2;
    s->softmax.query_axis = p->is_causal ? 1 : -1;
    s->softmax.empty_rows = p->empty_rows;
    s->softmax.lengths = clfi_mask_given(&s->lengths);
    s->softmax.mask = clfi_mask_given(&s->mask);
    s->softmax.padding = clfi_mask_given(&s->padding);
    s->softmax.attention = clfi_mask_given(&s->attention);
    s->softmax.bias = clfi_mask_given(&s->bias);
    return CLF_OK;
}

static clf_status bind_all(clf_context *context, const clf_tensor *q, const clf_tensor *k, const clf_tensor *v, const clf_tensor *out,
                           scoring *s)
{
    CLF_TRY(bind(context, "q", q, 3, &s->q));
    CLF_TRY(bind(context, "k", k, 3, &s->k));
    CLF_TRY(bind(context, "v", v, 3, &s->v));
    CLF_TRY(bind(context, "out", out, 3, &s->out));
    s->batch = s->q->dim[0];
    s->queries = s->q->dim[1];
    s->keys = s->k->dim[1];
    CLF_TRY(expect("k", s->k, s->batch, s->keys, s->k->dim[2]));
    CLF_TRY(expect("v", s->v, s->batch, s->keys, s->v->dim[2]));
    CLF_TRY(expect("out", s->out, s->batch, s->queries, s->v->dim[2]));
    CLF_TRY(bind_score(context, s));
    CLF_TRY(bind_masks(context, s));
    CLF_TRY(clfi_check_dropout("attention", s->params->dropout));
    if (s->params->weights) {
        const clf_view *weights;
        CLF_TRY(bind(context, "weights", s->params->weights, 3, &weights));
        CLF_TRY(expect("weights", weights, s->batch, s->queries, s->keys));
        if (weights->dtype != CLF_F32)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "E_DTYPE: attention weights are %s, expected float32", clf_dtype_name(weights->dtype));
        s->weights = *weights;
    }
    return CLF_OK;
}

/* c [B,rows,n] = a [B,rows,k] times a matrix [k,n] (or, transposed, [n,k]) into a temporary. */
static clf_status project(clf_context *context, const clf_view *a, const clf_view *matrix, bool is_transposed, clf_view *out)
{
    const int64_t n = matrix->dim[is_transposed ? 0 : 1];
    CLF_TRY(clfi_view_temporary(context, CLF_F32, 3, (int64_t[]){a->dim[0], a->dim[1], n}, out));
    clf_gemm_args args = CLFI_GEMM_ARGS_INIT;
    args.batch_rank = 1;
    args.batch[0] = a->dim[0];
    args.m = a->dim[1];
    args.n = n;
    args.k = a->dim[2];
    args.a = (clf_gemm_operand){a->buffer, a->dtype, a->offset, a->stride[1], a->stride[2], {a->dim[0] == 1 ? 0 : a->stride[0]}};
    args.b = (clf_gemm_operand){
        matrix->buffer, matrix->dtype, matrix->offset, matrix->stride[is_transposed], matrix->stride[!is_transposed], {0}};
    args.c = (clf_gemm_operand){out->buffer, out->dtype, out->offset, out->stride[1], out->stride[2], {out->stride[0]}};
    return clfi_gemm(context, &args);
}

static clf_status compute_scores(clf_context *context, const scoring *s, const clf_view *scores)
{
    clf_view queries, keys;
    switch (s->params->score) {
    case CLF_SCORE_ADDITIVE:
        CLF_TRY(project(context, s->q, s->w_q, true, &queries));
        CLF_TRY(project(context, s->k, s->w_k, true, &keys));
        return clfi_attention_additive_launch(context, &queries, &keys, s->w_v, s->scale, scores);
    case CLF_SCORE_BILINEAR:
        CLF_TRY(project(context, s->q, s->m, false, &queries));
        return clfi_attention_scores(context, &queries, s->k, s->scale, NULL, scores);
    case CLF_SCORE_DISTANCE:
        return clfi_attention_distance_launch(context, s->q, s->k, s->scale, scores);
    default:
        return clfi_attention_scores(context, s->q, s->k, s->scale, NULL, scores);
    }
}

/* All masks but the bias as bits. */
static clf_status pack_masks(clf_context *context, const scoring *s, bool is_causal, clf_view *keep)
{
    const clf_keep_masks masks = {s->softmax.mask, s->softmax.padding, s->softmax.attention, s->softmax.lengths, is_causal};
    return clfi_attention_keep(context, &masks, 3, (int64_t[]){s->batch, s->queries, s->keys}, keep);
}

static clf_status run_steps(clf_context *context, scoring *s)
{
    const int64_t dim[3] = {s->batch, s->queries, s->keys};
    const bool is_masked = s->params->is_causal || s->softmax.mask || s->softmax.padding || s->softmax.attention || s->softmax.lengths;
    clf_view dropped, keep;
    if (!s->weights.buffer)
        CLF_TRY(clfi_view_temporary(context, CLF_F32, 3, dim, &s->weights));
    if (clfi_view_count(&s->weights) > 0) {
        CLF_TRY(compute_scores(context, s, &s->weights));
        s->softmax.x = s->softmax.y = &s->weights;
        CLF_TRY(clfi_softmax(context, &s->softmax));
    }
    if (is_masked)
        CLF_TRY(pack_masks(context, s, s->params->is_causal != 0, &keep));
    if (s->params->dropout == 0.0f)
        return clfi_attention_context(context, &s->weights, s->v, is_masked ? &keep : NULL, s->out);
    CLF_TRY(clfi_view_temporary(context, CLF_F32, 3, dim, &dropped));
    CLF_TRY(clfi_dropout(context, &s->weights, s->params->dropout, s->params->seed, &dropped));
    return clfi_attention_context(context, &dropped, s->v, is_masked ? &keep : NULL, s->out);
}

/* Whether rows of all batches are evenly spaced, as one matrix. */
static bool is_packed(const clf_view *view)
{
    return view->dim[0] <= 1 || view->stride[0] == view->dim[1] * view->stride[1];
}

static bool has_unit_columns(const clf_view *view)
{
    return view->dim[2] <= 1 || view->stride[2] == 1;
}

/* [B,rows,d] as [1, B*rows, d]. */
static clf_view packed(const clf_view *view)
{
    clf_view p = *view;
    p.dim[0] = 1;
    p.dim[1] = view->dim[0] * view->dim[1];
    return p;
}

static bool can_fuse(const scoring *s)
{
    const clf_attention_params *p = s->params;
    const clf_dtype dtype = p->score == CLF_SCORE_BILINEAR ? CLF_F32 : s->q->dtype;
    return (p->score == CLF_SCORE_DOT || p->score == CLF_SCORE_BILINEAR) && !p->weights && p->dropout == 0.0f && !p->bias &&
           s->k->dtype == dtype && s->v->dtype == dtype && (s->out->dtype == dtype || s->out->dtype == CLF_F32) && has_unit_columns(s->q) &&
           has_unit_columns(s->k) && has_unit_columns(s->v) && has_unit_columns(s->out) && s->k->dim[2] > 0;
}

/* Lengths of batches and padding are read as they are where the batches' rows follow each other; other masks become bits. */
static bool masks_keys_only(const scoring *s)
{
    const clf_attention_params *p = s->params;
    return !p->mask && !p->attention_mask && (p->lengths || p->padding_mask) && (!p->lengths || clf_tensor_rank(p->lengths) == 1) &&
           is_packed(s->q) && is_packed(s->k) && is_packed(s->v) && is_packed(s->out) &&
           (!p->padding_mask || s->batch <= 1 || s->padding.stride[0] == s->keys * s->padding.stride[2]);
}

/* Batches whose masks are read as they are, are sequences; others are heads of one sequence, which leaves all strides free. */
static clf_status run_fused(clf_context *context, const scoring *s)
{
    clf_view q = *s->q, k = *s->k, v = *s->v, out = *s->out, lengths, key_mask, keep;
    const clf_attention_params *p = s->params;
    const bool is_ragged = masks_keys_only(s);
    if (p->score == CLF_SCORE_BILINEAR)
        CLF_TRY(project(context, s->q, s->m, false, &q));
    clf_attention_args args = {
        .q = &q, .k = &k, .v = &v, .out = &out, .scale = s->scale, .is_causal = p->is_causal != 0, .empty_rows = p->empty_rows};
    if (is_ragged) {
        q = packed(&q);
        k = packed(&k);
        v = packed(&v);
        out = packed(&out);
    }
    if (is_ragged && p->lengths) {
        lengths = s->lengths;
        lengths.rank = 1;
        args.lengths = &lengths;
    }
    if (is_ragged && p->padding_mask) {
        key_mask = s->padding;
        key_mask.rank = 1;
        key_mask.dim[0] = s->batch * s->keys;
        key_mask.stride[0] = s->padding.stride[2];
        args.key_mask = &key_mask;
    }
    if (!is_ragged && (p->mask || p->padding_mask || p->attention_mask || p->lengths)) {
        CLF_TRY(pack_masks(context, s, false, &keep));
        keep = (clf_view){.buffer = keep.buffer,
                          .dtype = keep.dtype,
                          .rank = 4,
                          .offset = keep.offset,
                          .dim = {keep.dim[0], 1, keep.dim[1], keep.dim[2]},
                          .stride = {keep.stride[0], 0, keep.stride[1], keep.stride[2]}}; /* one head each */
        args.keep = &keep;
    }
    const int64_t rows = out.dim[1], row_stride = out.stride[1];
    out.dim[1] = out.dim[0]; /* [rows, heads, dv] */
    out.stride[1] = out.stride[0];
    out.dim[0] = rows;
    out.stride[0] = row_stride;
    return clfi_attention_dense(context, is_ragged ? s->batch : 1, s->queries, s->keys, &args);
}

CLFI_OPTIONS(clf_attention_params, CLF_ATTENTION_PARAMS_INIT)

clf_status clf_attention(clf_context *context, const clf_tensor *q, const clf_tensor *k, const clf_tensor *v,
                         const clf_attention_params *params, clf_tensor *out)
{
    clf_attention_params own;
    scoring s = {.params = &own};
    CLF_TRY(clf_attention_params_read(params, &own));
    CLF_TRY(bind_all(context, q, k, v, out, &s));
    const clf_arena_mark mark = clfi_arena_top(context);
    const clf_status st = can_fuse(&s) && s.batch > 0 ? run_fused(context, &s) : run_steps(context, &s);
    clfi_arena_release(context, mark);
    return st;
}
