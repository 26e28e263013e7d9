/* SPDX-License-Identifier: MIT */
/* Creates the public Transformer from named tensors, a seed or a directory, and destroys it. */
#include "model/transformer.h"

#include <math.h>

#include "base/alloc.h"
#include "base/options.h"
#include "model/model_checkpoint.h"
#include "model/name_maps.h"
#include "model/network_load.h"
#include "model/network_open.h"

static clf_status check_range(const char *code, const char *what, int64_t value, int64_t low, int64_t high)
{
    if (value < low || value > high)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: transformer: %s is %lld, expected %lld to %lld", code, what, (long long)value, (long long)low,
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
    CLF_TRY(check_range("E_SHAPE", "width", c->width, 1, CLFI_CONFIG_LARGEST));
    CLF_TRY(check_range("E_SHAPE", "hidden_width", c->hidden_width, 1, CLFI_CONFIG_LARGEST));
    CLF_TRY(check_range("E_SHAPE", "heads", c->heads, 1, CLFI_CONFIG_LARGEST));
    CLF_TRY(check_range("E_SHAPE", "encoder_layers", c->encoder_layers, 0, CLFI_CONFIG_MOST_LAYERS));
    CLF_TRY(check_range("E_SHAPE", "decoder_layers", c->decoder_layers, 0, CLFI_CONFIG_MOST_LAYERS));
    CLF_TRY(check_range("E_SHAPE", "source_vocabulary", c->source_vocabulary, 0, INT32_MAX));
    CLF_TRY(check_range("E_SHAPE", "target_vocabulary", c->target_vocabulary, c->has_generator ? 1 : 0, INT32_MAX));
    CLF_TRY(check_range("E_SHAPE", "max_source", c->max_source, 1, CLFI_CONFIG_LARGEST));
    CLF_TRY(check_range("E_SHAPE", "max_target", c->max_target, 1, CLFI_CONFIG_LARGEST));
    CLF_TRY(check_range("E_VALUE", "activation", c->activation, 0, CLF_ACTIVATION_COUNT - 1));
    CLF_TRY(check_range("E_VALUE", "positions", c->positions, 0, CLF_POSITIONS_COUNT - 1));
    if (!(c->norm_eps >= 0.0f && isfinite(c->norm_eps)))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_VALUE: transformer: norm_eps is %g, expected a finite number from 0", (double)c->norm_eps);
    CLF_TRY(check_embedding(c));
    if (c->width % c->heads != 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: layers: width %lld is not a multiple of %lld heads", (long long)c->width,
                 (long long)c->heads);
    return CLF_OK;
}

/* The network that a checked public configuration describes; position_offset: of learned tables. */
static clf_network_config network_config_of(const clf_transformer_config *c, int64_t position_offset)
{
    clf_network_config network = clfi_network_config_default();
    const float scale = c->embedding_scale > 0.0f ? c->embedding_scale : (float)sqrt((double)c->width);
    const clf_embedding_config embedding = {.positions = c->positions,
                                            .position_offset = c->positions == CLF_POSITIONS_LEARNED ? position_offset : 0,
                                            .has_norm = c->has_embedding_norm != 0,
                                            .scale = scale};
    clf_stack_config stack = {.width = c->width,
                              .hidden_width = c->hidden_width,
                              .activation = c->activation,
                              .is_gated = c->is_gated != 0,
                              .place = c->norm_first ? CLF_NORM_PRE : CLF_NORM_POST,
                              .norm_eps = c->norm_eps,
                              .has_final_norm = c->has_final_norm != 0};
    clfi_stack_config_heads(&stack, c->heads);
    network.source = network.target = embedding;
    network.source.vocabulary = c->source_vocabulary;
    network.source.max_positions = c->max_source;
    network.target.vocabulary = c->target_vocabulary;
    network.target.max_positions = c->max_target;
    network.encoder = network.decoder = stack;
    network.encoder.layers = c->encoder_layers;
    network.decoder.layers = c->decoder_layers;
    network.decoder.has_source = network.decoder.attention.is_causal = true;
    network.has_generator = c->has_generator != 0;
    network.is_generator_tied = c->is_generator_tied != 0;
    return network;
}

clf_transformer_config clfi_transformer_config_of(const clf_network_config *network)
{
    const clf_stack_config *stack = &network->encoder;
    const bool is_root = network->source.scale == (float)sqrt((double)stack->width);
    return (clf_transformer_config){.size = sizeof(clf_transformer_config),
                                    .width = stack->width,
                                    .hidden_width = stack->hidden_width,
                                    .heads = stack->attention.heads,
                                    .encoder_layers = stack->layers,
                                    .decoder_layers = network->decoder.layers,
                                    .source_vocabulary = network->source.vocabulary,
                                    .target_vocabulary = network->target.vocabulary,
                                    .max_source = network->source.max_positions,
                                    .max_target = network->target.max_positions,
                                    .activation = stack->activation,
                                    .is_gated = stack->is_gated,
                                    .norm_first = stack->place == CLF_NORM_PRE,
                                    .has_final_norm = stack->has_final_norm,
                                    .has_generator = network->has_generator,
                                    .positions = network->source.positions,
                                    .norm_eps = stack->norm_eps,
                                    .embedding_scale = is_root ? 0.0f : network->source.scale,
                                    .has_embedding_norm = network->source.has_norm,
                                    .is_generator_tied = network->is_generator_tied};
}

