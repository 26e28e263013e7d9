/* SPDX-License-Identifier: MIT */
/* Checks the operands of embedding lookups and runs an engine. */
#include "op/embedding.h"

#include <stdio.h>

#include "base/alloc.h"
#include "clformer/ops.h"
#include "kernel/combine.h"
#include "kernel/weight_rows.h"
#include "op/check.h"
#include "op/engines.h"
#include "op/layer_norm.h"

_Static_assert((int)CLF_EMBEDDING_TABLES == (int)CLFI_EMBEDDING_TERMS, "the public limit is the kernels' limit");

static int blocks_of(const clf_embedding_term *term)
{
    return term->blocks > 1 ? term->blocks : 1;
}

static clf_status check_term(const clf_embedding_term *term, int k, const clf_view *y)
{
    static const char op[] = "embedding";
    char table[24], ids[16];
    snprintf(table, sizeof table, "table %d", k);
    snprintf(ids, sizeof ids, "ids %d", k);
    for (const clf_view *block = term->table; block < term->table + blocks_of(term); block++) {
        if (k > 0 || block->blocks == CLF_WEIGHT_F32)
            CLF_TRY(clfi_check_float(op, table, block));
        CLF_TRY(clfi_check_rank(op, table, block, 2));
        CLF_TRY(clfi_check_adjacent(op, table, block));
        if (block->dim[0] < 1 || block->dim[1] != y->dim[1])
            CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: %s is [%lld,%lld], expected rows of %lld elements, one or more", op, table,
                     (long long)block->dim[0], (long long)block->dim[1], (long long)y->dim[1]);
    }
    if (!term->ids)
        return CLF_OK;
    CLF_TRY(clfi_check_dtype(op, ids, term->ids, CLF_I32));
    CLF_TRY(clfi_check_rank(op, ids, term->ids, 1));
    if (term->ids->dim[0] != y->dim[0])
        CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: %s has %lld tokens, y has %lld", op, ids, (long long)term->ids->dim[0], (long long)y->dim[0]);
    return CLF_OK;
}

/* Launches once for each combination of one block from every table. */
static clf_status run_blocks(clf_context *context, const clf_embedding_term *terms, int count, float scale, const clf_view *y)
{
    clf_embedding_term chosen[CLFI_EMBEDDING_TERMS];
    clf_embedding_args args = {.terms = chosen, .count = count, .scale = scale, .y = y};
    int launches = 1;
    for (int k = 0; k < count; k++) {
        launches *= blocks_of(&terms[k]);
        for (int i = 0; i < blocks_of(&terms[k]); i++)
            args.block[k].total += terms[k].table[i].dim[0];
    }
    args.is_split = launches > 1;
    for (int launch = 0; launch < launches; launch++) {
        int rest = launch;
        for (int k = 0; k < count; k++) {
            const int at = rest % blocks_of(&terms[k]);
            rest /= blocks_of(&terms[k]);
            chosen[k] = (clf_embedding_term){&terms[k].table[at], terms[k].ids, 1};
            args.block[k].first = 0;
            for (int i = 0; i < at; i++)
                args.block[k].first += terms[k].table[i].dim[0];
        }
        CLF_TRY(chosen[0].table->blocks == CLF_WEIGHT_F32 ? clfi_engine_run(context, CLF_OP_EMBEDDING, &args)
                                                          : clfi_weight_rows_run(context, &args));
    }
    return CLF_OK;
}

/* Looks up quantised rows in a launch of their own and adds the sum of the other tables. */
static clf_status add_to_blocks(clf_context *context, const clf_embedding_term *terms, int count, float scale, const clf_view *y)
{
    const clf_arena_mark mark = clfi_arena_top(context);
    clf_view rest;
    clf_status st;
    if (y->dtype != CLF_F32 || !clfi_view_is_dense(y))
        CLF_FAIL(CLF_UNSUPPORTED, "embedding: a quantised table beside others: y must be dense float32");
    CLF_GOTO(clfi_view_temporary(context, CLF_F32, 2, y->dim, &rest));
    CLF_GOTO(run_blocks(context, terms, 1, scale, y));
    CLF_GOTO(run_blocks(context, terms + 1, count - 1, 1.0f, &rest));
    CLF_GOTO(clfi_add_launch(context, &rest, y));
done:
    clfi_arena_release(context, mark);
    return st;
}

clf_status clfi_embedding_sum(clf_context *context, const clf_embedding_term *terms, int count, float scale, const clf_view *y)
{
    static const char op[] = "embedding";
    if (count < 1 || count > CLFI_EMBEDDING_TERMS)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: %d tables, expected 1 to %d", op, count, CLFI_EMBEDDING_TERMS);
    CLF_TRY(clfi_check_float(op, "y", y));
    CLF_TRY(clfi_check_rank(op, "y", y, 2));
    CLF_TRY(clfi_check_adjacent(op, "y", y));
    CLF_TRY(clfi_check_writable(op, "y", y));
    for (int k = 0; k < count; k++)
        CLF_TRY(check_term(&terms[k], k, y));
    if (clfi_view_count(y) == 0)
        return CLF_OK;
    if (terms[0].table->blocks != CLF_WEIGHT_F32 && count > 1)
        return add_to_blocks(context, terms, count, scale, y);
    return run_blocks(context, terms, count, scale, y);
}

clf_status clfi_embedding_layer_norm(clf_context *context, const clf_embedding_term *terms, int count, float scale, const clf_view *gamma,
                                     const clf_view *beta, float eps, const clf_view *y)
{
    CLF_TRY(clfi_embedding_sum(context, terms, count, scale, y));
    return clfi_layer_norm(context, y, NULL, gamma, beta, 1, eps, y);
}

/* Reads the ids back and checks 0 <= id < rows. */
static clf_status check_ids(const clf_tensor *ids, int64_t rows, int k)
{
    const size_t count = clf_tensor_count(ids);
    int32_t *value;
    CLF_TRY(clfi_alloc(count, sizeof *value, "ids", &value));
    clf_status st = clf_tensor_read(ids, value, count * sizeof *value);
    for (size_t i = 0; st == CLF_OK && i < count; i++)
        if (value[i] < 0 || value[i] >= rows)
            st = clfi_fail(CLF_INVALID_ARGUMENT, "embedding: id %d of token %zu, table %d has %lld rows", (int)value[i], i, k,
                           (long long)rows);
    free(value);
    return st;
}

clf_status clf_embedding(clf_context *context, const clf_embedding_table *tables, int count, float scale, clf_tensor *y)
{
    static const char op[] = "embedding";
    clf_embedding_term terms[CLFI_EMBEDDING_TERMS];
    const clf_view *vy;
    if (!tables || count < 1 || count > CLFI_EMBEDDING_TERMS)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: %d tables, expected 1 to %d", op, tables ? count : 0, CLFI_EMBEDDING_TERMS);
    CLF_TRY(clfi_check_tensor(context, op, "y", y, &vy));
    for (int k = 0; k < count; k++) {
        terms[k].blocks = 1;
        CLF_TRY(clfi_check_tensor(context, op, "table", tables[k].table, &terms[k].table));
        CLF_TRY(clfi_check_optional(context, op, "ids", tables[k].ids, &terms[k].ids));
        CLF_TRY(clfi_check_rank(op, "table", terms[k].table, 2));
        if (!terms[k].ids)
            continue;
        CLF_TRY(clfi_check_dtype(op, "ids", terms[k].ids, CLF_I32));
        CLF_TRY(check_ids(tables[k].ids, terms[k].table->dim[0], k));
    }
    return clfi_embedding_sum(context, terms, count, scale, vy);
}
