/* SPDX-License-Identifier: MIT */
/* The models of the benchmark's catalogue: the built-in encoder-decoder, and the real encoder where the machine has it, verified against
 * float64. */
#include <stdio.h>
#include <stdlib.h>

#include "runtime/context.h"
#include "support/check.h"
#include "support/device.h"
#include "support/model.h"
#include "support/operand.h"
#include "workload/generation_workloads.h"
#include "workload/greedy.h"
#include "workload/model_workloads.h"
#include "workload/reference_encoder.h"
#include "workload/workload.h"

static void check_workload(const clfi_workload *workload, clf_context *context)
{
    clfi_engine_list engines = {.count = 0};
    clfi_verdict verdict = {0};
    clfi_sample sample = {0};
    void *state = NULL;
    CHECK_OK(workload->type->engines(workload, context, &engines));
    CHECK(engines.count == 1, "%s: %zu engines", workload->id, engines.count);
    const clf_status st = workload->type->prepare(workload, context, engines.names[0], &state);
    CHECK(st == CLF_OK, "%s: %s", workload->id, clf_last_error());
    CHECK(workload->type->verify(state, &verdict) == CLF_OK, "%s: %s", workload->id, clf_last_error());
    CHECK(verdict.passed && verdict.error <= verdict.bound && verdict.bound > 0, "%s: error %.3g, bound %.3g", workload->id, verdict.error,
          verdict.bound);
    if (strcmp(workload->op, "encoder") == 0)
        CHECK(verdict.cosine > 1 - 1e-9 && verdict.cosine < 1 + 1e-9, "%s: cosine %.12g", workload->id, verdict.cosine);
    CHECK(workload->type->run(state, &sample) == CLF_OK && sample.wall_ns > 0, "%s: %s", workload->id, clf_last_error());
    workload->type->release(state);
}

static void check_list(clfi_workload_list *list, clf_context *context)
{
    assert_true(list->count > 0);
    for (size_t i = 0; i < list->count; i++) {
        const clfi_workload *one = &list->items[i];
        if (!takes_case(i, i == 0))
            continue;
        CHECK(json_is_object(json_object_get(one->work, "model")) && strcmp(one->suite, "models") == 0, "%s", one->id);
        CHECK(one->off_device && one->off_device[0], "%s: what the host does", one->id);
        check_workload(one, context);
    }
    clfi_workload_list_free(list);
}

static void test_built_in(void **state)
{
    clfi_workload_list list = {0};
    CHECK_OK(clfi_model_workloads(&list, NULL, true));
    check_list(&list, *state);
}

static void test_encoder(void **state)
{
    clfi_workload_list list = {0};
    const char *directory = test_model_directory();
    CHECK_OK(clfi_model_workloads(&list, directory, true));
    check_list(&list, *state);
}

/* Positions that begin after the padding's id, MPNet's scores by distance, names of DistilBERT's own, rotary positions, windows and gates;
 * decoders that embed, with modules behind the pooling. */
static void test_relatives(void **state)
{
    static const char *const names[] = {
        "families/mpnet",      "families/roberta",     "families/camembert", "families/distilbert",     "families/modernbert",
        "families/nomic_bert", "families/xlm-roberta", "sentence/qwen3",     "sentence/embeddinggemma", "encoders/modernbert_biases"};
    for (size_t i = 0; i < COUNT(names); i++) {
        char directory[512];
        clfi_workload_list list = {0};
        clfi_bench_model model;
        snprintf(directory, sizeof directory, CLF_TEST_DATA "/%s", names[i]);
        CHECK_OK(clfi_bench_model_read(directory, &model));
        CHECK_OK(clfi_encoder_add_ids(&list, &model, 3, 35));
        CHECK(list.count == 1, "%s: too few positions", names[i]);
        check_workload(&list.items[0], *state);
        clfi_workload_list_free(&list);
        clfi_bench_model_free(&model);
    }
}

static void test_refusals(void **state)
{
    clfi_workload_list list = {0};
    (void)state;
    CHECK_FAILS(clfi_model_workloads(&list, "/nonexistent/model", true), CLF_NOT_FOUND,
                "model directory /nonexistent/model: no such directory");
    clfi_workload_list_free(&list);
}

static const clfi_random_decoder_shape tiny = {
    .layers = 2, .width = 64, .hidden_width = 96, .heads = 4, .key_heads = 2, .vocabulary = 150, .positions = 64, .type = CLF_WEIGHT_F32};