/* Takes over the network's reference, also on failure. */
static clf_status wrap(clf_context *context, clf_network *network, const clf_transformer_config *config, clf_transformer **out)
{
    clf_transformer *made;
    const clf_status st = clfi_alloc(1, sizeof *made, "transformer", &made);
    if (st != CLF_OK) {
        clfi_network_destroy(network);
        return st;
    }
    *made = (clf_transformer){context, network, *config, clfi_packer(context)};
    clfi_context_retain(context);
    *out = made;
    return CLF_OK;
}

static clf_status build(clf_context *context, const clf_transformer_config *config, const clf_name_map *names, int64_t position_offset,
                        const clf_weight_source *source, clf_transformer **out)
{
    clf_network *network;
    CLF_TRY(check_config(config));
    const clf_network_config network_config = network_config_of(config, position_offset);
    CLF_TRY(clfi_network_load(context, &network_config, names, source, &network));
    return wrap(context, network, config, out);
}

CLFI_OPTIONS(clf_transformer_config, CLF_TRANSFORMER_CONFIG_INIT)

clf_status clf_transformer_create(clf_context *context, const clf_transformer_config *config, clf_weight_names names,
                                  const clf_named_tensor *weights, size_t count, clf_transformer **out)
{
    const clf_name_map *map = clfi_name_map(names);
    clf_tensor_list list = {weights, count};
    const clf_weight_source source = clfi_weights_of_tensors(&list);
    clf_transformer_config own;
    if (!context || !config || (!weights && count) || !out)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "transformer: context, config, weights and out must not be NULL");
    CLF_TRY(clf_transformer_config_read(config, &own));
    CLF_TRY(clfi_tensor_list_check(&list));
    if (!map)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "transformer: names %d are not one of the enumerators", (int)names);
    return build(context, &own, map, names == CLF_NAMES_HUGGINGFACE ? CLFI_BART_POSITION_OFFSET : 0, &source, out);
}

clf_status clf_transformer_create_random(clf_context *context, const clf_transformer_config *config, uint64_t seed, clf_transformer **out)
{
    const clf_weight_source source = clfi_weights_of_seed(&seed);
    clf_transformer_config own;
    if (!context || !config || !out)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "transformer: context, config and out must not be NULL");
    CLF_TRY(clf_transformer_config_read(config, &own));
    return build(context, &own, clfi_name_map(CLF_NAMES_LABML), 0, &source, out);
}

clf_status clf_transformer_open(clf_context *context, const char *directory, clf_transformer **out)
{
    clf_checkpoint *checkpoint;
    const clf_family *family;
    clf_network *network;
    if (!context || !directory || !out)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "transformer open: context, directory and out must not be NULL");
    CLF_TRY(clfi_model_checkpoint_open(directory, &checkpoint));
    const clf_status st = clfi_family_find(clfi_checkpoint_config(checkpoint), CLF_TASK_TRANSFORM, &family);
    if (st != CLF_OK) {
        clfi_checkpoint_close(checkpoint);
        return st;
    }
    CLF_TRY(clfi_network_open(context, checkpoint, family, false, &(clf_model_params)CLF_MODEL_PARAMS_INIT, NULL, &network));
    const clf_stack_config *encoder = &network->config.encoder, *decoder = &network->config.decoder;
    if (decoder->attention.heads != encoder->attention.heads || decoder->hidden_width != encoder->hidden_width) {
        const clf_status unlike =
            clfi_fail(CLF_UNSUPPORTED,
                      "%s: the decoder has %lld heads and a feed-forward width of %lld, the encoder %lld and %lld: expected the same",
                      directory, (long long)decoder->attention.heads, (long long)decoder->hidden_width, (long long)encoder->attention.heads,
                      (long long)encoder->hidden_width);
        clfi_network_destroy(network);
        return unlike;
    }
    const clf_transformer_config config = clfi_transformer_config_of(&network->config);
    return wrap(context, network, &config, out);
}

clf_status clf_transformer_create_shared(clf_transformer *with, clf_context *context, clf_transformer **out)
{
    if (!with || !context || !out)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "transformer: with, context and out must not be NULL");
    CLF_TRY(clfi_network_check_context("transformer", with->network, context));
    return wrap(context, clfi_network_retain(with->network), &with->config, out);
}

void clf_transformer_destroy(clf_transformer *transformer)
{
    if (!transformer)
        return;
    clfi_context_drain(transformer->context); /* kernels may still read the weights */
    clfi_packer_clear(&transformer->packer);
    clfi_network_destroy(transformer->network);
    clfi_context_release(transformer->context);
    free(transformer);
}

const clf_transformer_config *clf_transformer_get_config(const clf_transformer *transformer)
{
    return transformer ? &transformer->config : NULL;
}
