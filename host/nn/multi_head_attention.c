/* SPDX-License-Identifier: MIT */
/* Implements the public multi-head attention (clformer/attention.h) in both layouts: projections, attention, output projection. */
#include <math.h>

#include "base/alloc.h"
#include "base/options.h"
#include "clformer/attention.h"
#include "op/attention_steps.h"
#include "op/check.h"
#include "op/dense_attention.h"
#include "op/linear.h"

struct clf_multi_head_attention {
    const clf_context *context; /* borrowed: the linears keep it alive */
    int64_t heads, d, dv, out_features;
    clf_linear *q, *k, *v, *o; /* o NULL: no output projection */
};

/* One call. Projections are stored head by head for batch-first inputs and row by row for sequence-first ones, so that a head's rows are
 * evenly spaced. q4, k4, v4 and context4 view them as [N,H,rows,columns] in both cases. */
typedef struct mha_job {
    const clf_multi_head_attention *attention;
    const clf_multi_head_attention_params *params;
    const clf_view *q, *k, *v, *out;
    clf_view q4, k4, v4, context4, context_rows;
    clf_dense_masks masks;
    int64_t batch, queries, keys;
    bool is_batch_first;
    float scale;
} mha_job;

static clf_status fail_weight(const char *what, const clf_view *view, int64_t rows, int64_t columns)
{
    char found[CLFI_SHAPE_TEXT_BYTES];
    CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: multi-head attention %s is %s, expected [%lld,%lld]", what,
             clfi_shape_text(view->rank, view->dim, found), (long long)rows, (long long)columns);
}

/* rows < 0: any multiple of heads; columns < 0: any. */
static clf_status create_linear(clf_context *context, const char *what, int64_t heads, const clf_tensor *weight, const clf_tensor *bias,
                                int64_t rows, int64_t columns, clf_linear **out)
{
    CLF_TRY(clfi_linear_check_tensors(context, "multi-head attention", what, weight, bias));
    const clf_view *w = clfi_tensor_view(weight);
    if ((rows >= 0 && w->dim[0] != rows) || (columns >= 0 && w->dim[1] != columns))
        return fail_weight(what, w, rows >= 0 ? rows : w->dim[0], columns >= 0 ? columns : w->dim[1]);
    if (rows < 0 && (w->dim[0] == 0 || w->dim[0] % heads != 0))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_VALUE: multi-head attention %s has %lld rows, which %lld heads do not divide", what,
                 (long long)w->dim[0], (long long)heads);
    return clf_linear_create(context, weight, bias, out);
}

static clf_status create_all(clf_context *context, int64_t heads, const clf_multi_head_attention_weights *w, clf_multi_head_attention *a)
{
    CLF_TRY(create_linear(context, "w_q", heads, w->w_q, w->b_q, -1, -1, &a->q));
    const int64_t rows = clfi_linear_out_features(a->q);
    CLF_TRY(create_linear(context, "w_k", heads, w->w_k, w->b_k, rows, -1, &a->k));
    CLF_TRY(create_linear(context, "w_v", heads, w->w_v, w->b_v, -1, -1, &a->v));
    const int64_t value_rows = clfi_linear_out_features(a->v);
    if (w->w_o)
        CLF_TRY(create_linear(context, "w_o", heads, w->w_o, w->b_o, clf_tensor_rank(w->w_o) > 0 ? clf_tensor_dim(w->w_o)[0] : 0,
                              value_rows, &a->o));
    a->context = context;
    a->heads = heads;
    a->d = rows / heads;
    a->dv = value_rows / heads;
    a->out_features = a->o ? clfi_linear_out_features(a->o) : value_rows;
    return CLF_OK;
}

CLFI_OPTIONS(clf_multi_head_attention_weights, CLF_MULTI_HEAD_ATTENTION_WEIGHTS_INIT)

clf_status clf_multi_head_attention_create(clf_context *context, int64_t heads, const clf_multi_head_attention_weights *weights,
                                           clf_multi_head_attention **out)
{
    clf_multi_head_attention *a;
    clf_multi_head_attention_weights own;
    if (!context || !weights || !out)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "multi-head attention: context, weights and out must not be NULL");
    CLF_TRY(clf_multi_head_attention_weights_read(weights, &own));
    if (heads < 1)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_VALUE: multi-head attention: %lld heads", (long long)heads);
    if (own.b_o && !own.w_o)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_VALUE: multi-head attention: b_o without w_o");
    CLF_TRY(clfi_alloc(1, sizeof *a, "multi-head attention", &a));
    const clf_status st = create_all(context, heads, &own, a);
    if (st != CLF_OK) {
        clf_multi_head_attention_destroy(a);
        return st;
    }
    *out = a;
    return CLF_OK;
}

