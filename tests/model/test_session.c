/* SPDX-License-Identifier: MIT */
/* Sessions: two threads, each with a queue of its own, embed with one copy of a model's weights, and get the numbers that one thread gets.
 * Also tests that a model opened without its weights is described as the model with them. */
#include "clformer/clformer.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/model.h"
#include "op/left_out.h"
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
    CHECK_OK(clf_model_open(context, CLF_TEST_DATA "/families/distilbert", NULL, &model));
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
    CHECK_OK(clf_session_create(model, NULL, &jobs[0].session));
    CHECK_OK(clf_session_embed(jobs[0].session, texts, TEXTS, &params, want, NULL));
    for (size_t i = 0; i < count; i++)
        CHECK(isfinite(want[i]), "element %zu is %g", i, (double)want[i]);
    clf_context_get_stats(context, &before);
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

/* A model and a session that are destroyed before the last session. */
static void test_model_goes_first(void **state)
{
    clf_context *context = *state, *second;
    clf_session *first, *session;
    clf_model *model = open_model(context);
    const clf_tokens tokens = {.ids = (const int32_t[]){1, 2, 3}, .count = 3};
    clf_embed_params params = CLF_EMBED_PARAMS_INIT;
    const size_t width = (size_t)clf_model_get_info(model)->width;
    float *want = malloc(width * sizeof *want), *got = malloc(width * sizeof *got);
    clf_tensor *hidden, *weights;
    params.tokens = &tokens;
    CHECK_OK(clf_session_create(model, NULL, &first));
    CHECK_OK(clf_session_embed(first, NULL, 1, &params, want, NULL));
    CHECK_OK(clf_context_create_shared(context, &second));
    CHECK_OK(clf_session_create(model, second, &session));
    clf_context_destroy(second);
    clf_model_destroy(model);
    clf_session_destroy(first);
    CHECK_OK(clf_session_embed(session, NULL, 1, &params, got, NULL));
    assert_memory_equal(got, want, width * sizeof *got);
    CHECK_OK(clf_session_encode(session, &tokens, 1, &hidden));
    assert_int_equal(clf_tensor_dim(hidden)[0], 3);
    CHECK_OK(clf_session_attention(session, &tokens, 0, &weights));
    assert_int_equal(clf_tensor_dim(weights)[2], 3);
    clf_tensor_destroy(hidden);
    clf_tensor_destroy(weights);
    clf_session_destroy(session);
    free(want);
    free(got);
}

/* The engine of a model's weights is left out. Another engine may read them as they are. Nobody but `packed` reads its panels: there the
 * session loads the weights again, in place, for another engine, but not while a session with another context may be reading them. */
static void test_reload(void **state)
{
    clf_context_params params = CLF_CONTEXT_PARAMS_INIT;
    clf_embed_params embedding = CLF_EMBED_PARAMS_INIT;
    clf_context *context, *second;
    clf_session *session, *other;
    (void)state;
    params.cache_dir = ""; /* where nothing is remembered for other programs */
    CHECK_OK(clf_context_create(&params, &context));
    CHECK_OK(clf_context_create_shared(context, &second));
    clf_model *model = open_model(context);
    const size_t count = TEXTS * (size_t)clf_model_get_info(model)->width;
    float *want = malloc(count * sizeof *want), *got = malloc(count * sizeof *got);
    const clf_engine *engine = clfi_engine_find(CLF_OP_GEMM, clf_model_get_info(model)->linear_engine);
    assert_non_null(engine);
    const bool is_loaded_again = strcmp(engine->name, "packed") == 0;
    CHECK_OK(clf_session_create(model, NULL, &session));
    CHECK_OK(clf_session_embed(session, texts, TEXTS, &embedding, want, NULL));
    context->unbuilt |= clfi_engine_bit(engine);
    CHECK_OK(clf_session_create(model, second, &other));
    if (is_loaded_again)
        CHECK_FAILS(clf_session_embed(session, texts, TEXTS, &embedding, got, NULL), CLF_UNSUPPORTED, "open the model again");
    clf_session_destroy(other);
    CHECK_OK(clf_session_embed(session, texts, TEXTS, &embedding, got, NULL));
    for (size_t i = 0; i < count; i++)
        CHECK(within((double)got[i], (double)want[i], 1e-5), "element %zu is %.9g, %.9g before", i, (double)got[i], (double)want[i]);
    CHECK(strcmp(clf_model_get_info(model)->linear_engine, engine->name) != 0 || !is_loaded_again, "still %s", engine->name);
    free(want);
    free(got);
    clf_session_destroy(session);
    clf_model_destroy(model);
    clf_context_destroy(second);
    clf_context_destroy(context);
}

