/* SPDX-License-Identifier: MIT */
/* Implements the public search: multiplies queries with blocks of rows and merges each query's best rows into its best so far. */
#include "clformer/search.h"

#include <limits.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/options.h"
#include "kernel/search.h"
#include "op/check.h"
#include "op/gemm.h"
#include "op/pooling.h"
#include "op/top_k.h"

enum {
    BLOCK_ROWS = 65536,
    WORK_BYTES = 1 << 26,                /* limit for the scores and keys of the queries compared with a block in one step */
    SCORE_BYTES = 4 + 2 * CLFI_KEY_BYTES /* per score: the score, and its key before and after a step of sorting */
};

CLFI_OPTIONS(clf_search_params, CLF_SEARCH_PARAMS_INIT)

static const char op[] = "search";

struct clf_search {
    clf_context *context; /* borrowed: the tensors keep it alive */
    clf_search_metric metric;
    int64_t k, block_rows, rows, kept; /* rows: added so far; kept: keys per query so far, at most k */
    clf_tensor *queries;               /* [Q,C]; for cosines a copy with rows of length 1 */
    clf_tensor *best[2];               /* [Q,k] keys as pairs of i32 */
    int current;                       /* which of the two has the best so far */
};

static clf_view part_of(const clf_view *rows, int64_t first, int64_t count)
{
    clf_view part = *rows;
    part.offset += first * rows->stride[0];
    part.dim[0] = count;
    return part;
}

static clf_status check_matrix(const char *what, const clf_view *view, int64_t columns)
{
    CLF_TRY(clfi_check_float(op, what, view));
    CLF_TRY(clfi_check_rank(op, what, view, 2));
    if (view->dim[1] < 1 || (columns && view->dim[1] != columns))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: %s: %s is [%lld,%lld], expected %lld columns", op, what, (long long)view->dim[0],
                 (long long)view->dim[1], (long long)(columns ? columns : 1));
    return CLF_OK;
}

static clf_status check_params(const clf_search_params *params, int64_t k)
{
    if ((unsigned)params->metric >= CLF_SEARCH_METRIC_COUNT)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_VALUE: %s: metric %d, expected 0 to %d", op, (int)params->metric, CLF_SEARCH_METRIC_COUNT - 1);
    if (params->block_rows < 0 || params->block_rows > INT_MAX)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_VALUE: %s: block_rows %lld, expected 0 to %d", op, (long long)params->block_rows, INT_MAX);
    if (k < 1 || k > INT_MAX)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_VALUE: %s: k is %lld, expected 1 to %d", op, (long long)k, INT_MAX);
    return CLF_OK;
}

/* *out: the rows themselves, or for cosines a temporary copy with rows of length 1. */
static clf_status prepare(clf_context *context, clf_search_metric metric, const clf_view *rows, clf_view *out)
{
    *out = *rows;
    if (metric != CLF_SEARCH_COSINE)
        return CLF_OK;
    CLF_TRY(clfi_view_temporary(context, CLF_F32, 2, rows->dim, out));
    return clfi_l2_normalize(context, rows, 1e-12f, out);
}

static clf_gemm_operand matrix_of(const clf_view *view, bool is_turned)
{
    return (clf_gemm_operand){view->buffer, view->dtype, view->offset, view->stride[is_turned], view->stride[!is_turned], {0}};
}

static clf_key_rows best_of(const clf_search *s, int which, int64_t first, int64_t count)
{
    const clf_view *view = clfi_tensor_view(s->best[which]);
    return (clf_key_rows){view->buffer, view->offset / 2 + first * s->k, s->k, count};
}

static clf_status temporary_keys(clf_context *context, int64_t rows, int64_t count, clf_key_rows *out)
{
    clf_region region;
    CLF_TRY(clfi_arena_alloc(context, (size_t)(rows * count) * CLFI_KEY_BYTES, &region));
    *out = (clf_key_rows){region.buffer, (int64_t)(region.offset_bytes / CLFI_KEY_BYTES), count, count};
    return CLF_OK;
}

