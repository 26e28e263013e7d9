/* SPDX-License-Identifier: MIT */
/* The filters and tests of templates. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "template/list_kind.h"
#include "template/run.h"

typedef clf_status filter(template_run *run, const template_node *node, const json_t *value, const template_arguments *arguments,
                          json_t **out);

static clf_status text_of(const json_t *value, json_t **out)
{
    clf_str text = CLF_STR_INIT;
    clf_status st = clfi_value_append(value, &text);
    if (st == CLF_OK)
        st = clfi_value_of_text(clfi_str_text(&text), text.length, out);
    clfi_str_free(&text);
    return st;
}

/* Runs a filter as the method of the value's text: trim, upper, lower, capitalize, replace. */
static clf_status as_method(template_run *run, const template_node *node, const json_t *value, const template_arguments *arguments,
                            json_t **out)
{
    static char strip[] = "strip";
    template_node call = *node;
    json_t *text = NULL;
    if (strcmp(node->name, "trim") == 0)
        call.name = strip;
    CLF_TRY(text_of(value, &text));
    const clf_status st = clfi_run_method(run, &call, text, arguments, out);
    json_decref(text);
    return st;
}

static clf_status title(template_run *run, const template_node *node, const json_t *value, const template_arguments *arguments,
                        json_t **out)
{
    json_t *text = NULL;
    CLF_TRY(clfi_check_arguments(run, node, arguments, 0, ""));
    CLF_TRY(text_of(value, &text));
    const clf_status st = clfi_run_case(run, node, CLF_CASE_TITLE_WORDS, text, out);
    json_decref(text);
    return st;
}

static clf_status count(template_run *run, const template_node *node, const json_t *value, const template_arguments *arguments,
                        json_t **out)
{
    size_t length = 0;
    CLF_TRY(clfi_check_arguments(run, node, arguments, 0, ""));
    if (value && !clfi_value_length(value, &length))
        RUN_FAIL(run, node, CLF_FORMAT, "%s of %s, expected a list, dictionary or string", node->name, clfi_value_kind(value));
    return clfi_value_new(json_integer((json_int_t)length), out);
}

static clf_status as_json(template_run *run, const template_node *node, const json_t *value, const template_arguments *arguments,
                          json_t **out)
{
    const json_t *indent = clfi_argument(arguments, 1, "indent"), *separators = clfi_argument(arguments, 2, "separators");
    const template_json how = {.is_ascii = clfi_value_is_true(clfi_argument(arguments, 0, "ensure_ascii")),
                               .indent = json_is_integer(indent) ? (int)json_integer_value(indent) : -1,
                               .comma = json_string_value(json_array_get(separators, 0)),
                               .is = json_string_value(json_array_get(separators, 1))};
    clf_str text = CLF_STR_INIT;
    CLF_TRY(clfi_check_arguments(run, node, arguments, 3, "ensure_ascii indent separators"));
    if (!value || (indent && !json_is_null(indent) && (how.indent < 0 || json_integer_value(indent) > 64)))
        RUN_FAIL(run, node, CLF_FORMAT, "tojson: expected a value that is defined, and an indent from 0 to 64");
    if (separators && !json_is_null(separators) && (clfi_list_count(separators) != 2 || !how.comma || !how.is))
        RUN_FAIL(run, node, CLF_FORMAT, "tojson: expected two strings as separators");
    clf_status st = clfi_value_append_json(value, &how, &text);
    if (st == CLF_OK)
        st = clfi_value_of_text(clfi_str_text(&text), text.length, out);
    clfi_str_free(&text);
    return st;
}

static clf_status standard(template_run *run, const template_node *node, const json_t *value, const template_arguments *arguments,
                           json_t **out)
{
    const bool also_false = clfi_value_is_true(clfi_argument(arguments, 1, "boolean"));
    CLF_TRY(clfi_check_arguments(run, node, arguments, 2, "default_value boolean"));
    if (value && (!also_false || clfi_value_is_true(value))) {
        *out = json_incref((json_t *)value);
        return CLF_OK;
    }
    json_t *given = clfi_argument(arguments, 0, "default_value");
    return clfi_value_new(given ? json_incref(given) : json_string(""), out);
}