/* A model without its weights is described as the model with them. */
static void test_described(void **state)
{
    static const char *const directories[] = {CLF_TEST_DATA "/families/distilbert", CLF_TEST_DATA "/sentence/embeddinggemma",
                                              CLF_TEST_DATA "/sentence/qwen3", CLF_TEST_DATA "/classifiers/bert"};
    for (size_t i = 0; i < sizeof directories / sizeof directories[0]; i++) {
        clf_context *context;
        clf_context_stats stats;
        clf_model *model, *described;
        size_t width, want;
        clf_session *session = NULL;
        CHECK_OK(clf_context_create(NULL, &context));
        CHECK_OK(clfi_model_describe(context, directories[i], NULL, &described));
        clf_context_get_stats(context, &stats);
        CHECK(stats.peak_device_bytes == 0 && stats.mapped_bytes == 0 && stats.upload_bytes == 0,
              "%s: %llu bytes on the device, %llu in place", directories[i], (unsigned long long)stats.peak_device_bytes,
              (unsigned long long)stats.mapped_bytes);
        CHECK_OK(clf_model_open(*state, directories[i], NULL, &model));
        clf_model_info told = *clf_model_get_info(described), all = *clf_model_get_info(model);
        CHECK(!told.linear_engine && all.linear_engine && told.parameters == 0 && told.file_bytes == 0, "%s: an engine or sizes",
              directories[i]);
        CHECK(strcmp(told.architecture, all.architecture) == 0 && told.width == all.width && told.layers == all.layers &&
                  told.embedding_width == all.embedding_width && told.layers_after == all.layers_after && told.pooling == all.pooling &&
                  told.normalize == all.normalize && told.max_tokens == all.max_tokens && told.vocabulary == all.vocabulary,
              "%s: other facts than with weights", directories[i]);
        CHECK_OK(clf_model_embedding_width(model, NULL, &want));
        CHECK_OK(clf_model_embedding_width(described, NULL, &width));
        assert_int_equal(width, want);
        assert_int_equal(clf_model_label_count(described), clf_model_label_count(model));
        assert_int_equal(clf_model_prompt_count(described), clf_model_prompt_count(model));
        CHECK_FAILS(clf_session_create(described, NULL, &session), CLF_INVALID_ARGUMENT, "without its weights");
        clf_model_destroy(model);
        clf_model_destroy(described);
        clf_context_destroy(context);
    }
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

/* A pronouncer and a transformer in each of two threads, on one copy of the weights. */
enum { SOURCE = 5, TARGET = 4, WIDTH = 32, VOCABULARY = 13 };

typedef struct decoder_job {
    clf_context *context;
    clf_pronouncer *pronouncer;
    clf_transformer *transformer;
    char phonemes[256];
    float features[TARGET * WIDTH];
    char failure[512];
} decoder_job;

static clf_status pronounce(decoder_job *j)
{
    const clf_text spoken[2] = {{"transformer", 11}, {"hello", 5}};
    clf_pronounce_params params = CLF_PRONOUNCE_PARAMS_INIT;
    clf_pronunciations *list;
    params.beam = 3;
    const clf_status st = clf_pronounce(j->pronouncer, spoken, 2, &params, &list);
    if (st != CLF_OK)
        return st;
    snprintf(j->phonemes, sizeof j->phonemes, "%s %s %.9g", clf_pronunciations_get(list, 0, 0)->phonemes,
             clf_pronunciations_get(list, 1, 0)->phonemes, (double)clf_pronunciations_get(list, 1, 0)->score);
    clf_pronunciations_destroy(list);
    return CLF_OK;
}

static clf_status transform(decoder_job *j)
{
    static const int32_t source[SOURCE] = {3, 12, 0, 7, 7}, target[TARGET] = {1, 4, 4, 9};
    clf_tensor *s = NULL, *t = NULL, *y = NULL;
    clf_status st = clf_tensor_create(j->context, CLF_I32, 2, (int64_t[]){1, SOURCE}, &s);
    for (int i = 0; i < TARGET * WIDTH; i++)
        j->features[i] = NAN;
    if (st == CLF_OK)
        st = clf_tensor_create(j->context, CLF_I32, 2, (int64_t[]){1, TARGET}, &t);
    if (st == CLF_OK)
        st = clf_tensor_create(j->context, CLF_F32, 3, (int64_t[]){1, TARGET, WIDTH}, &y);
    if (st == CLF_OK)
        st = clf_tensor_write(s, source, sizeof source);
    if (st == CLF_OK)
        st = clf_tensor_write(t, target, sizeof target);
    if (st == CLF_OK)
        st = clf_transformer_forward(j->transformer, CLF_LAYOUT_NLD, s, t, NULL, NULL, NULL, y);
    if (st == CLF_OK)
        st = clf_tensor_read(y, j->features, sizeof j->features);
    clf_tensor_destroy(s);
    clf_tensor_destroy(t);
    clf_tensor_destroy(y);
    return st;
}

static void *decode(void *argument)
{
    decoder_job *j = argument;
    for (int round = 0; round < ROUNDS && !j->failure[0]; round++)
        if (pronounce(j) != CLF_OK || transform(j) != CLF_OK)
            snprintf(j->failure, sizeof j->failure, "%s", clf_last_error());
    return NULL;
}

static void test_decoders_in_two_threads(void **state)
{
    clf_context *context = *state, *second, *foreign;
    clf_transformer_config config = CLF_TRANSFORMER_CONFIG_INIT;
    config.width = WIDTH;
    config.hidden_width = 48;
    config.heads = 2;
    config.encoder_layers = config.decoder_layers = 1;
    config.source_vocabulary = config.target_vocabulary = VOCABULARY;
    config.max_source = config.max_target = 8;
    decoder_job want = {.context = context}, jobs[THREADS] = {{.context = context}};
    pthread_t threads[THREADS];
    clf_pronouncer *refused = NULL;
    clf_transformer *none = NULL;
    CHECK_OK(clf_pronouncer_open(context, NULL, &want.pronouncer));
    CHECK_OK(clf_transformer_create_random(context, &config, 7, &want.transformer));
    CHECK_OK(clf_context_create(NULL, &foreign));
    CHECK_FAILS(clf_pronouncer_create_shared(want.pronouncer, foreign, &refused), CLF_INVALID_ARGUMENT, "clf_context_create_shared");
    CHECK_FAILS(clf_transformer_create_shared(want.transformer, foreign, &none), CLF_INVALID_ARGUMENT, "clf_context_create_shared");
    clf_context_destroy(foreign);
    CHECK_OK(pronounce(&want));
    CHECK_OK(transform(&want));
    CHECK_OK(clf_context_create_shared(context, &second));
    jobs[1].context = second;
    for (int i = 0; i < THREADS; i++) {
        CHECK_OK(clf_pronouncer_create_shared(want.pronouncer, jobs[i].context, &jobs[i].pronouncer));
        CHECK_OK(clf_transformer_create_shared(want.transformer, jobs[i].context, &jobs[i].transformer));
    }
    clf_pronouncer_destroy(want.pronouncer); /* the weights go with the last that uses them */
    clf_transformer_destroy(want.transformer);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, decode, &jobs[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        CHECK(!jobs[i].failure[0], "thread %d: %s", i, jobs[i].failure);
        assert_string_equal(jobs[i].phonemes, want.phonemes);
        assert_memory_equal(jobs[i].features, want.features, sizeof want.features);
    }
    for (int i = 0; i < THREADS; i++) {
        clf_pronouncer_destroy(jobs[i].pronouncer);
        clf_transformer_destroy(jobs[i].transformer);
    }
    clf_context_destroy(second);
}

/* A session of a language model and the tokens that it makes. */
typedef struct writer {
    clf_model *model;
    clf_context *context;
    int32_t ids[8];
    size_t count;
    char failure[512];
} writer;

static int take_token(void *user, const clf_generated *step)
{
    writer *w = user;
    if (w->count < COUNT(w->ids))
        w->ids[w->count++] = step->token;
    return 0;
}

static void *write_text(void *argument)
{
    writer *w = argument;
    clf_session *session = NULL;
    clf_generate_params params = CLF_GENERATE_PARAMS_INIT;
    params.max_tokens = 5;
    clf_status st = clf_session_create(w->model, w->context, &session);
    if (st == CLF_OK)
        st = clf_session_generate(session, &(clf_text){"the cat sat on", 14}, 1, &params, take_token, w);
    if (st != CLF_OK)
        snprintf(w->failure, sizeof w->failure, "%s", clf_last_error());
    clf_session_destroy(session);
    return NULL;
}

/* Eight sessions of one language model, made and destroyed by their threads again and again, write the same tokens: PoCL 3.1 ends the
 * process where launches of several queues meet (runtime/queue_order.h). CLF_TEST_ROUNDS: how often; 20. */
static void test_eight_write(void **state)
{
    enum { WRITERS = 8 };
    clf_context *context = *state;
    const char *const given = getenv("CLF_TEST_ROUNDS");
    const int rounds = given ? atoi(given) : 20;
    writer first = {.context = context}, writers[WRITERS];
    pthread_t threads[WRITERS];
    CHECK_OK(clf_model_open(context, CLF_TEST_DATA "/generation/llama", NULL, &first.model));
    write_text(&first);
    CHECK(!first.failure[0] && first.count >= 5, "%zu tokens: %s", first.count, first.failure);
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < WRITERS; i++) {
            writers[i] = (writer){.model = first.model};
            CHECK_OK(clf_context_create_shared(context, &writers[i].context));
        }
        for (int i = 0; i < WRITERS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, write_text, &writers[i]), 0);
        for (int i = 0; i < WRITERS; i++) {
            assert_int_equal(pthread_join(threads[i], NULL), 0);
            CHECK(!writers[i].failure[0], "round %d, thread %d: %s", round, i, writers[i].failure);
            assert_int_equal(writers[i].count, first.count);
            assert_memory_equal(writers[i].ids, first.ids, first.count * sizeof *first.ids);
            clf_context_destroy(writers[i].context);
        }
    }
    clf_model_destroy(first.model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_threads), cmocka_unit_test(test_model_goes_first), cmocka_unit_test(test_foreign_context),
        cmocka_unit_test(test_reload),      cmocka_unit_test(test_described),        cmocka_unit_test(test_decoders_in_two_threads),
        cmocka_unit_test(test_eight_write),
    };
    return cmocka_run_group_tests_name("model.session", tests, device_setup, device_teardown);
}
