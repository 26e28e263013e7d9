/* SPDX-License-Identifier: MIT */
/* Runs the matrix products that the tuner measures. */
#include "tune/tune_case.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "op/linear.h"
#include "runtime/context.h"
#include "workload/reference_gemm.h"

enum { SEED = 7, ROW_STEP = 19 };
static const int64_t MOST_PRODUCTS = 1 << 24; /* multiplications of the reference for one batch; one row more is allowed */

const char *clfi_tune_product_text(const clfi_tune_product *p, char text[CLFI_TUNE_PRODUCT_BYTES])
{
    char batch[32] = "";
    if (p->kind != CLF_GEMM_LINEAR)
        snprintf(batch, sizeof batch, "%lld x ", (long long)p->batch);
    snprintf(text, CLFI_TUNE_PRODUCT_BYTES, "%s %s%lld x %lld x %lld", clfi_gemm_kind_names[p->kind], batch, (long long)p->m,
             (long long)p->n, (long long)p->k);
    return text;
}

/* Strides in elements in the host's copies. B is stored as [n,k], C in the order of its own tensor. */
typedef struct steps {
    int64_t a_batch, a_row, b_batch, b_row, c_batch, c_row, c_column;
} steps;

static steps steps_of(const clfi_tune_product *p)
{
    if (p->kind == CLF_GEMM_INTERLEAVED)
        return (steps){p->k, p->batch * p->k, p->k, p->batch * p->k, 1, p->n * p->batch, p->batch};
    return (steps){p->m * p->k, p->k, p->n * p->k, p->k, p->m * p->n, p->n, 1};
}

static clf_status create_linear(clfi_tune_case *t, clfi_random *random)
{
    const clfi_tune_product *p = &t->product;
    CLF_TRY(clfi_operand_random(t->context, random, 2, (int64_t[]){p->m, p->k}, -1, 1, &t->a));
    CLF_TRY(clfi_operand_random(t->context, random, 2, (int64_t[]){p->n, p->k}, -0.2f, 0.2f, &t->b));
    CLF_TRY(clfi_operand_random(t->context, random, 1, &p->n, -1, 1, &t->bias));
    CLF_TRY(clfi_operand_result(t->context, 2, (int64_t[]){p->m, p->n}, &t->c));
    CLF_TRY(clf_linear_create(t->context, t->b.tensor, t->bias.tensor, &t->linear));
    t->engine = clfi_linear_engine(t->context, t->linear, p->m);
    return CLF_OK;
}

/* Creates the operands with the batch as first dimension, or for CLF_GEMM_INTERLEAVED with the order of heads in "ibhd,jbhd->ijbh". B is
 * contiguous in k, as keys are. */
static clf_status create_product(clfi_tune_case *t, clfi_random *random)
{
    const clfi_tune_product *p = &t->product;
    const bool is_inner = p->kind == CLF_GEMM_INTERLEAVED;
    const int64_t a[3] = {is_inner ? p->m : p->batch, is_inner ? p->batch : p->m, p->k};
    const int64_t b[3] = {is_inner ? p->n : p->batch, is_inner ? p->batch : p->n, p->k};
    const int64_t c[3] = {is_inner ? p->m : p->batch, is_inner ? p->n : p->m, is_inner ? p->batch : p->n};
    CLF_TRY(clfi_operand_random(t->context, random, 3, a, -1, 1, &t->a));
    CLF_TRY(clfi_operand_random(t->context, random, 3, b, -1, 1, &t->b));
    CLF_TRY(clfi_operand_result(t->context, 3, c, &t->c));
    CLF_TRY(clf_tensor_permute(t->a.tensor, is_inner ? (int[]){1, 0, 2} : (int[]){0, 1, 2}, &t->a_view));
    CLF_TRY(clf_tensor_permute(t->b.tensor, is_inner ? (int[]){1, 2, 0} : (int[]){0, 2, 1}, &t->b_view));
    CLF_TRY(clf_tensor_permute(t->c.tensor, is_inner ? (int[]){2, 0, 1} : (int[]){0, 1, 2}, &t->c_view));
    const steps s = steps_of(p);
    const clf_gemm_args args = {.batch_rank = 1, .batch = {p->batch}, .m = p->m, .n = p->n, .k = p->k, .alpha = 1,
                                .a = {.dtype = CLF_F32, .row_stride = s.a_row, .column_stride = 1, .batch_stride = {s.a_batch}},
                                .b = {.dtype = CLF_F32, .row_stride = 1, .column_stride = s.b_row, .batch_stride = {s.b_batch}},
                                .c = {.dtype = CLF_F32, .row_stride = s.c_row, .column_stride = s.c_column, .batch_stride = {s.c_batch}}};
    return clfi_gemm_engine_name(t->context, &args, &t->engine);
}

