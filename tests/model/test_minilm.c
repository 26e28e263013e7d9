/* SPDX-License-Identifier: MIT */
/* all-MiniLM-L6-v2 on the device against float64 embeddings of 300 texts (tests/data/embeddings), in mixed batches and alone. */
#include "support/check.h"
#include "support/device.h"
#include "support/engines.h"
#include "support/model.h"
#include "support/operand.h"
#include "support/worst.h"

#include <stdlib.h>

#include "clformer/model.h"
#include "io/json.h"
#include "io/npy.h"
#include "runtime/context.h"

enum { TEXTS = 300, WIDTH = 384, MAX_TOKENS = 512 };

static struct {
    clf_context *context;
    clf_model *model;
    clf_session *session;
    clf_text texts[TEXTS];
    int32_t *ids;
    int32_t offsets[TEXTS + 1];
    float golden[TEXTS * WIDTH], got[TEXTS * WIDTH];
    size_t step;  /* every step-th text of the files is used */
    size_t count; /* so many of them */
    double bound, attention_bound;
} fixture;

static void read_texts(void)
{
    clf_str file = CLF_STR_INIT;
    CHECK_OK(clfi_file_read(CLF_TEST_DATA "/embeddings/texts.jsonl", 1 << 24, &file));
    const char *at = clfi_str_text(&file);
    for (size_t line = 0; line < fixture.count * fixture.step; line++) {
        const char *end = strchr(at, '\n');
        const size_t i = line / fixture.step;
        json_t *json;
        CHECK(end, "texts.jsonl ends after %zu lines", line);
        if (line % fixture.step != 0) {
            at = end + 1;
            continue;
        }
        CHECK_OK(clfi_json_parse(at, (size_t)(end - at), "texts.jsonl", &json));
        const size_t size = json_string_length(json);
        char *copy = malloc(size + 1);
        assert_non_null(copy);
        memcpy(copy, json_string_value(json), size);
        fixture.texts[i] = (clf_text){copy, size};
        json_decref(json);
        at = end + 1;
    }
    clfi_str_free(&file);
}

static void read_ids(void)
{
    json_t *json;
    size_t total = 0;
    CHECK_OK(clfi_json_read(CLF_TEST_DATA "/embeddings/ids.json", 1 << 24, &json));
    assert_int_equal(json_array_size(json), TEXTS);
    for (size_t i = 0; i < TEXTS; i++)
        total += json_array_size(json_array_get(json, i));
    fixture.ids = malloc(total * sizeof *fixture.ids);
    assert_non_null(fixture.ids);
    for (size_t i = 0; i < fixture.count; i++) {
        const json_t *row = json_array_get(json, i * fixture.step);
        const int32_t start = fixture.offsets[i];
        for (size_t t = 0; t < json_array_size(row); t++)
            fixture.ids[start + (int32_t)t] = (int32_t)json_integer_value(json_array_get(row, t));
        fixture.offsets[i + 1] = start + (int32_t)json_array_size(row);
    }
    json_decref(json);
}

/* A row of norm 1 passes through two blocks in every layer, whose longest sums have 4 width terms and a relative error of
 * (8 + 2 sqrt terms) u (reference_einsum.h). The errors of many sums add up as a random walk does, and spread over the row's elements. */
static double float32_bound(const clf_model_info *info)
{
    const double terms = 4.0 * (double)info->width, sums = 2.0 * (double)info->layers;
    return sqrt(sums) * (8 + 2 * sqrt(terms)) * 0x1p-24 / sqrt((double)info->width);
}

/* Bound on a softmax weight w: dw <= w (1 - w) 2 ds <= ds / 2, ds <= 2 e |q| |k| / sqrt(head). Here e is the relative error of a whole row,
 * and make_golden.py's text has |q| |k| / sqrt(head) <= 42. */
static double weight_bound(double element_bound)
{
    return element_bound * sqrt(WIDTH) * 42;
}

