/* SPDX-License-Identifier: MIT */
/* Creates and frees networks, and runs their embeddings and generators. */
#include "nn/network.h"

#include "base/alloc.h"
#include "kernel/combine.h"
#include "op/embedding.h"
#include "op/rms_norm.h"

clf_network_config clfi_network_config_default(void)
{
    const clf_embedding_config embedding = {.positions = CLF_POSITIONS_NONE, .scale = 1.0f};
    clf_network_config config = {.source = embedding, .target = embedding};
    config.encoder =
        (clf_stack_config){.activation = CLF_ACTIVATION_GELU, .norm = CLF_NORM_LAYER, .place = CLF_NORM_POST, .norm_eps = 1e-5f};
    config.decoder = config.encoder;
    config.decoder.attention.is_causal = true;
    return config;
}

void clfi_stack_config_heads(clf_stack_config *config, int64_t heads)
{
    config->attention.heads = config->attention.key_heads = heads;
    config->attention.head_size = heads > 0 ? config->width / heads : 0;
}

static clf_status create_stack(const char *name, const clf_stack_config *config, clf_stack *stack)
{
    if (config->layers == 0)
        return CLF_OK;
    const clf_status st = clfi_stack_init(config, stack);
    return st == CLF_OK ? st : clfi_fail_prefix(st, "%s", name);
}

clf_status clfi_network_create(clf_context *context, const clf_network_config *config, clf_network **out)
{
    clf_network *made;
    CLF_TRY(clfi_alloc(1, sizeof *made, "network", &made));
    atomic_init(&made->references, 1);
    made->context = context;
    made->config = *config;
    clfi_context_retain(context);
    made->source.config = &made->config.source;
    made->source.stack = &made->config.encoder;
    made->target.config = &made->config.target;
    made->target.stack = &made->config.decoder;
    clf_status st = create_stack("encoder", &config->encoder, &made->encoder);
    if (st == CLF_OK)
        st = create_stack("decoder", &config->decoder, &made->decoder);
    if (st != CLF_OK) {
        clfi_network_destroy(made);
        return st;
    }
    *out = made;
    return CLF_OK;
}

clf_status clfi_network_keep(clf_network *network, clf_buffer *buffer)
{
    const clf_status st = clfi_grow(&network->kept, &network->kept_capacity, network->kept_count + 1, sizeof *network->kept, "weights");
    if (st != CLF_OK) {
        clfi_buffer_release(buffer);
        return st;
    }
    network->kept[network->kept_count++] = buffer;
    return CLF_OK;
}

clf_network *clfi_network_retain(clf_network *network)
{
    atomic_fetch_add(&network->references, 1);
    return network;
}

static void swap(void *a, void *b, size_t bytes)
{
    unsigned char *x = a, *y = b;
    for (size_t i = 0; i < bytes; i++) {
        const unsigned char kept = x[i];
        x[i] = y[i];
        y[i] = kept;
    }
}

/* Swaps the weights of two embeddings; config and stack still point into their own network. */
static void swap_embeddings(clf_token_embedding *a, clf_token_embedding *b)
{
    swap(a, b, sizeof *a);
    swap(&a->config, &b->config, sizeof a->config);
    swap(&a->stack, &b->stack, sizeof a->stack);
}

void clfi_network_swap_weights(clf_network *network, clf_network *from)
{
    swap(&network->encoder, &from->encoder, sizeof network->encoder);
    swap(&network->decoder, &from->decoder, sizeof network->decoder);
    swap_embeddings(&network->source, &from->source);
    swap_embeddings(&network->target, &from->target);
    swap(&network->generator, &from->generator, sizeof network->generator);
    swap(&network->classifier, &from->classifier, sizeof network->classifier);
    swap(&network->kept, &from->kept, sizeof network->kept);
    swap(&network->kept_count, &from->kept_count, sizeof network->kept_count);
    swap(&network->kept_capacity, &from->kept_capacity, sizeof network->kept_capacity);
}

void clfi_network_destroy(clf_network *network)
{
    if (!network || atomic_fetch_sub(&network->references, 1) > 1)
        return;
    clfi_context_drain(network->context); /* kernels may still read the weights */
    clfi_stack_clear(&network->encoder);
    clfi_stack_clear(&network->decoder);
    clfi_linear_destroy(network->generator);
    clfi_classifier_clear(&network->classifier);
    clfi_row_blocks_clear(&network->source.table);
    clfi_row_blocks_clear(&network->target.table);
    for (size_t i = 0; i < network->kept_count; i++)
        clfi_buffer_release(network->kept[i]);
    free(network->kept);
    clfi_context_release(network->context);
    free(network);
}

clf_status clfi_network_check_context(const char *what, const clf_network *network, const clf_context *context)
{
    if (context->opencl != network->context->opencl)
        CLF_FAIL(CLF_INVALID_ARGUMENT,
                 "%s: the context and the weights' have different OpenCL contexts, expected one from clf_context_create_shared", what);
    return CLF_OK;
}

clf_status clfi_network_embed(clf_context *context, const clf_token_embedding *embedding, const clf_view *ids, const clf_view *positions,
                              const clf_view *types, const clf_view *y)
{
    clf_embedding_term terms[3] = {{embedding->table.view, ids, embedding->table.count}};
    const clf_norm *norm = &embedding->norm;
    const clf_stack_config *stack = embedding->stack;
    const float scale = embedding->config->scale;
    int count = 1;
    if (embedding->positions.buffer)
        terms[count++] = (clf_embedding_term){&embedding->positions, positions, 1};
    if (embedding->types.buffer)
        terms[count++] = (clf_embedding_term){&embedding->types, types, 1};
    if (!norm->gamma.buffer)
        return clfi_embedding_sum(context, terms, count, scale, y);
    if (stack->norm == CLF_NORM_LAYER)
        return clfi_embedding_layer_norm(context, terms, count, scale, &norm->gamma, norm->beta.buffer ? &norm->beta : NULL,
                                         stack->norm_eps, y);
    CLF_TRY(clfi_embedding_sum(context, terms, count, scale, y));
    return clfi_rms_norm(context, y, NULL, &norm->gamma, 1, stack->norm_eps, y);
}

clf_status clfi_network_generate(clf_context *context, const clf_network *network, const clf_view *features, const clf_view *logits)
{
    CLF_TRY(clfi_linear_run(context, network->generator, features, CLF_ACTIVATION_NONE, NULL, logits));
    const float cap = network->config.logit_soft_cap;
    return cap > 0 && clfi_view_count(logits) > 0 ? clfi_soft_cap_launch(context, cap, logits) : CLF_OK;
}