clf_status clfi_tune_case_create(clf_context *context, const clfi_tune_product *product, clfi_tune_case *out)
{
    clfi_random random = {SEED};
    *out = (clfi_tune_case){.context = context, .product = *product, .engine = "?"};
    CLF_TRY(product->kind == CLF_GEMM_LINEAR ? create_linear(out, &random) : create_product(out, &random));
    return clfi_tune_case_run(out); /* some engines refuse a product only when they run */
}

clf_status clfi_tune_case_run(clfi_tune_case *t)
{
    if (t->linear)
        return clf_linear_apply(t->context, t->linear, t->a.tensor, CLF_ACTIVATION_NONE, NULL, t->c.tensor);
    return clf_gemm(t->context, t->a_view, t->b_view, NULL, t->c_view);
}

/* A sample of one batch in double: `rows` rows, from row `first` on in steps of ROW_STEP, modulo m. */
typedef struct case_part {
    int64_t batch, first, rows;
    double *a, *b, *bias, *want, *bound; /* all in one allocation, which starts at a */
} case_part;

static clf_status make_part(const clfi_tune_case *t, case_part *out)
{
    const clfi_tune_product *p = &t->product;
    const steps s = steps_of(p);
    CLF_TRY(clfi_alloc((size_t)(out->rows * p->k + p->k * p->n + p->n + 2 * out->rows * p->n), sizeof(double), "reference", &out->a));
    out->b = out->a + out->rows * p->k;
    out->bias = out->b + p->k * p->n;
    out->want = out->bias + p->n;
    out->bound = out->want + out->rows * p->n;
    for (int64_t i = 0; i < out->rows; i++) {
        const int64_t row = (out->first + i * ROW_STEP) % p->m;
        for (int64_t k = 0; k < p->k; k++)
            out->a[i * p->k + k] = (double)t->a.host[out->batch * s.a_batch + row * s.a_row + k];
    }
    for (int64_t j = 0; j < p->n; j++) {
        out->bias[j] = t->bias.host ? (double)t->bias.host[j] : 0;
        for (int64_t k = 0; k < p->k; k++)
            out->b[k * p->n + j] = (double)t->b.host[out->batch * s.b_batch + j * s.b_row + k];
    }
    return CLF_OK;
}

static clf_status verify_batch(const clfi_tune_case *t, int64_t batch, clfi_verdict *verdict)
{
    const clfi_tune_product *p = &t->product;
    const steps s = steps_of(p);
    const int64_t most = MOST_PRODUCTS / (p->n * p->k) + 1;
    case_part one = {.batch = batch, .first = p->m - 1, .rows = p->m < most ? p->m : most};
    CLF_TRY(make_part(t, &one));
    const clfi_ref_gemm reference = {.m = one.rows, .n = p->n, .k = p->k, .alpha = 1, .a = one.a, .b = one.b, .bias = one.bias,
                                     .precision = t->context->precision};
    clfi_ref_gemm_run(&reference, one.want, one.bound);
    for (int64_t i = 0; i < one.rows; i++) {
        const int64_t row = (one.first + i * ROW_STEP) % p->m;
        for (int64_t j = 0; j < p->n; j++) {
            const double want = one.want[i * p->n + j], bound = one.bound[i * p->n + j];
            const double got = (double)t->c.host[batch * s.c_batch + row * s.c_row + j * s.c_column];
            clfi_verdict_add(verdict, got, want, bound + 0x1p-24 * (fabs(want) + bound)); /* and the result's own rounding */
        }
    }
    free(one.a);
    return CLF_OK;
}

clf_status clfi_tune_case_verify(clfi_tune_case *t, clfi_verdict *out)
{
    clfi_verdict verdict = CLFI_VERDICT_INIT;
    CLF_TRY(clfi_operand_clear(&t->c));
    CLF_TRY(clfi_tune_case_run(t));
    CLF_TRY(clfi_operand_read(&t->c));
    CLF_TRY(verify_batch(t, 0, &verdict));
    if (t->product.batch > 1)
        CLF_TRY(verify_batch(t, t->product.batch - 1, &verdict));
    *out = verdict;
    return CLF_OK;
}

void clfi_tune_case_free(clfi_tune_case *t)
{
    clf_tensor_destroy(t->a_view);
    clf_tensor_destroy(t->b_view);
    clf_tensor_destroy(t->c_view);
    clf_linear_destroy(t->linear);
    clfi_operand_free(&t->a);
    clfi_operand_free(&t->b);
    clfi_operand_free(&t->bias);
    clfi_operand_free(&t->c);
    *t = (clfi_tune_case){0};
}
