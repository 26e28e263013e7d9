/* SPDX-License-Identifier: MIT */
/* One rendering at work. */
#ifndef CLFI_TEMPLATE_RUN_H
#define CLFI_TEMPLATE_RUN_H

#include <stdint.h>

#include "io/json_memory.h"
#include "template/letter_case.h"
#include "template/syntax.h"
#include "template/value.h"

/* Variables of a block; searched from the innermost outwards. */
typedef struct template_scope template_scope;
struct template_scope {
    json_t *variables;
    const template_scope *outer;
};

typedef enum template_flow { FLOW_ON, FLOW_BREAK, FLOW_CONTINUE } template_flow;

/* Arguments of a call, filter or test, evaluated. */
typedef struct template_arguments {
    json_t **values;    /* NULL entries: undefined */
    char *const *names; /* NULL entries: positional */
    size_t count;
} template_arguments;

/* A loop at work; its variable `loop` in a template is found by the object. */
typedef struct template_loop template_loop;
struct template_loop {
    const json_t *object; /* of the present element */
    json_t *changed;      /* what loop.changed() was given last; NULL: nothing yet */
    size_t index;
    template_loop *outer;
};

typedef struct template_run template_run;
struct template_run {
    const clf_template *tpl;
    const json_t *variables; /* the caller's */
    template_scope *scope;
    template_scope *globals; /* the outermost scope: what macros see */
    json_t *namespaces;      /* every object that namespace() made: only these take attributes */
    const template_node **macros;
    size_t macro_count, macro_capacity;
    template_loop *loops; /* the innermost */
    time_t now;
    int depth, line; /* line: of what runs */
    size_t steps;
    clf_json_account *account; /* of values; held: bytes of the texts around the present one */
    size_t held;
    uint32_t *work;
    template_flow flow;
    clf_str *out;

    /* The text of the macro that `call` names; *is_macro false: there is none. An expression calls it, and its body is statements. */
    clf_status (*call_macro)(template_run *run, const template_node *call, const template_arguments *arguments, bool *is_macro,
                             json_t **out);
};

/* *out: a new reference, NULL: undefined. */
clf_status clfi_run_expression(template_run *run, const template_node *node, json_t **out);

/* Counts a step and a level of nesting; leave with run->depth--. */
clf_status clfi_run_enter(template_run *run, const template_node *node);

/* Counts what an operation reads or makes. FORMAT: more than CLFI_TEMPLATE_MAX_WORK in all. touch: the elements or bytes of the value;
 * weigh: those of its elements too, and of theirs. */
clf_status clfi_run_work(const template_run *run, const template_node *node, uint64_t amount);
clf_status clfi_run_touch(const template_run *run, const template_node *node, const json_t *value);
clf_status clfi_run_weigh(const template_run *run, const template_node *node, const json_t *value);

/* Run functions, methods, filters and tests by their names (functions.c, filters.c). UNSUPPORTED: unknown name. */
clf_status clfi_run_function(template_run *run, const template_node *call, const template_arguments *arguments, json_t **out);
bool clfi_is_function(const char *name); /* "is defined" holds for these names too */
clf_status clfi_run_method(template_run *run, const template_node *call, const json_t *self, const template_arguments *arguments,
                           json_t **out);
clf_status clfi_run_filter(template_run *run, const template_node *node, const json_t *value, const template_arguments *arguments,
                           json_t **out);
clf_status clfi_run_test(template_run *run, const template_node *node, const char *name, const json_t *value,
                         const template_arguments *arguments, bool *out);

/* The index-th positional argument, or the one of this keyword (NULL: none); absent and undefined ones are NULL. Borrowed. */
json_t *clfi_argument(const template_arguments *arguments, size_t index, const char *keyword);

/* FORMAT unless there are at most `most` arguments and every keyword is in `keywords` ("indent separators", or ""). */
clf_status clfi_check_arguments(const template_run *run, const template_node *node, const template_arguments *arguments, size_t most,
                                const char *keywords);

/* loop.cycle(...) and loop.changed(...); UNSUPPORTED: the dictionary is no loop. */
clf_status clfi_run_loop(template_run *run, const template_node *node, const json_t *self, const template_arguments *arguments,
                         json_t **out);

/* value.name or value[key]: *out NULL where there is none. FORMAT: `value` is undefined. */
bool clfi_run_is_namespace(const template_run *run, const json_t *value);
clf_status clfi_run_attribute(const template_run *run, const template_node *node, const json_t *value, const char *name, json_t **out);

/* value[index], in the same way. */
clf_status clfi_run_item(const template_run *run, const template_node *node, const json_t *value, const json_t *index, json_t **out);

/* The value, or what is at its attribute "a.b.0" (NULL: itself), as map, sort and others take it of each element. */
clf_status clfi_run_path(const template_run *run, const template_node *node, const json_t *value, const json_t *path, json_t **out);

/* A string in another case. */
clf_status clfi_run_case(const template_run *run, const template_node *node, clf_letter_case to, const json_t *text, json_t **out);

/* dictsort, sort, min and max (order.c); the string method format (format.c). */
clf_status clfi_run_order(template_run *run, const template_node *node, const json_t *value, const template_arguments *arguments,
                          json_t **out);
clf_status clfi_run_format(template_run *run, const template_node *node, const json_t *self, const template_arguments *arguments,
                           json_t **out);

/* The elements that a loop over the value sees, as a new list: a list's, a dictionary's keys, a string's characters; none of undefined. */
clf_status clfi_run_elements(const template_run *run, const template_node *node, const json_t *value, json_t **out);

#define RUN_FAIL(run, node, status, ...) return clfi_run_fail((run), (node), (status), __VA_ARGS__)
clf_status clfi_run_fail(const template_run *run, const template_node *node, clf_status status, const char *format, ...) CLFI_PRINTF(4, 5);

#endif
