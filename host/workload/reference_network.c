/* SPDX-License-Identifier: MIT */
/* Computes networks in double, in plain loops over whole sequences: the layers that a clf_stack_config describes. */
#include "workload/reference_network.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "workload/reference_gemm.h"
#include "workload/reference_norm.h"
#include "workload/reference_softmax.h"

enum {
    TILE = 16, /* tokens whose sums are computed together */
    BOUND_TOKENS = 32,
    BOUND_PLACES = 4,
    PLACES_SEED = 11
};

static const double u = 0x1p-24;

typedef struct network_pass {
    const clfi_stored_network *model;
    const clf_stack_config *config;
    int64_t tokens;
    clfi_ref_noise *noise;
    const double *memory; /* [memory_tokens, C]: the encoder's output, which layers with source attention read */
    int64_t memory_tokens;
    double *bias; /* [buckets, heads], owned: added to scores by distance; NULL: none */
} network_pass;

/* y [rows,out] = f(x W^T + b), x [rows,in]. x is stored in tiles of TILE tokens side by side, so that TILE sums with one weight run at
 * once, each in the order of the inputs. */
static clf_status linear(const network_pass *p, clf_weight_role role, int64_t layer, int64_t rows, int64_t in, int64_t out, const double *x,
                         clf_activation activation, double *y)
{
    const int64_t tiles = (rows + TILE - 1) / TILE;
    clfi_stored_weight weight;
    double *row = NULL, *bias = NULL;
    clf_status st;
    CLF_GOTO(clfi_stored_matrix(p->model, role, layer, out, in, &weight));
    CLF_GOTO(clfi_stored_vector(p->model, role, layer, "bias", out, &bias));
    CLF_GOTO(clfi_alloc((size_t)(in + tiles * TILE * (in + 1)), sizeof *row, "reference", &row));
    double *turned = row + in, *unit = turned + tiles * TILE * in;
    for (int64_t t = 0; t < rows; t++) {
        for (int64_t i = 0; i < in; i++)
            turned[(t / TILE * in + i) * TILE + t % TILE] = x[t * in + i];
        unit[t] = p->noise ? u * sqrt((double)in + 2) * clfi_ref_length(x + t * in, in) : 0;
    }
    for (int64_t o = 0; o < out; o++) {
        clfi_stored_row(&weight, o, row);
        const double length = p->noise ? clfi_ref_length(row, in) : 0;
        for (int64_t tile = 0; tile < tiles; tile++) {
            const double *inputs = turned + tile * in * TILE;
            double sums[TILE] = {0};
            for (int64_t i = 0; i < in; i++)
                for (int t = 0; t < TILE; t++)
                    sums[t] += row[i] * inputs[i * TILE + t];
            for (int64_t t = tile * TILE; t < rows && t < (tile + 1) * TILE; t++) {
                const double exact = sums[t % TILE] + (bias ? bias[o] : 0);
                const double sum = clfi_ref_rounded(p->noise, exact, unit[t] * length + u * fabs(exact));
                y[t * out + o] =
                    clfi_ref_rounded(p->noise, clfi_ref_activation(activation, sum), clfi_ref_activation_error(activation, sum));
            }
        }
    }
done:
    free(row);
    free(bias);
    return st;
}

/* y [rows,n] = the stack's kind of norm of x; y may be x. */
static clf_status norm(const network_pass *p, clf_weight_role role, int64_t layer, int64_t rows, int64_t n, const double *x, double *y)
{
    const double eps = (double)p->config->norm_eps;
    double *gamma = NULL, *beta = NULL, *made = NULL;
    clf_status st;
    CLF_GOTO(clfi_stored_vector(p->model, role, layer, "weight", n, &gamma));
    CLF_GOTO(clfi_stored_vector(p->model, role, layer, "bias", n, &beta));
    CLF_GOTO(clfi_alloc((size_t)(2 * rows * n), sizeof *made, "reference", &made));
    double *bound = made + rows * n;
    for (int64_t i = 0; p->config->norm == CLF_NORM_RMS_PLUS_ONE && i < n; i++)
        gamma[i] += 1;
    if (p->config->norm == CLF_NORM_LAYER)
        clfi_ref_layer_norm(x, gamma, beta, (size_t)rows, (size_t)n, eps, made, bound);
    else
        clfi_ref_rms_norm(x, gamma, (size_t)rows, (size_t)n, eps, made, bound);
    for (int64_t i = 0; i < rows * n; i++)
        y[i] = clfi_ref_rounded(p->noise, made[i], bound[i]);
done:
    free(gamma);
    free(beta);
    free(made);
    return st;
}

