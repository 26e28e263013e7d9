/* SPDX-License-Identifier: MIT */
/* Runs the public Transformer over dense batches: checks and embeds tokens, runs rows through the stacks, and writes results to the
 * caller's tensors. */
#include "base/alloc.h"
#include "base/options.h"
#include "nn/dense_observe.h"
#include "model/transformer.h"
#include "op/activation.h"
#include "op/check.h"
#include "op/log_softmax.h"

/* N and L of a sequence operand in a layout. */
typedef struct extent {
    int64_t batch, length;
} extent;

static extent extent_of(clf_layout layout, const int64_t *dim)
{
    return layout == CLF_LAYOUT_NLD ? (extent){dim[0], dim[1]} : (extent){dim[1], dim[0]};
}

static clf_status check_layout(clf_layout layout)
{
    if (layout != CLF_LAYOUT_NLD && layout != CLF_LAYOUT_LND)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_VALUE: layout %d is not one of the enumerators", (int)layout);
    return CLF_OK;
}

/* Checks a sequence of vectors: [dim0,dim1,C]; a negative dim0 or dim1 stands for any size. */
static clf_status check_vectors(const clf_transformer *t, const char *what, const clf_tensor *tensor, int64_t dim0, int64_t dim1)
{
    char shape[CLFI_SHAPE_TEXT_BYTES];
    const int64_t c = t->config.width;
    CLF_TRY(clfi_tensor_check(t->context, what, tensor));
    const clf_view *v = clfi_tensor_view(tensor);
    if (!clfi_dtype_is_float(v->dtype))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_DTYPE: transformer %s is %s, expected float32, float16 or bfloat16", what,
                 clf_dtype_name(v->dtype));
    if (v->rank != 3 || v->dim[2] != c || (dim0 >= 0 && v->dim[0] != dim0) || (dim1 >= 0 && v->dim[1] != dim1))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: transformer %s is %s, expected [%lld,%lld,%lld] (-1: any)", what,
                 clfi_shape_text(v->rank, v->dim, shape), (long long)dim0, (long long)dim1, (long long)c);
    return CLF_OK;
}

static clf_status check_output(const clf_transformer *t, const char *what, const clf_tensor *tensor, int64_t dim0, int64_t dim1)
{
    CLF_TRY(check_vectors(t, what, tensor, dim0, dim1));
    return clfi_check_writable("transformer", what, clfi_tensor_view(tensor));
}

/* A [a,b,C] view of dense rows. */
static clf_view as_three(const clf_view *rows, const int64_t *dim)
{
    return clfi_view_dense(rows->buffer, rows->dtype, rows->offset, 3, (int64_t[]){dim[0], dim[1], rows->dim[1]});
}

/* Embeds tokens: rows. Ids are read back to be checked; positions count along the layout's sequence axis. */
static clf_status embed_tokens(clf_transformer *t, bool is_target, clf_layout layout, const clf_tensor *tokens, const clf_view *rows)
{
    const clf_token_embedding *embedding = is_target ? &t->network->target : &t->network->source;
    const char *what = is_target ? "transformer target" : "transformer source";
    const extent size = extent_of(layout, clf_tensor_dim(tokens));
    const int64_t count = rows->dim[0], apart = layout == CLF_LAYOUT_NLD ? 1 : size.batch;
    int32_t *ids;
    clf_token_batch batch;
    CLF_TRY(clfi_alloc((size_t)count, sizeof *ids, "tokens", &ids));
    clf_status st = clf_tensor_read(tokens, ids, (size_t)count * sizeof *ids);
    if (st == CLF_OK)
        st = clfi_pack_even(&t->packer, what, embedding->config, ids, count, apart, size.length, &batch);
    free(ids);
    return st == CLF_OK ? clfi_network_embed(t->context, embedding, &batch.ids, &batch.positions, NULL, rows) : st;
}

