/* SPDX-License-Identifier: MIT */
/* Runs an op with a forced engine; shared by all op workloads. */
#include "workload/op_run.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "workload/timing.h"

enum { MOST_CHAINED = 32 };

static const double enough_flops = 1 << 26, enough_bytes = 1 << 24;

int clfi_op_chain(double flops, double bytes)
{
    const double by_flops = flops > 0 ? enough_flops / flops : MOST_CHAINED, by_bytes = bytes > 0 ? enough_bytes / bytes : MOST_CHAINED;
    const double wanted = by_flops < by_bytes ? by_flops : by_bytes;
    return wanted <= 1 ? 1 : wanted >= MOST_CHAINED ? MOST_CHAINED : (int)wanted;
}

const char *clfi_op_chain_text(int chain, char text[CLFI_CHAIN_TEXT])
{
    text[0] = '\0';
    if (chain > 1)
        snprintf(text, CLFI_CHAIN_TEXT, "-x%d", chain);
    return text;
}

clf_status clfi_op_workload_add(clfi_workload_list *list, clfi_workload *workload, json_t *work, const void *one, size_t size)
{
    void *copy;
    if (!work)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "workload %s: its description: not enough memory", workload->id);
    const clf_status st = clfi_alloc(1, size, "workload", &copy);
    if (st != CLF_OK) {
        json_decref(work);
        return st;
    }
    memcpy(copy, one, size);
    workload->suite = "ops";
    workload->work = work;
    workload->parameters = copy;
    return clfi_workload_list_add(list, workload);
}

clf_status clfi_op_engines(const clfi_workload *workload, clf_context *context, clfi_engine_list *out)
{
    const clf_engine_table *table = workload->table;
    if (!table)
        return clfi_workload_one_engine(workload, context, out);
    out->count = 0;
    for (size_t i = 0; i < table->count && out->count < CLFI_ENGINE_MAX; i++)
        out->names[out->count++] = table->engines[i].name;
    return CLF_OK;
}

clf_status clfi_op_run_init(clfi_op_run *run, const clfi_workload *workload, clf_context *context, const char *op, const char *engine,
                            clf_status (*enqueue)(void *state))
{
    const int chain = (int)json_integer_value(json_object_get(workload->work, "chain"));
    *run = (clfi_op_run){.context = context, .precision = context->precision, .chain = chain, .enqueue = enqueue};
    if (!engine[0])
        return CLF_OK;
    if (snprintf(run->engines, sizeof run->engines, "%s=%s", op, engine) >= (int)sizeof run->engines)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "engine %s=%s: the name is too long", op, engine);
    return CLF_OK;
}

clf_status clfi_op_run_step(void *state, clf_status (*step)(void *state))
{
    clfi_op_run *run = state;
    clf_context *const context = run->context;
    char *const engines = context->engines;
    const clf_precision precision = context->precision;
    if (run->engines[0])
        context->engines = run->engines;
    context->precision = run->precision;
    const clf_status st = step(state);
    context->engines = engines;
    context->precision = precision;
    return st;
}

static clf_status run_once(void *state)
{
    clfi_op_run *run = state;
    CLF_TRY(clfi_op_run_step(state, run->enqueue));
    return clf_context_finish(run->context);
}

clf_status clfi_op_run_fresh(void *state, clfi_operand *result)
{
    CLF_TRY(clfi_operand_clear(result));
    CLF_TRY(run_once(state));
    return clfi_operand_read(result);
}

clf_status clfi_op_prepare(const clfi_workload *workload, clf_context *context, const char *engine, size_t size, clfi_op_setup setup,
                           void **state)
{
    CLF_TRY(clfi_alloc(1, size, "workload", state));
    clf_status st = setup(workload, context, engine, *state);
    if (st == CLF_OK)
        st = run_once(*state);
    if (st != CLF_OK)
        clfi_context_drain(context); /* the queue may still use what the caller will release */
    return st;
}

static clf_status enqueue_chain(void *state)
{
    const clfi_op_run *run = state;
    for (int i = 0; i < run->chain; i++)
        CLF_TRY(run->enqueue(state));
    return clfi_context_wait(run->context);
}

static clf_status forced_chain(void *state)
{
    return clfi_op_run_step(state, enqueue_chain);
}

clf_status clfi_op_run_chain(void *state, clfi_sample *out)
{
    const clfi_op_run *run = state;
    return clfi_time_call(run->context, forced_chain, state, out);
}