static void check_generation(const clfi_generation_model *model, clf_context *context, bool is_start)
{
    clfi_workload_list list = {0};
    CHECK_OK(clfi_generation_add_decode(&list, model, 3, 21));
    CHECK_OK(clfi_generation_add_prefill(&list, model, 33));
    CHECK_OK(clfi_generation_add_prefill(&list, model, 1 << 20)); /* longer than the model allows */
    if (is_start)
        CHECK_OK(clfi_generation_add_first_token(&list, model));
    assert_int_equal(list.count, is_start ? 3 : 2);
    for (size_t i = 0; i < list.count; i++) {
        const clfi_workload *one = &list.items[i];
        assert_string_equal(one->suite, "generation");
        CHECK(json_is_object(json_object_get(one->work, "model")) && one->off_device && one->off_device[0], "%s", one->id);
        CHECK(strcmp(one->op, "first_token") == 0 || (one->flops > 0 && one->bytes > 0 && one->items > 0), "%s: nothing counted", one->id);
        check_workload(one, context);
    }
    clfi_workload_list_free(&list);
}

static void test_generation(void **state)
{
    static const clf_weight_type types[] = {CLF_WEIGHT_Q4_0, CLF_WEIGHT_Q8_0, CLF_WEIGHT_F32};
    for (size_t i = 0; i < COUNT(types); i++) {
        clfi_generation_model model;
        clfi_random_decoder_shape shape = tiny;
        shape.type = types[i];
        CHECK_OK(clfi_generation_model_random("tiny", &shape, &model));
        check_generation(&model, *state, i == 0 && !only_small_cases());
        clfi_generation_model_free(&model);
    }
}

/* Types by llama.cpp's rules, a head of another size with norms of its own, and rows that are drawn once and repeated. */
static void test_generation_shapes(void **state)
{
    const clfi_random_decoder_shape mixed = {.layers = 8,
                                             .width = 256,
                                             .hidden_width = 512,
                                             .heads = 4,
                                             .key_heads = 2,
                                             .vocabulary = 150,
                                             .positions = 64,
                                             .mix = "q4_k_m",
                                             .head_size = 32,
                                             .has_head_norms = true};
    clfi_generation_model model;
    clfi_random_decoder *numbers;
    clf_checkpoint *checkpoint;
    clf_checkpoint_tensor tensor;
    CHECK_OK(clfi_generation_model_random("mixed", &mixed, &model));
    assert_string_equal(model.name, "mixed-q4_k_m");
    check_generation(&model, *state, false);
    clfi_generation_model_free(&model);
    CHECK_OK(clfi_random_decoder_create(&mixed, &numbers));
    CHECK_OK(clfi_random_decoder_checkpoint(numbers, &checkpoint));
    const struct {
        const char *name;
        clf_weight_type type;
    } want[] = {{"model.embed_tokens.weight", CLF_WEIGHT_Q6_K},
                {"model.layers.0.mlp.down_proj.weight", CLF_WEIGHT_Q6_K},
                {"model.layers.1.self_attn.v_proj.weight", CLF_WEIGHT_Q4_K},
                {"model.layers.7.self_attn.v_proj.weight", CLF_WEIGHT_Q6_K},
                {"model.layers.7.self_attn.o_proj.weight", CLF_WEIGHT_Q5_0}, /* 128 columns: no blocks of 256 */
                {"model.layers.2.self_attn.k_norm.weight", CLF_WEIGHT_F32}};
    for (size_t i = 0; i < COUNT(want); i++)
        CHECK(clfi_checkpoint_find(checkpoint, want[i].name, &tensor) && tensor.type == want[i].type, "%s", want[i].name);
    clfi_checkpoint_close(checkpoint);
    clfi_random_decoder_destroy(numbers);
    const clfi_random_decoder_shape large = {.layers = 1,
                                             .width = 1024,
                                             .hidden_width = 1024,
                                             .heads = 8,
                                             .key_heads = 8,
                                             .vocabulary = 70000,
                                             .positions = 64,
                                             .type = CLF_WEIGHT_Q8_0};
    const size_t row = 1024 / 32 * 34;
    CHECK_OK(clfi_random_decoder_create(&large, &numbers));
    CHECK_OK(clfi_random_decoder_fill(numbers));
    CHECK_OK(clfi_random_decoder_checkpoint(numbers, &checkpoint));
    assert_true(clfi_checkpoint_find(checkpoint, "model.embed_tokens.weight", &tensor));
    for (size_t i = 250; i < 400; i++) /* 256 rows are drawn */
        CHECK(memcmp((const char *)tensor.data + i * row, (const char *)tensor.data + (i - 1) * row, row) != 0, "row %zu", i);
    clfi_checkpoint_close(checkpoint);
    clfi_random_decoder_destroy(numbers);
}

