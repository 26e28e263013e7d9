/* SPDX-License-Identifier: MIT */
/* Networks in double, in plain loops over whole sequences: the layer that a clf_stack_config describes. */
#include "workload/reference_network.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "workload/reference_gemm.h"
#include "workload/reference_norm.h"
#include "workload/reference_softmax.h"

enum {
    TILE = 16, /* tokens whose sums are made together */
    BOUND_TOKENS = 32,
    BOUND_PLACES = 4,
    PLACES_SEED = 11,
    BUCKETS = 32, /* of MPNet, half of them for later keys */
    MAX_DISTANCE = 128
};

static const double u = 0x1p-24;

typedef struct network_pass {
    const clfi_stored_network *model;
    const clf_stack_config *config;
    int64_t tokens;
    clfi_ref_noise *noise;
    double *bias; /* [BUCKETS, heads], owned: added to scores, by distance; NULL: none */
} network_pass;

clf_status clfi_ref_network_check(const clfi_stored_network *model)
{
    const clf_stack_config *stack = clfi_stored_stack(model);
    const clf_positions positions = clfi_stored_embedding(model)->positions;
    const char *lacking = stack->has_source ? "attention to a source"
                          : stack->buckets.count && (stack->buckets.count != BUCKETS || stack->buckets.max_distance != MAX_DISTANCE)
                              ? "scores by distance in other buckets than MPNet's"
                          : positions != CLF_POSITIONS_NONE && positions != CLF_POSITIONS_LEARNED
                              ? "positions that are added but not learned"
                              : NULL;
    if (lacking)
        CLF_FAIL(CLF_UNSUPPORTED, "the reference does not compute %s", lacking);
    return CLF_OK;
}

/* y [rows,out] = f(x W^T + b), x [rows,in]. Tokens lie side by side for a weight, so that sums of TILE tokens are made at once, each in the
 * order of the inputs. */
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

/* Turns the heads of x [T,heads,D]. */
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

/* T5's buckets, two-sided: half of them for later keys; in each half one for each of 8 distances, then eight that grow by sqrt(2). */
static int64_t bucket_of(int64_t distance)
{
    const int64_t half = BUCKETS / 2, exact = half / 2, far = distance < 0 ? -distance : distance;
    int64_t bucket = far < exact ? far : exact;
    while (far >= exact && bucket < half - 1 && far * far >= exact * exact << (bucket - exact + 1))
        bucket++;
    return bucket + (distance > 0 ? half : 0);
}

/* Keys that query t may use: first .. end. */
static void usable_keys(const network_pass *p, const clf_attention_shape *shape, int64_t t, int64_t *first, int64_t *end)
{
    *first = shape->window > 0 && t >= shape->window ? t - shape->window + 1 : 0;
    *end = shape->is_causal ? t + 1 : shape->window > 0 && t + shape->window < p->tokens ? t + shape->window : p->tokens;
}

/* What query t of head h mixes from rows k, v [T] of D values, `step` apart. scores, weights: [T]. */
static void attend(const network_pass *p, const clf_attention_shape *shape, int64_t layer, int64_t h, int64_t t, const double *q,
                   const double *k, const double *v, int64_t step, double *scores, double *weights, double *out)
{
    int64_t first, end;
    usable_keys(p, shape, t, &first, &end);
    const int64_t d = shape->head_size, keys = end - first;
    const double scale = (double)clfi_stack_scale(p->config, layer), cap = (double)shape->soft_cap;
    const double unit = p->noise ? u * sqrt((double)d + 2) * fabs(scale) * clfi_ref_length(q, d) : 0;
    const double weight_unit = u * (16 + sqrt((double)keys));
    for (int64_t j = 0; j < keys; j++) {
        const double *key = k + (first + j) * step;
        double sum = 0;
        for (int64_t c = 0; c < d; c++)
            sum += q[c] * key[c];
        sum = clfi_ref_rounded(p->noise, scale * sum, p->noise ? unit * clfi_ref_length(key, d) : 0);
        scores[j] = cap > 0 ? clfi_ref_rounded(p->noise, cap * tanh(sum / cap), 8 * u * fabs(sum)) : sum;
        if (p->bias) {
            const double with_bias = scores[j] + p->bias[bucket_of(first + j - t) * shape->heads + h];
            scores[j] = clfi_ref_rounded(p->noise, with_bias, u * fabs(with_bias));
        }
    }
    clfi_ref_softmax_row(scores, NULL, (size_t)keys, CLF_EMPTY_ROWS_ZERO, weights);
    memset(out, 0, (size_t)d * sizeof *out);
    for (int64_t j = 0; j < keys; j++) {
        const double weight = clfi_ref_rounded(p->noise, weights[j], weight_unit * weights[j]);
        for (int64_t c = 0; c < d; c++)
            out[c] += weight * v[(first + j) * step + c];
    }
    for (int64_t c = 0; c < d; c++)
        out[c] = clfi_ref_rounded(p->noise, out[c], weight_unit * fabs(out[c]));
}

