/* SPDX-License-Identifier: MIT */
/* Tests einsum on the device. The golden equations hold bit for bit in several layouts and storage types, and random values within the
 * bound of float32 sums. Further cases: long sums, many loops, limits, shared memory, and refusals that leave the output alone. */
#include <stdio.h>
#include <stdlib.h>

#include "clformer/einsum.h"
#include "op/einsum_plan.h"
#include "support/cases_einsum.h"
#include "support/check.h"
#include "support/device.h"
#include "support/operand.h"
#include "support/worst.h"
#include "workload/reference_einsum.h"

typedef struct setting {
    clf_context *context;
    clf_dtype in, out;
    layout in_layout, out_layout;
    int64_t limit;
    int index, every; /* only each every-th case */
} setting;

/* Operands of a case, filled with its integers (range 0) or uniformly in [-range, range). */
static void make_operands(const setting *s, const einsum_case *one, float range, operand *operands)
{
    rng r = {one->output_elements + 7};
    for (int k = 0; k < one->count; k++) {
        operands[k] = operand_create(s->context, s->in, s->in_layout, one->shape[k].rank, one->shape[k].dim);
        if (range > 0) {
            operand_fill_uniform(&operands[k], &r, -range, range);
            continue;
        }
        float *values = calloc(operands[k].count + 1, sizeof *values);
        assert_non_null(values);
        for (size_t i = 0; i < operands[k].count; i++)
            values[i] = (float)einsum_case_value(one->count, k, i);
        operand_fill(&operands[k], values);
        free(values);
    }
}

static void destroy_operands(operand *operands, int count)
{
    for (int k = 0; k < count; k++)
        operand_destroy(&operands[k]);
}

static clf_status run(const setting *s, const einsum_case *one, const operand *operands, operand *out)
{
    const clf_tensor *tensors[EINSUM_CASE_OPERANDS];
    for (int k = 0; k < one->count; k++)
        tensors[k] = operands[k].tensor;
    if (s->limit == CLF_EINSUM_NO_LIMIT)
        return clf_einsum(s->context, one->equation, tensors, one->count, out->tensor);
    int rank[EINSUM_CASE_OPERANDS];
    const int64_t *dim[EINSUM_CASE_OPERANDS];
    for (int k = 0; k < one->count; k++) {
        rank[k] = one->shape[k].rank;
        dim[k] = one->shape[k].dim;
    }
    clf_einsum_plan *plan = NULL;
    clf_status st = clf_einsum_plan_create(one->equation, one->count, rank, dim, s->limit, &plan);
    if (st == CLF_OK)
        st = clf_einsum_plan_run(s->context, plan, tensors, one->count, out->tensor);
    clf_einsum_plan_destroy(plan);
    return st;
}

/* Gaps after every axis make a large tensor of many small axes. */
static bool is_large_with_gaps(const einsum_case *one)
{
    bool is_large = one->output_rank > 6;
    for (int k = 0; k < one->count; k++)
        is_large |= one->shape[k].rank > 6;
    return is_large;
}

static void golden_case(const einsum_case *one, void *user)
{
    setting *s = user;
    if (s->in_layout != LAYOUT_CONTIGUOUS && is_large_with_gaps(one))
        return;
    if (s->index++ % s->every != 0 || one->count > CLF_EINSUM_MAX_OPERANDS)
        return;
    operand operands[EINSUM_CASE_OPERANDS];
    make_operands(s, one, 0, operands);
    operand out = operand_create(s->context, s->out, s->out_layout, one->output_rank, one->output_dim);
    if (one->code[0]) {
        const clf_status st = run(s, one, operands, &out);
        CHECK(st != CLF_OK && strncmp(clf_last_error(), one->code, strlen(one->code)) == 0, "%s: %s", one->id, clf_last_error());
    } else {
        const clf_status st = run(s, one, operands, &out);
        CHECK(st == CLF_OK, "%s: %s", one->id, clf_last_error());
        operand_read(&out, one->id);
        for (size_t i = 0; i < one->output_elements; i++) {
            const double bound = s->out == CLF_F32 ? 0 : operand_rounding(s->out, one->output[i]);
            CHECK(within(out.value[i], one->output[i], bound), "%s %s>%s %s>%s at %zu: %g, want %g", one->id, clf_dtype_name(s->in),
                  clf_dtype_name(s->out), layout_name(s->in_layout), layout_name(s->out_layout), i, out.value[i], one->output[i]);
        }
    }
    operand_destroy(&out);
    destroy_operands(operands, one->count);
}

