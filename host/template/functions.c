/* SPDX-License-Identifier: MIT */
/* The functions and methods of templates, and their arguments. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "template/list_kind.h"
#include "template/run.h"

json_t *clfi_argument(const template_arguments *arguments, size_t index, const char *keyword)
{
    if (index < arguments->count && !arguments->names[index])
        return arguments->values[index];
    for (size_t i = 0; keyword && i < arguments->count; i++)
        if (arguments->names[i] && strcmp(arguments->names[i], keyword) == 0)
            return arguments->values[i];
    return NULL;
}

clf_status clfi_check_arguments(const template_run *run, const template_node *node, const template_arguments *arguments, size_t most,
                                const char *keywords)
{
    if (arguments->count > most)
        RUN_FAIL(run, node, CLF_FORMAT, "%s: expected at most %zu arguments, found %zu", node->name, most, arguments->count);
    for (size_t i = 0; i < arguments->count; i++)
        if (arguments->names[i] && !clfi_is_listed(arguments->names[i], keywords))
            RUN_FAIL(run, node, CLF_UNSUPPORTED, "%s: argument \"%s\" is not supported", node->name, arguments->names[i]);
    return CLF_OK;
}

clf_status clfi_run_elements(const template_run *run, const template_node *node, const json_t *value, json_t **out)
{
    json_t *list = NULL;
    size_t length, bytes;
    const char *key;
    json_t *element;
    CLF_TRY(clfi_run_touch(run, node, value));
    if (json_is_array(value))
        return clfi_list_take(value, out);
    if (value && !json_is_string(value) && !json_is_object(value))
        RUN_FAIL(run, node, CLF_FORMAT, "%s has no elements: expected a list, dictionary or string", clfi_value_kind(value));
    if (clfi_value_length(value, &length) && length > CLFI_TEMPLATE_MAX_ELEMENTS)
        RUN_FAIL(run, node, CLF_FORMAT, "a list of more than %d elements", CLFI_TEMPLATE_MAX_ELEMENTS);
    CLF_TRY(clfi_value_new(json_array(), &list));
    clf_status st = CLF_OK;
    if (json_is_object(value)) {
        json_object_keylen_foreach((json_t *)value, key, bytes, element)
        {
            json_t *name = NULL;
            st = st == CLF_OK ? clfi_value_of_key(key, bytes, &name) : st;
            if (st == CLF_OK && json_array_append_new(list, name) != 0)
                st = clfi_fail(CLF_OUT_OF_MEMORY, "out of memory: a template's list");
        }
    } else if (value && clfi_value_length(value, &length)) {
        const char *at = json_string_value(value);
        for (size_t i = 0; st == CLF_OK && i < length; i++, at += bytes) {
            json_t *character = NULL;
            for (bytes = 1; ((unsigned char)at[bytes] & 0xc0) == 0x80;)
                bytes++;
            st = clfi_value_of_text(at, bytes, &character);
            if (st == CLF_OK && json_array_append_new(list, character) != 0)
                st = clfi_fail(CLF_OUT_OF_MEMORY, "out of memory: a template's list");
        }
    }
    if (st == CLF_OK)
        *out = list;
    else
        json_decref(list);
    return st;
}

/* --- functions ------------------------------------------------------------------------------------------------------------------- */

typedef clf_status function(template_run *run, const template_node *node, const template_arguments *arguments, json_t **out);

static clf_status call_range(template_run *run, const template_node *node, const template_arguments *arguments, json_t **out)
{
    json_int_t bounds[3] = {0, 0, 1};
    json_t *list = NULL;
    CLF_TRY(clfi_check_arguments(run, node, arguments, 3, ""));
    for (size_t i = 0; i < arguments->count; i++) {
        if (!json_is_integer(arguments->values[i]))
            RUN_FAIL(run, node, CLF_FORMAT, "range: an argument is %s, expected integer", clfi_value_kind(arguments->values[i]));
        bounds[i] = json_integer_value(arguments->values[i]);
    }
    if (arguments->count == 0 || bounds[2] == 0)
        RUN_FAIL(run, node, CLF_FORMAT, "range: expected 1 to 3 integers, the step not 0");
    const json_int_t from = arguments->count == 1 ? 0 : bounds[0], to = arguments->count == 1 ? bounds[0] : bounds[1], step = bounds[2];
    CLF_TRY(clfi_value_new(json_array(), &list));
    for (json_int_t i = from; step > 0 ? i < to : i > to;) {
        if (json_array_size(list) >= CLFI_TEMPLATE_MAX_RANGE) {
            json_decref(list);
            RUN_FAIL(run, node, CLF_FORMAT, "range: expected at most %d numbers", CLFI_TEMPLATE_MAX_RANGE);
        }
        if (json_array_append_new(list, json_integer(i)) != 0) {
            json_decref(list);
            CLF_FAIL(CLF_OUT_OF_MEMORY, "out of memory: a template's list");
        }
        if (__builtin_add_overflow(i, step, &i))
            break;
    }
    const clf_status st = clfi_list_mark(list, CLF_LIST_RANGE);
    if (st == CLF_OK)
        *out = list;
    else
        json_decref(list);
    return st;
}

