/* SPDX-License-Identifier: MIT */
/* Enforces the limits of a rendering: its steps, their nesting, and the work that they do. A few steps over long values could otherwise
 * take hours. */
#include <stdarg.h>
#include <stdio.h>

#include "template/run.h"

clf_status clfi_run_fail(const template_run *run, const template_node *node, clf_status status, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return clfi_fail(status, "%s line %d: %s", run->tpl->name, node->line, text);
}

clf_status clfi_run_enter(template_run *run, const template_node *node)
{
    run->line = node->line;
    if (++run->steps > CLFI_TEMPLATE_MAX_STEPS)
        RUN_FAIL(run, node, CLF_FORMAT, "more than %d steps", CLFI_TEMPLATE_MAX_STEPS);
    if (++run->depth > 4 * CLFI_TEMPLATE_MAX_DEPTH)
        RUN_FAIL(run, node, CLF_FORMAT, "calls are nested too deep");
    return CLF_OK;
}

clf_status clfi_run_work(const template_run *run, const template_node *node, uint64_t amount)
{
    if (amount > CLFI_TEMPLATE_MAX_WORK - *run->work)
        RUN_FAIL(run, node, CLF_FORMAT, "too much work: more than %d elements or units of 4 bytes", CLFI_TEMPLATE_MAX_WORK);
    *run->work += (uint32_t)amount;
    return CLF_OK;
}

clf_status clfi_run_touch(const template_run *run, const template_node *node, const json_t *value)
{
    const char *key;
    size_t length;
    json_t *element;
    uint64_t amount = 1 + json_array_size(value) + json_string_length(value) / 4;
    json_object_keylen_foreach((json_t *)value, key, length, element)
    {
        amount += 1 + length / 4;
    }
    return clfi_run_work(run, node, amount);
}

clf_status clfi_run_weigh(const template_run *run, const template_node *node, const json_t *value)
{
    const char *key;
    json_t *element;
    size_t i;
    CLF_TRY(clfi_run_touch(run, node, value));
    json_object_foreach((json_t *)value, key, element) CLF_TRY(clfi_run_weigh(run, node, element));
    json_array_foreach(value, i, element) CLF_TRY(clfi_run_weigh(run, node, element));
    return CLF_OK;
}
