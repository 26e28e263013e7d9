/* SPDX-License-Identifier: MIT */
/* selftest: a small encoder-decoder with random weights, its log-probabilities and its beam search, against double precision that keeps no cache. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/selftest.h"
#include "cli/selftest_reference.h"
#include "model/beam_search.h"
#include "workload/reference_attention.h"
#include "workload/reference_gemm.h"

enum { WIDTH = 32, HIDDEN = 48, HEADS = 2, SIZE = WIDTH / HEADS, VOCABULARY = 13, LONGEST = 8, SOURCE = 5, BEGIN = 1, BEAM = 4, SEED = 9 };

static const clf_transformer_config config = {
    .width = WIDTH, .hidden_width = HIDDEN, .heads = HEADS, .encoder_layers = 1, .decoder_layers = 2, .source_vocabulary = VOCABULARY,
    .target_vocabulary = VOCABULARY, .max_source = LONGEST, .max_target = LONGEST, .activation = CLF_ACTIVATION_RELU, .norm_first = 1,
    .has_final_norm = 1, .has_generator = 1, .positions = CLF_POSITIONS_SINUSOIDAL, .norm_eps = 1e-5f};

static const int32_t source[SOURCE] = {3, 12, 0, 7, 7};

/* Log-probabilities of a handful of blocks of order 1, some hundred roundings behind each. */
static const double bound = 2e-5;

/* y [rows,out] = x [rows,in] W^T with the initialisation's weights of that name; its biases are 0. */
static void linear(const char *stack, int layer, const char *name, const double *x, size_t rows, size_t out, size_t in, double *y)
{
    float w[WIDTH * HIDDEN];
    char full[96];
    if (layer < 0)
        snprintf(full, sizeof full, "%s%s.weight", stack, name);
    else
        snprintf(full, sizeof full, "%s.layers.%d.%s.weight", stack, layer, name);
    clf_xavier_uniform(SEED, full, 2, (int64_t[]){(int64_t)out, (int64_t)in}, w);
    reference_linear(x, w, NULL, rows, out, in, y, NULL);
}

static void norm(const double *x, size_t rows, double *y)
{
    reference_layer_norm(x, NULL, NULL, rows, WIDTH, (double)config.norm_eps, y);
}

static void embed(const char *table_name, const int32_t *tokens, size_t count, double *x)
{
    float table[VOCABULARY * WIDTH];
    clf_xavier_uniform(SEED, table_name, 2, (int64_t[]){VOCABULARY, WIDTH}, table);
    for (size_t t = 0; t < count; t++) {
        for (size_t c = 0; c < WIDTH; c++) {
            const double angle = (double)t * pow(10000, -(double)(c / 2 * 2) / WIDTH);
            x[t * WIDTH + c] = table[(size_t)tokens[t] * WIDTH + c] * sqrt(WIDTH) + (c % 2 ? cos(angle) : sin(angle));
        }
    }
}

/* x += MHA(LN(x), keys); keys NULL: LN(x) itself, query i sees keys up to i where is_causal. */
static clf_status attend(const char *stack, int layer, const char *part, double *x, size_t queries, const double *keys, size_t key_count,
                         bool is_causal)
{
    static const char *const projections[] = {"query.linear", "key.linear", "value.linear"};
    double z[LONGEST * WIDTH], projected[3][LONGEST * WIDTH], mixed[LONGEST * WIDTH], head_k[LONGEST * SIZE], head_v[LONGEST * SIZE];
    double error[SIZE];
    char name[48];
    norm(x, queries, z);
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s.%s", part, projections[i]);
        linear(stack, layer, name, i > 0 && keys ? keys : z, i > 0 ? key_count : queries, WIDTH, WIDTH, projected[i]);
    }
    for (size_t h = 0; h < HEADS; h++) {
        for (size_t j = 0; j < key_count; j++) {
            memcpy(head_k + j * SIZE, projected[1] + j * WIDTH + h * SIZE, SIZE * sizeof *head_k);
            memcpy(head_v + j * SIZE, projected[2] + j * WIDTH + h * SIZE, SIZE * sizeof *head_v);
        }
        for (size_t i = 0; i < queries; i++)
            CLF_TRY(clfi_ref_attention_row(projected[0] + i * WIDTH + h * SIZE, head_k, head_v, NULL, is_causal ? i + 1 : key_count, SIZE, SIZE,
                                           1 / sqrt(SIZE), CLF_EMPTY_ROWS_ZERO, mixed + i * WIDTH + h * SIZE, error));
    }
    snprintf(name, sizeof name, "%s.output", part);
    linear(stack, layer, name, mixed, queries, WIDTH, WIDTH, z);
    for (size_t i = 0; i < queries * WIDTH; i++)
        x[i] += z[i];
    return CLF_OK;
}

/* x += W2 relu(W1 LN(x)) */
static void feed_forward(const char *stack, int layer, double *x, size_t rows)
{
    double z[LONGEST * WIDTH], hidden[LONGEST * HIDDEN];
    norm(x, rows, z);
    linear(stack, layer, "feed_forward.layer1", z, rows, HIDDEN, WIDTH, hidden);
    for (size_t i = 0; i < rows * HIDDEN; i++)
        hidden[i] = clfi_ref_activation(CLF_ACTIVATION_RELU, hidden[i]);
    linear(stack, layer, "feed_forward.layer2", hidden, rows, WIDTH, HIDDEN, z);
    for (size_t i = 0; i < rows * WIDTH; i++)
        x[i] += z[i];
}

