/* SPDX-License-Identifier: MIT */
/* Lists the matrix products of a model, which the tuner measures, from its configuration. */
#include <string.h>

#include "model/family.h"
#include "model/model_checkpoint.h"
#include "model/seq2seq.h"
#include "tune/tune.h"

enum { ATTENTION_LENGTH = 128, ATTENTION_BATCH = 8 };

/* Numbers of rows: one token decoded, a short text or a beam, a text, a batch of texts. */
static const int64_t rows[CLFI_TUNE_ROW_COUNTS] = {1, 16, 128, 1024};

static clf_status add(clfi_tune_products *list, clf_gemm_kind kind, int64_t batch, int64_t m, int64_t n, int64_t k)
{
    const clfi_tune_product product = {.kind = kind, .batch = batch, .m = m, .n = n, .k = k};
    if (n > CLFI_CONFIG_LARGEST || k > CLFI_CONFIG_LARGEST || batch > CLFI_CONFIG_LARGEST)
        CLF_FAIL(CLF_UNSUPPORTED, "tune: a product of %lld x %lld x %lld x %lld: expected sizes up to %d", (long long)batch, (long long)m,
                 (long long)n, (long long)k, CLFI_CONFIG_LARGEST);
    for (size_t i = 0; i < list->count; i++) {
        const clfi_tune_product *old = &list->items[i];
        if (old->kind == kind && old->batch == batch && old->m == m && old->n == n && old->k == k)
            return CLF_OK;
    }
    if (list->count == CLFI_TUNE_MAX_PRODUCTS)
        CLF_FAIL(CLF_INTERNAL, "tune: more than %d products", CLFI_TUNE_MAX_PRODUCTS);
    list->items[list->count++] = product;
    return CLF_OK;
}

/* Adds a weight [n,k] at each number of rows. */
static clf_status add_weight(clfi_tune_products *list, int64_t n, int64_t k)
{
    for (size_t r = 0; r < COUNT(rows); r++)
        CLF_TRY(add(list, CLF_GEMM_LINEAR, 1, rows[r], n, k));
    return CLF_OK;
}

/* Adds the weights of attention (queries, keys and values in one weight, and the output's projection), and the products of each head:
 * scores, context, and scores with the heads innermost. */
static clf_status add_attention(clfi_tune_products *list, const clf_attention_shape *shape, int64_t width)
{
    const int64_t head = shape->head_size, batch = ATTENTION_BATCH * shape->heads, length = ATTENTION_LENGTH;
    CLF_TRY(add_weight(list, (shape->heads + 2 * shape->key_heads) * head, width));
    CLF_TRY(add_weight(list, width, shape->heads * head));
    CLF_TRY(add(list, CLF_GEMM_PRODUCT, batch, length, length, head));
    CLF_TRY(add(list, CLF_GEMM_PRODUCT, batch, length, head, length));
    return add(list, CLF_GEMM_INTERLEAVED, batch, length, length, head);
}

static clf_status add_stack(clfi_tune_products *list, const clf_stack_config *stack)
{
    const clf_attention_shape *source = &stack->attention;
    const int64_t local = clfi_stack_local_count(stack);
    if (local < stack->layers)
        CLF_TRY(add_attention(list, &stack->attention, stack->width));
    if (local > 0)
        CLF_TRY(add_attention(list, &stack->local, stack->width));
    if (stack->has_source) {
        CLF_TRY(add_weight(list, source->heads * source->head_size, stack->width));
        CLF_TRY(add_weight(list, 2 * source->key_heads * source->head_size, stack->width));
        CLF_TRY(add_weight(list, stack->width, source->heads * source->head_size));
    }
    CLF_TRY(add_weight(list, stack->hidden_width, stack->width)); /* a gate has the same size */
    return add_weight(list, stack->width, stack->hidden_width);
}

/* Adds the products of all stacks. The head over the vocabulary is left out, because its weight can be as large as all layers together. It
 * uses the rule of the nearest of these products, if one is near enough (clfi_tuned_rule). */
static clf_status add_products(const json_t *json, clfi_tune_products *list)
{
    const clf_family *family;
    clf_network_config config;
    CLF_TRY(clfi_family_find(json, 0, &family));
    CLF_TRY(family->read_config(json, &config));
    if (config.encoder.layers > 0)
        CLF_TRY(add_stack(list, &config.encoder));
    return config.decoder.layers > 0 ? add_stack(list, &config.decoder) : CLF_OK;
}

clf_status clfi_tune_model_products(const char *model_dir, clfi_tune_products *out)
{
    clf_checkpoint *checkpoint;
    clfi_tune_products list;
    list.count = 0;
    CLF_TRY(model_dir ? clfi_model_checkpoint_open(model_dir, &checkpoint) : clfi_g2p_checkpoint(&checkpoint));
    const clf_status st = add_products(clfi_checkpoint_config(checkpoint), &list);
    clfi_checkpoint_close(checkpoint);
    if (st == CLF_OK)
        *out = list;
    return st;
}
