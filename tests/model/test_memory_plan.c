/* SPDX-License-Identifier: MIT */
/* Tests the memory plan against the memory counted on the device, and the message when a model does not fit. */
#include "model/memory_plan.h"

#include <stdlib.h>

#include "clformer/generate.h"
#include "model/decode_batch.h"
#include "model/model.h"
#include "model/session.h"
#include "runtime/usage.h"
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

/* Memory of the largest batch while it runs: a network with norms behind its blocks, and one with gates and norms before them. */
static void check_encoder(clf_context *context)
{
    static const char *const names[] = {"roberta", "modernbert"};
    for (size_t i = 0; i < COUNT(names); i++) {
        char directory[256], letters[128] = "";
        clf_model *model;
        snprintf(directory, sizeof directory, CLF_TEST_DATA "/families/%s", names[i]);
        CHECK_OK(clf_model_open(context, directory, NULL, &model));
        const clf_model_info *info = clf_model_get_info(model);
        const size_t length = (size_t)info->max_tokens, count = clfi_batch_tokens(context) / length;
        for (size_t k = 0; k + 2 < length; k++) /* a token each, beside the two at the ends */
            strcat(letters, "a ");
        clf_text *texts = malloc(count * sizeof *texts);
        float *rows = malloc(count * (size_t)info->embedding_width * sizeof *rows);
        assert_true(texts && rows);
        for (size_t k = 0; k < count; k++)
            texts[k] = (clf_text){letters, strlen(letters)};
        clf_session *session;
        clf_embed_stats stats;
        CHECK_OK(clf_session_create(model, NULL, &session));
        const uint64_t before = clfi_usage_bytes(context), scratch = model->plan.scratch_bytes;
        clfi_usage_restart(context);
        CHECK_OK(clf_session_embed(session, texts, count, NULL, rows, &stats));
        const uint64_t taken = clfi_usage_peak_bytes(context) - before;
        CHECK(stats.batches == 1 && stats.tokens == count * length, "%zu batches of %zu tokens", stats.batches, stats.tokens);
        CHECK(taken <= scratch && taken >= scratch / 4, "%s: %llu bytes, %llu foretold", names[i], (unsigned long long)taken,
              (unsigned long long)scratch);
        free(texts);
        free(rows);
        clf_session_destroy(session);
        clf_model_destroy(model);
    }
}

/* Sources that fill a batch of the encoder, and a pass of the decoder over their beginnings, where distances have buckets and where each
 * position has a row. */
static void check_encoder_decoder(clf_context *context)
{
    enum { SOURCES = 512, LENGTH = 64 };
    static int32_t ids[SOURCES * LENGTH], offsets[SOURCES + 1];
    static const char *const names[] = {"bart", "t5"};
    const size_t count = clfi_batch_tokens(context) / LENGTH;
    assert_true(count <= SOURCES);
    for (size_t i = 0; i < COUNT(ids); i++)
        ids[i] = 4 + (int32_t)(i % 7);
    for (size_t i = 0; i <= count; i++)
        offsets[i] = (int32_t)(i * LENGTH);
    for (size_t i = 0; i < COUNT(names); i++) {
        char directory[256];
        clf_model *model;
        clf_decode_batch *batch;
        clf_decode_input inputs[CLFI_BATCH_SEQUENCES];
        clf_view logits;
        snprintf(directory, sizeof directory, CLF_TEST_DATA "/translation/%s", names[i]);
        CHECK_OK(clf_model_open(context, directory, NULL, &model));
        const uint64_t scratch = model->plan.scratch_bytes;
        CHECK_OK(clfi_decode_create(context, model->network, CLF_F32, &batch));
        CHECK_OK(clfi_decode_reserve(batch, (int64_t)count * LENGTH + CLFI_PASS_TOKENS, CLFI_PASS_TOKENS, LENGTH));
        const uint64_t cache = clfi_usage_bytes(context);
        clfi_usage_restart(context);
        CHECK_OK(clfi_decode_set_sources(batch, ids, offsets, count));
        const uint64_t encoding = clfi_usage_peak_bytes(context) - cache;
        for (int32_t k = 0; k < CLFI_BATCH_SEQUENCES; k++) {
            inputs[k] = (clf_decode_input){.tokens = ids, .count = CLFI_PASS_TOKENS / CLFI_BATCH_SEQUENCES};
            CHECK_OK(clfi_decode_open_on(batch, k, &inputs[k].sequence));
        }
        const clf_arena_mark mark = clfi_arena_top(context);
        clfi_usage_restart(context);
        CHECK_OK(clfi_decode_run(batch, inputs, CLFI_BATCH_SEQUENCES, &logits));
        const uint64_t decoding = clfi_usage_peak_bytes(context) - cache, taken = encoding > decoding ? encoding : decoding;
        clfi_arena_release(context, mark);
        CHECK(taken <= scratch && taken >= scratch / 2, "%s: %llu bytes encode, %llu decode, %llu foretold", names[i],
              (unsigned long long)encoding, (unsigned long long)decoding, (unsigned long long)scratch);
        const clf_stack_config *decoder = &model->network->config.decoder;
        assert_int_equal(model->plan.cache_bytes, decoder->layers * 2 * decoder->attention.key_heads * decoder->attention.head_size * 4);
        clfi_decode_destroy(batch);
        clf_model_destroy(model);
    }
}

