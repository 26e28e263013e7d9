/* SPDX-License-Identifier: MIT */
/* Evaluates expressions of templates. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "template/list_kind.h"
#include "template/run.h"

json_t *clfi_run_find_variable(const template_run *run, const char *name)
{
    for (const template_scope *scope = run->scope; scope; scope = scope->outer) {
        json_t *found = json_object_get(scope->variables, name);
        if (found)
            return found;
    }
    return json_object_get(run->variables, name);
}

static bool is_function(const template_run *run, const template_node *node)
{
    return node->kind == NODE_NAME && !clfi_run_find_variable(run, node->name) &&
           (clfi_is_function(node->name) || clfi_run_find_macro(run, node->name));
}

static clf_status run_name(const template_run *run, const template_node *node, json_t **out)
{
    json_t *found = clfi_run_find_variable(run, node->name);
    if (!found)
        CLF_TRY(clfi_run_work(run, node, run->macro_count));
    if (is_function(run, node))
        RUN_FAIL(run, node, CLF_UNSUPPORTED, "the function %s without a call: expected %s(", node->name, node->name);
    *out = json_incref(clfi_value_read(found));
    return CLF_OK;
}

static clf_status make_list(template_run *run, const template_node *node, json_t **out)
{
    json_t *list = json_array();
    clf_status st = list ? CLF_OK : clfi_fail(CLF_OUT_OF_MEMORY, "out of memory: a template's list");
    for (size_t i = 0; st == CLF_OK && i < node->count; i++) {
        json_t *item = NULL;
        st = clfi_run_expression(run, node->items[i], &item);
        if (st == CLF_OK && json_array_append_new(list, clfi_value_stored(item)) != 0)
            st = clfi_fail(CLF_OUT_OF_MEMORY, "out of memory: a template's list");
    }
    if (st == CLF_OK && node->flag)
        st = clfi_list_mark(list, CLF_LIST_TUPLE);
    if (st == CLF_OK)
        *out = list;
    else
        json_decref(list);
    return st;
}

static clf_status make_dict(template_run *run, const template_node *node, json_t **out)
{
    json_t *dict = json_object();
    clf_status st = dict ? CLF_OK : clfi_fail(CLF_OUT_OF_MEMORY, "out of memory: a template's dictionary");
    for (size_t i = 0; st == CLF_OK && i < node->count; i += 2) {
        json_t *key = NULL, *value = NULL;
        template_key stored;
        st = clfi_run_expression(run, node->items[i], &key);
        if (st == CLF_OK && !json_is_string(key) && !json_is_integer(key))
            st = clfi_run_fail(run, node, CLF_UNSUPPORTED, "a dictionary's key is %s, expected string or integer", clfi_value_kind(key));
        if (st == CLF_OK)
            st = clfi_run_expression(run, node->items[i + 1], &value);
        if (st == CLF_OK && clfi_value_key(key, &stored) &&
            json_object_setn_new_nocheck(dict, stored.text, stored.length, clfi_value_stored(value)) != 0)
            st = clfi_fail(CLF_OUT_OF_MEMORY, "out of memory: a template's dictionary");
        json_decref(key);
    }
    if (st == CLF_OK)
        *out = dict;
    else
        json_decref(dict);
    return st;
}

/* One bound of a slice as Python clamps it. */
static json_int_t clamp_bound(const json_t *bound, json_int_t length, bool is_backward, json_int_t standard)
{
    if (!json_is_integer(bound))
        return standard;
    json_int_t at = json_integer_value(bound);
    if (at < 0)
        at = at < -length ? -1 : at + length;
    const json_int_t least = is_backward ? -1 : 0, most = is_backward ? length - 1 : length;
    if (json_integer_value(bound) < 0 && at < 0)
        return least;
    return at < least ? least : at > most ? most : at;
}

/* Whether elements have an index; those of views and generators have none. */
static bool has_places(clf_list_kind kind)
{
    return kind == CLF_LIST_LIST || kind == CLF_LIST_TUPLE || kind == CLF_LIST_RANGE;
}

