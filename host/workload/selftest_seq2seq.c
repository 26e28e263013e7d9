/* SPDX-License-Identifier: MIT */
/* Self-test: a small encoder-decoder with random weights. Its log-probabilities and its beam search are compared with double precision
 * that keeps no cache. */
#include <math.h>

#include "workload/selftest.h"
#include "model/beam_search.h"
#include "model/transformer.h"
#include "workload/reference_transformer.h"

enum { WIDTH = 32, HIDDEN = 48, HEADS = 2, VOCABULARY = 13, LONGEST = 8, SOURCE = 5, BEGIN = 1, BEAM = 4, SEED = 9 };

static const clf_transformer_config config = {.size = sizeof(clf_transformer_config),
                                              .width = WIDTH,
                                              .hidden_width = HIDDEN,
                                              .heads = HEADS,
                                              .encoder_layers = 1,
                                              .decoder_layers = 2,
                                              .source_vocabulary = VOCABULARY,
                                              .target_vocabulary = VOCABULARY,
                                              .max_source = LONGEST,
                                              .max_target = LONGEST,
                                              .activation = CLF_ACTIVATION_RELU,
                                              .norm_first = 1,
                                              .has_final_norm = 1,
                                              .has_generator = 1,
                                              .positions = CLF_POSITIONS_SINUSOIDAL,
                                              .norm_eps = 1e-5f};

static const int32_t source[SOURCE] = {3, 12, 0, 7, 7};

/* Bound of log-probabilities: a handful of blocks with values of order 1, some hundred roundings in each. */
static const double bound = 2e-5;

clf_status clfi_selftest_encoder_decoder(clfi_selftest *test)
{
    static const int32_t target[LONGEST] = {BEGIN, 4, 11, 5, 5, 0, 9, 12};
    double want[LONGEST * VOCABULARY];
    float got[LONGEST * VOCABULARY];
    clfi_ref_weights weights = {0};
    clf_transformer *network = NULL;
    clf_tensor *device_source = NULL, *device_target = NULL, *features = NULL, *log_probabilities = NULL;
    clf_attention_masks causal = CLF_ATTENTION_MASKS_INIT;
    clf_status st;
    causal.is_causal = 1;
    CLF_GOTO(clf_transformer_create_random(test->context, &config, SEED, &network));
    CLF_GOTO(clf_tensor_create_from(test->context, CLF_I32, 2, (int64_t[]){1, SOURCE}, source, &device_source));
    CLF_GOTO(clf_tensor_create_from(test->context, CLF_I32, 2, (int64_t[]){1, LONGEST}, target, &device_target));
    CLF_GOTO(clf_tensor_create(test->context, CLF_F32, 3, (int64_t[]){1, LONGEST, WIDTH}, &features));
    CLF_GOTO(clf_tensor_create(test->context, CLF_F32, 3, (int64_t[]){1, LONGEST, VOCABULARY}, &log_probabilities));
    CLF_GOTO(clf_transformer_forward(network, CLF_LAYOUT_NLD, device_source, device_target, NULL, &causal, NULL, features));
    CLF_GOTO(clf_transformer_generate(network, features, 1, log_probabilities));
    CLF_GOTO(clf_tensor_read_f32(log_probabilities, got, COUNT(got)));
    CLF_GOTO(clfi_ref_weights_add_seeded(&weights, &config, SEED));
    CLF_GOTO(clfi_ref_log_probabilities(&config, &weights, SOURCE, source, LONGEST, target, want, NULL));
    for (size_t i = 0; i < COUNT(got); i++)
        clfi_verdict_add(&test->verdict, got[i], want[i], bound);
done:
    clf_tensor_destroy(device_source);
    clf_tensor_destroy(device_target);
    clf_tensor_destroy(features);
    clf_tensor_destroy(log_probabilities);
    clf_transformer_destroy(network);
    clfi_ref_weights_free(&weights);
    return st;
}

/* A hypothesis, whose first token is BEGIN. score: log-probability; -inf: none. */
typedef struct hypothesis {
    int32_t tokens[LONGEST];
    int count;
    double score;
} hypothesis;

