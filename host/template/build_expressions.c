/* SPDX-License-Identifier: MIT */
/* Parses expressions by recursive descent with Jinja's precedences. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "template/parser.h"

static clf_status parse_unary(template_parser *p, bool with_filters, template_node **out);

/* Parses arguments up to ")": positional ones first, then keyword=value. */
static clf_status parse_arguments(template_parser *p, template_node *node)
{
    while (!clfi_parser_take_sign(p, ")")) {
        template_node *value = NULL;
        const template_token *keyword = NULL;
        if (node->count)
            CLF_TRY(clfi_parser_expect_sign(p, ","));
        if (node->count && clfi_parser_take_sign(p, ")"))
            return CLF_OK;
        if (p->at->kind == TOKEN_NAME && clfi_parser_is_text(p->at + 1, TOKEN_SIGN, "=")) {
            keyword = p->at;
            p->at += 2;
        } else if (node->name_count && node->names[node->name_count - 1]) {
            return clfi_parser_fail(p, "a keyword argument");
        }
        CLF_TRY(clfi_parse_expression(p, &value));
        CLF_TRY(clfi_parser_add_item(node, value));
        CLF_TRY(clfi_parser_add_name(node, keyword));
    }
    return CLF_OK;
}

static clf_status parse_literal(template_parser *p, template_node **out)
{
    CLF_TRY(clfi_parser_make(p, NODE_LITERAL, out));
    if (p->at->kind != TOKEN_STRING) {
        (*out)->value = json_incref(p->at++->value);
        return CLF_OK;
    }
    clf_str text = CLF_STR_INIT;
    clf_status st = CLF_OK;
    for (; st == CLF_OK && p->at->kind == TOKEN_STRING; p->at++) /* adjacent strings are one string */
        st = clfi_str_append(&text, json_string_value(p->at->value), json_string_length(p->at->value));
    (*out)->value = st == CLF_OK ? json_stringn(clfi_str_text(&text), text.length) : NULL;
    clfi_str_free(&text);
    return st != CLF_OK || (*out)->value ? st : clfi_fail(CLF_OUT_OF_MEMORY, "out of memory: template");
}

static clf_status parse_list(template_parser *p, const char *closing, template_node *list)
{
    while (!clfi_parser_take_sign(p, closing)) {
        template_node *item = NULL;
        if (list->count)
            CLF_TRY(clfi_parser_expect_sign(p, ","));
        if (list->count && clfi_parser_take_sign(p, closing))
            return CLF_OK;
        CLF_TRY(clfi_parse_expression(p, &item));
        CLF_TRY(clfi_parser_add_item(list, item));
    }
    return CLF_OK;
}

static clf_status parse_dict(template_parser *p, template_node *dict)
{
    while (!clfi_parser_take_sign(p, "}")) {
        template_node *item = NULL;
        if (dict->count)
            CLF_TRY(clfi_parser_expect_sign(p, ","));
        if (dict->count && clfi_parser_take_sign(p, "}"))
            return CLF_OK;
        CLF_TRY(clfi_parse_expression(p, &item));
        CLF_TRY(clfi_parser_add_item(dict, item));
        CLF_TRY(clfi_parser_expect_sign(p, ":"));
        CLF_TRY(clfi_parse_expression(p, &item));
        CLF_TRY(clfi_parser_add_item(dict, item));
    }
    return CLF_OK;
}

static clf_status make_tuple(template_parser *p, template_node **out)
{
    CLF_TRY(clfi_parser_make(p, NODE_LIST, out));
    (*out)->flag = true;
    return CLF_OK;
}

/* Parses what follows "(": an expression in brackets, or a tuple. */
static clf_status parse_brackets(template_parser *p, template_node **out)
{
    if (!clfi_parser_is_sign(p, ")"))
        CLF_TRY(clfi_parse_tuple(p, clfi_parse_expression, out));
    else
        CLF_TRY(make_tuple(p, out));
    return clfi_parser_expect_sign(p, ")");
}

