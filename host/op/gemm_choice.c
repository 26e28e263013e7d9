/* SPDX-License-Identifier: MIT */
/* Chooses an engine for a matrix product, and the form of constant weights. */
#include "kernel/gemm_common.h"
#include "op/gemm.h"
#include "op/tuned.h"

enum { TYPICAL_ROWS = 128 };

/* A rule that was measured at a finer precision does not cover engines of lower precision. */
static bool is_outdone(const clf_context *context, const clf_gemm_rule *rule, const clf_gemm_args *args)
{
    clf_engine_choice own;
    return rule->precision < context->precision && clfi_engine_choose(context, CLF_OP_GEMM, args, NULL, &own) == CLF_OK &&
           own.engine->precision > rule->precision;
}

static clf_status choose(const clf_context *context, clf_gemm_kind kind, const clf_gemm_args *args, clf_engine_choice *out)
{
    const clf_gemm_rule *rule = clfi_tuned_rule(context, kind, clfi_gemm_batch_count(args), args->m, args->n, args->k);
    const clf_engine_choice measured = rule ? (clf_engine_choice){rule->engine, rule->tile} : (clf_engine_choice){0};
    const bool serves = measured.engine && !is_outdone(context, rule, args) &&
                        (!measured.engine->gemm->reads_floats || clfi_gemm_b_operand(args).dtype == CLF_F32);
    return clfi_engine_choose(context, CLF_OP_GEMM, args, serves ? &measured : NULL, out); /* rules are measured with a B of f32 */
}

clf_status clfi_gemm_choose(const clf_context *context, const clf_gemm_args *args, clf_engine_choice *out)
{
    return choose(context, clfi_gemm_kind_of(args), args, out);
}

/* Whether some engine multiplies `rows` rows with a weight in that form. */
static bool serves(const clf_context *context, clf_gemm_form form, const clf_gemm_args *typical, int64_t rows)
{
    const clf_engine_table *table = &clfi_engine_tables[CLF_OP_GEMM];
    const clf_gemm_weight weight = {.form = form, .dtype = CLF_F32, .n = typical->n, .k = typical->k};
    clf_gemm_args args = *typical;
    args.weight = &weight;
    args.m = rows;
    for (size_t i = 0; i < table->count; i++)
        if (clfi_engine_is_able(context, &table->engines[i], &args))
            return true;
    return false;
}

clf_status clfi_gemm_choose_form(const clf_context *context, int64_t n, int64_t k, clf_engine_choice *out)
{
    const clf_engine_table *table = &clfi_engine_tables[CLF_OP_GEMM];
    clf_gemm_args typical = CLFI_GEMM_ARGS_INIT;
    clf_engine_choice forced;
    typical.m = TYPICAL_ROWS;
    typical.n = n;
    typical.k = k;
    typical.a.dtype = typical.b.dtype = typical.c.dtype = CLF_F32;
    CLF_TRY(clfi_engine_forced(context, CLF_OP_GEMM, &forced));
    CLF_TRY(choose(context, CLF_GEMM_LINEAR, &typical, out));
    if (forced.engine ||
        (serves(context, out->engine->gemm->form, &typical, 1) && serves(context, out->engine->gemm->form, &typical, TYPICAL_ROWS)))
        return CLF_OK;
    for (size_t i = 0; i < table->count; i++) {
        const clf_engine *engine = &table->engines[i];
        if (clfi_engine_is_able(context, engine, &typical) && serves(context, engine->gemm->form, &typical, 1) &&
            serves(context, engine->gemm->form, &typical, TYPICAL_ROWS)) {
            *out = (clf_engine_choice){.engine = engine};
            return CLF_OK;
        }
    }
    CLF_FAIL(CLF_UNSUPPORTED, "gemm: no form of a %lld x %lld weight serves one row and many on %s", (long long)n, (long long)k,
             context->device.info.name);
}

/* The product of `rows` rows of floats with a weight. */
static clf_gemm_args args_of(const clf_gemm_weight *weight, int64_t rows)
{
    clf_gemm_args args = CLFI_GEMM_ARGS_INIT;
    args.weight = weight;
    args.m = rows;
    args.n = weight->n;
    args.k = weight->k;
    args.a.dtype = args.c.dtype = CLF_F32;
    return args;
}

/* Whether this engine multiplies `rows` rows with a quantised weight in its own form, and prefers to unless it is forced. */
static bool takes_blocks(const clf_context *context, const clf_engine *engine, const clf_gemm_weight *weight, int64_t rows, bool is_forced)
{
    const clf_gemm_args args = args_of(weight, rows);
    return clfi_engine_is_able(context, engine, &args) && (is_forced || !engine->suits || engine->suits(context, &args));
}

clf_status clfi_gemm_choose_block_form(const clf_context *context, clf_weight_type type, int64_t n, int64_t k, clf_engine_choice *out)
{
    const clf_engine_table *table = &clfi_engine_tables[CLF_OP_GEMM];
    clf_engine_choice forced;
    *out = (clf_engine_choice){0};
    CLF_TRY(clfi_engine_forced(context, CLF_OP_GEMM, &forced));
    for (size_t i = 0; !out->engine && clfi_weight_type_info(type)->block_weights > 1 && i < table->count; i++) {
        const clf_engine *engine = &table->engines[i];
        const clf_gemm_weight weight = {.form = engine->gemm->form, .dtype = CLF_U8, .blocks = type, .n = n, .k = k};
        if ((!forced.engine || forced.engine == engine) && takes_blocks(context, engine, &weight, 1, forced.engine) &&
            takes_blocks(context, engine, &weight, TYPICAL_ROWS, forced.engine))
            out->engine = engine;
    }
    return CLF_OK;
}

uint64_t clfi_gemm_scratch(const clf_context *context, clf_weight_type type, int64_t m, int64_t n, int64_t k)
{
    clf_engine_choice choice;
    const bool is_float = clfi_weight_type_info(type)->block_weights == 1;
    const clf_status st =
        is_float ? clfi_gemm_choose_form(context, n, k, &choice) : clfi_gemm_choose_block_form(context, type, n, k, &choice);
    if (st != CLF_OK || !choice.engine)
        return 0;
    const clf_gemm_weight weight = {.form = choice.engine->gemm->form,
                                    .dtype = is_float ? CLF_F32 : CLF_U8,
                                    .blocks = is_float ? CLF_WEIGHT_F32 : type,
                                    .n = n,
                                    .k = k};
    const clf_gemm_args args = args_of(&weight, m);
    return clfi_gemm_choose(context, &args, &choice) == CLF_OK && choice.engine->scratch ? choice.engine->scratch(&args) : 0;
}
