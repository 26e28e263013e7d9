/* SPDX-License-Identifier: MIT */
/* Renders templates: statements, macros and the whole text. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "template/list_kind.h"
#include "template/run.h"

static clf_status no_memory(void)
{
    CLF_FAIL(CLF_OUT_OF_MEMORY, "out of memory: a template's variable");
}

static clf_status run_statement(template_run *run, const template_node *node);

/* Makes an empty scope inside the current one. After success the caller makes it the current one. */
static clf_status open_scope(const template_run *run, template_scope *scope)
{
    *scope = (template_scope){json_object(), run->scope};
    return scope->variables ? CLF_OK : no_memory();
}

static void close_scope(template_run *run, const template_scope *scope)
{
    while (run->macro_count && run->macros[run->macro_count - 1].scope == scope)
        run->macro_count--;
    run->scope = scope->outer;
    json_decref(scope->variables);
}

/* Sets a variable and takes over the reference. value NULL: the variable is undefined from now on, also in scopes inside this one. */
static clf_status set_variable(template_run *run, const char *name, json_t *value)
{
    return json_object_set_new(run->scope->variables, name, clfi_value_stored(value)) == 0 ? CLF_OK : no_memory();
}

static clf_status check_output(const template_run *run, const template_node *node)
{
    if (run->out->length > CLFI_TEMPLATE_MAX_OUTPUT)
        RUN_FAIL(run, node, CLF_FORMAT, "more than %d bytes of text", CLFI_TEMPLATE_MAX_OUTPUT);
    if (run->account->alive + (int64_t)(run->held + run->out->capacity) > CLFI_TEMPLATE_MAX_MEMORY)
        RUN_FAIL(run, node, CLF_FORMAT, "values and texts of more than %d bytes", CLFI_TEMPLATE_MAX_MEMORY);
    return CLF_OK;
}

static clf_status run_output(template_run *run, const template_node *node)
{
    json_t *value = NULL;
    CLF_TRY(clfi_run_expression(run, node->a, &value));
    clf_status st = clfi_value_append(value, run->out);
    json_decref(value);
    return st == CLF_OK ? check_output(run, node) : st;
}

static clf_status run_if(template_run *run, const template_node *node)
{
    json_t *value = NULL;
    CLF_TRY(clfi_run_any(run, node->a, &value));
    const bool is_true = clfi_value_is_true(value);
    json_decref(value);
    if (is_true)
        return run_statement(run, node->b);
    return node->c ? run_statement(run, node->c) : CLF_OK;
}

/* Renders a block into a value. */
static clf_status capture(template_run *run, const template_node *block, json_t **out)
{
    clf_str text = CLF_STR_INIT, *const outer = run->out;
    const size_t held = outer->capacity;
    run->out = &text;
    run->held += held;
    clf_status st = run_statement(run, block);
    run->held -= held;
    run->out = outer;
    if (st == CLF_OK)
        st = clfi_run_work(run, block, text.length / 4);
    if (st == CLF_OK)
        st = clfi_value_of_text(clfi_str_text(&text), text.length, out);
    clfi_str_free(&text);
    return st;
}

/* Checks a value before a variable keeps it. It must not be nested too deep. A special object must not be inside another value, so no value
 * can contain itself. */
static clf_status check_kept(const template_run *run, const template_node *node, const json_t *value, int depth)
{
    const char *key;
    json_t *element;
    CLF_TRY(clfi_run_touch(run, node, value));
    if (depth > CLFI_TEMPLATE_MAX_DEPTH)
        RUN_FAIL(run, node, CLF_FORMAT, "a value is nested more than %d deep", CLFI_TEMPLATE_MAX_DEPTH);
    if (depth > 0 && clfi_value_special(value))
        RUN_FAIL(run, node, CLF_UNSUPPORTED, "a %s inside another value", clfi_value_kind(value));
    json_object_foreach((json_t *)value, key, element) CLF_TRY(check_kept(run, node, element, depth + 1));
    for (size_t i = 0; i < json_array_size(value); i++)
        CLF_TRY(check_kept(run, node, json_array_get(value, i), depth + 1));
    return CLF_OK;
}

