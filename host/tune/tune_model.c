/* SPDX-License-Identifier: MIT */
/* The matrix products of a model, from its config.json: which sizes the tuner measures. */
#include <string.h>

#include "io/json.h"
#include "model/family.h"
#include "model/seq2seq.h"
#include "tune/tune.h"

enum { LARGEST = 1 << 20, ATTENTION_LENGTH = 128, ATTENTION_BATCH = 8 };
static const char where[] = CLFI_MODEL_CONFIG;

/* Rows: one token decoded, a short text or a beam, a text, a batch of texts. */
static const int64_t rows[] = {1, 16, 128, 1024};

static void add(clfi_tune_products *list, const clfi_tune_product *product)
{
    for (size_t i = 0; i < list->count; i++)
        if (memcmp(&list->items[i], product, sizeof *product) == 0)
            return;
    if (list->count < CLFI_TUNE_MAX_PRODUCTS)
        list->items[list->count++] = *product;
}

/* The four projections of a layer (queries, keys and values side by side) at each number of rows, and scores and context of attention. */
static void add_layer(clfi_tune_products *list, int64_t width, int64_t hidden_width, int64_t heads)
{
    const int64_t sizes[][2] = {{3 * width, width}, {width, width}, {hidden_width, width}, {width, hidden_width}};
    const int64_t batch = ATTENTION_BATCH * heads, length = ATTENTION_LENGTH, head = width / heads;
    clfi_tune_product product;
    memset(&product, 0, sizeof product); /* products are compared whole */
    for (size_t i = 0; i < COUNT(sizes); i++) {
        for (size_t r = 0; r < COUNT(rows); r++) {
            product.kind = CLF_GEMM_LINEAR;
            product.batch = 1;
            product.m = rows[r];
            product.n = sizes[i][0];
            product.k = sizes[i][1];
            add(list, &product);
        }
    }
    product.batch = batch;
    product.m = length;
    for (int i = 0; i < 3; i++) {
        product.kind = i == 2 ? CLF_GEMM_INTERLEAVED : CLF_GEMM_PRODUCT;
        product.n = i == 1 ? head : length;
        product.k = i == 1 ? length : head;
        add(list, &product);
    }
}

static clf_status add_products(const json_t *config, clfi_tune_products *list)
{
    const clf_family *family;
    int64_t width, hidden_width, heads;
    CLF_TRY(clfi_family_find(config, 0, &family));
    CLF_TRY(clfi_json_get_int(config, where, family->sizes.width, 1, LARGEST, &width));
    CLF_TRY(clfi_json_get_int(config, where, family->sizes.hidden_width, 1, LARGEST, &hidden_width));
    CLF_TRY(clfi_json_get_int(config, where, family->sizes.heads, 1, width, &heads));
    add_layer(list, width, hidden_width, heads);
    return CLF_OK;
}

clf_status clfi_tune_model_products(const char *model_dir, clfi_tune_products *out)
{
    clf_checkpoint *checkpoint;
    clfi_tune_products list;
    list.count = 0;
    CLF_TRY(model_dir ? clfi_checkpoint_open(model_dir, &checkpoint) : clfi_g2p_checkpoint(&checkpoint));
    const clf_status st = add_products(clfi_checkpoint_config(checkpoint), &list);
    clfi_checkpoint_close(checkpoint);
    if (st == CLF_OK)
        *out = list;
    return st;
}