static void test_encoder(void **state)
{
    check_encoder(*state);
}

static void test_encoder_decoder(void **state)
{
    check_encoder_decoder(*state);
}

/* Engines of a CPU's unit pack the inputs of products beside them. */
static void test_matrix_unit(void **state)
{
    clf_context *same = *state, *context;
    clf_context_params params = CLF_CONTEXT_PARAMS_INIT;
    if (!same->device.caps.is_cpu)
        return;
    params.precision = CLF_PRECISION_HIGH;
    params.engines = "gemm=bf16_pairs";
    setenv("CLF_MATRIX_UNIT", "X86_AMX", 1);
    CHECK_OK(clf_context_create(&params, &context));
    unsetenv("CLF_MATRIX_UNIT");
    check_encoder(context);
    check_encoder_decoder(context);
    clf_context_destroy(context);
}

static clf_memory_plan plan_of(const clf_model *model)
{
    return plan_of_path(model->context, &model->network->config, &model->params);
}

static void test_numbers(void **state)
{
    clf_context *context = *state;
    clf_model *model;
    CHECK_OK(clf_model_open(context, path, NULL, &model));
    const clf_memory_plan plan = plan_of(model);
    const clf_stack_config *stack = &model->network->config.decoder;
    CHECK(plan.weight_bytes >= plan.stored_bytes && plan.weight_bytes < 4 * plan.stored_bytes, "%llu bytes of %llu",
          (unsigned long long)plan.weight_bytes, (unsigned long long)plan.stored_bytes);
    assert_int_equal(plan.cache_bytes, stack->layers * 2 * stack->attention.key_heads * stack->attention.head_size * 4);
    assert_int_equal(plan.context, plan.positions);
    /* what is read of the files alone is what the model was opened with; room shrinks with the texts that run together */
    clf_model_params params = CLF_MODEL_PARAMS_INIT;
    clf_memory_plan told;
    CHECK_OK(clf_memory_plan_read(context, path, NULL, &told));
    assert_memory_equal(&told, clf_model_get_memory_plan(model), sizeof told);
    assert_int_equal(told.sequences, CLFI_BATCH_SEQUENCES);
    params.sequences = 1000;
    CHECK_OK(clf_memory_plan_read(context, path, &params, &told));
    assert_int_equal(told.scratch_bytes - plan.scratch_bytes, (1000 - CLFI_BATCH_SEQUENCES) * 4 * model->info.vocabulary);
    assert_true(told.room < plan.room || plan.device_bytes == 0 ||
                plan.room == context->device.caps.max_allocation_bytes / (plan.cache_bytes / (uint64_t)stack->layers));
    const clf_memory_plan back = clfi_memory_plan_for(context, &told, CLFI_BATCH_SEQUENCES);
    assert_memory_equal(&back, &plan, sizeof back);
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
    CHECK_OK(clf_model_open(context, path, NULL, &model));
    const clf_memory_plan plan = plan_of(model);
    const clf_network_config config = model->network->config;
    const int64_t layers = config.decoder.layers;
    const uint64_t memory = context->device.info.global_memory_bytes, allocation = context->device.caps.max_allocation_bytes;
    clf_model_destroy(model);
    /* weights and scratch fit, but no cache beside them */
    context->device.info.global_memory_bytes = plan.weight_bytes + plan.scratch_bytes + 3 * plan.cache_bytes;
    CHECK_FAILS(clf_model_open(context, path, NULL, &model), CLF_OUT_OF_MEMORY, "keys and values of");
    assert_non_null(strstr(clf_last_error(), "a context of 3 tokens fits; with keys and values as f16 (--cache f16) 6 tokens fit"));
    const clf_model_params halved = {.size = sizeof halved, .weights = CLF_STORAGE_F16};
    const clf_memory_plan half = plan_of_path(context, &config, &halved);
    CHECK(half.weight_bytes == plan.half_bytes && half.half_bytes == half.weight_bytes, "%llu bytes, %llu foretold",
          (unsigned long long)half.weight_bytes, (unsigned long long)plan.half_bytes);
    context->device.info.global_memory_bytes = 1;
    CHECK_FAILS(clf_model_open(context, path, NULL, &model), CLF_OUT_OF_MEMORY, "model: the weights take");
    context->device.info.global_memory_bytes = memory;
    context->device.caps.max_allocation_bytes = 10 * plan.cache_bytes / (uint64_t)layers; /* a layer's cache is one allocation */
    const clf_model_params params = CLF_MODEL_PARAMS_INIT;
    const int64_t fit = plan_of_path(context, &config, &params).context;
    CHECK(fit == 10, "%lld tokens", (long long)fit);
    context->device.caps.max_allocation_bytes = allocation;
}