static int setup(void **state)
{
    clf_npy npy;
    const char *directory = test_model_directory();
    if (device_setup_optimised((void **)&fixture.context) != 0)
        return -1;
    CHECK_OK(clf_model_open(fixture.context, directory, NULL, &fixture.model));
    CHECK_OK(clf_session_create(fixture.model, NULL, &fixture.session));
    /* All 300 texts, or every 17th of them (slow engines), or the first, short ones (slow devices). */
    const bool spread = getenv("CLF_TEST_SPREAD"), small = getenv("CLF_TEST_SMALL");
    fixture.step = spread ? (small ? 3 : 17) : 1;
    fixture.count = (small ? 24 : TEXTS) / fixture.step;
    read_texts();
    read_ids();
    CHECK_OK(clfi_npy_open(CLF_TEST_DATA "/embeddings/golden.npy", &npy));
    assert_int_equal(npy.count, TEXTS * WIDTH);
    for (size_t i = 0; i < fixture.count; i++)
        CHECK_OK(clfi_npy_read_f32(&npy, i * fixture.step * WIDTH, WIDTH, fixture.golden + i * WIDTH));
    clfi_npy_close(&npy);
    fixture.bound = float32_bound(clf_model_get_info(fixture.model));
    fixture.attention_bound = weight_bound(fixture.bound);
    *state = NULL;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    clf_session_destroy(fixture.session);
    clf_model_destroy(fixture.model);
    clf_context_destroy(fixture.context);
    for (size_t i = 0; i < TEXTS; i++)
        free((char *)fixture.texts[i].data);
    free(fixture.ids);
    return 0;
}

/* Largest difference to the golden rows of texts first .. first+count-1. */
static void check_rows(const char *what, size_t first, size_t count, const float *rows)
{
    worst w = {0};
    for (size_t i = 0; i < count * WIDTH; i++)
        worst_add(&w, rows[i], fixture.golden[first * WIDTH + i], first + i / WIDTH);
    print_message("%s: max abs difference %.3g (text %zu, %d tokens)\n", what, w.error, w.where,
                  fixture.offsets[w.where + 1] - fixture.offsets[w.where]);
    CHECK(w.error <= fixture.bound, "%s: text %zu differs by %g, bound %g", what, w.where, w.error, fixture.bound);
}

static void test_info(void **state)
{
    (void)state;
    const clf_model_info *info = clf_model_get_info(fixture.model);
    assert_string_equal(info->architecture, "bert");
    assert_int_equal(info->layers, 6);
    assert_int_equal(info->width, WIDTH);
    assert_int_equal(info->hidden_width, 1536);
    assert_int_equal(info->heads, 12);
    assert_int_equal(info->max_positions, 512);
    assert_int_equal(info->max_tokens, 256); /* sentence_bert_config.json's, not tokenizer.json's 128 */
    assert_int_equal(info->pooling, CLF_POOLING_MEAN);
    assert_true(info->normalize);
    assert_int_equal(info->parameters, 22713216);
}

static void test_texts_in_mixed_batches(void **state)
{
    (void)state;
    clf_embed_params params = CLF_EMBED_PARAMS_INIT;
    clf_embed_stats stats;
    params.max_tokens = MAX_TOKENS;
    memset(fixture.got, 0xff, sizeof fixture.got);
    CHECK_OK(clf_session_embed(fixture.session, fixture.texts, fixture.count, &params, fixture.got, &stats));
    assert_int_equal(stats.tokens, fixture.offsets[fixture.count]);
    assert_int_equal(stats.texts, fixture.count);
    check_rows("texts", 0, fixture.count, fixture.got);
}

static clf_tokens tokens_of(size_t text)
{
    return (clf_tokens){.ids = fixture.ids + fixture.offsets[text], .count = (size_t)(fixture.offsets[text + 1] - fixture.offsets[text])};
}

enum { GROUP = 20 };

