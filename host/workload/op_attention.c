/* SPDX-License-Identifier: MIT */
/* Workloads "attention": fused scaled dot-product attention by length, with and without masks, by engine.
 *
 * out [N,L,D] = softmax(q k^T / sqrt(D)) v for N = batch * heads. Causal attention uses L (L + 1) / 2 pairs of query and key. With
 * lengths, batch row b of B keeps the first L - b L / 2B keys. Operations are 4D per used pair. Bytes are those of q, the used rows of k
 * and v, and out, once each. Verified against float64 with the bound of reference_attention.h: all queries of small cases, else a fixed
 * random subset. */
#include <stdio.h>

#include "base/alloc.h"
#include "clformer/attention.h"
#include "workload/op_run.h"
#include "workload/op_workloads.h"
#include "workload/reference_attention.h"
#include "workload/verdict.h"

enum { SEED = 4, QUERIES_CHECKED = 256 };

static const double small_case = 1 << 24; /* cases with at most this many products of q and k have all queries verified */

typedef enum attention_mask { MASK_NONE, MASK_CAUSAL, MASK_LENGTHS } attention_mask;
static const char *const mask_names[] = {"none", "causal", "lengths"};

typedef struct attention_case {
    int64_t batch, heads, length, size;
    attention_mask mask;
    bool is_quick;
} attention_case;

static const attention_case cases[] = {
    {1, 12, 16, 32, MASK_NONE, true},     {1, 12, 128, 32, MASK_NONE, true},    {1, 12, 128, 32, MASK_CAUSAL, true},
    {4, 12, 128, 32, MASK_LENGTHS, true}, {8, 12, 128, 32, MASK_NONE, false},   {32, 12, 128, 32, MASK_LENGTHS, false},
    {1, 12, 512, 64, MASK_NONE, false},   {1, 12, 512, 64, MASK_CAUSAL, false}, {8, 12, 512, 64, MASK_LENGTHS, false},
    {1, 8, 2048, 64, MASK_NONE, false},   {1, 8, 2048, 64, MASK_CAUSAL, false},
};

/* Sizes that no block divides, for the self-test. */
static const attention_case small_cases[] = {
    {2, 3, 1, 32, MASK_NONE, false},
    {2, 3, 33, 20, MASK_NONE, false},
    {1, 2, 70, 32, MASK_CAUSAL, false},
    {3, 2, 70, 64, MASK_LENGTHS, false},
};

typedef struct attention_state {
    clfi_op_run run;
    attention_case one;
    clf_attention_params params;
    clf_attention_masks masks;
    clfi_operand q, k, v, out;
    clf_tensor *lengths;
} attention_state;

static int64_t kept_keys(const attention_case *one, int64_t batch_row)
{
    return one->mask == MASK_LENGTHS ? one->length - one->length * batch_row / (2 * one->batch) : one->length;
}

static clf_status enqueue(void *state)
{
    attention_state *s = state;
    return clf_attention(s->run.context, s->q.tensor, s->k.tensor, s->v.tensor, &s->params, s->out.tensor);
}

static void release(void *state)
{
    attention_state *s = state;
    if (!s)
        return;
    clfi_operand_free(&s->q);
    clfi_operand_free(&s->k);
    clfi_operand_free(&s->v);
    clfi_operand_free(&s->out);
    clf_tensor_destroy(s->lengths);
    free(s);
}

static clf_status make_lengths(attention_state *s, clf_context *context)
{
    const int64_t count = s->one.batch * s->one.heads;
    int32_t *lengths;
    CLF_TRY(clfi_alloc((size_t)count, sizeof *lengths, "lengths", &lengths));
    for (int64_t i = 0; i < count; i++)
        lengths[i] = (int32_t)kept_keys(&s->one, i / s->one.heads);
    const clf_status st = clf_tensor_create_from(context, CLF_I32, 1, &count, lengths, &s->lengths);
    free(lengths);
    return st;
}

static clf_status setup(const clfi_workload *workload, clf_context *context, const char *engine, void *state)
{
    attention_state *s = state;
    clfi_random random = {SEED};
    s->one = *(const attention_case *)workload->parameters;
    const int64_t dim[] = {s->one.batch * s->one.heads, s->one.length, s->one.size};
    CLF_TRY(clfi_op_run_init(&s->run, workload, context, "attention", engine, enqueue));
    CLF_TRY(clfi_operand_random(context, &random, 3, dim, -1.7f, 1.7f, &s->q));
    CLF_TRY(clfi_operand_random(context, &random, 3, dim, -1.7f, 1.7f, &s->k));
    CLF_TRY(clfi_operand_random(context, &random, 3, dim, -1.7f, 1.7f, &s->v));
    CLF_TRY(clfi_operand_result(context, 3, dim, &s->out));
    if (s->one.mask == MASK_LENGTHS)
        CLF_TRY(make_lengths(s, context));
    s->params = (clf_attention_params)CLF_ATTENTION_PARAMS_INIT;
    s->masks = (clf_attention_masks)CLF_ATTENTION_MASKS_INIT;
    s->masks.is_causal = s->one.mask == MASK_CAUSAL;
    s->params.masks = &s->masks;
    s->params.lengths = s->lengths;
    return CLF_OK;
}

static clf_status prepare(const clfi_workload *workload, clf_context *context, const char *engine, void **state)
{
    return clfi_op_prepare(workload, context, engine, sizeof(attention_state), setup, state);
}