void clf_multi_head_attention_destroy(clf_multi_head_attention *attention)
{
    if (!attention)
        return;
    clfi_linear_destroy(attention->q);
    clfi_linear_destroy(attention->k);
    clfi_linear_destroy(attention->v);
    clfi_linear_destroy(attention->o);
    free(attention);
}

/* x is [N,L,width] or [L,N,width]; L or N < 0: any. */
static clf_status bind_input(clf_context *context, const mha_job *j, const char *what, const clf_tensor *tensor, int64_t batch,
                             int64_t length, int64_t width, const clf_view **out)
{
    char found[CLFI_SHAPE_TEXT_BYTES], expected[CLFI_SHAPE_TEXT_BYTES];
    CLF_TRY(clfi_tensor_check(context, what, tensor));
    const clf_view *x = clfi_tensor_view(tensor);
    if (!clfi_dtype_is_float(x->dtype))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_DTYPE: multi-head attention %s is %s, expected float32, float16 or bfloat16", what,
                 clf_dtype_name(x->dtype));
    if (x->rank != 3)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: multi-head attention %s is %s, expected rank 3", what,
                 clfi_shape_text(x->rank, x->dim, found));
    const int batch_axis = j->is_batch_first ? 0 : 1;
    int64_t want[3] = {0, 0, width};
    want[batch_axis] = batch >= 0 ? batch : x->dim[batch_axis];
    want[1 - batch_axis] = length >= 0 ? length : x->dim[1 - batch_axis];
    for (int i = 0; i < 3; i++)
        if (x->dim[i] != want[i])
            CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: multi-head attention %s is %s, expected %s", what, clfi_shape_text(3, x->dim, found),
                     clfi_shape_text(3, want, expected));
    if (x->dim[0] > 1 && x->dim[1] > 1 && x->stride[0] != x->dim[1] * x->stride[1])
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: multi-head attention %s: its rows are not evenly spaced", what);
    *out = x;
    return CLF_OK;
}

static clf_status bind_all(clf_context *context, const clf_tensor *q, const clf_tensor *k, const clf_tensor *v, const clf_tensor *out,
                           mha_job *j)
{
    const clf_multi_head_attention *a = j->attention;
    const int batch_axis = j->is_batch_first ? 0 : 1;
    CLF_TRY(bind_input(context, j, "q", q, -1, -1, clfi_linear_in_features(a->q), &j->q));
    j->batch = j->q->dim[batch_axis];
    j->queries = j->q->dim[1 - batch_axis];
    CLF_TRY(bind_input(context, j, "k", k, j->batch, -1, clfi_linear_in_features(a->k), &j->k));
    j->keys = j->k->dim[1 - batch_axis];
    CLF_TRY(bind_input(context, j, "v", v, j->batch, j->keys, clfi_linear_in_features(a->v), &j->v));
    CLF_TRY(bind_input(context, j, "out", out, j->batch, j->queries, a->out_features, &j->out));
    CLF_TRY(clfi_check_writable("multi-head attention", "out", j->out));
    const clf_view scores = {.rank = 4, .dim = {j->batch, a->heads, j->queries, j->keys}};
    CLF_TRY(clfi_dense_masks_bind_layout(context, "multi-head attention", j->params->layout, j->params->masks, &scores, &j->masks));
    CLF_TRY(clfi_check_dropout("multi-head attention", j->params->dropout));
    j->scale = j->params->scale != 0.0f ? j->params->scale : (float)(1.0 / sqrt((double)a->d));
    if (j->params->weights) {
        const clf_view *weights;
        CLF_TRY(clfi_check_tensor(context, "multi-head attention", "weights", j->params->weights, &weights));
        CLF_TRY(clfi_check_dtype("multi-head attention", "weights", weights, CLF_F32));
        CLF_TRY(clfi_check_same_shape("multi-head attention", "weights", weights, "the scores", &scores));
        CLF_TRY(clfi_check_writable("multi-head attention", "weights", weights));
    }
    return CLF_OK;
}

/* [N,L,D] or [L,N,D] as a matrix [rows,D]. */
static clf_view rows_of(const clf_view *x)
{
    clf_view rows = *x;
    rows.rank = 2;
    rows.dim[0] = x->dim[0] * x->dim[1];
    rows.dim[1] = x->dim[2];
    rows.stride[0] = x->dim[1] > 1 ? x->stride[1] : x->stride[0];
    rows.stride[1] = x->stride[2];
    return rows;
}

/* Allocates heads of `length` rows per batch and `width` columns. *flat: the view that a linear layer writes; *four: the same memory as
 * [N,H,length,width]. */
