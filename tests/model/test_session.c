/* SPDX-License-Identifier: MIT */
/* Sessions: two threads, each with a queue of its own, embed with one copy of a model's weights, and get the numbers that one thread
 * gets. */
#include "clformer/clformer.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/check.h"
#include "support/device.h"

enum { TEXTS = 12, ROUNDS = 3, THREADS = 2 };

static const char *const words[TEXTS] = {"a cat",      "the dog runs", "x",   "one two three four five", "",     "music", "a",
                                         "what is it", "no",           "yes", "red green blue",          "night"};

static clf_text texts[TEXTS];

static clf_model *open_model(clf_context *context)
{
    clf_model *model;
    for (int i = 0; i < TEXTS; i++)
        texts[i] = (clf_text){words[i], strlen(words[i])};
    CHECK_OK(clf_model_open(context, CLF_TEST_DATA "/families/distilbert", &model));
    return model;
}

typedef struct job {
    clf_session *session;
    const float *want;
    size_t count;
    char failure[512];
} job;

static void *embed(void *argument)
{
    job *j = argument;
    float *got = malloc(j->count * sizeof *got);
    clf_embed_params params = CLF_EMBED_PARAMS_INIT;
    params.batch_tokens = 16;
    for (int round = 0; round < ROUNDS && !j->failure[0]; round++) {
        for (size_t i = 0; i < j->count; i++)
            got[i] = NAN;
        if (clf_session_embed(j->session, texts, TEXTS, &params, got, NULL) != CLF_OK)
            snprintf(j->failure, sizeof j->failure, "%s", clf_last_error());
        else if (memcmp(got, j->want, j->count * sizeof *got) != 0) /* the same kernels on the same batches: the same bits */
            snprintf(j->failure, sizeof j->failure, "other numbers than one thread");
    }
    free(got);
    return NULL;
}

static void test_two_threads(void **state)
{
    clf_context *context = *state, *others[THREADS - 1];
    clf_model *model = open_model(context);
    const size_t count = TEXTS * (size_t)clf_model_get_info(model)->width;
    float *want = malloc(count * sizeof *want);
    clf_embed_params params = CLF_EMBED_PARAMS_INIT;
    job jobs[THREADS] = {{.want = want, .count = count}, {.want = want, .count = count}};
    pthread_t threads[THREADS];
    clf_context_stats before, after, other;
    params.batch_tokens = 16;
    for (size_t i = 0; i < count; i++)
        want[i] = NAN;
    CHECK_OK(clf_model_embed(model, texts, TEXTS, &params, want, NULL));
    for (size_t i = 0; i < count; i++)
        CHECK(isfinite(want[i]), "element %zu is %g", i, (double)want[i]);
    clf_context_get_stats(context, &before);
    CHECK_OK(clf_session_create(model, NULL, &jobs[0].session));
    assert_ptr_equal(clf_session_context(jobs[0].session), context);
    CHECK_OK(clf_context_create_shared(context, &others[0]));
    CHECK_OK(clf_session_create(model, others[0], &jobs[1].session));
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, embed, &jobs[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        CHECK(!jobs[i].failure[0], "thread %d: %s", i, jobs[i].failure);
    }
    clf_context_get_stats(context, &after);
    clf_context_get_stats(others[0], &other);
    CHECK(other.kernels_launched > 0 && other.mapped_bytes == 0, "the second context launched %llu kernels and holds %llu bytes of files",
          (unsigned long long)other.kernels_launched, (unsigned long long)other.mapped_bytes);
    CHECK(other.programs_built + other.programs_from_cache == 0, "the second context made %llu programs of its own",
          (unsigned long long)(other.programs_built + other.programs_from_cache));
    assert_int_equal(after.mapped_bytes, before.mapped_bytes);
    clf_session_destroy(jobs[0].session);
    clf_session_destroy(jobs[1].session);
    clf_context_destroy(others[0]);
    clf_model_destroy(model);
    free(want);
}

/* A model that is destroyed first goes with its last session. */
static void test_model_goes_first(void **state)
{
    clf_context *context = *state, *second;
    clf_session *session;
    clf_model *model = open_model(context);
    const int32_t ids[3] = {1, 2, 3}, offsets[2] = {0, 3};
    const size_t width = (size_t)clf_model_get_info(model)->width;
    float *want = malloc(width * sizeof *want), *got = malloc(width * sizeof *got);
    clf_tensor *hidden, *weights;
    CHECK_OK(clf_model_embed_ids(model, ids, NULL, offsets, 1, NULL, want));
    CHECK_OK(clf_context_create_shared(context, &second));
    CHECK_OK(clf_session_create(model, second, &session));
    clf_context_destroy(second);
    clf_model_destroy(model);
    CHECK_OK(clf_session_embed_ids(session, ids, NULL, offsets, 1, NULL, got));
    assert_memory_equal(got, want, width * sizeof *got);
    CHECK_OK(clf_session_encode_ids(session, ids, NULL, offsets, 1, &hidden));
    assert_int_equal(clf_tensor_dim(hidden)[0], 3);
    CHECK_OK(clf_session_attention_ids(session, ids, NULL, 3, 0, &weights));
    assert_int_equal(clf_tensor_dim(weights)[2], 3);
    clf_tensor_destroy(hidden);
    clf_tensor_destroy(weights);
    clf_session_destroy(session);
    free(want);
    free(got);
}

static void test_foreign_context(void **state)
{
    clf_context *other;
    clf_session *session = NULL;
    clf_model *model = open_model(*state);
    CHECK_OK(clf_context_create(NULL, &other));
    CHECK_FAILS(clf_session_create(model, other, &session), CLF_INVALID_ARGUMENT, "clf_context_create_shared");
    assert_null(session);
    clf_context_destroy(other);
    clf_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_threads),
        cmocka_unit_test(test_model_goes_first),
        cmocka_unit_test(test_foreign_context),
    };
    return cmocka_run_group_tests_name("model.session", tests, device_setup, device_teardown);
}
