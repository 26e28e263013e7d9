/* SPDX-License-Identifier: MIT */
/* Self-test: attention over packed sequences, and a small encoder of two layers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "workload/selftest.h"
#include "model/transformer.h"
#include "workload/reference_attention.h"
#include "workload/reference_transformer.h"

enum { SEQUENCES = 3, TOKENS = 104, LONGEST = 70, HEADS = 2, SIZE = 32, WIDTH = HEADS * SIZE, HIDDEN = 160, LAYERS = 2, MOST_WEIGHTS = 64 };

static const int32_t offsets[SEQUENCES + 1] = {0, 1, 34, TOKENS};

/* One head of one sequence, tokens first to end of qkv [T, 3, H, D]. */
static clf_status reference_head(const float *qkv, size_t first, size_t end, size_t head, double *want, double *bound)
{
    double q[SIZE], k[LONGEST * SIZE], v[LONGEST * SIZE];
    for (size_t j = first; j < end; j++) {
        for (size_t c = 0; c < SIZE; c++) {
            k[(j - first) * SIZE + c] = qkv[((j * 3 + 1) * HEADS + head) * SIZE + c];
            v[(j - first) * SIZE + c] = qkv[((j * 3 + 2) * HEADS + head) * SIZE + c];
        }
    }
    for (size_t i = first; i < end; i++) {
        for (size_t c = 0; c < SIZE; c++)
            q[c] = qkv[(i * 3 * HEADS + head) * SIZE + c];
        const size_t at = (i * HEADS + head) * SIZE;
        CLF_TRY(clfi_ref_attention_row(q, k, v, NULL, NULL, end - first, SIZE, SIZE, 1 / sqrt(SIZE), CLF_EMPTY_ROWS_ZERO, want + at,
                                       bound + at));
    }
    return CLF_OK;
}

clf_status clfi_selftest_packed_attention(clfi_selftest *test)
{
    enum { QKV, OUT };
    clfi_selftest_operands data = {.count = 0};
    clf_attention_batch *batch = NULL;
    double *want = NULL, *bound = NULL;
    clf_status st;
    CLF_GOTO(clfi_selftest_add(test, &data, 3, (int64_t[]){TOKENS, 3 * HEADS, SIZE}, -2, 2));
    CLF_GOTO(clfi_selftest_add_result(test, &data, 3, (int64_t[]){TOKENS, HEADS, SIZE}));
    CLF_GOTO(clfi_alloc(TOKENS * WIDTH, sizeof *want, "selftest", &want));
    CLF_GOTO(clfi_alloc(TOKENS * WIDTH, sizeof *bound, "selftest", &bound));
    CLF_GOTO(clfi_attention_batch_create(test->context, &batch));
    CLF_GOTO(clfi_attention_batch_set(batch, SEQUENCES, offsets, NULL));
    clf_view part[3];
    for (int i = 0; i < 3; i++) {
        part[i] = *clfi_selftest_view(&data, QKV); /* [T, 3H, D] seen as [H, T, D] */
        part[i].dim[0] = HEADS;
        part[i].dim[1] = TOKENS;
        part[i].stride[0] = SIZE;
        part[i].stride[1] = 3 * WIDTH;
        part[i].offset += i * WIDTH;
    }
    const clf_attention_args args = {.batch = batch,
                                     .q = &part[0],
                                     .k = &part[1],
                                     .v = &part[2],
                                     .out = clfi_selftest_view(&data, OUT),
                                     .scale = 1.0f / sqrtf(SIZE),
                                     .empty_rows = CLF_EMPTY_ROWS_ZERO};
    CLF_GOTO(clfi_attention(test->context, &args));
    CLF_GOTO(clfi_operand_read(&data.operand[OUT]));
    for (int s = 0; s < SEQUENCES; s++)
        for (size_t h = 0; h < HEADS; h++)
            CLF_GOTO(reference_head(data.operand[QKV].host, (size_t)offsets[s], (size_t)offsets[s + 1], h, want, bound));
    clfi_selftest_all(test, &data.operand[OUT], want, bound);
done:
    clfi_attention_batch_destroy(batch);
    clfi_selftest_free(&data);
    free(want);
    free(bound);
    return st;
}

