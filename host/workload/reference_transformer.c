/* SPDX-License-Identifier: MIT */
/* Computes a Transformer in double precision, as the reference that results of devices are compared with. */
#include "workload/reference_transformer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "workload/reference_dropout.h"
#include "workload/reference_gemm.h"
#include "workload/reference_softmax.h"

static const double u = 0x1p-24;

typedef struct transformer_pass {
    const clf_transformer_config *config;
    const clfi_ref_weights *weights;
    clfi_ref_noise *noise;
    const clfi_ref_extras *extras; /* NULL: none */
    bool is_decoder;
    int64_t layer;
} transformer_pass;

/* The places where dropout is applied, numbered as in clf_transformer_params. */
enum { SELF_WEIGHTS, SELF_RESULT, SOURCE_WEIGHTS, SOURCE_RESULT, HIDDEN, FFN_RESULT };

static void drop(const transformer_pass *p, int place, float probability, int64_t first, int64_t count, double *x)
{
    const uint64_t seed = p->extras->seed + 0x9e3779b97f4a7c15u * (uint64_t)(16 * p->layer + (p->is_decoder ? 8 : 0) + place + 1);
    for (int64_t i = 0; i < count && probability != 0.0f; i++)
        x[i] = clfi_ref_dropout_keeps((uint64_t)(first + i), probability, seed) ? x[i] / (1 - (double)probability) : 0;
}

double clfi_ref_rounded(clfi_ref_noise *noise, double value, double bound)
{
    return noise ? value + bound * (double)clfi_random_uniform(noise, -1, 1) : value;
}

static clf_status find_pair(const clfi_ref_weights *weights, const char *prefix, const char *name, const clfi_ref_weight **weight,
                            const clfi_ref_weight **bias)
{
    char full[CLFI_REF_NAME_BYTES];
    snprintf(full, sizeof full, "%s%s.weight", prefix, name);
    *weight = clfi_ref_weights_find(weights, full);
    snprintf(full, sizeof full, "%s%s.bias", prefix, name);
    *bias = clfi_ref_weights_find(weights, full);
    if (!*weight || !*bias)
        CLF_FAIL(CLF_NOT_FOUND, "reference: no weight or bias %s%s", prefix, name);
    return CLF_OK;
}

double clfi_ref_length(const double *x, int64_t count)
{
    double square = 0;
    for (int64_t i = 0; i < count; i++)
        square += x[i] * x[i];
    return sqrt(square);
}

/* y [rows,out] = f(x W^T + b). The weight is transposed once, so that memory is read in order. */
static clf_status linear(const transformer_pass *p, const char *prefix, const char *name, int64_t rows, const double *x,
                         clf_activation activation, double *y)
{
    const clfi_ref_weight *weight, *bias;
    double *turned;
    CLF_TRY(find_pair(p->weights, prefix, name, &weight, &bias));
    const int64_t out = weight->dim[0], in = weight->dim[1];
    CLF_TRY(clfi_alloc((size_t)(out * (in + 1)), sizeof *turned, "reference", &turned));
    double *norm = turned + out * in;
    for (int64_t o = 0; o < out; o++) {
        for (int64_t i = 0; i < in; i++) {
            const double w = (double)weight->value[o * in + i];
            turned[i * out + o] = w;
            norm[o] += w * w;
        }
        norm[o] = sqrt(norm[o]);
    }
    for (int64_t r = 0; r < rows; r++, x += in, y += out) {
        const double unit = p->noise ? u * sqrt((double)in + 2) * clfi_ref_length(x, in) : 0;
        for (int64_t o = 0; o < out; o++)
            y[o] = (double)bias->value[o];
        for (int64_t i = 0; i < in; i++)
            for (int64_t o = 0; o < out; o++)
                y[o] += x[i] * turned[i * out + o];
        for (int64_t o = 0; o < out; o++) {
            const double sum = clfi_ref_rounded(p->noise, y[o], unit * norm[o] + u * fabs(y[o]));
            y[o] = clfi_ref_activation(activation, sum);
            y[o] = clfi_ref_rounded(p->noise, y[o], clfi_ref_activation_error(activation, sum));
        }
    }
    free(turned);
    return CLF_OK;
}