/* Applies rotary positions to the heads of x [T,heads,D]. */
static clf_status rotate(const network_pass *p, const clf_attention_shape *shape, int64_t heads, double *x)
{
    const clf_rotary *rotary = &shape->rotary;
    const int64_t pairs = rotary->dims / 2, step = rotary->is_interleaved ? 1 : pairs;
    const double magnitude = rotary->magnitude > 0 ? rotary->magnitude : 1;
    double *frequencies;
    if (rotary->base <= 0)
        return CLF_OK;
    CLF_TRY(clfi_alloc((size_t)pairs, sizeof *frequencies, "reference", &frequencies));
    clfi_rotary_frequencies(rotary, frequencies);
    for (int64_t i = 0; i < p->tokens * heads * pairs; i++) {
        const int64_t pair = i % pairs, row = i / pairs;
        double *a = x + row * shape->head_size + (rotary->is_interleaved ? 2 * pair : pair), *b = a + step;
        const double angle = (double)(row / heads) * frequencies[pair], size = 4 * u * magnitude * hypot(*a, *b);
        const double turned_a = magnitude * (*a * cos(angle) - *b * sin(angle)), turned_b = magnitude * (*a * sin(angle) + *b * cos(angle));
        *a = clfi_ref_rounded(p->noise, turned_a, size);
        *b = clfi_ref_rounded(p->noise, turned_b, size);
    }
    free(frequencies);
    return CLF_OK;
}

/* T5's buckets: one for each small distance, then wider ones whose borders grow evenly in the logarithm. Without causality the second
 * half of the buckets is for later keys. */
static int64_t bucket_of(const clf_stack_config *config, int64_t distance)
{
    const bool is_causal = config->attention.is_causal;
    const int64_t count = config->buckets.count / (is_causal ? 1 : 2), exact = count / 2, far = distance < 0 ? -distance : distance;
    int64_t bucket = is_causal && distance > 0 ? 0 : far;
    if (bucket >= exact) {
        const double place = log((double)far / (double)exact) / log((double)config->buckets.max_distance / (double)exact);
        bucket = exact + (int64_t)(place * (double)(count - exact) + 1e-9);
        bucket = bucket < count ? bucket : count - 1;
    }
    return bucket + (!is_causal && distance > 0 ? count : 0);
}

/* Keys that query t may use: first to end - 1. */
static void usable_keys(const network_pass *p, const clf_attention_shape *shape, int64_t t, int64_t *first, int64_t *end)
{
    *first = shape->window > 0 && t >= shape->window ? t - shape->window + 1 : 0;
    *end = shape->is_causal ? t + 1 : shape->window > 0 && t + shape->window < p->tokens ? t + shape->window : p->tokens;
}

/* Key and value rows of one head, `step` values apart, and scratch. */
typedef struct head_rows {
    const double *k, *v;
    int64_t step;
    double *scores, *weights; /* [T] */
} head_rows;

/* Attention of query t of head h over the keys first to end - 1. has_bias: scores have a bias by distance. */
static void attend(const network_pass *p, const clf_attention_shape *shape, int64_t layer, int64_t h, int64_t t, int64_t first, int64_t end,
                   bool has_bias, const double *q, const head_rows *rows, double *out)
{
    const int64_t d = shape->head_size, keys = end - first;
    const double scale = (double)clfi_stack_scale(p->config, layer), cap = (double)shape->soft_cap;
    const double unit = p->noise ? u * sqrt((double)d + 2) * fabs(scale) * clfi_ref_length(q, d) : 0;
    const double weight_unit = u * (16 + sqrt((double)keys));
    for (int64_t j = 0; j < keys; j++) {
        const double *key = rows->k + (first + j) * rows->step;
        double sum = 0;
        for (int64_t c = 0; c < d; c++)
            sum += q[c] * key[c];
        sum = clfi_ref_rounded(p->noise, scale * sum, p->noise ? unit * clfi_ref_length(key, d) : 0);
        rows->scores[j] = cap > 0 ? clfi_ref_rounded(p->noise, cap * tanh(sum / cap), 8 * u * fabs(sum)) : sum;
        if (has_bias) {
            const double with_bias = rows->scores[j] + p->bias[bucket_of(p->config, first + j - t) * shape->heads + h];
            rows->scores[j] = clfi_ref_rounded(p->noise, with_bias, u * fabs(with_bias));
        }
    }
    clfi_ref_softmax_row(rows->scores, NULL, (size_t)keys, CLF_EMPTY_ROWS_ZERO, rows->weights);
    memset(out, 0, (size_t)d * sizeof *out);
    for (int64_t j = 0; j < keys; j++) {
        const double weight = clfi_ref_rounded(p->noise, rows->weights[j], weight_unit * rows->weights[j]);
        for (int64_t c = 0; c < d; c++)
            out[c] += weight * rows->v[(first + j) * rows->step + c];
    }
    for (int64_t c = 0; c < d; c++)
        out[c] = clfi_ref_rounded(p->noise, out[c], weight_unit * fabs(out[c]));
}

