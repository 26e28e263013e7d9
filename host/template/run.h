/* SPDX-License-Identifier: MIT */
/* The state of one rendering of a template, and the functions that evaluate its parts. */
#ifndef CLFI_TEMPLATE_RUN_H
#define CLFI_TEMPLATE_RUN_H

#include <stdint.h>

#include "io/json_memory.h"
#include "template/letter_case.h"
#include "template/syntax.h"
#include "template/value.h"

/* Variables of a block; names are looked up from the innermost scope outwards. */
typedef struct template_scope template_scope;
struct template_scope {
    json_t *variables;
    template_scope *outer;
};

typedef enum template_flow { FLOW_ON, FLOW_BREAK, FLOW_CONTINUE } template_flow;

/* Evaluated arguments of a call, filter or test. */
typedef struct template_arguments {
    json_t **values;    /* NULL entries: undefined */
    char *const *names; /* NULL entries: positional */
    size_t count;
} template_arguments;

/* A macro, and the scope that defines it: what its block sees. */
typedef struct template_macro {
    const template_node *node;
    template_scope *scope;
} template_macro;

/* A loop that runs. Its variable `loop` in the template is recognised by its object. */
typedef struct template_loop template_loop;
struct template_loop {
    const json_t *object; /* `loop` for the current element */
    json_t *changed;      /* arguments of the last loop.changed(); NULL: there was none */
    size_t index;
    template_loop *outer;
};

typedef struct template_run template_run;
struct template_run {
    const clf_template *tpl;
    const json_t *variables; /* the caller's */
    template_scope *scope;
    template_macro *macros; /* those of open scopes */
    size_t macro_count, macro_capacity;
    template_loop *loops; /* the innermost running loop */
    time_t now;
    int depth, line; /* line: of the node that runs */
    size_t steps;
    clf_json_account *account; /* memory of values */
    size_t held;               /* bytes of the texts around the one that is written */
    uint32_t *work;            /* used up of CLFI_TEMPLATE_MAX_WORK */
    template_flow flow;
    clf_str *out;

    /* Renders a macro to *out. A pointer, since expressions call it and it renders statements. */
    clf_status (*call_macro)(template_run *run, const template_node *call, const template_macro *macro, const template_arguments *arguments,
                             json_t **out);
};

/* Evaluate an expression. *out: a new reference; NULL: undefined. expression: UNSUPPORTED for a special object (value.h), which any
 * gives out. */
clf_status clfi_run_expression(template_run *run, const template_node *node, json_t **out);
clf_status clfi_run_any(template_run *run, const template_node *node, json_t **out);

/* Counts a step and a level of nesting; leave the level with run->depth--. FORMAT: too many. */
clf_status clfi_run_enter(template_run *run, const template_node *node);

/* Count the work of an operation. touch: a value's elements and a quarter of its bytes; weigh: also those of its elements, and of theirs.
 * FORMAT: more than CLFI_TEMPLATE_MAX_WORK in all. */
clf_status clfi_run_work(const template_run *run, const template_node *node, uint64_t amount);
clf_status clfi_run_touch(const template_run *run, const template_node *node, const json_t *value);
clf_status clfi_run_weigh(const template_run *run, const template_node *node, const json_t *value);

/* Run functions, methods, filters and tests by their names (functions.c, filters.c). UNSUPPORTED: an unknown name. */
clf_status clfi_run_function(template_run *run, const template_node *call, const template_arguments *arguments, json_t **out);
bool clfi_is_function(const char *name); /* `is defined` is true for these names too; Jinja's that cannot be run count */

/* The variable of the template or of the caller in its stored form, borrowed; NULL: there is none. */
json_t *clfi_run_find_variable(const template_run *run, const char *name);
const template_macro *clfi_run_find_macro(const template_run *run, const char *name); /* NULL: no macro of this name is visible */
clf_status clfi_run_method(template_run *run, const template_node *call, const json_t *self, const template_arguments *arguments,
                           json_t **out);
clf_status clfi_run_filter(template_run *run, const template_node *node, const json_t *value, const template_arguments *arguments,
                           json_t **out);
clf_status clfi_run_test(template_run *run, const template_node *node, const char *name, const json_t *value,
                         const template_arguments *arguments, bool *out);

/* The index-th positional argument, or the one with this keyword (NULL: none). NULL: it is absent or undefined. Borrowed. */
json_t *clfi_argument(const template_arguments *arguments, size_t index, const char *keyword);

/* FORMAT: more than `most` arguments. UNSUPPORTED: a keyword that is not in `keywords` ("indent separators", or ""). */
clf_status clfi_check_arguments(const template_run *run, const template_node *node, const template_arguments *arguments, size_t most,
                                const char *keywords);

/* Runs loop.cycle(...) or loop.changed(...). UNSUPPORTED: `self` is no loop. FORMAT: a keyword argument; cycle without arguments. */
clf_status clfi_run_loop(template_run *run, const template_node *node, const json_t *self, const template_arguments *arguments,
                         json_t **out);

/* Whether `word` is one of the words of `list`, which single spaces separate. */
bool clfi_is_listed(const char *word, const char *list);

/* Evaluates value.name, in Python's order: a method before a dictionary's entry. *out NULL: there is none. FORMAT: `value` is undefined.
 * UNSUPPORTED: `name` is a part of a number or range in Python. */
clf_status clfi_run_attribute(const template_run *run, const template_node *node, const json_t *value, const char *name, json_t **out);

/* Evaluates value[index], or value.index if there is no such item. *out NULL: there is none. Statuses as above. */
clf_status clfi_run_item(const template_run *run, const template_node *node, const json_t *value, const json_t *index, json_t **out);

/* The value, or its part at the attribute path "a.b.0" (NULL: none), as map, sort and others take it from each element. UNSUPPORTED: the
 * path is no string. */
clf_status clfi_run_path(const template_run *run, const template_node *node, const json_t *value, const json_t *path, json_t **out);

/* Makes the string in another case. */
clf_status clfi_run_case(const template_run *run, const template_node *node, clf_letter_case to, const json_t *text, json_t **out);

/* The filters dictsort, sort, min and max (order.c), and the string method format (format.c). */
clf_status clfi_run_order(template_run *run, const template_node *node, const json_t *value, const template_arguments *arguments,
                          json_t **out);
clf_status clfi_run_format(template_run *run, const template_node *node, const json_t *self, const template_arguments *arguments,
                           json_t **out);

/* The elements over which a loop over the value runs, as a new list: those of a list, a dictionary's keys, a string's characters, none of
 * undefined. It uses a generator up. FORMAT: other values. */
clf_status clfi_run_elements(const template_run *run, const template_node *node, const json_t *value, json_t **out);

#define RUN_FAIL(run, node, status, ...) return clfi_run_fail((run), (node), (status), __VA_ARGS__)
clf_status clfi_run_fail(const template_run *run, const template_node *node, clf_status status, const char *format, ...) CLFI_PRINTF(4, 5);

#endif