static clf_status take_slice(const template_run *run, const template_node *node, const json_t *value, json_t *const bounds[3], json_t **out)
{
    size_t count;
    for (int i = 0; i < 3; i++)
        if (bounds[i] && !json_is_integer(bounds[i]) && !json_is_null(bounds[i]))
            RUN_FAIL(run, node, CLF_FORMAT, "a slice's bound is %s, expected integer", clfi_value_kind(bounds[i]));
    const clf_list_kind kind = clfi_list_kind_of(value);
    if ((!json_is_string(value) && !json_is_array(value)) || !has_places(kind) || !clfi_value_length(value, &count))
        RUN_FAIL(run, node, CLF_FORMAT, "a slice of %s, expected string or list", clfi_value_kind(value));
    const json_int_t step = json_is_integer(bounds[2]) ? json_integer_value(bounds[2]) : 1, length = (json_int_t)count;
    if (step == 0 || step == INT64_MIN)
        RUN_FAIL(run, node, CLF_FORMAT, "a slice with step %lld", (long long)step);
    const json_int_t first = clamp_bound(bounds[0], length, step < 0, step < 0 ? length - 1 : 0);
    const json_int_t last = clamp_bound(bounds[1], length, step < 0, step < 0 ? -1 : length);
    const json_int_t distance = step < 0 ? first - last : last - first, stride = step < 0 ? -step : step;
    const size_t taken = distance > 0 ? (size_t)((distance - 1) / stride + 1) : 0;
    if (json_is_string(value))
        return clfi_value_characters(value, taken ? (size_t)first : 0, taken, step, out);
    json_t *list = NULL;
    CLF_TRY(clfi_value_new(json_array(), &list));
    for (size_t i = 0; i < taken; i++)
        if (json_array_append(list, json_array_get(value, (size_t)(first + (json_int_t)i * step))) != 0) {
            json_decref(list);
            CLF_FAIL(CLF_OUT_OF_MEMORY, "out of memory: a template's list");
        }
    const clf_status st = clfi_list_mark(list, kind);
    if (st == CLF_OK)
        *out = list;
    else
        json_decref(list);
    return st;
}

static clf_status run_slice(template_run *run, const template_node *node, const json_t *value, json_t **out)
{
    const template_node *const parts[3] = {node->b, node->c, node->d};
    json_t *bounds[3] = {NULL, NULL, NULL};
    clf_status st = CLF_OK;
    for (int i = 0; st == CLF_OK && i < 3; i++)
        if (parts[i])
            st = clfi_run_expression(run, parts[i], &bounds[i]);
    if (st == CLF_OK && json_is_string(value))
        st = clfi_run_touch(run, node, value);
    if (st == CLF_OK)
        st = take_slice(run, node, value, bounds, out);
    for (int i = 0; i < 3; i++)
        json_decref(bounds[i]);
    return st;
}

static clf_status concatenate(const json_t *a, const json_t *b, json_t **out)
{
    clf_str text = CLF_STR_INIT;
    clf_status st = clfi_value_append(a, &text);
    if (st == CLF_OK)
        st = clfi_value_append(b, &text);
    if (st == CLF_OK && text.length > CLFI_TEMPLATE_MAX_OUTPUT)
        st = clfi_fail(CLF_FORMAT, "a value's text has more than %d bytes", CLFI_TEMPLATE_MAX_OUTPUT);
    if (st == CLF_OK)
        st = clfi_value_of_text(clfi_str_text(&text), text.length, out);
    clfi_str_free(&text);
    return st;
}

/* a + b of two strings or two lists; *is_done false for other kinds. */
static clf_status join(const json_t *a, const json_t *b, bool *is_done, json_t **out)
{
    json_t *list = NULL;
    *is_done = true;
    if (json_is_string(a) && json_is_string(b))
        return concatenate(a, b, out);
    const clf_list_kind kind = clfi_list_kind_of(a);
    *is_done = json_is_array(a) && json_is_array(b) && kind <= CLF_LIST_TUPLE && kind == clfi_list_kind_of(b);
    if (!*is_done)
        return CLF_OK;
    CLF_TRY(clfi_list_take(a, &list));
    if (json_array_extend(list, (json_t *)b) != 0) { /* the mark of b comes along */
        json_decref(list);
        CLF_FAIL(CLF_OUT_OF_MEMORY, "out of memory: a template's list");
    }
    *out = list;
    return CLF_OK;
}