static clf_status join(template_run *run, const template_node *node, const json_t *value, const template_arguments *arguments, json_t **out)
{
    const json_t *between = clfi_argument(arguments, 0, "d"), *attribute = clfi_argument(arguments, 1, "attribute");
    json_t *elements = NULL;
    clf_str text = CLF_STR_INIT;
    CLF_TRY(clfi_check_arguments(run, node, arguments, 2, "d attribute"));
    CLF_TRY(clfi_run_elements(run, node, value, &elements));
    clf_status st = CLF_OK;
    for (size_t i = 0; st == CLF_OK && i < json_array_size(elements); i++) {
        json_t *element = NULL;
        if (i)
            st = clfi_value_append(between, &text);
        if (st == CLF_OK)
            st = clfi_run_path(run, node, clfi_value_at(elements, i), attribute, &element);
        if (st == CLF_OK)
            st = clfi_value_append(element, &text);
        if (st == CLF_OK && text.length > CLFI_TEMPLATE_MAX_OUTPUT)
            st = clfi_run_fail(run, node, CLF_FORMAT, "join: more than %d bytes", CLFI_TEMPLATE_MAX_OUTPUT);
        json_decref(element);
    }
    if (st == CLF_OK)
        st = clfi_value_of_text(clfi_str_text(&text), text.length, out);
    clfi_str_free(&text);
    json_decref(elements);
    return st;
}

static clf_status pick(template_run *run, const template_node *node, const json_t *value, const template_arguments *arguments, json_t **out)
{
    json_t *elements = NULL;
    CLF_TRY(clfi_check_arguments(run, node, arguments, 0, ""));
    if (node->name[0] == 'l' && clfi_list_kind_of(value) == CLF_LIST_GENERATOR)
        RUN_FAIL(run, node, CLF_FORMAT, "last of a generator: expected a list (use the filter list)");
    if (clfi_list_kind_of(value) == CLF_LIST_GENERATOR && clfi_list_count(value) > 0) { /* the other elements stay in the generator */
        *out = json_incref(clfi_value_at(value, 0));
        return clfi_list_drop(value, 1);
    }
    CLF_TRY(clfi_run_elements(run, node, value, &elements));
    const size_t size = json_array_size(elements);
    *out = size ? json_incref(clfi_value_at(elements, node->name[0] == 'f' ? 0 : size - 1)) : NULL;
    json_decref(elements);
    return CLF_OK;
}

static clf_status list(template_run *run, const template_node *node, const json_t *value, const template_arguments *arguments, json_t **out)
{
    CLF_TRY(clfi_check_arguments(run, node, arguments, 0, ""));
    return clfi_run_elements(run, node, value, out);
}

static clf_status reverse(template_run *run, const template_node *node, const json_t *value, const template_arguments *arguments,
                          json_t **out)
{
    json_t *elements = NULL;
    size_t length;
    CLF_TRY(clfi_check_arguments(run, node, arguments, 0, ""));
    if (json_is_string(value) && clfi_value_length(value, &length))
        return clfi_value_characters(value, length ? length - 1 : 0, length, -1, out);
    CLF_TRY(clfi_run_elements(run, node, value, &elements));
    clfi_value_reverse(elements);
    *out = elements;
    return CLF_OK;
}

static clf_status string(template_run *run, const template_node *node, const json_t *value, const template_arguments *arguments,
                         json_t **out)
{
    CLF_TRY(clfi_check_arguments(run, node, arguments, 0, ""));
    return text_of(value, out);
}

/* Reads a number of decimal digits as Python's int and float do, white space around it. *is_integer: it fits *integer. */
static bool read_number(const char *text, bool *is_integer, json_int_t *integer, double *x)
{
    static const char space[] = " \t\n\r\f\v";
    char *end;
    text += strspn(text, space);
    if (text[strcspn(text, "xX(")]) /* hexadecimal digits and nan(...) are C's */
        return false;
    *x = strtod(text, &end);
    if (end == text || end[strspn(end, space)])
        return false;
    errno = 0;
    *integer = strtoll(text, &end, 10);
    *is_integer = errno == 0 && !end[strspn(end, space)];
    return true;
}