static int count_tokens(void *user, const clf_generated *step)
{
    *(size_t *)user += step->token >= 0;
    return 0;
}

/* A prompt and its text that do not fit are refused before any work; prompts that do not fit together run one after another. */
static void test_room(void **state)
{
    clf_context *context = *state;
    const clf_text texts[3] = {{"the cat", 7}, {"the cat", 7}, {"the cat", 7}};
    const uint64_t memory = context->device.info.global_memory_bytes;
    clf_generate_params params = CLF_GENERATE_PARAMS_INIT;
    clf_model *model = NULL;
    clf_session *session;
    clf_sequence *sequence;
    float *logits;
    size_t tokens = 0;
    CHECK_OK(clf_model_open(context, path, NULL, &model));
    const clf_memory_plan plan = plan_of(model);
    clf_model_destroy(model);
    /* room for 70 tokens beside passes of three texts, for two more beside those of one, for fewer where all logits of a pass are kept */
    context->device.info.global_memory_bytes = plan.weight_bytes + plan.pass_bytes + 3 * plan.sequence_bytes + 70 * plan.cache_bytes;
    const clf_model_params opening = {.size = sizeof opening, .sequences = 3};
    CHECK_OK(clf_model_open(context, path, &opening, &model));
    CHECK_OK(clf_session_create(model, NULL, &session));
    params.max_tokens = 90;
    CHECK_FAILS(clf_session_generate(session, texts, 3, &params, count_tokens, &tokens), CLF_OUT_OF_MEMORY, "those of 70 tokens fit");
    assert_non_null(strstr(clf_last_error(), "generate: prompts[0]"));
    assert_int_equal(tokens, 0);
    params.max_tokens = 40;
    CHECK_OK(clf_session_generate(session, texts, 3, &params, count_tokens, &tokens));
    assert_true(tokens > 0);
    assert_true(clfi_decode_usage(session->decoding).most <= 70);
    double perplexity;
    char letters[80]; /* a token each */
    memset(letters, 'z', sizeof letters);
    CHECK_FAILS(clf_session_perplexity(session, &(clf_text){letters, sizeof letters}, 96, NULL, &perplexity, NULL), CLF_OUT_OF_MEMORY,
                "tokens fit device");
    const size_t vocabulary = (size_t)clf_model_get_info(model)->vocabulary;
    int32_t ids[60] = {0};
    assert_non_null(logits = malloc(vocabulary * sizeof *logits));
    CHECK_OK(clf_sequence_create(session, &sequence));
    CHECK_OK(clf_session_run_sequences(session, &(clf_sequence_tokens){sequence, ids, 60}, 1, 0, logits));
    CHECK_FAILS(clf_session_run_sequences(session, &(clf_sequence_tokens){sequence, ids, 20}, 1, 0, logits), CLF_OUT_OF_MEMORY,
                "sequences: keys and values of 80 tokens");
    /* what a sequence has counts beside texts that are not its own */
    params.max_tokens = 20;
    CHECK_FAILS(clf_session_generate(session, texts, 1, &params, count_tokens, &tokens), CLF_OUT_OF_MEMORY, "tokens fit device");
    CHECK_FAILS(clf_session_logits(session, &(clf_text){letters, 20}, 1, NULL, logits), CLF_OUT_OF_MEMORY, "tokens fit device");
    CHECK_OK(clf_sequence_keep(sequence, 20));
    CHECK_OK(clf_session_generate(session, texts, 1, &params, count_tokens, &tokens));
    CHECK_OK(clf_sequence_keep(sequence, 0));
    /* what a fork has stays when the sequence goes on otherwise, and counts once where it goes on from there */
    clf_sequence *fork;
    params.sequence = sequence;
    params.max_tokens = 1;
    CHECK_OK(clf_session_generate(session, &(clf_text){letters, 40}, 1, &params, count_tokens, &tokens));
    CHECK_OK(clf_sequence_fork(sequence, &fork));
    params.max_tokens = 20;
    CHECK_OK(clf_session_generate(session, &(clf_text){letters, 45}, 1, &params, count_tokens, &tokens));
    params.max_tokens = 40;
    CHECK_FAILS(clf_session_generate(session, texts, 1, &params, count_tokens, &tokens), CLF_OUT_OF_MEMORY, "tokens fit device");
    assert_true(clfi_decode_usage(session->decoding).most <= 72);
    clf_sequence_destroy(fork);
    CHECK_OK(clf_session_generate(session, texts, 1, &params, count_tokens, &tokens));
    params.sequence = NULL;
    clf_sequence_destroy(sequence);
    free(logits);
    clf_session_destroy(session);
    clf_model_destroy(model);
    context->device.info.global_memory_bytes = memory;
}