/* A string or list, `count` times; *is_done false for other kinds. */
static clf_status repeat(const template_run *run, const template_node *node, const json_t *part, const json_t *count, bool *is_done,
                         json_t **out)
{
    json_t *list = NULL;
    clf_str text = CLF_STR_INIT;
    clf_status st = CLF_OK;
    json_t *once = NULL;
    const clf_list_kind kind = clfi_list_kind_of(part);
    *is_done = json_is_integer(count) && kind <= CLF_LIST_TUPLE && (json_is_string(part) || json_is_array(part));
    if (!*is_done)
        return CLF_OK;
    const json_int_t times = json_integer_value(count);
    const size_t size = json_is_string(part) ? json_string_length(part) : clfi_list_count(part);
    if (times > 0 && size > 0 && (size_t)times > CLFI_TEMPLATE_MAX_ELEMENTS / size)
        RUN_FAIL(run, node, CLF_FORMAT, "%s * %lld: more than %d bytes or elements", clfi_value_kind(part), (long long)times,
                 CLFI_TEMPLATE_MAX_ELEMENTS);
    CLF_TRY(json_is_string(part) ? CLF_OK : clfi_value_new(json_array(), &list));
    st = list ? clfi_list_take(part, &once) : CLF_OK;
    for (json_int_t i = 0; st == CLF_OK && size > 0 && i < times; i++)
        st = !list                                ? clfi_value_append(part, &text)
             : json_array_extend(list, once) == 0 ? CLF_OK
                                                  : clfi_fail(CLF_OUT_OF_MEMORY, "out of memory: a template's list");
    json_decref(once);
    if (st == CLF_OK && list)
        st = clfi_list_mark(list, kind);
    else if (st == CLF_OK)
        st = clfi_value_of_text(clfi_str_text(&text), text.length, &list);
    clfi_str_free(&text);
    if (st == CLF_OK)
        *out = list;
    else
        json_decref(list);
    return st;
}

static clf_status integers(const template_run *run, const template_node *node, char sign, bool is_double, json_int_t a, json_int_t b,
                           json_t **out)
{
    json_int_t result = 0;
    bool overflows = false;
    if ((sign == '/' || sign == '%') && b == 0)
        RUN_FAIL(run, node, CLF_FORMAT, "division by zero");
    if (sign == '/' && !is_double)
        return clfi_value_new(json_real((double)a / (double)b), out);
    if (sign == '+')
        overflows = __builtin_add_overflow(a, b, &result);
    else if (sign == '-')
        overflows = __builtin_sub_overflow(a, b, &result);
    else if (sign == '*' && !is_double)
        overflows = __builtin_mul_overflow(a, b, &result);
    else if ((sign == '/' || sign == '%') && b == -1)
        overflows = sign == '/' && __builtin_sub_overflow((json_int_t)0, a, &result);
    else if (sign == '/')
        result = a / b - (a % b != 0 && (a % b < 0) != (b < 0));
    else if (sign == '%')
        result = a % b + (a % b != 0 && (a % b < 0) != (b < 0) ? b : 0);
    else if (b < 0)
        return clfi_value_new(json_real(pow((double)a, (double)b)), out);
    else if (a >= -1 && a <= 1)
        result = b == 0 || a == 1 || (a == -1 && b % 2 == 0) ? 1 : a;
    else
        for (result = 1; b > 0 && !overflows; b--)
            overflows = __builtin_mul_overflow(result, a, &result);
    if (overflows)
        RUN_FAIL(run, node, CLF_FORMAT, "an integer beyond 64 bits");
    return clfi_value_new(json_integer(result), out);
}

/* Python's x // y and x % y: the remainder is exact and has the sign of y. */
static double divide_down(double x, double y, double *remainder)
{
    double rest = fmod(x, y), quotient = (x - rest) / y;
    if (rest != 0 && (rest < 0) != (y < 0)) {
        rest += y;
        quotient -= 1;
    }
    *remainder = rest != 0 ? rest : copysign(0, y);
    if (quotient == 0)
        return copysign(0, x / y);
    return floor(quotient) + (quotient - floor(quotient) > 0.5);
}