static clf_status parse_name(template_parser *p, template_node **out)
{
    static const struct {
        const char *name;
        json_t *(*make)(void);
    } constants[] = {{"true", json_true},   {"True", json_true}, {"false", json_false},
                     {"False", json_false}, {"none", json_null}, {"None", json_null}};
    for (size_t i = 0; i < COUNT(constants); i++) {
        if (clfi_parser_take_word(p, constants[i].name)) {
            CLF_TRY(clfi_parser_make(p, NODE_LITERAL, out));
            (*out)->value = constants[i].make();
            return CLF_OK;
        }
    }
    CLF_TRY(clfi_parser_make(p, NODE_NAME, out));
    return clfi_parser_set_name(*out, p->at++);
}

static clf_status parse_primary(template_parser *p, template_node **out)
{
    if (p->at->kind == TOKEN_STRING || p->at->kind == TOKEN_NUMBER)
        return parse_literal(p, out);
    if (p->at->kind == TOKEN_NAME)
        return parse_name(p, out);
    if (clfi_parser_take_sign(p, "("))
        return parse_brackets(p, out);
    if (clfi_parser_take_sign(p, "[")) {
        CLF_TRY(clfi_parser_make(p, NODE_LIST, out));
        return parse_list(p, "]", *out);
    }
    if (clfi_parser_take_sign(p, "{")) {
        CLF_TRY(clfi_parser_make(p, NODE_DICT, out));
        return parse_dict(p, *out);
    }
    return clfi_parser_fail(p, "an expression");
}

/* Parses what follows "[": an item or a slice. */
static clf_status parse_subscript(template_parser *p, template_node *of, template_node **out)
{
    template_node *parts[3] = {NULL, NULL, NULL};
    int part = 0;
    bool is_slice = false;
    CLF_TRY(clfi_parser_make(p, NODE_ITEM, out));
    while (!clfi_parser_is_sign(p, "]")) {
        if (part < 2 && clfi_parser_take_sign(p, ":")) {
            is_slice = true;
            part++;
            continue;
        }
        if (parts[part])
            return clfi_parser_fail(p, "\"]\"");
        CLF_TRY(clfi_parse_expression(p, &parts[part]));
    }
    if (!is_slice && !parts[0])
        return clfi_parser_fail(p, "an index");
    p->at++;
    (*out)->kind = is_slice ? NODE_SLICE : NODE_ITEM;
    (*out)->a = of;
    (*out)->b = parts[0];
    (*out)->c = parts[1];
    (*out)->d = parts[2];
    return CLF_OK;
}

static clf_status parse_attribute(template_parser *p, template_node *of, template_node **out)
{
    const template_token *name = NULL;
    if (p->at->kind == TOKEN_NUMBER) { /* a.0 is a[0] */
        CLF_TRY(clfi_parser_make(p, NODE_ITEM, out));
        (*out)->a = of;
        return parse_literal(p, &(*out)->b);
    }
    CLF_TRY(clfi_parser_take_name(p, "an attribute's name", &name));
    CLF_TRY(clfi_parser_make(p, clfi_parser_take_sign(p, "(") ? NODE_CALL : NODE_ATTRIBUTE, out));
    (*out)->a = of;
    CLF_TRY(clfi_parser_set_name(*out, name));
    return (*out)->kind == NODE_CALL ? parse_arguments(p, *out) : CLF_OK;
}

static clf_status parse_postfix(template_parser *p, template_node **node)
{
    for (;;) {
        template_node *made = *node;
        if (clfi_parser_take_sign(p, ".")) {
            CLF_TRY(parse_attribute(p, *node, &made));
        } else if (clfi_parser_take_sign(p, "[")) {
            CLF_TRY(parse_subscript(p, *node, &made));
        } else if (clfi_parser_is_sign(p, "(")) {
            if ((*node)->kind != NODE_NAME)
                CLF_FAIL(CLF_UNSUPPORTED, "%s line %d: a call of a value: expected a function, macro or method", p->tpl->name, p->at->line);
            p->at++;
            (*node)->kind = NODE_CALL;
            CLF_TRY(parse_arguments(p, *node));
        } else {
            return CLF_OK;
        }
        *node = made;
    }
}

/* Whether an argument without brackets follows a test's name: `is divisibleby 3`. */
static bool starts_argument(const template_parser *p)
{
    static const char *const words[] = {"else", "or", "and", "is", "if", "in", "not", "recursive"};
    if (p->at->kind == TOKEN_STRING || p->at->kind == TOKEN_NUMBER || clfi_parser_is_sign(p, "[") || clfi_parser_is_sign(p, "{"))
        return true;
    for (size_t i = 0; i < COUNT(words); i++)
        if (clfi_parser_is_word(p, words[i]))
            return false;
    return p->at->kind == TOKEN_NAME;
}

