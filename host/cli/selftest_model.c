/* SPDX-License-Identifier: MIT */
/* selftest: attention over packed sequences, and a small encoder of two layers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/selftest.h"
#include "cli/selftest_reference.h"
#include "nn/encoder.h"
#include "workload/reference_gemm.h"

enum { SEQUENCES = 3, TOKENS = 104, HEADS = 2, SIZE = 32, WIDTH = HEADS * SIZE, HIDDEN = 160, LAYERS = 2 };

static const int32_t offsets[SEQUENCES + 1] = {0, 1, 34, TOKENS};
static const double u = 0x1p-24;

clf_status selftest_attention(selftest *test)
{
    clf_tensor *qkv = NULL, *out = NULL;
    clf_attention_batch *batch = NULL;
    float *host = NULL, got[TOKENS * WIDTH];
    double *wide = NULL, *want = NULL;
    clf_status st;
    CLF_GOTO(selftest_tensor(test, 3, (int64_t[]){TOKENS, 3 * HEADS, SIZE}, -2, 2, &qkv, &host));
    CLF_GOTO(clf_tensor_create(test->context, CLF_F32, 3, (int64_t[]){TOKENS, HEADS, SIZE}, &out));
    CLF_GOTO(clfi_alloc(TOKENS * 3 * WIDTH, sizeof *wide, "selftest", &wide));
    CLF_GOTO(clfi_alloc(TOKENS * WIDTH, sizeof *want, "selftest", &want));
    CLF_GOTO(clfi_attention_batch_create(test->context, &batch));
    CLF_GOTO(clfi_attention_batch_set(batch, SEQUENCES, offsets, NULL));
    clf_view part[3];
    for (int i = 0; i < 3; i++) {
        part[i] = *clfi_tensor_view(qkv); /* [T, 3H, D] seen as [H, T, D] */
        part[i].dim[0] = HEADS;
        part[i].dim[1] = TOKENS;
        part[i].stride[0] = SIZE;
        part[i].stride[1] = 3 * WIDTH;
        part[i].offset += i * WIDTH;
    }
    const clf_attention_args args = {.batch = batch, .q = &part[0], .k = &part[1], .v = &part[2], .out = clfi_tensor_view(out),
                                     .scale = 1.0f / sqrtf(SIZE), .empty_rows = CLF_EMPTY_ROWS_ZERO};
    CLF_GOTO(clfi_attention(test->context, &args));
    CLF_GOTO(clf_tensor_read_f32(out, got, COUNT(got)));
    for (size_t i = 0; i < TOKENS * 3 * WIDTH; i++)
        wide[i] = host[i];
    reference_attention(wide, offsets, SEQUENCES, HEADS, SIZE, want);
    /* scores: |q|.|k| <= 4 SIZE / sqrt(SIZE) with SIZE roundings each; weights and their sum; products with |v| <= 2 */
    for (size_t i = 0; i < COUNT(got); i++)
        selftest_check(test, got[i], want[i], u * 2 * (2 * 4 * sqrt(SIZE) * 4 + 70 + 32));
done:
    clfi_attention_batch_destroy(batch);
    clf_tensor_destroy(qkv);
    clf_tensor_destroy(out);
    free(host);
    free(wide);
    free(want);
    return st;
}

/* Weights of one layer on both sides. */
typedef struct layer_weights {
    clf_tensor *tensor[12];
    float *host[12];
} layer_weights;

enum { QKV_W, QKV_B, OUT_W, OUT_B, IN_W, IN_B, FFN_W, FFN_B, G1, B1, G2, B2 };

static clf_status make_layer(selftest *test, layer_weights *w, clf_encoder_layer *layer)
{
    static const struct {
        int rank;
        int64_t dim[2];
        float low, high;
    } shapes[12] = {
        {2, {3 * WIDTH, WIDTH}, -0.1f, 0.1f}, {1, {3 * WIDTH}, -0.1f, 0.1f}, {2, {WIDTH, WIDTH}, -0.1f, 0.1f}, {1, {WIDTH}, -0.1f, 0.1f},
        {2, {HIDDEN, WIDTH}, -0.1f, 0.1f},    {1, {HIDDEN}, -0.1f, 0.1f},    {2, {WIDTH, HIDDEN}, -0.1f, 0.1f}, {1, {WIDTH}, -0.1f, 0.1f},
        {1, {WIDTH}, 0.5f, 1.5f},             {1, {WIDTH}, -0.5f, 0.5f},     {1, {WIDTH}, 0.5f, 1.5f},        {1, {WIDTH}, -0.5f, 0.5f},
    };
    clf_linear **linears[4] = {&layer->qkv, &layer->output, &layer->ffn_in, &layer->ffn_out};
    for (int i = 0; i < 12; i++)
        CLF_TRY(selftest_tensor(test, shapes[i].rank, shapes[i].dim, shapes[i].low, shapes[i].high, &w->tensor[i], &w->host[i]));
    for (int i = 0; i < 4; i++)
        CLF_TRY(clfi_linear_create(test->context, 1, clfi_tensor_view(w->tensor[2 * i]), clfi_tensor_view(w->tensor[2 * i + 1]),
                                   linears[i]));
    layer->attention_norm = (clf_norm){*clfi_tensor_view(w->tensor[G1]), *clfi_tensor_view(w->tensor[B1])};
    layer->ffn_norm = (clf_norm){*clfi_tensor_view(w->tensor[G2]), *clfi_tensor_view(w->tensor[B2])};
    return CLF_OK;
}