/* Bytes and operations of the tiny network: by hand. */
static void test_generation_cost(void **state)
{
    clfi_generation_model model;
    (void)state;
    CHECK_OK(clfi_generation_model_random("tiny", &tiny, &model));
    const double matrices = 2 * (64 * 64 * 2 + 32 * 64 * 2 + 3 * 64 * 96), gains = 5 * 64, table = 150 * 64;
    assert_true(model.cost.token_flops == 2 * matrices && model.cost.logit_flops == 2 * table);
    assert_true(model.cost.step_bytes == 4 * (matrices + gains + table));
    assert_true(model.cost.attention_flops == 2 * 4 * 64 && model.cost.cache_bytes == 2 * 2 * 32 * 4);
    clfi_generation_model_free(&model);
}

/* A step of GPT-2 reads every tensor but the table of positions, of which it takes rows; the tied table is the head. */
static void test_generation_cost_of_tables(void **state)
{
    static const char directory[] = CLF_TEST_DATA "/generation/gpt2";
    clfi_generation_model model;
    clf_checkpoint *checkpoint;
    clf_checkpoint_tensor tensor;
    double all = 0, positions = 0;
    (void)state;
    CHECK_OK(clfi_checkpoint_open(directory, &checkpoint));
    CHECK_OK(clfi_checkpoint_load(checkpoint));
    for (size_t i = 0; clfi_checkpoint_at(checkpoint, i, &tensor); i++) {
        all += (double)tensor.bytes;
        if (strstr(tensor.name, "wpe"))
            positions += (double)tensor.bytes;
    }
    clfi_checkpoint_close(checkpoint);
    CHECK_OK(clfi_generation_model_read(directory, &model));
    CHECK(positions > 0 && model.cost.step_bytes == all - positions, "%g bytes a step, expected %g", model.cost.step_bytes,
          all - positions);
    clfi_generation_model_free(&model);
}

/* Every kind of decoder that the library reads, as the reference computes it; those of encoder-decoders too. */
static void test_generation_families(void **state)
{
    static const char *const names[] = {"llama_blocks/model.gguf",
                                        "gpt2_scaled",
                                        "gemma2",
                                        "gemma3",
                                        "gemma",
                                        "mistral",
                                        "phi3_partial",
                                        "qwen2_upper",
                                        "qwen3",
                                        "gpt2",
                                        "llama_llama3",
                                        "llama_yarn_exact",
                                        "llama_untied",
                                        "../translation/t5",
                                        "../translation/t5_gated",
                                        "../translation/marian",
                                        "../translation/marian_apart",
                                        "../translation/marian_positions",
                                        "../translation/bart"};
    for (size_t i = 0; i < COUNT(names); i++) {
        if (!takes_case(i, i == 0))
            continue;
        char directory[512];
        clfi_generation_model model;
        clfi_workload_list list = {0};
        bool generates = false;
        snprintf(directory, sizeof directory, CLF_TEST_DATA "/generation/%s", names[i]);
        CHECK_OK(clfi_model_generates(directory, &generates));
        assert_true(generates);
        CHECK_OK(clfi_generation_model_read(directory, &model));
        CHECK_OK(clfi_generation_add_decode(&list, &model, 2, 13));
        CHECK(list.count == 1, "%s: too few positions", names[i]);
        check_workload(&list.items[0], *state);
        clfi_workload_list_free(&list);
        clfi_generation_model_free(&model);
    }
}

static bool passes(const clfi_generation_source *source, const int32_t *sources, const int32_t *ids, size_t length, const float *logits)
{
    const clfi_generated_logits got = {.ids = ids, .sources = sources, .sequences = 1, .length = length, .count = 1, .logits = logits};
    clfi_random_decoder *numbers = NULL;
    clfi_verdict verdict = {.passed = false};
    CHECK_OK(clfi_generation_check(source, &numbers, &got, &verdict));
    clfi_random_decoder_destroy(numbers);
    return verdict.passed;
}