static void golden(void **state)
{
    setting s = {*state, CLF_F32, CLF_F32, LAYOUT_CONTIGUOUS, LAYOUT_CONTIGUOUS, CLF_EINSUM_NO_LIMIT, 0, only_small_cases() ? 16 : 1};
    CHECK(each_einsum_case(golden_case, &s) > 500, "%d cases", s.index);
}

static void golden_layouts(void **state)
{
    setting s = {*state, CLF_F32, CLF_F32, LAYOUT_SLICED, LAYOUT_REVERSED, CLF_EINSUM_NO_LIMIT, 0, only_small_cases() ? 40 : 3};
    each_einsum_case(golden_case, &s);
    s.in_layout = LAYOUT_REVERSED;
    s.out_layout = LAYOUT_SLICED;
    s.index = 1;
    each_einsum_case(golden_case, &s);
}

static void golden_halves(void **state)
{
    setting s = {*state, CLF_F16, CLF_F32, LAYOUT_CONTIGUOUS, LAYOUT_CONTIGUOUS, CLF_EINSUM_NO_LIMIT, 0, only_small_cases() ? 40 : 4};
    each_einsum_case(golden_case, &s);
    s.in = CLF_BF16;
    s.index = 1;
    each_einsum_case(golden_case, &s);
    s.in = CLF_F32;
    s.out = CLF_BF16;
    s.index = 2;
    each_einsum_case(golden_case, &s);
}

static void golden_limited(void **state)
{
    setting s = {*state, CLF_F32, CLF_F32, LAYOUT_CONTIGUOUS, LAYOUT_CONTIGUOUS, 2, 0, only_small_cases() ? 40 : 4};
    each_einsum_case(golden_case, &s);
}

/* Float values against double. */
static void float_case(const setting *s, const char *equation, const char *shapes)
{
    static einsum_case one;
    static clf_einsum_form form;
    operand operands[EINSUM_CASE_OPERANDS];
    einsum_case_make(equation, shapes, &one);
    CHECK_OK(clfi_einsum_parse(one.equation, one.shape, one.count, &form));
    make_operands(s, &one, 1, operands);
    operand out = operand_create(s->context, s->out, s->out_layout, form.output_rank, form.output_dim);
    const clf_status st = run(s, &one, operands, &out);
    CHECK(st == CLF_OK, "%s: %s", one.id, clf_last_error());
    operand_read(&out, one.id);
    const double *values[EINSUM_CASE_OPERANDS];
    for (int k = 0; k < one.count; k++)
        values[k] = operands[k].value;
    double *want = calloc(2 * form.output_elements + 1, sizeof *want), *magnitude = want + form.output_elements;
    assert_non_null(want);
    const double terms = clfi_ref_einsum(&form, values, want, magnitude);
    for (size_t i = 0; i < form.output_elements; i++) {
        const double bound = clfi_ref_einsum_error(one.count, terms) * magnitude[i] +
                             (s->out == CLF_F32 ? 0x1p-126 : operand_rounding(s->out, fabs(want[i]) + 1e-3));
        CHECK(within(out.value[i], want[i], bound), "%s %s>%s %s at %zu: %.9g, want %.9g within %.3g", one.id, clf_dtype_name(s->in),
              clf_dtype_name(s->out), layout_name(s->in_layout), i, out.value[i], want[i], bound);
    }
    free(want);
    operand_destroy(&out);
    destroy_operands(operands, one.count);
}