static clf_status set_attribute(template_run *run, const template_node *node, json_t *value)
{
    json_t *of = NULL;
    clf_status st = clfi_run_any(run, node->a, &of);
    if (st == CLF_OK && clfi_value_special(of) != CLF_SPECIAL_NAMESPACE)
        st = clfi_run_fail(run, node, CLF_FORMAT, "\"%s.%s\" cannot be set: expected a namespace, found %s", node->a->name, node->name,
                           clfi_value_kind(of));
    if (st == CLF_OK)
        st = check_kept(run, node, value, 1);
    if (st == CLF_OK && json_object_set(of, node->name, clfi_value_stored(value)) != 0)
        st = no_memory();
    json_decref(of);
    return st;
}

static clf_status run_set(template_run *run, const template_node *node)
{
    json_t *value = NULL;
    CLF_TRY(node->b ? clfi_run_any(run, node->b, &value) : capture(run, node->c, &value));
    clf_status st = check_kept(run, node, value, 0);
    if (st == CLF_OK && !node->a)
        return set_variable(run, node->name, value);
    if (st == CLF_OK)
        st = set_attribute(run, node, value);
    json_decref(value);
    return st;
}

/* Sets the loop's targets: one target gets the element, several get its parts. */
static clf_status set_targets(template_run *run, const template_node *node, json_t *element)
{
    if (node->name_count == 1)
        return set_variable(run, node->names[0], json_incref(element));
    if (clfi_list_count(element) != node->name_count)
        RUN_FAIL(run, node, CLF_FORMAT, "an element of %zu parts for %zu variables", clfi_list_count(element), node->name_count);
    for (size_t i = 0; i < node->name_count; i++)
        CLF_TRY(set_variable(run, node->names[i], json_incref(json_array_get(element, i))));
    return CLF_OK;
}

static clf_status run_scoped(template_run *run, const template_node *node, json_t *element, json_t *loop, const template_node *body,
                             bool *is_wanted)
{
    template_scope scope;
    json_t *condition = NULL;
    CLF_TRY(open_scope(run, &scope));
    run->scope = &scope;
    clf_status st = set_targets(run, node, element);
    if (st == CLF_OK && loop)
        st = set_variable(run, "loop", json_incref(loop));
    if (st == CLF_OK && body)
        st = run_statement(run, body);
    if (st == CLF_OK && is_wanted) {
        st = clfi_run_any(run, node->d, &condition);
        *is_wanted = clfi_value_is_true(condition);
        json_decref(condition);
    }
    close_scope(run, &scope);
    return st;
}

/* Removes the elements for which the loop's condition is false. If the loop has several targets, it makes each element a tuple, as Jinja
 * does. */
static clf_status choose(template_run *run, const template_node *node, json_t *elements)
{
    for (size_t i = 0; node->d && i < json_array_size(elements);) {
        bool is_wanted = true;
        CLF_TRY(run_scoped(run, node, json_array_get(elements, i), NULL, NULL, &is_wanted));
        if (is_wanted) {
            json_t *tuple = NULL;
            clf_status st = node->name_count > 1 ? clfi_list_take(json_array_get(elements, i), &tuple) : CLF_OK;
            if (st == CLF_OK && tuple)
                st = clfi_list_mark(tuple, CLF_LIST_TUPLE);
            if (st == CLF_OK && tuple && json_array_set(elements, i, tuple) != 0)
                st = no_memory();
            json_decref(tuple);
            CLF_TRY(st);
            i++;
            continue;
        }
        CLF_TRY(clfi_run_work(run, node, (json_array_size(elements) - i) / 16));
        json_array_remove(elements, i);
    }
    return CLF_OK;
}

static clf_status make_loop(const json_t *elements, size_t i, json_t **out)
{
    const size_t count = json_array_size(elements);
    *out = json_pack("{s:I, s:I, s:I, s:I, s:b, s:b, s:I, s:i, s:i}", "index", (json_int_t)i + 1, "index0", (json_int_t)i, "revindex",
                     (json_int_t)(count - i), "revindex0", (json_int_t)(count - i - 1), "first", i == 0, "last", i + 1 == count, "length",
                     (json_int_t)count, "depth", 1, "depth0", 0); /* only recursive loops are deeper */
    if (!*out)
        return no_memory();
    if ((i > 0 && json_object_set(*out, "previtem", json_array_get(elements, i - 1)) != 0) ||
        (i + 1 < count && json_object_set(*out, "nextitem", json_array_get(elements, i + 1)) != 0)) {
        json_decref(*out);
        return no_memory();
    }
    return clfi_special_mark(*out, CLF_SPECIAL_LOOP);
}

