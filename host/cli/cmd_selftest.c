/* SPDX-License-Identifier: MIT */
/* clformer selftest: checks a device's arithmetic. Every op of the self-test's catalogue is verified against double precision on the host,
 * as clformer bench does it. The engine that the library chooses comes first, then each engine of the op by name. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "cli/commands.h"
#include "jobs/platform_guard.h"
#include "console/background.h"
#include "console/progress.h"
#include "console/standard_output.h"
#include "op/engines.h"
#include "runtime/device.h"
#include "workload/workload.h"

/* Number of rows by result. An untested row fails the self-test; an inapplicable one, whose engine is not made for the device, does not. */
typedef struct tally {
    size_t passed, failed, untested, inapplicable;
} tally;

/* Whether the driver still describes the device in the same way. If not, engines that should be tested may seem not to apply. */
static bool same_answers(const clf_device_info *a, const clf_device_info *b)
{
    return a->type == b->type && a->compute_units == b->compute_units && a->max_work_group_size == b->max_work_group_size &&
           a->native_vector_width_float == b->native_vector_width_float && a->local_memory_bytes == b->local_memory_bytes &&
           a->max_allocation_bytes == b->max_allocation_bytes && a->base_alignment_bytes == b->base_alignment_bytes &&
           a->unified_memory == b->unified_memory && a->has_fp16 == b->has_fp16 && a->has_fp64 == b->has_fp64 &&
           a->has_subgroups == b->has_subgroups && a->has_integer_dot == b->has_integer_dot && strcmp(a->name, b->name) == 0;
}

static clf_status open_context(const clf_device_info *device, const clf_context_params *params, clf_context **out)
{
    clf_context *context;
    CLF_TRY(clf_context_create(params, &context));
    if (!same_answers(device, clf_context_device(context))) {
        clf_context_destroy(context);
        CLF_FAIL(CLF_DEVICE, "the driver describes the device differently now");
    }
    *out = context;
    return CLF_OK;
}

/* How one op did on one engine, over all its workloads. */
typedef struct outcome {
    clfi_verdict verdict; /* the worst */
    size_t verified;
    clf_status status; /* first error other than UNSUPPORTED, else the first; a wrong result is none */
    char reason[512];
} outcome;

static void note_failure(outcome *o, clf_status st)
{
    if (o->status != CLF_OK && (o->status != CLF_UNSUPPORTED || st == CLF_UNSUPPORTED))
        return;
    o->status = st;
    snprintf(o->reason, sizeof o->reason, "%s", clf_last_error());
}

static void note_verdict(outcome *o, const clfi_verdict *one)
{
    const bool is_worse = o->verified == 0 || isnan(one->error) || one->error * o->verdict.bound > o->verdict.error * one->bound;
    const bool passed = one->passed && (o->verified == 0 || o->verdict.passed);
    if (is_worse)
        o->verdict = *one;
    o->verdict.passed = passed;
    o->verified++;
}

/* *out: whether the engine can run the workload; the default choice, "", always can. */
static clf_status is_offered(const clfi_workload *workload, clf_context *context, const char *engine, bool *out)
{
    clfi_engine_list list = {.count = 0};
    *out = !engine[0];
    if (*out)
        return CLF_OK;
    CLF_TRY(workload->type->engines(workload, context, &list));
    for (size_t i = 0; i < list.count; i++)
        *out |= strcmp(list.names[i], engine) == 0;
    return CLF_OK;
}

/* Verifies all workloads that have the same op as list->items[first], as far as the engine can run them. */
static void verify_op(const clfi_workload_list *list, size_t first, clf_context *context, const char *engine, outcome *o)
{
    for (size_t i = first; i < list->count; i++) {
        const clfi_workload *one = &list->items[i];
        clfi_verdict verdict = {.passed = false};
        bool offered = false;
        if (strcmp(one->op, list->items[first].op) != 0)
            continue;
        clf_status st = is_offered(one, context, engine, &offered);
        if (st == CLF_OK && offered)
            st = clfi_workload_verify(one, context, engine, &verdict);
        if (st != CLF_OK)
            note_failure(o, st);
        else if (offered)
            note_verdict(o, &verdict);
    }
}

static const clf_engine *row_of(const clf_engine_table *table, const char *engine)
{
    return table && engine[0] ? clfi_engine_find((clf_op)(table - clfi_engine_tables), engine) : NULL;
}

/* Whether any workload of the table can run on the engine. Two ops may share a table, and each covers a part of its engines: of the table
 * of products, gemm covers those that read packed weights, and einsum the others. */