static const char *const float_cases[][2] = {
    {"ibhd,jbhd->ijbh", "37x2x3x32,29x2x3x32"},
    {"ijbh,jbhd->ibhd", "37x29x2x3,29x2x3x32"},
    {"nihd,njhd->nijh", "2x37x3x32,2x29x3x32"},
    {"nijh,njhd->nihd", "2x37x29x3,2x29x3x32"},
    {"ij,jk", "67x129,129x65"},
    {"bij,bjk->bik", "3x17x33,3x33x19"},
    {"bij,jk->bik", "3x17x33,33x19"},
    {"ijkl,jlkm->im", "24x10x12x7,10x7x12x20"},
    {"ajbk,kcjd->cadb", "6x20x5x30,30x6x20x5"},
    {"abcd,efcd->eafb", "6x5x20x30,7x4x20x30"},
    {"nijk,nklj->nli", "4x16x9x12,4x12x17x9"},
    {"xaby,ycdx->acbd", "12x6x7x13,13x5x8x12"},
    {"bi,oij,bj->bo", "9x31,11x31x17,9x17"},
    {"ij,ij->", "311x257,311x257"},
    {"ij,ij->i", "311x257,311x257"},
    {"ij,ij->j", "311x257,311x257"},
    {"ij->", "311x257"},
    {"ij->i", "311x257"},
    {"ij->j", "311x257"},
    {"ij->ji", "311x257"},
    {"ijk->jik", "31x57x23"},
    {"ijk->kji", "31x57x23"},
    {"ijk->kji", "45x57x43"},
    {"abij->baji", "3x5x70x83"},
    {"ijk->j", "31x57x53"},
    {"ii->i", "311x311"},
    {"ii", "311x311"},
    {"iji->j", "57x91x57"},
    {"i,j->ij", "301,233"},
    {"ij,j->ij", "301x233,233"},
    {"ij,i->ij", "301x233,301"},
    {"...ij,...jk->...ik", "2x1x19x35,3x35x21"},
    {"i,i,i,i->", "70000,70000,1,70000"},
    {"i,ij,j->", "300,300x400,400"},
    {"abc,cd,de,ef->abf", "5x7x40,40x30,30x50,50x20"},
};

static void floats(void **state)
{
    setting s = {*state, CLF_F32, CLF_F32, LAYOUT_CONTIGUOUS, LAYOUT_CONTIGUOUS, CLF_EINSUM_NO_LIMIT, 0, 1};
    for (size_t i = 0; i < COUNT(float_cases); i++)
        if (takes_case(i, false))
            float_case(&s, float_cases[i][0], float_cases[i][1]);
}

static void float_layouts(void **state)
{
    setting s = {*state, CLF_F32, CLF_F32, LAYOUT_SLICED, LAYOUT_CONTIGUOUS, CLF_EINSUM_NO_LIMIT, 0, 1};
    for (size_t i = 0; i < COUNT(float_cases); i++) {
        if (!takes_case(i, false))
            continue;
        s.in_layout = (layout)(1 + i % 3);
        s.out_layout = (layout)(i / 3 % LAYOUT_COUNT);
        s.in = i % 4 == 1 ? CLF_F16 : i % 4 == 2 ? CLF_BF16 : CLF_F32;
        s.out = i % 5 == 1 ? CLF_F16 : CLF_F32;
        float_case(&s, float_cases[i][0], float_cases[i][1]);
    }
}

/* A sum long enough for slices, of values whose rounding errors all have one sign: 0.1 is not a float. */
static void long_sum(void **state)
{
    clf_context *context = *state;
    const int64_t one = 1, count = only_small_cases() ? 20000 : 3000001;
    const float tenth = 0.1f;
    clf_tensor *value, *repeated, *out;
    CHECK_OK(clf_tensor_create_from(context, CLF_F32, 1, &one, &tenth, &value));
    CHECK_OK(clf_tensor_view(value, 1, &count, &(int64_t){0}, 0, &repeated));
    CHECK_OK(clf_tensor_create(context, CLF_F32, 0, NULL, &out));
    const clf_tensor *const operands[] = {repeated, repeated};
    float sum;
    CHECK_OK(clf_einsum(context, "i->", operands, 1, out));
    CHECK_OK(clf_tensor_read_f32(out, &sum, 1));
    const double want = (double)tenth * (double)count;
    CHECK(within(sum, want, (10 + 2 * sqrt((double)count)) * 0x1p-24 * want), "sum %.9g, want %.9g", (double)sum, want);
    CHECK_OK(clf_einsum(context, "i,i->", operands, 2, out));
    CHECK_OK(clf_tensor_read_f32(out, &sum, 1));
    const double square = (double)tenth * (double)tenth * (double)count;
    CHECK(within(sum, square, (12 + 2 * sqrt((double)count)) * 0x1p-24 * square), "dot %.9g, want %.9g", (double)sum, square);
    clf_tensor_destroy(out);
    clf_tensor_destroy(repeated);
    clf_tensor_destroy(value);
}

