/* SPDX-License-Identifier: MIT */
/* Computes memory plans from the sizes of the checkpoint's tensors and of the network. */
#include "model/memory_plan.h"

#include <stdio.h>

#include "base/alloc.h"
#include "kernel/kv_cache.h"
#include "model/decode_batch.h"
#include "model/weights.h"
#include "op/gemm.h"

const clf_cache_storage *clfi_cache_storage(clf_storage storage)
{
    static const clf_cache_storage storages[] = {
        [CLF_STORAGE_DEFAULT] = {"f32", CLF_F32}, [CLF_STORAGE_F16] = {"f16", CLF_F16}, [CLF_STORAGE_Q8_0] = {"q8_0", CLF_U8}};
    return (size_t)storage < COUNT(storages) ? &storages[storage] : NULL;
}

static uint64_t weights_of(const clf_checkpoint_tensor *tensor)
{
    uint64_t count = 1;
    for (int i = 0; i < tensor->rank; i++)
        count *= (uint64_t)tensor->dim[i];
    return count;
}

/* Bytes of `count` weights in whole blocks, rounded up. */
static uint64_t bytes_as(clf_weight_type type, uint64_t count)
{
    const clf_weight_type_info *info = clfi_weight_type_info(type);
    return (count + (uint64_t)info->block_weights - 1) / (uint64_t)info->block_weights * (uint64_t)info->block_bytes;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* rows: the size of the vocabulary. A matrix with that many rows is a token embedding table or a head, which a conversion to q4_0 stores as
 * q8_0. */
static void add_tensor(const clf_context *context, const clf_checkpoint_tensor *tensor, clf_storage storage, int64_t rows,
                       clf_memory_plan *plan)
{
    const bool is_block = tensor->is_weight && clfi_weight_type_info(tensor->type)->block_weights > 1;
    const bool stays = !is_block || clfi_weights_stays_quantised(context, tensor), is_matrix = tensor->is_weight && tensor->rank == 2;
    const uint64_t count = weights_of(tensor), half = count * clf_dtype_bytes(CLF_F16);
    const bool is_halved = is_matrix && !(is_block && stays), is_rounded = is_halved && storage == CLF_STORAGE_F16;
    const uint64_t bytes = is_rounded ? half : stays ? tensor->bytes : count * sizeof(float);
    plan->stored_bytes += tensor->bytes;
    plan->weight_bytes += bytes;
    plan->copied_bytes += is_matrix && bytes == count * sizeof(float) ? bytes : 0;
    plan->half_bytes += is_halved ? least(half, bytes) : bytes;
    plan->small_bytes += is_matrix ? least(bytes_as(tensor->dim[0] == rows ? CLF_WEIGHT_Q8_0 : CLF_WEIGHT_Q4_0, count), bytes) : bytes;
}

/* Bytes that a pass needs at once: rows, norms, projections and hidden rows of one layer, and a product's own. type: of its matrices. */
static uint64_t activations_of(const clf_context *context, const clf_stack_config *stack, clf_weight_type type, uint64_t tokens)
{
    const clf_attention_shape *shape = &stack->attention;
    const int64_t attention = (2 * shape->heads + 2 * shape->key_heads) * shape->head_size, hidden = 2 * stack->hidden_width;
    const uint64_t in = clfi_gemm_scratch(context, type, (int64_t)tokens, stack->hidden_width, stack->width);
    const uint64_t out = clfi_gemm_scratch(context, type, (int64_t)tokens, stack->width, stack->hidden_width);
    return tokens * (uint64_t)(4 * stack->width + (attention > hidden ? attention : hidden)) * sizeof(float) + most(in, out);
}

/* A text is never split: a text longer than a batch is a batch of its own. Models with buckets of distances run texts of any length, so
 * none is the longest. */
static uint64_t encoder_scratch(const clf_context *context, const clf_network_config *config, clf_weight_type type)
{
    const bool has_end = config->encoder.buckets.count == 0;
    const uint64_t batch = clfi_batch_tokens(context), longest = has_end ? (uint64_t)config->source.max_positions : 0;
    return activations_of(context, &config->encoder, type, most(batch, longest));
}

/* How many tokens fit beside weights and scratch, if keys and values of one take token_bytes. */
static uint64_t room_of(const clf_context *context, const clf_memory_plan *plan, uint64_t token_bytes)
{
    const uint64_t taken = plan->weight_bytes + plan->copied_bytes + plan->scratch_bytes, layer = token_bytes / (uint64_t)plan->layers;
    uint64_t fit = context->device.caps.max_allocation_bytes / layer; /* a layer's cache is one allocation */
    if (plan->device_bytes)
        fit = least(fit, taken < plan->device_bytes ? (plan->device_bytes - taken) / token_bytes : 0);
    return fit;
}

clf_memory_plan clfi_memory_plan_for(const clf_context *context, const clf_memory_plan *plan, uint64_t sequences)
{
    const uint64_t limit = UINT64_MAX / 4; /* so that the sums below do not wrap around, whatever the number of texts */
    clf_memory_plan own = *plan;
    if (own.cache_bytes == 0)
        return own;
    const uint64_t logits = sequences < limit / own.sequence_bytes ? sequences * own.sequence_bytes : limit;
    own.sequences = sequences;
    own.scratch_bytes = most(own.encoder_bytes, own.pass_bytes + logits);
    if (own.positions == 0)
        return own;
    own.room = room_of(context, &own, own.cache_bytes);
    own.half_room = room_of(context, &own, own.half_cache_bytes);
    own.context = (int64_t)least(own.room, (uint64_t)own.positions);
    return own;
}

clf_memory_plan clfi_memory_plan(const clf_context *context, const clf_checkpoint *checkpoint, const clf_network_config *config,
                                 const clf_model_params *params)
{
    const clf_stack_config *stack = &config->decoder;
    clf_memory_plan plan = {.device_bytes = context->device.info.global_memory_bytes, .layers = stack->layers};
    clf_checkpoint_tensor tensor;
    clf_weight_type type = CLF_WEIGHT_F32;
    for (size_t i = 0; clfi_checkpoint_at(checkpoint, i, &tensor); i++) {
        add_tensor(context, &tensor, params->weights, config->target.vocabulary, &plan);
        if (tensor.is_weight && tensor.rank == 2 && clfi_weights_stays_quantised(context, &tensor))
            type = tensor.type;
    }
    plan.copied_bytes = clfi_gemm_keeps_second(context) ? least(plan.copied_bytes, plan.device_bytes / 2) : 0;
    if (config->encoder.layers > 0)
        plan.scratch_bytes = plan.encoder_bytes = encoder_scratch(context, config, type);
    const uint64_t rows = 2 * (uint64_t)stack->attention.key_heads * (uint64_t)stack->layers;
    const int64_t size = stack->attention.head_size;
    const clf_dtype cache = clfi_cache_storage(params->cache)->dtype;
    if (rows * (uint64_t)size == 0 || !config->has_generator) /* no decoder, or a configuration that is refused later */
        return plan;
    plan.pass_bytes = activations_of(context, stack, type, CLFI_PASS_TOKENS);
    plan.sequence_bytes = (uint64_t)config->target.vocabulary * sizeof(float);
    plan.half_cache_bytes = rows * (uint64_t)size * clf_dtype_bytes(CLF_F16);
    plan.cache_bytes = rows * (uint64_t)clfi_kv_row(cache, size) * clf_dtype_bytes(cache);
    if (!stack->has_source) /* nobody knows in advance how long a text and its source will be together */
        plan.positions = config->target.max_positions;
    return clfi_memory_plan_for(context, &plan, params->sequences ? params->sequences : CLFI_BATCH_SEQUENCES);
}

/* Appends to a message what would fit. */
static void advise(const clf_memory_plan *plan, uint64_t cache, size_t size, char *out)
{
    const uint64_t beside = plan->positions ? plan->scratch_bytes + cache : 0, mb = 1 << 20;
    size_t used = 0;
    out[0] = '\0';
    if (plan->half_bytes < plan->weight_bytes && plan->half_bytes + beside <= plan->device_bytes)
        used += (size_t)snprintf(out, size, "; as f16 (--weights f16) they would take %llu MB, which fits",
                                 (unsigned long long)(plan->half_bytes / mb));
    else if (plan->positions > 0 && plan->small_bytes < plan->weight_bytes && plan->small_bytes + beside <= plan->device_bytes)
        used += (size_t)snprintf(out, size, "; as q4_0 (clformer convert) they would take %llu MB, which fits",
                                 (unsigned long long)(plan->small_bytes / mb));
    if (plan->half_room > plan->room && used < size)
        snprintf(out + used, size - used, "; with keys and values as f16 (--cache f16) %llu tokens fit beside the weights as they are",
                 (unsigned long long)plan->half_room);
}

enum { ADVICE_BYTES = 256 };

clf_status clfi_memory_plan_check(const clf_context *context, const clf_memory_plan *plan)
{
    enum { SHORTEST = 64 };
    const int64_t shortest = plan->positions < SHORTEST ? plan->positions : SHORTEST;
    const uint64_t need = plan->weight_bytes + (plan->positions ? plan->scratch_bytes : 0), cache = plan->cache_bytes * (uint64_t)shortest;
    const unsigned long long have_mb = (unsigned long long)(plan->device_bytes >> 20),
                             weights_mb = (unsigned long long)(plan->weight_bytes >> 20);
    char advice[ADVICE_BYTES];
    if (plan->device_bytes == 0 || (need <= plan->device_bytes && plan->context >= shortest))
        return CLF_OK;
    advise(plan, cache, sizeof advice, advice);
    if (plan->positions == 0)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "model: the weights take %llu MB (%llu MB in the file), device %s has %llu MB%s", weights_mb,
                 (unsigned long long)(plan->stored_bytes >> 20), context->device.info.name, have_mb, advice);
    CLF_FAIL(CLF_OUT_OF_MEMORY,
             "model: the weights take %llu MB (%llu MB in the file), a pass %llu MB, keys and values of %lld tokens %llu MB; device %s has "
             "%llu MB, a context of %lld tokens fits%s",
             weights_mb, (unsigned long long)(plan->stored_bytes >> 20), (unsigned long long)(plan->scratch_bytes >> 20),
             (long long)shortest, (unsigned long long)(cache >> 20), context->device.info.name, have_mb, (long long)plan->context, advice);
}

clf_status clfi_memory_plan_check_tokens(const clf_context *context, const clf_memory_plan *plan, uint64_t tokens)
{
    char advice[ADVICE_BYTES];
    if (plan->positions == 0 || tokens <= plan->room)
        return CLF_OK;
    advise(plan, plan->cache_bytes * tokens, sizeof advice, advice);
    CLF_FAIL(CLF_OUT_OF_MEMORY,
             "keys and values of %llu tokens take %llu MB: only those of %llu tokens fit device %s beside the weights of %llu MB%s",
             (unsigned long long)tokens, (unsigned long long)((plan->cache_bytes * tokens) >> 20), (unsigned long long)plan->room,
             context->device.info.name, (unsigned long long)(plan->weight_bytes >> 20), advice);
}
