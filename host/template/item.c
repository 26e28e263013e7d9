/* SPDX-License-Identifier: MIT */
/* Evaluates attributes and items of values. */
#include <string.h>

#include "base/alloc.h"
#include "template/list_kind.h"
#include "template/run.h"

bool clfi_run_is_namespace(const template_run *run, const json_t *value)
{
    for (size_t i = 0; i < json_array_size(run->namespaces); i++)
        if (json_array_get(run->namespaces, i) == value)
            return true;
    return false;
}

/* Whether the name is a dictionary's method. Jinja finds the method before an entry of that name; namespaces have none. */
static bool is_method(const template_run *run, const json_t *value, const char *name)
{
    static const char *const methods[] = {"clear", "copy",       "fromkeys", "get",   "items", "keys", "pop",
                                          "popitem", "setdefault", "update",   "values"};
    for (size_t i = 0; json_is_object(value) && i < COUNT(methods); i++)
        if (strcmp(methods[i], name) == 0)
            return !clfi_run_is_namespace(run, value);
    return false;
}

clf_status clfi_run_attribute(const template_run *run, const template_node *node, const json_t *value, const char *name, json_t **out)
{
    if (!value)
        RUN_FAIL(run, node, CLF_FORMAT, "\"%s\" of a value that is undefined", name);
    if (is_method(run, value, name))
        RUN_FAIL(run, node, CLF_UNSUPPORTED, "%s without a call is a dictionary's method: expected %s() or [\"%s\"]", name, name, name);
    *out = json_incref(clfi_value_read(json_object_get(value, name)));
    return CLF_OK;
}

clf_status clfi_run_item(const template_run *run, const template_node *node, const json_t *value, const json_t *index, json_t **out)
{
    size_t length;
    *out = NULL;
    if (!value)
        RUN_FAIL(run, node, CLF_FORMAT, "an item of a value that is undefined");
    if (json_is_string(index))
        CLF_TRY(clfi_run_touch(run, node, index));
    if (json_is_object(value))
        *out = json_incref(clfi_value_read(clfi_value_entry(value, index)));
    if ((!json_is_integer(index) && !json_is_boolean(index)) || json_is_object(value) || !clfi_value_length(value, &length))
        return CLF_OK;
    const clf_list_kind kind = clfi_list_kind_of(value);
    if (kind == CLF_LIST_KEYS || kind == CLF_LIST_VALUES || kind == CLF_LIST_ITEMS) /* views have no index */
        return CLF_OK;
    if (json_is_string(value))
        CLF_TRY(clfi_run_touch(run, node, value));
    const json_int_t given = json_is_integer(index) ? json_integer_value(index) : json_is_true(index);
    const json_int_t at = given < 0 ? given + (json_int_t)length : given;
    if (at < 0 || at >= (json_int_t)length)
        return CLF_OK;
    if (json_is_string(value))
        return clfi_value_characters(value, (size_t)at, 1, 1, out);
    *out = json_incref(clfi_value_at(value, (size_t)at));
    return CLF_OK;
}