/* Naive evaluation would take 10^26 products. */
static void infeasible_without_order(void **state)
{
    if (only_small_cases())
        return;
    setting s = {*state, CLF_F32, CLF_F32, LAYOUT_CONTIGUOUS, LAYOUT_CONTIGUOUS, CLF_EINSUM_NO_LIMIT, 0, 1};
    static einsum_case one;
    operand operands[EINSUM_CASE_OPERANDS];
    einsum_case_make("ab,bc,cd,de,ef,fg,gh,hi,ij,jk,kl,lm->am", "64x64,64x64,64x64,64x64,64x64,64x64,64x64,64x64,64x64,64x64,64x64,64x64",
                     &one);
    make_operands(&s, &one, 1, operands);
    operand out = operand_create(s.context, CLF_F32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){64, 64});
    CHECK_OK(run(&s, &one, operands, &out));
    operand_read(&out, one.id);
    double *product = calloc(3 * 4096, sizeof *product), *sizes = product + 4096, *next = sizes + 4096;
    assert_non_null(product);
    double norm = 1;
    for (int i = 0; i < 64; i++)
        product[i * 64 + i] = 1;
    for (int k = 0; k < one.count; k++) {
        memset(next, 0, 4096 * sizeof *next);
        for (int i = 0; i < 64; i++)
            for (int j = 0; j < 64; j++)
                for (int l = 0; l < 64; l++)
                    next[i * 64 + l] += product[i * 64 + j] * operands[k].value[j * 64 + l];
        memcpy(product, next, 4096 * sizeof *next);
        norm *= 64; /* S of semantics 5.1, from above */
    }
    for (int i = 0; i < 4096; i++)
        CHECK(within(out.value[i], product[i], 1e-9 * norm) && fabs(out.value[i]) < norm, "element %d: %g, want %g", i, out.value[i],
              product[i]);
    worst w = {0};
    double largest = 0;
    for (int i = 0; i < 4096; i++) {
        worst_add(&w, out.value[i], product[i], (size_t)i);
        largest = fmax(largest, fabs(product[i]));
    }
    CHECK(w.error <= 1e-5 * largest, "error %g of %g", w.error, largest);
    free(product);
    operand_destroy(&out);
    destroy_operands(operands, one.count);
}

/* 0 * NaN is NaN, inf and NaN reach only the elements that they belong to. */
static void not_a_number(void **state)
{
    clf_context *context = *state;
    const float a[] = {0, 1, 2, NAN, 3, INFINITY}, b[] = {1, 0, 2, 5, 0, 1};
    clf_tensor *ta, *tb, *out;
    CHECK_OK(clf_tensor_create_from(context, CLF_F32, 2, (int64_t[]){3, 2}, a, &ta));
    CHECK_OK(clf_tensor_create_from(context, CLF_F32, 2, (int64_t[]){2, 3}, b, &tb));
    CHECK_OK(clf_tensor_create(context, CLF_F32, 2, (int64_t[]){3, 3}, &out));
    const clf_tensor *const operands[] = {ta, tb};
    float got[9];
    CHECK_OK(clf_einsum(context, "ij,jk->ik", operands, 2, out));
    CHECK_OK(clf_tensor_read_f32(out, got, 9));
    const double want[] = {5, 0, 1, NAN, NAN, NAN, INFINITY, NAN, INFINITY};
    for (int i = 0; i < 9; i++)
        CHECK(within(got[i], want[i], 0), "element %d: %g, want %g", i, (double)got[i], want[i]);
    clf_tensor_destroy(out);
    clf_tensor_destroy(tb);
    clf_tensor_destroy(ta);
}

static void shared_memory(void **state)
{
    clf_context *context = *state;
    float values[35 * 35], got[35 * 35];
    for (int i = 0; i < 35 * 35; i++)
        values[i] = (float)(i % 7 - 3);
    clf_tensor *x;
    CHECK_OK(clf_tensor_create_from(context, CLF_F32, 2, (int64_t[]){35, 35}, values, &x));
    const clf_tensor *const operands[] = {x, x};
    CHECK_OK(clf_einsum(context, "ij->ji", operands, 1, x)); /* in place */
    CHECK_OK(clf_tensor_read_f32(x, got, 35 * 35));
    for (int i = 0; i < 35 * 35; i++)
        assert_true(got[i] == values[i % 35 * 35 + i / 35]);
    CHECK_OK(clf_einsum(context, "ij,jk->ik", operands, 2, x));
    float product[35 * 35];
    CHECK_OK(clf_tensor_read_f32(x, product, 35 * 35));
    for (int i = 0; i < 35; i++)
        for (int k = 0; k < 35; k++) {
            double sum = 0;
            for (int j = 0; j < 35; j++)
                sum += (double)got[i * 35 + j] * (double)got[j * 35 + k];
            CHECK(product[i * 35 + k] == sum, "element %d,%d: %g, want %g", i, k, (double)product[i * 35 + k], sum);
        }
    clf_tensor_destroy(x);
}