/* The rows of a sequence operand, embedded where it holds tokens; a temporary of the arena. dim: its first two sizes. */
static clf_status take_sequence(clf_transformer *t, bool is_target, clf_layout layout, const clf_tensor *sequence, clf_view *rows,
                                int64_t dim[2])
{
    char shape[CLFI_SHAPE_TEXT_BYTES];
    const char *what = is_target ? "target" : "source";
    CLF_TRY(check_layout(layout));
    CLF_TRY(clfi_tensor_check(t->context, what, sequence));
    const clf_view *v = clfi_tensor_view(sequence);
    const bool is_tokens = v->dtype == CLF_I32;
    if (is_tokens && !(is_target ? t->network->target : t->network->source).table.count)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_VALUE: transformer %s: tokens, but the network has no embedding for them", what);
    if (is_tokens && v->rank != 2)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: transformer %s: tokens are %s, expected rank 2", what,
                 clfi_shape_text(v->rank, v->dim, shape));
    if (!is_tokens)
        CLF_TRY(check_vectors(t, what, sequence, -1, -1));
    dim[0] = v->dim[0];
    dim[1] = v->dim[1];
    CLF_TRY(clfi_view_temporary(t->context, CLF_F32, 2, (int64_t[]){dim[0] * dim[1], t->config.width}, rows));
    if (rows->dim[0] == 0)
        return CLF_OK;
    if (is_tokens)
        return embed_tokens(t, is_target, layout, sequence, rows);
    const clf_view three = as_three(rows, dim);
    return clfi_activation(t->context, CLF_ACTIVATION_NONE, v, &three);
}

static clf_status give_rows(const clf_transformer *t, const clf_view *rows, const int64_t dim[2], const clf_tensor *out)
{
    if (rows->dim[0] == 0)
        return CLF_OK;
    const clf_view three = as_three(rows, dim);
    return clfi_activation(t->context, CLF_ACTIVATION_NONE, &three, clfi_tensor_view(out));
}

clf_status clf_transformer_embed(clf_transformer *t, int is_target, clf_layout layout, const clf_tensor *tokens, clf_tensor *out)
{
    clf_view rows;
    int64_t dim[2];
    if (!t)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "transformer is NULL");
    const clf_arena_mark mark = clfi_arena_top(t->context);
    clf_status st;
    CLF_GOTO(clfi_tensor_check(t->context, "tokens", tokens));
    if (clf_tensor_dtype(tokens) != CLF_I32)
        CLF_GOTO(clfi_fail(CLF_INVALID_ARGUMENT, "E_DTYPE: transformer tokens are %s, expected int32",
                           clf_dtype_name(clf_tensor_dtype(tokens))));
    CLF_GOTO(take_sequence(t, is_target != 0, layout, tokens, &rows, dim));
    CLF_GOTO(check_output(t, "embedding", out, dim[0], dim[1]));
    CLF_GOTO(give_rows(t, &rows, dim, out));
done:
    clfi_arena_release(t->context, mark);
    return st;
}

CLFI_OPTIONS(clf_transformer_params, CLF_TRANSFORMER_PARAMS_INIT)

/* Reads the parameters of a pass. has_encoder, has_decoder: the stacks that it runs. */
static clf_status read_params(const clf_transformer_params *given, bool has_encoder, bool has_decoder, clf_transformer_params *params)
{
    CLF_TRY(clf_transformer_params_read(given, params));
    CLF_TRY(clfi_dense_check_params(params));
    for (size_t i = 0; i < params->output_count; i++)
        if (!(params->outputs[i].is_decoder ? has_decoder : has_encoder))
            CLF_FAIL(CLF_INVALID_ARGUMENT, "E_VALUE: transformer: output %zu is of the %s, which does not run", i,
                     params->outputs[i].is_decoder ? "decoder" : "encoder");
    return CLF_OK;
}

/* The shape of an attention's scores. */
static clf_view scores_of(const clf_transformer *t, int64_t batch, int64_t queries, int64_t keys)
{
    return (clf_view){.rank = 4, .dim = {batch, t->config.heads, queries, keys}};
}

