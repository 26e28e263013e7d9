/* SPDX-License-Identifier: MIT */
/* Computes scores of queries and a corpus on the device. */
#include "jobs/scores.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "clformer/search.h"
#include "op/gemm.h"
#include "op/linear.h"
#include "op/pooling.h"
#include "runtime/context.h"

enum { QUERY_BLOCK = 64, ROW_BLOCK = 65536 };

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Copies rows to the device, and for cosines divides them by their norms. */
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

/* Rounding may take the cosine of two vectors of length 1 beyond 1. NaN stays NaN. */
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

static clf_status score_matrix(clf_context *context, clf_similarity similarity, const float *a, size_t n, const float *b, size_t m,
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

clf_status cli_score_matrix(clf_context *context, clf_similarity similarity, const float *a, size_t n, const float *b, size_t m,
                            size_t width, float *out)
{
    clf_status st;
    do
        st = score_matrix(context, similarity, a, n, b, m, width, out);
    while (clfi_context_recover(context, &st));
    return st;
}

/* Reads the result of clf_search_best, with the rows' indices widened. */
static clf_status read_best(clf_context *context, const clf_search *search, size_t n, size_t k, float *values, int64_t *indices)
{
    const int64_t dim[2] = {(int64_t)n, (int64_t)k};
    clf_tensor *best = NULL, *where = NULL;
    int32_t *places = NULL;
    clf_status st;
    CLF_GOTO(clfi_alloc(n * k, sizeof *places, "best scores", &places));
    CLF_GOTO(clf_tensor_create(context, CLF_F32, 2, dim, &best));
    CLF_GOTO(clf_tensor_create(context, CLF_I32, 2, dim, &where));
    CLF_GOTO(clf_search_best(search, best, where));
    CLF_GOTO(clf_tensor_read(best, values, n * k * sizeof *values));
    CLF_GOTO(clf_tensor_read(where, places, n * k * sizeof *places));
    for (size_t i = 0; i < n * k; i++)
        indices[i] = places[i];
done:
    clf_tensor_destroy(best);
    clf_tensor_destroy(where);
    free(places);
    return st;
}

static clf_status score_top(clf_context *context, clf_similarity similarity, const float *queries, size_t n, const float *rows, size_t m,
                            size_t width, size_t k, float *values, int64_t *indices)
{
    clf_search_params params = CLF_SEARCH_PARAMS_INIT;
    clf_tensor *asked = NULL, *block = NULL;
    clf_search *search = NULL;
    clf_status st;
    if (k > m)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "search: expected at most as many hits as rows (%zu), found %zu", m, k);
    if (n == 0 || k == 0)
        return CLF_OK;
    params.metric = similarity == CLF_SIMILARITY_COSINE ? CLF_SEARCH_COSINE : CLF_SEARCH_DOT;
    CLF_GOTO(clf_tensor_create_from(context, CLF_F32, 2, (int64_t[]){(int64_t)n, (int64_t)width}, queries, &asked));
    CLF_GOTO(clf_search_create(context, asked, (int64_t)k, &params, &search));
    for (size_t j = 0; j < m; j += ROW_BLOCK) {
        const int64_t dim[2] = {(int64_t)smaller(ROW_BLOCK, m - j), (int64_t)width};
        CLF_GOTO(clf_tensor_create_from(context, CLF_F32, 2, dim, rows + j * width, &block));
        CLF_GOTO(clf_search_add(search, block));
        clf_tensor_destroy(block);
        block = NULL;
    }
    st = read_best(context, search, n, k, values, indices);
done:
    clf_search_destroy(search);
    clf_tensor_destroy(block);
    clf_tensor_destroy(asked);
    return st;
}

clf_status cli_score_top(clf_context *context, clf_similarity similarity, const float *queries, size_t n, const float *rows, size_t m,
                         size_t width, size_t k, float *values, int64_t *indices)
{
    clf_status st;
    do
        st = score_top(context, similarity, queries, n, rows, m, width, k, values, indices);
    while (clfi_context_recover(context, &st));
    return st;
}