/* One nest of all loops: the shape no longer fits the arguments. */
static void many_loops(void **state)
{
    setting s = {*state, CLF_F32, CLF_F32, LAYOUT_SLICED, LAYOUT_REVERSED, 1, 0, 1};
    static einsum_case one;
    static clf_einsum_form form;
    operand operands[EINSUM_CASE_OPERANDS];
    einsum_case_make("abcdefgh,ijklmnop,aibjck,dlem,hgfp->onja", "2x2x2x2x2x1x1x2,2x2x2x2x2x2x2x1,2x2x2x2x2x2,2x2x2x2,2x1x1x1", &one);
    CHECK_OK(clfi_einsum_parse(one.equation, one.shape, one.count, &form));
    make_operands(&s, &one, 0, operands);
    operand out = operand_create(s.context, CLF_F32, s.out_layout, form.output_rank, form.output_dim);
    CHECK_OK(run(&s, &one, operands, &out));
    operand_read(&out, one.id);
    double want[64];
    const double *values[EINSUM_CASE_OPERANDS];
    for (int k = 0; k < one.count; k++)
        values[k] = operands[k].value;
    clfi_ref_einsum(&form, values, want, NULL);
    for (size_t i = 0; i < form.output_elements; i++)
        CHECK(out.value[i] == want[i], "%s at %zu: %g, want %g", one.id, i, out.value[i], want[i]);
    operand_destroy(&out);
    destroy_operands(operands, one.count);
}

static void refusals(void **state)
{
    clf_context *context = *state;
    operand a = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){2, 3});
    operand b = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){4, 5});
    operand ids = operand_create(context, CLF_I32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){2, 3});
    operand out = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){2, 5});
    operand transposed = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){3, 2});
    const clf_tensor *const ab[] = {a.tensor, b.tensor}, *const missing[] = {a.tensor, NULL}, *const integers[] = {ids.tensor};
    clf_tensor *repeated;
    CHECK_OK(clf_tensor_view(a.tensor, 2, (int64_t[]){3, 2}, (int64_t[]){0, 1}, 0, &repeated));
    operand_read(&out, "before");
    const double unwritten = out.value[0];
    CHECK_FAILS(clf_einsum(context, "ij,jk", ab, 2, out.tensor), CLF_INVALID_ARGUMENT, "E_SIZE: operand 1 label 'j' is 4, expected 3");
    CHECK_FAILS(clf_einsum(context, "ij->ji", ab, 1, out.tensor), CLF_INVALID_ARGUMENT, "E_ARGUMENT: the output is [2,5], expected [3,2]");
    CHECK_FAILS(clf_einsum(context, "ij->ji", integers, 1, transposed.tensor), CLF_INVALID_ARGUMENT, "E_ARGUMENT: operand 0 is int32");
    CHECK_FAILS(clf_einsum(context, "ij->ij", ab, 1, ids.tensor), CLF_INVALID_ARGUMENT, "E_ARGUMENT: the output is int32");
    CHECK_FAILS(clf_einsum(context, "ij->ji", ab, 1, repeated), CLF_INVALID_ARGUMENT, "E_ARGUMENT: the output repeats");
    CHECK_FAILS(clf_einsum(context, "ij,kl", missing, 2, out.tensor), CLF_INVALID_ARGUMENT, "E_ARGUMENT: operand 1 is NULL");
    CHECK_FAILS(clf_einsum(context, NULL, ab, 2, out.tensor), CLF_INVALID_ARGUMENT, "E_ARGUMENT");
    CHECK_FAILS(clf_einsum(context, "ij->ji", NULL, 1, out.tensor), CLF_INVALID_ARGUMENT, "E_ARGUMENT");
    CHECK_FAILS(clf_einsum(context, "ij->ji", ab, 1, NULL), CLF_INVALID_ARGUMENT, "E_ARGUMENT");
    CHECK_FAILS(clf_einsum(NULL, "ij->ji", ab, 1, out.tensor), CLF_INVALID_ARGUMENT, "E_ARGUMENT");
    CHECK_FAILS(clf_einsum(context, "", NULL, 0, out.tensor), CLF_INVALID_ARGUMENT, "E_OPERAND_COUNT");
    operand_read(&out, "refused");
    operand_read(&transposed, "refused");
    for (size_t i = 0; i < out.count; i++)
        CHECK(out.value[i] == unwritten, "element %zu was written", i);
    for (size_t i = 0; i < transposed.count; i++)
        CHECK(transposed.value[i] == unwritten, "element %zu was written", i);
    clf_tensor_destroy(repeated);
    operand_destroy(&transposed);
    operand_destroy(&out);
    operand_destroy(&ids);
    operand_destroy(&b);
    operand_destroy(&a);
}