/* Runs the source's rows through the encoder. rows: the result, a temporary of the arena. */
static clf_status encode_rows(clf_transformer *t, clf_layout layout, const clf_tensor *source, const clf_attention_masks *masks,
                              const clf_transformer_params *params, clf_view *rows, int64_t dim[2])
{
    clf_dense_masks bound;
    if (t->network->encoder.layer_count == 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_VALUE: transformer: the network has no encoder");
    CLF_TRY(take_sequence(t, false, layout, source, rows, dim));
    const extent size = extent_of(layout, dim);
    const clf_view scores = scores_of(t, size.batch, size.length, size.length);
    CLF_TRY(clfi_dense_masks_bind_layout(t->context, "source", layout, masks, &scores, &bound));
    const clf_dense_batch batch = {.layout = layout, .batch = size.batch, .length = size.length, .self = &bound, .params = params};
    CLF_TRY(clfi_dense_check_outputs(t->context, &t->network->encoder, &batch));
    return clfi_dense_forward(t->context, &t->network->encoder, &batch, rows);
}

clf_status clf_transformer_encode(clf_transformer *t, clf_layout layout, const clf_tensor *source, const clf_attention_masks *masks,
                                  const clf_transformer_params *params, clf_tensor *memory)
{
    clf_transformer_params own;
    clf_view rows;
    int64_t dim[2];
    clf_status st;
    if (!t)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "transformer is NULL");
    CLF_TRY(read_params(params, true, false, &own));
    const clf_arena_mark mark = clfi_arena_top(t->context);
    CLF_GOTO(check_output(t, "memory", memory, -1, -1));
    CLF_GOTO(encode_rows(t, layout, source, masks, &own, &rows, dim));
    CLF_GOTO(check_output(t, "memory", memory, dim[0], dim[1]));
    CLF_GOTO(give_rows(t, &rows, dim, memory));
done:
    clfi_arena_release(t->context, mark);
    return st;
}

/* Runs target rows through the decoder, over memory rows in the same layout. */
static clf_status decode_rows(clf_transformer *t, clf_layout layout, const clf_view *memory, const int64_t memory_dim[2],
                              const clf_attention_masks *source_masks, const clf_tensor *target, const clf_attention_masks *target_masks,
                              const clf_transformer_params *params, const clf_tensor *features)
{
    clf_view rows;
    int64_t dim[2];
    clf_dense_masks self, cross;
    clf_decoder_memory projected = {.buffer = NULL};
    CLF_TRY(take_sequence(t, true, layout, target, &rows, dim));
    CLF_TRY(check_output(t, "features", features, dim[0], dim[1]));
    const extent size = extent_of(layout, dim), source = extent_of(layout, memory_dim);
    if (size.batch != source.batch)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: transformer: %lld targets, the memory has %lld sources", (long long)size.batch,
                 (long long)source.batch);
    const clf_view self_scores = scores_of(t, size.batch, size.length, size.length),
                   cross_scores = scores_of(t, size.batch, size.length, source.length);
    CLF_TRY(clfi_dense_masks_bind_layout(t->context, "target", layout, target_masks, &self_scores, &self));
    CLF_TRY(clfi_dense_masks_bind_layout(t->context, "memory", layout, source_masks, &cross_scores, &cross));
    const clf_dense_batch batch = {.layout = layout,
                                   .batch = size.batch,
                                   .length = size.length,
                                   .self = &self,
                                   .memory = &projected,
                                   .memory_length = source.length,
                                   .source = &cross,
                                   .params = params,
                                   .is_decoder = true};
    CLF_TRY(clfi_dense_check_outputs(t->context, &t->network->decoder, &batch));
    clf_status st = clfi_decoder_memory_reserve(t->context, &t->network->decoder, memory->dim[0], &projected);
    if (st == CLF_OK)
        st = clfi_decoder_memory_project(t->context, &t->network->decoder, memory, &projected);
    if (st == CLF_OK)
        st = clfi_dense_forward(t->context, &t->network->decoder, &batch, &rows);
    if (st == CLF_OK)
        st = give_rows(t, &rows, dim, features);
    clfi_decoder_memory_release(&projected); /* OpenCL keeps it until the kernels have run */
    return st;
}