/* The filters int and float: 0 if the text is no number, as in Jinja. */
static clf_status number(template_run *run, const template_node *node, const json_t *value, const template_arguments *arguments,
                         json_t **out)
{
    const json_t *otherwise = clfi_argument(arguments, 0, "default");
    double x = 0;
    CLF_TRY(clfi_check_arguments(run, node, arguments, 1, "default"));
    if (!value)
        RUN_FAIL(run, node, CLF_FORMAT, "%s of a value that is undefined", node->name);
    bool is_number = clfi_value_number(value, &x);
    json_int_t integer = json_integer_value(value);
    bool is_integer = json_is_integer(value);
    for (const char *c = json_string_value(value); c && *c; c++)
        if ((unsigned char)*c >= 0x80 || *c == '_')
            RUN_FAIL(run, node, CLF_UNSUPPORTED, "%s of a text with an underscore or a character beyond ASCII is not supported",
                     node->name);
    if (json_is_string(value))
        is_number = read_number(json_string_value(value), &is_integer, &integer, &x);
    if (!is_number && otherwise)
        return clfi_value_new(json_incref((json_t *)otherwise), out);
    if (!is_number || !isfinite(x))
        x = 0;
    if (node->name[0] == 'f')
        return clfi_value_new(json_real(x), out);
    if (is_integer)
        return clfi_value_new(json_integer(integer), out);
    if (fabs(x) >= 0x1p63)
        RUN_FAIL(run, node, CLF_FORMAT, "an integer beyond 64 bits");
    return clfi_value_new(json_integer((json_int_t)x), out);
}

static clf_status absolute(template_run *run, const template_node *node, const json_t *value, const template_arguments *arguments,
                           json_t **out)
{
    double x;
    CLF_TRY(clfi_check_arguments(run, node, arguments, 0, ""));
    if (!clfi_value_number(value, &x))
        RUN_FAIL(run, node, CLF_FORMAT, "abs of %s, expected a number", clfi_value_kind(value));
    if (json_is_real(value))
        return clfi_value_new(json_real(fabs(x)), out);
    const json_int_t integer = json_is_integer(value) ? json_integer_value(value) : (json_int_t)x;
    if (integer == INT64_MIN)
        RUN_FAIL(run, node, CLF_FORMAT, "an integer beyond 64 bits");
    return clfi_value_new(json_integer(integer < 0 ? -integer : integer), out);
}

static clf_status items(template_run *run, const template_node *node, const json_t *value, const template_arguments *arguments,
                        json_t **out)
{
    if (!value)
        return clfi_value_new(json_array(), out);
    return clfi_run_method(run, node, value, arguments, out);
}

/* The elements for map, select and the like; None counts as an empty list. */
static clf_status filtered_elements(const template_run *run, const template_node *node, const json_t *value, json_t **out)
{
    return clfi_run_elements(run, node, json_is_null(value) ? NULL : value, out);
}

/* map: takes an attribute of each element, or applies the filter of the given name. */
static clf_status map(template_run *run, const template_node *node, const json_t *value, const template_arguments *arguments, json_t **out)
{
    const json_t *attribute = clfi_argument(arguments, SIZE_MAX, "attribute"), *name = clfi_argument(arguments, 0, NULL);
    const json_t *otherwise = clfi_argument(arguments, SIZE_MAX, "default");
    json_t *elements = NULL;
    if (attribute)
        CLF_TRY(clfi_check_arguments(run, node, arguments, 2, "attribute default"));
    else if (!json_is_string(name))
        RUN_FAIL(run, node, CLF_FORMAT, "map: expected attribute=\"...\" or a filter's name");
    CLF_TRY(filtered_elements(run, node, value, &elements));
    clf_status st = CLF_OK;
    for (size_t i = 0; st == CLF_OK && i < json_array_size(elements); i++) {
        json_t *result = NULL;
        if (attribute) {
            st = clfi_run_path(run, node, clfi_value_at(elements, i), attribute, &result);
            if (st == CLF_OK && !result)
                result = json_incref((json_t *)otherwise);
        } else {
            template_node one = *node;
            const template_arguments rest = {arguments->values + 1, arguments->names + 1, arguments->count - 1};
            one.name = (char *)json_string_value(name);
            st = clfi_run_enter(run, node);
            if (st == CLF_OK)
                st = clfi_run_touch(run, node, clfi_value_at(elements, i));
            if (st == CLF_OK)
                st = clfi_run_filter(run, &one, clfi_value_at(elements, i), &rest, &result);
            run->depth--;
        }
        if (st == CLF_OK && json_array_set_new(elements, i, clfi_value_stored(result)) != 0)
            st = clfi_fail(CLF_OUT_OF_MEMORY, "out of memory: a template's list");
    }
    if (st == CLF_OK)
        *out = elements;
    else
        json_decref(elements);
    return st;
}

