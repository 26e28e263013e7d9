/* SPDX-License-Identifier: MIT */
/* Filters that order elements: dictsort, sort, min, max. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "template/list_kind.h"
#include "template/run.h"

typedef struct element {
    json_t *key, *value; /* owned */
} element;

clf_status clfi_run_path(const template_run *run, const template_node *node, const json_t *value, const json_t *path, json_t **out)
{
    json_t *found = json_incref((json_t *)value);
    clf_status st = CLF_OK;
    if (path && !json_is_string(path)) {
        json_decref(found);
        RUN_FAIL(run, node, CLF_UNSUPPORTED, "%s: the attribute is %s, expected string", node->name, clfi_value_kind(path));
    }
    for (const char *at = json_string_value(path); st == CLF_OK && at;) {
        const char *dot = strchr(at, '.');
        const size_t length = dot ? (size_t)(dot - at) : strlen(at);
        const bool is_number = length > 0 && length < 10 && strspn(at, "0123456789") == length;
        json_t *part = NULL, *inner = NULL;
        st = is_number ? clfi_value_new(json_integer(strtol(at, NULL, 10)), &part) : clfi_value_of_text(at, length, &part);
        if (st == CLF_OK)
            st = clfi_run_item(run, node, found, part, &inner);
        json_decref(part);
        json_decref(found);
        found = inner;
        at = dot ? dot + 1 : NULL;
    }
    if (st == CLF_OK && clfi_value_special(found)) {
        json_decref(found);
        RUN_FAIL(run, node, CLF_UNSUPPORTED, "%s: \"%s\" is a %s", node->name, json_string_value(path),
                 clfi_special_name(CLF_SPECIAL_METHOD));
    }
    *out = found;
    return st;
}

/* A stable merge sort; direction -1: descending, and equal elements keep their order. The caller has checked that the keys can be
 * compared. */
static void sort(element *elements, element *room, size_t count, int direction)
{
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t first = 0; first < count; first += 2 * width) {
            const size_t middle = first + width < count ? first + width : count, end = middle + width < count ? middle + width : count;
            for (size_t at = first, i = first, j = middle; at < end; at++) {
                int order = 0;
                if (i < middle && j < end)
                    clfi_value_order(elements[i].key, elements[j].key, &order);
                room[at] = i < middle && (j >= end || order * direction <= 0) ? elements[i++] : elements[j++];
            }
        }
        memcpy(elements, room, count * sizeof *elements);
    }
}

/* Checks that all keys are of one kind that has an order: strings, or numbers and bools. */
static clf_status check_keys(const template_run *run, const template_node *node, const element *elements, size_t count)
{
    int order;
    for (size_t i = 1; i < count; i++)
        if (!clfi_value_order(elements[0].key, elements[i].key, &order))
            RUN_FAIL(run, node, CLF_FORMAT, "%s: %s and %s have no order", node->name, clfi_value_kind(elements[0].key),
                     clfi_value_kind(elements[i].key));
    return CLF_OK;
}

/* The key by which an element is ordered: its attribute; unless by_case, in lower case. */
static clf_status take_key(const template_run *run, const template_node *node, const json_t *value, const json_t *path, bool by_case,
                           json_t **out)
{
    json_t *key = NULL;
    CLF_TRY(clfi_run_path(run, node, value, path, &key));
    const clf_status touched = clfi_run_touch(run, node, key);
    if (touched != CLF_OK) {
        json_decref(key);
        return touched;
    }
    if (by_case || !json_is_string(key)) {
        *out = key;
        return CLF_OK;
    }
    const clf_status st = clfi_run_case(run, node, CLF_CASE_LOWER, key, out);
    json_decref(key);
    return st;
}

/* The sorted list, or for min and max its first element. */
static clf_status pick(const template_node *node, const element *elements, size_t count, json_t **out)
{
    json_t *list = NULL;
    if (node->name[0] == 'm') {
        *out = count ? json_incref(clfi_value_read(elements[0].value)) : NULL;
        return CLF_OK;
    }
    CLF_TRY(clfi_value_new(json_array(), &list));
    for (size_t i = 0; i < count; i++)
        if (json_array_append(list, elements[i].value) != 0) {
            json_decref(list);
            CLF_FAIL(CLF_OUT_OF_MEMORY, "out of memory: a template's list");
        }
    *out = list;
    return CLF_OK;
}