static clf_status check_decoder(const clf_transformer *t)
{
    if (!t)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "transformer is NULL");
    if (t->network->decoder.layer_count == 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_VALUE: transformer: a memory is given, but the network has no layer with source attention");
    return CLF_OK;
}

clf_status clf_transformer_decode(clf_transformer *t, clf_layout layout, const clf_tensor *memory, const clf_attention_masks *source_masks,
                                  const clf_tensor *target, const clf_attention_masks *target_masks, const clf_transformer_params *params,
                                  clf_tensor *features)
{
    clf_transformer_params own;
    clf_view rows;
    clf_status st;
    CLF_TRY(check_decoder(t));
    CLF_TRY(read_params(params, false, true, &own));
    const clf_arena_mark mark = clfi_arena_top(t->context);
    CLF_GOTO(check_layout(layout));
    CLF_GOTO(check_vectors(t, "memory", memory, -1, -1));
    const int64_t *dim = clf_tensor_dim(memory);
    CLF_GOTO(clfi_view_temporary(t->context, CLF_F32, 2, (int64_t[]){dim[0] * dim[1], t->config.width}, &rows));
    const clf_view three = as_three(&rows, dim);
    if (rows.dim[0] > 0)
        CLF_GOTO(clfi_activation(t->context, CLF_ACTIVATION_NONE, clfi_tensor_view(memory), &three));
    CLF_GOTO(decode_rows(t, layout, &rows, dim, source_masks, target, target_masks, &own, features));
done:
    clfi_arena_release(t->context, mark);
    return st;
}

clf_status clf_transformer_forward(clf_transformer *t, clf_layout layout, const clf_tensor *source, const clf_tensor *target,
                                   const clf_attention_masks *source_masks, const clf_attention_masks *target_masks,
                                   const clf_transformer_params *params, clf_tensor *features)
{
    clf_transformer_params own;
    clf_view memory;
    int64_t dim[2];
    clf_status st;
    CLF_TRY(check_decoder(t));
    CLF_TRY(read_params(params, true, true, &own));
    const clf_arena_mark mark = clfi_arena_top(t->context);
    CLF_GOTO(encode_rows(t, layout, source, source_masks, &own, &memory, dim));
    CLF_GOTO(decode_rows(t, layout, &memory, dim, source_masks, target, target_masks, &own, features));
done:
    clfi_arena_release(t->context, mark);
    return st;
}

clf_status clf_transformer_generate(clf_transformer *t, const clf_tensor *features, int is_log_softmax, clf_tensor *out)
{
    if (!t)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "transformer is NULL");
    if (!t->network->generator)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_VALUE: transformer: the network has no generator");
    const clf_view *x;
    CLF_TRY(clfi_check_tensor(t->context, "transformer", "features", features, &x));
    CLF_TRY(clfi_check_float("transformer", "features", x));
    CLF_TRY(clfi_tensor_check(t->context, "out", out));
    const clf_view *v = clfi_tensor_view(out);
    if (v->dtype != CLF_F32 || !clfi_view_is_dense(v))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_DTYPE: transformer logits: expected a dense float32 tensor");
    const clf_status st = clf_linear_apply(t->context, t->network->generator, features, CLF_ACTIVATION_NONE, NULL, out);
    if (st != CLF_OK)
        return st == CLF_INVALID_ARGUMENT ? clfi_fail_prefix(st, "E_SHAPE: generator") : st;
    if (!is_log_softmax || clf_tensor_count(out) == 0)
        return CLF_OK;
    const int64_t classes = t->config.target_vocabulary, dim[2] = {(int64_t)clf_tensor_count(out) / classes, classes};
    const clf_view rows = clfi_view_dense(v->buffer, CLF_F32, v->offset, 2, dim);
    return clfi_log_softmax(t->context, &rows, NULL, &rows);
}
