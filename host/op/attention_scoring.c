/* SPDX-License-Identifier: MIT */
/* Implements clf_attention, attention with one of several scoring functions, as dense attention of one head. A bilinear score is a dot
 * product with projected queries. Additive and distance scores have their own kernels. */
#include "clformer/attention.h"

#include <math.h>

#include "base/options.h"
#include "kernel/attention_steps.h"
#include "op/attention_steps.h"
#include "op/check.h"
#include "op/dense_attention.h"
#include "op/gemm.h"

/* Checked operands. */
typedef struct scoring {
    const clf_attention_params *params;
    const clf_view *q, *k, *v, *out, *w_q, *w_k, *m;
    clf_view w_v; /* [h] */
    clf_dense_masks masks;
    const clf_view *weights; /* NULL: not wanted */
    int64_t batch, queries, keys;
    float scale;
} scoring;

static clf_status bind_float(clf_context *context, const char *what, const clf_tensor *tensor, const clf_view **out)
{
    CLF_TRY(clfi_check_tensor(context, "attention", what, tensor, out));
    return clfi_check_float("attention", what, *out);
}

static clf_status bind(clf_context *context, const char *what, const clf_tensor *tensor, int rank, const clf_view **out)
{
    CLF_TRY(bind_float(context, what, tensor, out));
    return clfi_check_rank("attention", what, *out, rank);
}

static clf_status expect(const char *what, const clf_view *view, int64_t d0, int64_t d1, int64_t d2)
{
    char found[CLFI_SHAPE_TEXT_BYTES], expected[CLFI_SHAPE_TEXT_BYTES];
    const int64_t want[3] = {d0, d1, d2};
    for (int i = 0; i < view->rank; i++)
        if (view->dim[i] != want[i])
            CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: attention: %s is %s, expected %s", what, clfi_shape_text(view->rank, view->dim, found),
                     clfi_shape_text(view->rank, want, expected));
    return CLF_OK;
}

/* Binds the weights of the additive score. h is the size that two of the three weights agree on, so a message names the third. */
static clf_status bind_additive(clf_context *context, scoring *s)
{
    char found[CLFI_SHAPE_TEXT_BYTES];
    const clf_view *given = NULL;
    CLF_TRY(bind(context, "w_q", s->params->w_q, 2, &s->w_q));
    CLF_TRY(bind(context, "w_k", s->params->w_k, 2, &s->w_k));
    CLF_TRY(bind_float(context, "w_v", s->params->w_v, &given));
    const int last = given->rank - 1;
    const bool is_vector = last == 0 || (last == 1 && given->dim[0] == 1);
    const int64_t h = is_vector && s->w_k->dim[0] == given->dim[last] ? s->w_k->dim[0] : s->w_q->dim[0];
    CLF_TRY(expect("w_q", s->w_q, h, s->q->dim[2], 0));
    CLF_TRY(expect("w_k", s->w_k, h, s->k->dim[2], 0));
    if (!is_vector || given->dim[last] != h)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: attention: w_v is %s, expected [%lld] or [1,%lld]",
                 clfi_shape_text(given->rank, given->dim, found), (long long)h, (long long)h);
    s->w_v = *given;
    s->w_v.rank = 1;
    s->w_v.dim[0] = h;
    s->w_v.stride[0] = given->stride[last];
    return CLF_OK;
}

/* Binds the weights that the score needs and refuses others. */
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
    if (is_additive)
        CLF_TRY(bind_additive(context, s));
    if (is_bilinear) {
        CLF_TRY(bind(context, "m", p->m, 2, &s->m));
        CLF_TRY(expect("m", s->m, dq, dk, 0));
    }
    const int64_t width = is_bilinear ? dk : dq;
    const bool is_scaled = p->score == CLF_SCORE_DOT || is_bilinear;
    s->scale = p->scale != 0.0f ? p->scale : is_scaled && width > 0 ? (float)(1.0 / sqrt((double)width)) : 1.0f;
    return CLF_OK;
}