static clf_status order(template_run *run, const template_node *node, const json_t *list, const json_t *path, bool by_case, int direction,
                        json_t **out)
{
    const size_t count = json_array_size(list);
    element *elements = NULL;
    CLF_TRY(clfi_run_work(run, node, 16 * (uint64_t)count));
    clf_status st = clfi_alloc(count, 2 * sizeof *elements, "template elements", &elements);
    for (size_t i = 0; st == CLF_OK && i < count; i++) {
        elements[i].value = json_incref(json_array_get(list, i));
        st = take_key(run, node, clfi_value_read(elements[i].value), path, by_case, &elements[i].key);
    }
    if (st == CLF_OK)
        st = check_keys(run, node, elements, count);
    if (st == CLF_OK) {
        sort(elements, elements + count, count, direction);
        st = pick(node, elements, count, out);
    }
    for (size_t i = 0; elements && i < count; i++) {
        json_decref(elements[i].key);
        json_decref(elements[i].value);
    }
    free(elements);
    return st;
}

/* dictsort(case_sensitive=false, by="key", reverse=false): a dictionary's pairs in order. */
static clf_status dictsort(template_run *run, const template_node *node, const json_t *value, const template_arguments *arguments,
                           json_t **out)
{
    static char items[] = "items";
    const json_t *by = clfi_argument(arguments, 1, "by");
    const char *name = by ? json_string_value(by) : "key";
    template_node call = *node;
    json_t *view = NULL, *list = NULL, *path = NULL;
    CLF_TRY(clfi_check_arguments(run, node, arguments, 3, "case_sensitive by reverse"));
    if (!json_is_object(value) || !name || (strcmp(name, "key") != 0 && strcmp(name, "value") != 0))
        RUN_FAIL(run, node, CLF_FORMAT, "dictsort: expected a dictionary, found %s, and by=\"key\" or by=\"value\"",
                 clfi_value_kind(value));
    call.name = items;
    CLF_TRY(clfi_run_method(run, &call, value, &(template_arguments){NULL, NULL, 0}, &view));
    clf_status st = clfi_list_take(view, &list);
    json_decref(view);
    if (st == CLF_OK)
        st = clfi_value_new(json_string(name[0] == 'k' ? "0" : "1"), &path);
    if (st == CLF_OK)
        st = order(run, node, list, path, clfi_value_is_true(clfi_argument(arguments, 0, "case_sensitive")),
                   clfi_value_is_true(clfi_argument(arguments, 2, "reverse")) ? -1 : 1, out);
    json_decref(path);
    json_decref(list);
    return st;
}

clf_status clfi_run_order(template_run *run, const template_node *node, const json_t *value, const template_arguments *arguments,
                          json_t **out)
{
    if (node->name[0] == 'd')
        return dictsort(run, node, value, arguments, out);
    const size_t at = node->name[0] == 's'; /* sort(reverse, case_sensitive, attribute); min and max have no reverse */
    const json_t *path = clfi_argument(arguments, at + 1, "attribute");
    const bool is_falling = at ? clfi_value_is_true(clfi_argument(arguments, 0, "reverse")) : strcmp(node->name, "max") == 0;
    json_t *list = NULL;
    CLF_TRY(clfi_check_arguments(run, node, arguments, at + 2, at ? "reverse case_sensitive attribute" : "case_sensitive attribute"));
    if (json_is_null(path))
        path = NULL;
    if (json_is_string(path) && strchr(json_string_value(path), ','))
        RUN_FAIL(run, node, CLF_UNSUPPORTED, "%s by several attributes is not supported", node->name);
    CLF_TRY(clfi_run_elements(run, node, value, &list));
    const clf_status st =
        order(run, node, list, path, clfi_value_is_true(clfi_argument(arguments, at, "case_sensitive")), is_falling ? -1 : 1, out);
    json_decref(list);
    return st;
}
