/* SPDX-License-Identifier: MIT */
/* Finding what differs between two descriptions of work. */
#include "report/same_work.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "io/json.h"

enum { SHOWN = 3 }; /* differences named in the message */

typedef struct differences {
    clf_str text;
    size_t count;
} differences;

static clf_status note(differences *d, const char *where, const json_t *a, const json_t *b)
{
    char found_a[CLFI_JSON_FOUND_BYTES], found_b[CLFI_JSON_FOUND_BYTES];
    if (d->count++ >= SHOWN)
        return CLF_OK;
    return clfi_str_appendf(&d->text, "%s%s: %s against %s", d->text.length ? "; " : "", where, clfi_json_found(a, found_a),
                            clfi_json_found(b, found_b));
}

static clf_status diff(differences *d, const char *where, const json_t *a, const json_t *b);

static clf_status diff_objects(differences *d, const char *where, const json_t *a, const json_t *b)
{
    char inner[CLFI_JSON_FOUND_BYTES * 4];
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)a, key, value) {
        snprintf(inner, sizeof inner, "%s.%s", where, key);
        CLF_TRY(diff(d, inner, value, json_object_get(b, key)));
    }
    json_object_foreach((json_t *)b, key, value) {
        snprintf(inner, sizeof inner, "%s.%s", where, key);
        if (!json_object_get(a, key))
            CLF_TRY(note(d, inner, NULL, value));
    }
    return CLF_OK;
}

static clf_status diff(differences *d, const char *where, const json_t *a, const json_t *b)
{
    char inner[CLFI_JSON_FOUND_BYTES * 4];
    if ((!a || json_is_null(a)) && (!b || json_is_null(b))) /* null is nothing */
        return CLF_OK;
    if (json_is_number(a) && json_is_number(b)) /* 1 and 1.0 are the same number */
        return json_number_value(a) == json_number_value(b) ? CLF_OK : note(d, where, a, b);
    if (json_is_object(a) && json_is_object(b))
        return diff_objects(d, where, a, b);
    if (json_is_array(a) && json_is_array(b) && json_array_size(a) == json_array_size(b)) {
        for (size_t i = 0; i < json_array_size(a); i++) {
            snprintf(inner, sizeof inner, "%s[%zu]", where, i);
            CLF_TRY(diff(d, inner, json_array_get(a, i), json_array_get(b, i)));
        }
        return CLF_OK;
    }
    return json_equal(a, b) ? CLF_OK : note(d, where, a, b);
}

size_t clfi_find_workload(const clfi_result *result, const char *id)
{
    size_t i = 0;
    while (i < result->workload_count && strcmp(result->workloads[i].id, id) != 0)
        i++;
    return i;
}

static clf_status diff_members(differences *d, const char *where, const json_t *a, const json_t *b)
{
    static const char *const members[] = {"work", "flops", "bytes", "items", "item"};
    char inner[CLFI_JSON_FOUND_BYTES * 4];
    for (size_t i = 0; i < COUNT(members); i++) {
        snprintf(inner, sizeof inner, "%s: %s", where, members[i]);
        CLF_TRY(diff(d, inner, json_object_get(a, members[i]), json_object_get(b, members[i])));
    }
    return CLF_OK;
}

static clf_status diff_all(differences *d, const clfi_result *a, const clfi_result *b)
{
    const json_t *workloads_a = json_object_get(a->document, "workloads"), *workloads_b = json_object_get(b->document, "workloads");
    const json_t *models_a = json_object_get(a->document, "models"), *models_b = json_object_get(b->document, "models");
    char where[CLFI_JSON_FOUND_BYTES * 4];
    for (size_t i = 0; i < a->workload_count; i++) {
        const size_t j = clfi_find_workload(b, a->workloads[i].id);
        if (j < b->workload_count)
            CLF_TRY(diff_members(d, a->workloads[i].id, json_array_get(workloads_a, i), json_array_get(workloads_b, j)));
    }
    for (size_t i = 0; i < a->model_count; i++)
        for (size_t j = 0; j < b->model_count; j++)
            if (strcmp(a->models[i].name, b->models[j].name) == 0) {
                snprintf(where, sizeof where, "model %s", a->models[i].name);
                CLF_TRY(diff(d, where, json_array_get(models_a, i), json_array_get(models_b, j)));
            }
    return CLF_OK;
}

clf_status clfi_check_same_work(const clfi_result *a, const clfi_result *b)
{
    differences d = {CLF_STR_INIT, 0};
    clf_status st = diff_all(&d, a, b);
    if (st == CLF_OK && d.count > SHOWN)
        st = clfi_str_appendf(&d.text, "; and %zu more", d.count - SHOWN);
    if (st == CLF_OK && d.count)
        st = clfi_fail(CLF_INVALID_ARGUMENT, "%s and %s measured different work: %s", a->path, b->path, clfi_str_text(&d.text));
    clfi_str_free(&d.text);
    return st;
}