static const clf_transformer_config config = {.size = sizeof(clf_transformer_config),
                                              .width = WIDTH,
                                              .hidden_width = HIDDEN,
                                              .heads = HEADS,
                                              .encoder_layers = LAYERS,
                                              .max_source = TOKENS,
                                              .max_target = 1,
                                              .activation = CLF_ACTIVATION_GELU,
                                              .positions = CLF_POSITIONS_NONE,
                                              .norm_eps = 1e-12f};

/* Weights about 0, gains of norms about 1. */
static clf_status make_weights(clfi_selftest *test, clfi_ref_weights *weights)
{
    CLF_TRY(clfi_ref_weights_add_all(weights, &config));
    for (size_t i = 0; i < weights->count; i++) {
        const clfi_ref_weight *w = &weights->items[i];
        const bool is_norm = strstr(w->name, "norm") != NULL;
        const float middle = is_norm && strstr(w->name, "weight") ? 1 : 0, range = is_norm ? 0.5f : 0.1f;
        size_t count = 1;
        for (int d = 0; d < w->rank; d++)
            count *= (size_t)w->dim[d];
        clfi_random_fill(&test->random, w->value, count, middle - range, middle + range);
    }
    return CLF_OK;
}

static clf_status make_network(clf_context *context, const clfi_ref_weights *weights, clf_transformer **out)
{
    clf_named_tensor named[MOST_WEIGHTS];
    clf_tensor *tensor[MOST_WEIGHTS] = {NULL};
    clf_status st = CLF_OK;
    if (weights->count > MOST_WEIGHTS)
        CLF_FAIL(CLF_INTERNAL, "selftest: %zu weights", weights->count);
    for (size_t i = 0; i < weights->count; i++) {
        const clfi_ref_weight *w = &weights->items[i];
        CLF_GOTO(clf_tensor_create_from(context, CLF_F32, w->rank, w->dim, w->value, &tensor[i]));
        named[i] = (clf_named_tensor){w->name, tensor[i]};
    }
    CLF_GOTO(clf_transformer_create(context, &config, CLF_NAMES_LABML, named, weights->count, out));
done:
    for (size_t i = 0; i < weights->count; i++)
        clf_tensor_destroy(tensor[i]);
    return st;
}

clf_status clfi_selftest_encoder(clfi_selftest *test)
{
    clfi_selftest_operands data = {.count = 0};
    clfi_ref_weights weights = {0};
    clf_transformer *network = NULL;
    clf_attention_batch *batch = NULL;
    double *want = NULL;
    clf_status st;
    CLF_GOTO(make_weights(test, &weights));
    CLF_GOTO(make_network(test->context, &weights, &network));
    CLF_GOTO(clfi_selftest_add(test, &data, 2, (int64_t[]){TOKENS, WIDTH}, -2, 2));
    CLF_GOTO(clfi_operand_widen(&data.operand[0], &want));
    for (int s = 0; s < SEQUENCES; s++) {
        const clfi_ref_batch sequence = {.batch = 1, .source_length = offsets[s + 1] - offsets[s]};
        CLF_GOTO(clfi_ref_stack(&config, &weights, false, &sequence, NULL, want + offsets[s] * WIDTH, NULL));
    }
    CLF_GOTO(clfi_attention_batch_create(test->context, &batch));
    CLF_GOTO(clfi_attention_batch_set(batch, SEQUENCES, offsets, NULL));
    CLF_GOTO(clfi_encoder_forward(test->context, &network->network->encoder, batch, NULL, clfi_selftest_view(&data, 0)));
    CLF_GOTO(clfi_operand_read(&data.operand[0]));
    /* values of order 1 after a layer norm; some hundred roundings behind each of four blocks */
    for (size_t i = 0; i < TOKENS * WIDTH; i++)
        clfi_verdict_add(&test->verdict, data.operand[0].host[i], want[i], 1e-5);
done:
    clfi_context_drain(test->context);
    clf_transformer_destroy(network);
    clfi_attention_batch_destroy(batch);
    clfi_ref_weights_free(&weights);
    clfi_selftest_free(&data);
    free(want);
    return st;
}
