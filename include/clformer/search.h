/* SPDX-License-Identifier: MIT */
/* Nearest neighbours: the rows of a matrix that are most like each query, found on the device by comparing all of them. */
#ifndef CLFORMER_SEARCH_H
#define CLFORMER_SEARCH_H

#include "clformer/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum clf_search_metric {
    CLF_SEARCH_COSINE, /* q . r / (max(|q|, 1e-12) max(|r|, 1e-12)), from -1 to 1; 0 with a zero vector */
    CLF_SEARCH_DOT,    /* q . r; for rows of length 1 the cosine, without dividing them again */
    CLF_SEARCH_METRIC_COUNT
} clf_search_metric;

typedef struct clf_search_params {
    size_t size;              /* sizeof(clf_search_params) */
    clf_search_metric metric; /* default CLF_SEARCH_COSINE */
    int64_t block_rows;       /* rows that are compared at once; 0, the default: 65536 */
} clf_search_params;

#define CLF_SEARCH_PARAMS_INIT {.size = sizeof(clf_search_params)}
CLF_API CLF_NODISCARD clf_status clf_search_params_default(clf_search_params *out, size_t size); /* clformer.h: options */

/* Which calls wait. No function of this header waits for the queue: those marked "enqueued" return when their commands are in the queue,
 * and clf_tensor_read and clf_context_finish wait for the results. The first call of a kind compiles kernels, or loads them from the cache,
 * before it returns.
 *
 * Order. scores[q,:] fall, and of equal scores the row with the lower index comes first (-0 equals 0 and comes out as 0). A row or query
 * with a NaN gives NaN, which ranks below -infinity; a product with an infinity is what IEEE arithmetic gives. The selection is exact.
 * Scores are products in the precision that the context asks for, with sums in f32. At the highest precision |error| <= (C + 8) u sum_c
 * |q_c r_c|, u = 2^-24; for cosines it is <= (2 C + 12) u sum_c |q_c r_c| / (|q| |r|). The rounding of a score may depend on how many
 * queries and rows are compared at once, so that equal rows of different blocks may differ by it. */

/* The k best rows for each query, at once. queries [Q,C], rows [N,C]: f32, f16 or bf16, any strides, 1 <= C, 1 <= k <= N < 2^31. scores f32
 * and indices i32, [Q,k], without gaps. params NULL: the defaults. Q = 0: nothing to do. Device memory as clf_search_create and
 * clf_search_add. Enqueued. INVALID_ARGUMENT: NULL or a foreign tensor, shapes, dtypes, k or params that do not fit. UNSUPPORTED: N of 2^31
 * and more. OUT_OF_MEMORY. */
CLF_API CLF_NODISCARD clf_status clf_search_rows(clf_context *context, const clf_tensor *queries, const clf_tensor *rows, int64_t k,
                                                 const clf_search_params *params, clf_tensor *scores, clf_tensor *indices);

/* ---- Rows that come in parts, as from a file that is larger than the device's memory ----
 *
 *     clf_search_create(context, queries, 10, NULL, &search);
 *     for (each part)
 *         clf_search_add(search, part);           // the part may then be destroyed, or filled by a later call on the queue
 *     clf_search_best(search, scores, indices);   // [Q, 10], or fewer columns where there were fewer rows
 *     clf_search_destroy(search); */
typedef struct clf_search clf_search;

/* A search for the k best, k >= 1, of all rows that will be added. The caller leaves the queries unchanged while the search lives and may
 * destroy the tensor. Device memory: 16 Q k bytes, and for cosines 4 Q C. The search keeps the context alive and belongs to its thread.
 * *out: the caller destroys it. Enqueued. Errors as clf_search_rows; k may be larger than the number of rows. */
CLF_API CLF_NODISCARD clf_status clf_search_create(clf_context *context, const clf_tensor *queries, int64_t k,
                                                   const clf_search_params *params, clf_search **out);

/* Compares more rows [N,C], whose indices follow those of the rows before. Temporary device memory, whatever N is: 64 MiB, or 20 block_rows
 * bytes where that is more; selection's own (clf_top_k); for cosines block_rows x C floats. Enqueued. After a failure the search can only
 * be destroyed. Errors as clf_search_rows. UNSUPPORTED: 2^31 rows or more in all. */
CLF_API CLF_NODISCARD clf_status clf_search_add(clf_search *search, const clf_tensor *rows);

/* How many rows were added; 0 for NULL. Neither enqueues nor waits. */
CLF_API int64_t clf_search_row_count(const clf_search *search);

/* The best so far: scores f32 and indices i32 [Q, min(k, rows)], without gaps. More rows may be added afterwards. Enqueued.
 * INVALID_ARGUMENT: NULL or a foreign tensor, another shape or dtype, no row was added. */
CLF_API CLF_NODISCARD clf_status clf_search_best(const clf_search *search, clf_tensor *scores, clf_tensor *indices);

/* Does not wait: the driver frees the memory when the queue has finished with it. NULL is a no-op. */
CLF_API void clf_search_destroy(clf_search *search);

#ifdef __cplusplus
}
#endif
#endif
