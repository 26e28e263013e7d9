/* SPDX-License-Identifier: MIT */
/* Workloads "gemm": the linear layers of real encoders, by number of rows and by engine, with the epilogues that the models fuse.
 *
 * y [m,n] = f(x [m,k] w^T [n,k] + bias) + residual in f32. Rows m: 1 decodes a token, 16 are a short text or a beam, 128 a text, 4096 a
 * batch. Operations are 2mnk. Bytes are those of x, w, bias, residual and y, once each. Weights are packed before the clock starts, as when
 * a model is loaded, and stay in whatever cache holds them. In some workloads the weights are stored as f16, bf16 or quantised blocks;
 * everything else, and the arithmetic, stays f32. "gemm/f32-medium" and "-high" ask for that precision, and name the matrix unit's peak as
 * their limit.
 *
 * Verified against float64 with the weights as stored and the bound of a product of k terms at the precision (reference_gemm.h). A small
 * result is checked whole. A large one is checked at the rows and columns of a fixed random subset, among them the last ones. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "op/gemm.h"
#include "op/linear.h"
#include "workload/op_run.h"
#include "workload/op_workloads.h"
#include "workload/peak.h"
#include "workload/random_blocks.h"
#include "workload/reference_gemm.h"
#include "workload/verdict.h"

enum { SEED = 1, MOST_ROWS_CHECKED = 24, MOST_COLUMNS_CHECKED = 768 };

static const double small_product = 1 << 26; /* up to here the whole result is verified */

typedef struct gemm_case {
    int64_t m, n, k;
    clf_activation activation;
    bool has_residual;
    clf_weight_type weights;
    clf_precision precision; /* HIGHEST: the context's */
} gemm_case;

/* A projection of a model; m comes from the rows below. */
typedef struct projection {
    const char *models, *layer;
    int64_t n, k;
    clf_activation activation;
    bool has_residual, is_quick;
    int64_t most_rows;
    clf_weight_type weights; /* stored as */
} projection;

static const projection projections[] = {
    {"MiniLM", "qkv", 1152, 384, CLF_ACTIVATION_NONE, false, false, 4096, CLF_WEIGHT_F32},
    {"MiniLM", "attention output", 384, 384, CLF_ACTIVATION_NONE, true, true, 4096, CLF_WEIGHT_F32},
    {"MiniLM", "feed-forward in", 1536, 384, CLF_ACTIVATION_GELU, false, true, 4096, CLF_WEIGHT_F32},
    {"MiniLM", "feed-forward out", 384, 1536, CLF_ACTIVATION_NONE, true, true, 4096, CLF_WEIGHT_F32},
    {"BERT base, GPT-2", "qkv", 2304, 768, CLF_ACTIVATION_NONE, false, false, 4096, CLF_WEIGHT_F32},
    {"BERT base, GPT-2", "attention output", 768, 768, CLF_ACTIVATION_NONE, true, false, 4096, CLF_WEIGHT_F32},
    {"BERT base", "feed-forward in", 3072, 768, CLF_ACTIVATION_GELU, false, false, 4096, CLF_WEIGHT_F32},
    {"GPT-2", "feed-forward in", 3072, 768, CLF_ACTIVATION_GELU_TANH, false, false, 4096, CLF_WEIGHT_F32},
    {"BERT base, GPT-2", "feed-forward out", 768, 3072, CLF_ACTIVATION_NONE, true, false, 4096, CLF_WEIGHT_F32},
    {"GPT-2", "vocabulary", 50257, 768, CLF_ACTIVATION_NONE, false, false, 16, CLF_WEIGHT_F32},
    {"MiniLM", "feed-forward in", 1536, 384, CLF_ACTIVATION_GELU, false, false, 128, CLF_WEIGHT_F16},
    {"MiniLM", "feed-forward in", 1536, 384, CLF_ACTIVATION_GELU, false, false, 128, CLF_WEIGHT_BF16},
    {"BERT base, GPT-2", "feed-forward out", 768, 3072, CLF_ACTIVATION_NONE, true, false, 128, CLF_WEIGHT_F16},
    {"BERT base, GPT-2", "feed-forward out", 768, 3072, CLF_ACTIVATION_NONE, true, false, 128, CLF_WEIGHT_BF16},
};

