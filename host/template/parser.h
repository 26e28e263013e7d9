/* SPDX-License-Identifier: MIT */
/* State and helpers of the parsers that build a chat template's syntax tree: the next token, nodes, and error messages. */
#ifndef CLFI_TEMPLATE_PARSER_H
#define CLFI_TEMPLATE_PARSER_H

#include "template/syntax.h"

typedef struct template_parser {
    clf_template *tpl;
    const template_token *at; /* the next token */
    int depth, loops;         /* levels of nesting and loops that are open here */
} template_parser;

/* Goes one level deeper; leave it with depth--. FORMAT: too deep. */
clf_status clfi_parser_enter(template_parser *p);

/* Make a node with the line of the next token, which the template owns; add an item or a name to a node (name NULL: this item has none);
 * set a node's name. OUT_OF_MEMORY. */
clf_status clfi_parser_make(template_parser *p, template_node_kind kind, template_node **out);
clf_status clfi_parser_add_item(template_node *node, template_node *item);
clf_status clfi_parser_add_name(template_node *node, const template_token *name);
clf_status clfi_parser_set_name(template_node *node, const template_token *token);

/* Whether a token, or the next one, is this operator or word. The functions with "take" also go past it if it is. */
bool clfi_parser_is_text(const template_token *token, template_token_kind kind, const char *text);
bool clfi_parser_is_sign(const template_parser *p, const char *sign);
bool clfi_parser_is_word(const template_parser *p, const char *word);
bool clfi_parser_take_sign(template_parser *p, const char *sign);
bool clfi_parser_take_word(template_parser *p, const char *word);

/* fail: FORMAT "... line N: expected E, found F". expect_sign and take_name go past the next token, or fail so if it is another one. */
clf_status clfi_parser_fail(const template_parser *p, const char *expected);
clf_status clfi_parser_expect_sign(template_parser *p, const char *sign);
clf_status clfi_parser_take_name(template_parser *p, const char *expected, const template_token **out);

/* Parse an expression; parse_or stops before `a if b` at its top level, since a loop's own condition may follow there. */
clf_status clfi_parse_expression(template_parser *p, template_node **out);
clf_status clfi_parse_or(template_parser *p, template_node **out);

/* Parses one `part`, or a tuple of several parts with commas between them. */
clf_status clfi_parse_tuple(template_parser *p, clf_status (*part)(template_parser *, template_node **), template_node **out);

#endif