/* Texts may have more tokens together than the model has positions: only memory counts. */
static void test_many(void **state)
{
    enum { TEXTS = 4, TOKENS = 60 };
    clf_context *context = *state;
    const int32_t ids[TOKENS] = {0};
    clf_model *model;
    clf_session *session;
    clf_sequence_tokens inputs[TEXTS];
    clf_text texts[TEXTS];
    float *logits;
    size_t tokens = 0;
    CHECK_OK(clf_model_open(context, path, NULL, &model));
    CHECK_OK(clf_session_create(model, NULL, &session));
    const clf_model_info *info = clf_model_get_info(model);
    assert_true(info->max_positions < TEXTS * TOKENS && info->max_positions > TOKENS);
    assert_non_null(logits = malloc(TEXTS * (size_t)info->vocabulary * sizeof *logits));
    for (size_t i = 0; i < TEXTS; i++) {
        texts[i] = (clf_text){"the cat", 7};
        inputs[i] = (clf_sequence_tokens){.tokens = ids, .count = TOKENS};
        CHECK_OK(clf_sequence_create(session, &inputs[i].sequence));
    }
    CHECK_OK(clf_session_run_sequences(session, inputs, TEXTS, 0, logits));
    for (size_t i = 0; i < TEXTS; i++)
        clf_sequence_destroy(inputs[i].sequence);
    clf_session_destroy(session);
    CHECK_OK(clf_session_create(model, NULL, &session));
    clf_generate_params params = CLF_GENERATE_PARAMS_INIT;
    params.max_tokens = TOKENS;
    CHECK_OK(clf_session_generate(session, texts, TEXTS, &params, count_tokens, &tokens));
    CHECK(clfi_decode_usage(session->decoding).most > info->max_positions, "%lld rows at once",
          (long long)clfi_decode_usage(session->decoding).most);
    free(logits);
    clf_session_destroy(session);
    clf_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_numbers),    cmocka_unit_test(test_refusals),
                                       cmocka_unit_test(test_room),       cmocka_unit_test(test_many),
                                       cmocka_unit_test(test_encoder),    cmocka_unit_test(test_encoder_decoder),
                                       cmocka_unit_test(test_matrix_unit)};
    return cmocka_run_group_tests_name("model.memory_plan", tests, device_setup, device_teardown);
}