/* y = LN(x) with the weights "<prefix><name>.weight" and ".bias", rows of c values; y may be x. */
static clf_status ref_norm(const clfi_ref_weights *weights, const char *prefix, const char *name, int64_t rows, int64_t c, double eps,
                           const double *x, double *y, clfi_ref_noise *noise)
{
    const clfi_ref_weight *gain, *shift;
    CLF_TRY(find_pair(weights, prefix, name, &gain, &shift));
    const double unit = u * (8 + sqrt((double)c));
    for (int64_t r = 0; r < rows; r++, x += c, y += c) {
        double mean = 0, variance = 0;
        for (int64_t i = 0; i < c; i++)
            mean += x[i] / (double)c;
        for (int64_t i = 0; i < c; i++)
            variance += (x[i] - mean) * (x[i] - mean) / (double)c;
        for (int64_t i = 0; i < c; i++) {
            const double g = (double)gain->value[i], scaled = (x[i] - mean) / sqrt(variance + eps) * g + (double)shift->value[i];
            y[i] = clfi_ref_rounded(noise, scaled, unit * (fabs(scaled) + fabs(g)));
        }
    }
    return CLF_OK;
}

/* Keys and values of one head. Row j begins at element j * step of k and of v. */
typedef struct head {
    const double *k, *v;
    int64_t keys, size, step;
    double *scores, *weights; /* [K] */
    bool is_source;
    double *shown;      /* receives the layer's weights [N,H,Q,K]; NULL: not wanted */
    const double *bias; /* [2 reach + 1] by distance; NULL: none */
} head;

/* Returns the index of distance j - i in a table of distances from -reach to reach; farther ones count as -reach or reach. */
static int64_t distance_index(const transformer_pass *p, int64_t i, int64_t j)
{
    const int64_t reach = p->extras->reach;
    return (j - i < -reach ? -reach : j - i > reach ? reach : j - i) + reach;
}

/* Returns q_i . k_j, plus q_i . a_(j-i) with relative positions. */
static double product(const transformer_pass *p, const head *h, const double *q, int64_t i, int64_t j)
{
    const double *k = h->k + j * h->step;
    const float *relative = NULL;
    double sum = 0;
    if (p->extras && p->extras->relative && !h->is_source)
        relative = p->extras->relative + distance_index(p, i, j) * h->size;
    for (int64_t c = 0; c < h->size; c++)
        sum += q[c] * (k[c] + (relative ? (double)relative[c] : 0));
    return sum;
}

/* Computes attention of query i of its sequence; `row` is the row of its weights among those of all sequences and heads. */
static void attend(const transformer_pass *p, const head *h, int64_t i, int64_t row, const double *q, const bool *keep, double *out)
{
    const double scale = 1 / sqrt((double)h->size);
    const double unit = p->noise ? u * sqrt((double)h->size + 2) * scale * clfi_ref_length(q, h->size) : 0;
    const double weight_unit = u * (16 + sqrt((double)h->keys));
    for (int64_t j = 0; j < h->keys; j++) {
        const double bound = p->noise ? unit * clfi_ref_length(h->k + j * h->step, h->size) : 0;
        h->scores[j] = clfi_ref_rounded(p->noise, scale * product(p, h, q, i, j) + (h->bias ? h->bias[distance_index(p, i, j)] : 0), bound);
    }
    clfi_ref_softmax_row(h->scores, keep, (size_t)h->keys, CLF_EMPTY_ROWS_ZERO, h->weights);
    if (h->shown)
        memcpy(h->shown + row * h->keys, h->weights, (size_t)h->keys * sizeof *h->shown);
    if (p->extras)
        drop(p, h->is_source ? SOURCE_WEIGHTS : SELF_WEIGHTS, p->extras->weight_dropout, row * h->keys, h->keys, h->weights);
    memset(out, 0, (size_t)h->size * sizeof *out);
    for (int64_t j = 0; j < h->keys; j++) {
        const double weight = clfi_ref_rounded(p->noise, h->weights[j], weight_unit * h->weights[j]);
        for (int64_t c = 0; c < h->size && weight != 0; c++)
            out[c] += weight * h->v[j * h->step + c];
    }
    for (int64_t c = 0; c < h->size; c++)
        out[c] = clfi_ref_rounded(p->noise, out[c], weight_unit * fabs(out[c]));
}