/* One pass over texts first .. first+count-1 by their ids. */
static clf_status embed_ids(clf_session *session, size_t first, size_t count, float *out)
{
    clf_embed_params params = CLF_EMBED_PARAMS_INIT;
    clf_tokens tokens[GROUP];
    for (size_t i = 0; i < count; i++)
        tokens[i] = tokens_of(first + i);
    params.tokens = tokens;
    params.batch_tokens = GROUP * MAX_TOKENS;
    return clf_session_embed(session, NULL, count, &params, out, NULL);
}

static void test_ids_in_groups(void **state)
{
    (void)state;
    for (size_t first = 0; first < fixture.count; first += GROUP) {
        const size_t count = fixture.count - first < GROUP ? fixture.count - first : GROUP;
        CHECK_OK(embed_ids(fixture.session, first, count, fixture.got + first * WIDTH));
    }
    check_rows("ids", 0, fixture.count, fixture.got);
}

static void test_single_equals_batched(void **state)
{
    (void)state;
    float alone[WIDTH];
    for (size_t i = 0; i < fixture.count; i += 13) {
        CHECK_OK(embed_ids(fixture.session, i, 1, alone));
        for (size_t c = 0; c < WIDTH; c++)
            CHECK(within(alone[c], fixture.got[i * WIDTH + c], 1e-6), "text %zu feature %zu: alone %.9g, batched %.9g", i, c,
                  (double)alone[c], (double)fixture.got[i * WIDTH + c]);
    }
}

/* Tokens before pooling, whose normalised mean is the embedding; type ids count. */
static void test_encoder_output(void **state)
{
    (void)state;
    enum { FIRST = 4, FEW = 2 };
    int32_t offsets[FEW + 1];
    clf_tokens given[FEW];
    clf_tensor *plain, *zeros, *ones;
    for (int i = 0; i <= FEW; i++)
        offsets[i] = fixture.offsets[FIRST + i] - fixture.offsets[FIRST];
    const size_t tokens = (size_t)offsets[FEW];
    float *const hidden = malloc(tokens * WIDTH * sizeof *hidden), *const other = malloc(tokens * WIDTH * sizeof *other);
    int32_t *types = calloc(tokens, sizeof *types);
    assert_true(hidden && other && types);
    for (int i = 0; i < FEW; i++)
        given[i] = tokens_of(FIRST + (size_t)i);
    CHECK_OK(clf_session_encode(fixture.session, given, FEW, &plain));
    for (int i = 0; i < FEW; i++)
        given[i].type_ids = types + offsets[i];
    CHECK_OK(clf_session_encode(fixture.session, given, FEW, &zeros));
    for (size_t t = 0; t < tokens; t++)
        types[t] = 1;
    CHECK_OK(clf_session_encode(fixture.session, given, FEW, &ones));
    assert_int_equal(clf_tensor_rank(plain), 2);
    assert_int_equal(clf_tensor_dim(plain)[0], tokens);
    assert_int_equal(clf_tensor_dim(plain)[1], WIDTH);
    CHECK_OK(clf_tensor_read_f32(plain, hidden, tokens * WIDTH));
    for (int i = 0; i < FEW; i++) {
        double mean[WIDTH] = {0}, squares = 0;
        for (int32_t t = offsets[i]; t < offsets[i + 1]; t++)
            for (size_t c = 0; c < WIDTH; c++)
                mean[c] += hidden[(size_t)t * WIDTH + c];
        for (size_t c = 0; c < WIDTH; c++)
            squares += mean[c] * mean[c];
        for (size_t c = 0; c < WIDTH; c++)
            CHECK(within(mean[c] / sqrt(squares), fixture.golden[(FIRST + (size_t)i) * WIDTH + c], fixture.bound), "text %d, feature %zu",
                  FIRST + i, c);
    }
    CHECK_OK(clf_tensor_read_f32(zeros, other, tokens * WIDTH));
    assert_memory_equal(hidden, other, tokens * WIDTH * sizeof *hidden);
    CHECK_OK(clf_tensor_read_f32(ones, other, tokens * WIDTH));
    assert_memory_not_equal(hidden, other, tokens * WIDTH * sizeof *hidden);
    clf_tensor_destroy(plain);
    clf_tensor_destroy(zeros);
    clf_tensor_destroy(ones);
    free(types);
    free(hidden);
    free(other);
}