/* select, reject, selectattr, rejectattr: keep elements whose value (or attribute) passes the test; if none is named, it must be true. */
static clf_status choose(template_run *run, const template_node *node, const json_t *value, const template_arguments *arguments,
                         json_t **out)
{
    const bool is_reject = node->name[0] == 'r', by_attribute = strlen(node->name) > 6;
    const json_t *attribute = by_attribute ? clfi_argument(arguments, 0, NULL) : NULL;
    const size_t test_at = by_attribute ? 1 : 0;
    const json_t *test = clfi_argument(arguments, test_at, NULL);
    json_t *elements = NULL;
    if ((by_attribute && !json_is_string(attribute)) || (test && !json_is_string(test)))
        RUN_FAIL(run, node, CLF_FORMAT, "%s: expected strings", node->name);
    CLF_TRY(filtered_elements(run, node, value, &elements));
    clf_status st = CLF_OK;
    for (size_t i = 0; st == CLF_OK && i < json_array_size(elements);) {
        json_t *part = NULL;
        bool passes = false;
        st = clfi_run_path(run, node, clfi_value_at(elements, i), attribute, &part);
        if (st != CLF_OK)
            break;
        if (test) {
            const template_arguments rest = {arguments->values + test_at + 1, arguments->names + test_at + 1,
                                             arguments->count - test_at - 1};
            st = clfi_run_test(run, node, json_string_value(test), part, &rest, &passes);
        } else {
            passes = clfi_value_is_true(part);
        }
        json_decref(part);
        if (passes != is_reject) {
            i++;
            continue;
        }
        if (st == CLF_OK)
            st = clfi_run_work(run, node, (json_array_size(elements) - i) / 16);
        json_array_remove(elements, i);
    }
    if (st == CLF_OK)
        *out = elements;
    else
        json_decref(elements);
    return st;
}

/* Bytes of the line break at text[at..size) as str.splitlines has them; 0: none. */
static size_t line_break(const char *text, size_t size)
{
    uint32_t code;
    const size_t bytes = clfi_utf8_decode((const unsigned char *)text, size, &code);
    if (code == '\r' && size > 1 && text[1] == '\n')
        return 2;
    if (code == 0x85 || code == 0x2028 || code == 0x2029)
        return bytes;
    return (code >= '\n' && code <= '\r') || (code >= 0x1c && code <= 0x1e) ? bytes : 0;
}

/* Appends the text's lines, indented by `width` spaces: the first line only with is_first, the others unless they are empty. */
static clf_status append_indented(const template_run *run, const template_node *node, const char *text, size_t size, int width,
                                  bool is_first, clf_str *out)
{
    for (size_t at = 0, end, skip; at < size; at = end + skip) {
        for (end = at; (skip = line_break(text + end, size - end)) == 0;)
            end++;
        if (at > 0)
            CLF_TRY(clfi_str_append_char(out, '\n'));
        if (at == 0 ? is_first : end > at)
            CLF_TRY(clfi_str_appendf(out, "%*s", width, ""));
        CLF_TRY(clfi_str_append(out, text + at, end - at));
        if (out->length > CLFI_TEMPLATE_MAX_OUTPUT)
            RUN_FAIL(run, node, CLF_FORMAT, "indent: more than %d bytes", CLFI_TEMPLATE_MAX_OUTPUT);
    }
    return CLF_OK;
}

/* indent(width=4, first=false) of a string. */
static clf_status indent(template_run *run, const template_node *node, const json_t *value, const template_arguments *arguments,
                         json_t **out)
{
    const json_t *width = clfi_argument(arguments, 0, "width");
    const bool is_first = clfi_value_is_true(clfi_argument(arguments, 1, "first"));
    clf_str lines = CLF_STR_INIT, text = CLF_STR_INIT;
    CLF_TRY(clfi_check_arguments(run, node, arguments, 2, "width first"));
    if (width && (!json_is_integer(width) || json_integer_value(width) < 0 || json_integer_value(width) > 1024))
        RUN_FAIL(run, node, CLF_FORMAT, "indent: expected a width from 0 to 1024");
    if (!json_is_string(value))
        RUN_FAIL(run, node, CLF_FORMAT, "indent of %s, expected a string", clfi_value_kind(value));
    clf_status st = clfi_str_append(&lines, json_string_value(value), json_string_length(value));
    if (st == CLF_OK)
        st = clfi_str_append_char(&lines, '\n');
    if (st == CLF_OK)
        st = append_indented(run, node, lines.data, lines.length, width ? (int)json_integer_value(width) : 4, is_first, &text);
    if (st == CLF_OK)
        st = clfi_value_of_text(clfi_str_text(&text), text.length, out);
    clfi_str_free(&text);
    clfi_str_free(&lines);
    return st;
}

