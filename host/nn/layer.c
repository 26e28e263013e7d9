/* SPDX-License-Identifier: MIT */
/* Transformer layers: residual blocks around self-attention, source attention and the feed-forward network. */
#include "nn/layer.h"

#include <math.h>

#include "base/alloc.h"
#include "op/activation.h"
#include "op/layer_norm.h"

clf_status clfi_stack_init(clf_stack *stack, int64_t layer_count)
{
    if (stack->heads < 1 || stack->width < 1 || stack->width % stack->heads != 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: layers: width %lld is not a multiple of %lld heads", (long long)stack->width,
                 (long long)stack->heads);
    if (layer_count < 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: %lld layers", (long long)layer_count);
    CLF_TRY(clfi_alloc((size_t)layer_count, sizeof *stack->layers, "layers", &stack->layers));
    stack->layer_count = layer_count;
    return CLF_OK;
}

void clfi_stack_clear(clf_stack *stack)
{
    for (int64_t i = 0; i < stack->layer_count; i++) {
        clf_layer *layer = &stack->layers[i];
        clfi_linear_destroy(layer->qkv);
        clfi_linear_destroy(layer->output);
        clfi_linear_destroy(layer->source_query);
        clfi_linear_destroy(layer->source_kv);
        clfi_linear_destroy(layer->source_output);
        clfi_linear_destroy(layer->ffn_in);
        clfi_linear_destroy(layer->ffn_gate);
        clfi_linear_destroy(layer->ffn_out);
    }
    free(stack->layers);
    stack->layers = NULL;
    stack->layer_count = 0;
}

clf_status clfi_stack_up_to(const clf_stack *stack, const char *name, int64_t layer, clf_stack *out)
{
    if (layer < 0 || layer >= stack->layer_count)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "attention weights: layer %lld, the %s has layers 0 to %lld", (long long)layer, name,
                 (long long)stack->layer_count - 1);
    *out = *stack;
    out->layer_count = layer + 1;
    return CLF_OK;
}

float clfi_stack_scale(const clf_stack *stack)
{
    return 1.0f / sqrtf((float)(stack->width / stack->heads));
}

/* One layer at work. */
typedef struct layer_run {
    clf_context *context;
    const clf_stack *stack;
    const clf_layer *layer;
    int64_t index;
    const clf_layer_pass *pass;
} layer_run;

/* sum = x + f(input) */
typedef clf_status (*residual_block)(const layer_run *run, const clf_view *input, const clf_view *x, const clf_view *sum);

static clf_status norm(const layer_run *run, const clf_norm *n, const clf_view *x, const clf_view *y)
{
    return clfi_layer_norm(run->context, x, NULL, n->gamma.buffer ? &n->gamma : NULL, n->beta.buffer ? &n->beta : NULL, 1,
                           run->stack->norm_eps, y);
}

/* The part of a head-major [3H, T, D] projection that holds queries, keys or values. */
static clf_view heads_of(const clf_view *projection, int64_t heads, int part)
{
    clf_view view = *projection;
    view.dim[0] = heads;
    view.offset += part * heads * view.stride[0];
    return view;
}

/* Room for a projection written head by head, which is what attention reads fastest, and for the mixed values. */
static clf_status attention_room(const layer_run *run, int64_t tokens, int parts, clf_view *projection, clf_view *mixed)
{
    const int64_t heads = run->stack->heads, size = run->stack->width / heads;
    CLF_TRY(clfi_view_temporary(run->context, CLF_F32, 3, (int64_t[]){parts * heads, tokens, size}, projection));
    return clfi_view_temporary(run->context, CLF_F32, 3, (int64_t[]){tokens, heads, size}, mixed);
}

static clf_status project_mixed(const layer_run *run, const clf_linear *output, const clf_view *mixed, const clf_view *x, const clf_view *sum)
{
    const clf_view concatenated = clfi_view_dense(mixed->buffer, CLF_F32, mixed->offset, 2, x->dim);
    return clfi_linear_run(run->context, output, &concatenated, CLF_ACTIVATION_NONE, x, sum);
}

