/* SPDX-License-Identifier: MIT */
/* Memory plans: sums over the checkpoint's tensors and the network's sizes. */
#include "model/memory_plan.h"

#include <string.h>

#include "base/alloc.h"
#include "model/generation.h"
#include "model/weights.h"

enum { Q4_0_BITS = 9, Q4_0_WEIGHTS = 16 }; /* 18 bytes for 32 weights: 9 / 16 of a byte each */

static uint64_t weights_of(const clf_checkpoint_tensor *tensor)
{
    uint64_t count = 1;
    for (int i = 0; i < tensor->rank; i++)
        count *= (uint64_t)tensor->dim[i];
    return count;
}

static void add_tensor(const clf_context *context, const clf_checkpoint_tensor *tensor, clf_storage storage, clf_memory_plan *plan)
{
    const bool is_block = tensor->is_weight && clfi_weight_type_info(tensor->type)->block_weights > 1;
    const bool stays = !is_block || clfi_weights_stays_quantised(context, tensor);
    const bool is_rounded = storage == CLF_STORAGE_F16 && tensor->is_weight && tensor->rank == 2 && !(is_block && stays);
    const uint64_t count = weights_of(tensor), small = count * Q4_0_BITS / Q4_0_WEIGHTS;
    const uint64_t bytes = is_rounded ? count * clf_dtype_bytes(CLF_F16) : stays ? tensor->bytes : count * sizeof(float);
    plan->stored_bytes += tensor->bytes;
    plan->weight_bytes += bytes;
    plan->small_bytes += tensor->is_weight && tensor->rank == 2 && small < bytes ? small : bytes;
}

/* Rows, norms, projections and the hidden rows of a layer; logits of one token for each sequence. */
static uint64_t scratch_of(const clf_network_config *config)
{
    const clf_stack_config *stack = &config->decoder;
    const clf_attention_shape *shape = &stack->attention;
    const int64_t attention = (2 * shape->heads + 2 * shape->key_heads) * shape->head_size, hidden = 2 * stack->hidden_width;
    const int64_t row = 4 * stack->width + (attention > hidden ? attention : hidden);
    return (uint64_t)(CLFI_PASS_TOKENS * row + CLFI_BATCH_SEQUENCES * config->target.vocabulary) * sizeof(float);
}

clf_memory_plan clfi_memory_plan(const clf_context *context, const clf_checkpoint *checkpoint, const clf_network_config *config,
                                 const clf_model_params *params)
{
    const clf_stack_config *stack = &config->decoder;
    clf_memory_plan plan = {.device_bytes = context->device.info.global_memory_bytes};
    clf_checkpoint_tensor tensor;
    for (size_t i = 0; clfi_checkpoint_at(checkpoint, i, &tensor); i++)
        add_tensor(context, &tensor, params->weights, &plan);
    if (stack->layers == 0 || stack->has_source || !config->has_generator)
        return plan;
    const uint64_t layer = 2 * (uint64_t)(stack->attention.key_heads * stack->attention.head_size) *
                           clf_dtype_bytes(params->cache == CLF_STORAGE_F16 ? CLF_F16 : CLF_F32);
    if (layer == 0) /* a configuration that is refused later */
        return plan;
    const uint64_t taken = plan.weight_bytes + scratch_of(config), most = context->device.caps.max_allocation_bytes;
    plan.scratch_bytes = scratch_of(config);
    plan.cache_bytes = layer * (uint64_t)stack->layers;
    plan.positions = plan.context = config->target.max_positions;
    if (plan.device_bytes) {
        const uint64_t fit = taken < plan.device_bytes ? (plan.device_bytes - taken) / plan.cache_bytes : 0;
        plan.context = fit < (uint64_t)plan.context ? (int64_t)fit : plan.context;
    }
    if (most / layer < (uint64_t)plan.context)
        plan.context = (int64_t)(most / layer); /* a layer's cache is one allocation */
    return plan;
}

clf_status clfi_memory_plan_check(const clf_context *context, const clf_memory_plan *plan)
{
    enum { SHORTEST = 256 };
    const int64_t shortest = plan->positions < SHORTEST ? plan->positions : SHORTEST;
    const uint64_t need = plan->weight_bytes + plan->scratch_bytes, cache = plan->cache_bytes * (uint64_t)shortest;
    const unsigned long long have_mb = (unsigned long long)(plan->device_bytes >> 20),
                             weights_mb = (unsigned long long)(plan->weight_bytes >> 20);
    const bool helps = plan->small_bytes < plan->weight_bytes && plan->small_bytes + plan->scratch_bytes + cache <= plan->device_bytes;
    char advice[96] = "";
    if (plan->device_bytes == 0 || (need <= plan->device_bytes && plan->context >= shortest))
        return CLF_OK;
    if (helps)
        snprintf(advice, sizeof advice, "; as q4_0 they would take %llu MB, which fits", (unsigned long long)(plan->small_bytes >> 20));
    if (plan->positions == 0)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "model: the weights take %llu MB (%llu MB in the file), device %s has %llu MB%s", weights_mb,
                 (unsigned long long)(plan->stored_bytes >> 20), context->device.info.name, have_mb, advice);
    CLF_FAIL(CLF_OUT_OF_MEMORY,
             "model: the weights take %llu MB (%llu MB in the file), a pass %llu MB, keys and values of %lld tokens %llu MB; device %s has "
             "%llu MB%s",
             weights_mb, (unsigned long long)(plan->stored_bytes >> 20), (unsigned long long)(plan->scratch_bytes >> 20),
             (long long)shortest, (unsigned long long)(cache >> 20), context->device.info.name, have_mb, advice);
}
