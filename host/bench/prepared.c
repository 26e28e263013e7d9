/* SPDX-License-Identifier: MIT */
/* Keeps workloads prepared, so that rounds need not prepare them again. */
#include "bench/prepared.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "runtime/usage.h"

static void release_first(clfi_prepared_set *set)
{
    clfi_prepared *first = &set->items[0];
    first->workload->type->release(first->state);
    free(first->engine);
    memmove(first, first + 1, --set->count * sizeof *first);
}

void clfi_prepared_clear(clfi_prepared_set *set)
{
    while (set->count)
        release_first(set);
    free(set->items);
    set->items = NULL;
    set->capacity = 0;
}

static clf_status prepare(clfi_prepared_set *set, const clfi_workload *workload, const char *engine, clfi_prepared *out)
{
    const uint64_t before = clfi_usage_bytes(set->context);
    *out = (clfi_prepared){.workload = workload};
    CLF_TRY(clfi_strdup(engine, &out->engine));
    const clf_status st = workload->type->prepare(workload, set->context, out->engine, &out->state);
    if (st != CLF_OK) {
        workload->type->release(out->state);
        free(out->engine);
        return st;
    }
    out->bytes = (size_t)(clfi_usage_bytes(set->context) - before);
    return CLF_OK;
}

static void keep_budget(clfi_prepared_set *set)
{
    size_t sum = 0;
    for (size_t i = 0; i < set->count; i++)
        sum += set->items[i].bytes;
    while (set->count > 1 && sum > set->budget_bytes) {
        sum -= set->items[0].bytes;
        release_first(set);
    }
}

clf_status clfi_prepared_get(clfi_prepared_set *set, const clfi_workload *workload, const char *engine, void **out)
{
    clfi_prepared item;
    size_t at = 0;
    while (at < set->count && (set->items[at].workload != workload || strcmp(set->items[at].engine, engine) != 0))
        at++;
    if (at < set->count) { /* moves to the end, as the most recently used */
        item = set->items[at];
        memmove(&set->items[at], &set->items[at + 1], (set->count - at - 1) * sizeof item);
        set->items[set->count - 1] = item;
        *out = item.state;
        return CLF_OK;
    }
    CLF_TRY(clfi_grow(&set->items, &set->capacity, set->count + 1, sizeof *set->items, "prepared workloads"));
    clf_status st = prepare(set, workload, engine, &item);
    if (st == CLF_OUT_OF_MEMORY && set->count) { /* tries again without other states */
        while (set->count)
            release_first(set);
        st = prepare(set, workload, engine, &item);
    }
    CLF_TRY(st);
    set->items[set->count++] = item;
    keep_budget(set);
    *out = item.state;
    return CLF_OK;
}
