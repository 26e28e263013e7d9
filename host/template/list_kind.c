/* SPDX-License-Identifier: MIT */
#include "template/list_kind.h"

/* Marks. Their types are unknown to jansson, so none of its functions takes one for a value. Their count of references, (size_t)-1, keeps
 * it from freeing them. */
static json_t marks[CLF_LIST_KINDS] = {
#define X(kind, name, before, behind) {(json_type)(JSON_NULL + 2 + CLF_LIST_##kind), (size_t)-1},
    CLFI_LIST_KINDS(X)
#undef X
};

static const struct {
    const char *name, *before, *behind;
} kinds[] = {
#define X(kind, name, before, behind) {name, before, behind},
    CLFI_LIST_KINDS(X)
#undef X
};

clf_list_kind clfi_list_kind_of(const json_t *value)
{
    const size_t size = json_array_size(value);
    const json_t *last = size ? json_array_get(value, size - 1) : NULL;
    for (int kind = CLF_LIST_LIST + 1; last && kind < CLF_LIST_KINDS; kind++)
        if (last == &marks[kind])
            return (clf_list_kind)kind;
    return CLF_LIST_LIST;
}

const char *clfi_list_kind_name(clf_list_kind kind)
{
    return kinds[kind].name;
}

const char *clfi_list_before(clf_list_kind kind)
{
    return kinds[kind].before;
}

const char *clfi_list_behind(clf_list_kind kind)
{
    return kinds[kind].behind;
}

size_t clfi_list_count(const json_t *list)
{
    return json_array_size(list) - (clfi_list_kind_of(list) != CLF_LIST_LIST);
}

static clf_status no_memory(void)
{
    CLF_FAIL(CLF_OUT_OF_MEMORY, "out of memory: a template's list");
}

clf_status clfi_list_mark(json_t *list, clf_list_kind kind)
{
    return kind == CLF_LIST_LIST || json_array_append(list, &marks[kind]) == 0 ? CLF_OK : no_memory();
}

clf_status clfi_list_take(const json_t *list, json_t **out)
{
    const clf_list_kind kind = clfi_list_kind_of(list);
    json_t *made = json_copy((json_t *)list);
    if (!made)
        return no_memory();
    if (kind != CLF_LIST_LIST)
        json_array_remove(made, json_array_size(made) - 1);
    const clf_status st = kind == CLF_LIST_GENERATOR ? clfi_list_drop(list, clfi_list_count(list)) : CLF_OK;
    if (st == CLF_OK)
        *out = made;
    else
        json_decref(made);
    return st;
}

clf_status clfi_list_drop(const json_t *generator, size_t count)
{
    json_t *list = (json_t *)generator, *rest = json_array();
    bool is_whole = rest != NULL;
    for (size_t i = count; is_whole && i < clfi_list_count(list); i++)
        is_whole = json_array_append(rest, json_array_get(list, i)) == 0;
    is_whole = is_whole && json_array_clear(list) == 0 && json_array_extend(list, rest) == 0;
    json_decref(rest);
    return is_whole ? clfi_list_mark(list, CLF_LIST_GENERATOR) : no_memory();
}