/* x = LN1(x + MHA(x)); x = LN2(x + FFN(x)), in double; scratch holds TOKENS * (3 WIDTH + WIDTH + HIDDEN + WIDTH) values. */
static void reference_layer(const layer_weights *w, double *x, double *scratch)
{
    double *qkv = scratch, *mixed = qkv + TOKENS * 3 * WIDTH, *hidden = mixed + TOKENS * WIDTH, *sum = hidden + TOKENS * HIDDEN;
    reference_linear(x, w->host[QKV_W], w->host[QKV_B], TOKENS, 3 * WIDTH, WIDTH, qkv, NULL);
    reference_attention(qkv, offsets, SEQUENCES, HEADS, SIZE, mixed);
    reference_linear(mixed, w->host[OUT_W], w->host[OUT_B], TOKENS, WIDTH, WIDTH, sum, NULL);
    for (size_t i = 0; i < TOKENS * WIDTH; i++)
        sum[i] += x[i];
    reference_layer_norm(sum, w->host[G1], w->host[B1], TOKENS, WIDTH, 1e-12, x);
    reference_linear(x, w->host[IN_W], w->host[IN_B], TOKENS, HIDDEN, WIDTH, hidden, NULL);
    for (size_t i = 0; i < TOKENS * HIDDEN; i++)
        hidden[i] = clfi_ref_activation(CLF_ACTIVATION_GELU, hidden[i]);
    reference_linear(hidden, w->host[FFN_W], w->host[FFN_B], TOKENS, WIDTH, HIDDEN, sum, NULL);
    for (size_t i = 0; i < TOKENS * WIDTH; i++)
        sum[i] += x[i];
    reference_layer_norm(sum, w->host[G2], w->host[B2], TOKENS, WIDTH, 1e-12, x);
}

clf_status selftest_encoder(selftest *test)
{
    clf_encoder encoder = {.width = WIDTH, .hidden_width = HIDDEN, .heads = HEADS, .activation = CLF_ACTIVATION_GELU, .norm_eps = 1e-12f};
    layer_weights weights[LAYERS];
    clf_tensor *x = NULL;
    clf_attention_batch *batch = NULL;
    float *host = NULL;
    double *wide = NULL, *scratch = NULL;
    clf_status st;
    memset(weights, 0, sizeof weights);
    CLF_GOTO(clfi_encoder_init(&encoder, LAYERS));
    for (int i = 0; i < LAYERS; i++)
        CLF_GOTO(make_layer(test, &weights[i], &encoder.layers[i]));
    CLF_GOTO(selftest_tensor(test, 2, (int64_t[]){TOKENS, WIDTH}, -2, 2, &x, &host));
    CLF_GOTO(clfi_alloc(TOKENS * WIDTH, sizeof *wide, "selftest", &wide));
    CLF_GOTO(clfi_alloc(TOKENS * (5 * WIDTH + HIDDEN), sizeof *scratch, "selftest", &scratch));
    for (size_t i = 0; i < TOKENS * WIDTH; i++)
        wide[i] = host[i];
    for (int i = 0; i < LAYERS; i++)
        reference_layer(&weights[i], wide, scratch);
    CLF_GOTO(clfi_attention_batch_create(test->context, &batch));
    CLF_GOTO(clfi_attention_batch_set(batch, SEQUENCES, offsets, NULL));
    CLF_GOTO(clfi_encoder_forward(test->context, &encoder, batch, clfi_tensor_view(x)));
    CLF_GOTO(clf_tensor_read_f32(x, host, TOKENS * WIDTH));
    /* values of order 1 after a layer norm; some hundred roundings behind each of four blocks */
    for (size_t i = 0; i < TOKENS * WIDTH; i++)
        selftest_check(test, host[i], wide[i], 1e-5);
done:
    clf_context_finish(test->context);
    clfi_encoder_clear(&encoder);
    for (int i = 0; i < LAYERS; i++) {
        for (int j = 0; j < 12; j++) {
            clf_tensor_destroy(weights[i].tensor[j]);
            free(weights[i].host[j]);
        }
    }
    clfi_attention_batch_destroy(batch);
    clf_tensor_destroy(x);
    free(host);
    free(wide);
    free(scratch);
    return st;
}
