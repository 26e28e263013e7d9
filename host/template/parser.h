/* SPDX-License-Identifier: MIT */
/* State and helpers of the parsers that build a chat template's syntax tree: the next token, nodes, and error messages. */
#ifndef CLFI_TEMPLATE_PARSER_H
#define CLFI_TEMPLATE_PARSER_H

#include "template/syntax.h"

typedef struct template_parser {
    clf_template *tpl;
    const template_token *at; /* the next token */
    int depth, loops;         /* what is open here: levels of nesting, loops */
} template_parser;

/* One level deeper; leave with depth--. FORMAT: too deep. */
clf_status clfi_parser_enter(template_parser *p);

/* A node of this line, owned by the template; and items and names (NULL: none in this place) added to one. */
clf_status clfi_parser_make(template_parser *p, template_node_kind kind, template_node **out);
clf_status clfi_parser_add_item(template_node *node, template_node *item);
clf_status clfi_parser_add_name(template_node *node, const template_token *name);
clf_status clfi_parser_set_name(template_node *node, const template_token *token);

/* Whether the next token (or the one given) is this operator or word; take_ goes past it where it is. */
bool clfi_parser_is_text(const template_token *token, template_token_kind kind, const char *text);
bool clfi_parser_is_sign(const template_parser *p, const char *sign);
bool clfi_parser_is_word(const template_parser *p, const char *word);
bool clfi_parser_take_sign(template_parser *p, const char *sign);
bool clfi_parser_take_word(template_parser *p, const char *word);

/* FORMAT "... line N: expected E, found F"; the same where another token than this is next. */
clf_status clfi_parser_fail(const template_parser *p, const char *expected);
clf_status clfi_parser_expect_sign(template_parser *p, const char *sign);
clf_status clfi_parser_take_name(template_parser *p, const char *expected, const template_token **out);

/* An expression; and one without `a if b` at its top, which a loop's own condition follows. */
clf_status clfi_parse_expression(template_parser *p, template_node **out);
clf_status clfi_parse_or(template_parser *p, template_node **out);

/* One such `part`, or a tuple of several with commas between. */
clf_status clfi_parse_tuple(template_parser *p, clf_status (*part)(template_parser *, template_node **), template_node **out);

#endif