static double divide(char sign, bool is_double, double x, double y)
{
    double remainder;
    if (sign == '/' && !is_double)
        return x / y;
    const double quotient = divide_down(x, y, &remainder);
    return sign == '/' ? quotient : remainder;
}

static bool is_safe(const template_node *node)
{
    return node->kind == NODE_FILTER && strcmp(node->name, "safe") == 0;
}

static clf_status calculate(const template_run *run, const template_node *node, const json_t *a, const json_t *b, json_t **out)
{
    const char sign = node->name[0];
    const bool is_double = node->name[1] != '\0'; /* ** and // */
    bool is_done;
    double x, y;
    if (sign == '~')
        return concatenate(a, b, out);
    if (sign == '+') {
        if (is_safe(node->a) || is_safe(node->b))
            RUN_FAIL(run, node, CLF_UNSUPPORTED, "+ of a safe text, which Jinja takes for HTML, is not supported (use ~)");
        CLF_TRY(join(a, b, &is_done, out));
        if (is_done)
            return CLF_OK;
    }
    if (sign == '*' && !is_double) {
        const bool is_first = json_is_string(a) || json_is_array(a);
        CLF_TRY(repeat(run, node, is_first ? a : b, is_first ? b : a, &is_done, out));
        if (is_done)
            return CLF_OK;
    }
    if (!clfi_value_number(a, &x) || !clfi_value_number(b, &y))
        RUN_FAIL(run, node, CLF_FORMAT, "%s %s %s: expected numbers%s", clfi_value_kind(a), node->name, clfi_value_kind(b),
                 sign == '+' ? ", two strings or two lists" : "");
    if (!json_is_real(a) && !json_is_real(b)) {
        const json_int_t i = json_is_integer(a) ? json_integer_value(a) : (json_int_t)x,
                         j = json_is_integer(b) ? json_integer_value(b) : (json_int_t)y;
        return integers(run, node, sign, is_double, i, j, out);
    }
    if ((sign == '/' || sign == '%') && y == 0)
        RUN_FAIL(run, node, CLF_FORMAT, "division by zero");
    const double result = sign == '+'   ? x + y
                          : sign == '-' ? x - y
                          : sign == '*' ? (is_double ? pow(x, y) : x * y)
                                        : divide(sign, is_double, x, y);
    if (!isfinite(result))
        RUN_FAIL(run, node, CLF_FORMAT, "a number that is not finite");
    return clfi_value_new(json_real(result), out);
}

static clf_status run_binary(template_run *run, const template_node *node, json_t **out)
{
    json_t *a = NULL, *b = NULL;
    if (node->name[0] == 'a' || node->name[0] == 'o') { /* and, or: the operand that decided */
        CLF_TRY(clfi_run_any(run, node->a, &a));
        if (clfi_value_is_true(a) == (node->name[0] == 'o')) {
            *out = a;
            return CLF_OK;
        }
        json_decref(a);
        return clfi_run_any(run, node->b, out);
    }
    CLF_TRY(clfi_run_expression(run, node->a, &a));
    clf_status st = clfi_run_expression(run, node->b, &b);
    if (st == CLF_OK)
        st = calculate(run, node, a, b, out);
    json_decref(a);
    json_decref(b);
    return st;
}

static clf_status run_unary(template_run *run, const template_node *node, json_t **out)
{
    json_t *a = NULL;
    double x;
    CLF_TRY((node->name[0] == 'n' ? clfi_run_any : clfi_run_expression)(run, node->a, &a));
    clf_status st;
    if (node->name[0] == 'n')
        st = clfi_value_new(json_boolean(!clfi_value_is_true(a)), out);
    else if (!clfi_value_number(a, &x))
        st = clfi_run_fail(run, node, CLF_FORMAT, "%s of %s, expected a number", node->name, clfi_value_kind(a));
    else if (json_is_real(a))
        st = clfi_value_new(json_real(node->name[0] == '-' ? -x : x), out);
    else
        st = integers(run, node, node->name[0], false, 0, json_is_integer(a) ? json_integer_value(a) : (json_int_t)x, out);
    json_decref(a);
    return st;
}