/* Selects the `count` best keys of each row of scores; column j of the scores is row base + j of the search. */
static clf_status select_best(clf_context *context, const clf_view *scores, int64_t count, int64_t base, clf_key_rows *out)
{
    if (count > CLFI_TOP_K_MAX) {
        clf_key_rows keys[2];
        int sorted;
        for (int i = 0; i < 2; i++)
            CLF_TRY(temporary_keys(context, scores->dim[0], scores->dim[1], &keys[i]));
        CLF_TRY(clfi_search_sort(context, scores, base, keys, &sorted));
        *out = keys[sorted];
        out->count = count;
        return CLF_OK;
    }
    const int64_t dim[2] = {scores->dim[0], count};
    clf_view values, columns;
    CLF_TRY(clfi_view_temporary(context, CLF_F32, 2, dim, &values));
    CLF_TRY(clfi_view_temporary(context, CLF_I32, 2, dim, &columns));
    CLF_TRY(clfi_top_k(context, scores, (int)count, &values, &columns));
    CLF_TRY(temporary_keys(context, dim[0], count, out));
    return clfi_search_keys(context, &values, &columns, base, out);
}

/* Compares queries first .. first + count - 1 with a block of prepared rows. Their `kept` best keys go to the list that is not current. */
static clf_status compare(const clf_search *s, int64_t first, int64_t count, const clf_view *rows, int64_t kept)
{
    const clf_view queries = part_of(clfi_tensor_view(s->queries), first, count);
    const int64_t n = rows->dim[0], most = n < s->k ? n : s->k;
    clf_view scores;
    clf_key_rows block;
    CLF_TRY(clfi_view_temporary(s->context, CLF_F32, 2, (int64_t[]){count, n}, &scores));
    clf_gemm_args product = CLFI_GEMM_ARGS_INIT;
    product.m = count;
    product.n = n;
    product.k = queries.dim[1];
    product.a = matrix_of(&queries, false);
    product.b = matrix_of(rows, true);
    product.c = matrix_of(&scores, false);
    CLF_TRY(clfi_gemm(s->context, &product));
    if (s->metric == CLF_SEARCH_COSINE)
        CLF_TRY(clfi_search_bound(s->context, &scores));
    CLF_TRY(select_best(s->context, &scores, most, s->rows, &block));
    const clf_key_rows before = best_of(s, s->current, first, s->kept), after = best_of(s, !s->current, first, kept);
    return clfi_search_merge(s->context, count, &before, &block, &after);
}

static clf_status add_block(clf_search *s, const clf_view *rows)
{
    const int64_t queries = clfi_tensor_view(s->queries)->dim[0], n = rows->dim[0];
    const int64_t fitting = WORK_BYTES / SCORE_BYTES / n, step = fitting < 1 ? 1 : fitting;
    const int64_t kept = n < s->k - s->kept ? s->kept + n : s->k;
    clf_view prepared;
    CLF_TRY(prepare(s->context, s->metric, rows, &prepared));
    for (int64_t first = 0; first < queries; first += step) {
        const clf_arena_mark mark = clfi_arena_top(s->context);
        const clf_status st = compare(s, first, queries - first < step ? queries - first : step, &prepared, kept);
        clfi_arena_release(s->context, mark);
        CLF_TRY(st);
    }
    s->current = !s->current;
    s->kept = kept;
    s->rows += n;
    return CLF_OK;
}

static clf_status add(clf_search *s, const clf_view *rows)
{
    CLF_TRY(check_matrix("rows", rows, clfi_tensor_view(s->queries)->dim[1]));
    if (rows->dim[0] > INT_MAX - s->rows)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: %lld rows beside %lld: an index holds %d", op, (long long)rows->dim[0], (long long)s->rows, INT_MAX);
    for (int64_t first = 0; first < rows->dim[0]; first += s->block_rows) {
        const int64_t left = rows->dim[0] - first;
        const clf_view block = part_of(rows, first, left < s->block_rows ? left : s->block_rows);
        const clf_arena_mark mark = clfi_arena_top(s->context);
        const clf_status st = add_block(s, &block);
        clfi_arena_release(s->context, mark);
        CLF_TRY(st);
    }
    return CLF_OK;
}

static clf_status keep_queries(clf_search *s, const clf_view *queries)
{
    if (s->metric != CLF_SEARCH_COSINE)
        return clfi_tensor_from_view(queries, &s->queries);
    CLF_TRY(clf_tensor_create(s->context, CLF_F32, 2, queries->dim, &s->queries));
    return clfi_l2_normalize(s->context, queries, 1e-12f, clfi_tensor_view(s->queries));
}