static clf_status call_dict(template_run *run, const template_node *node, const template_arguments *arguments, json_t **out)
{
    json_t *dict = NULL;
    CLF_TRY(clfi_value_new(json_object(), &dict));
    for (size_t i = 0; i < arguments->count; i++) {
        const bool is_dict = !arguments->names[i] && json_is_object(arguments->values[i]);
        const json_t *value = arguments->values[i];
        if (!is_dict && !arguments->names[i]) {
            json_decref(dict);
            RUN_FAIL(run, node, CLF_FORMAT, "%s: expected keyword arguments or a dictionary, found %s", node->name, clfi_value_kind(value));
        }
        if (is_dict ? json_object_update(dict, (json_t *)value) != 0
                    : json_object_set(dict, arguments->names[i], clfi_value_stored((json_t *)value)) != 0) {
            json_decref(dict);
            CLF_FAIL(CLF_OUT_OF_MEMORY, "out of memory: a template's dictionary");
        }
    }
    *out = dict;
    return CLF_OK;
}

static clf_status call_namespace(template_run *run, const template_node *node, const template_arguments *arguments, json_t **out)
{
    CLF_TRY(call_dict(run, node, arguments, out));
    return clfi_special_mark(*out, CLF_SPECIAL_NAMESPACE);
}

static clf_status call_raise(template_run *run, const template_node *node, const template_arguments *arguments, json_t **out)
{
    clf_str text = CLF_STR_INIT;
    (void)out;
    CLF_TRY(clfi_check_arguments(run, node, arguments, 1, "message"));
    clf_status st = clfi_value_append(clfi_argument(arguments, 0, "message"), &text);
    if (st == CLF_OK)
        st = clfi_run_fail(run, node, CLF_INVALID_ARGUMENT, "%s", clfi_str_text(&text));
    clfi_str_free(&text);
    return st;
}

static clf_status call_strftime(template_run *run, const template_node *node, const template_arguments *arguments, json_t **out)
{
    const json_t *format = clfi_argument(arguments, 0, "format");
    char text[1024];
    struct tm local;
    CLF_TRY(clfi_check_arguments(run, node, arguments, 1, "format"));
    if (!json_is_string(format) || !localtime_r(&run->now, &local))
        RUN_FAIL(run, node, CLF_FORMAT, "strftime_now: the format is %s, expected string", clfi_value_kind(format));
    const size_t size = strftime(text, sizeof text, json_string_value(format), &local);
    if (size == 0 && json_string_length(format) > 0)
        RUN_FAIL(run, node, CLF_FORMAT, "strftime_now: the format gives nothing or more than %zu bytes", sizeof text);
    return clfi_value_of_text(text, size, out);
}

static function *find_function(const char *name)
{
    static const struct {
        const char *name;
        function *call;
    } rows[] = {{"range", call_range},
                {"namespace", call_namespace},
                {"dict", call_dict},
                {"raise_exception", call_raise},
                {"strftime_now", call_strftime}};
    for (size_t i = 0; i < COUNT(rows); i++)
        if (strcmp(rows[i].name, name) == 0)
            return rows[i].call;
    return NULL;
}

bool clfi_is_function(const char *name)
{
    return find_function(name) || clfi_is_listed(name, "cycler joiner lipsum self");
}