/* Sizes for the self-test that no tile divides and no model has. */
static const struct {
    int64_t m;
    projection shape;
} small[] = {
    {1, {"none", "odd sizes", 7, 5, CLF_ACTIVATION_NONE, true, false, 1, CLF_WEIGHT_F32}},
    {3, {"none", "odd sizes", 97, 384, CLF_ACTIVATION_SILU, true, false, 3, CLF_WEIGHT_F32}},
    {17, {"none", "odd sizes", 33, 129, CLF_ACTIVATION_GELU, false, false, 17, CLF_WEIGHT_F32}},
    {65, {"none", "odd sizes", 48, 64, CLF_ACTIVATION_RELU, true, false, 65, CLF_WEIGHT_F32}},
    {5, {"none", "odd sizes", 41, 67, CLF_ACTIVATION_NONE, false, false, 5, CLF_WEIGHT_F16}},
    {19, {"none", "odd sizes", 35, 96, CLF_ACTIVATION_NONE, true, false, 19, CLF_WEIGHT_BF16}},
    /* quantised blocks: each type with one row, and q4_0 with more rows than a kernel multiplies at once */
    {1, {"none", "odd sizes", 37, 352, CLF_ACTIVATION_NONE, false, false, 1, CLF_WEIGHT_Q8_0}},
    {1, {"none", "odd sizes", 50, 288, CLF_ACTIVATION_NONE, false, false, 1, CLF_WEIGHT_Q4_0}},
    {1, {"none", "odd sizes", 21, 416, CLF_ACTIVATION_NONE, false, false, 1, CLF_WEIGHT_Q4_1}},
    {1, {"none", "odd sizes", 19, 352, CLF_ACTIVATION_NONE, false, false, 1, CLF_WEIGHT_Q5_0}},
    {1, {"none", "odd sizes", 33, 288, CLF_ACTIVATION_NONE, false, false, 1, CLF_WEIGHT_Q5_1}},
    {1, {"none", "odd sizes", 35, 256, CLF_ACTIVATION_NONE, false, false, 1, CLF_WEIGHT_Q4_K}},
    {1, {"none", "odd sizes", 23, 512, CLF_ACTIVATION_NONE, false, false, 1, CLF_WEIGHT_Q5_K}},
    {1, {"none", "odd sizes", 39, 256, CLF_ACTIVATION_NONE, false, false, 1, CLF_WEIGHT_Q6_K}},
    {12, {"none", "odd sizes", 45, 288, CLF_ACTIVATION_NONE, true, false, 12, CLF_WEIGHT_Q4_0}},
    /* weights with rows as long as in models of 1 B and 70 B parameters: several work-items share a row */
    {1, {"none", "odd sizes", 13, 1056, CLF_ACTIVATION_NONE, false, false, 1, CLF_WEIGHT_Q4_0}},
    {1, {"none", "odd sizes", 7, 8224, CLF_ACTIVATION_NONE, false, false, 1, CLF_WEIGHT_Q4_0}},
    /* many rows: engines for them read the blocks as floats */
    {20, {"none", "odd sizes", 37, 352, CLF_ACTIVATION_GELU, false, false, 20, CLF_WEIGHT_Q8_0}},
    {41, {"none", "odd sizes", 35, 288, CLF_ACTIVATION_SILU, true, false, 41, CLF_WEIGHT_Q4_1}},
    {29, {"none", "odd sizes", 35, 256, CLF_ACTIVATION_NONE, true, false, 29, CLF_WEIGHT_Q6_K}},
    {23, {"none", "odd sizes", 35, 288, CLF_ACTIVATION_NONE, false, false, 23, CLF_WEIGHT_Q4_0}},
    {21, {"none", "odd sizes", 37, 352, CLF_ACTIVATION_NONE, false, false, 21, CLF_WEIGHT_Q5_0}},
    {33, {"none", "odd sizes", 33, 288, CLF_ACTIVATION_GELU_TANH, false, false, 33, CLF_WEIGHT_Q5_1}},
    {22, {"none", "odd sizes", 35, 512, CLF_ACTIVATION_NONE, true, false, 22, CLF_WEIGHT_Q4_K}},
    {20, {"none", "odd sizes", 23, 256, CLF_ACTIVATION_NONE, false, false, 20, CLF_WEIGHT_Q5_K}},
    /* the activation of Gemma and GPT-2, in an epilogue */
    {18, {"none", "odd sizes", 33, 96, CLF_ACTIVATION_GELU_TANH, false, false, 18, CLF_WEIGHT_F32}},
};