static clf_status compare(const template_run *run, const template_node *node, const char *operation, const json_t *a, const json_t *b,
                          bool *out)
{
    int order;
    CLF_TRY(clfi_run_weigh(run, node, a));
    CLF_TRY(json_is_object(b) && operation[0] != '=' && operation[0] != '!' ? CLF_OK : clfi_run_weigh(run, node, b));
    if (strcmp(operation, "==") == 0 || strcmp(operation, "!=") == 0) {
        *out = clfi_value_equal(a, b) == (operation[0] == '=');
        return CLF_OK;
    }
    if (operation[0] == 'i' || operation[0] == 'n') {
        if (!clfi_value_contains(b, a, out))
            RUN_FAIL(run, node, CLF_FORMAT, "%s %s %s: expected a string, list or dictionary that can hold it on the right",
                     clfi_value_kind(a), operation, clfi_value_kind(b));
        *out = *out == (operation[0] == 'i');
        return CLF_OK;
    }
    if (!clfi_value_order(a, b, &order))
        RUN_FAIL(run, node, CLF_FORMAT, "%s %s %s: these have no order", clfi_value_kind(a), operation, clfi_value_kind(b));
    *out = (operation[0] == '<' ? order < 0 : order > 0) || (operation[1] == '=' && order == 0);
    return CLF_OK;
}

static clf_status run_compare(template_run *run, const template_node *node, json_t **out)
{
    json_t *left = NULL, *right = NULL;
    bool result = true;
    clf_status st = clfi_run_expression(run, node->a, &left);
    for (size_t i = 0; st == CLF_OK && result && i < node->count; i++) {
        st = clfi_run_expression(run, node->items[i], &right);
        if (st == CLF_OK)
            st = compare(run, node, node->names[i], left, right, &result);
        json_decref(left);
        left = right;
        right = NULL;
    }
    json_decref(left);
    return st == CLF_OK ? clfi_value_new(json_boolean(result), out) : st;
}

static clf_status run_condition(template_run *run, const template_node *node, json_t **out)
{
    json_t *condition = NULL;
    CLF_TRY(clfi_run_any(run, node->b, &condition));
    const bool is_true = clfi_value_is_true(condition);
    json_decref(condition);
    if (is_true)
        return clfi_run_any(run, node->a, out);
    *out = NULL;
    return node->c ? clfi_run_any(run, node->c, out) : CLF_OK;
}

/* The macro that a call names; NULL: it names none. */
static const template_macro *find_macro(const template_run *run, const template_node *node)
{
    return node->kind == NODE_CALL && !node->a ? clfi_run_find_macro(run, node->name) : NULL;
}

static clf_status call(template_run *run, const template_node *node, const json_t *value, const template_arguments *arguments, json_t **out)
{
    bool result = false;
    switch (node->kind) {
    case NODE_FILTER:
        return clfi_run_filter(run, node, value, arguments, out);
    case NODE_TEST:
        if (is_function(run, node->a))
            result = strcmp(node->name, "defined") == 0 || strcmp(node->name, "callable") == 0;
        else
            CLF_TRY(clfi_run_test(run, node, node->name, value, arguments, &result));
        return clfi_value_new(json_boolean(result != node->flag), out);
    default:
        if (node->a)
            return clfi_run_method(run, node, value, arguments, out);
        if (clfi_run_find_variable(run, node->name))
            RUN_FAIL(run, node, CLF_FORMAT, "a call of the variable \"%s\": expected a function, macro or method", node->name);
        return find_macro(run, node) ? run->call_macro(run, node, find_macro(run, node), arguments, out)
                                     : clfi_run_function(run, node, arguments, out);
    }
}

