/* SPDX-License-Identifier: MIT */
/* Chooses an engine: the forced one, else the measured one, else the first row that suits the case, else the first that can run it. */
#include <limits.h>
#include <string.h>

#include "op/engines.h"
#include "op/left_out.h"

enum { FORCED_BYTES = 128 };

const clf_engine *clfi_engine_find(clf_op op, const char *name)
{
    const clf_engine_table *table = &clfi_engine_tables[op];
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->engines[i].name, name) == 0)
            return &table->engines[i];
    return NULL;
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

clf_status clfi_engine_tile_set(const clf_engine *engine, const char *parameter, int64_t value, clf_tile *tile)
{
    const clf_tiling *tiling = engine->tiling;
    for (size_t i = 0; tiling && i < tiling->count; i++) {
        if (strcmp(tiling->parameters[i].name, parameter) != 0)
            continue;
        for (const int *allowed = tiling->parameters[i].values; *allowed; allowed++) {
            if (*allowed == value) {
                tile->value[i] = (int)value;
                return CLF_OK;
            }
        }
        CLF_FAIL(CLF_INVALID_ARGUMENT, "engine %s has no kernels with %s = %lld", engine->name, parameter, (long long)value);
    }
    CLF_FAIL(CLF_INVALID_ARGUMENT, "engine %s has no parameter \"%s\"", engine->name, parameter);
}

bool clfi_engine_tile_fits(const clf_context *context, const clf_engine *engine, const clf_tile *tile)
{
    return !engine->tiling || engine->tiling->fits(context, tile);
}

clf_status clfi_engine_choice_text(const clf_engine *engine, const clf_tile *tile, clf_str *out)
{
    CLF_TRY(clfi_str_append_text(out, engine->name));
    for (size_t i = 0; engine->tiling && i < engine->tiling->count; i++)
        if (tile->value[i])
            CLF_TRY(clfi_str_appendf(out, ":%s=%d", engine->tiling->parameters[i].name, tile->value[i]));
    return CLF_OK;
}

/* Sets a parameter from the text "name=value", which is modified. */
static clf_status set_forced(const clf_engine *engine, char *text, clf_tile *tile)
{
    char *equals = strchr(text, '=');
    int64_t value = 0;
    bool is_number = equals && equals[1];
    for (const char *at = is_number ? equals + 1 : ""; *at; at++) {
        is_number = is_number && *at >= '0' && *at <= '9' && value < INT_MAX / 10;
        value = is_number ? value * 10 + (*at - '0') : 0;
    }
    if (!is_number)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "engine %s: expected parameter=number, found \"%s\"", engine->name, text);
    *equals = '\0';
    return clfi_engine_tile_set(engine, text, value, tile);
}

/* Fails, and names the ops, if text[0..length) is not the name of an op. */
static clf_status check_op(const char *text, size_t length)
{
    clf_str names = CLF_STR_INIT;
    clf_status st = CLF_OK;
    for (size_t i = 0; i < CLF_OP_COUNT; i++)
        if (strlen(clfi_engine_tables[i].op) == length && memcmp(clfi_engine_tables[i].op, text, length) == 0)
            return CLF_OK;
    for (size_t i = 0; st == CLF_OK && i < CLF_OP_COUNT; i++)
        st = clfi_str_appendf(&names, "%s%s", i ? ", " : "", clfi_engine_tables[i].op);
    if (st == CLF_OK)
        st = clfi_fail(CLF_INVALID_ARGUMENT, "engines: op \"%.*s\" is unknown; there are: %s", (int)length, text, clfi_str_text(&names));
    clfi_str_free(&names);
    return st;
}

/* Copies the text after "op=" in the context's list; "": there is none. */
static clf_status forced_text(const clf_context *context, const char *op, char out[FORCED_BYTES])
{
    out[0] = '\0';
    const size_t op_length = strlen(op);
    for (const char *at = context->engines; *at;) {
        const size_t length = strcspn(at, ",");
        const char *equals = memchr(at, '=', length);
        const size_t name_length = equals ? length - (size_t)(equals + 1 - at) : 0;
        if (!equals || name_length == 0 || name_length >= FORCED_BYTES)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "engines: expected OP=NAME, several separated by commas, found \"%s\"", context->engines);
        CLF_TRY(check_op(at, (size_t)(equals - at)));
        if ((size_t)(equals - at) == op_length && memcmp(at, op, op_length) == 0) {
            memcpy(out, equals + 1, name_length);
            out[name_length] = '\0';
        }
        at += length + (at[length] == ',');
    }
    return CLF_OK;
}

/* Names the whole tile: the given values may fit alone, but not together with the engine's own choice for the other values. */
static clf_status fail_tile(const clf_context *context, const clf_engine_table *table, const clf_engine_choice *choice)
{
    const clf_tile whole = choice->engine->tiling->standard(context, &choice->tile);
    clf_str text = CLF_STR_INIT;
    clf_status st = clfi_engine_choice_text(choice->engine, &whole, &text);
    if (st == CLF_OK)
        st = clfi_fail(CLF_UNSUPPORTED, "%s: the tile of engine %s does not fit %s (default sizes fill the gaps)", table->op,
                       clfi_str_text(&text), context->device.info.name);
    clfi_str_free(&text);
    return st;
}

