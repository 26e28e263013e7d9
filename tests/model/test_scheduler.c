/* SPDX-License-Identifier: MIT */
/* Requests that arrive at different steps, with different samplers and fates, each get the text that they get alone. One is cancelled from
 * another thread, one has a bad prompt, and one has logits that are no numbers. One reaches its limit, and one ends at a stop text. */
#include "model/scheduler.h"

#include <pthread.h>
#include <string.h>

#include "clformer/clformer.h"
#include "support/check.h"
#include "support/device.h"

/* LITTLE, MUCH: cache rows. */
enum {
    REQUESTS = 12,
    TEXT_BYTES = 1024,
    TOKENS = 24,
    CANCELLED = 4,
    BAD = 7,
    NOT_FINITE = 8,
    LIMITED = 9,
    STOPPED = 2,
    FEW = 3,
    LITTLE = 80,
    MUCH = 800
};

typedef struct told {
    int32_t tokens[TOKENS];
    size_t count;
    char text[TEXT_BYTES];
    clf_finish finish;
    size_t steps, ends;
} told;

/* State of a test's callbacks. */
typedef struct arrivals {
    clf_scheduler *scheduler;
    clf_request *requests[REQUESTS];
    told told[REQUESTS];
} arrivals;

static const char *const prompts[REQUESTS] = {"zebra quick, the dog",
                                              "a",
                                              "the cat sat on the mat and the dog sat on the log",
                                              "quick brown",
                                              "zebra",
                                              "dog dog dog dog dog dog dog",
                                              "mat",
                                              "",
                                              "sat",
                                              "the quick brown fox",
                                              "log, mat, cat",
                                              "over the lazy dog and over the quick cat and over the brown mat"};

static clf_generate_params params_of(size_t i)
{
    static const clf_text stop = {"a", 1};
    clf_generate_params p = CLF_GENERATE_PARAMS_INIT;
    p.max_tokens = i == LIMITED ? FEW : TOKENS - i % 3;
    p.temperature = i % 2 ? 0.6f + 0.1f * (float)i : 0.0f;
    p.top_k = i % 4 == 1 ? 7 : 0;
    p.top_p = i % 3 == 1 ? 0.9f : 1.0f;
    p.min_p = i % 5 == 3 ? 0.02f : 0.0f;
    p.seed = 100 + i;
    p.repeat_penalty = i == NOT_FINITE ? 3e38f : i % 6 == 5 ? 1.2f : 1.0f;
    p.no_special_tokens = i == BAD;
    if (i == STOPPED) {
        p.stops = &stop;
        p.stop_count = 1;
    }
    return p;
}

static void note(told *t, const clf_generated *step)
{
    assert_int_equal(t->ends, 0);
    if (step->token >= 0) {
        assert_true(t->count < TOKENS);
        t->tokens[t->count++] = step->token;
    }
    assert_true(strlen(t->text) + step->text.size < sizeof t->text);
    strncat(t->text, step->text.data, step->text.size);
    t->finish = step->finish;
    t->steps++;
    t->ends += step->finish != CLF_FINISH_NONE;
}

static int note_alone(void *user, const clf_generated *step)
{
    note(user, step);
    return 0;
}

static void *cancel(void *request)
{
    clfi_request_cancel(request);
    return NULL;
}

static int note_arrived(void *user, const clf_generated *step)
{
    arrivals *a = user;
    told *t = &a->told[step->prompt];
    note(t, step);
    if (step->prompt == CANCELLED && t->count == 5 && step->finish == CLF_FINISH_NONE) {
        pthread_t canceller;
        assert_int_equal(pthread_create(&canceller, NULL, cancel, a->requests[CANCELLED]), 0);
        assert_int_equal(pthread_join(canceller, NULL), 0);
    }
    if (step->finish != CLF_FINISH_NONE) {
        if (step->finish == CLF_FINISH_REFUSED)
            assert_true(step->prompt == NOT_FINITE && a->requests[NOT_FINITE]->status == CLF_FORMAT &&
                        strstr(a->requests[NOT_FINITE]->reason, "finite"));
        clfi_request_destroy(a->requests[step->prompt]);
        a->requests[step->prompt] = NULL;
    }
    return 0;
}

/* Every third prompt is given as ids. */
static clf_status make(clf_session *session, clf_tokenizer *tokenizer, arrivals *a, size_t i)
{
    const clf_generate_params params = params_of(i);
    const clf_text text = {prompts[i], strlen(prompts[i])};
    clf_encode_params encode = CLF_ENCODE_PARAMS_INIT;
    clf_encoding *encoding;
    if (i % 3 != 0)
        return clfi_request_create(session, &params, &(clf_prompt){.text = text}, i, note_arrived, a, &a->requests[i]);
    CHECK_OK(clf_encoding_create(&encoding));
    encode.add_special_tokens = 1;
    CHECK_OK(clf_tokenizer_encode(tokenizer, &text, NULL, &encode, encoding));
    const clf_prompt prompt = {.ids = encoding->ids, .id_count = encoding->length};
    const clf_status st = clfi_request_create(session, &params, &prompt, i, note_arrived, a, &a->requests[i]);
    clf_encoding_destroy(encoding);
    return st;
}

