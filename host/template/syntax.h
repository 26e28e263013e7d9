/* SPDX-License-Identifier: MIT */
/* The tokens and the syntax tree of a template, and the functions that make them. */
#ifndef CLFI_TEMPLATE_SYNTAX_H
#define CLFI_TEMPLATE_SYNTAX_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "base/str.h"
#include "template/limits.h"

typedef enum template_token_kind {
    TOKEN_TEXT,      /* between tags */
    TOKEN_VAR_BEGIN, /* {{ */
    TOKEN_VAR_END,   /* }} */
    TOKEN_TAG_BEGIN, /* {% */
    TOKEN_TAG_END,   /* %} */
    TOKEN_NAME,
    TOKEN_STRING,
    TOKEN_NUMBER,
    TOKEN_SIGN, /* operators and brackets */
    TOKEN_END
} template_token_kind;

typedef struct template_token {
    template_token_kind kind;
    int line;
    const char *text; /* in the template's copy of the source; a TEXT's is trimmed */
    size_t length;
    json_t *value; /* of STRING and NUMBER; owned */
} template_token;

typedef enum template_node_kind {
    /* expressions; a, b, c: operands */
    NODE_LITERAL, /* value */
    NODE_NAME,
    NODE_LIST,      /* items */
    NODE_DICT,      /* items: key, value, key, value ... */
    NODE_ATTRIBUTE, /* a.name */
    NODE_ITEM,      /* a[b] */
    NODE_SLICE,     /* a[b:c:d]; absent parts NULL */
    NODE_CALL,      /* name(arguments), or a.name(arguments) where a is not NULL */
    NODE_FILTER,    /* a | name(arguments) */
    NODE_TEST,      /* a is name(arguments); flag: `is not` */
    NODE_UNARY,     /* name: "-", "+", "not" */
    NODE_BINARY,    /* a name b */
    NODE_COMPARE,   /* a, then items compared in turn by the operators `names` */
    NODE_CONDITION, /* a if b else c; c NULL: undefined */
    /* statements */
    NODE_BLOCK, /* items in turn; flag: variables that are set here end with it */
    NODE_TEXT,
    NODE_OUTPUT, /* a */
    NODE_IF,     /* a: condition, b: block, c: otherwise or NULL */
    NODE_FOR,    /* names: targets, a: iterable, d: condition or NULL, b: block, c: otherwise or NULL */
    NODE_SET,    /* name, or a.name where a is not NULL; b: expression, or c: block */
    NODE_MACRO,  /* name, names: parameters, items: their defaults or NULL, b: block */
    NODE_BREAK,
    NODE_CONTINUE
} template_node_kind;

typedef struct template_node template_node;
struct template_node {
    template_node_kind kind;
    int line;
    bool flag;
    char *name;
    json_t *value;
    template_node *a, *b, *c, *d;
    template_node **items; /* of a call, filter or test: its arguments */
    size_t count, capacity;
    char **names; /* keywords of the items (NULL: none); or as above */
    size_t name_count, name_capacity;
    template_node *next; /* list of all nodes of a template, to free them */
};

typedef struct clf_template {
    char *name;
    char *source;
    template_token *tokens;
    size_t token_count, token_capacity;
    template_node *root, *nodes;
} clf_template;

/* Cuts the first `size` bytes of the source into tokens. FORMAT: broken syntax. OUT_OF_MEMORY. */
clf_status clfi_template_scan(clf_template *tpl, size_t size);

/* Builds the tree of the tokens. FORMAT: broken syntax. UNSUPPORTED: a construct that is not supported. OUT_OF_MEMORY. */
clf_status clfi_template_build(clf_template *tpl);

#endif
