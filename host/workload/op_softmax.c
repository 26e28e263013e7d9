/* SPDX-License-Identifier: MIT */
/* Workloads "masked_softmax": weights from attention scores, without a mask, with lengths, and with a padding mask, by engine.
 *
 * y [B,Q,K] = softmax of x along K. With "-axis1", y is [B,K,Q]: neighbouring elements belong to different rows. With lengths, batch row
 * b keeps the first K - b K / 2B keys; the padding mask keeps the same keys. Bytes are those of the used scores, the mask and all
 * weights, once each. Verified against float64 with the bound of clfi_ref_softmax_error: all rows up to 2^22 weights, else a fixed
 * random subset. */
#include <stdio.h>

#include "base/alloc.h"
#include "clformer/softmax.h"
#include "workload/op_run.h"
#include "workload/op_workloads.h"
#include "workload/peak.h"
#include "workload/reference_softmax.h"
#include "workload/verdict.h"

enum { SEED = 2, BATCH = 16, ROWS_CHECKED = 1024, ALL_CHECKED = 1 << 22 };

static const double score_limit = 8;

typedef enum softmax_mask { MASK_NONE, MASK_LENGTHS, MASK_PADDING, MASK_EMPTY } softmax_mask; /* empty: lengths down to 0 */
static const char *const mask_names[] = {"none", "lengths", "padding", "empty"};

typedef struct softmax_case {
    int64_t rows, keys; /* rows: batches times queries */
    softmax_mask mask;
    bool is_quick;
    int64_t columns; /* 0: x [BATCH,queries,keys]; else x [rows / columns,keys,columns], along axis 1 */
} softmax_case;

static const softmax_case cases[] = {
    {96, 128, MASK_LENGTHS, true, 0},        {768, 128, MASK_NONE, true, 0},       {768, 128, MASK_LENGTHS, true, 0},
    {768, 128, MASK_PADDING, true, 0},       {768, 512, MASK_PADDING, true, 0},    {12288, 128, MASK_NONE, false, 0},
    {12288, 128, MASK_LENGTHS, false, 0},    {12288, 128, MASK_PADDING, false, 0}, {16384, 64, MASK_NONE, false, 0},
    {6144, 512, MASK_NONE, false, 0},        {6144, 512, MASK_PADDING, false, 0},  {4096, 1024, MASK_LENGTHS, true, 0},
    {1024, 4096, MASK_NONE, false, 0},       {4096, 1024, MASK_NONE, true, 0},     {32768, 1024, MASK_NONE, false, 0},
    {1024, 4096, MASK_NONE, true, 1024},     {16384, 256, MASK_NONE, true, 64},    {16384, 256, MASK_PADDING, true, 64},
    {4000000, 1, MASK_NONE, false, 4000000}, {1, 4000000, MASK_NONE, false, 1},
};

/* Cases for the self-test: sizes that no vector divides. */
static const softmax_case small_cases[] = {
    {3 * BATCH, 131, MASK_NONE, false, 0},   {3 * BATCH, 131, MASK_EMPTY, false, 0}, {BATCH, 7, MASK_LENGTHS, false, 0},
    {3 * BATCH, 70, MASK_PADDING, false, 0}, {35 * 3, 37, MASK_NONE, false, 35},     {35 * 3, 37, MASK_PADDING, false, 35},
    {BATCH, 1100, MASK_NONE, false, 0},      {BATCH, 2100, MASK_LENGTHS, false, 0}, /* rows beyond a share of the first-level cache */
};

typedef struct softmax_state {
    clfi_op_run run;
    softmax_case one;
    clf_softmax_params params;
    clf_attention_masks masks;
    clfi_operand x, y;
    clf_tensor *lengths, *padding;
} softmax_state;

static int64_t batches(const softmax_case *one)
{
    return one->columns ? one->rows / one->columns : BATCH;
}