/* Inserts h into the best BEAM hypotheses, in falling order of score. */
static void keep_best(hypothesis *best, const hypothesis *h)
{
    int i = BEAM;
    for (; i > 0 && best[i - 1].score < h->score; i--)
        if (i < BEAM)
            best[i] = best[i - 1];
    if (i < BEAM)
        best[i] = *h;
}

static void forget(hypothesis *list)
{
    for (int i = 0; i < BEAM; i++)
        list[i].score = -INFINITY;
}

/* The search that model/beam_search.h describes. Results are the finished hypotheses, or the best open one. */
static clf_status reference_search(const clfi_ref_weights *weights, int32_t end, hypothesis *finished)
{
    double log_probabilities[LONGEST * VOCABULARY];
    hypothesis open[BEAM] = {{.tokens = {BEGIN}, .count = 1}}, next[BEAM];
    for (int i = 1; i < BEAM; i++)
        open[i].score = -INFINITY;
    forget(finished);
    for (int step = 1; step < LONGEST; step++) {
        forget(next);
        for (int i = 0; i < BEAM && open[i].score > -INFINITY; i++) {
            CLF_TRY(clfi_ref_log_probabilities(&config, weights, SOURCE, source, open[i].count, open[i].tokens, log_probabilities, NULL));
            for (int v = 0; v < VOCABULARY; v++) {
                hypothesis extended = open[i];
                extended.score += log_probabilities[(open[i].count - 1) * VOCABULARY + v];
                extended.tokens[extended.count++] = v;
                keep_best(next, &extended);
            }
        }
        forget(open);
        for (int i = 0; i < BEAM; i++)
            keep_best(next[i].tokens[next[i].count - 1] == end ? finished : open, &next[i]);
        if (open[0].score <= finished[BEAM - 1].score)
            return CLF_OK;
    }
    if (finished[0].score == -INFINITY)
        finished[0] = open[0];
    return CLF_OK;
}

typedef struct search_check {
    clfi_selftest *test;
    const hypothesis *want;
    size_t count;
} search_check;

static clf_status check_hypothesis(void *user, size_t source_index, size_t rank, const clf_hypothesis *got)
{
    search_check *found = user;
    const hypothesis *want = &found->want[rank];
    (void)source_index;
    found->count++;
    clfi_verdict_add(&found->test->verdict, got->score, want->score, bound * LONGEST);
    clfi_verdict_add(&found->test->verdict, (double)got->count, want->count - 1, 0);
    for (size_t i = 0; i < got->count && (int)i + 1 < want->count; i++)
        clfi_verdict_add(&found->test->verdict, got->tokens[i], want->tokens[i + 1], 0);
    return CLF_OK;
}

static clf_status search_case(clfi_selftest *test, const clf_transformer *network, const clfi_ref_weights *weights, int32_t end)
{
    clf_beam_search *search = NULL;
    static const int32_t first = BEGIN;
    const clf_beam_rules rules = {.width = BEAM, .begin = &first, .begin_count = 1, .ends = &end, .end_count = 1};
    hypothesis want[BEAM];
    search_check found = {test, want, 0};
    size_t expected = 0;
    clf_status st;
    CLF_GOTO(reference_search(weights, end, want));
    CLF_GOTO(clfi_beam_search_create(test->context, network->network, &rules, CLF_F32, &search));
    CLF_GOTO(clfi_beam_search_run(search, source, (int32_t[]){0, SOURCE}, 1, check_hypothesis, &found));
    while (expected < BEAM && want[expected].score > -INFINITY)
        expected++;
    clfi_verdict_add(&test->verdict, (double)found.count, (double)expected, 0);
done:
    clfi_beam_search_destroy(search);
    return st;
}

/* Searches with every token as the end token in turn, so that some searches find several ends early and others none before the longest
 * target. */
clf_status clfi_selftest_beam_search(clfi_selftest *test)
{
    clfi_ref_weights weights = {0};
    clf_transformer *network = NULL;
    clf_status st;
    CLF_GOTO(clf_transformer_create_random(test->context, &config, SEED, &network));
    CLF_GOTO(clfi_ref_weights_add_seeded(&weights, &config, SEED));
    for (int32_t end = 0; end < VOCABULARY; end++)
        CLF_GOTO(search_case(test, network, &weights, end));
done:
    clf_transformer_destroy(network);
    clfi_ref_weights_free(&weights);
    return st;
}