/* Normalises and rotates the queries and keys of self-attention. */
static clf_status turn_heads(const network_pass *p, int64_t layer, double *q, double *k)
{
    const clf_attention_shape *shape = clfi_stack_attention(p->config, layer);
    const int64_t n = p->tokens, d = shape->head_size;
    if (p->config->has_query_key_norm) {
        CLF_TRY(norm(p, CLF_WEIGHT_QUERY_NORM, layer, n * shape->heads, d, q, q));
        CLF_TRY(norm(p, CLF_WEIGHT_KEY_NORM, layer, n * shape->key_heads, d, k, k));
    }
    CLF_TRY(rotate(p, shape, shape->heads, q));
    return rotate(p, shape, shape->key_heads, k);
}

/* y [T,C] = attention of x [T,C] to itself, or to the memory. */
static clf_status attention_to(const network_pass *p, bool to_memory, int64_t layer, const double *x, double *y)
{
    static const clf_weight_role roles[2][4] = {
        {CLF_WEIGHT_QUERY, CLF_WEIGHT_KEY, CLF_WEIGHT_VALUE, CLF_WEIGHT_OUTPUT},
        {CLF_WEIGHT_SOURCE_QUERY, CLF_WEIGHT_SOURCE_KEY, CLF_WEIGHT_SOURCE_VALUE, CLF_WEIGHT_SOURCE_OUTPUT}};
    const clf_attention_shape *shape = clfi_stack_attention(p->config, layer);
    const clf_weight_role *role = roles[to_memory];
    const int64_t c = p->config->width, n = p->tokens, keys = to_memory ? p->memory_tokens : n;
    const int64_t d = shape->head_size, wide = shape->heads * d, narrow = shape->key_heads * d;
    const double *from = to_memory ? p->memory : x;
    double *q;
    clf_status st;
    CLF_TRY(clfi_alloc((size_t)(2 * n * wide + keys * (2 * narrow + 2)), sizeof *q, "reference", &q));
    double *mixed = q + n * wide, *k = mixed + n * wide, *v = k + keys * narrow, *scores = v + keys * narrow;
    CLF_GOTO(linear(p, role[0], layer, n, c, wide, x, CLF_ACTIVATION_NONE, q));
    CLF_GOTO(linear(p, role[1], layer, keys, c, narrow, from, CLF_ACTIVATION_NONE, k));
    CLF_GOTO(linear(p, role[2], layer, keys, c, narrow, from, CLF_ACTIVATION_NONE, v));
    if (!to_memory)
        CLF_GOTO(turn_heads(p, layer, q, k));
    for (int64_t h = 0; h < shape->heads; h++) {
        const int64_t at = h / (shape->heads / shape->key_heads) * d;
        const head_rows rows = {k + at, v + at, narrow, scores, scores + keys};
        for (int64_t t = 0; t < n; t++) {
            int64_t first = 0, end = keys;
            if (!to_memory)
                usable_keys(p, shape, t, &first, &end);
            attend(p, shape, layer, h, t, first, end, p->bias && !to_memory, q + t * wide + h * d, &rows, mixed + t * wide + h * d);
        }
    }
    CLF_GOTO(linear(p, role[3], layer, n, wide, c, mixed, CLF_ACTIVATION_NONE, y));
done:
    free(q);
    return st;
}

static clf_status attention(const network_pass *p, int64_t layer, const double *x, double *y)
{
    return attention_to(p, false, layer, x, y);
}

