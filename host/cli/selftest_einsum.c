/* SPDX-License-Identifier: MIT */
/* selftest: einsum equations of each way to run a step, permutations, and Philox dropout. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "clformer/attention.h"
#include "clformer/einsum.h"
#include "cli/selftest.h"
#include "workload/reference_einsum.h"

static const double u = 0x1p-24;

enum { MOST_OPERANDS = 3, MOST_RANK = 4 };

typedef struct einsum_case {
    const char *equation;
    int count;
    struct {
        int rank;
        int64_t dim[MOST_RANK];
    } operand[MOST_OPERANDS];
} einsum_case;

static clf_status parse_case(const einsum_case *c, clf_einsum_form *form)
{
    clf_einsum_shape shapes[MOST_OPERANDS];
    for (int k = 0; k < c->count; k++)
        shapes[k] = (clf_einsum_shape){c->operand[k].rank, c->operand[k].dim};
    return clfi_einsum_parse(c->equation, shapes, c->count, form);
}

/* |error| <= (terms + 2 operands) u sum |products|, as clformer/einsum.h promises; a permutation is exact. */
static clf_status run_case(selftest *test, const einsum_case *c)
{
    selftest_operands data = {.count = 0};
    const clf_tensor *tensors[MOST_OPERANDS];
    double *wide[MOST_OPERANDS] = {NULL};
    clf_einsum_form form;
    clf_status st;
    CLF_GOTO(parse_case(c, &form));
    for (int k = 0; k < c->count; k++) {
        CLF_GOTO(selftest_add(test, &data, c->operand[k].rank, c->operand[k].dim, -1, 1));
        tensors[k] = data.operand[k].tensor;
        CLF_GOTO(clfi_operand_widen(&data.operand[k], &wide[k]));
    }
    CLF_GOTO(selftest_add_result(test, &data, form.output_rank, form.output_dim));
    CLF_GOTO(clf_einsum(test->context, c->equation, tensors, c->count, data.operand[c->count].tensor));
    CLF_GOTO(clfi_operand_read(&data.operand[c->count]));
    const double terms = clfi_ref_einsum_terms(&form), roundings = terms == 1 && c->count == 1 ? 0 : terms + 2 * c->count;
    for (size_t i = 0; i < form.output_elements; i++) {
        double magnitude;
        const double want = clfi_ref_einsum_element(&form, (const double *const *)wide, i, &magnitude);
        selftest_check(test, data.operand[c->count].host[i], want, roundings * u * magnitude);
    }
done:
    selftest_free(&data);
    for (int k = 0; k < MOST_OPERANDS; k++)
        free(wide[k]);
    return st;
}

static clf_status run_cases(selftest *test, const einsum_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++)
        CLF_TRY(run_case(test, &cases[i]));
    return CLF_OK;
}

clf_status selftest_einsum(selftest *test)
{
    static const einsum_case cases[] = {
        {"ibhd,jbhd->ijbh", 2, {{4, {9, 2, 3, 32}}, {4, {17, 2, 3, 32}}}}, /* the attention equations: batches inside */
        {"ijbh,jbhd->ibhd", 2, {{4, {9, 17, 2, 3}}, {4, {17, 2, 3, 32}}}},
        {"nihd,njhd->nijh", 2, {{4, {2, 9, 3, 32}}, {4, {2, 17, 3, 32}}}},
        {"ij,jk,kl->il", 3, {{2, {33, 40}}, {2, {40, 21}}, {2, {21, 19}}}}, /* two steps */
        {"...ij,...jk", 2, {{3, {1, 5, 7}}, {3, {4, 7, 3}}}},               /* broadcast ellipsis */
        {"iij->j", 1, {{3, {13, 13, 9}}}},                                  /* a diagonal, summed */
        {"a,b,c->abc", 3, {{1, {7}}, {1, {5}}, {1, {33}}}},                 /* products without a sum */
        {"abc->", 1, {{3, {19, 23, 7}}}},                                   /* everything summed */
    };
    return run_cases(test, cases, COUNT(cases));
}

clf_status selftest_permute(selftest *test)
{
    static const einsum_case cases[] = {
        {"ab->ba", 1, {{2, {67, 131}}}}, {"abc->cab", 1, {{3, {3, 65, 33}}}}, {"abcd->dbca", 1, {{4, {17, 3, 5, 40}}}},
        {"abc->bac", 1, {{3, {5, 7, 64}}}},
    };
    return run_cases(test, cases, COUNT(cases));
}

/* Philox 4x32-10 with 32-bit words (Salmon et al. 2011). */
static void philox(uint64_t block, uint64_t seed, uint32_t out[4])
{
    uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    memcpy(out, (uint32_t[4]){(uint32_t)block, (uint32_t)(block >> 32), 0, 0}, 4 * sizeof *out);
    for (int round = 0; round < 10; round++) {
        const uint64_t first = (uint64_t)0xd2511f53u * out[0], second = (uint64_t)0xcd9e8d57u * out[2];
        out[0] = (uint32_t)(second >> 32) ^ out[1] ^ key[0];
        out[1] = (uint32_t)second;
        out[2] = (uint32_t)(first >> 32) ^ out[3] ^ key[1];
        out[3] = (uint32_t)first;
        key[0] += 0x9e3779b9u;
        key[1] += 0xbb67ae85u;
    }
}

clf_status selftest_dropout(selftest *test)
{
    const int64_t count = 1021;
    const uint64_t seed = 0xfedcba9876543210u;
    const float probability = 0.3f;
    selftest_operands data = {.count = 0};
    clf_status st;
    CLF_GOTO(selftest_add(test, &data, 1, &count, 1, 2));
    CLF_GOTO(selftest_add_result(test, &data, 1, &count));
    CLF_GOTO(clf_dropout(test->context, data.operand[0].tensor, probability, seed, data.operand[1].tensor));
    CLF_GOTO(clfi_operand_read(&data.operand[1]));
    for (int64_t i = 0; i < count; i++) {
        uint32_t word[4];
        philox((uint64_t)i / 4, seed, word);
        const bool is_kept = (float)(word[i % 4] >> 8) * 0x1p-24f >= probability;
        const double want = is_kept ? data.operand[0].host[i] / (1 - (double)probability) : 0;
        selftest_check(test, data.operand[1].host[i], want, 8 * u * want);
    }
done:
    selftest_free(&data);
    return st;
}
