/* SPDX-License-Identifier: MIT */
/* Parses the statements of a template, and with them the whole tree. */
#include <string.h>

#include "template/parser.h"
#include "template/value.h"

static clf_status parse_block(template_parser *p, const char *const *ends, template_node **out);

static clf_status end_tag(template_parser *p)
{
    if (p->at->kind != TOKEN_TAG_END)
        return clfi_parser_fail(p, "\"%}\"");
    p->at++;
    return CLF_OK;
}

/* Reads the rest of "{% word %}" at the end of a block; parse_block stops before the word. */
static clf_status end_block(template_parser *p, const char *word)
{
    if (!clfi_parser_take_word(p, word))
        return clfi_parser_fail(p, word);
    return end_tag(p);
}

/* Parses an if from its condition on: the block, then elif, else or endif. */
static clf_status parse_if(template_parser *p, template_node **out)
{
    static const char *const ends[] = {"elif", "else", "endif", NULL};
    CLF_TRY(clfi_parser_make(p, NODE_IF, out));
    CLF_TRY(clfi_parse_expression(p, &(*out)->a));
    CLF_TRY(end_tag(p));
    CLF_TRY(parse_block(p, ends, &(*out)->b));
    if (clfi_parser_take_word(p, "elif")) {
        CLF_TRY(clfi_parser_enter(p));
        const clf_status st = parse_if(p, &(*out)->c);
        p->depth--;
        return st;
    }
    if (clfi_parser_take_word(p, "else")) {
        CLF_TRY(end_tag(p));
        CLF_TRY(parse_block(p, ends + 2, &(*out)->c));
    }
    return end_block(p, "endif");
}

static clf_status parse_targets(template_parser *p, template_node *node)
{
    const bool has_brackets = clfi_parser_take_sign(p, "(");
    do {
        const template_token *name = NULL;
        CLF_TRY(clfi_parser_take_name(p, "a variable's name", &name));
        CLF_TRY(clfi_parser_add_name(node, name));
    } while (clfi_parser_take_sign(p, ","));
    return has_brackets ? clfi_parser_expect_sign(p, ")") : CLF_OK;
}

static clf_status parse_for(template_parser *p, template_node **out)
{
    static const char *const ends[] = {"else", "endfor", NULL};
    CLF_TRY(clfi_parser_make(p, NODE_FOR, out));
    CLF_TRY(parse_targets(p, *out));
    if (!clfi_parser_take_word(p, "in"))
        return clfi_parser_fail(p, "\"in\"");
    CLF_TRY(clfi_parse_tuple(p, clfi_parse_or, &(*out)->a));
    if (clfi_parser_take_word(p, "if"))
        CLF_TRY(clfi_parse_expression(p, &(*out)->d));
    if (clfi_parser_is_word(p, "recursive"))
        CLF_FAIL(CLF_UNSUPPORTED, "%s line %d: recursive loops are not supported", p->tpl->name, p->at->line);
    CLF_TRY(end_tag(p));
    p->loops++;
    CLF_TRY(parse_block(p, ends, &(*out)->b));
    p->loops--;
    if (clfi_parser_take_word(p, "else")) {
        CLF_TRY(end_tag(p));
        CLF_TRY(parse_block(p, ends + 1, &(*out)->c));
        (*out)->c->flag = true;
    }
    return end_block(p, "endfor");
}

static clf_status parse_set(template_parser *p, template_node **out)
{
    const template_token *name = NULL;
    CLF_TRY(clfi_parser_make(p, NODE_SET, out));
    CLF_TRY(clfi_parser_take_name(p, "a variable's name", &name));
    if (clfi_parser_take_sign(p, ".")) {
        CLF_TRY(clfi_parser_make(p, NODE_NAME, &(*out)->a));
        CLF_TRY(clfi_parser_set_name((*out)->a, name));
        CLF_TRY(clfi_parser_take_name(p, "an attribute's name", &name));
    }
    CLF_TRY(clfi_parser_set_name(*out, name));
    if (clfi_parser_take_sign(p, "=")) {
        CLF_TRY(clfi_parse_tuple(p, clfi_parse_expression, &(*out)->b));
        return end_tag(p);
    }
    if (clfi_parser_is_sign(p, "|") || clfi_parser_is_sign(p, ","))
        CLF_FAIL(CLF_UNSUPPORTED, "%s line %d: set with filters or several variables is not supported", p->tpl->name, p->at->line);
    CLF_TRY(end_tag(p));
    CLF_TRY(parse_block(p, (const char *const[]){"endset", NULL}, &(*out)->c));
    (*out)->c->flag = true;
    return end_block(p, "endset");
}

