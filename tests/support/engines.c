/* SPDX-License-Identifier: MIT */
/* Lists engines for tests and opens contexts that force them. */
#include "support/engines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/launch_budget.h"
#include "support/check.h"
#include "support/device.h"
#include "support/engine_watch.h"
#include "support/operand.h"

enum { MOST = 16, TEXT_BYTES = 128 };

typedef struct engine_texts {
    char text[MOST][TEXT_BYTES];
    const char *pointers[MOST + 1];
    size_t count;
} engine_texts;

static void add(engine_texts *list, const char *op, const char *engine, size_t length)
{
    assert_true(list->count < MOST);
    char *text = list->text[list->count];
    const size_t used = strlen(text);
    const int written = snprintf(text + used, TEXT_BYTES - used, "%s%s=%.*s", used ? "," : "", op, (int)length, engine);
    assert_true(written > 0 && (size_t)written < TEXT_BYTES - used);
}

static const char *const *list_engines(engine_texts *list, const clf_op *ops, size_t count)
{
    const clf_engine_table *first = &clfi_engine_tables[ops[0]];
    memset(list, 0, sizeof *list);
    const char *forced = engine_forced_entry(first->op);
    for (size_t i = 0; i < count; i++)
        engine_watch(ops[i]);
    for (size_t e = 0; e < (forced ? 1 : first->count); e++) {
        for (size_t i = 0; i < count; i++) {
            const clf_engine_table *table = &clfi_engine_tables[ops[i]];
            assert_true(table->engines == first->engines);
            add(list, table->op, forced ? forced : table->engines[e].name, forced ? strcspn(forced, ",") : strlen(table->engines[e].name));
        }
        list->pointers[list->count] = list->text[list->count];
        list->count++;
    }
    return list->pointers;
}

const char *const *engines_of(clf_op op)
{
    static engine_texts lists[CLF_OP_COUNT];
    return list_engines(&lists[op], &op, 1);
}

const char *const *engines_of_both(clf_op op, clf_op other)
{
    static engine_texts list;
    return list_engines(&list, (clf_op[]){op, other}, 2);
}

/* Skips or fails the group if there is no device; the tests open contexts of their own. */
static int setup(void **state)
{
    const int failed = device_setup(state);
    if (!failed)
        device_teardown(state);
    *state = NULL; /* cmocka would pass it to the tests in place of their own state */
    return failed;
}

int run_gemm_engine_tests(const char *group, void (*test)(void **state))
{
    struct CMUnitTest tests[MOST + 1];
    size_t count = 0;
    tests[count++] = (struct CMUnitTest){"default", test, NULL, NULL, (void *)""};
    for (const char *const *engine = engines_of(CLF_OP_GEMM); *engine; engine++)
        tests[count++] = (struct CMUnitTest){*engine, test, NULL, NULL, (void *)*engine};
    return _cmocka_run_group_tests(group, tests, count, setup, NULL);
}

static clf_context *forced_context(clf_op op, const char *engine)
{
    clf_context *context = engine_context(engine);
    clf_engine_choice forced;
    CHECK_OK(clfi_engine_forced(context, op, &forced));
    if (!forced.engine || forced.engine->precision == context->precision)
        return context;
    clf_context_destroy(context);
    return precise_context(engine, forced.engine->precision);
}

clf_context *gemm_context(const char *engine)
{
    return forced_context(CLF_OP_GEMM, engine);
}

clf_context *attention_context(const char *engine)
{
    return forced_context(CLF_OP_ATTENTION, engine);
}

clf_context *gemm_engine_context(const char *engine)
{
    clf_context *context = gemm_context(engine);
    clf_engine_choice forced;
    CHECK_OK(clfi_engine_forced(context, CLF_OP_GEMM, &forced));
    if (!forced.engine || !forced.engine->runs_on || forced.engine->runs_on(&context->device.caps))
        return context;
    clf_context_destroy(context);
    skip();
    return NULL;
}

clf_context *clblast_pieces_context(void)
{
    clf_context *context = gemm_engine_context("gemm=clblast");
    CHECK_OK(clfi_budget_set(context, 1e-6));
    context->budget.is_measured = true; /* the guess stays */
    return context;
}

bool gemm_engine_is_special(const clf_context *context)
{
    clf_engine_choice forced;
    clf_gemm_args plain = CLFI_GEMM_ARGS_INIT;
    CHECK_OK(clfi_engine_forced(context, CLF_OP_GEMM, &forced));
    plain.m = plain.n = plain.k = 32;
    plain.a = plain.b = plain.c = (clf_gemm_operand){.dtype = CLF_F32, .row_stride = 32, .column_stride = 1};
    return forced.engine && !clfi_engine_is_able(context, forced.engine, &plain);
}

void check_attention_ran(const clf_context *context, const char *engine, size_t run)
{
    const clf_device_caps *caps = &context->device.caps;
    clf_engine_choice forced;
    CHECK_OK(clfi_engine_forced(context, CLF_OP_ATTENTION, &forced));
    const bool is_for_others =
        !clfi_engine_is_for(forced.engine, caps) || (strcmp(engine, "attention=vector") == 0 && (!caps->is_cpu || caps->short_loops));
    CHECK((run > 0) != is_for_others, "%s ran %zu cases on %s, which it is%s for", engine, run, clf_context_device(context)->name,
          is_for_others ? " not" : "");
}