static bool is_lazy(filter *call)
{
    return call == reverse || call == items || call == map || call == choose;
}

/* Runs a filter for which Jinja returns a generator. reverse returns a list for a generator, and a string for a string. */
static clf_status run_lazy(template_run *run, const template_node *node, filter *call, const json_t *value,
                           const template_arguments *arguments, json_t **out)
{
    const bool is_kept = call == reverse && clfi_list_kind_of(value) == CLF_LIST_GENERATOR;
    json_t *made = NULL, *list = NULL;
    CLF_TRY(call(run, node, value, arguments, &made));
    clf_status st = json_is_array(made) ? clfi_list_take(made, &list) : CLF_OK;
    if (st == CLF_OK && list && !is_kept)
        st = clfi_list_mark(list, CLF_LIST_GENERATOR);
    if (st == CLF_OK)
        *out = list ? json_incref(list) : json_incref(made);
    json_decref(list);
    json_decref(made);
    return st;
}

clf_status clfi_run_filter(template_run *run, const template_node *node, const json_t *value, const template_arguments *arguments,
                           json_t **out)
{
    static const struct {
        const char *name;
        filter *call;
    } rows[] = {{"trim", as_method},
                {"upper", as_method},
                {"lower", as_method},
                {"title", title},
                {"capitalize", as_method},
                {"replace", as_method},
                {"length", count},
                {"count", count},
                {"tojson", as_json},
                {"default", standard},
                {"d", standard},
                {"join", join},
                {"first", pick},
                {"last", pick},
                {"list", list},
                {"reverse", reverse},
                {"string", string},
                {"safe", string},
                {"int", number},
                {"float", number},
                {"abs", absolute},
                {"items", items},
                {"map", map},
                {"selectattr", choose},
                {"rejectattr", choose},
                {"select", choose},
                {"reject", choose},
                {"indent", indent},
                {"dictsort", clfi_run_order},
                {"sort", clfi_run_order},
                {"min", clfi_run_order},
                {"max", clfi_run_order}};
    for (size_t i = 0; i < COUNT(rows); i++)
        if (strcmp(rows[i].name, node->name) == 0)
            return is_lazy(rows[i].call) ? run_lazy(run, node, rows[i].call, value, arguments, out)
                                         : rows[i].call(run, node, value, arguments, out);
    RUN_FAIL(run, node, CLF_UNSUPPORTED, "filter \"%s\" is not supported", node->name);
}

/* --- tests ------------------------------------------------------------------------------------------------------------------------ */

static bool is_defined(const json_t *value)
{
    return value != NULL;
}
static bool is_undefined(const json_t *value)
{
    return value == NULL;
}
static bool is_none(const json_t *value)
{
    return json_is_null(value);
}
static bool is_string(const json_t *value)
{
    return json_is_string(value);
}
static bool is_mapping(const json_t *value)
{
    return json_is_object(value) && !clfi_value_special(value);
}
static bool is_iterable(const json_t *value)
{
    return !value || json_is_string(value) || json_is_array(value) || is_mapping(value) || clfi_value_special(value) == CLF_SPECIAL_LOOP;
}
static bool is_sequence(const json_t *value) /* it has a length and indices */
{
    const clf_list_kind kind = clfi_list_kind_of(value);
    return is_iterable(value) && !clfi_value_special(value) && (kind <= CLF_LIST_TUPLE || kind == CLF_LIST_RANGE);
}
static bool is_number(const json_t *value)
{
    return json_is_number(value) || json_is_boolean(value);
}
static bool is_integer(const json_t *value)
{
    return json_is_integer(value);
}
static bool is_float(const json_t *value)
{
    return json_is_real(value);
}
static bool is_boolean(const json_t *value)
{
    return json_is_boolean(value);
}
static bool is_true(const json_t *value)
{
    return json_is_true(value);
}
static bool is_false(const json_t *value)
{
    return json_is_false(value);
}