static clf_status make_heads(clf_context *context, const mha_job *j, int64_t length, int64_t width, clf_view *flat, clf_view *four)
{
    const int64_t heads = j->attention->heads, rows = j->batch * length;
    if (j->is_batch_first)
        CLF_TRY(clfi_view_temporary(context, CLF_F32, 3, (int64_t[]){heads, rows, width}, flat));
    else
        CLF_TRY(clfi_view_temporary(context, CLF_F32, 2, (int64_t[]){rows, heads * width}, flat));
    *four =
        (clf_view){.buffer = flat->buffer, .dtype = CLF_F32, .rank = 4, .offset = flat->offset, .dim = {j->batch, heads, length, width}};
    four->stride[0] = j->is_batch_first ? length * width : heads * width;
    four->stride[1] = j->is_batch_first ? rows * width : width;
    four->stride[2] = j->is_batch_first ? width : j->batch * heads * width;
    four->stride[3] = 1;
    return CLF_OK;
}

static clf_status project(clf_context *context, const mha_job *j, const clf_linear *linear, const clf_view *x, int64_t length,
                          int64_t width, clf_view *four)
{
    clf_view flat;
    const clf_view rows = rows_of(x);
    CLF_TRY(make_heads(context, j, length, width, &flat, four));
    return clfi_view_count(&flat) ? clfi_linear_run(context, linear, &rows, CLF_ACTIVATION_NONE, NULL, &flat) : CLF_OK;
}

/* Prepares the concatenated contexts of all heads: rows as in the inputs, head h in columns h*dv and on. Without an output projection this
 * is the output itself. */
static clf_status make_context(clf_context *context, mha_job *j)
{
    const int64_t heads = j->attention->heads, dv = j->attention->dv;
    if (j->attention->o)
        CLF_TRY(clfi_view_temporary(context, CLF_F32, 2, (int64_t[]){j->batch * j->queries, heads * dv}, &j->context_rows));
    else
        j->context_rows = rows_of(j->out);
    const int64_t row = j->context_rows.stride[0], column = j->context_rows.stride[1];
    j->context4 = (clf_view){.buffer = j->context_rows.buffer,
                             .dtype = j->context_rows.dtype,
                             .rank = 4,
                             .offset = j->context_rows.offset,
                             .dim = {j->batch, heads, j->queries, dv}};
    j->context4.stride[0] = j->is_batch_first ? j->queries * row : row;
    j->context4.stride[1] = dv * column;
    j->context4.stride[2] = j->is_batch_first ? row : j->batch * row;
    j->context4.stride[3] = column;
    return CLF_OK;
}

static clf_status run(clf_context *context, mha_job *j)
{
    const clf_multi_head_attention *a = j->attention;
    if (j->batch * j->queries == 0)
        return CLF_OK;
    CLF_TRY(project(context, j, a->q, j->q, j->queries, a->d, &j->q4));
    CLF_TRY(project(context, j, a->k, j->k, j->keys, a->d, &j->k4));
    CLF_TRY(project(context, j, a->v, j->v, j->keys, a->dv, &j->v4));
    CLF_TRY(make_context(context, j));
    const clf_dense_attention attention = {.q = &j->q4,
                                           .k = &j->k4,
                                           .v = &j->v4,
                                           .out = &j->context4,
                                           .masks = &j->masks,
                                           .scale = j->scale,
                                           .dropout = j->params->dropout,
                                           .seed = j->params->seed,
                                           .weights = j->params->weights ? clfi_tensor_view(j->params->weights) : NULL,
                                           .score = j->params->score,
                                           .score_user = j->params->score_user};
    CLF_TRY(clfi_dense_attend(context, &attention));
    const clf_view out = rows_of(j->out);
    return a->o ? clfi_linear_run(context, a->o, &j->context_rows, CLF_ACTIVATION_NONE, NULL, &out) : CLF_OK;
}

CLFI_OPTIONS(clf_multi_head_attention_params, CLF_MULTI_HEAD_ATTENTION_PARAMS_INIT)

clf_status clf_multi_head_attention_apply(clf_context *context, const clf_multi_head_attention *attention, const clf_tensor *q,
                                          const clf_tensor *k, const clf_tensor *v, const clf_multi_head_attention_params *params,
                                          clf_tensor *out)
{
    clf_multi_head_attention_params own;
    mha_job j = {.attention = attention, .params = &own};
    if (!attention)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "multi-head attention: attention is NULL");
    CLF_TRY(clfi_context_check(context, attention->context, "multi-head attention"));
    CLF_TRY(clf_multi_head_attention_params_read(params, &own));
    if ((unsigned)j.params->layout > CLF_LAYOUT_LND)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_VALUE: multi-head attention: layout %d is unknown", (int)j.params->layout);
    j.is_batch_first = j.params->layout == CLF_LAYOUT_NLD;
    CLF_TRY(bind_all(context, q, k, v, out, &j));
    const clf_arena_mark mark = clfi_arena_top(context);
    const clf_status st = run(context, &j);
    clfi_arena_release(context, mark);
    return st;
}