const template_macro *clfi_run_find_macro(const template_run *run, const char *name)
{
    for (size_t i = run->macro_count; i-- > 0;) { /* inner scopes come later */
        const template_scope *scope = run->scope;
        if (strcmp(run->macros[i].node->name, name) != 0)
            continue;
        while (scope && scope != run->macros[i].scope)
            scope = scope->outer;
        if (scope)
            return &run->macros[i];
    }
    return NULL;
}

clf_status clfi_run_function(template_run *run, const template_node *call, const template_arguments *arguments, json_t **out)
{
    function *const found = find_function(call->name);
    if (found)
        return found(run, call, arguments, out);
    RUN_FAIL(run, call, CLF_UNSUPPORTED,
             "function \"%s\" is not supported: expected a macro, range, namespace, dict, raise_exception or strftime_now", call->name);
}

/* --- methods --------------------------------------------------------------------------------------------------------------------- */

typedef clf_status method(template_run *run, const template_node *node, const json_t *self, const template_arguments *arguments,
                          json_t **out);

/* Argument `index` as a string. absent: it may be missing or None, then *out is NULL. */
static clf_status text_argument(const template_run *run, const template_node *node, const template_arguments *arguments, size_t index,
                                bool absent, json_t **out)
{
    json_t *value = clfi_argument(arguments, index, NULL);
    *out = NULL;
    if (absent && (!value || json_is_null(value)))
        return CLF_OK;
    if (!json_is_string(value))
        RUN_FAIL(run, node, CLF_FORMAT, "%s: argument %zu is %s, expected string", node->name, index + 1, clfi_value_kind(value));
    *out = value;
    return CLF_OK;
}

static clf_status strip(template_run *run, const template_node *node, const json_t *self, const template_arguments *arguments, json_t **out)
{
    const char *text = json_string_value(self);
    size_t size = json_string_length(self);
    json_t *characters = NULL;
    CLF_TRY(clfi_check_arguments(run, node, arguments, 1, ""));
    CLF_TRY(text_argument(run, node, arguments, 0, true, &characters));
    CLF_TRY(clfi_run_work(run, node, (uint64_t)size / 4 * json_string_length(characters)));
    clfi_value_strip(&text, &size, characters, node->name[0] != 'r', node->name[0] != 'l');
    return clfi_value_of_text(text, size, out);
}

/* Whether the text starts or ends with `part`, for startswith and endswith; false if `part` is no string. */
static bool has_end(const json_t *self, const json_t *part, bool at_start)
{
    const size_t size = json_string_length(self), length = json_string_length(part);
    const char *text = json_string_value(self);
    return json_is_string(part) && length <= size && memcmp(at_start ? text : text + size - length, json_string_value(part), length) == 0;
}

static clf_status ends(template_run *run, const template_node *node, const json_t *self, const template_arguments *arguments, json_t **out)
{
    const bool at_start = node->name[0] == 's';
    const json_t *part = clfi_argument(arguments, 0, NULL);
    CLF_TRY(clfi_check_arguments(run, node, arguments, 1, ""));
    if (!json_is_string(part) && clfi_list_kind_of(part) != CLF_LIST_TUPLE)
        RUN_FAIL(run, node, CLF_FORMAT, "%s: argument 1 is %s, expected string or a tuple of strings", node->name, clfi_value_kind(part));
    bool is = has_end(self, part, at_start);
    CLF_TRY(clfi_run_weigh(run, node, part));
    for (size_t i = 0; i < json_array_size(part) && !is; i++)
        is = has_end(self, json_array_get(part, i), at_start);
    return clfi_value_new(json_boolean(is), out);
}

static clf_status append_part(json_t *list, const char *text, size_t size)
{
    json_t *part = NULL;
    if (json_array_size(list) >= CLFI_TEMPLATE_MAX_ELEMENTS)
        CLF_FAIL(CLF_FORMAT, "a template splits a text into more than %d parts", CLFI_TEMPLATE_MAX_ELEMENTS);
    CLF_TRY(clfi_value_of_text(text, size, &part));
    if (json_array_append_new(list, part) != 0)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "out of memory: a template's list");
    return CLF_OK;
}

/* Appends the parts between separators, with at most `most` cuts (< 0: any number). */
static clf_status split_by(const char *text, size_t size, const json_t *separator, json_int_t most, json_t *list)
{
    const size_t length = json_string_length(separator);
    for (const char *found; most != 0 && (found = memmem(text, size, json_string_value(separator), length)); most--) {
        CLF_TRY(append_part(list, text, (size_t)(found - text)));
        size -= (size_t)(found - text) + length;
        text = found + length;
    }
    return append_part(list, text, size);
}

