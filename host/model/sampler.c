/* SPDX-License-Identifier: MIT */
/* Choosing tokens: penalty, temperature, top-k, top-p, min-p, chance. */
#include "model/sampler.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "model/finite.h"

typedef struct candidate {
    double weight; /* exp((z - largest) / temperature) */
    int32_t token;
} candidate;

struct clf_sampler {
    size_t vocabulary;
    candidate *candidates; /* [vocabulary] */
    bool *is_seen;         /* [vocabulary]: tokens whose penalty is paid */
};

clf_status clfi_sampler_check(const clf_generate_params *p)
{
    if (!(p->temperature >= 0.0f && isfinite(p->temperature)))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "generate: temperature %g: expected 0 or above", (double)p->temperature);
    if (!(p->top_p >= 0.0f && p->top_p <= 1.0f))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "generate: top_p %g: expected 0 to 1", (double)p->top_p);
    if (!(p->min_p >= 0.0f && p->min_p <= 1.0f))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "generate: min_p %g: expected 0 to 1", (double)p->min_p);
    if (!(p->repeat_penalty >= 0.0f && isfinite(p->repeat_penalty)))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "generate: repeat_penalty %g: expected a number above 0", (double)p->repeat_penalty);
    return CLF_OK;
}

clf_status clfi_sampler_create(size_t vocabulary, clf_sampler **out)
{
    clf_sampler *made;
    CLF_TRY(clfi_alloc(1, sizeof *made, "sampler", &made));
    made->vocabulary = vocabulary;
    clf_status st = clfi_alloc(vocabulary, sizeof *made->candidates, "candidates", &made->candidates);
    if (st == CLF_OK)
        st = clfi_alloc(vocabulary, sizeof *made->is_seen, "candidates", &made->is_seen);
    if (st != CLF_OK) {
        clfi_sampler_destroy(made);
        return st;
    }
    *out = made;
    return CLF_OK;
}

void clfi_sampler_destroy(clf_sampler *sampler)
{
    if (!sampler)
        return;
    free(sampler->candidates);
    free(sampler->is_seen);
    free(sampler);
}

void clfi_penalise_repeated(float penalty, const int32_t *tokens, size_t count, float *logits, bool *is_seen)
{
    if (penalty == 0.0f || penalty == 1.0f)
        return;
    for (size_t i = 0; i < count; i++)
        if (!is_seen[tokens[i]]) {
            is_seen[tokens[i]] = true;
            logits[tokens[i]] *= logits[tokens[i]] > 0.0f ? 1.0f / penalty : penalty;
        }
    for (size_t i = 0; i < count; i++)
        is_seen[tokens[i]] = false;
}

enum { LANES = 16 }; /* maxima side by side: one by one, each comparison waits for the one before */

static float maximum(const float *values, size_t count)
{
    float lane[LANES], largest = values[0];
    size_t i = 0;
    for (int k = 0; k < LANES; k++)
        lane[k] = largest;
    for (; i + LANES <= count; i += LANES)
        for (int k = 0; k < LANES; k++)
            lane[k] = values[i + k] > lane[k] ? values[i + k] : lane[k];
    for (; i < count; i++)
        largest = values[i] > largest ? values[i] : largest;
    for (int k = 0; k < LANES; k++)
        largest = lane[k] > largest ? lane[k] : largest;
    return largest;
}

size_t clfi_find_largest(const float *values, size_t count)
{
    const float largest = maximum(values, count);
    size_t i = 0;
    while (i + 1 < count && values[i] != largest)
        i++;
    return i;
}

/* By falling weight, equal ones by rising id. */
static int compare(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    return x->weight != y->weight ? (x->weight < y->weight ? 1 : -1) : (x->token > y->token) - (x->token < y->token);
}

/* The candidates, best first, and the sum of their weights. */
static size_t list_candidates(clf_sampler *s, const clf_generate_params *p, const float *logits, float largest, double *out_sum)
{
    const double negligible = 1e-17; /* of the sum: below the numbers' resolution */
    size_t count = 0;
    double sum = 0;
    for (size_t i = 0; i < s->vocabulary; i++) {
        const double weight = exp(((double)logits[i] - (double)largest) / (double)p->temperature);
        if (weight >= negligible)
            s->candidates[count++] = (candidate){weight, (int32_t)i};
    }
    qsort(s->candidates, count, sizeof *s->candidates, compare);
    if (p->top_k && p->top_k < count)
        count = p->top_k;
    for (size_t i = 0; i < count; i++)
        sum += s->candidates[i].weight;
    *out_sum = sum;
    return count;
}

/* SplitMix64's output (Steele, Lea and Flood 2014) for the step, as a number from 0 to below 1. */
static double chance(uint64_t seed, uint64_t step)
{
    uint64_t z = seed * 0xd1342543de82ef95u + (step + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

clf_status clfi_sampler_choose(clf_sampler *s, const clf_generate_params *p, float *logits, const int32_t *tokens, size_t count,
                               size_t step, int32_t *out)
{
    double sum, kept = 0;
    clfi_penalise_repeated(p->repeat_penalty, tokens, count, logits, s->is_seen);
    CLF_TRY(clfi_check_finite("the logit of token", logits, s->vocabulary));
    *out = (int32_t)clfi_find_largest(logits, s->vocabulary);
    if (p->temperature == 0.0f)
        return CLF_OK;
    const size_t most = list_candidates(s, p, logits, logits[*out], &sum);
    size_t n = 0;
    while (n < most && (n == 0 || p->top_p == 1.0f || kept < (double)p->top_p * sum))
        kept += s->candidates[n++].weight;
    while (n > 1 && s->candidates[n - 1].weight < (double)p->min_p * s->candidates[0].weight)
        kept -= s->candidates[--n].weight;
    double left = chance(p->seed, step) * kept;
    size_t i = 0;
    while (i + 1 < n && (left -= s->candidates[i].weight) >= 0)
        i++;
    *out = s->candidates[i].token;
    return CLF_OK;
}
