/* SPDX-License-Identifier: MIT */
/* The choice of an engine and a tile for a matrix product: forced, measured, or by the table. */
#include <limits.h>
#include <string.h>

#include "kernel/gemm_common.h"
#include "op/engines.h"
#include "op/gemm.h"
#include "op/tuned.h"

enum { TYPICAL_ROWS = 128 };

const clf_gemm_engine *clfi_gemm_engine_find(const char *name)
{
    for (size_t i = 0; i < clfi_gemm_engine_count; i++)
        if (strcmp(clfi_gemm_engines[i].name, name) == 0)
            return &clfi_gemm_engines[i];
    return NULL;
}

static clf_status fail_unknown(const char *name)
{
    clf_str names = CLF_STR_INIT;
    clf_status st = CLF_OK;
    for (size_t i = 0; st == CLF_OK && i < clfi_gemm_engine_count; i++)
        st = clfi_str_appendf(&names, "%s%s", i ? ", " : "", clfi_gemm_engines[i].name);
    if (st == CLF_OK)
        st = clfi_fail(CLF_INVALID_ARGUMENT, "engine \"%s\" for gemm is unknown; there are: %s", name, clfi_str_text(&names));
    clfi_str_free(&names);
    return st;
}

clf_status clfi_gemm_tile_set(const clf_gemm_engine *engine, const char *parameter, int64_t value, clf_gemm_tile *tile)
{
    const clf_gemm_tiling *tiling = engine->tiling;
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

bool clfi_gemm_tile_fits(const clf_context *context, const clf_gemm_engine *engine, const clf_gemm_tile *tile)
{
    return !engine->tiling || engine->tiling->fits(context, tile);
}

clf_status clfi_gemm_choice_text(const clf_gemm_engine *engine, const clf_gemm_tile *tile, clf_str *out)
{
    CLF_TRY(clfi_str_append_text(out, engine->name));
    for (size_t i = 0; engine->tiling && i < engine->tiling->count; i++)
        if (tile->value[i])
            CLF_TRY(clfi_str_appendf(out, ":%s=%d", engine->tiling->parameters[i].name, tile->value[i]));
    return CLF_OK;
}

/* "name=value" inside `text`, which it cuts. */
static clf_status set_forced(const clf_gemm_engine *engine, char *text, clf_gemm_tile *tile)
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
    return clfi_gemm_tile_set(engine, text, value, tile);
}

/* The engine and tile that the context forces; engine NULL: none. */
static clf_status read_forced(const clf_context *context, clf_gemm_choice *out)
{
    char text[CLFI_ENGINE_NAME_BYTES];
    char *rest = NULL;
    *out = (clf_gemm_choice){0};
    CLF_TRY(clfi_engine_forced(context, "gemm", text));
    char *name = strtok_r(text, ":", &rest);
    if (!name)
        return CLF_OK;
    out->engine = clfi_gemm_engine_find(name);
    if (!out->engine)
        return fail_unknown(name);
    for (char *at; (at = strtok_r(NULL, ":", &rest));)
        CLF_TRY(set_forced(out->engine, at, &out->tile));
    if (!clfi_gemm_tile_fits(context, out->engine, &out->tile))
        CLF_FAIL(CLF_UNSUPPORTED, "gemm: the tile of engine %s does not fit %s", name, context->device.info.name);
    return CLF_OK;
}

static bool is_able(const clf_context *context, const clf_gemm_engine *engine, const clf_gemm_args *args)
{
    return (engine->precisions >> context->precision & 1u) && engine->supports(context, args);
}

static clf_status fail_unable(const clf_context *context, const clf_gemm_args *args, const char *forced)
{
    CLF_FAIL(CLF_UNSUPPORTED, "gemm %lld x %lld x %lld: %s%s cannot run this case on %s", (long long)args->m, (long long)args->n,
             (long long)args->k, forced ? "engine " : "the engines", forced ? forced : "", context->device.info.name);
}

static clf_status choose(const clf_context *context, clf_gemm_kind kind, const clf_gemm_args *args, clf_gemm_choice *out)
{
    clf_gemm_choice forced;
    CLF_TRY(read_forced(context, &forced));
    const clf_gemm_rule *rule = clfi_tuned_rule(context, kind, clfi_gemm_batch_count(args), args->m, args->n, args->k);
    if (forced.engine) {
        *out = forced;
        return is_able(context, forced.engine, args) ? CLF_OK : fail_unable(context, args, forced.engine->name);
    }
    if (rule && rule->engine && is_able(context, rule->engine, args)) {
        *out = (clf_gemm_choice){rule->engine, rule->tile};
        return CLF_OK;
    }
    const clf_gemm_engine *able = NULL, *suited = NULL;
    for (size_t i = 0; !suited && i < clfi_gemm_engine_count; i++) {
        const clf_gemm_engine *engine = &clfi_gemm_engines[i];
        if (!is_able(context, engine, args))
            continue;
        able = able ? able : engine;
        suited = engine->suits(context, args) ? engine : NULL;
    }
    if (!able)
        return fail_unable(context, args, NULL);
    *out = (clf_gemm_choice){.engine = suited ? suited : able};
    return CLF_OK;
}

clf_status clfi_gemm_choose(const clf_context *context, const clf_gemm_args *args, clf_gemm_choice *out)
{
    return choose(context, clfi_gemm_kind_of(args), args, out);
}

clf_status clfi_gemm_choose_form(const clf_context *context, int64_t n, int64_t k, clf_gemm_choice *out)
{
    clf_gemm_args typical = CLFI_GEMM_ARGS_INIT;
    typical.m = TYPICAL_ROWS;
    typical.n = n;
    typical.k = k;
    typical.a.dtype = typical.b.dtype = typical.c.dtype = CLF_F32;
    return choose(context, CLF_GEMM_LINEAR, &typical, out);
}
