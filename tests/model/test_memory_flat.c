/* SPDX-License-Identifier: MIT */
/* Device memory from the opening of a model over many calls of mixed sizes: never more than the plan, and no new buffer the second time. */
#include <stdlib.h>
#include <string.h>

#include "clformer/classify.h"
#include "clformer/generate.h"
#include "model/model.h"
#include "model/session.h"
#include "support/check.h"
#include "support/device.h"

enum { MOST_TEXTS = 24, TEXT_TOKENS = 32 /* of a text, with what is generated */, SMALLEST_BLOCK = 1 << 20 /* of an arena */ };
enum { UPLOADS = 1 << 16 /* token ids, and where texts begin */ };

typedef struct work {
    clf_session *session;
    clf_text texts[MOST_TEXTS];
    clf_text_pair pairs[MOST_TEXTS];
    float *rows;
} work;

static clf_status embed(work *w, size_t count)
{
    return clf_session_embed(w->session, w->texts, count, NULL, w->rows, NULL);
}

static clf_status rerank(work *w, size_t count)
{
    return clf_session_score_pairs(w->session, w->pairs, count, NULL, w->rows, NULL);
}

static clf_status classify(work *w, size_t count)
{
    return clf_session_classify(w->session, w->pairs, count, NULL, w->rows, NULL, NULL);
}

static int ignore(void *user, const clf_generated *step)
{
    (void)user;
    (void)step;
    return 0;
}

static clf_status generate(work *w, size_t count)
{
    clf_generate_params params = CLF_GENERATE_PARAMS_INIT;
    params.max_tokens = (int64_t)count % 7 + 1;
    return clf_session_generate(w->session, w->texts, count, &params, ignore, NULL);
}

typedef struct flat_case {
    const char *path;
    clf_status (*run)(work *w, size_t count);
} flat_case;

/* Numbers of texts, in an order in which each seems to need more than the one before, and then less. */
static void run_mixed(work *w, const flat_case *c)
{
    static const size_t counts[] = {1, 3, 2, 8, 5, MOST_TEXTS, 1, 12, 7, MOST_TEXTS - 1, 4};
    for (size_t i = 0; i < COUNT(counts); i++)
        CHECK_OK(c->run(w, counts[i]));
}

/* Padded tiles and tables of positions make these tiny models up to twice as large as their weights. */
static uint64_t held_by(const clf_memory_plan *plan)
{
    return 2 * plan->weight_bytes;
}

/* A cache that grows holds one of its layers twice, of two or more. */
static uint64_t allowed_by(const clf_memory_plan *plan)
{
    const uint64_t scratch = plan->scratch_bytes > SMALLEST_BLOCK ? plan->scratch_bytes : SMALLEST_BLOCK;
    return held_by(plan) + scratch + UPLOADS + plan->cache_bytes * MOST_TEXTS * TEXT_TOKENS * 3 / 2;
}

static void check_flat(clf_context *like, const flat_case *c)
{
    clf_context *context;
    clf_model *model;
    work w = {.session = NULL};
    char letters[2 * MOST_TEXTS + 1];
    CHECK_OK(clf_context_create_shared(like, &context));
    CHECK_OK(clf_model_open(context, c->path, NULL, &model));
    CHECK_OK(clf_session_create(model, context, &w.session));
    const clf_model_info *info = clf_model_get_info(model);
    const int64_t labels = (int64_t)clf_model_label_count(model), width = info->embedding_width > labels ? info->embedding_width : labels;
    assert_non_null(w.rows = calloc(MOST_TEXTS * (size_t)(width > 0 ? width : 1), sizeof *w.rows));
    for (size_t i = 0; i < MOST_TEXTS; i++)
        memcpy(letters + 2 * i, "a ", 3);
    for (size_t i = 0; i < MOST_TEXTS; i++) {
        w.texts[i] = (clf_text){letters, 2 * (i * 7 % 12) + 1};
        w.pairs[i] = (clf_text_pair){w.texts[i], (clf_text){letters, 3}};
    }
    const uint64_t allowed = allowed_by(&model->plan), *peak = &context->stats.peak_device_bytes;
    const uint64_t held = context->stats.device_bytes - context->usage.arena_blocks;
    CHECK(held <= held_by(&model->plan), "%s: %llu bytes held, weights of %llu planned", c->path, (unsigned long long)held,
          (unsigned long long)model->plan.weight_bytes);
    run_mixed(&w, c);
    run_mixed(&w, c); /* the arena becomes one block at the beginning of a call */
    CHECK(*peak <= allowed, "%s: %llu bytes at the peak, %llu planned", c->path, (unsigned long long)*peak, (unsigned long long)allowed);
    const uint64_t bytes = context->stats.device_bytes, made = context->usage.allocations;
    run_mixed(&w, c);
    CHECK(context->stats.device_bytes == bytes && context->usage.allocations == made,
          "%s: %llu bytes, %llu before; %llu buffers, %llu before", c->path, (unsigned long long)context->stats.device_bytes,
          (unsigned long long)bytes, (unsigned long long)context->usage.allocations, (unsigned long long)made);
    free(w.rows);
    clf_session_destroy(w.session);
    clf_model_destroy(model);
    clf_context_destroy(context);
}

static void test_flat(void **state)
{
    static const flat_case cases[] = {{CLF_TEST_DATA "/families/roberta", embed},
                                      {CLF_TEST_DATA "/families/modernbert", embed},
                                      {CLF_TEST_DATA "/classifiers/bert", rerank},
                                      {CLF_TEST_DATA "/classifiers/camembert", classify},
                                      {CLF_TEST_DATA "/translation/marian", generate},
                                      {CLF_TEST_DATA "/translation/t5", generate},
                                      {CLF_TEST_DATA "/generation/llama", generate},
                                      {CLF_TEST_DATA "/generation/llama_blocks/model.gguf", generate}};
    for (size_t i = 0; i < COUNT(cases); i++)
        check_flat(*state, &cases[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_flat)};
    return cmocka_run_group_tests_name("model.memory_flat", tests, device_setup, device_teardown);
}