static bool has_case(const clfi_workload_list *list, const clf_engine_table *table, clf_context *context, const char *engine)
{
    bool offered = false;
    for (size_t i = 0; !offered && i < list->count; i++)
        if (list->items[i].table == table && is_offered(&list->items[i], context, engine, &offered) != CLF_OK)
            return false;
    return offered;
}

/* Reasons why an engine had no case of an op. */
typedef enum absence { ABSENCE_OF_DEVICE, ABSENCE_OF_OP, ABSENCE_OF_CASES } absence;

static absence explain_absence(const clfi_workload_list *list, const clf_engine_table *table, clf_context *context, const char *engine,
                               outcome *o)
{
    const char *obstacle = clfi_engine_obstacle(context, row_of(table, engine));
    if (!obstacle && has_case(list, table, context, engine))
        return ABSENCE_OF_OP;
    o->status = CLF_UNSUPPORTED;
    snprintf(o->reason, sizeof o->reason, "%s", obstacle ? obstacle : "the catalogue has no workload for this engine");
    return obstacle ? ABSENCE_OF_DEVICE : ABSENCE_OF_CASES;
}

/* Verifies one op on one engine ("" = the default one) at the engine's precision, and prints the row. Nothing is printed if only another op
 * of the same table has workloads for the engine. IO: the row could not be written. */
static clf_status run_row(const clf_device_info *device, const char *selector, bool no_tuned, const clfi_workload_list *list, size_t first,
                          const char *engine, tally *sum)
{
    const clfi_workload *workload = &list->items[first];
    const clf_engine *row = row_of(workload->table, engine);
    absence why = ABSENCE_OF_DEVICE;
    outcome o = {.status = CLF_OK};
    clf_context_params params = CLF_CONTEXT_PARAMS_INIT;
    clf_context *context = NULL;
    params.device = selector;
    params.tuned_file = no_tuned ? "" : NULL;
    params.precision = row ? row->precision : CLF_PRECISION_HIGHEST;
    const clf_status opened = open_context(device, &params, &context);
    if (opened == CLF_OK)
        cli_progress_watch_builds(context);
    if (opened != CLF_OK)
        note_failure(&o, opened);
    else
        verify_op(list, first, context, engine, &o);
    if (opened == CLF_OK && o.verified == 0 && o.status == CLF_OK)
        why = explain_absence(list, workload->table, context, engine, &o);
    clf_context_destroy(context);
    if (why == ABSENCE_OF_OP)
        return CLF_OK;
    cli_line_clear();
    printf("  %-16s %-11s  ", workload->op, engine[0] ? engine : "default");
    const bool can_be_absent = o.status == CLF_OK || (o.status == CLF_UNSUPPORTED && engine[0]);
    if (opened != CLF_OK || why == ABSENCE_OF_CASES || (o.status == CLF_UNSUPPORTED && !engine[0])) {
        sum->untested++;
        printf("UNTESTED  %s\n", o.reason);
    } else if (!can_be_absent) {
        sum->failed++;
        printf("FAIL    %s\n", o.reason);
    } else if (o.verified == 0) {
        sum->inapplicable++;
        printf("n/a     %s\n", o.reason);
    } else {
        sum->passed += o.verdict.passed;
        sum->failed += !o.verdict.passed;
        printf("%s    worst error %.2e, bound %.2e\n", o.verdict.passed ? "pass" : "FAIL", o.verdict.error, o.verdict.bound);
    }
    return cli_output_flush();
}

static bool is_first_of_op(const clfi_workload_list *list, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(list->items[i].op, list->items[index].op) == 0)
            return false;
    return true;
}

/* Whether any workload chooses from the engines of the table. */
static bool has_workloads(const clfi_workload_list *list, const clf_engine_table *table)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].table == table)
            return true;
    return false;
}

/* Whether to test the op. filter: a part of its name; NULL: test all ops. */
static bool is_asked_for(const char *op, const char *filter)
{
    return !filter || strstr(op, filter);
}

/* Reports the engines of ops without workloads as untested, whatever the device. */
static void run_missing(const clfi_workload_list *list, const char *filter, tally *sum)
{
    for (int op = 0; op < CLF_OP_COUNT; op++) {
        const clf_engine_table *table = &clfi_engine_tables[op];
        const bool is_missing = is_asked_for(table->op, filter) && !has_workloads(list, table);
        for (size_t e = 0; is_missing && e < table->count; e++) {
            sum->untested++;
            printf("  %-16s %-11s  UNTESTED  the catalogue has no workload of this op\n", table->op, table->engines[e].name);
        }
    }
}

