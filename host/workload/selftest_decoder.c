/* SPDX-License-Identifier: MIT */
/* Self-test: rotary positions, and small language models of Llama's and Qwen3's kind (RMS norms, also of heads, rotary positions, grouped
 * key heads, gated feed-forward networks). Their prompt runs at once, then they decode token by token. */
#include <math.h>
#include <stdlib.h>

#include "op/rotary.h"
#include "workload/generation_model.h"
#include "workload/greedy.h"
#include "workload/selftest.h"

enum { VOCABULARY = 41 };

/* Checks one rotated row. Bounds are relative to the norm of the pair. */
static void check_row(clfi_selftest *test, const clf_rotary *rotary, const double *frequencies, int32_t position, const double *x,
                      const float *got, int64_t size)
{
    const int64_t pairs = rotary->dims / 2;
    for (int64_t i = 0; i < pairs; i++) {
        const int64_t first = rotary->is_interleaved ? 2 * i : i, second = rotary->is_interleaved ? 2 * i + 1 : i + pairs;
        const double angle = position * frequencies[i], c = cos(angle), s = sin(angle), bound = 4 * 0x1p-23 * hypot(x[first], x[second]);
        clfi_verdict_add(&test->verdict, got[first], x[first] * c - x[second] * s, bound);
        clfi_verdict_add(&test->verdict, got[second], x[second] * c + x[first] * s, bound);
    }
    for (int64_t i = rotary->dims; i < size; i++)
        clfi_verdict_add(&test->verdict, got[i], x[i], 0);
}

/* size: of a head, at most MOST_SIZE. */
static clf_status rotary_case(clfi_selftest *test, bool is_interleaved, int64_t size, int64_t dims)
{
    enum { HEADS = 3, TOKENS = 5, MOST_SIZE = 256 };
    static const int32_t places[TOKENS] = {0, 1, 77, 1023, 3999};
    const clf_rotary rotary = {.base = 10000, .dims = dims, .is_interleaved = is_interleaved};
    clfi_selftest_operands data = {.count = 0};
    clf_tensor *positions = NULL;
    clf_buffer *turns = NULL;
    clf_view table;
    double *x = NULL, frequencies[MOST_SIZE / 2];
    clf_status st;
    CLF_GOTO(clfi_selftest_add(test, &data, 3, (int64_t[]){HEADS, TOKENS, size}, -2, 2));
    CLF_GOTO(clfi_operand_widen(&data.operand[0], &x));
    CLF_GOTO(clf_tensor_create_from(test->context, CLF_I32, 1, (int64_t[]){TOKENS}, places, &positions));
    CLF_GOTO(clfi_rotary_table(test->context, &rotary, 4096, &turns, &table));
    CLF_GOTO(clfi_rotary_run(test->context, &rotary, &table, clfi_tensor_view(positions), clfi_selftest_view(&data, 0)));
    CLF_GOTO(clfi_operand_read(&data.operand[0]));
    clfi_rotary_frequencies(&rotary, frequencies);
    for (int row = 0; row < HEADS * TOKENS; row++)
        check_row(test, &rotary, frequencies, places[row % TOKENS], x + row * size, data.operand[0].host + row * size, size);
done:
    clf_tensor_destroy(positions);
    clfi_buffer_release(turns);
    clfi_selftest_free(&data);
    free(x);
    return st;
}

clf_status clfi_selftest_rotary(clfi_selftest *test)
{
    CLF_TRY(rotary_case(test, false, 24, 24));
    CLF_TRY(rotary_case(test, true, 24, 16));
    CLF_TRY(rotary_case(test, false, 64, 64));   /* ModernBERT, nomic-bert */
    CLF_TRY(rotary_case(test, true, 64, 64));    /* nomic-bert, interleaved */
    CLF_TRY(rotary_case(test, false, 128, 96));  /* a part of the head, as in Phi-3's relatives */
    CLF_TRY(rotary_case(test, false, 128, 128)); /* Llama, Mistral, Qwen */
    return rotary_case(test, false, 256, 256);   /* Gemma */
}

/* Checks the logits after the last of `count` tokens. */
static clf_status check_logits(clfi_selftest *test, const clfi_generation_source *source, clfi_random_decoder **numbers, const int32_t *ids,
                               size_t count, const float *logits)
{
    const clfi_generated_logits got = {.ids = ids, .sequences = 1, .length = count, .count = 1, .logits = logits};
    clfi_verdict one;
    CLF_TRY(clfi_generation_check(source, numbers, &got, &one));
    clfi_verdict_add(&test->verdict, one.error, 0, one.bound);
    return CLF_OK;
}

/* A shape with VOCABULARY tokens. */
static clf_status decoder_case(clfi_selftest *test, const clfi_random_decoder_shape *shape)
{
    enum { PROMPT = 9, STEPS = 2 };
    const clfi_generation_source source = {.shape = *shape, .vocabulary = VOCABULARY, .token_flops = 1e5};
    int32_t ids[PROMPT + STEPS] = {3, 40, 0, 7, 7, 21, 35, 2, 19};
    clfi_random_decoder *numbers = NULL;
    clfi_generation_network network = {0};
    clfi_greedy greedy = {0};
    clf_status st;
    CLF_GOTO(clfi_generation_open(test->context, &source, &numbers, &network));
    CLF_GOTO(clfi_greedy_create(network.decoding, VOCABULARY, 1, PROMPT, PROMPT + STEPS, &greedy));
    CLF_GOTO(clfi_greedy_prompt(&greedy, 0, ids, PROMPT));
    CLF_GOTO(check_logits(test, &source, &numbers, ids, PROMPT, greedy.logits));
    for (size_t i = PROMPT; i < PROMPT + STEPS; i++) {
        ids[i] = greedy.next[0];
        CLF_GOTO(clfi_greedy_step(&greedy));
        CLF_GOTO(check_logits(test, &source, &numbers, ids, i + 1, greedy.logits));
    }
done:
    clfi_greedy_free(&greedy);
    clfi_context_drain(test->context);
    clfi_generation_close(&network);
    clfi_random_decoder_destroy(numbers);
    return st;
}

clf_status clfi_selftest_decoder(clfi_selftest *test)
{
    const clfi_random_decoder_shape llama = {.layers = 2,
                                             .width = 48,
                                             .hidden_width = 80,
                                             .heads = 6,
                                             .key_heads = 2,
                                             .vocabulary = VOCABULARY,
                                             .positions = 64,
                                             .type = CLF_WEIGHT_F32};
    clfi_random_decoder_shape qwen3 = llama;
    qwen3.heads = 2;
    qwen3.key_heads = 1;
    qwen3.head_size = 128;
    qwen3.has_head_norms = true;
    CLF_TRY(decoder_case(test, &llama));
    return decoder_case(test, &qwen3);
}