/* Appends the words between white space; after `most` cuts the rest keeps white space at its end. */
static clf_status split_words(const char *text, size_t size, json_int_t most, json_t *list)
{
    for (;; most--) {
        clfi_value_strip(&text, &size, NULL, true, false);
        if (size == 0)
            return CLF_OK;
        size_t length = 0;
        while (length < size && (most == 0 || !clfi_value_space(text + length, size - length)))
            length++;
        CLF_TRY(append_part(list, text, length));
        text += length;
        size -= length;
    }
}

/* Appends the parts of rsplit with a limit, which cuts from the end. */
static clf_status split_from_end(const char *text, size_t size, const json_t *separator, json_int_t most, json_t *list)
{
    const size_t length = json_string_length(separator);
    for (size_t at = size; most > 0 && at >= length; at--) {
        if (memcmp(text + at - length, json_string_value(separator), length) != 0)
            continue;
        CLF_TRY(append_part(list, text + at, size - at));
        size = at - length;
        at = size + 1;
        most--;
    }
    CLF_TRY(append_part(list, text, size));
    clfi_value_reverse(list);
    return CLF_OK;
}

static clf_status split(template_run *run, const template_node *node, const json_t *self, const template_arguments *arguments, json_t **out)
{
    const json_t *limit = clfi_argument(arguments, 1, "maxsplit");
    const bool from_end = node->name[0] == 'r';
    json_t *separator = NULL, *list = NULL;
    CLF_TRY(clfi_check_arguments(run, node, arguments, 2, "sep maxsplit"));
    CLF_TRY(text_argument(run, node, arguments, 0, true, &separator));
    if (!separator && json_is_string(clfi_argument(arguments, SIZE_MAX, "sep")))
        separator = clfi_argument(arguments, SIZE_MAX, "sep");
    if ((separator && json_string_length(separator) == 0) || (limit && !json_is_integer(limit)))
        RUN_FAIL(run, node, CLF_FORMAT, "%s: expected a separator of 1 or more characters and an integer", node->name);
    const json_int_t most = limit ? json_integer_value(limit) : -1;
    if (from_end && most >= 0 && !separator)
        RUN_FAIL(run, node, CLF_UNSUPPORTED, "rsplit at white space with a limit is not supported");
    CLF_TRY(clfi_value_new(json_array(), &list));
    const char *text = json_string_value(self);
    const size_t size = json_string_length(self);
    const clf_status st = !separator              ? split_words(text, size, most, list)
                          : from_end && most >= 0 ? split_from_end(text, size, separator, most, list)
                                                  : split_by(text, size, separator, most, list);
    if (st == CLF_OK)
        *out = list;
    else
        json_decref(list);
    return st;
}

static const struct {
    const char *name;
    clf_letter_case to;
} cases[] = {{"upper", CLF_CASE_UPPER},           {"lower", CLF_CASE_LOWER},   {"title", CLF_CASE_TITLE},
             {"capitalize", CLF_CASE_CAPITALIZE}, {"swapcase", CLF_CASE_SWAP}, {"casefold", CLF_CASE_FOLD}};

clf_status clfi_run_case(const template_run *run, const template_node *node, clf_letter_case to, const json_t *self, json_t **out)
{
    clf_str changed = CLF_STR_INIT;
    clf_status st = clfi_run_work(run, node, json_string_length(self)); /* characters are looked up one by one */
    if (st == CLF_OK)
        st = clfi_letter_case(to, json_string_value(self), json_string_length(self), &changed);
    if (st == CLF_OK)
        st = clfi_value_of_text(clfi_str_text(&changed), changed.length, out);
    clfi_str_free(&changed);
    return st;
}

static clf_status letter_case(template_run *run, const template_node *node, const json_t *self, const template_arguments *arguments,
                              json_t **out)
{
    size_t i = 0;
    while (strcmp(cases[i].name, node->name) != 0)
        i++;
    CLF_TRY(clfi_check_arguments(run, node, arguments, 0, ""));
    return clfi_run_case(run, node, cases[i].to, self, out);
}

