/* SPDX-License-Identifier: MIT */
/* Choosing an engine: a forced name, else the first row that supports the arguments. */
#include <string.h>

#include "base/str.h"
#include "op/engines.h"

clf_status clfi_engine_forced(const clf_context *context, const char *op, char out[CLFI_ENGINE_NAME_BYTES])
{
    out[0] = '\0';
    const size_t op_length = strlen(op);
    for (const char *at = context->engines; *at;) {
        const size_t length = strcspn(at, ",");
        const char *equals = memchr(at, '=', length);
        const size_t name_length = equals ? length - (size_t)(equals + 1 - at) : 0;
        if (!equals || name_length == 0 || name_length >= CLFI_ENGINE_NAME_BYTES)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "engines \"%s\": expected op=name,op=name", context->engines);
        if ((size_t)(equals - at) == op_length && memcmp(at, op, op_length) == 0) {
            memcpy(out, equals + 1, name_length);
            out[name_length] = '\0';
        }
        at += length + (at[length] == ',');
    }
    return CLF_OK;
}

static clf_status fail_unknown(const clf_engine_table *table, const char *name)
{
    clf_str names = CLF_STR_INIT;
    clf_status st = CLF_OK;
    for (size_t i = 0; st == CLF_OK && i < table->count; i++)
        st = clfi_str_appendf(&names, "%s%s", i ? ", " : "", table->engines[i].name);
    if (st == CLF_OK)
        st = clfi_fail(CLF_INVALID_ARGUMENT, "engine \"%s\" for %s is unknown; there are: %s", name, table->op, clfi_str_text(&names));
    clfi_str_free(&names);
    return st;
}

static clf_status choose(const clf_context *context, const clf_engine_table *table, const void *args, const clf_engine **out)
{
    char forced[CLFI_ENGINE_NAME_BYTES];
    CLF_TRY(clfi_engine_forced(context, table->op, forced));
    for (size_t i = 0; i < table->count; i++) {
        const clf_engine *engine = &table->engines[i];
        if (forced[0] && strcmp(engine->name, forced) != 0)
            continue;
        if (engine->supports(context, args)) {
            *out = engine;
            return CLF_OK;
        }
        if (forced[0])
            CLF_FAIL(CLF_UNSUPPORTED, "%s: engine %s cannot run this case on %s", table->op, engine->name, context->device.info.name);
    }
    if (forced[0])
        return fail_unknown(table, forced);
    CLF_FAIL(CLF_UNSUPPORTED, "%s: no engine for this case on %s", table->op, context->device.info.name);
}

clf_status clfi_engine_run(clf_context *context, const clf_engine_table *table, const void *args)
{
    const clf_engine *engine = NULL;
    CLF_TRY(choose(context, table, args, &engine));
    return engine->run(context, args);
}