/* Compares the scheduler's reports of a request with those that it gets alone. */
static void check_told(size_t i, const told *got, const told *want)
{
    assert_int_equal(got->ends, 1);
    if (want->ends == 0) { /* refused alone, too */
        assert_int_equal(got->finish, CLF_FINISH_REFUSED);
        return;
    }
    assert_int_equal(got->finish, i == CANCELLED ? CLF_FINISH_CALLER : want->finish);
    CHECK(got->count <= want->count && (i == CANCELLED || got->count == want->count), "request %zu: %zu tokens, alone %zu", i, got->count,
          want->count);
    assert_memory_equal(got->tokens, want->tokens, got->count * sizeof *got->tokens);
    CHECK(strncmp(got->text, want->text, strlen(got->text)) == 0 && (i == CANCELLED || strlen(got->text) == strlen(want->text)),
          "request %zu: \"%s\", alone \"%s\"", i, got->text, want->text);
}

/* All requests arrive, and end. */
static void run_all(arrivals *a, clf_session *session, clf_tokenizer *tokenizer, const clf_scheduler_params *params)
{
    size_t added = 0, most = 0, steps = 0;
    for (; added < REQUESTS || clfi_scheduler_load(a->scheduler) > 0; steps++) {
        for (size_t n = steps % 3; added < REQUESTS && n > 0; n--, added++) { /* none, one, two */
            if (added == BAD)
                CHECK_FAILS(make(session, tokenizer, a, added), CLF_INVALID_ARGUMENT, "no tokens");
            else
                CHECK_OK(make(session, tokenizer, a, added));
            if (added != BAD)
                CHECK_OK(clfi_scheduler_add(a->scheduler, a->requests[added]));
        }
        CHECK_OK(clfi_scheduler_step(a->scheduler));
        most = clfi_scheduler_load(a->scheduler) > most ? clfi_scheduler_load(a->scheduler) : most;
        assert_true(params->cache_rows == 0 || clfi_generation_held(session) <= params->cache_rows);
        assert_true(steps < 1000);
    }
    assert_true(most > params->places); /* some waited */
}

/* overflows: a token of the prompt has a logit that the huge penalty takes to infinity. */
static void check_directory(clf_context *context, const char *directory, bool overflows, const clf_scheduler_params *params)
{
    static arrivals a;
    static told alone[REQUESTS];
    clf_model *model;
    clf_session *session;
    clf_tokenizer *tokenizer;
    memset(&a, 0, sizeof a);
    memset(alone, 0, sizeof alone);
    CHECK_OK(clf_model_open(context, directory, NULL, &model));
    CHECK_OK(clf_session_create(model, NULL, &session));
    CHECK_OK(clf_tokenizer_open(directory, &tokenizer));
    for (size_t i = 0; i < REQUESTS; i++) {
        const clf_generate_params wanted = params_of(i);
        const clf_text text = {prompts[i], strlen(prompts[i])};
        const clf_status st = clf_session_generate(session, &text, 1, &wanted, note_alone, &alone[i]);
        assert_int_equal(st, i == BAD ? CLF_INVALID_ARGUMENT : i == NOT_FINITE && overflows ? CLF_FORMAT : CLF_OK);
    }
    assert_true(alone[LIMITED].finish == CLF_FINISH_LENGTH && alone[LIMITED].count == FEW && alone[CANCELLED].count > 8);
    assert_int_equal(clfi_generation_held(session), 0);

    CHECK_OK(clfi_scheduler_create(session, params, &a.scheduler));
    CHECK_OK(clfi_scheduler_step(a.scheduler)); /* there is nothing to do */
    for (int round = 0; round < 2; round++) {    /* the second finds what the first has left */
        run_all(&a, session, tokenizer, params);
        for (size_t i = 0; i < REQUESTS; i++)
            if (i != BAD)
                check_told(i, &a.told[i], &alone[i]);
        memset(a.told, 0, sizeof a.told);
    }
    const clf_scheduler_stats stats = clfi_scheduler_get_stats(a.scheduler);
    CHECK((stats.put_back > 0) == (params->cache_rows == LITTLE) && (stats.shared > 0) == (params->cache_rows == MUCH),
          "%zu rows: %llu texts put back, %llu tokens shared", params->cache_rows, (unsigned long long)stats.put_back,
          (unsigned long long)stats.shared);
    clfi_scheduler_destroy(a.scheduler);
    assert_int_equal(clfi_generation_held(session), 0);
    clf_session_destroy(session);
    clf_tokenizer_destroy(tokenizer);
    clf_model_destroy(model);
}

