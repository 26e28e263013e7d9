/* SPDX-License-Identifier: MIT */
/* The matrix products of a model, from its config.json: which sizes the tuner measures. */
#include <string.h>

#include "io/json.h"
#include "model/built_in.h"
#include "model/model_config.h"
#include "tune/tune.h"

enum { LARGEST = 1 << 20, ATTENTION_LENGTH = 128, ATTENTION_BATCH = 8 };
static const char where[] = CLFI_MODEL_CONFIG;

/* Rows: one token decoded, a short text or a beam, a text, a batch of texts. */
static const int64_t rows[] = {1, 16, 128, 1024};

/* The keys of a family's config that name its sizes. */
typedef struct size_keys {
    const char *model_type, *width, *hidden_width, *heads;
} size_keys;

static const size_keys families[] = {
    {"bert", "hidden_size", "intermediate_size", "num_attention_heads"},
    {"encoder-decoder", "d_model", "d_ff", "heads"},
};

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

static clf_status read_config(const char *model_dir, json_t **out)
{
    if (model_dir)
        return clfi_model_config_read(model_dir, out);
    return clfi_json_parse((const char *)clfi_g2p_config, (size_t)(clfi_g2p_config_end - clfi_g2p_config), "built-in config.json", out);
}

static clf_status add_products(const json_t *config, clfi_tune_products *list)
{
    const char *type;
    int64_t width, hidden_width, heads;
    CLF_TRY(clfi_json_get_string(config, where, "model_type", &type));
    for (size_t i = 0; i < COUNT(families); i++) {
        const size_keys *keys = &families[i];
        if (strcmp(keys->model_type, type) != 0)
            continue;
        CLF_TRY(clfi_json_get_int(config, where, keys->width, 1, LARGEST, &width));
        CLF_TRY(clfi_json_get_int(config, where, keys->hidden_width, 1, LARGEST, &hidden_width));
        CLF_TRY(clfi_json_get_int(config, where, keys->heads, 1, width, &heads));
        add_layer(list, width, hidden_width, heads);
        return CLF_OK;
    }
    CLF_FAIL(CLF_UNSUPPORTED, "%s: model_type \"%s\": its projections are not known to the tuner", where, type);
}

clf_status clfi_tune_model_products(const char *model_dir, clfi_tune_products *out)
{
    json_t *config;
    clfi_tune_products list;
    list.count = 0;
    CLF_TRY(read_config(model_dir, &config));
    const clf_status st = add_products(config, &list);
    json_decref(config);
    if (st == CLF_OK)
        *out = list;
    return st;
}