static clf_status parse_test(template_parser *p, template_node *of, template_node **out)
{
    const template_token *name = NULL;
    template_node *argument = NULL;
    CLF_TRY(clfi_parser_make(p, NODE_TEST, out));
    (*out)->a = of;
    (*out)->flag = clfi_parser_take_word(p, "not");
    CLF_TRY(clfi_parser_take_name(p, "a test's name", &name));
    CLF_TRY(clfi_parser_set_name(*out, name));
    if (clfi_parser_take_sign(p, "("))
        return parse_arguments(p, *out);
    if (!starts_argument(p))
        return CLF_OK;
    CLF_TRY(parse_primary(p, &argument));
    CLF_TRY(parse_postfix(p, &argument));
    CLF_TRY(clfi_parser_add_item(*out, argument));
    return clfi_parser_add_name(*out, NULL);
}

static clf_status parse_filter(template_parser *p, template_node *of, template_node **out)
{
    const template_token *name = NULL;
    CLF_TRY(clfi_parser_take_name(p, "a filter's name", &name));
    CLF_TRY(clfi_parser_make(p, NODE_FILTER, out));
    (*out)->a = of;
    CLF_TRY(clfi_parser_set_name(*out, name));
    return clfi_parser_take_sign(p, "(") ? parse_arguments(p, *out) : CLF_OK;
}

static clf_status parse_filters(template_parser *p, template_node **node)
{
    for (;;) {
        template_node *made = NULL;
        if (clfi_parser_take_sign(p, "|"))
            CLF_TRY(parse_filter(p, *node, &made));
        else if (clfi_parser_take_word(p, "is"))
            CLF_TRY(parse_test(p, *node, &made));
        else
            return CLF_OK;
        *node = made;
        CLF_TRY(parse_postfix(p, node));
    }
}

static clf_status parse_operand(template_parser *p, bool with_filters, template_node **out)
{
    if (clfi_parser_is_sign(p, "-") || clfi_parser_is_sign(p, "+")) {
        CLF_TRY(clfi_parser_make(p, NODE_UNARY, out));
        CLF_TRY(clfi_parser_set_name(*out, p->at++));
        CLF_TRY(parse_unary(p, false, &(*out)->a));
    } else {
        CLF_TRY(parse_primary(p, out));
    }
    CLF_TRY(parse_postfix(p, out));
    return with_filters ? parse_filters(p, out) : CLF_OK;
}

static clf_status parse_unary(template_parser *p, bool with_filters, template_node **out)
{
    CLF_TRY(clfi_parser_enter(p));
    const clf_status st = parse_operand(p, with_filters, out);
    p->depth--;
    return st;
}

static clf_status parse_power(template_parser *p, template_node **out)
{
    return parse_unary(p, true, out);
}

/* Parses left-associative operators of one rank, whose operands `above` parses. */
static clf_status parse_rank(template_parser *p, const char *const *signs, clf_status (*above)(template_parser *, template_node **),
                             template_node **out)
{
    CLF_TRY(above(p, out));
    for (;;) {
        const char *const *sign = signs;
        while (*sign && !clfi_parser_is_sign(p, *sign))
            sign++;
        if (!*sign)
            return CLF_OK;
        template_node *made = NULL;
        CLF_TRY(clfi_parser_make(p, NODE_BINARY, &made));
        CLF_TRY(clfi_parser_set_name(made, p->at++));
        made->a = *out;
        CLF_TRY(above(p, &made->b));
        *out = made;
    }
}

static clf_status parse_powers(template_parser *p, template_node **out)
{
    return parse_rank(p, (const char *const[]){"**", NULL}, parse_power, out);
}

static clf_status parse_product(template_parser *p, template_node **out)
{
    return parse_rank(p, (const char *const[]){"*", "/", "//", "%", NULL}, parse_powers, out);
}

static clf_status parse_concatenation(template_parser *p, template_node **out)
{
    return parse_rank(p, (const char *const[]){"~", NULL}, parse_product, out);
}

