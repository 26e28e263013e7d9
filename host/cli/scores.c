/* SPDX-License-Identifier: MIT */
/* Scores on the device. */
#include "cli/scores.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "op/gemm.h"
#include "op/linear.h"
#include "op/pooling.h"
#include "op/top_k.h"

enum { QUERY_BLOCK = 64, ROW_BLOCK = 65536 };

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Rows on the device, of cosines divided by their norms. */
static clf_status upload(clf_context *context, clf_similarity similarity, const float *rows, size_t n, size_t width, clf_tensor **out)
{
    clf_tensor *tensor;
    CLF_TRY(clf_tensor_create_from(context, CLF_F32, 2, (int64_t[]){(int64_t)n, (int64_t)width}, rows, &tensor));
    const clf_view *view = clfi_tensor_view(tensor);
    const clf_status st = similarity == CLF_SIMILARITY_COSINE ? clfi_l2_normalize(context, view, 1e-12f, view) : CLF_OK;
    if (st != CLF_OK) {
        clf_tensor_destroy(tensor);
        return st;
    }
    *out = tensor;
    return CLF_OK;
}

/* Rounding may take the cosine of two vectors of length 1 beyond 1. NaN stays. */
static void bound_cosines(clf_similarity similarity, float *scores, size_t count)
{
    for (size_t i = 0; similarity == CLF_SIMILARITY_COSINE && i < count; i++)
        scores[i] = scores[i] > 1 ? 1 : scores[i] < -1 ? -1 : scores[i];
}

/* scores [n, m] of two blocks, on the device. */
static clf_status score_block(clf_context *context, const clf_tensor *a, const clf_tensor *b, clf_tensor **out)
{
    clf_tensor *columns = NULL, *scores = NULL;
    const int64_t dim[2] = {clf_tensor_dim(a)[0], clf_tensor_dim(b)[0]};
    clf_status st = clf_tensor_permute(b, (int[]){1, 0}, &columns);
    if (st == CLF_OK)
        st = clf_tensor_create(context, CLF_F32, 2, dim, &scores);
    if (st == CLF_OK)
        st = clf_gemm(context, a, columns, NULL, scores);
    clf_tensor_destroy(columns);
    if (st != CLF_OK) {
        clf_tensor_destroy(scores);
        return st;
    }
    *out = scores;
    return CLF_OK;
}

clf_status cli_score_matrix(clf_context *context, clf_similarity similarity, const float *a, size_t n, const float *b, size_t m,
                            size_t width, float *out)
{
    for (size_t i = 0; i < n; i += ROW_BLOCK) {
        for (size_t j = 0; j < m; j += QUERY_BLOCK) {
            const size_t rows = smaller(ROW_BLOCK, n - i), columns = smaller(QUERY_BLOCK, m - j);
            clf_tensor *ta = NULL, *tb = NULL, *scores = NULL;
            float *block = NULL;
            clf_status st;
            CLF_GOTO(clfi_alloc(rows * columns, sizeof *block, "scores", &block));
            CLF_GOTO(upload(context, similarity, a + i * width, rows, width, &ta));
            CLF_GOTO(upload(context, similarity, b + j * width, columns, width, &tb));
            CLF_GOTO(score_block(context, ta, tb, &scores));
            CLF_GOTO(clf_tensor_read_f32(scores, block, rows * columns));
            bound_cosines(similarity, block, rows * columns);
            for (size_t r = 0; r < rows; r++)
                memcpy(out + (i + r) * m + j, block + r * columns, columns * sizeof *out);
        done:
            free(block);
            clf_tensor_destroy(ta);
            clf_tensor_destroy(tb);
            clf_tensor_destroy(scores);
            CLF_TRY(st);
        }
    }
    return CLF_OK;
}

/* Merges a block's candidates (falling) into the best so far (falling); earlier blocks have lower indices and win ties. */
static void merge(float *values, int64_t *indices, size_t have, const float *more, const int32_t *places, size_t count, int64_t base,
                  size_t k)
{
    float old_values[1024];
    int64_t old_indices[1024];
    memcpy(old_values, values, have * sizeof *values);
    memcpy(old_indices, indices, have * sizeof *indices);
    for (size_t i = 0, j = 0, at = 0; at < k && (i < have || j < count); at++) {
        const bool take_old = i < have && (j >= count || old_values[i] >= more[j]);
        values[at] = take_old ? old_values[i] : more[j];
        indices[at] = take_old ? old_indices[i] : base + places[j];
        if (take_old)
            i++;
        else
            j++;
    }
}

/* The k best of one block of rows for one block of queries. */
static clf_status top_of_block(clf_context *context, const clf_tensor *queries, const clf_tensor *rows, int k, float *values,
                               int32_t *places)
{
    clf_tensor *scores = NULL, *best = NULL, *where = NULL;
    const int64_t dim[2] = {clf_tensor_dim(queries)[0], k};
    const size_t count = (size_t)(dim[0] * dim[1]);
    clf_status st;
    CLF_GOTO(score_block(context, queries, rows, &scores));
    CLF_GOTO(clf_tensor_create(context, CLF_F32, 2, dim, &best));
    CLF_GOTO(clf_tensor_create(context, CLF_I32, 2, dim, &where));
    CLF_GOTO(clfi_top_k(context, clfi_tensor_view(scores), k, clfi_tensor_view(best), clfi_tensor_view(where)));
    CLF_GOTO(clf_tensor_read(best, values, count * sizeof *values));
    CLF_GOTO(clf_tensor_read(where, places, count * sizeof *places));
done:
    clf_tensor_destroy(scores);
    clf_tensor_destroy(best);
    clf_tensor_destroy(where);
    return st;
}

clf_status cli_score_top(clf_context *context, clf_similarity similarity, const float *queries, size_t n, const float *rows, size_t m,
                         size_t width, size_t k, float *values, int64_t *indices)
{
    if (k > CLFI_TOP_K_MAX || k > m)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "search: the %zu best of %zu rows: expected at most %zu", k, m, smaller(m, CLFI_TOP_K_MAX));
    float *block_values = NULL;
    int32_t *block_places = NULL;
    clf_tensor *query_block = NULL, *row_block = NULL;
    clf_status st;
    CLF_GOTO(clfi_alloc(QUERY_BLOCK * k, sizeof *block_values, "best scores", &block_values));
    CLF_GOTO(clfi_alloc(QUERY_BLOCK * k, sizeof *block_places, "best scores", &block_places));
    for (size_t j = 0; j < m; j += ROW_BLOCK) {
        const size_t count = smaller(ROW_BLOCK, m - j), block_k = smaller(k, count), have = smaller(k, j);
        CLF_GOTO(upload(context, similarity, rows + j * width, count, width, &row_block));
        for (size_t i = 0; i < n; i += QUERY_BLOCK) {
            const size_t query_count = smaller(QUERY_BLOCK, n - i);
            CLF_GOTO(upload(context, similarity, queries + i * width, query_count, width, &query_block));
            CLF_GOTO(top_of_block(context, query_block, row_block, (int)block_k, block_values, block_places));
            for (size_t q = 0; q < query_count; q++)
                merge(values + (i + q) * k, indices + (i + q) * k, have, block_values + q * block_k, block_places + q * block_k, block_k,
                      (int64_t)j, k);
            clf_tensor_destroy(query_block);
            query_block = NULL;
        }
        clf_tensor_destroy(row_block);
        row_block = NULL;
    }
done:
    clf_tensor_destroy(query_block);
    clf_tensor_destroy(row_block);
    free(block_values);
    free(block_places);
    return st;
}