clf_status clfi_engine_forced(const clf_context *context, clf_op op, clf_engine_choice *out)
{
    const clf_engine_table *table = &clfi_engine_tables[op];
    char text[FORCED_BYTES], *rest = NULL;
    *out = (clf_engine_choice){0};
    CLF_TRY(forced_text(context, table->op, text));
    char *name = strtok_r(text, ":", &rest);
    if (!name)
        return CLF_OK;
    out->engine = clfi_engine_find(op, name);
    if (!out->engine)
        return fail_unknown(table, name);
    for (char *at; (at = strtok_r(NULL, ":", &rest));)
        CLF_TRY(set_forced(out->engine, at, &out->tile));
    return clfi_engine_tile_fits(context, out->engine, &out->tile) ? CLF_OK : fail_tile(context, table, out);
}

clf_status clfi_engines_check(const clf_context *context)
{
    clf_engine_choice forced;
    for (size_t op = 0; op < CLF_OP_COUNT; op++)
        CLF_TRY(clfi_engine_forced(context, (clf_op)op, &forced));
    return CLF_OK;
}

bool clfi_engine_is_for(const clf_engine *engine, const clf_device_caps *caps)
{
    return !engine->runs_on || engine->runs_on(caps);
}

/* Obstacles that are known without running anything. */
static const char *stated_obstacle(const clf_context *context, const clf_engine *engine)
{
    if (engine->precision > context->precision)
        return "its precision is lower than requested";
    return clfi_engine_is_for(engine, &context->device.caps) ? NULL : "its kernels are for another kind of device";
}

const char *clfi_engine_obstacle(const clf_context *context, const clf_engine *engine)
{
    const char *stated = stated_obstacle(context, engine);
    if (stated)
        return stated;
    if (clfi_engine_is_left_out(context, engine))
        return "the driver's compiler crashes or hangs on one of its kernels (see clformer devices)";
    return clfi_probe(context, engine->probe) ? NULL : "the device failed the probe that its kernels need (see clformer devices --all)";
}

/* Engines of products read only some forms of weights (kernel/weight_form.h). */
static bool reads_weight(const clf_engine *engine, const void *args)
{
    return !engine->gemm || clfi_gemm_takes_weight(engine->gemm, ((const clf_gemm_args *)args)->weight);
}

bool clfi_engine_is_able(const clf_context *context, const clf_engine *engine, const void *args)
{
    return !stated_obstacle(context, engine) && reads_weight(engine, args) && engine->supports(context, args) &&
           !clfi_engine_is_left_out(context, engine) && clfi_probe(context, engine->probe);
}

bool clfi_engine_pays(const clf_context *context, const clf_engine *engine)
{
    return !engine->pays || engine->pays(context);
}

/* `pays` comes last, because it may have to measure rates. */
static bool may_choose(const clf_context *context, const clf_engine *engine, const void *args)
{
    return clfi_engine_is_able(context, engine, args) && clfi_engine_pays(context, engine);
}

static clf_status fail_all(const clf_context *context, const clf_engine_table *table)
{
    const size_t length = strlen(table->op);
    const char *line = clfi_engines_left_out(context);
    while (*line && (strncmp(line, table->op, length) != 0 || line[length] != '='))
        line += strcspn(line, "\n") + 1;
    CLF_FAIL(CLF_UNSUPPORTED, "%s: no engine for this case on %s%s%.*s", table->op, context->device.info.name, *line ? ", without " : "",
             (int)strcspn(line, "\n"), line);
}

clf_status clfi_engine_choose(const clf_context *context, clf_op op, const void *args, const clf_engine_choice *measured,
                              clf_engine_choice *out)
{
    const clf_engine_table *table = &clfi_engine_tables[op];
    clf_engine_choice forced;
    CLF_TRY(clfi_engine_forced(context, op, &forced));
    if (forced.engine) {
        if (!clfi_engine_is_able(context, forced.engine, args)) {
            const char *obstacle = clfi_engine_obstacle(context, forced.engine);
            CLF_FAIL(CLF_UNSUPPORTED, "%s: engine %s cannot run this case on %s%s%s", table->op, forced.engine->name,
                     context->device.info.name, obstacle ? ": " : "", obstacle ? obstacle : "");
        }
        *out = forced;
        return CLF_OK;
    }
    if (measured && may_choose(context, measured->engine, args)) {
        *out = *measured;
        return CLF_OK;
    }
    const clf_engine *able = NULL, *suited = NULL;
    for (size_t i = 0; !suited && i < table->count; i++) {
        const clf_engine *engine = &table->engines[i];
        if (!may_choose(context, engine, args))
            continue;
        able = able ? able : engine;
        suited = !engine->suits || engine->suits(context, args) ? engine : NULL;
    }
    if (!able)
        return fail_all(context, table);
    *out = (clf_engine_choice){.engine = suited ? suited : able};
    return CLF_OK;
}

clf_status clfi_engine_run(clf_context *context, clf_op op, const void *args)
{
    clf_engine_choice choice;
    clf_status st;
    bool was_lost;
    do {
        CLF_TRY(clfi_engine_choose(context, op, args, NULL, &choice));
        st = clfi_engine_start(context, choice.engine, args, &was_lost);
    } while (was_lost);
    if (st == CLF_OK && clfi_engine_tables[op].has_products)
        context->stats.product_precisions |= 1u << choice.engine->precision;
    return st;
}