static clf_status parse_sum(template_parser *p, template_node **out)
{
    return parse_rank(p, (const char *const[]){"+", "-", NULL}, parse_concatenation, out);
}

/* Goes past the comparison operator at this place and returns it; NULL: there is none. */
static const char *take_comparison(template_parser *p)
{
    static const char *const signs[] = {"==", "!=", "<=", ">=", "<", ">"};
    for (size_t i = 0; i < COUNT(signs); i++)
        if (clfi_parser_take_sign(p, signs[i]))
            return signs[i];
    if (clfi_parser_take_word(p, "in"))
        return "in";
    if (clfi_parser_is_word(p, "not") && clfi_parser_is_text(p->at + 1, TOKEN_NAME, "in")) {
        p->at += 2;
        return "not in";
    }
    return NULL;
}

static clf_status parse_comparison(template_parser *p, template_node **out)
{
    const char *operation;
    CLF_TRY(parse_sum(p, out));
    template_node *made = NULL;
    while ((operation = take_comparison(p))) {
        template_node *operand = NULL;
        if (!made) {
            CLF_TRY(clfi_parser_make(p, NODE_COMPARE, &made));
            made->a = *out;
            *out = made;
        }
        CLF_TRY(parse_sum(p, &operand));
        CLF_TRY(clfi_parser_add_item(made, operand));
        CLF_TRY(clfi_parser_add_name(made, &(template_token){.text = operation, .length = strlen(operation)}));
    }
    return CLF_OK;
}

static clf_status parse_not(template_parser *p, template_node **out)
{
    if (!clfi_parser_is_word(p, "not"))
        return parse_comparison(p, out);
    CLF_TRY(clfi_parser_enter(p));
    CLF_TRY(clfi_parser_make(p, NODE_UNARY, out));
    CLF_TRY(clfi_parser_set_name(*out, p->at++));
    const clf_status st = parse_not(p, &(*out)->a);
    p->depth--;
    return st;
}

static clf_status parse_words(template_parser *p, const char *word, clf_status (*above)(template_parser *, template_node **),
                              template_node **out)
{
    CLF_TRY(above(p, out));
    while (clfi_parser_is_word(p, word)) {
        template_node *made = NULL;
        CLF_TRY(clfi_parser_make(p, NODE_BINARY, &made));
        CLF_TRY(clfi_parser_set_name(made, p->at++));
        made->a = *out;
        CLF_TRY(above(p, &made->b));
        *out = made;
    }
    return CLF_OK;
}

static clf_status parse_and(template_parser *p, template_node **out)
{
    return parse_words(p, "and", parse_not, out);
}

clf_status clfi_parse_or(template_parser *p, template_node **out)
{
    return parse_words(p, "or", parse_and, out);
}

static clf_status parse_condition(template_parser *p, template_node **out)
{
    CLF_TRY(clfi_parse_or(p, out));
    while (clfi_parser_take_word(p, "if")) {
        template_node *made = NULL;
        CLF_TRY(clfi_parser_make(p, NODE_CONDITION, &made));
        made->a = *out;
        *out = made;
        CLF_TRY(clfi_parse_or(p, &made->b));
        if (clfi_parser_take_word(p, "else"))
            CLF_TRY(clfi_parse_expression(p, &made->c));
    }
    return CLF_OK;
}

clf_status clfi_parse_expression(template_parser *p, template_node **out)
{
    CLF_TRY(clfi_parser_enter(p));
    const clf_status st = parse_condition(p, out);
    p->depth--;
    return st;
}

clf_status clfi_parse_tuple(template_parser *p, clf_status (*part)(template_parser *, template_node **), template_node **out)
{
    template_node *item = NULL;
    CLF_TRY(part(p, &item));
    *out = item;
    if (!clfi_parser_is_sign(p, ","))
        return CLF_OK;
    CLF_TRY(make_tuple(p, out));
    CLF_TRY(clfi_parser_add_item(*out, item));
    while (clfi_parser_take_sign(p, ",")) {
        if (clfi_parser_is_sign(p, ")") || p->at->kind == TOKEN_VAR_END || p->at->kind == TOKEN_TAG_END) /* a comma after the last */
            return CLF_OK;
        CLF_TRY(part(p, &item));
        CLF_TRY(clfi_parser_add_item(*out, item));
    }
    return CLF_OK;
}
