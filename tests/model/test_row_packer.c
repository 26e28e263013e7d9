/* SPDX-License-Identifier: MIT */
/* Token ids in place of texts, calls that are cancelled, and a packer that is fed while it works. */
#include "model/row_packer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clformer/clformer.h"
#include "support/check.h"
#include "support/device.h"

enum { TEXTS = 7, WIDTH_MOST = 64, LABELS_MOST = 8 };

static const char *const words[TEXTS] = {"a cat", "the dog runs and runs and runs", "x", "one two three four five", "", "music", "a"};

static clf_text text_of(size_t i)
{
    return (clf_text){words[i], strlen(words[i])};
}

/* Tokens of a text or, with a pair, of both, as the library makes them. */
static clf_tokens encode(const clf_model *model, const clf_tokenizer *tokenizer, size_t i, bool is_pair, clf_encoding **out)
{
    const clf_text text = text_of(i), pair = text_of(TEXTS - 1 - i);
    clf_encode_params params = CLF_ENCODE_PARAMS_INIT;
    params.max_tokens = (size_t)clf_model_get_info(model)->max_tokens;
    CHECK_OK(clf_encoding_create(out));
    CHECK_OK(clf_tokenizer_encode(tokenizer, &text, is_pair ? &pair : NULL, &params, *out));
    return (clf_tokens){(*out)->ids, is_pair ? (*out)->type_ids : NULL, (*out)->length};
}

static int stop(void *user, size_t done, size_t total)
{
    ++*(size_t *)user;
    assert_true(done <= total && total == TEXTS);
    return 1;
}

static void test_embed(void **state)
{
    static const char directory[] = CLF_TEST_DATA "/families/distilbert";
    static const int32_t far[] = {1, 2, 30000}, many[5000] = {0};
    static float want[TEXTS * WIDTH_MOST], got[TEXTS * WIDTH_MOST];
    clf_embed_params params = CLF_EMBED_PARAMS_INIT;
    clf_encoding *encodings[TEXTS];
    clf_tokens tokens[TEXTS];
    clf_text texts[TEXTS];
    clf_tokenizer *tokenizer;
    clf_model *model;
    clf_session *session;
    size_t failed = 0, told = 0;
    CHECK_OK(clf_model_open(*state, directory, NULL, &model));
    CHECK_OK(clf_session_create(model, NULL, &session));
    CHECK_OK(clf_tokenizer_open(directory, &tokenizer));
    const size_t width = (size_t)clf_model_get_info(model)->width;
    assert_true(width <= WIDTH_MOST);
    for (size_t i = 0; i < TEXTS; i++) {
        texts[i] = text_of(i);
        tokens[i] = encode(model, tokenizer, i, false, &encodings[i]);
    }
    params.batch_tokens = 12;
    CHECK_OK(clf_session_embed(session, texts, TEXTS, &params, want, NULL));
    params.tokens = tokens;
    CHECK_OK(clf_session_embed(session, NULL, TEXTS, &params, got, NULL));
    assert_memory_equal(got, want, TEXTS * width * sizeof *got);
    tokens[3] = (clf_tokens){far, NULL, 3};
    CHECK_FAILS(clf_session_embed(session, NULL, TEXTS, &params, got, NULL), CLF_INVALID_ARGUMENT, "texts[3]: token 30000 at 2 is outside");
    tokens[3] = (clf_tokens){many, NULL, COUNT(many)};
    params.failed_text = &failed;
    CHECK_FAILS(clf_session_embed(session, NULL, TEXTS, &params, got, NULL), CLF_INVALID_ARGUMENT, "5000 tokens: expected at most");
    assert_int_equal(failed, 3);
    tokens[3] = (clf_tokens){far, far, 1};
    CHECK_FAILS(clf_session_embed(session, NULL, TEXTS, &params, got, NULL), CLF_INVALID_ARGUMENT, "token type 1 at 0 is outside 0..0");
    tokens[3] = (clf_tokens){NULL, NULL, 1};
    CHECK_FAILS(clf_session_embed(session, NULL, TEXTS, &params, got, NULL), CLF_INVALID_ARGUMENT, "token ids are NULL");
    params.prompt = "a";
    CHECK_FAILS(clf_session_embed(session, NULL, TEXTS, &params, got, NULL), CLF_INVALID_ARGUMENT,
                "a prompt and tokens exclude each other");
    params.tokens = NULL;
    params.prompt = NULL;
    params.progress = stop;
    params.progress_user = &told;
    CHECK_FAILS(clf_session_embed(session, texts, TEXTS, &params, got, NULL), CLF_CANCELLED, "embed: cancelled after 1 of 7 texts");
    assert_true(told == 1 && failed == TEXTS);
    params.batch_tokens = 0; /* one pass: nothing is left to cancel */
    CHECK_OK(clf_session_embed(session, texts, TEXTS, &params, got, NULL));
    for (size_t i = 0; i < TEXTS; i++)
        clf_encoding_destroy(encodings[i]);
    clf_tokenizer_destroy(tokenizer);
    clf_session_destroy(session);
    clf_model_destroy(model);
}

