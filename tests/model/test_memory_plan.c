/* SPDX-License-Identifier: MIT */
/* What a language model takes of a device, against what is counted when it is there; and what is said where it does not fit. */
#include "model/memory_plan.h"

#include "model/model.h"
#include "support/check.h"
#include "support/device.h"

static const char path[] = CLF_TEST_DATA "/generation/llama_blocks/model.gguf";

static clf_memory_plan plan_of_path(const clf_context *context, const clf_network_config *config, const clf_model_params *params)
{
    clf_checkpoint *checkpoint;
    CHECK_OK(clfi_checkpoint_open(path, &checkpoint));
    CHECK_OK(clfi_checkpoint_load(checkpoint));
    const clf_memory_plan plan = clfi_memory_plan(context, checkpoint, config, params);
    clfi_checkpoint_close(checkpoint);
    return plan;
}

static clf_memory_plan plan_of(const clf_model *model)
{
    return plan_of_path(model->context, &model->network->config, &model->params);
}

static void test_numbers(void **state)
{
    clf_context *context = *state;
    clf_model *model;
    CHECK_OK(clf_model_open(context, path, &model));
    const clf_memory_plan plan = plan_of(model);
    const clf_stack_config *stack = &model->network->config.decoder;
    CHECK(plan.weight_bytes >= plan.stored_bytes && plan.weight_bytes < 4 * plan.stored_bytes, "%llu bytes of %llu",
          (unsigned long long)plan.weight_bytes, (unsigned long long)plan.stored_bytes);
    assert_int_equal(plan.cache_bytes, stack->layers * 2 * stack->attention.key_heads * stack->attention.head_size * 4);
    assert_int_equal(plan.context, plan.positions);
    const clf_model_params halves = {.size = sizeof halves, .weights = CLF_STORAGE_F16, .cache = CLF_STORAGE_F16};
    const clf_memory_plan small = plan_of_path(context, &model->network->config, &halves);
    assert_int_equal(2 * small.cache_bytes, plan.cache_bytes);
    CHECK(small.weight_bytes <= plan.weight_bytes && small.stored_bytes == plan.stored_bytes, "%llu bytes of %llu",
          (unsigned long long)small.weight_bytes, (unsigned long long)plan.weight_bytes);
    clf_model_destroy(model);
}

static void test_refusals(void **state)
{
    clf_context *context = *state;
    clf_model *model = NULL;
    CHECK_OK(clf_model_open(context, path, &model));
    const clf_memory_plan plan = plan_of(model);
    const clf_network_config config = model->network->config;
    const int64_t layers = config.decoder.layers;
    const uint64_t memory = context->device.info.global_memory_bytes, allocation = context->device.caps.max_allocation_bytes;
    clf_model_destroy(model);
    /* weights and scratch fit, but no cache beside them */
    context->device.info.global_memory_bytes = plan.weight_bytes + plan.scratch_bytes + 3 * plan.cache_bytes;
    CHECK_FAILS(clf_model_open(context, path, &model), CLF_OUT_OF_MEMORY, "keys and values of");
    context->device.info.global_memory_bytes = 1;
    CHECK_FAILS(clf_model_open(context, path, &model), CLF_OUT_OF_MEMORY, "model: the weights take");
    context->device.info.global_memory_bytes = memory;
    context->device.caps.max_allocation_bytes = 10 * plan.cache_bytes / (uint64_t)layers; /* a layer's cache is one allocation */
    const clf_model_params params = CLF_MODEL_PARAMS_INIT;
    const int64_t fit = plan_of_path(context, &config, &params).context;
    CHECK(fit == 10, "%lld tokens", (long long)fit);
    context->device.caps.max_allocation_bytes = allocation;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_numbers), cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests_name("model.memory_plan", tests, device_setup, device_teardown);
}
