/* SPDX-License-Identifier: MIT */
/* Compares two JSON values recursively. */
#include "report/json_diff.h"

#include <stdio.h>

#include "io/json.h"

enum { PLACE_BYTES = CLFI_JSON_FOUND_BYTES * 4 };

static clf_status note(json_t *list, const char *where, const json_t *a, const json_t *b)
{
    json_t *entry = json_pack("{s:s, s:O*, s:O*}", "what", where, "a", a, "b", b);
    if (!entry || json_array_append_new(list, entry) != 0)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "differences at %s: not enough memory", where);
    return CLF_OK;
}

static clf_status diff_objects(json_t *list, const char *where, const json_t *a, const json_t *b)
{
    char inner[PLACE_BYTES];
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)a, key, value) {
        snprintf(inner, sizeof inner, "%s.%s", where, key);
        CLF_TRY(clfi_json_diff(list, inner, value, json_object_get(b, key)));
    }
    json_object_foreach((json_t *)b, key, value) {
        snprintf(inner, sizeof inner, "%s.%s", where, key);
        if (!json_object_get(a, key))
            CLF_TRY(clfi_json_diff(list, inner, NULL, value));
    }
    return CLF_OK;
}

clf_status clfi_json_diff(json_t *list, const char *where, const json_t *a, const json_t *b)
{
    char inner[PLACE_BYTES];
    if ((!a || json_is_null(a)) && (!b || json_is_null(b)))
        return CLF_OK;
    if (json_is_number(a) && json_is_number(b))
        return json_number_value(a) == json_number_value(b) ? CLF_OK : note(list, where, a, b);
    if (json_is_object(a) && json_is_object(b))
        return diff_objects(list, where, a, b);
    if (json_is_array(a) && json_is_array(b) && json_array_size(a) == json_array_size(b)) {
        for (size_t i = 0; i < json_array_size(a); i++) {
            snprintf(inner, sizeof inner, "%s[%zu]", where, i);
            CLF_TRY(clfi_json_diff(list, inner, json_array_get(a, i), json_array_get(b, i)));
        }
        return CLF_OK;
    }
    return json_equal(a, b) ? CLF_OK : note(list, where, a, b);
}