/* Runs eq, ne, in, divisibleby, odd, even ...; *is_known false: the test is none of them. */
static clf_status compare(template_run *run, const template_node *node, const char *name, const json_t *value, const json_t *other,
                          bool *is_known, bool *out)
{
    static const char *const equal[] = {"equalto", "eq", "==", "sameas"}, *const parity[] = {"odd", "even", "divisibleby"};
    static const struct {
        const char *name, *sign;
        int least, most;
    } orders[] = {{"lt", "<", -1, -1}, {"le", "<=", -1, 0},       {"gt", ">", 1, 1},
                  {"ge", ">=", 0, 1},  {"lessthan", "<", -1, -1}, {"greaterthan", ">", 1, 1}};
    int order;
    *is_known = true;
    CLF_TRY(clfi_run_weigh(run, node, value));
    CLF_TRY(clfi_run_weigh(run, node, other));
    for (size_t i = 0; i < COUNT(equal); i++) {
        if (strcmp(name, equal[i]) == 0) {
            const bool is_whole = json_is_array(value) || json_is_object(value); /* sameas asks for the same object */
            *out = name[0] == 's' && is_whole ? value == other : clfi_value_equal(value, other);
            *out = *out && (name[0] != 's' || strcmp(clfi_value_kind(value), clfi_value_kind(other)) == 0);
            return CLF_OK;
        }
    }
    if (strcmp(name, "ne") == 0 || strcmp(name, "!=") == 0) {
        *out = !clfi_value_equal(value, other);
        return CLF_OK;
    }
    if (strcmp(name, "in") == 0) {
        if (!clfi_value_contains(other, value, out))
            RUN_FAIL(run, node, CLF_FORMAT, "test in of %s: expected a string, list or dictionary that can hold it",
                     clfi_value_kind(other));
        return CLF_OK;
    }
    for (size_t i = 0; i < COUNT(orders); i++) {
        if (strcmp(name, orders[i].name) != 0 && strcmp(name, orders[i].sign) != 0)
            continue;
        if (!clfi_value_order(value, other, &order))
            RUN_FAIL(run, node, CLF_FORMAT, "test %s of %s and %s: these have no order", name, clfi_value_kind(value),
                     clfi_value_kind(other));
        *out = orders[i].least <= order && order <= orders[i].most;
        return CLF_OK;
    }
    for (size_t i = 0; i < COUNT(parity); i++) {
        if (strcmp(name, parity[i]) != 0)
            continue;
        const json_int_t by = i < 2 ? 2 : json_integer_value(other);
        if (!json_is_integer(value) || by == 0)
            RUN_FAIL(run, node, CLF_FORMAT, "test %s of %s: expected integers, the divisor not 0", name, clfi_value_kind(value));
        *out = (by == -1 || json_integer_value(value) % by == 0) != (i == 0);
        return CLF_OK;
    }
    *is_known = false;
    return CLF_OK;
}

clf_status clfi_run_test(template_run *run, const template_node *node, const char *name, const json_t *value,
                         const template_arguments *arguments, bool *out)
{
    static const struct {
        const char *name;
        bool (*is)(const json_t *value);
    } rows[] = {{"defined", is_defined}, {"undefined", is_undefined}, {"none", is_none},         {"string", is_string},
                {"mapping", is_mapping}, {"iterable", is_iterable},   {"sequence", is_sequence}, {"number", is_number},
                {"integer", is_integer}, {"float", is_float},         {"boolean", is_boolean},   {"true", is_true},
                {"false", is_false}};
    bool is_known;
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (strcmp(rows[i].name, name) == 0) {
            *out = rows[i].is(value);
            return CLF_OK;
        }
    }
    if (clfi_value_special(value))
        RUN_FAIL(run, node, CLF_UNSUPPORTED, "test %s of a %s is not supported", name, clfi_value_kind(value));
    CLF_TRY(compare(run, node, name, value, clfi_argument(arguments, 0, NULL), &is_known, out));
    if (!is_known)
        RUN_FAIL(run, node, CLF_UNSUPPORTED, "test \"%s\" is not supported", name);
    return CLF_OK;
}
