/* SPDX-License-Identifier: MIT */
/* The kernels that pack weights, and those of a first pass, are counted before the first of them is compiled, and the pass gives the same
 * numbers as without compiling. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clformer/generate.h"
#include "clformer/model.h"
#include "clformer/pronounce.h"
#include "runtime/context.h"
#include "support/check.h"
#include "support/device.h"
#include "support/temp.h"

#define FAMILIES CLF_TEST_DATA "/families/"

enum { WIDTH_MOST = 64 };

/* Arguments of on_build: programs built before, programs expected. */
typedef struct watched {
    clf_context *context;
    uint64_t calls_before, expected, rehearsals; /* rehearsals: how often the number expected changed: of packing, if
                                                    weights are packed, and of the passes */
    uint64_t probes;                             /* built between the two: a probe's kernel is wanted while the passes are rehearsed */
} watched;

static void on_build(void *user)
{
    watched *w = user;
    const uint64_t built = w->context->stats.programs_built, expected = w->context->builds_expected;
    if (expected == 0) {
        w->calls_before++; /* weights of the built-in model are packed, or a probe's kernel is built, before the first rehearsal */
        return;
    }
    if (w->expected > 0 && built == expected) {
        w->probes++;
        return;
    }
    w->rehearsals += expected != w->expected;
    w->expected = expected;
    CHECK(built < expected, "program %llu of %llu", (unsigned long long)built + 1, (unsigned long long)expected);
}

static void embed(const char *family, const char *cache, float *out, size_t *width, watched *w, clf_context_stats *stats)
{
    char path[TEMP_PATH_BYTES];
    clf_context_params params = CLF_CONTEXT_PARAMS_INIT;
    clf_context *context;
    clf_model *model;
    clf_session *session;
    const clf_text texts[] = {{"the cat sat", 11}, {"a", 1}};
    params.cache_dir = cache;
    snprintf(path, sizeof path, FAMILIES "%s", family);
    CHECK_OK(clf_context_create(&params, &context));
    *w = (watched){.context = context};
    context->on_build = on_build;
    context->on_build_user = w;
    CHECK_OK(clf_model_open(context, path, NULL, &model));
    *width = (size_t)clf_model_get_info(model)->width;
    CHECK_OK(clf_session_create(model, NULL, &session));
    CHECK_OK(clf_session_embed(session, texts, COUNT(texts), NULL, out, NULL));
    clf_context_get_stats(context, stats);
    clf_session_destroy(session);
    clf_model_destroy(model);
    clf_context_destroy(context);
}

static void check_family(const char *family)
{
    char root[TEMP_PATH_BYTES], cache[TEMP_PATH_BYTES];
    float cold[2 * WIDTH_MOST], warm[2 * WIDTH_MOST];
    size_t width;
    watched w;
    clf_context_stats stats;
    temp_directory_make(root);
    temp_path(root, "cache", cache);
    embed(family, cache, cold, &width, &w, &stats);
    CHECK(width <= WIDTH_MOST, "%zu", width);
    CHECK(w.calls_before + w.probes <= 1 && w.rehearsals >= 1 && w.rehearsals <= 2 && w.expected == stats.programs_built,
          "%s: %llu programs expected, %llu built", family, (unsigned long long)w.expected, (unsigned long long)stats.programs_built);
    embed(family, cache, warm, &width, &w, &stats);
    CHECK(stats.programs_built == 0 && w.rehearsals == 0, "%s: %llu programs expected with a cache, %llu built", family,
          (unsigned long long)w.expected, (unsigned long long)stats.programs_built);
    CHECK(memcmp(cold, warm, 2 * width * sizeof *cold) == 0, "%s: other embeddings", family);
    temp_directory_remove(root);
}

static void test_kernels_are_counted_first(void **state)
{
    (void)state;
    check_family("distilbert");
    check_family("modernbert");
}

/* One piece of decoding in an empty cache. */
typedef enum decoding { GENERATE, LOGITS, PERPLEXITY, PRONOUNCE } decoding;

static clf_status run_model(clf_context *context, decoding what, const char *directory)
{
    static const clf_text text = {"the cat sat on the mat", 22};
    static float logits[1 << 16];
    clf_generate_params params = CLF_GENERATE_PARAMS_INIT;
    clf_model *model;
    clf_session *session;
    double perplexity;
    size_t tokens;
    params.max_tokens = 4;
    CHECK_OK(clf_model_open(context, directory, NULL, &model));
    CHECK_OK(clf_session_create(model, NULL, &session));
    CHECK((size_t)clf_model_get_info(model)->vocabulary <= COUNT(logits), "%d", (int)clf_model_get_info(model)->vocabulary);
    const clf_status st = what == GENERATE ? clf_session_generate(session, &text, 1, &params, NULL, NULL)
                          : what == LOGITS ? clf_session_logits(session, &text, 1, &params, logits)
                                           : clf_session_perplexity(session, &text, 64, &params, &perplexity, &tokens);
    clf_session_destroy(session);
    clf_model_destroy(model);
    return st;
}