/* Runs calls, filters and tests: evaluates the value they work on and their arguments first. */
static clf_status run_call(template_run *run, const template_node *node, json_t **out)
{
    template_arguments arguments = {NULL, node->names, 0};
    json_t *value = NULL;
    clf_status st = CLF_OK;
    CLF_TRY(clfi_run_work(run, node, node->kind != NODE_FILTER ? run->macro_count : 0));
    if (node->a && !(node->kind == NODE_TEST && is_function(run, node->a)))
        CLF_TRY((node->kind == NODE_FILTER ? clfi_run_expression : clfi_run_any)(run, node->a, &value));
    st = clfi_alloc(node->count, sizeof *arguments.values, "template arguments", &arguments.values);
    for (; st == CLF_OK && arguments.count < node->count; arguments.count++)
        st = (find_macro(run, node) ? clfi_run_any : clfi_run_expression)(run, node->items[arguments.count],
                                                                          &arguments.values[arguments.count]);
    if (st == CLF_OK && !json_is_array(value)) /* code that reads a list's elements counts them itself */
        st = clfi_run_touch(run, node, value);
    for (size_t i = 0; st == CLF_OK && i < arguments.count; i++)
        st = json_is_array(arguments.values[i]) ? CLF_OK : clfi_run_touch(run, node, arguments.values[i]);
    if (st == CLF_OK)
        st = call(run, node, value, &arguments, out);
    for (size_t i = 0; i < arguments.count; i++)
        json_decref(arguments.values[i]);
    free(arguments.values);
    json_decref(value);
    return st;
}

/* a.name, a[b] and a[b:c:d]. */
static clf_status run_part(template_run *run, const template_node *node, json_t **out)
{
    json_t *value = NULL, *index = NULL;
    clf_status st;
    CLF_TRY(clfi_run_any(run, node->a, &value));
    if (node->kind == NODE_ATTRIBUTE) {
        st = clfi_run_attribute(run, node, value, node->name, out);
    } else if (node->kind == NODE_SLICE) {
        st = run_slice(run, node, value, out);
    } else {
        st = clfi_run_expression(run, node->b, &index);
        if (st == CLF_OK)
            st = clfi_run_item(run, node, value, index, out);
        json_decref(index);
    }
    json_decref(value);
    return st;
}

static clf_status evaluate(template_run *run, const template_node *node, json_t **out)
{
    switch (node->kind) {
    case NODE_LITERAL:
        *out = json_incref(node->value);
        return CLF_OK;
    case NODE_NAME:
        return run_name(run, node, out);
    case NODE_LIST:
        return make_list(run, node, out);
    case NODE_DICT:
        return make_dict(run, node, out);
    case NODE_ATTRIBUTE:
    case NODE_ITEM:
    case NODE_SLICE:
        return run_part(run, node, out);
    case NODE_CALL:
    case NODE_FILTER:
    case NODE_TEST:
        return run_call(run, node, out);
    case NODE_UNARY:
        return run_unary(run, node, out);
    case NODE_BINARY:
        return run_binary(run, node, out);
    case NODE_COMPARE:
        return run_compare(run, node, out);
    case NODE_CONDITION:
        return run_condition(run, node, out);
    default:
        RUN_FAIL(run, node, CLF_INTERNAL, "a statement where an expression belongs");
    }
}

clf_status clfi_run_expression(template_run *run, const template_node *node, json_t **out)
{
    CLF_TRY(clfi_run_any(run, node, out));
    if (!clfi_value_special(*out))
        return CLF_OK;
    const char *const name = node->name ? node->name : "an item";
    const clf_special special = clfi_value_special(*out);
    json_decref(*out);
    *out = NULL;
    if (special == CLF_SPECIAL_METHOD)
        RUN_FAIL(run, node, CLF_UNSUPPORTED, "%s without a call is a method: expected %s() or [\"%s\"]", name, name, name);
    RUN_FAIL(run, node, CLF_UNSUPPORTED, "%s is a %s: expected one of its attributes", name, clfi_special_name(special));
}

clf_status clfi_run_any(template_run *run, const template_node *node, json_t **out)
{
    CLF_TRY(clfi_run_enter(run, node));
    clf_status st = evaluate(run, node, out);
    run->depth--;
    if (st == CLF_OK && node->kind >= NODE_LIST && node->kind != NODE_ATTRIBUTE && node->kind != NODE_ITEM) /* the value is a new one */
        st = clfi_run_touch(run, node, *out);
    if (st == CLF_OK && json_array_size(*out) > CLFI_TEMPLATE_MAX_ELEMENTS)
        st = clfi_run_fail(run, node, CLF_FORMAT, "a list of more than %d elements", CLFI_TEMPLATE_MAX_ELEMENTS);
    if (st != CLF_OK) {
        json_decref(*out);
        *out = NULL;
    }
    return st;
}