static void test_classify(void **state)
{
    static const char directory[] = CLF_TEST_DATA "/classifiers/bert";
    float want[TEXTS * LABELS_MOST], got[TEXTS * LABELS_MOST];
    clf_classify_params params = CLF_CLASSIFY_PARAMS_INIT;
    clf_encoding *encodings[TEXTS];
    clf_tokens tokens[TEXTS];
    clf_text_pair pairs[TEXTS];
    clf_tokenizer *tokenizer;
    clf_model *model;
    clf_session *session;
    size_t told = 0;
    CHECK_OK(clf_model_open(*state, directory, NULL, &model));
    CHECK_OK(clf_session_create(model, NULL, &session));
    CHECK_OK(clf_tokenizer_open(directory, &tokenizer));
    const size_t labels = clf_model_label_count(model);
    assert_true(labels > 0 && labels <= LABELS_MOST);
    for (size_t i = 0; i < TEXTS; i++) {
        pairs[i] = (clf_text_pair){text_of(i), text_of(TEXTS - 1 - i)};
        tokens[i] = encode(model, tokenizer, i, true, &encodings[i]);
    }
    params.batch_tokens = 16;
    CHECK_OK(clf_session_classify(session, pairs, TEXTS, &params, want, NULL, NULL));
    params.tokens = tokens;
    CHECK_OK(clf_session_classify(session, NULL, TEXTS, &params, got, NULL, NULL));
    assert_memory_equal(got, want, TEXTS * labels * sizeof *got);
    params.progress = stop;
    params.progress_user = &told;
    CHECK_FAILS(clf_session_classify(session, NULL, TEXTS, &params, got, NULL, NULL), CLF_CANCELLED, "classify: cancelled after");
    for (size_t i = 0; i < TEXTS; i++)
        clf_encoding_destroy(encodings[i]);
    clf_tokenizer_destroy(tokenizer);
    clf_session_destroy(session);
    clf_model_destroy(model);
}

/* Rows as they come: the third one brings a text along, a supply two more. */
typedef struct feed {
    clf_row_packer *packer;
    size_t order[2 * TEXTS], count; /* tags as they came */
    size_t supplied, width;
    float rows[TEXTS][WIDTH_MOST];
} feed;

static clf_status add(clf_row_packer *packer, size_t i)
{
    const clf_text text = text_of(i);
    return clfi_row_packer_add(packer, &(clf_row_item){.tag = i, .texts = &text, .parts = 1});
}

static clf_status take(void *user, size_t tag, const float *row, clf_status status)
{
    feed *f = user;
    assert_int_equal(status, CLF_OK);
    memcpy(f->rows[tag], row, f->width * sizeof *row);
    f->order[f->count++] = tag;
    return f->count == 3 ? add(f->packer, 4) : CLF_OK;
}

static clf_status supply(void *user, clf_row_packer *packer)
{
    feed *f = user;
    for (; f->supplied < 2; f->supplied++)
        CLF_TRY(add(packer, 5 + f->supplied));
    return CLF_OK;
}

static void test_feeding(void **state)
{
    static const size_t want[] = {1, 3, 0, 4, 5, 6}; /* the longest of a round first; 2 is dropped */
    static const clf_text broken = {NULL, 1};
    feed f = {.count = 0};
    clf_embed_params params = CLF_EMBED_PARAMS_INIT;
    clf_model *model;
    clf_session *session;
    CHECK_OK(clf_model_open(*state, CLF_TEST_DATA "/families/distilbert", NULL, &model));
    CHECK_OK(clf_session_create(model, NULL, &session));
    f.width = (size_t)clf_model_get_info(model)->width;
    params.batch_tokens = 1; /* a text is a pass */
    const clf_row_packer_params feeding = {.sink = take, .supply = supply, .user = &f};
    CHECK_OK(clfi_embed_packer(session, &params, &feeding, &f.packer));
    for (size_t i = 0; i < 4; i++)
        CHECK_OK(add(f.packer, i));
    CHECK_FAILS(clfi_row_packer_add(f.packer, &(clf_row_item){.texts = &broken, .parts = 1}), CLF_INVALID_ARGUMENT, "data is NULL");
    assert_int_equal(clfi_row_packer_load(f.packer), 4);
    CHECK_OK(clfi_row_packer_step(f.packer));
    clfi_row_packer_drop(f.packer, 2);
    clfi_row_packer_drop(f.packer, 2);
    assert_int_equal(clfi_row_packer_load(f.packer), 2);
    for (size_t i = 0; f.count < COUNT(want); i++) {
        CHECK_OK(clfi_row_packer_step(f.packer));
        assert_true(i < 20);
    }
    assert_int_equal(clfi_row_packer_load(f.packer), 0);
    CHECK_OK(clfi_row_packer_step(f.packer)); /* there is nothing to do */
    assert_memory_equal(f.order, want, sizeof want);
    const clf_embed_stats stats = clfi_row_packer_stats(f.packer);
    assert_true(stats.texts == 7 && stats.batches == COUNT(want));
    for (size_t i = 0; i < COUNT(want); i++) {
        float alone[WIDTH_MOST];
        const clf_text text = text_of(want[i]);
        CHECK_OK(clf_session_embed(session, &text, 1, NULL, alone, NULL));
        assert_memory_equal(f.rows[want[i]], alone, f.width * sizeof *alone); /* the same passes */
    }
    CHECK_OK(add(f.packer, 0)); /* leaves without a row */
    clfi_row_packer_destroy(f.packer);
    assert_int_equal(f.count, COUNT(want));
    clf_session_destroy(session);
    clf_model_destroy(model);
}

