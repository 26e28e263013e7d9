/* SPDX-License-Identifier: MIT */
/* Runs einsum plans step by step on the host in double exactly as a device would (copies, strided-batched products, loops): every golden
 * case, with and without memory limits. Also tests what the attention equations are lowered to. */
#include "op/einsum_lower.h"
#include "op/einsum_print.h"
#include "support/cases_einsum.h"
#include "support/check.h"
#include "workload/reference_einsum.h"

enum { CAPACITY = 1 << 17 };

static clf_einsum_form form;
static clf_einsum_plan plan;
static clf_einsum_strides strides;
static int copies_made; /* by the last case */

/* Adds loop `d` of dim[0..rank) to the positions; calls itself to the innermost. Walks every combination, with `at` the element of each
 * term. */
static void walk(const clf_einsum_dim *dim, int rank, int terms, const int64_t *at, void (*visit)(const int64_t *at, void *user),
                 void *user)
{
    if (rank == 0) {
        visit(at, user);
        return;
    }
    for (int64_t i = 0; i < dim->size; i++) {
        int64_t next[CLF_EINSUM_MAX_OPERANDS + 1];
        for (int t = 0; t < terms; t++)
            next[t] = at[t] + i * dim->stride[t];
        walk(dim + 1, rank - 1, terms, next, visit, user);
    }
}

typedef struct machine {
    const double *in[CLF_EINSUM_MAX_OPERANDS];
    double *out;
    int inputs;
    const clf_einsum_dim *summed;
    int summed_rank;
    double sum;
} machine;

static void add_product(const int64_t *at, void *user)
{
    machine *m = user;
    double product = 1;
    for (int i = 0; i < m->inputs; i++)
        product *= m->in[i][at[i]];
    m->sum += product;
}

static void element(const int64_t *at, void *user)
{
    machine *m = user;
    m->sum = 0;
    walk(m->summed, m->summed_rank, m->inputs + 1, at, add_product, m);
    m->out[at[m->inputs]] = m->sum;
}

static void run_loops(const clf_einsum_loops *loops, const double *const *in, double *out)
{
    machine m = {.out = out, .inputs = loops->inputs, .summed = loops->summed, .summed_rank = loops->summed_rank};
    memcpy(m.in, in, (size_t)loops->inputs * sizeof *in);
    walk(loops->kept, loops->kept_rank, loops->inputs + 1, (int64_t[CLF_EINSUM_MAX_OPERANDS + 1]){0}, element, &m);
}

static void run_gemm(const clf_einsum_gemm *g, const double *const *in, double *out)
{
    static clf_einsum_loops loops;
    loops = (clf_einsum_loops){.inputs = 2};
    memcpy(loops.kept, g->batch, sizeof g->batch);
    loops.kept_rank = g->batch_rank;
    loops.kept[loops.kept_rank++] = g->m;
    loops.kept[loops.kept_rank++] = g->n;
    loops.summed[0] = g->k;
    loops.summed_rank = 1;
    run_loops(&loops, (const double *const[]){in[g->swapped], in[!g->swapped]}, out);
}

/* Elements of `labels` from one set of strides to another. */
static void copy(clf_label_set labels, const int64_t *from_stride, const double *from, const int64_t *to_stride, double *to)
{
    static clf_einsum_access access;
    static clf_einsum_loops loops;
    access = (clf_einsum_access){.inputs = 1, .labels = labels, .kept = labels};
    memcpy(access.stride[0], from_stride, sizeof access.stride[0]);
    memcpy(access.stride[1], to_stride, sizeof access.stride[1]);
    clfi_einsum_loops_make(&access, form.size, &loops);
    run_loops(&loops, &from, to);
}

/* Elements of a term or a copy, NaN until written. */
static double *fresh(double elements)
{
    assert_true(elements <= CAPACITY);
    double *memory = test_malloc(((size_t)elements + 1) * sizeof *memory);
    for (size_t i = 0; i < (size_t)elements; i++)
        memory[i] = NAN;
    return memory;
}

static void run_step(int s, double limit, double *const *term)
{
    static clf_einsum_access access;
    static clf_einsum_lowering lowering;
    clfi_einsum_step_access(&plan, &strides, s, &access);
    clfi_einsum_lower(&access, form.size, limit, &lowering);
    const double *in[CLF_EINSUM_MAX_OPERANDS];
    for (int i = 0; i < access.inputs; i++)
        in[i] = term[plan.step[s].input[i]];
    double *out = term[form.operand_count + s];
    if (lowering.kind != CLFI_EINSUM_GEMM) {
        run_loops(&lowering.loops, in, out);
        return;
    }
    double *scratch[3] = {NULL};
    for (int t = 0; t < 3; t++)
        if (lowering.copied[t]) {
            copies_made++;
            scratch[t] = fresh((double)lowering.copy_elements[t]);
            assert_true((double)lowering.copy_elements[t] <= limit);
        }
    for (int t = 0; t < 2; t++)
        if (scratch[t]) {
            copy(clfi_einsum_term_labels(&plan, plan.step[s].input[t]), access.stride[t], in[t], lowering.copy_stride[t], scratch[t]);
            in[t] = scratch[t];
        }
    run_gemm(&lowering.gemm, in, scratch[2] ? scratch[2] : out);
    if (scratch[2])
        copy(access.kept, lowering.copy_stride[2], scratch[2], access.stride[2], out);
    for (int t = 0; t < 3; t++)
        if (scratch[t])
            test_free(scratch[t]);
}