/* Masks in the shape of the scores of one head, [B,1,Q,K]. */
static clf_status bind_masks(clf_context *context, scoring *s)
{
    static const clf_mask_form mask = {"mask", CLF_U8, 3, {0, -1, 1, 2}, CLFI_MASK_REPEATS},
                               bias = {"bias", CLF_F32, 3, {0, -1, 1, 2}, CLFI_MASK_REPEATS};
    const clf_attention_params *p = s->params;
    const clf_view scores = {.rank = 4, .dim = {s->batch, 1, s->queries, s->keys}};
    CLF_TRY(clfi_dense_masks_bind(context, "attention", &mask, p->masks, &scores, &s->masks));
    CLF_TRY(clfi_lengths_bind(context, "attention", p->lengths, &scores, 0, 2, &s->masks.lengths));
    return clfi_mask_bind(context, "attention", &bias, p->bias, &scores, &s->masks.bias);
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
    CLF_TRY(clfi_check_writable("attention", "out", s->out));
    CLF_TRY(bind_score(context, s));
    CLF_TRY(bind_masks(context, s));
    CLF_TRY(clfi_check_dropout("attention", s->params->dropout));
    if (s->params->weights) {
        const clf_view *weights;
        CLF_TRY(bind(context, "weights", s->params->weights, 3, &weights));
        CLF_TRY(expect("weights", weights, s->batch, s->queries, s->keys));
        if (weights->dtype != CLF_F32)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "E_DTYPE: attention weights are %s, expected float32", clf_dtype_name(weights->dtype));
        CLF_TRY(clfi_check_writable("attention", "weights", weights));
        s->weights = weights;
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

/* Views [B,rows,n] as [B,1,rows,n]; the axis of the single head has the stride of the batches. */
static clf_view with_head(const clf_view *three)
{
    return (clf_view){.buffer = three->buffer,
                      .dtype = three->dtype,
                      .rank = 4,
                      .offset = three->offset,
                      .dim = {three->dim[0], 1, three->dim[1], three->dim[2]},
                      .stride = {three->stride[0], three->stride[0], three->stride[1], three->stride[2]}};
}

/* A clf_dense_attention's make_scores. */
static clf_status make_scores(clf_context *context, const void *user, const clf_view *four)
{
    const scoring *s = user;
    const clf_view scores = {.buffer = four->buffer,
                             .dtype = four->dtype,
                             .rank = 3,
                             .offset = four->offset,
                             .dim = {four->dim[0], four->dim[2], four->dim[3]},
                             .stride = {four->stride[0], four->stride[2], four->stride[3]}};
    clf_view queries, keys;
    if (s->params->score == CLF_SCORE_DISTANCE)
        return clfi_attention_distance_launch(context, s->q, s->k, s->scale, &scores);
    CLF_TRY(project(context, s->q, s->w_q, true, &queries));
    CLF_TRY(project(context, s->k, s->w_k, true, &keys));
    return clfi_attention_additive_launch(context, &queries, &keys, &s->w_v, s->scale, &scores);
}

static clf_status attend(clf_context *context, const scoring *s)
{
    const clf_attention_params *p = s->params;
    const bool is_product = p->score == CLF_SCORE_DOT || p->score == CLF_SCORE_BILINEAR;
    clf_view projected = *s->q;
    if (p->score == CLF_SCORE_BILINEAR)
        CLF_TRY(project(context, s->q, s->m, false, &projected));
    const clf_view q = with_head(&projected), k = with_head(s->k), v = with_head(s->v), out = with_head(s->out);
    const clf_view weights = s->weights ? with_head(s->weights) : q;
    const clf_dense_attention attention = {.q = &q,
                                           .k = &k,
                                           .v = &v,
                                           .out = &out,
                                           .masks = &s->masks,
                                           .scale = s->scale,
                                           .dropout = p->dropout,
                                           .seed = p->seed,
                                           .weights = s->weights ? &weights : NULL,
                                           .make_scores = is_product ? NULL : make_scores,
                                           .make_user = s};
    return clfi_dense_attend(context, &attention);
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
    const clf_status st = attend(context, &s);
    clfi_arena_release(context, mark);
    return st;
}
