/* SPDX-License-Identifier: MIT */
/* Transformer layers: residual blocks around self-attention, source attention and the feed-forward network. */
#include "nn/layer.h"

#include <math.h>

#include "base/alloc.h"
#include "kernel/combine.h"
#include "op/activation.h"
#include "op/layer_norm.h"
#include "op/rms_norm.h"

static clf_status check_attention(const clf_attention_shape *a)
{
    if (a->heads < 1 || a->head_size < 1 || a->key_heads < 1 || a->heads % a->key_heads != 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT,
                 "E_SHAPE: layers: %lld heads of size %lld with %lld key heads: key heads must divide heads, all be positive",
                 (long long)a->heads, (long long)a->head_size, (long long)a->key_heads);
    if (a->window < 0 || a->rotary.dims < 0 || a->rotary.dims % 2 != 0 || a->rotary.dims > a->head_size ||
        (a->rotary.base != 0 && a->rotary.dims == 0))
        CLF_FAIL(
            CLF_INVALID_ARGUMENT,
            "E_SHAPE: layers: window %d, %lld rotary elements: expected a window of 0 or more and an even number of elements up to the "
            "head size %lld",
            a->window, (long long)a->rotary.dims, (long long)a->head_size);
    return CLF_OK;
}

clf_status clfi_stack_init(const clf_stack_config *config, clf_stack *stack)
{
    if (config->layers < 0 || config->layers > CLFI_STACK_MOST_LAYERS)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: %lld layers: expected 0 to %d", (long long)config->layers, CLFI_STACK_MOST_LAYERS);
    if (config->width < 1)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: layers: width is %lld, expected 1 or more", (long long)config->width);
    CLF_TRY(check_attention(&config->attention));
    if (clfi_stack_local_count(config) > 0)
        CLF_TRY(check_attention(&config->local));
    if (config->buckets.count != 0 && (config->buckets.count < 4 || config->buckets.count % 4 != 0 ||
                                       config->buckets.max_distance <= config->buckets.count || config->buckets.max_distance > 1 << 20))
        CLF_FAIL(CLF_INVALID_ARGUMENT,
                 "E_SHAPE: layers: %lld buckets up to distance %lld: expected a multiple of 4 and a larger distance, at most 2^20",
                 (long long)config->buckets.count, (long long)config->buckets.max_distance);
    CLF_TRY(clfi_alloc((size_t)config->layers, sizeof *stack->layers, "layers", &stack->layers));
    stack->config = *config;
    stack->layer_count = config->layers;
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

static bool is_local(const clf_stack_config *config, int64_t layer)
{
    return config->local_layers[layer / 64] >> (layer % 64) & 1;
}

void clfi_stack_set_local(clf_stack_config *config, int64_t layer)
{
    config->local_layers[layer / 64] |= (uint64_t)1 << (layer % 64);
}

int64_t clfi_stack_local_count(const clf_stack_config *config)
{
    int64_t count = 0;
    for (int64_t i = 0; i < config->layers; i++)
        count += is_local(config, i);
    return count;
}

const clf_attention_shape *clfi_stack_attention(const clf_stack_config *config, int64_t layer)
{
    return is_local(config, layer) ? &config->local : &config->attention;
}

const clf_view *clfi_stack_bias(const clf_stack *stack)
{
    return stack->distance_bias.buffer ? &stack->distance_bias : NULL;
}

clf_status clfi_stack_check_plain(const clf_stack *stack, int64_t layer, const char *pass)
{
    if (clfi_stack_attention(&stack->config, layer)->window > 0 || clfi_stack_bias(stack))
        CLF_FAIL(CLF_UNSUPPORTED, "layer %lld has a window or relative position bias, which %s does not support", (long long)layer, pass);
    return CLF_OK;
}

int64_t clfi_distance_bucket(const clf_distance_buckets *buckets, bool is_causal, int64_t distance)
{
    const int64_t count = is_causal ? buckets->count : buckets->count / 2, exact = count / 2;
    const int64_t base = !is_causal && distance > 0 ? count : 0;
    const int64_t n = is_causal ? (distance < 0 ? -distance : 0) : distance < 0 ? -distance : distance;
    if (n < exact)
        return base + n;
    /* Computed in float as in training, so that distances fall into the same buckets. */
    const float ratio = logf((float)n / (float)exact) / (float)log((double)buckets->max_distance / (double)exact);
    const int64_t bucket = exact + (int64_t)(ratio * (float)(count - exact));
    return base + (bucket < count - 1 ? bucket : count - 1);
}

float clfi_stack_scale(const clf_stack_config *config, int64_t layer)
{
    const clf_attention_shape *shape = clfi_stack_attention(config, layer);
    const float scale = shape->scale > 0.0f ? shape->scale : 1.0f / sqrtf((float)shape->head_size);
    return config->divides_by_depth ? scale / (float)(layer + 1) : scale;
}

/* The run of one layer. */
typedef struct layer_run {
    clf_context *context;
    const clf_stack *stack;
    const clf_layer *layer;
    const clf_attention_shape *attention;
    int64_t index;
    const clf_layer_pass *pass;
    const clf_layer_visitor *visitor; /* NULL: none */
} layer_run;

/* sum = x + f(input) */
typedef clf_status (*residual_block)(const layer_run *run, const clf_view *input, const clf_view *x, const clf_view *sum);

static clf_status norm(const layer_run *run, const clf_norm *n, const clf_view *x, const clf_view *y)
{
    const clf_stack_config *config = &run->stack->config;
    if (config->norm == CLF_NORM_LAYER)
        return clfi_layer_norm(run->context, x, NULL, &n->gamma, n->beta.buffer ? &n->beta : NULL, 1, config->norm_eps, y);
    return clfi_rms_norm(run->context, x, NULL, &n->gamma, 1, config->norm_eps, y);
}

/* Applies the norms of heads and then the rotary encoding, in place. q and k are neighbours in one projection. */
static clf_status prepare_heads(const layer_run *run, const clf_view *q, const clf_view *k)
{
    const clf_view *turns = run->attention == &run->stack->config.local ? &run->stack->local_turns : &run->stack->turns;
    if (run->stack->config.has_query_key_norm) {
        CLF_TRY(norm(run, &run->layer->query_norm, q, q));
        CLF_TRY(norm(run, &run->layer->key_norm, k, k));
    }
    if (!turns->buffer)
        return CLF_OK;
    if (!run->pass->positions)
        CLF_FAIL(CLF_INTERNAL, "layers: rotary positions, but the pass has none");
    clf_view both = *q; /* the keys follow the queries in memory */
    both.dim[0] += k->dim[0];
    return clfi_rotary_run(run->context, &run->attention->rotary, turns, run->pass->positions, &both);
}

/* Heads first .. first + heads of a projection [H + 2G, T, D]. */
static clf_view heads_of(const clf_view *projection, int64_t first, int64_t heads)
{
    clf_view view = *projection;
    view.dim[0] = heads;
    view.offset += first * view.stride[0];
    return view;
}

/* Allocates a projection [heads, T, D], the layout that attention reads fastest, and the attention's result [T, H, D]. */
static clf_status attention_room(const layer_run *run, int64_t tokens, int64_t projected_heads, clf_view *projection, clf_view *mixed)
{
    const int64_t heads = run->attention->heads, size = run->attention->head_size;
    CLF_TRY(clfi_view_temporary(run->context, CLF_F32, 3, (int64_t[]){projected_heads, tokens, size}, projection));
    return clfi_view_temporary(run->context, CLF_F32, 3, (int64_t[]){tokens, heads, size}, mixed);
}

static clf_status project_mixed(const layer_run *run, const clf_linear *output, const clf_view *mixed, const clf_view *x,
                                const clf_view *sum)
{
    const clf_view concatenated =
        clfi_view_dense(mixed->buffer, CLF_F32, mixed->offset, 2, (int64_t[]){mixed->dim[0], mixed->dim[1] * mixed->dim[2]});
    return clfi_linear_run(run->context, output, &concatenated, CLF_ACTIVATION_NONE, x, sum);
}

static clf_status self_block(const layer_run *run, const clf_view *input, const clf_view *x, const clf_view *sum)
{
    const int64_t heads = run->attention->heads, key_heads = run->attention->key_heads;
    const clf_arena_mark mark = clfi_arena_top(run->context);
    clf_view qkv, mixed;
    clf_status st;
    CLF_GOTO(attention_room(run, input->dim[0], heads + 2 * key_heads, &qkv, &mixed));
    CLF_GOTO(clfi_linear_run(run->context, run->layer->qkv, input, CLF_ACTIVATION_NONE, NULL, &qkv));
    const clf_view q = heads_of(&qkv, 0, heads), k = heads_of(&qkv, heads, key_heads), v = heads_of(&qkv, heads + key_heads, key_heads);
    CLF_GOTO(prepare_heads(run, &q, &k));
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
    CLF_GOTO(attention_room(run, input->dim[0], run->attention->heads, &q, &mixed));
    CLF_GOTO(clfi_linear_run(run->context, run->layer->source_query, input, CLF_ACTIVATION_NONE, NULL, &q));
    CLF_GOTO(run->pass->source(run->context, run->stack, run->pass, run->index, &q, &mixed));
    CLF_GOTO(project_mixed(run, run->layer->source_output, &mixed, x, sum));
done:
    clfi_arena_release(run->context, mark);
    return st;
}

static clf_status visit(const layer_run *run, clf_layer_point point, const clf_view *rows)
{
    return run->visitor ? run->visitor->visit(run->context, run->visitor->user, run->index, point, rows) : CLF_OK;
}

static clf_status visit_hidden(const void *user, const clf_view *hidden)
{
    return visit(user, CLF_POINT_FFN_HIDDEN, hidden);
}

static clf_status feed_forward_block(const layer_run *run, const clf_view *input, const clf_view *x, const clf_view *sum)
{
    const clf_feed_forward network = {run->layer->ffn_in,
                                      run->layer->ffn_gate,
                                      run->layer->ffn_out,
                                      run->stack->config.activation,
                                      run->visitor ? visit_hidden : NULL,
                                      run};
    CLF_TRY(visit(run, CLF_POINT_FFN_INPUT, input));
    return clfi_feed_forward_run(run->context, &network, input, x, sum);
}

/* The current rows x; `other` receives the next sum, then the two change places. */
typedef struct layer_rows {
    clf_view x, other, normed;
} layer_rows;

/* Makes the sum in r->other the current rows. */
static void swap(layer_rows *r)
{
    const clf_view sum = r->other;
    r->other = r->x;
    r->x = sum;
}

/* r->other = r->x + f(input). A visitor with has_results visits f(input) before the addition. */
static clf_status add_block(const layer_run *run, residual_block block, clf_layer_point point, const clf_view *input, const layer_rows *r)
{
    if (!run->visitor || !run->visitor->has_results)
        return block(run, input, &r->x, &r->other);
    CLF_TRY(block(run, input, NULL, &r->other));
    CLF_TRY(visit(run, point, &r->other));
    return clfi_add_launch(run->context, &r->x, &r->other);
}

/* after: the second norm of place "both". */
static clf_status residual(const layer_run *run, residual_block block, clf_layer_point point, const clf_norm *n, const clf_norm *after,
                           layer_rows *r)
{
    const clf_norm_place place = run->stack->config.place;
    if (place == CLF_NORM_POST) {
        CLF_TRY(add_block(run, block, point, &r->x, r));
        return norm(run, n, &r->other, &r->x);
    }
    const bool is_normed = n->gamma.buffer;
    if (is_normed)
        CLF_TRY(norm(run, n, &r->x, &r->normed));
    const clf_view *input = is_normed ? &r->normed : &r->x;
    if (place == CLF_NORM_PRE) {
        CLF_TRY(add_block(run, block, point, input, r));
        swap(r);
        return CLF_OK;
    }
    CLF_TRY(block(run, input, NULL, &r->other));
    if (run->visitor && run->visitor->has_results)
        CLF_TRY(visit(run, point, &r->other));
    CLF_TRY(norm(run, after, &r->other, &r->other));
    return clfi_add_launch(run->context, &r->other, &r->x);
}

static clf_status run_layer(const layer_run *run, layer_rows *r)
{
    const clf_layer *layer = run->layer;
    CLF_TRY(residual(run, self_block, CLF_POINT_SELF_RESULT, &layer->attention_norm, &layer->attention_post_norm, r));
    if (run->stack->config.has_source)
        CLF_TRY(residual(run, source_block, CLF_POINT_SOURCE_RESULT, &layer->source_norm, NULL, r));
    return residual(run, feed_forward_block, CLF_POINT_FFN_RESULT, &layer->ffn_norm, &layer->ffn_post_norm, r);
}

clf_status clfi_stack_forward(clf_context *context, const clf_stack *stack, const clf_layer_pass *pass, const clf_view *x)
{
    return clfi_stack_forward_visited(context, stack, pass, NULL, x);
}

clf_status clfi_stack_forward_visited(clf_context *context, const clf_stack *stack, const clf_layer_pass *pass,
                                      const clf_layer_visitor *visitor, const clf_view *x)
{
    const clf_arena_mark mark = clfi_arena_top(context);
    layer_run run = {.context = context, .stack = stack, .pass = pass, .visitor = visitor};
    layer_rows r = {.x = *x};
    clf_status st = CLF_OK;
    if (x->dim[0] == 0)
        return CLF_OK;
    CLF_GOTO(clfi_view_temporary(context, CLF_F32, 2, x->dim, &r.other));
    if (stack->config.place != CLF_NORM_POST)
        CLF_GOTO(clfi_view_temporary(context, CLF_F32, 2, x->dim, &r.normed));
    for (; run.index < stack->layer_count; run.index++) {
        run.layer = &stack->layers[run.index];
        run.attention = clfi_stack_attention(&stack->config, run.index);
        CLF_GOTO(run_layer(&run, &r));
    }
    if (stack->final_norm.gamma.buffer)
        CLF_GOTO(norm(&run, &stack->final_norm, &r.x, x));
    else if (r.x.buffer != x->buffer || r.x.offset != x->offset)
        CLF_GOTO(clfi_activation(context, CLF_ACTIVATION_NONE, &r.x, x)); /* an odd number of blocks ended in the other buffer */
done:
    clfi_arena_release(context, mark);
    return st;
}