/* y [N,Q,C] = multi-head attention of queries `from` [N,Q,C] to keys and values `to` [N,K,C]. */
static clf_status attention(const transformer_pass *p, const char *prefix, bool is_source, int64_t batch, int64_t queries, int64_t keys,
                            const double *from, const double *to, const bool *keep, double *y)
{
    const int64_t c = p->config->width, heads = p->config->heads, d = c / heads;
    double *q, *shown = !p->extras ? NULL : is_source ? p->extras->source_weights : p->extras->self_weights;
    if (shown)
        shown += p->layer * batch * heads * queries * keys;
    CLF_TRY(clfi_alloc((size_t)(2 * batch * queries * c + 2 * batch * keys * c + 2 * keys), sizeof *q, "reference", &q));
    double *mixed = q + batch * queries * c, *k = mixed + batch * queries * c, *v = k + batch * keys * c, *scores = v + batch * keys * c;
    clf_status st;
    CLF_GOTO(linear(p, prefix, "query.linear", batch * queries, from, CLF_ACTIVATION_NONE, q));
    CLF_GOTO(linear(p, prefix, "key.linear", batch * keys, to, CLF_ACTIVATION_NONE, k));
    CLF_GOTO(linear(p, prefix, "value.linear", batch * keys, to, CLF_ACTIVATION_NONE, v));
    for (int64_t n = 0; n < batch; n++) {
        for (int64_t h = 0; h < heads; h++) {
            const int64_t at = n * keys * c + h * d;
            const double *bias = p->extras && !is_source ? p->extras->distance_bias : NULL;
            const head one = {k + at, v + at,        keys,      d,     c,
                              scores, scores + keys, is_source, shown, bias ? bias + h * (2 * p->extras->reach + 1) : NULL};
            for (int64_t i = 0; i < queries; i++) {
                const int64_t row = (n * heads + h) * queries + i;
                attend(p, &one, i, row, q + (n * queries + i) * c + h * d, keep ? keep + row * keys : NULL,
                       mixed + (n * queries + i) * c + h * d);
            }
        }
    }
    CLF_GOTO(linear(p, prefix, "output", batch * queries, mixed, CLF_ACTIVATION_NONE, y));
done:
    free(q);
    return st;
}

static clf_status feed_forward(const transformer_pass *p, const char *prefix, int64_t rows, const double *x, double *y)
{
    const int64_t f = p->config->hidden_width;
    double *hidden, *gate;
    CLF_TRY(clfi_alloc((size_t)(2 * rows * f), sizeof *hidden, "reference", &hidden));
    gate = hidden + rows * f;
    clf_status st;
    CLF_GOTO(linear(p, prefix, "feed_forward.layer1", rows, x, p->config->activation, hidden));
    if (p->config->is_gated) {
        CLF_GOTO(linear(p, prefix, "feed_forward.linear_v", rows, x, CLF_ACTIVATION_NONE, gate));
        for (int64_t i = 0; i < rows * f; i++)
            hidden[i] = clfi_ref_rounded(p->noise, hidden[i] * gate[i], u * fabs(hidden[i] * gate[i]));
    }
    if (p->extras)
        drop(p, HIDDEN, p->extras->hidden_dropout, 0, rows * f, hidden);
    CLF_GOTO(linear(p, prefix, "feed_forward.layer2", rows, hidden, CLF_ACTIVATION_NONE, y));
done:
    free(hidden);
    return st;
}

enum { SELF_ATTENTION, SOURCE_ATTENTION, FEED_FORWARD, BLOCKS };