static clf_status run_pronouncer(clf_context *context)
{
    static const clf_text word = {"hello", 5};
    clf_pronounce_params params = CLF_PRONOUNCE_PARAMS_INIT;
    clf_pronouncer *pronouncer;
    clf_pronunciations *found;
    params.beam = 1; /* of more, hypotheses end one by one, and fewer may need other kernels */
    CHECK_OK(clf_pronouncer_open(context, NULL, &pronouncer));
    const clf_status st = clf_pronounce(pronouncer, &word, 1, &params, &found);
    if (st == CLF_OK)
        clf_pronunciations_destroy(found);
    clf_pronouncer_destroy(pronouncer);
    return st;
}

static void check_decoding(decoding what, const char *directory)
{
    char root[TEMP_PATH_BYTES], cache[TEMP_PATH_BYTES];
    clf_context_params params = CLF_CONTEXT_PARAMS_INIT;
    clf_context *context;
    clf_context_stats stats;
    temp_directory_make(root);
    temp_path(root, "cache", cache);
    params.cache_dir = cache;
    CHECK_OK(clf_context_create(&params, &context));
    watched w = {.context = context};
    context->on_build = on_build;
    context->on_build_user = &w;
    CHECK_OK(what == PRONOUNCE ? run_pronouncer(context) : run_model(context, what, directory));
    clf_context_get_stats(context, &stats);
    CHECK(w.expected > w.calls_before && w.rehearsals <= 2 && w.probes <= 1 && w.expected == stats.programs_built,
          "%d of %s: %llu programs expected, %llu built", (int)what, directory, (unsigned long long)w.expected,
          (unsigned long long)stats.programs_built);
    clf_context_destroy(context);
    temp_directory_remove(root);
}

static void test_kernels_of_decoding_are_counted_first(void **state)
{
    (void)state;
    check_decoding(GENERATE, CLF_TEST_DATA "/generation/llama");
    check_decoding(GENERATE, CLF_TEST_DATA "/translation/t5");
    check_decoding(LOGITS, CLF_TEST_DATA "/generation/llama");
    check_decoding(LOGITS, CLF_TEST_DATA "/translation/marian");
    check_decoding(PERPLEXITY, CLF_TEST_DATA "/generation/qwen3");
    check_decoding(PRONOUNCE, "the built-in model");
}

/* Memory that is given out next is NaN as floats. */
static void spoil_heap(void)
{
    enum { STEP = 16, SIZES = 1024, EACH = 7 };
    static void *blocks[SIZES * EACH];
    for (size_t i = 0; i < SIZES * EACH; i++) {
        const size_t bytes = (i / EACH + 1) * STEP;
        blocks[i] = malloc(bytes);
        assert_non_null(blocks[i]);
        memset(blocks[i], 0xff, bytes);
    }
    for (size_t i = 0; i < SIZES * EACH; i++)
        free(blocks[i]);
}

/* Nothing is computed in a rehearsal: what it would have read is not looked at. */
static void test_numbers_of_a_rehearsal_do_not_count(void **state)
{
    enum { WORDS = 24 };
    clf_text words[WORDS];
    for (size_t i = 0; i < WORDS; i++)
        words[i] = (clf_text){"hello", 5};
    for (int beam = 1; beam <= 4; beam += 3) {
        clf_pronounce_params params = CLF_PRONOUNCE_PARAMS_INIT;
        clf_pronouncer *pronouncer;
        clf_pronunciations *found;
        params.beam = beam;
        CHECK_OK(clf_pronouncer_open(*state, NULL, &pronouncer));
        spoil_heap();
        CHECK_OK(clf_pronounce(pronouncer, words, WORDS, &params, &found));
        clf_pronunciations_destroy(found);
        clf_pronouncer_destroy(pronouncer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_of_a_rehearsal_do_not_count),
        cmocka_unit_test(test_kernels_are_counted_first),
        cmocka_unit_test(test_kernels_of_decoding_are_counted_first),
    };
    return cmocka_run_group_tests(tests, device_setup_cached, device_teardown);
}
