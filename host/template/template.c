/* SPDX-License-Identifier: MIT */
/* Parses, searches and frees templates. */
#include "template/template.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "template/syntax.h"

/* Turns \r\n and \r into \n, as Jinja does. Returns the new size. */
static size_t unify_newlines(char *text, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '\r' && i + 1 < size && text[i + 1] == '\n')
            continue;
        text[used++] = text[i] == '\r' ? '\n' : text[i];
    }
    text[used] = '\0';
    return used;
}

clf_status clfi_template_parse(const char *text, size_t size, const char *name, clf_template **out)
{
    clf_template *tpl;
    clf_status st;
    if (size > CLFI_TEMPLATE_MAX_BYTES)
        CLF_FAIL(CLF_FORMAT, "%s: expected at most %d bytes, found %zu", name, CLFI_TEMPLATE_MAX_BYTES, size);
    CLF_TRY(clfi_alloc(1, sizeof *tpl, "template", &tpl));
    CLF_GOTO(clfi_strdup(name, &tpl->name));
    CLF_GOTO(clfi_strndup(text, size, &tpl->source));
    CLF_GOTO(clfi_template_scan(tpl, unify_newlines(tpl->source, size)));
    CLF_GOTO(clfi_template_build(tpl));
    *out = tpl;
    return CLF_OK;
done:
    clfi_template_destroy(tpl);
    return st;
}

bool clfi_template_writes(const clf_template *tpl, const char *text, size_t size)
{
    for (size_t i = 0; i < tpl->token_count; i++) {
        const template_token *token = &tpl->tokens[i];
        const bool is_text = token->kind == TOKEN_TEXT, is_string = token->kind == TOKEN_STRING;
        if ((is_text && memmem(token->text, token->length, text, size)) ||
            (is_string && memmem(json_string_value(token->value), json_string_length(token->value), text, size)))
            return true;
    }
    return false;
}

static void free_node(template_node *node)
{
    for (size_t i = 0; i < node->name_count; i++)
        free(node->names[i]);
    free(node->names);
    free(node->items);
    free(node->name);
    json_decref(node->value);
    free(node);
}

void clfi_template_destroy(clf_template *tpl)
{
    if (!tpl)
        return;
    for (template_node *node = tpl->nodes, *next; node; node = next) {
        next = node->next;
        free_node(node);
    }
    for (size_t i = 0; i < tpl->token_count; i++)
        json_decref(tpl->tokens[i].value);
    free(tpl->tokens);
    free(tpl->source);
    free(tpl->name);
    free(tpl);
}
