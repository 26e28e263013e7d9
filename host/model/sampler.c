/* SPDX-License-Identifier: MIT */
/* Chooses tokens: penalty, temperature, top-k, top-p, min-p, then chance. */
#include "model/sampler.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "clformer/ops.h"
#include "model/finite.h"

typedef struct candidate {
    double weight; /* exp((z - largest) / temperature) */
    int32_t token;
} candidate;

struct clf_sampler {
    size_t vocabulary;
    candidate *candidates; /* [vocabulary] */
    bool *is_seen;         /* [vocabulary]: scratch memory of clfi_penalise_repeated, all false between calls */
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

enum { LANES = 16 }; /* maxima computed independently: in a single chain each comparison waits for the one before */

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

static const double negligible = 1e-17; /* as a share of the largest weight: below the resolution of double */

/* Lists the candidates, best first; returns their number. tokens NULL: logits are of tokens 0, 1 ...; logits[i] <= largest. */
static size_t list_candidates(clf_sampler *s, float temperature, const float *logits, const int32_t *tokens, size_t count, float largest)
{
    size_t listed = 0;
    for (size_t i = 0; i < count; i++) {
        const double weight = exp(((double)logits[i] - (double)largest) / (double)temperature);
        if (weight >= negligible)
            s->candidates[listed++] = (candidate){weight, tokens ? tokens[i] : (int32_t)i};
    }
    qsort(s->candidates, listed, sizeof *s->candidates, compare);
    return listed;
}

static double sum_of(const clf_sampler *s, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += s->candidates[i].weight;
    return sum;
}

/* SplitMix64's output (Steele, Lea and Flood 2014) for the step, as a number from 0 to below 1. */
static double chance(uint64_t seed, uint64_t step)
{
    uint64_t z = seed * 0xd1342543de82ef95u + (step + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* The number of first candidates whose probabilities together reach top_p of `sum`, at most `most`. *out_kept: their weight. */
static size_t cut_nucleus(const clf_sampler *s, float top_p, size_t most, double sum, double *out_kept)
{
    size_t n = 0;
    double kept = 0;
    while (n < most && (n == 0 || top_p == 1.0f || kept < (double)top_p * sum))
        kept += s->candidates[n++].weight;
    *out_kept = kept;
    return n;
}

/* Draws one of the first n candidates, whose weight together is `kept`, after those that min_p excludes are gone. */
static int32_t draw(const clf_sampler *s, const clf_generate_params *p, size_t n, double kept, size_t step)
{
    while (n > 1 && s->candidates[n - 1].weight < (double)p->min_p * s->candidates[0].weight)
        kept -= s->candidates[--n].weight;
    double left = chance(p->seed, step) * kept;
    size_t i = 0;
    while (i + 1 < n && (left -= s->candidates[i].weight) >= 0)
        i++;
    return s->candidates[i].token;
}

clf_status clfi_sampler_choose(clf_sampler *s, const clf_generate_params *p, float *logits, const int32_t *tokens, size_t count,
                               size_t step, int32_t *out)
{
    double kept;
    clfi_penalise_repeated(p->repeat_penalty, tokens, count, logits, s->is_seen);
    CLF_TRY(clfi_check_finite("the logit of token", logits, s->vocabulary));
    *out = (int32_t)clfi_find_largest(logits, s->vocabulary);
    if (p->temperature == 0.0f)
        return CLF_OK;
    size_t most = list_candidates(s, p->temperature, logits, NULL, s->vocabulary, logits[*out]);
    if (p->top_k && p->top_k < most)
        most = p->top_k;
    const size_t n = cut_nucleus(s, p->top_p, most, sum_of(s, most), &kept);
    *out = draw(s, p, n, kept, step);
    return CLF_OK;
}

clf_wanted_logits clfi_sampler_wants(const clf_generate_params *p)
{
    enum { NUCLEUS = 256 };
    const bool has_penalty = p->repeat_penalty != 0.0f && p->repeat_penalty != 1.0f;
    if (has_penalty)
        return (clf_wanted_logits){0};
    if (p->temperature == 0.0f)
        return (clf_wanted_logits){1, 0};
    if (p->top_k > 0)
        return (clf_wanted_logits){p->top_k < CLF_TOP_K_MAX ? p->top_k + 1 : 0, 0};
    const float scale = 1.0f / p->temperature;
    return p->top_p < 1.0f && isfinite(scale) ? (clf_wanted_logits){NUCLEUS, scale} : (clf_wanted_logits){0};
}

/* The nucleus if `sum`, of all weights, may be wrong by a factor of 1e-4; 0: it may end at one candidate or another. clf_best.sum is exact
 * to 1e-5. */
static size_t cut_rough(const clf_sampler *s, float top_p, size_t most, double sum, double *out_kept)
{
    const double error = 1e-4, bar = (double)top_p * sum;
    const size_t n = cut_nucleus(s, top_p, most, sum, out_kept);
    const double before = *out_kept - s->candidates[n - 1].weight;
    const bool is_reached = *out_kept >= bar * (1 + error), is_needed = n == 1 || before < bar * (1 - error);
    return is_reached && is_needed ? n : 0;
}

bool clfi_sampler_choose_best(clf_sampler *s, const clf_generate_params *p, const clf_best *best, size_t step, int32_t *out)
{
    double kept = 0;
    *out = best->tokens[0];
    if (p->temperature == 0.0f)
        return true;
    const size_t listed = list_candidates(s, p->temperature, best->logits, best->tokens, best->count, best->logits[0]);
    const bool is_all = listed < best->count || best->count == s->vocabulary; /* the others weigh nothing */
    size_t most = listed, n;
    while (!is_all && most > 0 && s->candidates[most - 1].weight == s->candidates[listed - 1].weight)
        most--; /* others may weigh as much and come before */
    if (p->top_k && p->top_k < most)
        most = p->top_k;
    if (is_all || (p->top_k && most == p->top_k))
        n = cut_nucleus(s, p->top_p, most, sum_of(s, most), &kept);
    else
        n = p->top_k == 0 && best->has_sum && most > 0 ? cut_rough(s, p->top_p, most, (double)best->sum, &kept) : 0;
    if (n > 0)
        *out = draw(s, p, n, kept, step);
    return n > 0;
}