static bool is_of_blocks(clf_weight_type type)
{
    return clfi_weight_type_info(type)->block_weights > 1;
}

/* Data type of a tensor with plain weights. */
static clf_dtype dtype_of(clf_weight_type type)
{
    return type == CLF_WEIGHT_F16 ? CLF_F16 : type == CLF_WEIGHT_BF16 ? CLF_BF16 : CLF_F32;
}

static const int64_t all_rows[] = {1, 16, 128, 4096};
enum { MOST_QUICK_ROWS = 128, LEAST_LOWER_ROWS = 128 };

typedef struct gemm_state {
    clfi_op_run run;
    gemm_case one;
    clfi_operand x, w, bias, residual, y;
    clfi_random_blocks blocks; /* quantised weights, which replace w */
    clf_linear *linear;
} gemm_state;

/* Lists the engines that apply: they take a weight in a form that suits the product, and compute at the precision of the workload if it
 * names one. Engines for few rows are left out of products with more. */
static void find_engines(const clfi_workload *workload, const clf_context *context, clfi_engine_list *out)
{
    const gemm_case *one = workload->parameters;
    out->count = 0;
    const clf_engine_table *table = workload->table;
    for (size_t i = 0; i < table->count && out->count < CLFI_ENGINE_MAX; i++) {
        const clf_engine *engine = &table->engines[i];
        const bool is_quantised = is_of_blocks(one->weights);
        const clf_gemm_weight weight = {.form = engine->gemm->form,
                                        .dtype = is_quantised ? CLF_U8 : dtype_of(one->weights),
                                        .blocks = is_quantised ? one->weights : CLF_WEIGHT_F32,
                                        .n = one->n,
                                        .k = one->k};
        clf_gemm_args args = CLFI_GEMM_ARGS_INIT;
        args.m = one->m;
        args.n = one->n;
        args.k = one->k;
        args.weight = &weight;
        args.a.dtype = args.c.dtype = CLF_F32;
        const bool is_meant = engine->gemm->most_rows == 0 || one->m <= engine->gemm->most_rows;
        const bool is_at_precision = one->precision == CLF_PRECISION_HIGHEST || engine->precision == one->precision;
        if (is_meant && is_at_precision && clfi_engine_is_able(context, engine, &args))
            out->names[out->count++] = engine->name;
    }
}

/* The precision of a case in a context. */
static clf_precision precision_of(const gemm_case *one, const clf_context *context)
{
    return one->precision == CLF_PRECISION_HIGHEST ? context->precision : one->precision;
}

static clf_status engines(const clfi_workload *workload, clf_context *context, clfi_engine_list *out)
{
    const gemm_case *one = workload->parameters;
    const clf_precision before = context->precision;
    context->precision = precision_of(one, context);
    find_engines(workload, context, out);
    context->precision = before;
    if (out->count == 0 && one->precision != CLF_PRECISION_HIGHEST)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: no engine computes such products at precision %s on this device", workload->id,
                 clf_precision_name(one->precision));
    return CLF_OK;
}

