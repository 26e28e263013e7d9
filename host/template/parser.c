/* SPDX-License-Identifier: MIT */
/* Steps over the tokens of a chat template and makes nodes of its syntax tree, for the parsers of statements and of expressions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "template/parser.h"

clf_status clfi_parser_enter(template_parser *p)
{
    if (++p->depth > CLFI_TEMPLATE_MAX_DEPTH)
        CLF_FAIL(CLF_FORMAT, "%s line %d: expected at most %d nested expressions and statements", p->tpl->name, p->at->line,
                 CLFI_TEMPLATE_MAX_DEPTH);
    return CLF_OK;
}

clf_status clfi_parser_make(template_parser *p, template_node_kind kind, template_node **out)
{
    template_node *node = NULL;
    CLF_TRY(clfi_alloc(1, sizeof *node, "template", &node));
    node->kind = kind;
    node->line = p->at->line;
    node->next = p->tpl->nodes;
    p->tpl->nodes = node;
    *out = node;
    return CLF_OK;
}

clf_status clfi_parser_add_item(template_node *node, template_node *item)
{
    CLF_TRY(clfi_grow(&node->items, &node->capacity, node->count + 1, sizeof *node->items, "template"));
    node->items[node->count++] = item;
    return CLF_OK;
}

/* name NULL: the item has no name, such as a positional argument. */
clf_status clfi_parser_add_name(template_node *node, const template_token *name)
{
    CLF_TRY(clfi_grow(&node->names, &node->name_capacity, node->name_count + 1, sizeof *node->names, "template"));
    node->names[node->name_count] = NULL;
    if (name)
        CLF_TRY(clfi_strndup(name->text, name->length, &node->names[node->name_count]));
    node->name_count++;
    return CLF_OK;
}

bool clfi_parser_is_text(const template_token *token, template_token_kind kind, const char *text)
{
    return token->kind == kind && token->length == strlen(text) && memcmp(token->text, text, token->length) == 0;
}

bool clfi_parser_is_sign(const template_parser *p, const char *sign)
{
    return clfi_parser_is_text(p->at, TOKEN_SIGN, sign);
}

bool clfi_parser_is_word(const template_parser *p, const char *word)
{
    return clfi_parser_is_text(p->at, TOKEN_NAME, word);
}

bool clfi_parser_take_sign(template_parser *p, const char *sign)
{
    const bool is = clfi_parser_is_sign(p, sign);
    p->at += is;
    return is;
}

bool clfi_parser_take_word(template_parser *p, const char *word)
{
    const bool is = clfi_parser_is_word(p, word);
    p->at += is;
    return is;
}

clf_status clfi_parser_fail(const template_parser *p, const char *expected)
{
    const template_token *t = p->at;
    static const char *const kinds[] = {"text", "\"{{\"", "\"}}\"", "\"{%\"", "\"%}\"", NULL, NULL, NULL, NULL, "the end of the template"};
    if (kinds[t->kind])
        CLF_FAIL(CLF_FORMAT, "%s line %d: expected %s, found %s", p->tpl->name, t->line, expected, kinds[t->kind]);
    CLF_FAIL(CLF_FORMAT, "%s line %d: expected %s, found \"%.*s\"", p->tpl->name, t->line, expected, (int)(t->length < 60 ? t->length : 60),
             t->text);
}

clf_status clfi_parser_expect_sign(template_parser *p, const char *sign)
{
    char expected[16];
    if (clfi_parser_take_sign(p, sign))
        return CLF_OK;
    snprintf(expected, sizeof expected, "\"%s\"", sign);
    return clfi_parser_fail(p, expected);
}

clf_status clfi_parser_take_name(template_parser *p, const char *expected, const template_token **out)
{
    if (p->at->kind != TOKEN_NAME)
        return clfi_parser_fail(p, expected);
    *out = p->at++;
    return CLF_OK;
}

clf_status clfi_parser_set_name(template_node *node, const template_token *token)
{
    return clfi_strndup(token->text, token->length, &node->name);
}