static void test_attention_weights(void **state)
{
    (void)state;
    enum { LENGTH = 9, HEADS = 12, LAYERS = 6, COUNT_OF_LAYER = HEADS * LENGTH * LENGTH };
    static const int32_t ids[LENGTH] = {101, 1037, 2158, 2003, 5983, 2833, 1012, 2182, 102}; /* make_golden.py's ATTENTION_IDS */
    clf_npy npy;
    clf_tensor *weights;
    float got[COUNT_OF_LAYER], want[COUNT_OF_LAYER];
    CHECK_OK(clfi_npy_open(CLF_TEST_DATA "/embeddings/attention.npy", &npy));
    assert_int_equal(npy.count, LAYERS * COUNT_OF_LAYER);
    for (int layer = 0; layer < LAYERS; layer++) {
        worst w = {0};
        CHECK_OK(clf_session_attention(fixture.session, &(clf_tokens){.ids = ids, .count = LENGTH}, layer, &weights));
        assert_int_equal(clf_tensor_rank(weights), 3);
        CHECK_OK(clf_tensor_read_f32(weights, got, COUNT(got)));
        clf_tensor_destroy(weights);
        CHECK_OK(clfi_npy_read_f32(&npy, (size_t)layer * COUNT_OF_LAYER, COUNT_OF_LAYER, want));
        for (size_t i = 0; i < COUNT_OF_LAYER; i++)
            worst_add(&w, got[i], want[i], i);
        CHECK(w.error <= fixture.attention_bound, "layer %d: weight %zu differs by %g, bound %g", layer, w.where, w.error,
              fixture.attention_bound);
    }
    clfi_npy_close(&npy);
    weights = NULL;
    clf_tokens tokens = {.ids = fixture.ids, .count = LENGTH};
    CHECK_FAILS(clf_session_attention(fixture.session, &tokens, 6, &weights), CLF_INVALID_ARGUMENT, "6");
    CHECK_FAILS(clf_session_attention(fixture.session, &tokens, -1, &weights), CLF_INVALID_ARGUMENT, "-1");
    tokens.count = 0;
    CHECK_FAILS(clf_session_attention(fixture.session, &tokens, 0, &weights), CLF_INVALID_ARGUMENT, "0 tokens");
    tokens.count = 513;
    CHECK_FAILS(clf_session_attention(fixture.session, &tokens, 0, &weights), CLF_INVALID_ARGUMENT, "513");
    tokens.ids = NULL;
    CHECK_FAILS(clf_session_attention(fixture.session, &tokens, 0, &weights), CLF_INVALID_ARGUMENT, "NULL");
    assert_null(weights);
}

static void test_repeated_pass_allocates_and_builds_nothing(void **state)
{
    (void)state;
    clf_context_stats before, after;
    float row[WIDTH];
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 1)
            clf_context_get_stats(fixture.context, &before);
        CHECK_OK(embed_ids(fixture.session, 4, 1, row));
    }
    clf_context_get_stats(fixture.context, &after);
    assert_int_equal(after.programs_built, before.programs_built);
    assert_int_equal(after.programs_from_cache, before.programs_from_cache);
    assert_int_equal(after.device_bytes, before.device_bytes);
}

/* A device whose largest allocation is 1 MiB: embeddings, projections and feed-forward networks come in pieces. */
static void test_weights_larger_than_an_allocation(void **state)
{
    (void)state;
    enum { FEW = 5 };
    const uint64_t old = fixture.context->device.caps.max_allocation_bytes;
    clf_model *model = NULL;
    clf_session *session;
    fixture.context->device.caps.max_allocation_bytes = 1 << 20;
    CHECK_OK(clf_model_open(fixture.context, test_model_directory(), NULL, &model));
    fixture.context->device.caps.max_allocation_bytes = old;
    CHECK_OK(clf_session_create(model, NULL, &session));
    CHECK_OK(embed_ids(session, 0, FEW, fixture.got));
    clf_session_destroy(session);
    clf_model_destroy(model);
    check_rows("pieces of 1 MiB", 0, FEW, fixture.got);
}

