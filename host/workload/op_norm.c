/* SPDX-License-Identifier: MIT */
/* Workloads "layer_norm" and "rms_norm": rows of the widths of real models, with and without a residual, by engine.
 *
 * y = norm(x + residual) * gamma + beta over the last axis of [rows, columns]. Bytes are those of x, residual, gamma, beta and y, once
 * each. Verified against float64 with the bounds of reference_norm.h: all rows up to 2^22 elements, else a fixed random subset. */
#include <stdio.h>

#include "base/alloc.h"
#include "clformer/ops.h"
#include "workload/op_run.h"
#include "workload/op_workloads.h"
#include "workload/peak.h"
#include "workload/reference_norm.h"
#include "workload/verdict.h"

enum { SEED = 3, ROWS_CHECKED = 1024, ALL_CHECKED = 1 << 22 };

typedef struct norm_case {
    bool is_rms, has_residual, is_quick;
    int64_t rows, columns;
    float offset; /* x is uniform in [offset - 1, offset + 3) */
} norm_case;

static const norm_case cases[] = {
    {false, false, true, 128, 384, 0},     {false, true, true, 128, 384, 0},     {true, false, true, 128, 768, 0},
    {false, true, true, 1024, 384, 0},     {false, false, false, 4096, 384, 0},  {false, true, false, 4096, 384, 0},
    {false, false, false, 4096, 768, 0},   {false, true, false, 4096, 768, 0},   {true, false, false, 4096, 768, 0},
    {false, false, false, 16384, 64, 0},   {false, false, false, 256, 16384, 0}, {false, false, true, 4096, 1024, 0},
    {false, false, false, 32768, 1024, 0},
};

/* Cases for the self-test: sizes that no vector divides, and means far from 0. */
static const norm_case small_cases[] = {
    {false, true, false, 5, 385, 0}, {false, false, false, 5, 385, 1e4f}, {false, false, false, 3, 131, 1e6f},
    {true, false, false, 3, 129, 0}, {true, true, false, 5, 387, 0},
    /* wide rows get the largest work-groups; several narrow rows (norms of heads) share one */
    {false, true, false, 2, 1030, 0}, {true, false, false, 2, 1030, 0}, {true, false, false, 7, 100, 0},
    /* norms of heads of 64 and 256, as in Qwen3 and Gemma 3 */
    {true, false, false, 7, 64, 0}, {true, false, false, 7, 256, 0},
};

typedef struct norm_state {
    clfi_op_run run;
    norm_case one;
    clfi_operand x, residual, gamma, beta, y;
} norm_state;

static clf_status enqueue(void *state)
{
    norm_state *s = state;
    clf_layer_norm_params layer = CLF_LAYER_NORM_PARAMS_INIT;
    clf_rms_norm_params rms = CLF_RMS_NORM_PARAMS_INIT;
    layer.residual = rms.residual = s->residual.tensor;
    layer.gamma = rms.gamma = s->gamma.tensor;
    layer.beta = s->beta.tensor;
    return s->one.is_rms ? clf_rms_norm(s->run.context, s->x.tensor, &rms, s->y.tensor)
                         : clf_layer_norm(s->run.context, s->x.tensor, &layer, s->y.tensor);
}

static void release(void *state)
{
    norm_state *s = state;
    if (!s)
        return;
    clfi_operand_free(&s->x);
    clfi_operand_free(&s->residual);
    clfi_operand_free(&s->gamma);
    clfi_operand_free(&s->beta);
    clfi_operand_free(&s->y);
    free(s);
}

static clf_status setup(const clfi_workload *workload, clf_context *context, const char *engine, void *state)
{
    norm_state *s = state;
    clfi_random random = {SEED};
    s->one = *(const norm_case *)workload->parameters;
    const int64_t dim[] = {s->one.rows, s->one.columns};
    CLF_TRY(clfi_op_run_init(&s->run, workload, context, s->one.is_rms ? "rms_norm" : "layer_norm", engine, enqueue));
    CLF_TRY(clfi_operand_random(context, &random, 2, dim, s->one.offset - 1, s->one.offset + 3, &s->x));
    if (s->one.has_residual)
        CLF_TRY(clfi_operand_random(context, &random, 2, dim, -1, 1, &s->residual));
    CLF_TRY(clfi_operand_random(context, &random, 1, dim + 1, 0.5f, 1.5f, &s->gamma));
    CLF_TRY(clfi_operand_random(context, &random, 1, dim + 1, -1, 1, &s->beta));
    return clfi_operand_result(context, 2, dim, &s->y);
}

static clf_status prepare(const clfi_workload *workload, clf_context *context, const char *engine, void **state)
{
    return clfi_op_prepare(workload, context, engine, sizeof(norm_state), setup, state);
}

