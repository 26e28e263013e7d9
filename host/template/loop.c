/* SPDX-License-Identifier: MIT */
/* The methods of a template's variable `loop`: cycle and changed. */
#include <string.h>

#include "template/run.h"

/* *out: whether the arguments differ from those of the last call. */
static clf_status loop_changed(const template_run *run, const template_node *node, template_loop *loop, const template_arguments *arguments,
                               json_t **out)
{
    json_t *given = json_array();
    bool is_same = given && loop->changed && json_array_size(loop->changed) == arguments->count;
    bool is_whole = given != NULL;
    clf_status st = CLF_OK;
    for (size_t i = 0; st == CLF_OK && i < arguments->count; i++) {
        is_whole = is_whole && json_array_append(given, clfi_value_stored(arguments->values[i])) == 0;
        st = clfi_run_weigh(run, node, arguments->values[i]);
        is_same = is_same && clfi_value_equal(clfi_value_at(loop->changed, i), arguments->values[i]);
    }
    if (st == CLF_OK && !is_whole)
        st = clfi_fail(CLF_OUT_OF_MEMORY, "out of memory: a template's loop");
    if (st != CLF_OK) {
        json_decref(given);
        return st;
    }
    json_decref(loop->changed);
    loop->changed = given;
    return clfi_value_new(json_boolean(!is_same), out);
}

clf_status clfi_run_loop(template_run *run, const template_node *node, const json_t *self, const template_arguments *arguments,
                         json_t **out)
{
    template_loop *loop = run->loops;
    while (loop && loop->object != self)
        loop = loop->outer;
    if (!loop)
        RUN_FAIL(run, node, CLF_UNSUPPORTED, "%s has no method \"%s\" here", clfi_value_kind(self), node->name);
    for (size_t i = 0; i < arguments->count; i++)
        if (arguments->names[i])
            RUN_FAIL(run, node, CLF_FORMAT, "loop.%s: argument \"%s\": expected values alone", node->name, arguments->names[i]);
    if (strcmp(node->name, "changed") == 0)
        return loop_changed(run, node, loop, arguments, out);
    if (arguments->count == 0)
        RUN_FAIL(run, node, CLF_FORMAT, "loop.cycle: expected one value or more");
    *out = json_incref(arguments->values[loop->index % arguments->count]);
    return CLF_OK;
}