/* *is_through: the loop's block came to its end for an element, so the loop's else is left out. */
static clf_status run_elements(template_run *run, const template_node *node, json_t *elements, bool *is_through)
{
    template_loop loop = {.outer = run->loops};
    clf_status st = CLF_OK;
    bool ends = false;
    run->loops = &loop;
    for (; st == CLF_OK && !ends && loop.index < json_array_size(elements); loop.index++) {
        json_t *object = NULL;
        st = make_loop(elements, loop.index, &object);
        loop.object = object;
        if (st == CLF_OK)
            st = run_scoped(run, node, json_array_get(elements, loop.index), object, node->b, NULL);
        ends = run->flow == FLOW_BREAK;
        *is_through = *is_through || run->flow == FLOW_ON;
        run->flow = FLOW_ON;
        json_decref(object);
    }
    json_decref(loop.changed);
    run->loops = loop.outer;
    return st;
}

static clf_status run_for(template_run *run, const template_node *node)
{
    json_t *value = NULL, *elements = NULL;
    CLF_TRY(clfi_run_expression(run, node->a, &value));
    clf_status st = clfi_run_elements(run, node, value, &elements);
    json_decref(value);
    CLF_TRY(st);
    bool is_through = false;
    st = choose(run, node, elements);
    if (st == CLF_OK)
        st = run_elements(run, node, elements, &is_through);
    if (st == CLF_OK && !is_through && node->c)
        st = run_statement(run, node->c);
    json_decref(elements);
    return st;
}

static clf_status add_macro(template_run *run, const template_node *node)
{
    if (clfi_run_find_variable(run, node->name))
        RUN_FAIL(run, node, CLF_UNSUPPORTED, "macro %s has the name of a variable", node->name);
    CLF_TRY(clfi_grow(&run->macros, &run->macro_capacity, run->macro_count + 1, sizeof *run->macros, "template macros"));
    run->macros[run->macro_count++] = (template_macro){node, run->scope};
    return CLF_OK;
}

static clf_status run_items(template_run *run, const template_node *node)
{
    for (size_t i = 0; i < node->count && run->flow == FLOW_ON; i++)
        CLF_TRY(run_statement(run, node->items[i]));
    return CLF_OK;
}

static clf_status run_block(template_run *run, const template_node *node)
{
    template_scope scope;
    if (!node->flag)
        return run_items(run, node);
    CLF_TRY(open_scope(run, &scope));
    run->scope = &scope;
    const clf_status st = run_items(run, node);
    close_scope(run, &scope);
    return st;
}

static clf_status perform(template_run *run, const template_node *node)
{
    switch (node->kind) {
    case NODE_BLOCK:
        return run_block(run, node);
    case NODE_TEXT:
        CLF_TRY(clfi_value_append(node->value, run->out));
        return check_output(run, node);
    case NODE_OUTPUT:
        return run_output(run, node);
    case NODE_IF:
        return run_if(run, node);
    case NODE_FOR:
        return run_for(run, node);
    case NODE_SET:
        return run_set(run, node);
    case NODE_MACRO:
        return add_macro(run, node);
    case NODE_BREAK:
    case NODE_CONTINUE:
        run->flow = node->kind == NODE_BREAK ? FLOW_BREAK : FLOW_CONTINUE;
        return CLF_OK;
    default:
        RUN_FAIL(run, node, CLF_INTERNAL, "an expression where a statement belongs");
    }
}

static clf_status run_statement(template_run *run, const template_node *node)
{
    CLF_TRY(clfi_run_enter(run, node));
    const clf_status st = perform(run, node);
    run->depth--;
    return st;
}