static clf_status source_attention(const network_pass *p, int64_t layer, const double *x, double *y)
{
    return attention_to(p, true, layer, x, y);
}

/* y [T,C] = W2 (f(W1 x) * Wg x) */
static clf_status feed_forward(const network_pass *p, int64_t layer, const double *x, double *y)
{
    const int64_t c = p->config->width, f = p->config->hidden_width, n = p->tokens;
    double *hidden;
    clf_status st;
    CLF_TRY(clfi_alloc((size_t)(2 * n * f), sizeof *hidden, "reference", &hidden));
    double *gate = hidden + n * f;
    CLF_GOTO(linear(p, CLF_WEIGHT_FFN_IN, layer, n, c, f, x, p->config->activation, hidden));
    if (p->config->is_gated) {
        CLF_GOTO(linear(p, CLF_WEIGHT_FFN_GATE, layer, n, c, f, x, CLF_ACTIVATION_NONE, gate));
        for (int64_t i = 0; i < n * f; i++)
            hidden[i] = clfi_ref_rounded(p->noise, hidden[i] * gate[i], u * fabs(hidden[i] * gate[i]));
    }
    CLF_GOTO(linear(p, CLF_WEIGHT_FFN_OUT, layer, n, f, c, hidden, CLF_ACTIVATION_NONE, y));
done:
    free(hidden);
    return st;
}

typedef struct block {
    clf_status (*run)(const network_pass *p, int64_t layer, const double *x, double *y);
    clf_weight_role before, after; /* its norms */
} block;

/* x [T,C] = x + f(N(x)), x + N'(f(N(x))) or N(x + f(x)), by the place of the norm. y, normed: scratch. */
static clf_status run_block(const network_pass *p, const block *one, int64_t layer, double *x, double *y, double *normed)
{
    const clf_norm_place place = p->config->place;
    const int64_t c = p->config->width, n = p->tokens;
    const bool has_norm = !(p->config->lacks_first_norm && layer == 0 && one->before == CLF_WEIGHT_ATTENTION_NORM);
    const double *input = x;
    if (place != CLF_NORM_POST && has_norm) {
        CLF_TRY(norm(p, one->before, layer, n, c, x, normed));
        input = normed;
    }
    CLF_TRY(one->run(p, layer, input, y));
    if (place == CLF_NORM_BOTH)
        CLF_TRY(norm(p, one->after, layer, n, c, y, y));
    for (int64_t j = 0; j < n * c; j++)
        x[j] = clfi_ref_rounded(p->noise, x[j] + y[j], u * fabs(x[j] + y[j]));
    return place == CLF_NORM_POST ? norm(p, one->before, layer, n, c, x, x) : CLF_OK;
}

/* Runs all blocks of all layers, then the final norm. */
static clf_status run_layers(const network_pass *p, double *x)
{
    static const block blocks[] = {{attention, CLF_WEIGHT_ATTENTION_NORM, CLF_WEIGHT_ATTENTION_POST_NORM},
                                   {source_attention, CLF_WEIGHT_SOURCE_NORM, CLF_WEIGHT_END},
                                   {feed_forward, CLF_WEIGHT_FFN_NORM, CLF_WEIGHT_FFN_POST_NORM}};
    const int64_t c = p->config->width, n = p->tokens;
    double *scratch;
    clf_status st = CLF_OK;
    CLF_TRY(clfi_alloc((size_t)(2 * n * c), sizeof *scratch, "reference", &scratch));
    for (int64_t layer = 0; layer < p->config->layers; layer++)
        for (size_t i = 0; i < COUNT(blocks); i++)
            if (blocks[i].run != source_attention || p->config->has_source)
                CLF_GOTO(run_block(p, &blocks[i], layer, x, scratch, scratch + n * c));
    if (p->config->has_final_norm)
        CLF_GOTO(norm(p, CLF_WEIGHT_FINAL_NORM, 0, n, c, x, x));
done:
    free(scratch);
    return st;
}

static clf_status load_bias(network_pass *p)
{
    const int64_t heads = p->config->attention.heads, buckets = p->config->buckets.count;
    clfi_stored_weight table;
    if (buckets == 0)
        return CLF_OK;
    CLF_TRY(clfi_stored_matrix(p->model, CLF_WEIGHT_DISTANCE_BIAS, 0, buckets, heads, &table));
    CLF_TRY(clfi_alloc((size_t)(buckets * heads), sizeof *p->bias, "reference", &p->bias));
    for (int64_t i = 0; i < buckets; i++)
        clfi_stored_row(&table, i, p->bias + i * heads);
    return CLF_OK;
}

