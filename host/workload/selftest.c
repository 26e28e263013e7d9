/* SPDX-License-Identifier: MIT */
/* Self-tests as workloads: a table of the functions, their operands, and the comparison of results. */
#include "workload/selftest.h"

#include <stdio.h>

#include "base/alloc.h"
#include "workload/op_workloads.h"

enum { SEED = 1 };

typedef struct selftest_case {
    const char *op, *name;
    const clf_engine_table *table; /* engines of the op; NULL: no choice */
    clfi_selftest_function run;
} selftest_case;

static const selftest_case cases[] = {
    {"activation", "kinds", NULL, clfi_selftest_activation},
    {"l2_normalize", "rows", &clfi_engine_tables[CLF_OP_L2_NORMALIZE], clfi_selftest_l2_normalize},
    {"log_softmax", "rows", &clfi_engine_tables[CLF_OP_LOG_SOFTMAX], clfi_selftest_log_softmax},
    {"attention", "packed", &clfi_engine_tables[CLF_OP_ATTENTION], clfi_selftest_packed_attention},
    {"scoring", "kinds", NULL, clfi_selftest_scoring},
    {"dropout", "philox", NULL, clfi_selftest_dropout},
    {"cached_attention", "heads", &clfi_engine_tables[CLF_OP_CACHED_ATTENTION], clfi_selftest_cached_attention},
    {"rotary", "pairs", NULL, clfi_selftest_rotary},
    {"embedding", "sum", &clfi_engine_tables[CLF_OP_EMBEDDING], clfi_selftest_embedding},
    {"pool", "kinds", &clfi_engine_tables[CLF_OP_POOL], clfi_selftest_pool},
    {"top_k", "rows", &clfi_engine_tables[CLF_OP_TOP_K], clfi_selftest_top_k},
    {"search", "cosine", NULL, clfi_selftest_search},
    {"soft_cap", "logits", NULL, clfi_selftest_soft_cap},
    {"row_check", "rows", NULL, clfi_selftest_row_check},
    {"exp_sum", "logits", NULL, clfi_selftest_exp_sum},
    {"feed_forward", "gated", NULL, clfi_selftest_feed_forward},
    {"encoder", "two-layers", NULL, clfi_selftest_encoder},
    {"encoder_decoder", "cached-targets", NULL, clfi_selftest_encoder_decoder},
    {"beam_search", "every-end", NULL, clfi_selftest_beam_search},
    {"decoder", "prompt-and-steps", NULL, clfi_selftest_decoder},
};

typedef struct selftest_state {
    clfi_op_run run;
    clfi_selftest_function function;
    clfi_selftest test;
} selftest_state;

static clf_status enqueue(void *state)
{
    selftest_state *s = state;
    s->test = (clfi_selftest){.context = s->run.context, .random = {SEED}, .verdict = CLFI_VERDICT_INIT};
    return s->function(&s->test);
}

static clf_status prepare(const clfi_workload *workload, clf_context *context, const char *engine, void **state)
{
    const selftest_case *one = workload->parameters;
    selftest_state *s;
    CLF_TRY(clfi_alloc(1, sizeof *s, "workload", &s));
    *state = s;
    s->function = one->run;
    return clfi_op_run_init(&s->run, workload, context, one->op, engine, enqueue);
}

static clf_status verify(void *state, clfi_verdict *out)
{
    selftest_state *s = state;
    CLF_TRY(clfi_op_run_step(s, enqueue));
    *out = s->test.verdict;
    return CLF_OK;
}

static const clfi_workload_type type = {
    .engines = clfi_op_engines, .prepare = prepare, .verify = verify, .run = clfi_op_run_chain, .release = free};

clf_status clfi_selftest_workloads(clfi_workload_list *list)
{
    for (size_t i = 0; i < COUNT(cases); i++) {
        clfi_workload workload = {.op = cases[i].op, .table = cases[i].table, .type = &type};
        snprintf(workload.id, sizeof workload.id, "%s/selftest/%s", cases[i].op, cases[i].name);
        json_t *work = json_pack("{s:s, s:s, s:i, s:i}", "op", cases[i].op, "selftest", cases[i].name, "chain", 1, "seed", SEED);
        CLF_TRY(clfi_op_workload_add(list, &workload, work, &cases[i], sizeof cases[i]));
    }
    return CLF_OK;
}

void clfi_selftest_all(clfi_selftest *test, const clfi_operand *got, const double *want, const double *bound)
{
    for (size_t i = 0; i < got->count; i++)
        clfi_verdict_add(&test->verdict, (double)got->host[i], want[i], bound[i] + 0x1p-24 * (fabs(want[i]) + bound[i]));
}

clf_status clfi_selftest_add(clfi_selftest *test, clfi_selftest_operands *operands, int rank, const int64_t *dim, float low, float high)
{
    return clfi_operand_random(test->context, &test->random, rank, dim, low, high, &operands->operand[operands->count++]);
}

clf_status clfi_selftest_add_result(clfi_selftest *test, clfi_selftest_operands *operands, int rank, const int64_t *dim)
{
    return clfi_operand_result(test->context, rank, dim, &operands->operand[operands->count++]);
}

const clf_view *clfi_selftest_view(const clfi_selftest_operands *operands, int i)
{
    return clfi_tensor_view(operands->operand[i].tensor);
}

void clfi_selftest_free(clfi_selftest_operands *operands)
{
    for (int i = 0; i < operands->count; i++)
        clfi_operand_free(&operands->operand[i]);
}