/* x += f(LN(x)) or x = LN(x + f(x)); z, y: scratch of the size of x. */
static clf_status run_block(const transformer_pass *p, int block, const char *prefix, const clfi_ref_batch *b, int64_t length,
                            const double *memory, double *x, double *z, double *y)
{
    static const char *const norms[BLOCKS] = {"norm_self_attn", "norm_src_attn", "norm_ff"};
    const clf_transformer_config *config = p->config;
    const int64_t c = config->width, rows = b->batch * length;
    char part[CLFI_REF_NAME_BYTES];
    if (config->norm_first)
        CLF_TRY(ref_norm(p->weights, prefix, norms[block], rows, c, (double)config->norm_eps, x, z, p->noise));
    else
        memcpy(z, x, (size_t)(rows * c) * sizeof *z);
    snprintf(part, sizeof part, "%s%s.", prefix, block == SELF_ATTENTION ? "self_attn" : "src_attn");
    if (block == SELF_ATTENTION)
        CLF_TRY(attention(p, part, false, b->batch, length, length, z, z, b->keep_self, y));
    else if (block == SOURCE_ATTENTION)
        CLF_TRY(attention(p, part, true, b->batch, length, b->source_length, z, memory, b->keep_source, y));
    else {
        if (p->extras && p->extras->ff_input)
            memcpy(p->extras->ff_input + p->layer * rows * c, z, (size_t)(rows * c) * sizeof *z);
        CLF_TRY(feed_forward(p, prefix, rows, z, y));
    }
    if (p->extras)
        drop(p,
             block == SELF_ATTENTION     ? SELF_RESULT
             : block == SOURCE_ATTENTION ? SOURCE_RESULT
                                         : FFN_RESULT,
             p->extras->result_dropout, 0, rows * c, y);
    for (int64_t i = 0; i < rows * c; i++)
        x[i] = clfi_ref_rounded(p->noise, x[i] + y[i], u * fabs(x[i] + y[i]));
    return config->norm_first ? CLF_OK : ref_norm(p->weights, prefix, norms[block], rows, c, (double)config->norm_eps, x, x, p->noise);
}

clf_status clfi_ref_stack(const clf_transformer_config *config, const clfi_ref_weights *weights, bool is_decoder, const clfi_ref_batch *b,
                          const double *memory, double *x, clfi_ref_noise *noise)
{
    transformer_pass p = {config, weights, noise, b->extras, is_decoder, 0};
    const char *stack = is_decoder ? "decoder." : "encoder.";
    const int64_t layers = is_decoder ? config->decoder_layers : config->encoder_layers,
                  length = is_decoder ? b->target_length : b->source_length;
    const int64_t rows = b->batch * length;
    char prefix[48];
    double *scratch;
    clf_status st = CLF_OK;
    CLF_TRY(clfi_alloc((size_t)(2 * rows * config->width), sizeof *scratch, "reference", &scratch));
    for (; p.layer < layers; p.layer++) {
        snprintf(prefix, sizeof prefix, "%slayers.%lld.", stack, (long long)p.layer);
        for (int block = 0; block < BLOCKS; block++)
            if (block != SOURCE_ATTENTION || is_decoder)
                CLF_GOTO(run_block(&p, block, prefix, b, length, memory, x, scratch, scratch + rows * config->width));
    }
    if (layers && config->has_final_norm)
        CLF_GOTO(ref_norm(weights, stack, "norm", rows, config->width, (double)config->norm_eps, x, x, noise));
done:
    free(scratch);
    return st;
}