static void test_arrivals(void **state)
{
    check_directory(*state, CLF_TEST_DATA "/generation/llama", true,
                    &(clf_scheduler_params){.places = 5, .pass_tokens = 9}); /* prompts in pieces */
    check_directory(*state, CLF_TEST_DATA "/generation/llama", true, &(clf_scheduler_params){.places = 3});
}

/* Texts give up their places to others and read their tokens again; in the second round prompts find their beginnings. */
static void test_little_memory(void **state)
{
    static const clf_scheduler_params limits[] = {{.places = 5, .pass_tokens = 9, .cache_rows = LITTLE},
                                                  {.places = 5, .cache_rows = LITTLE, .kept_rows = LITTLE},
                                                  {.places = 5, .pass_tokens = 9, .cache_rows = MUCH, .kept_rows = MUCH / 2}};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        check_directory(*state, CLF_TEST_DATA "/generation/llama", true, &limits[i]);
}

static void test_arrivals_with_sources(void **state)
{
    check_directory(*state, CLF_TEST_DATA "/translation/t5", false, &(clf_scheduler_params){.places = 4});
}

/* Destroyed at work: cache rows go back, nobody is called any more. Cancelled while it waits: it ends without a token. */
static void test_left(void **state)
{
    static arrivals a;
    clf_model *model;
    clf_session *session;
    clf_tokenizer *tokenizer;
    memset(&a, 0, sizeof a);
    CHECK_OK(clf_model_open(*state, CLF_TEST_DATA "/generation/llama", NULL, &model));
    CHECK_OK(clf_session_create(model, NULL, &session));
    CHECK_OK(clf_tokenizer_open(CLF_TEST_DATA "/generation/llama", &tokenizer));
    CHECK_OK(clfi_scheduler_create(session, &(clf_scheduler_params){.places = 1}, &a.scheduler));
    for (size_t i = 0; i < 3; i++) {
        CHECK_OK(make(session, tokenizer, &a, i));
        CHECK_OK(clfi_scheduler_add(a.scheduler, a.requests[i]));
    }
    CHECK_OK(clfi_scheduler_step(a.scheduler));
    assert_true(clfi_generation_held(session) > 0);
    clfi_request_cancel(a.requests[1]);
    CHECK_OK(clfi_scheduler_step(a.scheduler));
    assert_true(a.told[1].steps == 1 && a.told[1].finish == CLF_FINISH_CALLER && a.told[1].count == 0);
    assert_int_equal(clfi_scheduler_load(a.scheduler), 2);
    const size_t steps = a.told[0].steps;
    clfi_scheduler_destroy(a.scheduler);
    assert_int_equal(clfi_generation_held(session), 0);
    assert_true(a.told[0].steps == steps && a.told[2].steps == 0);
    clfi_request_destroy(a.requests[0]);
    clfi_request_destroy(a.requests[2]);
    clf_session_destroy(session);
    clf_tokenizer_destroy(tokenizer);
    clf_model_destroy(model);
}

static void test_refusals(void **state)
{
    clf_model *model;
    clf_session *session;
    clf_request *request = NULL;
    clf_generate_params params = CLF_GENERATE_PARAMS_INIT;
    const clf_prompt text = {.text = {"a", 1}};
    static const int32_t ids[] = {5, 1 << 20};
    CHECK_OK(clf_model_open(*state, CLF_TEST_DATA "/generation/llama", NULL, &model));
    CHECK_OK(clf_session_create(model, NULL, &session));
    CHECK_FAILS(clfi_request_create(session, &params, &(clf_prompt){.ids = ids, .id_count = 2}, 0, NULL, NULL, &request),
                CLF_INVALID_ARGUMENT, "1048576");
    CHECK_FAILS(clfi_request_create(session, &params, &(clf_prompt){.ids = ids}, 0, NULL, NULL, &request), CLF_INVALID_ARGUMENT,
                "no tokens");
    params.beams = 3;
    CHECK_FAILS(clfi_request_create(session, &params, &text, 0, NULL, NULL, &request), CLF_UNSUPPORTED, "3 beams");
    params.beams = 1;
    params.top_p = 2;
    CHECK_FAILS(clfi_request_create(session, &params, &text, 0, NULL, NULL, &request), CLF_INVALID_ARGUMENT, "top_p");
    assert_null(request);
    clf_session_destroy(session);
    clf_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_arrivals), cmocka_unit_test(test_little_memory),
                                       cmocka_unit_test(test_arrivals_with_sources), cmocka_unit_test(test_left),
                                       cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, device_setup, device_teardown);
}