clf_status clf_search_create(clf_context *context, const clf_tensor *queries, int64_t k, const clf_search_params *params, clf_search **out)
{
    clf_search_params given;
    const clf_view *q;
    clf_search *s = NULL;
    clf_status st;
    CLF_TRY(clf_search_params_read(params, &given));
    CLF_TRY(clfi_check_tensor(context, op, "queries", queries, &q));
    if (!out)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: out is NULL", op);
    CLF_TRY(check_matrix("queries", q, 0));
    CLF_TRY(check_params(&given, k));
    CLF_TRY(clfi_alloc(1, sizeof *s, "search", &s));
    s->context = context;
    s->metric = given.metric;
    s->k = k;
    s->block_rows = given.block_rows ? given.block_rows : BLOCK_ROWS;
    CLF_GOTO(keep_queries(s, q));
    for (int i = 0; i < 2; i++)
        CLF_GOTO(clf_tensor_create(context, CLF_I32, 3, (int64_t[]){q->dim[0], k, 2}, &s->best[i]));
    *out = s;
    s = NULL;
done:
    clf_search_destroy(s);
    return st;
}

clf_status clf_search_add(clf_search *search, const clf_tensor *rows)
{
    const clf_view *r;
    if (!search)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: search is NULL", op);
    CLF_TRY(clfi_check_tensor(search->context, op, "rows", rows, &r));
    return add(search, r);
}

int64_t clf_search_row_count(const clf_search *search)
{
    return search ? search->rows : 0;
}

static clf_status check_result(const char *what, const clf_view *view, clf_dtype dtype, int64_t rows, int64_t k)
{
    CLF_TRY(clfi_check_dtype(op, what, view, dtype));
    CLF_TRY(clfi_check_rank(op, what, view, 2));
    if (view->dim[0] != rows || view->dim[1] != k || !clfi_view_is_dense(view))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: %s: %s is [%lld,%lld], expected [%lld,%lld] without gaps", op, what,
                 (long long)view->dim[0], (long long)view->dim[1], (long long)rows, (long long)k);
    return CLF_OK;
}

clf_status clf_search_best(const clf_search *search, clf_tensor *scores, clf_tensor *indices)
{
    const clf_view *s, *i;
    if (!search)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: search is NULL", op);
    const int64_t queries = clfi_tensor_view(search->queries)->dim[0];
    CLF_TRY(clfi_check_tensor(search->context, op, "scores", scores, &s));
    CLF_TRY(clfi_check_tensor(search->context, op, "indices", indices, &i));
    if (search->kept == 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: no row was added", op);
    CLF_TRY(check_result("scores", s, CLF_F32, queries, search->kept));
    CLF_TRY(check_result("indices", i, CLF_I32, queries, search->kept));
    const clf_key_rows best = best_of(search, search->current, 0, search->kept);
    return clfi_search_result(search->context, &best, s, i);
}

void clf_search_destroy(clf_search *search)
{
    if (!search)
        return;
    for (int i = 0; i < 2; i++)
        clf_tensor_destroy(search->best[i]);
    clf_tensor_destroy(search->queries);
    free(search);
}

clf_status clf_search_rows(clf_context *context, const clf_tensor *queries, const clf_tensor *rows, int64_t k,
                           const clf_search_params *params, clf_tensor *scores, clf_tensor *indices)
{
    clf_search *search = NULL;
    const clf_view *r, *s, *i, *q;
    CLF_TRY(clfi_check_tensor(context, op, "queries", queries, &q));
    CLF_TRY(clfi_check_tensor(context, op, "rows", rows, &r));
    CLF_TRY(clfi_check_tensor(context, op, "scores", scores, &s));
    CLF_TRY(clfi_check_tensor(context, op, "indices", indices, &i));
    CLF_TRY(check_matrix("queries", q, 0));
    CLF_TRY(check_matrix("rows", r, q->dim[1]));
    if (k < 1 || k > r->dim[0])
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_VALUE: %s: k is %lld, expected 1 to the %lld rows", op, (long long)k, (long long)r->dim[0]);
    CLF_TRY(check_result("scores", s, CLF_F32, q->dim[0], k)); /* fails before any work is done */
    CLF_TRY(check_result("indices", i, CLF_I32, q->dim[0], k));
    CLF_TRY(clf_search_create(context, queries, k, params, &search));
    clf_status st = add(search, r);
    if (st == CLF_OK)
        st = clf_search_best(search, scores, indices);
    clf_search_destroy(search);
    return st;
}