static clf_status reference_memory(double memory[SOURCE * WIDTH])
{
    double x[SOURCE * WIDTH];
    embed("src_embed.linear.weight", source, SOURCE, x);
    for (int layer = 0; layer < config.encoder_layers; layer++) {
        CLF_TRY(attend("encoder", layer, "self_attn", x, SOURCE, NULL, SOURCE, false));
        feed_forward("encoder", layer, x, SOURCE);
    }
    norm(x, SOURCE, memory);
    return CLF_OK;
}

/* Log-probabilities [count,V] of the token after each of tokens[0..count). */
static clf_status reference_decode(const double *memory, const int32_t *tokens, size_t count, double *out)
{
    double x[LONGEST * WIDTH], z[LONGEST * WIDTH];
    embed("tgt_embed.linear.weight", tokens, count, x);
    for (int layer = 0; layer < config.decoder_layers; layer++) {
        CLF_TRY(attend("decoder", layer, "self_attn", x, count, NULL, count, true));
        CLF_TRY(attend("decoder", layer, "src_attn", x, count, memory, SOURCE, false));
        feed_forward("decoder", layer, x, count);
    }
    norm(x, count, z);
    linear("generator.projection", -1, "", z, count, VOCABULARY, WIDTH, out);
    for (size_t i = 0; i < count; i++, out += VOCABULARY) {
        double largest = -INFINITY, sum = 0;
        for (int v = 0; v < VOCABULARY; v++)
            largest = fmax(largest, out[v]);
        for (int v = 0; v < VOCABULARY; v++)
            sum += exp(out[v] - largest);
        for (int v = 0; v < VOCABULARY; v++)
            out[v] -= largest + log(sum);
    }
    return CLF_OK;
}

clf_status selftest_encoder_decoder(selftest *test)
{
    static const int32_t target[LONGEST] = {BEGIN, 4, 11, 5, 5, 0, 9, 12};
    double memory[SOURCE * WIDTH], want[LONGEST * VOCABULARY];
    float got[LONGEST * VOCABULARY];
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
    CLF_GOTO(clf_transformer_forward(network, CLF_LAYOUT_NLD, device_source, device_target, NULL, &causal, features));
    CLF_GOTO(clf_transformer_generate(network, features, 1, log_probabilities));
    CLF_GOTO(clf_tensor_read_f32(log_probabilities, got, COUNT(got)));
    CLF_GOTO(reference_memory(memory));
    CLF_GOTO(reference_decode(memory, target, LONGEST, want));
    for (size_t i = 0; i < COUNT(got); i++)
        selftest_check(test, got[i], want[i], bound);
done:
    clf_tensor_destroy(device_source);
    clf_tensor_destroy(device_target);
    clf_tensor_destroy(features);
    clf_tensor_destroy(log_probabilities);
    clf_transformer_destroy(network);
    return st;
}

/* A hypothesis with its first token BEGIN; log-probability -inf: none. */
typedef struct hypothesis {
    int32_t tokens[LONGEST];
    int count;
    double score;
} hypothesis;

/* Puts h among the best BEAM in falling order of score. */
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
static clf_status reference_search(int32_t end, hypothesis *finished)
{
    double memory[SOURCE * WIDTH], log_probabilities[LONGEST * VOCABULARY];
    hypothesis open[BEAM] = {{.tokens = {BEGIN}, .count = 1}}, next[BEAM];
    CLF_TRY(reference_memory(memory));
    for (int i = 1; i < BEAM; i++)
        open[i].score = -INFINITY;
    forget(finished);
    for (int step = 1; step < LONGEST; step++) {
        forget(next);
        for (int i = 0; i < BEAM && open[i].score > -INFINITY; i++) {
            CLF_TRY(reference_decode(memory, open[i].tokens, (size_t)open[i].count, log_probabilities));
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
    selftest *test;
    const hypothesis *want;
    size_t count;
} search_check;

static clf_status check_hypothesis(void *user, size_t source_index, size_t rank, const clf_hypothesis *got)
{
    search_check *check = user;
    const hypothesis *want = &check->want[rank];
    (void)source_index;
    check->count++;
    selftest_check(check->test, got->score, want->score, bound * LONGEST);
    selftest_check(check->test, (double)got->count, want->count - 1, 0);
    for (size_t i = 0; i < got->count && (int)i + 1 < want->count; i++)
        selftest_check(check->test, got->tokens[i], want->tokens[i + 1], 0);
    return CLF_OK;
}

static clf_status search_case(selftest *test, const clf_transformer *network, int32_t end)
{
    clf_beam_search *search = NULL;
    hypothesis want[BEAM];
    search_check check = {test, want, 0};
    size_t expected = 0;
    clf_status st;
    CLF_GOTO(reference_search(end, want));
    CLF_GOTO(clfi_beam_search_create(network, BEGIN, end, BEAM, &search));
    CLF_GOTO(clfi_beam_search_run(search, source, (int32_t[]){0, SOURCE}, 1, check_hypothesis, &check));
    while (expected < BEAM && want[expected].score > -INFINITY)
        expected++;
    selftest_check(test, (double)check.count, (double)expected, 0);
done:
    clfi_beam_search_destroy(search);
    return st;
}

/* Every token as the one that ends, so that some searches find several ends early and others none before the longest target. */
clf_status selftest_beam_search(selftest *test)
{
    clf_transformer *network = NULL;
    clf_status st;
    CLF_GOTO(clf_transformer_create_random(test->context, &config, SEED, &network));
    for (int32_t end = 0; end < VOCABULARY; end++)
        CLF_GOTO(search_case(test, network, end));
done:
    clf_transformer_destroy(network);
    return st;
}