/* Two texts wait: a round of one token takes the first, although the second is longer. */
static void test_rounds(void **state)
{
    static const size_t want[] = {2, 1};
    feed f = {.supplied = 2};
    clf_classify_params params = CLF_CLASSIFY_PARAMS_INIT;
    clf_model *model;
    clf_session *session;
    CHECK_OK(clf_model_open(*state, CLF_TEST_DATA "/classifiers/bert", NULL, &model));
    CHECK_OK(clf_session_create(model, NULL, &session));
    f.width = clf_model_label_count(model);
    const clf_row_packer_params feeding = {.sink = take, .user = &f, .round_tokens = 1};
    CHECK_OK(clfi_classify_packer(session, &params, false, &feeding, &f.packer));
    CHECK_OK(add(f.packer, 2));
    CHECK_OK(add(f.packer, 1));
    while (clfi_row_packer_load(f.packer) > 0)
        CHECK_OK(clfi_row_packer_step(f.packer));
    assert_memory_equal(f.order, want, sizeof want);
    clfi_row_packer_destroy(f.packer);
    if (f.width > 1)
        CHECK_FAILS(clfi_classify_packer(session, &params, true, &feeding, &f.packer), CLF_UNSUPPORTED, "expected 1");
    CHECK_FAILS(clfi_embed_packer(session, &(clf_embed_params){.size = sizeof(clf_embed_params), .pooling = 77}, &feeding, &f.packer),
                CLF_INVALID_ARGUMENT, "pooling 77");
    clf_session_destroy(session);
    clf_model_destroy(model);
}

/* Logits of all texts in one pass, then of the first text. Returns the launches of the last pass. */
static uint64_t classify(clf_context *context, const clf_model *model, clf_session *session, float *all, float *first)
{
    clf_text_pair pairs[TEXTS];
    for (size_t i = 0; i < TEXTS; i++)
        pairs[i] = (clf_text_pair){text_of(i), text_of(TEXTS - 1 - i)};
    assert_true(clf_model_label_count(model) <= LABELS_MOST);
    CHECK_OK(clf_session_classify(session, pairs, TEXTS, NULL, all, NULL, NULL));
    CHECK_OK(clf_session_classify(session, pairs, 1, NULL, first, NULL, NULL)); /* asks where buffers lie */
    const uint64_t before = device_launches(context);
    CHECK_OK(clf_session_classify(session, pairs, 1, NULL, first, NULL, NULL));
    return device_launches(context) - before;
}

/* Passes as launch graphs give the same bits as single launches. */
static void test_graphs(void **state)
{
    static const char *const names[] = {"bert", "modernbert", "mpnet"};
    clf_context *context = *state;
    const clf_graph_use kept = context->graphs;
    for (size_t i = 0; i < COUNT(names); i++) {
        char path[256];
        float want[2][TEXTS * LABELS_MOST] = {{0}}, got[2][TEXTS * LABELS_MOST] = {{0}};
        clf_model *model;
        clf_session *session[2];
        snprintf(path, sizeof path, CLF_TEST_DATA "/classifiers/%s", names[i]);
        CHECK_OK(clf_model_open(context, path, NULL, &model));
        for (int k = 0; k < 2; k++)
            CHECK_OK(clf_session_create(model, NULL, &session[k]));
        context->graphs = CLFI_GRAPHS_NEVER;
        const uint64_t single = classify(context, model, session[0], want[0], want[1]);
        context->graphs = CLFI_GRAPHS_ALWAYS;
        const uint64_t graph = classify(context, model, session[1], got[0], got[1]);
        CHECK(memcmp(got, want, sizeof want) == 0, "%s: a launch graph gives other logits", names[i]);
        if (context->device.caps.is_cpu && context->device.caps.graph_groups)
            CHECK(graph == 1, "%s: %llu launches, expected 1 instead of %llu", names[i], (unsigned long long)graph,
                  (unsigned long long)single);
        for (int k = 0; k < 2; k++)
            clf_session_destroy(session[k]);
        clf_model_destroy(model);
    }
    context->graphs = kept;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_embed), cmocka_unit_test(test_classify), cmocka_unit_test(test_feeding),
                                       cmocka_unit_test(test_rounds), cmocka_unit_test(test_graphs)};
    return cmocka_run_group_tests_name("model.row_packer", tests, device_setup, device_teardown);
}