static clf_status enqueue(void *state)
{
    gemm_state *s = state;
    return clf_linear_apply(s->run.context, s->linear, s->x.tensor, s->one.activation, s->residual.tensor, s->y.tensor);
}

static clf_status pack(void *state)
{
    gemm_state *s = state;
    if (s->blocks.buffer)
        return clfi_linear_create(s->run.context, 1, &s->blocks.view, clfi_tensor_view(s->bias.tensor), &s->linear);
    return clf_linear_create(s->run.context, s->w.tensor, s->bias.tensor, &s->linear);
}

static void release(void *state)
{
    gemm_state *s = state;
    if (!s)
        return;
    clf_linear_destroy(s->linear);
    clfi_operand_free(&s->x);
    clfi_operand_free(&s->w);
    clfi_random_blocks_free(&s->blocks);
    clfi_operand_free(&s->bias);
    clfi_operand_free(&s->residual);
    clfi_operand_free(&s->y);
    free(s);
}

static clf_status setup(const clfi_workload *workload, clf_context *context, const char *engine, void *state)
{
    const gemm_case *one = workload->parameters;
    gemm_state *s = state;
    clfi_random random = {SEED};
    s->one = *one;
    CLF_TRY(clfi_op_run_init(&s->run, workload, context, "gemm", engine, enqueue));
    s->run.precision = precision_of(one, context);
    CLF_TRY(clfi_operand_random(context, &random, 2, (int64_t[]){one->m, one->k}, -1, 1, &s->x));
    if (is_of_blocks(one->weights))
        CLF_TRY(clfi_random_blocks_create(context, &random, one->weights, one->n, one->k, &s->blocks));
    else
        CLF_TRY(clfi_operand_random_as(context, &random, dtype_of(one->weights), 2, (int64_t[]){one->n, one->k}, -0.2f, 0.2f, &s->w));
    CLF_TRY(clfi_operand_random(context, &random, 1, &one->n, -1, 1, &s->bias));
    if (one->has_residual)
        CLF_TRY(clfi_operand_random(context, &random, 2, (int64_t[]){one->m, one->n}, -1, 1, &s->residual));
    CLF_TRY(clfi_operand_result(context, 2, (int64_t[]){one->m, one->n}, &s->y));
    return clfi_op_run_step(s, pack);
}

static clf_status prepare(const clfi_workload *workload, clf_context *context, const char *engine, void **state)
{
    return clfi_op_prepare(workload, context, engine, sizeof(gemm_state), setup, state);
}

/* The part of the product that is verified, in double: rows places[0..m) and columns places[m..m+n). */
typedef struct gemm_part {
    int64_t m, n;
    size_t *places;
    double *a, *b, *b_terms, *bias, *residual, *want, *bound; /* all point into one allocation, which starts at a */
} gemm_part;