static void run_case(const einsum_case *one, int64_t memory_limit, const double *want)
{
    CHECK_OK(clfi_einsum_parse(one->equation, one->shape, one->count, &form));
    CHECK_OK(clfi_einsum_plan_make(&form, memory_limit, &plan));
    clfi_einsum_dense_strides(&form, &strides);
    double *term[CLF_EINSUM_MAX_OPERANDS + CLFI_EINSUM_MAX_STEPS];
    if (plan.step_count == 0) {
        for (size_t i = 0; i < form.output_elements; i++)
            assert_true(want[i] == 0);
        return;
    }
    const int terms = one->count + plan.step_count;
    copies_made = 0;
    for (int t = 0; t < terms; t++)
        term[t] = fresh(t < one->count ? (double)einsum_case_elements(one, t) : plan.step[t - one->count].elements);
    for (int k = 0; k < one->count; k++)
        for (size_t i = 0; i < einsum_case_elements(one, k); i++)
            term[k][i] = einsum_case_value(one->count, k, i);
    for (int s = 0; s < plan.step_count; s++) {
        if (s + 1 < plan.step_count)
            CHECK(plan.step[s].elements <= plan.limit, "%s: step %d exceeds the limit", one->id, s);
        run_step(s, plan.limited ? plan.limit : INFINITY, term);
    }
    for (size_t i = 0; i < form.output_elements; i++)
        CHECK(term[terms - 1][i] == want[i], "%s limit %lld at %zu: %g, want %g", one->id, (long long)memory_limit, i, term[terms - 1][i],
              want[i]);
    for (int t = 0; t < terms; t++)
        test_free(term[t]);
}

static void golden_case(const einsum_case *one, void *user)
{
    if (!one->code[0])
        run_case(one, *(const int64_t *)user, one->output);
}

static void golden(void **state)
{
    (void)state;
    each_einsum_case(golden_case, &(int64_t){CLF_EINSUM_NO_LIMIT});
}

static void golden_limited(void **state)
{
    (void)state;
    each_einsum_case(golden_case, &(int64_t){1});
    each_einsum_case(golden_case, &(int64_t){8});
    each_einsum_case(golden_case, &(int64_t){CLF_EINSUM_MAX_INPUT});
}

static void plan_of(const char *equation, const char *shapes, int64_t memory_limit)
{
    einsum_case one;
    einsum_case_make(equation, shapes, &one);
    CHECK_OK(clfi_einsum_parse(one.equation, one.shape, one.count, &form));
    CHECK_OK(clfi_einsum_plan_make(&form, memory_limit, &plan));
    clfi_einsum_dense_strides(&form, &strides);
}

/* Sizes at which copies and extra batches pay off; judged by the reference. */
static void copies_compute_the_same(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"ijkl,jlkm->im", "24x10x12x7,10x7x12x20"}, {"ijkl,jlkm->mi", "24x10x12x7,10x7x12x20"}, {"ajbk,kcjd->abcd", "6x20x5x30,30x6x20x5"},
        {"ajbk,kcjd->cadb", "6x20x5x30,30x6x20x5"}, {"abcd,efcd->eafb", "6x5x20x30,7x4x20x30"}, {"bicj,cjbk->ik", "12x20x11x8,11x8x12x15"},
        {"nijk,nklj->nli", "4x16x9x12,4x12x17x9"},  {"iijk,kjl->il", "20x20x9x12,12x9x18"},     {"xaby,ycdx->acbd", "12x6x7x13,13x5x8x12"},
    };
    static einsum_case one;
    int copies = 0;
    for (size_t i = 0; i < COUNT(rows); i++) {
        einsum_case_make(rows[i][0], rows[i][1], &one);
        CHECK_OK(clfi_einsum_parse(one.equation, one.shape, one.count, &form));
        double *operand[2], *want = fresh((double)form.output_elements);
        for (int k = 0; k < 2; k++) {
            operand[k] = fresh((double)einsum_case_elements(&one, k));
            for (size_t e = 0; e < einsum_case_elements(&one, k); e++)
                operand[k][e] = einsum_case_value(2, k, e);
        }
        clfi_ref_einsum(&form, (const double *const *)operand, want, NULL);
        run_case(&one, CLF_EINSUM_NO_LIMIT, want);
        copies += copies_made;
        for (int k = 0; k < 2; k++)
            test_free(operand[k]);
        test_free(want);
    }
    CHECK(copies >= (int)COUNT(rows), "%d copies", copies);
}

