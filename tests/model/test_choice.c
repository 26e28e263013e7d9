/* SPDX-License-Identifier: MIT */
/* Tokens that are chosen from a few logits of each row, which the device finds, are those that are chosen from all; how much the host
 * reads. */
#include "model/choice.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "clformer/clformer.h"
#include "model/scheduler.h"
#include "support/check.h"
#include "support/device.h"
#include "support/operand.h"
#include "support/rng.h"

enum { ROWS = 6, MOST = 3000 };

static float logits[ROWS * MOST];

/* Rows that are flat, peaked, and full of equal numbers. */
static void fill(rng *r, int64_t vocabulary)
{
    static const float spread[ROWS] = {0.5f, 4, 12, 4, 40, 1};
    for (int64_t row = 0; row < ROWS; row++)
        for (int64_t i = 0; i < vocabulary; i++) {
            const float z = (rng_uniform(r, -1, 1) + rng_uniform(r, -1, 1) + rng_uniform(r, -1, 1)) * 0.5f * spread[row];
            logits[row * vocabulary + i] = row == 3 ? roundf(z * 2) / 2 : z;
        }
}

static clf_generate_params params_of(size_t i)
{
    static const float temperatures[] = {0, 0.3f, 1, 5}, nuclei[] = {1, 0.95f, 0.5f, 0}, least[] = {0, 0.05f};
    static const size_t most[] = {0, 1, 5, 40, 1100};
    clf_generate_params p = CLF_GENERATE_PARAMS_INIT;
    p.temperature = temperatures[i % COUNT(temperatures)];
    p.top_p = nuclei[i / 4 % COUNT(nuclei)];
    p.min_p = least[i / 16 % COUNT(least)];
    p.top_k = most[i / 32 % COUNT(most)];
    p.seed = 7 * i;
    return p;
}

enum { KINDS = 160 };

/* Choices of every row by the parameters; *out_decided: of those that were made from a few logits. */
static void check_choices(clf_choice *choice, const clf_view *view, size_t kind, size_t *out_decided)
{
    const clf_generate_params params = params_of(kind);
    const size_t vocabulary = (size_t)view->dim[1];
    clf_wanted_logits wanted[ROWS];
    clf_sampler *sampler;
    float all[MOST];
    for (size_t row = 0; row < ROWS; row++)
        wanted[row] = clfi_sampler_wants(&params);
    if (wanted[0].best == 0)
        return;
    CHECK_OK(clfi_sampler_create(vocabulary, &sampler));
    const clf_arena_mark mark = clfi_arena_top(choice->context);
    CHECK_OK(clfi_choice_find(choice, view, wanted, ROWS));
    clfi_arena_release(choice->context, mark);
    for (size_t row = 0; row < ROWS; row++) {
        const clf_best best = clfi_choice_row_of(choice, row);
        assert_int_equal(best.count, wanted[0].best < vocabulary ? wanted[0].best : vocabulary);
        for (size_t step = 0; step < 20; step++) {
            int32_t got = -1, want = -1;
            memcpy(all, logits + row * vocabulary, vocabulary * sizeof *all);
            CHECK_OK(clfi_sampler_choose(sampler, &params, all, NULL, 0, step, &want));
            if (!clfi_sampler_choose_best(sampler, &params, &best, step, &got))
                continue;
            CHECK(got == want, "kind %zu, row %zu, step %zu of %zu tokens: %d, from all logits %d", kind, row, step, vocabulary, got, want);
            ++*out_decided;
        }
    }
    clfi_sampler_destroy(sampler);
}

static void test_same_tokens(void **state)
{
    clf_context *context = *state;
    static const int64_t sizes[] = {1, 41, MOST};
    rng r = {5};
    clf_choice choice = clfi_choice(context);
    for (size_t s = 0; s < COUNT(sizes); s++) {
        clf_tensor *tensor;
        size_t decided[2] = {0}; /* without chance, with it */
        fill(&r, sizes[s]);
        CHECK_OK(clf_tensor_create_from(context, CLF_F32, 2, (int64_t[]){ROWS, sizes[s]}, logits, &tensor));
        for (size_t kind = 0; kind < KINDS; kind++)
            check_choices(&choice, clfi_tensor_view(tensor), kind, &decided[kind % 4 > 0]);
        assert_int_equal(decided[0], KINDS / 4 * ROWS * 20); /* always */
        CHECK(decided[1] > 6000, "%zu choices by chance", decided[1]);
        clf_tensor_destroy(tensor);
    }
    clfi_choice_clear(&choice);
}

