/* SPDX-License-Identifier: MIT */
/* Self-test: attention over packed sequences, with the sizes of heads, key heads, windows, masks and biases of the families of models. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "op/attention.h"
#include "workload/reference_attention.h"
#include "workload/selftest.h"

enum { SEQUENCES = 3, TOKENS = 104, LONGEST = 70, HEADS = 2, MOST_SIZE = 256, WINDOW = 17, REACH = 9 };

typedef struct packed_case {
    int size, key_heads; /* size: of a head, at most MOST_SIZE */
    bool is_causal, has_window, has_mask, has_bias;
} packed_case;

static const int32_t offsets[SEQUENCES + 1] = {0, 1, 34, TOKENS};

/* The operands and their places; BIAS [HEADS,2 REACH + 1]. */
enum { QKV, BIAS, OUT };

/* Which keys the mask excludes. */
static bool is_masked(size_t key)
{
    return key % 5 == 2;
}

/* Whether a query uses the key `distance` positions after it. */
static bool is_kept(const packed_case *one, int distance, size_t key)
{
    return !(one->is_causal && distance > 0) && !(one->has_window && abs(distance) >= WINDOW) && !(one->has_mask && is_masked(key));
}

/* The reference for one head of one sequence: tokens first to end - 1 of qkv [T, 3, H, D]. */
static clf_status reference_head(clf_precision precision, const clfi_selftest_operands *data, const packed_case *one, int first, int end,
                                 int head, double *want, double *bound)
{
    const float *qkv = data->operand[QKV].host, *by_distance = data->operand[BIAS].host + head * (2 * REACH + 1) + REACH;
    const int count = end - first, size = one->size, key_head = head / (HEADS / one->key_heads);
    double q[MOST_SIZE], k[LONGEST * MOST_SIZE], v[LONGEST * MOST_SIZE], bias[LONGEST];
    bool keep[LONGEST];
    for (int j = 0; j < count; j++) {
        for (int c = 0; c < size; c++) {
            k[j * size + c] = (double)qkv[(((first + j) * 3 + 1) * HEADS + key_head) * size + c];
            v[j * size + c] = (double)qkv[(((first + j) * 3 + 2) * HEADS + key_head) * size + c];
        }
    }
    for (int i = 0; i < count; i++) {
        for (int c = 0; c < size; c++)
            q[c] = (double)qkv[((first + i) * 3 * HEADS + head) * size + c];
        for (int j = 0; j < count; j++) {
            const int distance = j - i;
            keep[j] = is_kept(one, distance, (size_t)(first + j));
            bias[j] = (double)by_distance[distance < -REACH ? -REACH : distance > REACH ? REACH : distance];
        }
        const int at = ((first + i) * HEADS + head) * size;
        const clfi_ref_attention row = {.q = q,
                                        .k = k,
                                        .v = v,
                                        .keys = (size_t)count,
                                        .d = size,
                                        .dv = size,
                                        .scale = 1 / sqrt(size),
                                        .keep = keep,
                                        .bias = one->has_bias ? bias : NULL,
                                        .empty_rows = CLF_EMPTY_ROWS_ZERO,
                                        .precision = precision};
        CLF_TRY(clfi_ref_attention_row(&row, want + at, bound + at));
    }
    return CLF_OK;
}

static clf_status check_case(clfi_selftest *test, const packed_case *one)
{
    const int64_t size = one->size, width = HEADS * size;
    clfi_selftest_operands data = {.count = 0};
    clf_attention_batch *batch = NULL;
    clf_tensor *mask = NULL;
    uint8_t kept[TOKENS];
    double *want = NULL, *bound = NULL;
    clf_status st;
    CLF_GOTO(clfi_selftest_add(test, &data, 3, (int64_t[]){TOKENS, 3 * HEADS, size}, -2, 2));
    CLF_GOTO(clfi_selftest_add(test, &data, 2, (int64_t[]){HEADS, 2 * REACH + 1}, -1, 1));
    CLF_GOTO(clfi_selftest_add_result(test, &data, 3, (int64_t[]){TOKENS, HEADS, size}));
    CLF_GOTO(clfi_alloc((size_t)(TOKENS * width), sizeof *want, "selftest", &want));
    CLF_GOTO(clfi_alloc((size_t)(TOKENS * width), sizeof *bound, "selftest", &bound));
    for (size_t t = 0; t < TOKENS; t++)
        kept[t] = !is_masked(t);
    CLF_GOTO(clf_tensor_create_from(test->context, CLF_U8, 1, (int64_t[]){TOKENS}, kept, &mask));
    CLF_GOTO(clfi_attention_batch_create(test->context, &batch));
    CLF_GOTO(clfi_attention_batch_set(batch, SEQUENCES, offsets, NULL));
    clf_view part[3];
    for (int i = 0; i < 3; i++) {
        part[i] = *clfi_selftest_view(&data, QKV); /* [T, 3H, D] seen as [H, T, D] */
        part[i].dim[0] = i == 0 ? HEADS : one->key_heads;
        part[i].dim[1] = TOKENS;
        part[i].stride[0] = size;
        part[i].stride[1] = 3 * width;
        part[i].offset += i * width;
    }
    const clf_attention_args args = {.batch = batch,
                                     .q = &part[0],
                                     .k = &part[1],
                                     .v = &part[2],
                                     .out = clfi_selftest_view(&data, OUT),
                                     .key_mask = one->has_mask ? clfi_tensor_view(mask) : NULL,
                                     .bias = one->has_bias ? clfi_selftest_view(&data, BIAS) : NULL,
                                     .window = one->has_window ? WINDOW : 0,
                                     .is_causal = one->is_causal,
                                     .scale = 1.0f / sqrtf((float)size),
                                     .empty_rows = CLF_EMPTY_ROWS_ZERO};
    CLF_GOTO(clfi_attention(test->context, &args));
    CLF_GOTO(clfi_operand_read(&data.operand[OUT]));
    for (int s = 0; s < SEQUENCES; s++)
        for (int h = 0; h < HEADS; h++)
            CLF_GOTO(reference_head(test->context->precision, &data, one, offsets[s], offsets[s + 1], h, want, bound));
    clfi_selftest_all(test, &data.operand[OUT], want, bound);
done:
    clfi_attention_batch_destroy(batch);
    clf_tensor_destroy(mask);
    clfi_selftest_free(&data);
    free(want);
    free(bound);
    return st;
}

clf_status clfi_selftest_packed_attention(clfi_selftest *test)
{
    static const packed_case cases[] = {
        {.size = 32, .key_heads = 2},
        {.size = 32, .key_heads = 2, .has_window = true, .has_mask = true, .has_bias = true},
        {.size = 64, .key_heads = 2},
        {.size = 64, .key_heads = 2, .has_window = true}, /* ModernBERT */
        {.size = 64, .key_heads = 2, .has_bias = true},   /* T5, MPNet */
        {.size = 128, .key_heads = 2},
        {.size = 96, .key_heads = 2, .is_causal = true},                     /* Phi-3 */
        {.size = 128, .key_heads = 1, .is_causal = true},                    /* Llama, Mistral, Qwen */
        {.size = 256, .key_heads = 1, .is_causal = true},                    /* Gemma */
        {.size = 256, .key_heads = 1, .has_window = true, .is_causal = true} /* Gemma 3 */
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        CLF_TRY(check_case(test, &cases[i]));
    return CLF_OK;
}