/* The attention equations are one strided-batched product each, nothing copied, at sizes of models and at tiny ones. */
static void attention_is_one_product(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"ibhd,jbhd->ijbh", "128x4x12x64,96x4x12x64"},
        {"ijbh,jbhd->ibhd", "128x96x4x12,96x4x12x64"},
        {"nihd,njhd->nijh", "4x128x12x64,4x96x12x64"},
        {"nijh,njhd->nihd", "4x128x96x12,4x96x12x64"},
        {"ibhd,jbhd->ijbh", "3x2x2x4,5x2x2x4"},
        {"ijbh,jbhd->ibhd", "3x5x2x2,5x2x2x4"},
        {"nihd,njhd->nijh", "2x3x2x4,2x5x2x4"},
        {"nijh,njhd->nihd", "2x3x5x2,2x5x2x4"},
        {"bqd,bkd->bqk", "8x64x32,8x48x32"},
        {"bqk,bkv->bqv", "8x64x48,8x48x32"},
        {"ij,jk", "64x48,48x32"},
        {"bij,bjk->bik", "8x64x48,8x48x32"},
        {"bhid,bhjd->bhij", "2x8x64x32,2x8x48x32"},
        {"lbd,hdk->lbhk", "32x4x64,8x64x16"},
    };
    static clf_einsum_access access;
    static clf_einsum_lowering lowering;
    for (size_t i = 0; i < COUNT(rows); i++) {
        plan_of(rows[i][0], rows[i][1], CLF_EINSUM_NO_LIMIT);
        assert_int_equal(plan.step_count, 1);
        clfi_einsum_step_access(&plan, &strides, 0, &access);
        clfi_einsum_lower(&access, form.size, INFINITY, &lowering);
        CHECK(lowering.kind == CLFI_EINSUM_GEMM && !lowering.copied[0] && !lowering.copied[1] && !lowering.copied[2], "%s %s: %s",
              rows[i][0], rows[i][1], clfi_einsum_kind_name(lowering.kind));
    }
}

/* The sums do not fuse, so the cheaper operand is copied, not both. */
static void copies_what_must_be(void **state)
{
    (void)state;
    static clf_einsum_access access;
    static clf_einsum_lowering lowering;
    plan_of("ijkl,jlkm->im", "40x50x60x7,50x7x60x20", CLF_EINSUM_NO_LIMIT);
    clfi_einsum_step_access(&plan, &strides, 0, &access);
    clfi_einsum_lower(&access, form.size, INFINITY, &lowering);
    assert_int_equal(lowering.kind, CLFI_EINSUM_GEMM);
    assert_true(!lowering.copied[0] && lowering.copied[1] && !lowering.copied[2]);
    assert_int_equal(lowering.gemm.k.size, 50 * 60 * 7);
    clfi_einsum_lower(&access, form.size, 1000, &lowering);
    assert_int_equal(lowering.kind, CLFI_EINSUM_CONTRACT);
}

static void limits(void **state)
{
    (void)state;
    plan_of("ab,cd,ef,abcdef->", "2x2,2x2,2x2,2x2x2x2x2x2", 5);
    assert_true(plan.step[plan.step_count - 1].input_count >= 2);
    CHECK_FAILS(clfi_einsum_plan_make(&form, 0, &plan), CLF_UNSUPPORTED, "E_LIMIT");
    CHECK_FAILS(clfi_einsum_plan_make(&form, -3, &plan), CLF_UNSUPPORTED, "E_LIMIT");
    /* six terms that opt_einsum contracts at once under limit 5 */
    plan_of("abc,bdef,fghj,cem,mhk,ljk->adgl", "2x2x2,2x2x2x2,2x2x2x2,2x2x2,2x2x2,2x2x2", 5);
    assert_int_equal(plan.step_count, 1);
    assert_int_equal(plan.step[0].input_count, 6);
}

static void printed(void **state)
{
    (void)state;
    clf_str text = CLF_STR_INIT;
    plan_of("ij,jk,kl->il", "2x3,3x4,4x5", CLF_EINSUM_NO_LIMIT);
    CHECK_OK(clfi_einsum_print(&plan, &strides, NULL, NULL, &text));
    static const char *const parts[] = {"equation  ij,jk,kl->il\n",
                                        "operands  [2,3] [3,4] [4,5]\n",
                                        "result    [2,5]\n",
                                        "path      (0,1) (0,1)\n",
                                        "cost      128, naive 360, largest intermediate 8 elements\n",
                                        "->il  terms 2,3->4  cost 80  elements 10  gemm: "};
    for (size_t i = 0; i < COUNT(parts); i++)
        CHECK(strstr(clfi_str_text(&text), parts[i]), "\"%s\" is not in:\n%s", parts[i], clfi_str_text(&text));
    clfi_str_clear(&text);
    plan_of("ij,jk->ik", "2x0,0x3", CLF_EINSUM_NO_LIMIT);
    CHECK_OK(clfi_einsum_print(&plan, &strides, NULL, NULL, &text));
    assert_non_null(strstr(clfi_str_text(&text), "zeros"));
    clfi_str_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden),
        cmocka_unit_test(golden_limited),
        cmocka_unit_test(copies_compute_the_same),
        cmocka_unit_test(attention_is_one_product),
        cmocka_unit_test(copies_what_must_be),
        cmocka_unit_test(limits),
        cmocka_unit_test(printed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