clf_status clfi_ref_embed(const clf_transformer_config *config, const clfi_ref_weights *weights, bool is_target, int64_t batch,
                          int64_t length, const int32_t *tokens, double *x)
{
    const int64_t c = config->width;
    const bool is_learned = config->positions == CLF_POSITIONS_LEARNED, has_halves = config->positions == CLF_POSITIONS_SINUSOIDAL_HALVES;
    const bool is_sinusoidal = has_halves || config->positions == CLF_POSITIONS_SINUSOIDAL;
    const double scale = config->embedding_scale > 0.0f ? (double)config->embedding_scale : sqrt((double)c);
    const int64_t sines = (c + 1) / 2;
    const clfi_ref_weight *table = clfi_ref_weights_find(weights, is_target ? "tgt_embed.linear.weight" : "src_embed.linear.weight");
    const clfi_ref_weight *learned =
        clfi_ref_weights_find(weights, is_target ? "tgt_embed.positional_encodings" : "src_embed.positional_encodings");
    if (!table || (is_learned && !learned))
        CLF_FAIL(CLF_NOT_FOUND, "reference: no embedding of %s", is_target ? "targets" : "sources");
    for (int64_t t = 0; t < batch * length; t++) {
        for (int64_t i = 0; i < c; i++) {
            const bool is_cosine = has_halves ? i >= sines : i % 2;
            const int64_t pair = !has_halves ? i / 2 : is_cosine ? i - sines : i;
            const double angle = (double)(t % length) * exp(-2.0 * (double)pair * log(10000.0) / (double)c);
            const double sinusoid = !is_sinusoidal ? 0.0 : is_cosine ? cos(angle) : sin(angle);
            x[t * c + i] =
                (double)table->value[tokens[t] * c + i] * scale + (is_learned ? (double)learned->value[t % length * c + i] : sinusoid);
        }
    }
    if (!config->has_embedding_norm)
        return CLF_OK;
    return ref_norm(weights, is_target ? "tgt_embed." : "src_embed.", "norm", batch * length, c, (double)config->norm_eps, x, x, NULL);
}

clf_status clfi_ref_generate(const clf_transformer_config *config, const clfi_ref_weights *weights, int64_t rows, const double *features,
                             bool is_log, double *logits, clfi_ref_noise *noise)
{
    const transformer_pass p = {.config = config, .weights = weights, .noise = noise};
    const int64_t v = config->target_vocabulary;
    CLF_TRY(linear(&p, "", "generator.projection", rows, features, CLF_ACTIVATION_NONE, logits));
    for (int64_t r = 0; is_log && r < rows; r++, logits += v) {
        const double log_sum = clfi_ref_log_sum_exp(logits, (size_t)v);
        for (int64_t i = 0; i < v; i++)
            logits[i] = clfi_ref_rounded(noise, logits[i] - log_sum, u * (16 + sqrt((double)v) + fabs(logits[i])));
    }
    return CLF_OK;
}

clf_status clfi_ref_log_probabilities(const clf_transformer_config *config, const clfi_ref_weights *weights, int64_t source_length,
                                      const int32_t *source, int64_t target_length, const int32_t *target, double *out,
                                      clfi_ref_noise *noise)
{
    const int64_t c = config->width, q = target_length;
    const clfi_ref_batch batch = {.batch = 1, .source_length = source_length, .target_length = q};
    bool *keep = NULL;
    double *memory = NULL;
    clf_status st;
    CLF_GOTO(clfi_alloc((size_t)(config->heads * q * q), sizeof *keep, "reference", &keep));
    CLF_GOTO(clfi_alloc((size_t)((source_length + q) * c), sizeof *memory, "reference", &memory));
    for (int64_t i = 0; i < config->heads * q * q; i++)
        keep[i] = i % q <= i / q % q;
    double *features = memory + source_length * c;
    CLF_GOTO(clfi_ref_embed(config, weights, false, 1, source_length, source, memory));
    CLF_GOTO(clfi_ref_stack(config, weights, false, &batch, NULL, memory, noise));
    CLF_GOTO(clfi_ref_embed(config, weights, true, 1, q, target, features));
    clfi_ref_batch masked = batch;
    masked.keep_self = keep;
    CLF_GOTO(clfi_ref_stack(config, weights, true, &masked, memory, features, noise));
    CLF_GOTO(clfi_ref_generate(config, weights, q, features, true, out, noise));
done:
    free(keep);
    free(memory);
    return st;
}