/* Verifies one query; scratch: (2 L + 3) D values. Masked keys come last, so the reference gets only the keys before them. */
static clf_status check_query(const attention_state *s, size_t place, double *scratch, clfi_verdict *out)
{
    const size_t length = (size_t)s->one.length, size = (size_t)s->one.size, head = place / length, query = place % length;
    const size_t keys = s->one.mask == MASK_CAUSAL ? query + 1 : (size_t)kept_keys(&s->one, (int64_t)head / s->one.heads);
    double *q = scratch, *want = q + size, *bound = want + size, *k = bound + size, *v = k + length * size;
    for (size_t c = 0; c < size; c++)
        q[c] = (double)s->q.host[place * size + c];
    for (size_t i = 0; i < keys * size; i++) {
        k[i] = (double)s->k.host[head * length * size + i];
        v[i] = (double)s->v.host[head * length * size + i];
    }
    const clfi_ref_attention row = {.q = q,
                                    .k = k,
                                    .v = v,
                                    .keys = keys,
                                    .d = size,
                                    .dv = size,
                                    .scale = 1 / sqrt((double)size),
                                    .empty_rows = CLF_EMPTY_ROWS_ZERO,
                                    .precision = s->run.precision};
    CLF_TRY(clfi_ref_attention_row(&row, want, bound));
    for (size_t c = 0; c < size; c++)
        /* the last term is the rounding of out */
        clfi_verdict_add(out, (double)s->out.host[place * size + c], want[c], bound[c] + 0x1p-24 * (fabs(want[c]) + bound[c]));
    return CLF_OK;
}

/* Errors are differences of elements of out. */
static clf_status verify(void *state, clfi_verdict *out)
{
    attention_state *s = state;
    clfi_random random = {SEED + 1};
    const size_t length = (size_t)s->one.length, size = (size_t)s->one.size, queries = (size_t)(s->one.batch * s->one.heads) * length;
    const size_t most = (double)queries * (double)length * (double)size <= small_case ? queries : QUERIES_CHECKED;
    size_t *places = NULL;
    double *scratch = NULL;
    clf_status st;
    CLF_GOTO(clfi_op_run_fresh(s, &s->out));
    CLF_GOTO(clfi_alloc(queries, sizeof *places, "reference", &places));
    CLF_GOTO(clfi_alloc((2 * length + 3) * size, sizeof *scratch, "reference", &scratch));
    const size_t count = clfi_random_places(&random, queries, most, places);
    *out = (clfi_verdict)CLFI_VERDICT_INIT;
    for (size_t i = 0; i < count; i++)
        CLF_GOTO(check_query(s, places[i], scratch, out));
done:
    free(places);
    free(scratch);
    return st;
}

static const clfi_workload_type type = {
    .engines = clfi_op_engines, .prepare = prepare, .verify = verify, .run = clfi_op_run_chain, .release = release};

static clf_status add(clfi_workload_list *list, const attention_case *one)
{
    const double length = (double)one->length, heads = (double)one->heads, size = (double)one->size;
    double pairs = one->mask == MASK_CAUSAL ? (double)one->batch * heads * length * (length + 1) / 2 : 0, key_rows = 0;
    for (int64_t b = 0; b < one->batch; b++) {
        key_rows += heads * (double)kept_keys(one, b);
        if (one->mask != MASK_CAUSAL)
            pairs += heads * length * (double)kept_keys(one, b);
    }
    const double flops = 4 * pairs * size, values = 2 * ((double)one->batch * heads * length + key_rows) * size;
    const int chain = clfi_op_chain(flops, 0);
    char times[CLFI_CHAIN_TEXT];
    clfi_workload workload = {.op = "attention",
                              .flops = chain * flops,
                              .bytes = chain * values * sizeof(float),
                              .limit = "fp32_gflops",
                              .table = &clfi_engine_tables[CLF_OP_ATTENTION],
                              .type = &type};
    snprintf(workload.id, sizeof workload.id, "attention/f32/b%lld-h%lld-l%lld-d%lld-%s%s", (long long)one->batch, (long long)one->heads,
             (long long)one->length, (long long)one->size, mask_names[one->mask], clfi_op_chain_text(chain, times));
    json_t *work = json_pack("{s:s, s:I, s:I, s:I, s:I, s:s, s:s, s:s, s:i, s:i, s:s}", "op", "attention", "batch", (json_int_t)one->batch,
                             "heads", (json_int_t)one->heads, "length", (json_int_t)one->length, "head_size", (json_int_t)one->size, "mask",
                             mask_names[one->mask], "storage", "f32", "arithmetic", "f32", "chain", chain, "seed", SEED, "data", "uniform");
    return clfi_op_workload_add(list, &workload, work, one, sizeof *one);
}

clf_status clfi_attention_workloads(clfi_workload_list *list, bool quick)
{
    for (size_t i = 0; i < COUNT(cases); i++)
        if (!quick || cases[i].is_quick)
            CLF_TRY(add(list, &cases[i]));
    return CLF_OK;
}

clf_status clfi_attention_small_workloads(clfi_workload_list *list)
{
    for (size_t i = 0; i < COUNT(small_cases); i++)
        CLF_TRY(add(list, &small_cases[i]));
    return CLF_OK;
}