/* Sets a macro's parameter: to the positional argument, the one with its name, its default, or undefined. */
static clf_status bind_parameter(template_run *run, const template_node *macro, size_t i, const template_arguments *arguments)
{
    json_t *value = json_incref(clfi_argument(arguments, i, macro->names[i]));
    bool is_given = i < arguments->count && !arguments->names[i];
    for (size_t k = 0; k < arguments->count && !is_given; k++)
        is_given = arguments->names[k] && strcmp(arguments->names[k], macro->names[i]) == 0;
    if (!is_given && macro->items[i])
        CLF_TRY(clfi_run_any(run, macro->items[i], &value));
    return set_variable(run, macro->names[i], value);
}

static clf_status check_macro(const template_run *run, const template_node *call, const template_node *macro,
                              const template_arguments *arguments)
{
    if (arguments->count > macro->name_count)
        RUN_FAIL(run, call, CLF_FORMAT, "macro %s: expected at most %zu arguments, found %zu", macro->name, macro->name_count,
                 arguments->count);
    for (size_t i = 0; i < arguments->count; i++) {
        bool is_known = !arguments->names[i];
        for (size_t j = 0; j < macro->name_count; j++)
            is_known = is_known || strcmp(arguments->names[i], macro->names[j]) == 0;
        if (!is_known)
            RUN_FAIL(run, call, CLF_FORMAT, "macro %s has no parameter \"%s\"", macro->name, arguments->names[i]);
    }
    return CLF_OK;
}

/* Sets what a macro's block finds besides its parameters: no further arguments, and parameters that are undefined until they are bound. */
static clf_status begin_parameters(template_run *run, const template_node *macro)
{
    json_t *further = json_array();
    if (!further || clfi_list_mark(further, CLF_LIST_TUPLE) != CLF_OK) {
        json_decref(further);
        return no_memory();
    }
    CLF_TRY(set_variable(run, "varargs", further));
    json_t *named = json_object();
    if (!named)
        return no_memory();
    CLF_TRY(set_variable(run, "kwargs", named));
    for (size_t i = 0; i < macro->name_count; i++)
        CLF_TRY(set_variable(run, macro->names[i], NULL));
    return CLF_OK;
}

static clf_status call_macro(template_run *run, const template_node *call, const template_macro *found, const template_arguments *arguments,
                             json_t **out)
{
    const template_node *const macro = found->node;
    template_scope scope, *const caller = run->scope;
    CLF_TRY(check_macro(run, call, macro, arguments));
    run->scope = found->scope;
    clf_status st = open_scope(run, &scope);
    if (st == CLF_OK) {
        run->scope = &scope;
        st = begin_parameters(run, macro);
        for (size_t i = 0; st == CLF_OK && i < macro->name_count; i++)
            st = bind_parameter(run, macro, i, arguments);
        if (st == CLF_OK)
            st = capture(run, macro->b, out);
        close_scope(run, &scope);
    }
    run->scope = caller;
    return st;
}

clf_status clfi_template_render(const clf_template *tpl, const json_t *variables, time_t now, clf_str *out)
{
    const size_t before = out->length;
    clf_json_account account;
    template_scope globals = {NULL, NULL};
    clf_str text = CLF_STR_INIT;
    uint32_t work = 0;
    const bool failed_before = clfi_json_memory_failed();
    clfi_json_account_begin(&account, CLFI_TEMPLATE_MAX_MEMORY);
    template_run run = {
        .work = &work, .tpl = tpl, .variables = variables, .now = now, .out = &text, .account = &account, .call_macro = call_macro};
    clf_status st = open_scope(&run, &globals);
    run.scope = &globals;
    if (st == CLF_OK)
        st = run_statement(&run, tpl->root);
    const bool failed = clfi_json_memory_failed();
    clfi_json_memory_put_back(failed_before);
    if (account.is_over) /* st may be CLF_OK then, since jansson may have copied a list only in part */
        st = clfi_fail(CLF_FORMAT, "%s line %d: values of more than %d bytes", tpl->name, run.line, CLFI_TEMPLATE_MAX_MEMORY);
    else if (st == CLF_OK && failed)
        st = no_memory();
    if (st == CLF_OK)
        st = clfi_str_append(out, clfi_str_text(&text), text.length);
    if (st != CLF_OK && out->length > before)
        out->data[out->length = before] = '\0';
    json_decref(globals.variables);
    clfi_json_account_end();
    free(run.macros);
    clfi_str_free(&text);
    return st;
}
