/* SPDX-License-Identifier: MIT */
/* Evaluates attributes and items of values. */
#include <string.h>

#include "base/alloc.h"
#include "template/list_kind.h"
#include "template/run.h"

bool clfi_is_listed(const char *word, const char *list)
{
    const size_t length = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == '\0' || at[length] == ' '))
            return true;
    return false;
}

/* Attributes of Python's types. `changing` are methods that the sandbox of transformers makes undefined. */
typedef struct attributes {
    const char *methods, *parts, *changing;
} attributes;

static const attributes *attributes_of(const json_t *value)
{
    static const attributes dictionary = {"copy fromkeys get items keys values", "", "clear pop popitem setdefault update"};
    static const attributes list = {"copy count index", "", "append clear extend insert pop remove reverse sort"};
    static const attributes tuple = {"count index", "", ""};
    static const attributes view = {"isdisjoint", "mapping", ""};
    static const attributes range = {"count index", "start step stop", ""};
    static const attributes generator = {"close send throw", "gi_running gi_suspended gi_yieldfrom", ""};
    static const attributes integer = {"as_integer_ratio bit_count bit_length conjugate from_bytes is_integer to_bytes",
                                       "denominator imag numerator real", ""};
    static const attributes real = {"as_integer_ratio conjugate fromhex hex is_integer", "imag real", ""};
    static const attributes loop = {"cycle changed", "", ""};
    static const attributes none = {"", "", ""};
    static const attributes string = {
        "capitalize casefold center count encode endswith expandtabs find format format_map index isalnum isalpha isascii isdecimal "
        "isdigit isidentifier islower isnumeric isprintable isspace istitle isupper join ljust lower lstrip maketrans partition "
        "removeprefix removesuffix replace rfind rindex rjust rpartition rsplit rstrip split splitlines startswith strip swapcase title "
        "translate upper zfill",
        "", ""};
    static const attributes *const lists[] = {&list, &tuple, &view, &view, &view, &range, &generator};
    static const attributes *const kinds[] = {&dictionary, &list, &string, &integer, &real, &integer, &integer, &none};
    static const attributes *const specials[] = {&none, &none, &loop, &none};
    if (clfi_value_special(value))
        return specials[clfi_value_special(value)];
    return json_is_array(value) ? lists[clfi_list_kind_of(value)] : kinds[json_typeof(value)];
}

/* value.name as Python's types have it; *out NULL: they have none. */
static clf_status python_attribute(const template_run *run, const template_node *node, const json_t *value, const char *name, json_t **out)
{
    const attributes *of = attributes_of(value);
    if (clfi_is_listed(name, of->parts))
        RUN_FAIL(run, node, CLF_UNSUPPORTED, "%s of %s is not supported", name, clfi_value_kind(value));
    if (!clfi_is_listed(name, of->methods))
        return CLF_OK;
    CLF_TRY(clfi_value_new(json_object(), out));
    return clfi_special_mark(*out, CLF_SPECIAL_METHOD);
}

clf_status clfi_run_attribute(const template_run *run, const template_node *node, const json_t *value, const char *name, json_t **out)
{
    *out = NULL;
    if (!value)
        RUN_FAIL(run, node, CLF_FORMAT, "\"%s\" of a value that is undefined", name);
    CLF_TRY(python_attribute(run, node, value, name, out));
    if (!*out && !clfi_is_listed(name, attributes_of(value)->changing))
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
    const json_t *entry = clfi_value_entry(value, index);
    if (entry)
        *out = json_incref(clfi_value_read((json_t *)entry));
    else if (json_is_string(index))
        return python_attribute(run, node, value, json_string_value(index), out);
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