/* y [T,C] = attention of x [T,C]. */
static clf_status attention(const network_pass *p, int64_t layer, const double *x, double *y)
{
    const clf_attention_shape *shape = clfi_stack_attention(p->config, layer);
    const int64_t c = p->config->width, n = p->tokens, d = shape->head_size, wide = shape->heads * d, narrow = shape->key_heads * d;
    double *q;
    clf_status st;
    CLF_TRY(clfi_alloc((size_t)(n * (2 * wide + 2 * narrow + 2)), sizeof *q, "reference", &q));
    double *mixed = q + n * wide, *k = mixed + n * wide, *v = k + n * narrow, *scores = v + n * narrow, *weights = scores + n;
    CLF_GOTO(linear(p, CLF_WEIGHT_QUERY, layer, n, c, wide, x, CLF_ACTIVATION_NONE, q));
    CLF_GOTO(linear(p, CLF_WEIGHT_KEY, layer, n, c, narrow, x, CLF_ACTIVATION_NONE, k));
    CLF_GOTO(linear(p, CLF_WEIGHT_VALUE, layer, n, c, narrow, x, CLF_ACTIVATION_NONE, v));
    if (p->config->has_query_key_norm) {
        CLF_GOTO(norm(p, CLF_WEIGHT_QUERY_NORM, layer, n * shape->heads, d, q, q));
        CLF_GOTO(norm(p, CLF_WEIGHT_KEY_NORM, layer, n * shape->key_heads, d, k, k));
    }
    CLF_GOTO(rotate(p, shape, shape->heads, q));
    CLF_GOTO(rotate(p, shape, shape->key_heads, k));
    for (int64_t h = 0; h < shape->heads; h++) {
        const int64_t at = h / (shape->heads / shape->key_heads) * d;
        for (int64_t t = 0; t < n; t++)
            attend(p, shape, layer, h, t, q + t * wide + h * d, k + at, v + at, narrow, scores, weights, mixed + t * wide + h * d);
    }
    CLF_GOTO(linear(p, CLF_WEIGHT_OUTPUT, layer, n, wide, c, mixed, CLF_ACTIVATION_NONE, y));
done:
    free(q);
    return st;
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

/* x [T,C] = x + f(N(x)), x + N'(f(N(x))) or N(x + f(x)); y, normed: scratch. */
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

/* All blocks of all layers, then the final norm. */
static clf_status run_layers(const network_pass *p, double *x)
{
    static const block blocks[] = {{attention, CLF_WEIGHT_ATTENTION_NORM, CLF_WEIGHT_ATTENTION_POST_NORM},
                                   {feed_forward, CLF_WEIGHT_FFN_NORM, CLF_WEIGHT_FFN_POST_NORM}};
    const int64_t c = p->config->width, n = p->tokens;
    double *scratch;
    clf_status st = CLF_OK;
    CLF_TRY(clfi_alloc((size_t)(2 * n * c), sizeof *scratch, "reference", &scratch));
    for (int64_t i = 0; i < p->config->layers * (int64_t)COUNT(blocks); i++)
        CLF_GOTO(run_block(p, &blocks[i % (int64_t)COUNT(blocks)], i / (int64_t)COUNT(blocks), x, scratch, scratch + n * c));
    if (p->config->has_final_norm)
        CLF_GOTO(norm(p, CLF_WEIGHT_FINAL_NORM, 0, n, c, x, x));
done:
    free(scratch);
    return st;
}

static clf_status load_bias(network_pass *p)
{
    const int64_t heads = p->config->attention.heads;
    clfi_stored_weight table;
    if (p->config->buckets.count == 0)
        return CLF_OK;
    CLF_TRY(clfi_stored_matrix(p->model, CLF_WEIGHT_DISTANCE_BIAS, 0, BUCKETS, heads, &table));
    CLF_TRY(clfi_alloc((size_t)(BUCKETS * heads), sizeof *p->bias, "reference", &p->bias));
    for (int64_t i = 0; i < BUCKETS; i++)
        clfi_stored_row(&table, i, p->bias + i * heads);
    return CLF_OK;
}

/* The row of the learned positions that token t has; `counted`: tokens before it that are no padding. */
static int64_t position_of(const clf_embedding_config *embedding, int32_t id, int64_t t, int64_t *counted)
{
    if (!embedding->skips_padding)
        return t + embedding->position_offset;
    return id == embedding->padding ? embedding->position_offset - 1 : (*counted)++ + embedding->position_offset;
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
    CLF_TRY(linear(p, config->is_generator_tied ? CLF_WEIGHT_TOKENS : CLF_WEIGHT_GENERATOR, 0, rows, p->config->width, v, features,
                   CLF_ACTIVATION_NONE, logits));
    for (int64_t i = 0; cap > 0 && i < rows * v; i++)
        logits[i] = clfi_ref_rounded(p->noise, cap * tanh(logits[i] / cap), 8 * u * fabs(logits[i]));
    return CLF_OK;
}

clf_status clfi_ref_network_features(const clfi_stored_network *model, const int32_t *ids, size_t length, clfi_ref_noise *noise,
                                     double *out)
{
    const clf_embedding_config *embedding = clfi_stored_embedding(model);
    network_pass p = {model, clfi_stored_stack(model), (int64_t)length, noise, NULL};
    CLF_TRY(clfi_ref_network_check(model));
    if (length > (size_t)embedding->max_positions)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "reference: %zu tokens, the model has %lld positions", length, (long long)embedding->max_positions);
    for (size_t t = 0; t < length; t++)
        if (ids[t] < 0 || ids[t] >= embedding->vocabulary)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "reference: token %d at %zu is outside the vocabulary", (int)ids[t], t);
    clf_status st = load_bias(&p);
    if (st == CLF_OK)
        st = embed(&p, ids, out);
    if (st == CLF_OK)
        st = run_layers(&p, out);
    free(p.bias);
    return st;
}

