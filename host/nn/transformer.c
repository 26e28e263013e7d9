/* SPDX-License-Identifier: MIT */
/* Encoder-decoder network: life time, embeddings, generator. */
#include "nn/transformer.h"

#include <math.h>

#include "base/alloc.h"
#include "op/embedding.h"

enum { LARGEST = 1 << 24, MOST_LAYERS = 4096 };

static clf_status check_range(const char *what, int64_t value, int64_t low, int64_t high)
{
    if (value < low || value > high)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: transformer: %s is %lld, expected %lld to %lld", what, (long long)value, (long long)low,
                 (long long)high);
    return CLF_OK;
}

static bool has_source_embedding(const clf_transformer_config *c)
{
    return c->source_vocabulary > 0 && c->encoder_layers > 0;
}

static bool has_target_embedding(const clf_transformer_config *c)
{
    return c->target_vocabulary > 0 && c->decoder_layers > 0;
}

static clf_status check_embedding(const clf_transformer_config *c)
{
    if (!(c->embedding_scale >= 0.0f && isfinite(c->embedding_scale)))
        CLF_FAIL(CLF_INVALID_ARGUMENT,
                 "E_VALUE: transformer: embedding_scale is %g, expected 0 (sqrt of the width) or a finite number above",
                 (double)c->embedding_scale);
    if (c->has_embedding_norm && !has_source_embedding(c) && !has_target_embedding(c))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_VALUE: transformer: has_embedding_norm, but neither sources nor targets have an embedding");
    if (c->is_generator_tied && !c->has_generator)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_VALUE: transformer: is_generator_tied, but has_generator is 0");
    if (c->is_generator_tied && !has_target_embedding(c))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_VALUE: transformer: is_generator_tied, but targets have no embedding: there is no decoder");
    return CLF_OK;
}

static clf_status check_config(const clf_transformer_config *c)
{
    CLF_TRY(check_range("width", c->width, 1, LARGEST));
    CLF_TRY(check_range("hidden_width", c->hidden_width, 1, LARGEST));
    CLF_TRY(check_range("heads", c->heads, 1, LARGEST));
    CLF_TRY(check_range("encoder_layers", c->encoder_layers, 0, MOST_LAYERS));
    CLF_TRY(check_range("decoder_layers", c->decoder_layers, 0, MOST_LAYERS));
    CLF_TRY(check_range("source_vocabulary", c->source_vocabulary, 0, INT32_MAX));
    CLF_TRY(check_range("target_vocabulary", c->target_vocabulary, c->has_generator ? 1 : 0, INT32_MAX));
    CLF_TRY(check_range("max_source", c->max_source, 1, LARGEST));
    CLF_TRY(check_range("max_target", c->max_target, 1, LARGEST));
    CLF_TRY(check_range("activation", c->activation, 0, CLF_ACTIVATION_COUNT - 1));
    CLF_TRY(check_range("positions", c->positions, 0, CLF_POSITIONS_COUNT - 1));
    if (!(c->norm_eps >= 0.0f))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: transformer: norm_eps is %g, expected 0 or more", (double)c->norm_eps);
    return check_embedding(c);
}

static void shape_stack(const clf_transformer_config *config, clf_stack *stack)
{
    stack->width = config->width;
    stack->hidden_width = config->hidden_width;
    stack->heads = config->heads;
    stack->activation = config->activation;
    stack->norm_eps = config->norm_eps;
    stack->norm_first = config->norm_first != 0;
}

clf_status clfi_transformer_allocate(clf_context *context, const clf_transformer_config *config, clf_transformer **out)
{
    clf_transformer *made;
    CLF_TRY(check_config(config));
    CLF_TRY(clfi_alloc(1, sizeof *made, "transformer", &made));
    made->context = context;
    made->config = *config;
    clfi_context_retain(context);
    shape_stack(config, &made->encoder);
    shape_stack(config, &made->decoder);
    clf_status st = clfi_encoder_init(&made->encoder, config->encoder_layers);
    if (st == CLF_OK)
        st = clfi_decoder_init(&made->decoder, config->decoder_layers);
    if (st != CLF_OK) {
        clf_transformer_destroy(made);
        return st;
    }
    *out = made;
    return CLF_OK;
}

clf_status clfi_transformer_keep(clf_transformer *transformer, clf_buffer *buffer)
{
    const clf_status st =
        clfi_grow(&transformer->kept, &transformer->kept_capacity, transformer->kept_count + 1, sizeof *transformer->kept, "weights");
    if (st != CLF_OK) {
        clfi_buffer_release(buffer);
        return st;
    }
    transformer->kept[transformer->kept_count++] = buffer;
    return CLF_OK;
}

void clf_transformer_destroy(clf_transformer *transformer)
{
    if (!transformer)
        return;
    clf_context_finish(transformer->context); /* kernels may still read the weights */
    clfi_encoder_clear(&transformer->encoder);
    clfi_decoder_clear(&transformer->decoder);
    clfi_linear_destroy(transformer->generator);
    clfi_row_blocks_clear(&transformer->source.table);
    clfi_row_blocks_clear(&transformer->target.table);
    for (size_t i = 0; i < transformer->kept_count; i++)
        clfi_buffer_release(transformer->kept[i]);
    free(transformer->kept);
    if (transformer->owner)
        transformer->release_owner(transformer->owner);
    clfi_context_release(transformer->context);
    free(transformer);
}

const clf_transformer_config *clf_transformer_get_config(const clf_transformer *transformer)
{
    return transformer ? &transformer->config : NULL;
}

clf_status clfi_transformer_embed(const clf_transformer *transformer, const clf_token_embedding *embedding, const clf_view *ids,
                                  const clf_view *positions, const clf_view *y)
{
    const clf_embedding_term terms[] = {{embedding->table.view, ids, embedding->table.count}, {&embedding->positions, positions, 1}};
    const clf_transformer_config *config = &transformer->config;
    const float scale = config->embedding_scale > 0.0f ? config->embedding_scale : (float)sqrt((double)config->width);
    const int count = embedding->positions.buffer ? 2 : 1;
    const clf_norm *norm = &embedding->norm;
    if (!norm->gamma.buffer)
        return clfi_embedding_sum(transformer->context, terms, count, scale, y);
    return clfi_embedding_layer_norm(transformer->context, terms, count, scale, &norm->gamma, norm->beta.buffer ? &norm->beta : NULL,
                                     config->norm_eps, y);
}

clf_status clfi_transformer_generate(const clf_transformer *transformer, const clf_view *features, const clf_view *logits)
{
    return clfi_linear_run(transformer->context, transformer->generator, features, CLF_ACTIVATION_NONE, NULL, logits);
}