/* The row of the learned positions for token t. *counted: tokens before it that are no padding. */
static int64_t position_of(const clf_embedding_config *embedding, int32_t id, int64_t t, int64_t *counted)
{
    if (!embedding->skips_padding)
        return t + embedding->position_offset;
    return id == embedding->padding ? embedding->position_offset - 1 : (*counted)++ + embedding->position_offset;
}

/* out [c] = sines and cosines of position t: alternating, or all sines before all cosines. */
static void sinusoid(clf_positions kind, int64_t t, int64_t c, double *out)
{
    const bool has_halves = kind == CLF_POSITIONS_SINUSOIDAL_HALVES;
    const int64_t sines = (c + 1) / 2;
    for (int64_t i = 0; i < c; i++) {
        const bool is_cosine = has_halves ? i >= sines : i % 2;
        const int64_t pair = !has_halves ? i / 2 : is_cosine ? i - sines : i;
        const double angle = (double)t * exp(-2.0 * (double)pair * log(10000.0) / (double)c);
        out[i] = is_cosine ? cos(angle) : sin(angle);
    }
}

/* x [T,C] = tokens * scale + positions + type 0, or the norm of that. */
static clf_status embed(const network_pass *p, const int32_t *ids, double *x)
{
    const clf_embedding_config *embedding = clfi_stored_embedding(p->model);
    const int64_t c = p->config->width;
    const int64_t places = embedding->max_positions + embedding->position_offset;
    clfi_stored_weight table, positions = {.rows = 0}, types = {.rows = 0};
    int64_t counted = 0;
    double *row;
    CLF_TRY(clfi_stored_matrix(p->model, CLF_WEIGHT_TOKENS, 0, embedding->vocabulary, c, &table));
    if (embedding->positions == CLF_POSITIONS_LEARNED)
        CLF_TRY(clfi_stored_matrix(p->model, CLF_WEIGHT_POSITIONS, 0, places, c, &positions));
    if (embedding->types)
        CLF_TRY(clfi_stored_matrix(p->model, CLF_WEIGHT_TYPES, 0, embedding->types, c, &types));
    CLF_TRY(clfi_alloc((size_t)(2 * c), sizeof *row, "reference", &row));
    double *const type = row + c;
    if (types.rows)
        clfi_stored_row(&types, 0, type);
    for (int64_t t = 0; t < p->tokens; t++) {
        clfi_stored_row(&table, ids[t], x + t * c);
        if (positions.rows)
            clfi_stored_row(&positions, position_of(embedding, ids[t], t, &counted), row);
        else if (embedding->positions != CLF_POSITIONS_NONE)
            sinusoid(embedding->positions, t, c, row);
        for (int64_t i = 0; i < c; i++) {
            const double token = x[t * c + i] * (double)embedding->scale;
            x[t * c + i] = clfi_ref_rounded(p->noise, token + row[i] + type[i], 2 * u * (fabs(token) + fabs(row[i]) + fabs(type[i])));
        }
    }
    free(row);
    return embedding->has_norm ? norm(p, CLF_WEIGHT_EMBEDDING_NORM, 0, p->tokens, c, x, x) : CLF_OK;
}

/* logits [rows,V] from features [rows,C] */
static clf_status head(const network_pass *p, int64_t rows, const double *features, double *logits)
{
    const clf_network_config *config = &p->model->config;
    const double cap = (double)config->logit_soft_cap;
    const int64_t v = config->target.vocabulary;
    const clf_weight_role role = config->is_generator_tied     ? CLF_WEIGHT_TOKENS
                                 : config->is_generator_shared ? CLF_WEIGHT_SHARED
                                                               : CLF_WEIGHT_GENERATOR;
    double *bias;
    CLF_TRY(linear(p, role, 0, rows, p->config->width, v, features, CLF_ACTIVATION_NONE, logits));
    CLF_TRY(clfi_stored_vector(p->model, CLF_WEIGHT_GENERATOR_BIAS, 0, "bias", v, &bias));
    if (!bias && role != CLF_WEIGHT_GENERATOR)
        CLF_TRY(clfi_stored_vector(p->model, CLF_WEIGHT_GENERATOR, 0, "bias", v, &bias));
    for (int64_t i = 0; bias && i < rows * v; i++)
        logits[i] = clfi_ref_rounded(p->noise, logits[i] + bias[i % v], u * fabs(logits[i] + bias[i % v]));
    free(bias);
    for (int64_t i = 0; cap > 0 && i < rows * v; i++)
        logits[i] = clfi_ref_rounded(p->noise, cap * tanh(logits[i] / cap), 8 * u * fabs(logits[i]));
    return CLF_OK;
}