static int32_t kept_keys(const softmax_case *one, int64_t batch_row)
{
    if (one->mask == MASK_EMPTY)
        return (int32_t)(one->keys * (BATCH - 1 - batch_row) / (BATCH - 1));
    return (int32_t)(one->mask == MASK_NONE ? one->keys : one->keys - one->keys * batch_row / (2 * batches(one)));
}

static clf_status enqueue(void *state)
{
    softmax_state *s = state;
    return clf_softmax(s->run.context, s->x.tensor, &s->params, s->y.tensor);
}

static void release(void *state)
{
    softmax_state *s = state;
    if (!s)
        return;
    clfi_operand_free(&s->x);
    clfi_operand_free(&s->y);
    clf_tensor_destroy(s->lengths);
    clf_tensor_destroy(s->padding);
    free(s);
}

static clf_status make_padding(softmax_state *s, clf_context *context)
{
    const int64_t keys = s->one.keys, batch = batches(&s->one);
    unsigned char *keep;
    CLF_TRY(clfi_alloc((size_t)(batch * keys), 1, "padding mask", &keep));
    for (int64_t b = 0; b < batch; b++)
        for (int64_t j = 0; j < keys; j++)
            keep[b * keys + j] = j < kept_keys(&s->one, b);
    const clf_status st = clf_tensor_create_from(context, CLF_U8, 2, (int64_t[]){batch, keys}, keep, &s->padding);
    free(keep);
    return st;
}

static clf_status make_lengths(softmax_state *s, clf_context *context)
{
    int32_t lengths[BATCH];
    for (int64_t b = 0; b < BATCH; b++)
        lengths[b] = kept_keys(&s->one, b);
    return clf_tensor_create_from(context, CLF_I32, 1, (int64_t[]){BATCH}, lengths, &s->lengths);
}

static clf_status setup(const clfi_workload *workload, clf_context *context, const char *engine, void *state)
{
    softmax_state *s = state;
    clfi_random random = {SEED};
    s->one = *(const softmax_case *)workload->parameters;
    s->params = (clf_softmax_params)CLF_SOFTMAX_PARAMS_INIT;
    const int64_t batch = batches(&s->one), queries = s->one.rows / batch;
    const int64_t dim[] = {batch, s->one.columns ? s->one.keys : queries, s->one.columns ? queries : s->one.keys};
    s->params.axis = s->one.columns ? 1 : -1;
    CLF_TRY(clfi_op_run_init(&s->run, workload, context, "softmax", engine, enqueue));
    CLF_TRY(clfi_operand_random(context, &random, 3, dim, (float)-score_limit, (float)score_limit, &s->x));
    CLF_TRY(clfi_operand_result(context, 3, dim, &s->y));
    if (s->one.mask == MASK_LENGTHS || s->one.mask == MASK_EMPTY)
        CLF_TRY(make_lengths(s, context));
    if (s->one.mask == MASK_PADDING)
        CLF_TRY(make_padding(s, context));
    s->params.lengths = s->lengths;
    s->masks = (clf_attention_masks)CLF_ATTENTION_MASKS_INIT;
    s->masks.padding_mask = s->padding;
    s->params.masks = &s->masks;
    return CLF_OK;
}

static clf_status prepare(const clfi_workload *workload, clf_context *context, const char *engine, void **state)
{
    return clfi_op_prepare(workload, context, engine, sizeof(softmax_state), setup, state);
}

static void check_row(const softmax_state *s, size_t row, double *scores, double *want, clfi_verdict *out)
{
    const size_t keys = (size_t)s->one.keys, queries = (size_t)(s->one.rows / batches(&s->one)),
                 used = (size_t)kept_keys(&s->one, (int64_t)(row / queries));
    const size_t first = s->one.columns ? row / queries * keys * queries + row % queries : row * keys, step = s->one.columns ? queries : 1;
    const double relative = clfi_ref_softmax_error(score_limit, keys);
    for (size_t j = 0; j < used; j++)
        scores[j] = (double)s->x.host[first + j * step];
    clfi_ref_softmax_row(scores, NULL, used, CLF_EMPTY_ROWS_ZERO, want);
    for (size_t j = 0; j < keys; j++) {
        const double weight = j < used ? want[j] : 0;
        clfi_verdict_add(out, (double)s->y.host[first + j * step], weight, relative * weight); /* a masked key's weight is exactly 0 */
    }
}