static clf_status make_part(const gemm_state *s, gemm_part *part)
{
    const gemm_case *one = &s->one;
    clfi_random random = {SEED + 1};
    const bool is_small = (double)one->m * (double)one->n * (double)one->k <= small_product;
    const size_t rows = (size_t)one->m, columns = (size_t)one->n;
    CLF_TRY(clfi_alloc(rows + columns, sizeof *part->places, "reference", &part->places));
    part->m = (int64_t)clfi_random_places(&random, rows, is_small ? rows : MOST_ROWS_CHECKED, part->places);
    part->n = (int64_t)clfi_random_places(&random, columns, is_small ? columns : MOST_COLUMNS_CHECKED, part->places + part->m);
    const size_t *at_row = part->places, *at_column = part->places + part->m;
    const int64_t m = part->m, n = part->n, k = one->k;
    CLF_TRY(clfi_alloc((size_t)(m * k + 2 * k * n + n + 3 * m * n), sizeof(double), "reference", &part->a));
    part->b = part->a + m * k;
    part->b_terms = part->b + k * n;
    part->bias = part->b_terms + k * n;
    part->residual = part->bias + n;
    part->want = part->residual + m * n;
    part->bound = part->want + m * n;
    for (int64_t i = 0; i < m; i++)
        for (int64_t p = 0; p < k; p++)
            part->a[i * k + p] = (double)s->x.host[at_row[i] * (size_t)k + (size_t)p];
    for (int64_t j = 0; j < n; j++) {
        part->bias[j] = (double)s->bias.host[at_column[j]];
        for (int64_t p = 0; p < k; p++) {
            const size_t at = at_column[j] * (size_t)k + (size_t)p;
            part->b[p * n + j] = s->blocks.buffer ? s->blocks.value[at] : (double)s->w.host[at];
            part->b_terms[p * n + j] = s->blocks.buffer ? s->blocks.terms[at] : fabs(part->b[p * n + j]);
        }
    }
    for (int64_t i = 0; one->has_residual && i < m; i++)
        for (int64_t j = 0; j < n; j++)
            part->residual[i * n + j] = (double)s->residual.host[at_row[i] * columns + at_column[j]];
    return CLF_OK;
}

static void compare_part(const gemm_state *s, const gemm_part *part, clfi_verdict *out)
{
    const gemm_case *one = &s->one;
    const clfi_ref_gemm product = {.m = part->m,
                                   .n = part->n,
                                   .k = one->k,
                                   .alpha = 1,
                                   .activation = one->activation,
                                   .a = part->a,
                                   .b = part->b,
                                   .b_terms = part->b_terms,
                                   .precision = s->run.precision,
                                   .bias = part->bias,
                                   .residual = one->has_residual ? part->residual : NULL};
    clfi_ref_gemm_run(&product, part->want, part->bound);
    *out = (clfi_verdict)CLFI_VERDICT_INIT;
    for (int64_t i = 0; i < part->m; i++) {
        const float *row = s->y.host + part->places[i] * (size_t)one->n;
        for (int64_t j = 0; j < part->n; j++) {
            const double want = part->want[i * part->n + j], bound = part->bound[i * part->n + j];
            clfi_verdict_add(out, (double)row[part->places[part->m + j]], want,
                             bound + 0x1p-24 * (fabs(want) + bound)); /* the last term is the rounding of y */
        }
    }
}

/* Errors are differences of elements of y. */
static clf_status verify(void *state, clfi_verdict *out)
{
    gemm_state *s = state;
    gemm_part part = {.m = 0};
    CLF_TRY(clfi_op_run_fresh(s, &s->y));
    const clf_status st = make_part(s, &part);
    if (st == CLF_OK)
        compare_part(s, &part, out);
    free(part.places);
    free(part.a);
    return st;
}

static void memory(const void *state, clfi_workload_memory *out)
{
    const gemm_state *s = state;
    const clfi_operand *const others[] = {&s->x, &s->residual, &s->y};
    *out = (clfi_workload_memory){.weights_bytes = clfi_operand_bytes(&s->w) + s->blocks.bytes + clfi_operand_bytes(&s->bias)};
    for (size_t i = 0; i < COUNT(others); i++)
        out->operand_bytes += clfi_operand_bytes(others[i]);
}

static const clfi_workload_type type = {
    .engines = engines, .prepare = prepare, .verify = verify, .run = clfi_op_run_chain, .memory = memory, .release = release};