/* Computes the features of the stack; p->memory: the encoder's output, if layers read it. */
static clf_status run_stack(network_pass *p, const int32_t *ids, double *out)
{
    const clf_embedding_config *embedding = clfi_stored_embedding(p->model);
    if (p->tokens > embedding->max_positions)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "reference: %lld tokens, the model has %lld positions", (long long)p->tokens,
                 (long long)embedding->max_positions);
    for (int64_t t = 0; t < p->tokens; t++)
        if (ids[t] < 0 || ids[t] >= embedding->vocabulary)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "reference: token %d at %lld is outside the vocabulary", (int)ids[t], (long long)t);
    clf_status st = load_bias(p);
    if (st == CLF_OK)
        st = embed(p, ids, out);
    if (st == CLF_OK)
        st = run_layers(p, out);
    free(p->bias);
    p->bias = NULL;
    return st;
}

clf_status clfi_ref_network_features(const clfi_stored_network *model, const int32_t *ids, size_t length, clfi_ref_noise *noise,
                                     double *out)
{
    network_pass p = {.model = model, .config = clfi_stored_stack(model), .tokens = (int64_t)length, .noise = noise};
    return run_stack(&p, ids, out);
}

clf_status clfi_ref_network_logits(const clfi_stored_network *model, const clf_tokens *source, const int32_t *ids, size_t length,
                                   const size_t *places, size_t place_count, clfi_ref_noise *noise, double *out)
{
    const clf_network_config *config = &model->config;
    const size_t c = (size_t)config->decoder.width, sources = config->decoder.has_source ? source->count : 0;
    double *x;
    clf_status st;
    CLF_TRY(clfi_alloc((length + sources) * c, sizeof *x, "reference", &x));
    network_pass p = {.model = model,
                      .config = &config->decoder,
                      .tokens = (int64_t)length,
                      .noise = noise,
                      .memory = x + length * c,
                      .memory_tokens = (int64_t)sources};
    if (config->decoder.has_source) {
        const clfi_stored_network encoder = clfi_stored_source(model);
        CLF_GOTO(clfi_ref_network_features(&encoder, source->ids, sources, noise, x + length * c));
    }
    CLF_GOTO(run_stack(&p, ids, x));
    for (size_t i = 0; i < place_count; i++)
        memmove(x + i * c, x + places[i] * c, c * sizeof *x);
    for (size_t i = 0; config->generator_scale > 0 && i < place_count * c; i++)
        x[i] *= (double)config->generator_scale;
    CLF_GOTO(head(&p, (int64_t)place_count, x, out));
done:
    free(x);
    return st;
}

clf_status clfi_ref_network_bound(const clfi_stored_network *model, const clf_tokens *source, const int32_t *ids, size_t length,
                                  double *out)
{
    const size_t v = (size_t)model->config.target.vocabulary, tokens = length < BOUND_TOKENS ? length : BOUND_TOKENS;
    clfi_random random = {PLACES_SEED};
    clfi_ref_noise noise = {1};
    size_t places[BOUND_PLACES];
    const size_t count = clfi_random_places(&random, tokens, BOUND_PLACES, places);
    double *exact, worst = 0, largest = 0;
    clf_status st;
    CLF_TRY(clfi_alloc(2 * count * v, sizeof *exact, "reference", &exact));
    double *disturbed = exact + count * v;
    CLF_GOTO(clfi_ref_network_logits(model, source, ids, tokens, places, count, NULL, exact));
    CLF_GOTO(clfi_ref_network_logits(model, source, ids, tokens, places, count, &noise, disturbed));
    for (size_t i = 0; i < count * v; i++) {
        worst = fmax(worst, fabs(disturbed[i] - exact[i]));
        largest = fmax(largest, fabs(exact[i]));
    }
    *out = worst + u * largest;
done:
    free(exact);
    return st;
}