/* Verifies one row; scratch: 3 rows. */
static void check_row(const norm_state *s, size_t row, const double *gamma, const double *beta, double *scratch, clfi_verdict *out)
{
    const size_t n = (size_t)s->one.columns;
    double *sum = scratch, *want = sum + n, *bound = want + n;
    for (size_t i = 0; i < n; i++) /* the device rounds the sum to float32 once */
        sum[i] = (double)(s->x.host[row * n + i] + (s->one.has_residual ? s->residual.host[row * n + i] : 0));
    if (s->one.is_rms)
        clfi_ref_rms_norm(sum, gamma, 1, n, (double)1e-6f, want, bound);
    else
        clfi_ref_layer_norm(sum, gamma, beta, 1, n, (double)1e-5f, want, bound);
    for (size_t i = 0; i < n; i++)
        /* the last term is the rounding of y */
        clfi_verdict_add(out, (double)s->y.host[row * n + i], want[i], bound[i] + 0x1p-24 * (fabs(want[i]) + bound[i]));
}

/* Errors are differences of elements of y. */
static clf_status verify(void *state, clfi_verdict *out)
{
    norm_state *s = state;
    clfi_random random = {SEED + 1};
    const size_t rows = (size_t)s->one.rows, n = (size_t)s->one.columns, most = rows * n <= ALL_CHECKED ? rows : ROWS_CHECKED;
    size_t *places = NULL;
    double *gamma = NULL, *beta = NULL, *scratch = NULL;
    clf_status st;
    CLF_GOTO(clfi_op_run_fresh(s, &s->y));
    CLF_GOTO(clfi_operand_widen(&s->gamma, &gamma));
    CLF_GOTO(clfi_operand_widen(&s->beta, &beta));
    CLF_GOTO(clfi_alloc(3 * n, sizeof *scratch, "reference", &scratch));
    CLF_GOTO(clfi_alloc(rows, sizeof *places, "reference", &places));
    const size_t count = clfi_random_places(&random, rows, most, places);
    *out = (clfi_verdict)CLFI_VERDICT_INIT;
    for (size_t i = 0; i < count; i++)
        check_row(s, places[i], gamma, beta, scratch, out);
done:
    free(places);
    free(gamma);
    free(beta);
    free(scratch);
    return st;
}

static const clfi_workload_type type = {
    .engines = clfi_op_engines, .prepare = prepare, .verify = verify, .run = clfi_op_run_chain, .release = release};

static clf_status add(clfi_workload_list *list, const norm_case *one)
{
    const char *op = one->is_rms ? "rms_norm" : "layer_norm";
    const double values = (double)(one->rows * one->columns) * (one->has_residual ? 3 : 2) + (double)one->columns * (one->is_rms ? 1 : 2);
    const int chain = clfi_op_chain(0, values * sizeof(float));
    char times[CLFI_CHAIN_TEXT];
    clfi_workload workload = {.op = op,
                              .bytes = chain * values * sizeof(float),
                              .limit = clfi_peak_copy_limit(values * sizeof(float)),
                              .table = &clfi_engine_tables[one->is_rms ? CLF_OP_RMS_NORM : CLF_OP_LAYER_NORM],
                              .type = &type,
                              .peer = clfi_peak_copy_peer};
    char offset[24] = "";
    if (one->offset != 0)
        snprintf(offset, sizeof offset, "-offset%.0f", (double)one->offset);
    snprintf(workload.id, sizeof workload.id, "%s/f32/%lldx%lld%s%s%s", op, (long long)one->rows, (long long)one->columns, offset,
             one->has_residual ? "-residual" : "", clfi_op_chain_text(chain, times));
    json_t *work = json_pack("{s:s, s:I, s:I, s:b, s:f, s:s, s:s, s:i, s:i, s:s}", "op", op, "rows", (json_int_t)one->rows, "columns",
                             (json_int_t)one->columns, "residual", one->has_residual, "eps", one->is_rms ? 1e-6 : 1e-5, "storage", "f32",
                             "arithmetic", "f32", "chain", chain, "seed", SEED, "data", "uniform");
    if (work && one->offset != 0)
        json_object_set_new(work, "offset", json_real((double)one->offset));
    return clfi_op_workload_add(list, &workload, work, one, sizeof *one);
}

clf_status clfi_norm_workloads(clfi_workload_list *list, bool quick)
{
    for (size_t i = 0; i < COUNT(cases); i++)
        if (!quick || cases[i].is_quick)
            CLF_TRY(add(list, &cases[i]));
    return CLF_OK;
}

clf_status clfi_norm_small_workloads(clfi_workload_list *list)
{
    for (size_t i = 0; i < COUNT(small_cases); i++)
        CLF_TRY(add(list, &small_cases[i]));
    return CLF_OK;
}