/* A logit that is off, another token, other weights: each is told. */
static void test_generation_is_checked(void **state)
{
    enum { LENGTH = 12 };
    int32_t ids[LENGTH], offsets[2];
    clfi_random_decoder *numbers = NULL;
    clfi_generation_network network;
    clfi_greedy greedy;
    clfi_generation_source source = {.shape = tiny, .vocabulary = tiny.vocabulary, .token_flops = 1};
    clfi_model_random_ids(1, LENGTH, tiny.vocabulary, ids, offsets);
    CHECK_OK(clfi_generation_open(*state, &source, &numbers, &network));
    CHECK_OK(clfi_greedy_create(network.decoding, (size_t)tiny.vocabulary, 1, LENGTH, LENGTH, &greedy));
    CHECK_OK(clfi_greedy_prompt(&greedy, 0, ids, LENGTH));
    assert_true(passes(&source, NULL, ids, LENGTH, greedy.logits));
    const float kept = greedy.logits[7];
    greedy.logits[7] += 0.01f;
    assert_false(passes(&source, NULL, ids, LENGTH, greedy.logits));
    greedy.logits[7] = NAN;
    assert_false(passes(&source, NULL, ids, LENGTH, greedy.logits));
    greedy.logits[7] = kept;
    ids[0] ^= 1;
    assert_false(passes(&source, NULL, ids, LENGTH, greedy.logits));
    ids[0] ^= 1;
    source.shape.type = CLF_WEIGHT_Q8_0;
    assert_false(passes(&source, NULL, ids, LENGTH, greedy.logits));
    clfi_greedy_free(&greedy);
    clfi_generation_close(&network);
    clfi_random_decoder_destroy(numbers);
}

/* An encoder-decoder's source counts, and each of its tokens. */
static void test_source_is_checked(void **state)
{
    enum { LENGTH = 5 };
    const int32_t ids[LENGTH] = {1, 9, 4, 4, 7};
    const char *const directory = CLF_TEST_DATA "/translation/marian";
    clfi_generation_model model;
    clfi_generation_network network;
    clfi_greedy greedy;
    int32_t *sources = NULL;
    CHECK_OK(clfi_generation_model_read(directory, &model));
    assert_true(model.source_vocabulary > 0);
    const clfi_generation_source source = {
        .path = directory, .vocabulary = model.vocabulary, .source_vocabulary = model.source_vocabulary, .token_flops = 1};
    const size_t tokens = clfi_generation_source_tokens(&source);
    CHECK_OK(clfi_generation_open(*state, &source, NULL, &network));
    CHECK_OK(clfi_greedy_create(network.decoding, (size_t)model.vocabulary, 1, LENGTH, LENGTH + tokens, &greedy));
    CHECK_OK(clfi_generation_draw_sources(&source, 1, &sources));
    CHECK_OK(clfi_greedy_sources(&greedy, sources, tokens));
    CHECK_OK(clfi_greedy_prompt(&greedy, 0, ids, LENGTH));
    assert_true(passes(&source, sources, ids, LENGTH, greedy.logits));
    sources[tokens - 1] = (sources[tokens - 1] + 1) % (int32_t)model.source_vocabulary;
    assert_false(passes(&source, sources, ids, LENGTH, greedy.logits));
    free(sources);
    clfi_greedy_free(&greedy);
    clfi_generation_close(&network);
    clfi_generation_model_free(&model);
}

static void test_generation_refusals(void **state)
{
    clfi_generation_model model;
    clfi_workload_list list = {0};
    bool generates;
    (void)state;
    CHECK_FAILS(clfi_generation_workloads(&list, CLF_TEST_DATA "/families/roberta", true), CLF_UNSUPPORTED, "roberta");
    CHECK_OK(clfi_model_generates(CLF_TEST_DATA "/families/roberta", &generates));
    assert_false(generates);
    clfi_random_decoder_shape shape = tiny;
    shape.type = CLF_WEIGHT_Q4_0;
    shape.hidden_width = 100;
    CHECK_FAILS(clfi_generation_model_random("odd", &shape, &model), CLF_INVALID_ARGUMENT, "100 columns, expected whole blocks of q4_0");
}

int main(void)
{
    const struct CMUnitTest built_in[] = {cmocka_unit_test(test_built_in),
                                          cmocka_unit_test(test_relatives),
                                          cmocka_unit_test(test_refusals),
                                          cmocka_unit_test(test_generation),
                                          cmocka_unit_test(test_generation_shapes),
                                          cmocka_unit_test(test_generation_cost),
                                          cmocka_unit_test(test_generation_cost_of_tables),
                                          cmocka_unit_test(test_generation_families),
                                          cmocka_unit_test(test_generation_is_checked),
                                          cmocka_unit_test(test_source_is_checked),
                                          cmocka_unit_test(test_generation_refusals)};
    const struct CMUnitTest directory[] = {cmocka_unit_test(test_encoder)}; /* leaves the program where there is no model */
    const int failed = cmocka_run_group_tests_name("built-in", built_in, device_setup_cached, device_teardown);
    return failed ? failed : cmocka_run_group_tests_name("directory", directory, device_setup_cached, device_teardown);
}
