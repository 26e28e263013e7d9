/* SPDX-License-Identifier: MIT */
/* Implements the list that owns workloads, and functions that several kinds share. */
#include "workload/workload.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"

static void release(clfi_workload *workload)
{
    json_decref(workload->work);
    free(workload->parameters);
}

clf_status clfi_workload_one_engine(const clfi_workload *workload, clf_context *context, clfi_engine_list *out)
{
    (void)workload;
    (void)context;
    *out = (clfi_engine_list){.names = {""}, .count = 1};
    return CLF_OK;
}

clf_status clfi_workload_verify(const clfi_workload *workload, clf_context *context, const char *engine, clfi_verdict *out)
{
    void *state = NULL;
    clf_status st = workload->type->prepare(workload, context, engine, &state);
    if (st == CLF_OK)
        st = workload->type->verify(state, out);
    workload->type->release(state);
    if (st == CLF_OK && isnan(out->error))
        out->passed = false;
    return st;
}

clf_status clfi_workload_list_add(clfi_workload_list *list, const clfi_workload *workload)
{
    clfi_workload taken = *workload;
    const clf_status status = clfi_grow(&list->items, &list->capacity, list->count + 1, sizeof *list->items, "workloads");
    if (status != CLF_OK) {
        release(&taken);
        return status;
    }
    list->items[list->count++] = taken;
    return CLF_OK;
}

void clfi_workload_list_free(clfi_workload_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        release(&list->items[i]);
    free(list->items);
    *list = (clfi_workload_list){0};
}

const char *clfi_workload_measures(const clfi_workload *workload)
{
    return json_string_value(json_object_get(workload->work, "measures"));
}