/* Prints the tally. Returns whether all that applies to the device was tested and passed. */
static bool print_tally(const tally *sum)
{
    const bool passed = sum->failed == 0 && sum->untested == 0 && sum->passed > 0;
    if (passed)
        printf("  all passed: %zu", sum->passed);
    else
        printf("  NOT PASSED: %zu failed, %zu untested, %zu passed", sum->failed, sum->untested, sum->passed);
    if (sum->inapplicable)
        printf("; %zu %s not apply to this device", sum->inapplicable, clfi_plural(sum->inapplicable, "engine does", "engines do"));
    putchar('\n');
    return passed;
}

static clf_status check_filter(const clfi_workload_list *list, const char *filter)
{
    for (size_t i = 0; i < list->count; i++)
        if (is_asked_for(list->items[i].op, filter))
            return CLF_OK;
    clf_str names = CLF_STR_INIT;
    clf_status st = CLF_OK;
    for (size_t i = 0; st == CLF_OK && i < list->count; i++)
        if (is_first_of_op(list, i))
            st = clfi_str_appendf(&names, "%s%s", i ? ", " : "", list->items[i].op);
    if (st == CLF_OK)
        st = clfi_fail(CLF_INVALID_ARGUMENT, "selftest: --filter: no op has \"%s\" in its name: expected one of %s", filter,
                       clfi_str_text(&names));
    clfi_str_free(&names);
    return st;
}

/* Tests all ops on one device. *passed becomes false if something failed or was not tested. */
static clf_status run_device(const clf_device_info *device, bool no_tuned, const char *filter, const clfi_workload_list *list, bool *passed)
{
    char selector[32];
    tally sum = {0};
    printf("%zu: %s (%s, %s)\n", device->index, device->name, device->platform_name, device->driver_version);
    if (!device->usable) {
        printf("  UNTESTED: not usable: %s\n", device->reason);
        *passed = false;
        return CLF_OK;
    }
    snprintf(selector, sizeof selector, "%zu", device->index);
    for (size_t i = 0; i < list->count; i++) {
        if (!is_first_of_op(list, i) || !is_asked_for(list->items[i].op, filter))
            continue;
        const clf_engine_table *table = list->items[i].table;
        CLF_TRY(run_row(device, selector, no_tuned, list, i, "", &sum));
        for (size_t e = 0; table && e < table->count; e++)
            CLF_TRY(run_row(device, selector, no_tuned, list, i, table->engines[e].name, &sum));
    }
    run_missing(list, filter, &sum);
    *passed &= print_tally(&sum);
    return CLF_OK;
}

int cmd_selftest(const cli_command *self, int argc, char **argv)
{
    const char *device = NULL, *filter = NULL;
    int positional, no_tuned = 0, background = 0;
    bool passed = true;
    size_t index = 0;
    const cli_option table[] = {
        {"device", 'd', "D", "a device as in clformer devices, or all (default: the default device)", CLI_TEXT, &device},
        CLI_BACKGROUND_OPTION(background),
        {"filter", 0, "TEXT", "only ops with this in their name", CLI_TEXT, &filter},
        {"no-tuned", 0, NULL, "ignore the choices that clformer tune keeps for the device", CLI_FLAG, &no_tuned},
    };
    clf_device_list *list = NULL;
    clfi_workload_list workloads = {0};
    clf_status st = cli_parse(self, table, COUNT(table), argc, argv, &positional);
    if (st == CLF_OK && positional > 0)
        st = clfi_fail(CLF_INVALID_ARGUMENT, "selftest: unexpected argument \"%s\"", argv[0]);
    if (st == CLF_OK)
        st = cli_background_enter(background);
    cli_interrupts_watch();
    if (st == CLF_OK)
        st = clfi_small_workloads(&workloads);
    if (st == CLF_OK)
        st = check_filter(&workloads, filter);
    if (st == CLF_OK)
        st = cli_platforms_enter();
    if (st == CLF_OK)
        st = clf_device_list_create(&list);
    cli_platforms_leave();
    const bool all = device && strcmp(device, "all") == 0;
    if (st == CLF_OK && (!all || clf_device_list_count(list) == 0))
        st = clf_device_list_select(list, all ? NULL : clfi_device_selector(device), &index);
    for (size_t i = 0; st == CLF_OK && i < clf_device_list_count(list); i++)
        if (all || i == index)
            st = run_device(clf_device_list_get(list, i), no_tuned, filter, &workloads, &passed);
    clf_device_list_destroy(list);
    clfi_workload_list_free(&workloads);
    return st != CLF_OK ? cli_fail(st) : passed ? EXIT_SUCCESS : EXIT_FAILURE;
}