/* Sums against their definition; a row with a number that is not finite has none. */
static void test_sums(void **state)
{
    clf_context *context = *state;
    static const float bad[] = {NAN, INFINITY, -INFINITY};
    rng r = {6};
    clf_choice choice = clfi_choice(context);
    clf_wanted_logits wanted[ROWS];
    clf_tensor *tensor;
    fill(&r, MOST);
    for (size_t row = 0; row < COUNT(bad); row++)
        logits[row * MOST + 700 * (row + 1) + 3] = bad[row];
    for (size_t row = 0; row < ROWS; row++)
        wanted[row] = (clf_wanted_logits){2, 0.25f * (float)(row + 1)};
    CHECK_OK(clf_tensor_create_from(context, CLF_F32, 2, (int64_t[]){ROWS, MOST}, logits, &tensor));
    const clf_arena_mark mark = clfi_arena_top(context);
    CHECK_OK(clfi_choice_find(&choice, clfi_tensor_view(tensor), wanted, ROWS));
    for (size_t row = 0; row < ROWS; row++) {
        const clf_best best = clfi_choice_row_of(&choice, row);
        const float *z = logits + row * MOST;
        double sum = 0;
        for (size_t i = 0; i < MOST; i++)
            sum += exp((double)wanted[row].scale * ((double)z[i] - (double)best.logits[0]));
        CHECK(row < COUNT(bad) ? isnan(best.sum) : within(best.sum, sum, 1e-5 * sum), "row %zu: %.9g, expected %.9g", row, (double)best.sum,
              sum);
    }
    for (size_t row = 0; row < ROWS; row++)
        wanted[row].scale = 0;
    CHECK_OK(clfi_choice_find(&choice, clfi_tensor_view(tensor), wanted, ROWS));
    for (size_t row = 0; row < ROWS; row++) {
        const clf_best best = clfi_choice_row_of(&choice, row);
        assert_true(!best.has_sum && isnan(best.sum) == (row < COUNT(bad)));
    }
    clfi_arena_release(context, mark);
    clf_tensor_destroy(tensor);
    clfi_choice_clear(&choice);
}

enum { TOKENS = 12 };

typedef struct told {
    int32_t tokens[TOKENS];
    size_t count;
} told;

static int note(void *user, const clf_generated *step)
{
    told *t = user;
    if (step->token >= 0)
        t->tokens[t->count++] = step->token;
    return 0;
}

/* The text by clf_session_run_sequences and clf_model_choose_token, from all logits. */
static void choose_from_all(clf_session *session, const clf_model *model, const clf_generate_params *params, int32_t first, told *out)
{
    float row[64];
    int32_t tokens[1 + TOKENS] = {first};
    clf_sequence *sequence;
    assert_true(clf_model_get_info(model)->vocabulary <= (int64_t)COUNT(row));
    CHECK_OK(clf_sequence_create(session, &sequence));
    for (out->count = 0; out->count < TOKENS; out->count++) {
        int32_t *next = &tokens[out->count + 1];
        CHECK_OK(clf_session_run_sequences(session, &(clf_sequence_tokens){sequence, next - 1, 1}, 1, 0, row));
        CHECK_OK(clf_model_choose_token(model, params, row, tokens, out->count + 1, out->count, next));
        if (*next == *clf_model_end_tokens(model, NULL))
            break;
        out->tokens[out->count] = *next;
    }
    clf_sequence_destroy(sequence);
}

static void test_read_bytes(void **state)
{
    enum { V = 41, LOGIT = 4, TOKEN = 4, SUM = 4 };
    static const struct {
        float temperature, top_p, penalty;
        size_t top_k, bytes; /* of a token */
        bool is_whole;
    } rows[] = {{0, 1, 1, 0, LOGIT + TOKEN + SUM, false},
                {0.8f, 1, 1, 7, 8 * (LOGIT + TOKEN) + SUM, false},
                {0.8f, 0.9f, 1, 0, V * (LOGIT + TOKEN) + SUM, false}, /* fewer than a nucleus may take */
                {0.8f, 1, 1, 0, V * LOGIT, true},
                {0, 1, 1.2f, 0, V * LOGIT, true}};
    clf_model *model;
    clf_session *session;
    CHECK_OK(clf_model_open(*state, CLF_TEST_DATA "/generation/llama", NULL, &model));
    CHECK_OK(clf_session_create(model, NULL, &session));
    assert_int_equal(clf_model_get_info(model)->vocabulary, V);
    for (size_t i = 0; i < COUNT(rows); i++) {
        clf_generate_params params = CLF_GENERATE_PARAMS_INIT;
        const clf_scheduler_params one = {.places = 1};
        const int32_t first = 5;
        clf_scheduler *scheduler;
        clf_request *request;
        told got = {.count = 0}, want;
        params.temperature = rows[i].temperature;
        params.top_p = rows[i].top_p;
        params.repeat_penalty = rows[i].penalty;
        params.top_k = rows[i].top_k;
        params.max_tokens = TOKENS;
        choose_from_all(session, model, &params, first, &want);
        CHECK_OK(clfi_scheduler_create(session, &one, &scheduler));
        CHECK_OK(clfi_request_create(session, &params, &(clf_prompt){.ids = &first, .id_count = 1}, 0, note, &got, &request));
        CHECK_OK(clfi_scheduler_add(scheduler, request));
        while (clfi_scheduler_load(scheduler) > 0)
            CHECK_OK(clfi_scheduler_step(scheduler));
        const clf_scheduler_stats stats = clfi_scheduler_get_stats(scheduler);
        assert_int_equal(got.count, want.count);
        assert_memory_equal(got.tokens, want.tokens, want.count * sizeof *want.tokens);
        assert_true(stats.tokens >= got.count && stats.tokens > 1 && stats.passes == stats.tokens);
        CHECK(stats.read_bytes == stats.tokens * rows[i].bytes && stats.whole_rows == (rows[i].is_whole ? stats.tokens : 0),
              "row %zu: %llu bytes for %llu tokens, %llu from all logits", i, (unsigned long long)stats.read_bytes,
              (unsigned long long)stats.tokens, (unsigned long long)stats.whole_rows);
        clfi_request_destroy(request);
        clfi_scheduler_destroy(scheduler);
    }
    clf_session_destroy(session);
    clf_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_tokens), cmocka_unit_test(test_sums), cmocka_unit_test(test_read_bytes)};
    return cmocka_run_group_tests_name("model.choice", tests, device_setup, device_teardown);
}