static clf_status replace(template_run *run, const template_node *node, const json_t *self, const template_arguments *arguments,
                          json_t **out)
{
    json_t *from = NULL, *to = NULL;
    const json_t *limit = clfi_argument(arguments, 2, "count");
    const char *text = json_string_value(self);
    size_t size = json_string_length(self);
    clf_str changed = CLF_STR_INIT;
    clf_status st = CLF_OK;
    CLF_TRY(clfi_check_arguments(run, node, arguments, 3, "count"));
    CLF_TRY(text_argument(run, node, arguments, 0, false, &from));
    CLF_TRY(text_argument(run, node, arguments, 1, false, &to));
    if (json_string_length(from) == 0 || (limit && !json_is_integer(limit) && !json_is_null(limit)))
        RUN_FAIL(run, node, CLF_UNSUPPORTED, "replace: expected 1 or more characters to replace and an integer count");
    json_int_t most = json_is_integer(limit) ? json_integer_value(limit) : -1;
    for (const char *found; st == CLF_OK && most != 0 && (found = memmem(text, size, json_string_value(from), json_string_length(from)));
         most--) {
        st = clfi_str_append(&changed, text, (size_t)(found - text));
        if (st == CLF_OK)
            st = clfi_str_append(&changed, json_string_value(to), json_string_length(to));
        if (st == CLF_OK && changed.length > CLFI_TEMPLATE_MAX_OUTPUT)
            st = clfi_run_fail(run, node, CLF_FORMAT, "replace: more than %d bytes", CLFI_TEMPLATE_MAX_OUTPUT);
        size -= (size_t)(found - text) + json_string_length(from);
        text = found + json_string_length(from);
    }
    if (st == CLF_OK)
        st = clfi_str_append(&changed, text, size);
    if (st == CLF_OK)
        st = clfi_value_of_text(clfi_str_text(&changed), changed.length, out);
    clfi_str_free(&changed);
    return st;
}

static clf_status find(template_run *run, const template_node *node, const json_t *self, const template_arguments *arguments, json_t **out)
{
    json_t *part = NULL;
    size_t index = 0;
    CLF_TRY(clfi_check_arguments(run, node, arguments, 1, ""));
    CLF_TRY(text_argument(run, node, arguments, 0, false, &part));
    const char *text = json_string_value(self);
    const char *found = memmem(text, json_string_length(self), json_string_value(part), json_string_length(part));
    if (node->name[0] == 'c') { /* count */
        const size_t length = json_string_length(part);
        if (length == 0)
            RUN_FAIL(run, node, CLF_UNSUPPORTED, "count: expected 1 or more characters");
        for (; found; index++)
            found = memmem(found + length, json_string_length(self) - (size_t)(found + length - text), json_string_value(part), length);
        return clfi_value_new(json_integer((json_int_t)index), out);
    }
    for (const char *at = text; found && at < found; at++)
        index += ((unsigned char)*at & 0xc0) != 0x80;
    return clfi_value_new(json_integer(found ? (json_int_t)index : -1), out);
}

static clf_status join_parts(template_run *run, const template_node *node, const json_t *self, const template_arguments *arguments,
                             json_t **out)
{
    json_t *elements = NULL;
    clf_str text = CLF_STR_INIT;
    CLF_TRY(clfi_check_arguments(run, node, arguments, 1, ""));
    CLF_TRY(clfi_run_elements(run, node, clfi_argument(arguments, 0, NULL), &elements));
    clf_status st = CLF_OK;
    for (size_t i = 0; st == CLF_OK && i < json_array_size(elements); i++) {
        if (i)
            st = clfi_value_append(self, &text);
        if (st == CLF_OK && !json_is_string(json_array_get(elements, i)))
            st = clfi_run_fail(run, node, CLF_FORMAT, "join: element %zu is %s, expected string", i,
                               clfi_value_kind(json_array_get(elements, i)));
        if (st == CLF_OK)
            st = clfi_value_append(json_array_get(elements, i), &text);
        if (st == CLF_OK && text.length > CLFI_TEMPLATE_MAX_OUTPUT)
            st = clfi_run_fail(run, node, CLF_FORMAT, "join: more than %d bytes", CLFI_TEMPLATE_MAX_OUTPUT);
    }
    if (st == CLF_OK)
        st = clfi_value_of_text(clfi_str_text(&text), text.length, out);
    clfi_str_free(&text);
    json_decref(elements);
    return st;
}