static void plans(void **state)
{
    clf_context *context = *state;
    const int rank[] = {2, 2};
    const int64_t a[] = {2, 3}, b[] = {3, 4}, *const dim[] = {a, b};
    clf_einsum_plan *plan = NULL;
    CHECK_OK(clf_einsum_plan_create("ij,jk", 2, rank, dim, CLF_EINSUM_NO_LIMIT, &plan));
    assert_int_equal(clf_einsum_plan_rank(plan), 2);
    assert_int_equal(clf_einsum_plan_dim(plan)[1], 4);
    assert_true(clf_einsum_plan_cost(plan) == 48 && clf_einsum_plan_largest(plan) == 0);
    char text[1024], cut[10];
    size_t length = 0, again = 0;
    CHECK_OK(clf_einsum_plan_print(context, plan, text, sizeof text, &length));
    CHECK(length == strlen(text) && strstr(text, "cost 48") && strstr(text, "gemm ") && strstr(text, "m 2 n 4 k 3"), "%s", text);
    CHECK_OK(clf_einsum_plan_print(NULL, plan, cut, sizeof cut, &again));
    assert_true(strlen(cut) == 9 && strncmp(cut, text, 9) == 0 && again > 9);
    CHECK_OK(clf_einsum_plan_print(NULL, plan, NULL, 0, &again));

    int out_rank = -1;
    int64_t out_dim[CLF_MAX_RANK];
    CHECK_OK(clf_einsum_output_shape("ij,jk->ki", 2, rank, dim, &out_rank, out_dim));
    assert_true(out_rank == 2 && out_dim[0] == 4 && out_dim[1] == 2);
    CHECK_FAILS(clf_einsum_output_shape("ij,ik", 2, rank, dim, &out_rank, out_dim), CLF_INVALID_ARGUMENT, "E_SIZE");
    clf_einsum_plan *none = NULL;
    CHECK_FAILS(clf_einsum_plan_create("ij,jk", 2, rank, dim, 0, &none), CLF_UNSUPPORTED, "E_LIMIT");
    CHECK_FAILS(clf_einsum_plan_create("ij,jk", 2, NULL, dim, 1, &none), CLF_INVALID_ARGUMENT, "E_ARGUMENT");
    CHECK_FAILS(clf_einsum_plan_create("ij,jk", 2, rank, dim, 1, NULL), CLF_INVALID_ARGUMENT, "E_ARGUMENT");
    assert_null(none);

    operand x = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, a),
            wrong = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, a);
    operand out = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){2, 4});
    const clf_tensor *const operands[] = {x.tensor, wrong.tensor};
    CHECK_FAILS(clf_einsum_plan_run(context, plan, operands, 2, out.tensor), CLF_INVALID_ARGUMENT,
                "operand 1 is [2,3], the plan is for [3,4]");
    CHECK_FAILS(clf_einsum_plan_run(context, plan, operands, 1, out.tensor), CLF_INVALID_ARGUMENT, "E_OPERAND_COUNT");
    CHECK_FAILS(clf_einsum_plan_run(context, NULL, operands, 2, out.tensor), CLF_INVALID_ARGUMENT, "E_ARGUMENT");
    operand_destroy(&out);
    operand_destroy(&wrong);
    operand_destroy(&x);
    clf_einsum_plan_destroy(plan);
    clf_einsum_plan_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden),        cmocka_unit_test(golden_layouts),
        cmocka_unit_test(golden_halves), cmocka_unit_test(golden_limited),
        cmocka_unit_test(floats),        cmocka_unit_test(float_layouts),
        cmocka_unit_test(long_sum),      cmocka_unit_test(infeasible_without_order),
        cmocka_unit_test(not_a_number),  cmocka_unit_test(shared_memory),
        cmocka_unit_test(many_loops),    cmocka_unit_test(refusals),
        cmocka_unit_test(plans),
    };
    return cmocka_run_group_tests(tests, device_setup, device_teardown);
}
