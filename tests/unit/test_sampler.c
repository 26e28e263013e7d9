/* SPDX-License-Identifier: MIT */
/* The choice of tokens: how often each comes, against probabilities that are computed by the definitions alone, each a step of its own. */
#include "model/sampler.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "support/check.h"

enum { TOKENS = 24, DRAWS = 20000, SEEN = 5 };

static const int32_t seen[SEEN] = {3, 7, 7, 20, 3};

static void divide_by_sum(double p[TOKENS])
{
    double sum = 0;
    for (int i = 0; i < TOKENS; i++)
        sum += p[i];
    for (int i = 0; i < TOKENS; i++)
        p[i] /= sum;
}

/* How many tokens stand before this one: more probable, or as probable and of a lower id. */
static size_t rank_of(const double p[TOKENS], int token)
{
    size_t rank = 0;
    for (int i = 0; i < TOKENS; i++)
        rank += p[i] > p[token] || (p[i] == p[token] && i < token);
    return rank;
}

static void keep_best(double p[TOKENS], size_t count)
{
    double kept[TOKENS];
    for (int i = 0; i < TOKENS; i++)
        kept[i] = rank_of(p, i) < count ? p[i] : 0;
    memcpy(p, kept, sizeof kept);
    divide_by_sum(p);
}

/* The fewest of the best that come to `least` together. */
static size_t count_up_to(const double p[TOKENS], double least)
{
    double sum = 0;
    for (size_t rank = 0; rank < TOKENS; rank++)
        for (int i = 0; i < TOKENS; i++)
            if (rank_of(p, i) == rank && (sum += p[i]) >= least - 1e-12)
                return rank + 1;
    return TOKENS;
}

static void reference(const float logits[TOKENS], const clf_generate_params *params, double p[TOKENS])
{
    double largest = 0;
    for (int i = 0; i < TOKENS; i++) {
        double z = (double)logits[i];
        bool is_seen = false;
        for (int k = 0; k < SEEN; k++)
            is_seen = is_seen || seen[k] == i;
        if (is_seen && params->repeat_penalty > 0)
            z = z > 0 ? z / (double)params->repeat_penalty : z * (double)params->repeat_penalty;
        p[i] = exp(z / (double)params->temperature);
    }
    divide_by_sum(p);
    if (params->top_k)
        keep_best(p, params->top_k);
    keep_best(p, count_up_to(p, (double)params->top_p));
    for (int i = 0; i < TOKENS; i++)
        largest = p[i] > largest ? p[i] : largest;
    for (int i = 0; i < TOKENS; i++)
        p[i] = p[i] < (double)params->min_p * largest ? 0 : p[i];
    divide_by_sum(p);
}

static void make_logits(int shape, float logits[TOKENS])
{
    for (int i = 0; i < TOKENS; i++)
        logits[i] = shape == 2 ? (float)(i % 4) : 3.0f * sinf((float)(i * i + 7 * shape)) + (shape == 1 ? -4.0f : 0.5f);
}

static int32_t choose(clf_sampler *sampler, const clf_generate_params *params, const float logits[TOKENS], size_t step)
{
    float copy[TOKENS];
    int32_t token = -1;
    memcpy(copy, logits, sizeof copy);
    CHECK_OK(clfi_sampler_choose(sampler, params, copy, seen, SEEN, step, &token));
    return token;
}

static void frequencies(void **state)
{
    static const struct {
        float temperature;
        int32_t top_k;
        float top_p, min_p, penalty;
    } rows[] = {
        {1, 0, 1, 0, 0},           {0.5f, 0, 1, 0, 0},   {3, 0, 1, 0, 0},          {1, 5, 1, 0, 0},
        {1, 1, 1, 0, 0},           {1, 0, 0.6f, 0, 0},   {1, 0, 0.01f, 0, 0},      {1, 0, 0, 0, 0},
        {5, 9, 0, 0, 1.2f},        {1, 0, 1e-30f, 0, 0}, {1, 0, 1, 0.3f, 0},       {1, 0, 1, 1, 0},
        {1, 0, 1, 0, 1.7f},        {1, 0, 1, 0, 0.6f},   {0.7f, 8, 0.8f, 0, 1.3f}, {1.4f, 12, 0.9f, 0.1f, 1.1f},
        {2, 100, 0.95f, 0.05f, 1},
    };
    (void)state;
    for (int shape = 0; shape < 3; shape++)
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            clf_generate_params params = CLF_GENERATE_PARAMS_INIT;
            clf_sampler *sampler;
            float logits[TOKENS];
            double p[TOKENS];
            int count[TOKENS] = {0};
            params.temperature = rows[i].temperature;
            params.top_k = (size_t)rows[i].top_k;
            params.top_p = rows[i].top_p;
            params.min_p = rows[i].min_p;
            params.repeat_penalty = rows[i].penalty;
            params.seed = 11 + i;
            make_logits(shape, logits);
            reference(logits, &params, p);
            CHECK_OK(clfi_sampler_check(&params));
            CHECK_OK(clfi_sampler_create(TOKENS, &sampler));
            for (size_t step = 0; step < DRAWS; step++)
                count[choose(sampler, &params, logits, step)]++;
            for (int t = 0; t < TOKENS; t++) {
                const double found = (double)count[t] / DRAWS, bound = p[t] > 0 ? 5 * sqrt(p[t] * (1 - p[t]) / DRAWS) + 1e-12 : 0;
                CHECK(fabs(found - p[t]) <= bound, "shape %d, row %zu, token %d: %g of the draws, expected %g within %g", shape, i, t,
                      found, p[t], bound);
            }
            clfi_sampler_destroy(sampler);
        }
}