static clf_status self_block(const layer_run *run, const clf_view *input, const clf_view *x, const clf_view *sum)
{
    const int64_t heads = run->stack->heads;
    const clf_arena_mark mark = clfi_arena_top(run->context);
    clf_view qkv, mixed;
    clf_status st;
    CLF_GOTO(attention_room(run, x->dim[0], 3, &qkv, &mixed));
    CLF_GOTO(clfi_linear_run(run->context, run->layer->qkv, input, CLF_ACTIVATION_NONE, NULL, &qkv));
    const clf_view q = heads_of(&qkv, heads, 0), k = heads_of(&qkv, heads, 1), v = heads_of(&qkv, heads, 2);
    CLF_GOTO(run->pass->self(run->context, run->stack, run->pass, run->index, &q, &k, &v, &mixed));
    CLF_GOTO(project_mixed(run, run->layer->output, &mixed, x, sum));
done:
    clfi_arena_release(run->context, mark);
    return st;
}

static clf_status source_block(const layer_run *run, const clf_view *input, const clf_view *x, const clf_view *sum)
{
    const clf_arena_mark mark = clfi_arena_top(run->context);
    clf_view q, mixed;
    clf_status st;
    CLF_GOTO(attention_room(run, x->dim[0], 1, &q, &mixed));
    CLF_GOTO(clfi_linear_run(run->context, run->layer->source_query, input, CLF_ACTIVATION_NONE, NULL, &q));
    CLF_GOTO(run->pass->source(run->context, run->stack, run->pass, run->index, &q, &mixed));
    CLF_GOTO(project_mixed(run, run->layer->source_output, &mixed, x, sum));
done:
    clfi_arena_release(run->context, mark);
    return st;
}

static clf_status feed_forward_block(const layer_run *run, const clf_view *input, const clf_view *x, const clf_view *sum)
{
    const clf_feed_forward network = {run->layer->ffn_in, run->layer->ffn_gate, run->layer->ffn_out, run->stack->activation};
    return clfi_feed_forward_run(run->context, &network, input, x, sum);
}

/* The rows, wherever they are now: sums go from one place to the other and back. */
typedef struct rows {
    clf_view x, other, normed;
} rows;

static clf_status residual(const layer_run *run, residual_block block, const clf_norm *n, rows *r)
{
    if (!run->stack->norm_first) {
        CLF_TRY(block(run, &r->x, &r->x, &r->other));
        return norm(run, n, &r->other, &r->x);
    }
    CLF_TRY(norm(run, n, &r->x, &r->normed));
    CLF_TRY(block(run, &r->normed, &r->x, &r->other));
    const clf_view sum = r->other;
    r->other = r->x;
    r->x = sum;
    return CLF_OK;
}

static clf_status run_layer(const layer_run *run, rows *r)
{
    CLF_TRY(residual(run, self_block, &run->layer->attention_norm, r));
    if (run->stack->has_source)
        CLF_TRY(residual(run, source_block, &run->layer->source_norm, r));
    return residual(run, feed_forward_block, &run->layer->ffn_norm, r);
}

clf_status clfi_stack_forward(clf_context *context, const clf_stack *stack, const clf_layer_pass *pass, const clf_view *x)
{
    const clf_arena_mark mark = clfi_arena_top(context);
    layer_run run = {context, stack, NULL, 0, pass};
    rows r = {.x = *x};
    clf_status st = CLF_OK;
    if (x->dim[0] == 0)
        return CLF_OK;
    CLF_GOTO(clfi_view_temporary(context, CLF_F32, 2, x->dim, &r.other));
    if (stack->norm_first)
        CLF_GOTO(clfi_view_temporary(context, CLF_F32, 2, x->dim, &r.normed));
    for (; run.index < stack->layer_count; run.index++) {
        run.layer = &stack->layers[run.index];
        CLF_GOTO(run_layer(&run, &r));
    }
    if (stack->final_norm.gamma.buffer)
        CLF_GOTO(norm(&run, &stack->final_norm, &r.x, x));
    else if (r.x.buffer != x->buffer || r.x.offset != x->offset)
        CLF_GOTO(clfi_activation(context, CLF_ACTIVATION_NONE, &r.x, x)); /* an odd number of blocks ended in the other place */
done:
    clfi_arena_release(context, mark);
    return st;
}