static clf_status parse_macro(template_parser *p, template_node **out)
{
    const template_token *name = NULL;
    const int loops = p->loops;
    CLF_TRY(clfi_parser_make(p, NODE_MACRO, out));
    CLF_TRY(clfi_parser_take_name(p, "a macro's name", &name));
    CLF_TRY(clfi_parser_set_name(*out, name));
    CLF_TRY(clfi_parser_expect_sign(p, "("));
    while (!clfi_parser_take_sign(p, ")")) {
        template_node *standard = NULL;
        if ((*out)->count)
            CLF_TRY(clfi_parser_expect_sign(p, ","));
        CLF_TRY(clfi_parser_take_name(p, "a parameter's name", &name));
        CLF_TRY(clfi_parser_add_name(*out, name));
        if (clfi_parser_take_sign(p, "="))
            CLF_TRY(clfi_parse_expression(p, &standard));
        else if ((*out)->count && (*out)->items[(*out)->count - 1])
            return clfi_parser_fail(p, "\"=\", a default like that of the parameter before");
        CLF_TRY(clfi_parser_add_item(*out, standard));
    }
    CLF_TRY(end_tag(p));
    p->loops = 0;
    CLF_TRY(parse_block(p, (const char *const[]){"endmacro", NULL}, &(*out)->b));
    p->loops = loops;
    return end_block(p, "endmacro");
}

static clf_status parse_jump(template_parser *p, template_node_kind kind, template_node **out)
{
    if (p->loops == 0)
        CLF_FAIL(CLF_FORMAT, "%s line %d: %s outside of a loop", p->tpl->name, p->at->line, kind == NODE_BREAK ? "break" : "continue");
    CLF_TRY(clfi_parser_make(p, kind, out));
    return end_tag(p);
}

static clf_status parse_generation(template_parser *p, template_node **out)
{
    const int loops = p->loops;
    CLF_TRY(end_tag(p));
    p->loops = 0; /* the block is a function in Jinja: no loop around it can be left there */
    CLF_TRY(parse_block(p, (const char *const[]){"endgeneration", NULL}, out));
    p->loops = loops;
    (*out)->flag = true;
    return end_block(p, "endgeneration");
}

static clf_status parse_statement(template_parser *p, template_node **out)
{
    if (clfi_parser_take_word(p, "if"))
        return parse_if(p, out);
    if (clfi_parser_take_word(p, "for"))
        return parse_for(p, out);
    if (clfi_parser_take_word(p, "set"))
        return parse_set(p, out);
    if (clfi_parser_take_word(p, "macro"))
        return parse_macro(p, out);
    if (clfi_parser_take_word(p, "break"))
        return parse_jump(p, NODE_BREAK, out);
    if (clfi_parser_take_word(p, "continue"))
        return parse_jump(p, NODE_CONTINUE, out);
    if (clfi_parser_take_word(p, "generation"))
        return parse_generation(p, out);
    if (p->at->kind != TOKEN_NAME)
        return clfi_parser_fail(p, "a statement");
    CLF_FAIL(CLF_UNSUPPORTED,
             "%s line %d: statement \"%.*s\" is not supported: expected if, for, set, macro, break, continue, generation or raw",
             p->tpl->name, p->at->line, (int)(p->at->length < 60 ? p->at->length : 60), p->at->text);
}

static bool is_end(const template_parser *p, const char *const *ends)
{
    for (; *ends; ends++)
        if (clfi_parser_is_word(p, *ends))
            return true;
    return false;
}

static clf_status parse_piece(template_parser *p, template_node **out)
{
    if (p->at->kind == TOKEN_TEXT) {
        CLF_TRY(clfi_parser_make(p, NODE_TEXT, out));
        const clf_status st = clfi_value_of_text(p->at->text, p->at->length, &(*out)->value);
        if (st != CLF_OK) {
            clfi_fail_prefix(st, "%s line %d", p->tpl->name, p->at->line);
            return st;
        }
        p->at++;
        return CLF_OK;
    }
    p->at++;
    if (p->at[-1].kind == TOKEN_TAG_BEGIN)
        return parse_statement(p, out);
    CLF_TRY(clfi_parser_make(p, NODE_OUTPUT, out));
    CLF_TRY(clfi_parse_tuple(p, clfi_parse_expression, &(*out)->a));
    if (p->at->kind != TOKEN_VAR_END)
        return clfi_parser_fail(p, "\"}}\"");
    p->at++;
    return CLF_OK;
}

/* Parses pieces until "{%" and one of the words `ends`, before which it stops; without `ends` until the end of the template. */
static clf_status parse_block(template_parser *p, const char *const *ends, template_node **out)
{
    CLF_TRY(clfi_parser_enter(p));
    CLF_TRY(clfi_parser_make(p, NODE_BLOCK, out));
    for (;;) {
        template_node *piece = NULL;
        if (p->at->kind == TOKEN_END) {
            p->depth--;
            return *ends ? clfi_parser_fail(p, *ends) : CLF_OK;
        }
        if (p->at->kind == TOKEN_TAG_BEGIN) {
            p->at++;
            if (is_end(p, ends)) {
                p->depth--;
                return CLF_OK;
            }
            p->at--;
        }
        CLF_TRY(parse_piece(p, &piece));
        CLF_TRY(clfi_parser_add_item(*out, piece));
    }
}

clf_status clfi_template_build(clf_template *tpl)
{
    template_parser p = {tpl, tpl->tokens, 0, 0};
    return parse_block(&p, (const char *const[]){NULL}, &tpl->root);
}