/* Temperature 0 takes the largest logit behind the penalty; a seed gives the same choices again, another one others. */
static void seeds(void **state)
{
    clf_generate_params params = CLF_GENERATE_PARAMS_INIT, other;
    clf_sampler *sampler;
    float logits[TOKENS] = {[7] = 2.0f, [9] = 1.5f};
    size_t differ = 0;
    (void)state;
    CHECK_OK(clfi_sampler_create(TOKENS, &sampler));
    params.repeat_penalty = 1.2f;
    assert_int_equal(choose(sampler, &params, logits, 0), 7);
    params.repeat_penalty = 1.4f;
    assert_int_equal(choose(sampler, &params, logits, 0), 9);
    params.temperature = 1;
    other = params;
    other.seed++;
    for (size_t step = 0; step < 200; step++) {
        const int32_t token = choose(sampler, &params, logits, step);
        differ += choose(sampler, &other, logits, step) != token;
        assert_int_equal(choose(sampler, &params, logits, step), token);
    }
    assert_true(differ > 100);
    clfi_sampler_destroy(sampler);
}

/* A probability that is none is refused, never taken for "all" or "one". */
static void refused(void **state)
{
    const float bad[] = {NAN, -0.1f, -1e-30f, -INFINITY, INFINITY, 1.0001f};
    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++)
        for (int which = 0; which < 4; which++) {
            static const char *const names[] = {"top_p", "min_p", "temperature", "repeat_penalty"};
            clf_generate_params params = CLF_GENERATE_PARAMS_INIT;
            float *const places[] = {&params.top_p, &params.min_p, &params.temperature, &params.repeat_penalty};
            if (which >= 2 && bad[i] == 1.0001f)
                continue;
            *places[which] = bad[i];
            CHECK_FAILS(clfi_sampler_check(&params), CLF_INVALID_ARGUMENT, names[which]);
        }
}

/* In vocabularies of every length the largest logit is found wherever it stands, the first of equal ones, and so is one that is not
 * finite. */
static void places(void **state)
{
    enum { MOST = 150 };
    static const float bad[] = {NAN, INFINITY, -INFINITY};
    const clf_generate_params params = CLF_GENERATE_PARAMS_INIT;
    float logits[MOST];
    (void)state;
    for (size_t vocabulary = 1; vocabulary <= MOST; vocabulary++) {
        clf_sampler *sampler;
        CHECK_OK(clfi_sampler_create(vocabulary, &sampler));
        for (size_t place = 0; place < vocabulary; place++) {
            int32_t token = -1;
            for (size_t i = 0; i < vocabulary; i++)
                logits[i] = -2.0f - (float)(i * 7 % 11);
            logits[place] = logits[vocabulary - 1 - (vocabulary - 1 - place) / 2] = -1.5f;
            CHECK_OK(clfi_sampler_choose(sampler, &params, logits, NULL, 0, 0, &token));
            CHECK(token == (int32_t)place, "%zu tokens: the largest is %zu, found %d", vocabulary, place, token);
            logits[place] = bad[place % 3];
            char name[64];
            snprintf(name, sizeof name, "the logit of token %zu is ", place);
            CHECK_FAILS(clfi_sampler_choose(sampler, &params, logits, NULL, 0, 0, &token), CLF_FORMAT, name);
        }
        clfi_sampler_destroy(sampler);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(frequencies), cmocka_unit_test(seeds), cmocka_unit_test(refused),
                                       cmocka_unit_test(places)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