static clf_status add(clfi_workload_list *list, const projection *p, int64_t m, clf_precision precision)
{
    const gemm_case one = {.m = m,
                           .n = p->n,
                           .k = p->k,
                           .activation = p->activation,
                           .has_residual = p->has_residual,
                           .weights = p->weights,
                           .precision = precision};
    const bool is_highest = precision == CLF_PRECISION_HIGHEST;
    const clf_weight_type_info *stored = clfi_weight_type_info(p->weights);
    const bool is_f32 = p->weights == CLF_WEIGHT_F32;
    const double flops = 2 * (double)m * (double)p->n * (double)p->k;
    const double weights = (double)p->n * (double)p->k;
    const double others = (double)m * (double)p->k + (double)p->n + (double)m * (double)p->n * (p->has_residual ? 2 : 1);
    const double bytes = weights * stored->block_bytes / stored->block_weights + others * sizeof(float);
    const int chain = clfi_op_chain(flops, 0);
    clfi_workload workload = {.op = "gemm",
                              .flops = chain * flops,
                              .bytes = chain * bytes,
                              .limit = is_highest ? "fp32_gflops" : CLFI_MATRIX_LIMIT,
                              .table = &clfi_engine_tables[CLF_OP_GEMM],
                              .type = &type};
    char times[CLFI_CHAIN_TEXT];
    snprintf(workload.id, sizeof workload.id, "gemm/%s%s%s%s/m%lld-n%lld-k%lld%s%s%s%s", stored->name, is_f32 ? "" : "-weights",
             is_highest ? "" : "-", is_highest ? "" : clf_precision_name(precision), (long long)m, (long long)p->n, (long long)p->k,
             p->activation == CLF_ACTIVATION_NONE ? "" : "-",
             p->activation == CLF_ACTIVATION_NONE ? "" : clf_activation_name(p->activation), p->has_residual ? "-residual" : "",
             clfi_op_chain_text(chain, times));
    json_t *work = json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:s, s:b, s:b, s:s, s:s, s:i, s:i, s:s}", "op", "linear", "models", p->models,
                             "layer", p->layer, "m", (json_int_t)m, "n", (json_int_t)p->n, "k", (json_int_t)p->k, "activation",
                             clf_activation_name(p->activation), "bias", 1, "residual", p->has_residual, "storage", "f32", "arithmetic",
                             "f32", "chain", chain, "seed", SEED, "data", "uniform");
    if (work && !is_f32)
        json_object_set_new(work, "weights", json_string(stored->name));
    if (work && !is_highest)
        json_object_set_new(work, "precision", json_string(clf_precision_name(precision)));
    return clfi_op_workload_add(list, &workload, work, &one, sizeof one);
}

/* Adds products at lower precisions, with as many rows as engines for them are made for. */
static clf_status add_lower(clfi_workload_list *list, bool quick)
{
    for (size_t i = 0; i < COUNT(projections); i++)
        for (size_t j = 0; projections[i].is_quick && j < COUNT(all_rows); j++)
            for (int precision = CLF_PRECISION_HIGH; precision <= CLF_PRECISION_MEDIUM; precision++)
                if (all_rows[j] >= LEAST_LOWER_ROWS && all_rows[j] <= (quick ? MOST_QUICK_ROWS : projections[i].most_rows))
                    CLF_TRY(add(list, &projections[i], all_rows[j], (clf_precision)precision));
    return CLF_OK;
}

clf_status clfi_gemm_workloads(clfi_workload_list *list, bool quick)
{
    for (size_t i = 0; i < COUNT(projections); i++)
        for (size_t j = 0; j < COUNT(all_rows); j++)
            if (all_rows[j] <= (quick ? MOST_QUICK_ROWS : projections[i].most_rows) && (!quick || projections[i].is_quick))
                CLF_TRY(add(list, &projections[i], all_rows[j], CLF_PRECISION_HIGHEST));
    return add_lower(list, quick);
}

clf_status clfi_gemm_small_workloads(clfi_workload_list *list)
{
    for (size_t i = 0; i < COUNT(small); i++)
        CLF_TRY(add(list, &small[i].shape, small[i].m, CLF_PRECISION_HIGHEST));
    return CLF_OK;
}
