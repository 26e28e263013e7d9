/* SPDX-License-Identifier: MIT */
/* Self-test: a small encoder of two layers over packed sequences. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "workload/selftest.h"
#include "model/transformer.h"
#include "workload/reference_transformer.h"

enum { SEQUENCES = 3, TOKENS = 104, HEADS = 2, SIZE = 32, WIDTH = HEADS * SIZE, HIDDEN = 160, LAYERS = 2, MOST_WEIGHTS = 64 };

static const int32_t offsets[SEQUENCES + 1] = {0, 1, 34, TOKENS};

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
    /* values have order 1 after a layer norm, with some hundred roundings in each of four blocks */
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