/* Errors are differences of weights, which are at most 1. */
static clf_status verify(void *state, clfi_verdict *out)
{
    softmax_state *s = state;
    clfi_random random = {SEED + 1};
    const size_t rows = (size_t)s->one.rows, keys = (size_t)s->one.keys, most = rows * keys <= ALL_CHECKED ? rows : ROWS_CHECKED;
    size_t *places = NULL;
    double *scores = NULL;
    clf_status st;
    CLF_GOTO(clfi_op_run_fresh(s, &s->y));
    CLF_GOTO(clfi_alloc(rows, sizeof *places, "reference", &places));
    CLF_GOTO(clfi_alloc(2 * keys, sizeof *scores, "reference", &scores));
    const size_t count = clfi_random_places(&random, rows, most, places);
    *out = (clfi_verdict)CLFI_VERDICT_INIT;
    for (size_t i = 0; i < count; i++)
        check_row(s, places[i], scores, scores + keys, out);
done:
    free(places);
    free(scores);
    return st;
}

static const clfi_workload_type type = {
    .engines = clfi_op_engines, .prepare = prepare, .verify = verify, .run = clfi_op_run_chain, .release = release};

static clf_status add(clfi_workload_list *list, const softmax_case *one)
{
    double bytes = (double)(one->rows * one->keys) * sizeof(float);
    const int64_t batch = batches(one);
    for (int64_t b = 0; b < batch; b++)
        bytes += (double)(one->rows / batch) * kept_keys(one, b) * sizeof(float);
    if (one->mask != MASK_NONE)
        bytes += one->mask == MASK_PADDING ? (double)(batch * one->keys) : BATCH * sizeof(int32_t);
    const int chain = clfi_op_chain(0, bytes);
    char times[CLFI_CHAIN_TEXT];
    clfi_workload workload = {.op = "masked_softmax",
                              .bytes = chain * bytes,
                              .limit = clfi_peak_copy_limit(bytes),
                              .table = &clfi_engine_tables[CLF_OP_SOFTMAX],
                              .type = &type,
                              .peer = clfi_peak_copy_peer};
    snprintf(workload.id, sizeof workload.id, "masked_softmax/f32/%lldx%lld-%s%s%s", (long long)one->rows, (long long)one->keys,
             mask_names[one->mask], one->columns ? "-axis1" : "", clfi_op_chain_text(chain, times));
    json_t *work =
        json_pack("{s:s, s:I, s:I, s:I, s:i, s:s, s:s, s:s, s:i, s:i, s:s}", "op", "softmax", "batch", (json_int_t)batch, "queries",
                  (json_int_t)(one->rows / batch), "keys", (json_int_t)one->keys, "axis", one->columns ? 1 : 2, "mask",
                  mask_names[one->mask], "storage", "f32", "arithmetic", "f32", "chain", chain, "seed", SEED, "data", "uniform");
    return clfi_op_workload_add(list, &workload, work, one, sizeof *one);
}

clf_status clfi_softmax_workloads(clfi_workload_list *list, bool quick)
{
    for (size_t i = 0; i < COUNT(cases); i++)
        if (!quick || cases[i].is_quick)
            CLF_TRY(add(list, &cases[i]));
    return CLF_OK;
}

clf_status clfi_softmax_small_workloads(clfi_workload_list *list)
{
    for (size_t i = 0; i < COUNT(small_cases); i++)
        CLF_TRY(add(list, &small_cases[i]));
    return CLF_OK;
}