clf_status clfi_ref_network_logits(const clfi_stored_network *model, const int32_t *ids, size_t length, const size_t *places,
                                   size_t place_count, clfi_ref_noise *noise, double *out)
{
    const clf_network_config *config = &model->config;
    const network_pass p = {model, &config->decoder, (int64_t)length, noise, NULL};
    const size_t c = (size_t)config->decoder.width;
    double *x;
    clf_status st;
    CLF_TRY(clfi_alloc(length * c, sizeof *x, "reference", &x));
    CLF_GOTO(clfi_ref_network_features(model, ids, length, noise, x));
    for (size_t i = 0; i < place_count; i++)
        memmove(x + i * c, x + places[i] * c, c * sizeof *x);
    for (size_t i = 0; config->generator_scale > 0 && i < place_count * c; i++)
        x[i] *= (double)config->generator_scale;
    CLF_GOTO(head(&p, (int64_t)place_count, x, out));
done:
    free(x);
    return st;
}

clf_status clfi_ref_network_bound(const clfi_stored_network *model, const int32_t *ids, size_t length, double *out)
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
    CLF_GOTO(clfi_ref_network_logits(model, ids, tokens, places, count, NULL, exact));
    CLF_GOTO(clfi_ref_network_logits(model, ids, tokens, places, count, &noise, disturbed));
    for (size_t i = 0; i < count * v; i++) {
        worst = fmax(worst, fabs(disturbed[i] - exact[i]));
        largest = fmax(largest, fabs(exact[i]));
    }
    *out = worst + u * largest;
done:
    free(exact);
    return st;
}
