/* SPDX-License-Identifier: MIT */
/* Lists the workloads of a run of clformer bench. */
#include "bench/catalogue.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "bench/figures.h"

const char *const clfi_suite_names[CLFI_SUITE_COUNT] = {"peak", "ops", "models", "generation"};

/* Removes the index-th workload and keeps the order of the others. */
static void drop(clfi_workload_list *list, size_t index)
{
    json_decref(list->items[index].work);
    free(list->items[index].parameters);
    memmove(&list->items[index], &list->items[index + 1], (--list->count - index) * sizeof *list->items);
}

static bool is_asked_for(const clfi_catalogue_params *params, const clfi_workload *workload)
{
    bool is_wanted = false;
    for (int i = 0; i < CLFI_SUITE_COUNT; i++)
        is_wanted |= params->suites[i] && strcmp(workload->suite, clfi_suite_names[i]) == 0;
    return is_wanted && (!params->filter || strstr(workload->id, params->filter));
}

/* Whether the workload measures a limit that a wanted workload is compared with. */
static bool is_needed(const clfi_catalogue_params *params, const clfi_workload_list *list, const clfi_workload *workload)
{
    const char *key = clfi_workload_measures(workload);
    for (size_t i = 0; key && i < list->count; i++)
        if (list->items[i].limit && strcmp(list->items[i].limit, key) == 0 && is_asked_for(params, &list->items[i]))
            return true;
    return false;
}

/* Keeps one workload of each id. Several models bring the same workloads of the built-in model. */
static clf_status drop_repeated(clfi_workload_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        for (size_t j = list->count; j-- > i + 1;) {
            if (strcmp(list->items[i].id, list->items[j].id) != 0)
                continue;
            if (!json_equal(list->items[i].work, list->items[j].work))
                CLF_FAIL(CLF_INVALID_ARGUMENT, "two different workloads are called %s (rename a model's directory)", list->items[i].id);
            drop(list, j);
        }
    }
    return CLF_OK;
}

/* Adds the workloads of a model, which all belong to one of two suites. */
static clf_status add_model(const clfi_catalogue_params *params, const char *path, clfi_workload_list *out)
{
    const bool *wanted = params->suites;
    bool generates;
    CLF_TRY(clfi_model_generates(path, &generates));
    const clfi_suite suite = generates ? CLFI_SUITE_GENERATION : CLFI_SUITE_MODELS;
    if (!wanted[suite])
        CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: not measured by the chosen suites (it belongs to --suite %s)", path, clfi_suite_names[suite]);
    return generates ? clfi_generation_workloads(out, path, params->quick) : clfi_model_workloads(out, path, params->quick);
}

static clf_status add_suites(const clfi_catalogue_params *params, clfi_workload_list *out)
{
    CLF_TRY(clfi_peak_workloads(out, params->quick)); /* they measure the limits */
    if (params->suites[CLFI_SUITE_OPS])
        CLF_TRY(clfi_op_workloads(out, params->quick));
    if (params->suites[CLFI_SUITE_MODELS])
        CLF_TRY(clfi_model_workloads(out, NULL, params->quick));
    if (params->suites[CLFI_SUITE_GENERATION])
        CLF_TRY(clfi_generation_workloads(out, NULL, params->quick));
    for (size_t i = 0; i < params->model_count; i++)
        CLF_TRY(add_model(params, params->models[i], out));
    return CLF_OK;
}

clf_status clfi_catalogue(const clfi_catalogue_params *params, clfi_workload_list *out)
{
    *out = (clfi_workload_list){0};
    CLF_TRY(add_suites(params, out));
    CLF_TRY(drop_repeated(out));
    size_t asked = 0;
    for (size_t i = 0; i < out->count; i++)
        asked += is_asked_for(params, &out->items[i]);
    if (asked == 0)
        return params->filter ? clfi_fail(CLF_INVALID_ARGUMENT, "no workload of these suites has \"%s\" in its name", params->filter)
                              : clfi_fail(CLF_INVALID_ARGUMENT, "these suites have no workload");
    for (size_t i = out->count; i-- > 0;)
        if (!is_asked_for(params, &out->items[i]) && !is_needed(params, out, &out->items[i]))
            drop(out, i);
    return CLF_OK;
}