static clf_status get(template_run *run, const template_node *node, const json_t *self, const template_arguments *arguments, json_t **out)
{
    const json_t *key = clfi_argument(arguments, 0, NULL);
    json_t *standard = clfi_argument(arguments, 1, "default");
    CLF_TRY(clfi_check_arguments(run, node, arguments, 2, "default"));
    json_t *found = clfi_value_entry(self, key);
    *out = json_incref(found ? clfi_value_read(found) : standard ? standard : json_null());
    return CLF_OK;
}

/* Makes the tuple (a, b); NULL: not enough memory. */
static json_t *make_pair(json_t *a, json_t *b)
{
    json_t *pair = json_pack("[O, O]", a, b);
    if (pair && clfi_list_mark(pair, CLF_LIST_TUPLE) != CLF_OK) {
        json_decref(pair);
        return NULL;
    }
    return pair;
}

/* Runs items, keys and values of a dictionary. The views show it as it is now. */
static clf_status parts(template_run *run, const template_node *node, const json_t *self, const template_arguments *arguments, json_t **out)
{
    const char *key;
    size_t length;
    json_t *value, *list = NULL;
    bool is_whole = true;
    CLF_TRY(clfi_check_arguments(run, node, arguments, 0, ""));
    CLF_TRY(clfi_value_new(json_array(), &list));
    json_object_keylen_foreach((json_t *)self, key, length, value)
    {
        json_t *name = NULL;
        is_whole = is_whole && clfi_value_of_key(key, length, &name) == CLF_OK;
        json_t *part = node->name[0] == 'v' ? json_incref(value) : node->name[0] == 'k' ? json_incref(name) : make_pair(name, value);
        is_whole = is_whole && json_array_append_new(list, part) == 0;
        json_decref(name);
    }
    const clf_list_kind kind = node->name[0] == 'v' ? CLF_LIST_VALUES : node->name[0] == 'k' ? CLF_LIST_KEYS : CLF_LIST_ITEMS;
    if (!is_whole || clfi_list_mark(list, kind) != CLF_OK) {
        json_decref(list);
        CLF_FAIL(CLF_OUT_OF_MEMORY, "out of memory: a template's list");
    }
    *out = list;
    return CLF_OK;
}

clf_status clfi_run_method(template_run *run, const template_node *call, const json_t *self, const template_arguments *arguments,
                           json_t **out)
{
    static const struct {
        json_type type;
        const char *name;
        method *call;
    } rows[] = {
        {JSON_STRING, "strip", strip},
        {JSON_STRING, "lstrip", strip},
        {JSON_STRING, "rstrip", strip},
        {JSON_STRING, "startswith", ends},
        {JSON_STRING, "endswith", ends},
        {JSON_STRING, "split", split},
        {JSON_STRING, "rsplit", split},
        {JSON_STRING, "upper", letter_case},
        {JSON_STRING, "lower", letter_case},
        {JSON_STRING, "title", letter_case},
        {JSON_STRING, "capitalize", letter_case},
        {JSON_STRING, "swapcase", letter_case},
        {JSON_STRING, "casefold", letter_case},
        {JSON_STRING, "replace", replace},
        {JSON_STRING, "find", find},
        {JSON_STRING, "count", find},
        {JSON_STRING, "join", join_parts},
        {JSON_STRING, "format", clfi_run_format},
        {JSON_OBJECT, "get", get},
        {JSON_OBJECT, "items", parts},
        {JSON_OBJECT, "keys", parts},
        {JSON_OBJECT, "values", parts},
        {JSON_OBJECT, "cycle", clfi_run_loop},
        {JSON_OBJECT, "changed", clfi_run_loop},
    };
    if (!self)
        RUN_FAIL(run, call, CLF_FORMAT, "\"%s\" of a value that is undefined", call->name);
    const bool is_dictionary = !clfi_value_special(self);
    for (size_t i = 0; i < COUNT(rows); i++)
        if (rows[i].type == json_typeof(self) && (is_dictionary || rows[i].call == clfi_run_loop) && strcmp(rows[i].name, call->name) == 0)
            return rows[i].call(run, call, self, arguments, out);
    RUN_FAIL(run, call, CLF_UNSUPPORTED, "%s has no method \"%s\" here", clfi_value_kind(self), call->name);
}
