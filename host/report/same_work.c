/* SPDX-License-Identifier: MIT */
/* Compares the workloads and models of two result files and writes the message about their differences. */
#include "report/same_work.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "io/json.h"
#include "report/json_diff.h"

enum { SHOWN = 3 }; /* differences named in the message */

static clf_status diff_members(json_t *list, const char *id, const json_t *a, const json_t *b)
{
    static const char *const members[] = {"work", "flops", "bytes", "items", "item"};
    char place[CLFI_JSON_FOUND_BYTES * 4];
    for (size_t i = 0; i < COUNT(members); i++) {
        snprintf(place, sizeof place, "%s: %s", id, members[i]);
        CLF_TRY(clfi_json_diff(list, place, json_object_get(a, members[i]), json_object_get(b, members[i])));
    }
    return CLF_OK;
}

static clf_status diff_all(json_t *list, const clfi_result *a, const clfi_result *b)
{
    const json_t *workloads_a = json_object_get(a->document, "workloads"), *workloads_b = json_object_get(b->document, "workloads");
    const json_t *models_a = json_object_get(a->document, "models"), *models_b = json_object_get(b->document, "models");
    char where[CLFI_JSON_FOUND_BYTES * 4];
    for (size_t i = 0; i < a->workload_count; i++) {
        const size_t j = clfi_result_find_workload(b, a->workloads[i].id);
        if (j < b->workload_count)
            CLF_TRY(diff_members(list, a->workloads[i].id, json_array_get(workloads_a, i), json_array_get(workloads_b, j)));
    }
    for (size_t i = 0; i < a->model_count; i++)
        for (size_t j = 0; j < b->model_count; j++)
            if (strcmp(a->models[i].name, b->models[j].name) == 0) {
                snprintf(where, sizeof where, "model %s", a->models[i].name);
                CLF_TRY(clfi_json_diff(list, where, json_array_get(models_a, i), json_array_get(models_b, j)));
            }
    return CLF_OK;
}

/* Appends the first differences in words. */
static clf_status tell(const json_t *list, clf_str *out)
{
    char found_a[CLFI_JSON_FOUND_BYTES], found_b[CLFI_JSON_FOUND_BYTES];
    for (size_t i = 0; i < json_array_size(list) && i < SHOWN; i++) {
        const json_t *one = json_array_get(list, i);
        CLF_TRY(clfi_str_appendf(out, "%s%s: %s against %s", i ? "; " : "", json_string_value(json_object_get(one, "what")),
                                 clfi_json_found(json_object_get(one, "a"), found_a), clfi_json_found(json_object_get(one, "b"), found_b)));
    }
    return json_array_size(list) > SHOWN ? clfi_str_appendf(out, "; and %zu more", json_array_size(list) - SHOWN) : CLF_OK;
}

clf_status clfi_check_same_work(const clfi_result *a, const clfi_result *b)
{
    clf_str text = CLF_STR_INIT;
    json_t *list = json_array();
    clf_status st = list ? diff_all(list, a, b) : clfi_fail(CLF_OUT_OF_MEMORY, "comparison of work: not enough memory");
    if (st == CLF_OK)
        st = tell(list, &text);
    if (st == CLF_OK && json_array_size(list))
        st = clfi_fail(CLF_INVALID_ARGUMENT, "%s and %s measured different work: %s", a->path, b->path, clfi_str_text(&text));
    json_decref(list);
    clfi_str_free(&text);
    return st;
}