static void test_bad_arguments(void **state)
{
    (void)state;
    float row[WIDTH];
    static const int32_t zeros[MAX_TOKENS + 1] = {0};
    const struct {
        clf_tokens tokens;
        const char *part;
    } refused[] = {{{(const int32_t[]){101, 30522, 102}, NULL, 3}, "30522"},
                   {{(const int32_t[]){101, -1, 102}, NULL, 3}, "-1"},
                   {{zeros, (const int32_t[]){0, 2, 0}, 3}, "token type 2"},
                   {{zeros, NULL, MAX_TOKENS + 1}, "513"},
                   {{NULL, NULL, 3}, "NULL"}};
    clf_embed_params params = CLF_EMBED_PARAMS_INIT;
    clf_model *model = NULL;
    clf_tensor *hidden = NULL;
    for (size_t i = 0; i < COUNT(refused); i++) {
        params.tokens = &refused[i].tokens;
        CHECK_FAILS(clf_session_embed(fixture.session, NULL, 1, &params, row, NULL), CLF_INVALID_ARGUMENT, refused[i].part);
        CHECK_FAILS(clf_session_encode(fixture.session, &refused[i].tokens, 1, &hidden), CLF_INVALID_ARGUMENT, refused[i].part);
    }
    params.tokens = NULL;
    CHECK_FAILS(clf_session_encode(fixture.session, &(clf_tokens){.ids = zeros, .count = 1}, 0, &hidden), CLF_INVALID_ARGUMENT,
                "0 sequences");
    CHECK_FAILS(clf_session_encode(fixture.session, NULL, 1, &hidden), CLF_INVALID_ARGUMENT, "NULL");
    CHECK_FAILS(clf_session_encode(NULL, &(clf_tokens){.ids = zeros, .count = 1}, 1, &hidden), CLF_INVALID_ARGUMENT, "NULL");
    assert_null(hidden);
    params.max_tokens = 513;
    CHECK_FAILS(clf_session_embed(fixture.session, fixture.texts, 1, &params, row, NULL), CLF_INVALID_ARGUMENT, "513");
    params.max_tokens = 0;
    params.pooling = 9;
    CHECK_FAILS(clf_session_embed(fixture.session, fixture.texts, 1, &params, row, NULL), CLF_INVALID_ARGUMENT, "pooling 9");
    CHECK_FAILS(clf_model_open(fixture.context, "/no/such/model", NULL, &model), CLF_NOT_FOUND, "/no/such/model");
    assert_null(model);
}

/* Whether an engine runs on the device under test and takes every linear layer. */
static bool is_general(const char *engine)
{
    clf_context *context = engine_context(engine);
    const bool is_special = gemm_engine_is_special(context);
    clf_context_destroy(context);
    return !is_special;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_info),
        cmocka_unit_test(test_texts_in_mixed_batches),
        cmocka_unit_test(test_ids_in_groups),
        cmocka_unit_test(test_single_equals_batched),
        cmocka_unit_test(test_encoder_output),
        cmocka_unit_test(test_attention_weights),
        cmocka_unit_test(test_repeated_pass_allocates_and_builds_nothing),
        cmocka_unit_test(test_weights_larger_than_an_allocation),
        cmocka_unit_test(test_bad_arguments),
    };
    if (!getenv("CLF_TEST_EVERY_ENGINE"))
        return cmocka_run_group_tests(tests, setup, teardown);
    int failed = 0;
    size_t index = 0;
    for (const char *const *engine = engines_of(CLF_OP_GEMM); *engine; engine++) {
        if (!is_general(*engine) || !takes_case(index++, only_small_cases()))
            continue;
        setenv("CLF_ENGINE", *engine, 1);
        failed += _cmocka_run_group_tests(*engine, tests, COUNT(tests), setup, teardown);
    }
    return failed;
}
