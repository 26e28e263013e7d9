/* SPDX-License-Identifier: MIT */
/* Merges the best hits of all ranks of MPI. */
#include "jobs/ranks_search.h"

#ifndef CLF_HAVE_MPI
#define CLF_HAVE_MPI 0
#endif

#if CLF_HAVE_MPI

#include <limits.h>
#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum { VALUES_TAG = 1, INDICES_TAG };

/* Makes a type of a row of `length` elements. Both numbers must be ints, with which MPI counts. */
static clf_status make_row(size_t rows, size_t length, MPI_Datatype of, MPI_Datatype *out)
{
    if (rows > INT_MAX || length > INT_MAX)
        CLF_FAIL(CLF_UNSUPPORTED, "search under mpirun: expected at most %d queries with at most as many numbers each, found %zu with %zu",
                 INT_MAX, rows, length);
    MPI_Type_contiguous((int)length, of, out);
    MPI_Type_commit(out);
    return CLF_OK;
}

clf_status cli_ranks_spread_queries(const cli_ranks *ranks, cli_collection *queries)
{
    uint64_t dim[2] = {queries->count, queries->width};
    MPI_Datatype row;
    if (!ranks)
        return CLF_OK;
    MPI_Bcast(dim, 2, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    queries->count = (size_t)dim[0];
    queries->width = (size_t)dim[1];
    CLF_TRY(clfi_grow(&queries->rows, &queries->capacity, queries->count * queries->width, sizeof *queries->rows, "embeddings"));
    CLF_TRY(make_row(queries->count, queries->width, MPI_FLOAT, &row));
    MPI_Bcast(queries->rows, (int)queries->count, row, 0, MPI_COMM_WORLD);
    MPI_Type_free(&row);
    return CLF_OK;
}

size_t cli_ranks_sum(const cli_ranks *ranks, size_t own)
{
    const uint64_t mine = own;
    uint64_t all = own;
    if (ranks)
        MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return (size_t)all;
}

/* Widens [n, own] to [n, k] in place; the new entries are worse than any hit. */
static void widen(size_t n, size_t own, size_t k, float *values, int64_t *indices)
{
    for (size_t q = n; q-- > 0;) {
        memmove(values + q * k, values + q * own, own * sizeof *values);
        memmove(indices + q * k, indices + q * own, own * sizeof *indices);
        for (size_t i = own; i < k; i++) {
            values[q * k + i] = -INFINITY;
            indices[q * k + i] = INT64_MAX;
        }
    }
}

/* Puts the best k of `more` and of values, which hold k each, into values; old_*: memory for k. */
static void merge(size_t k, float *values, int64_t *indices, const float *more, const int64_t *more_indices, float *old_values,
                  int64_t *old_indices)
{
    memcpy(old_values, values, k * sizeof *values);
    memcpy(old_indices, indices, k * sizeof *indices);
    for (size_t at = 0, i = 0, j = 0; at < k; at++) {
        const bool takes_old = old_values[i] > more[j] || (old_values[i] == more[j] && old_indices[i] < more_indices[j]);
        values[at] = takes_old ? old_values[i] : more[j];
        indices[at] = takes_old ? old_indices[i] : more_indices[j];
        i += takes_old;
        j += !takes_old;
    }
}

/* Receives and merges the hits of all other ranks, on rank 0. */
static clf_status receive(size_t ranks, size_t n, size_t k, MPI_Datatype value_row, MPI_Datatype index_row, float *values, int64_t *indices)
{
    float *more = NULL, *old = NULL;
    int64_t *more_indices = NULL, *old_indices = NULL;
    clf_status st;
    CLF_GOTO(clfi_alloc(n * k, sizeof *more, "best scores", &more));
    CLF_GOTO(clfi_alloc(n * k, sizeof *more_indices, "best scores", &more_indices));
    CLF_GOTO(clfi_alloc(k, sizeof *old, "best scores", &old));
    CLF_GOTO(clfi_alloc(k, sizeof *old_indices, "best scores", &old_indices));
    for (int from = 1; from < (int)ranks; from++) {
        MPI_Recv(more, (int)n, value_row, from, VALUES_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(more_indices, (int)n, index_row, from, INDICES_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (size_t at = 0; at < n * k; at += k)
            merge(k, values + at, indices + at, more + at, more_indices + at, old, old_indices);
    }
done:
    free(more);
    free(more_indices);
    free(old);
    free(old_indices);
    return st;
}

clf_status cli_ranks_merge_hits(const cli_ranks *ranks, size_t n, size_t own, size_t k, float *values, int64_t *indices)
{
    size_t rank, size;
    MPI_Datatype value_row, index_row;
    clf_status st = CLF_OK;
    if (!ranks)
        return CLF_OK;
    cli_ranks_place(ranks, &rank, &size);
    CLF_TRY(make_row(n, k, MPI_FLOAT, &value_row));
    CLF_TRY(make_row(n, k, MPI_INT64_T, &index_row));
    widen(n, own, k, values, indices);
    if (rank == 0) {
        st = receive(size, n, k, value_row, index_row, values, indices);
    } else {
        MPI_Send(values, (int)n, value_row, 0, VALUES_TAG, MPI_COMM_WORLD);
        MPI_Send(indices, (int)n, index_row, 0, INDICES_TAG, MPI_COMM_WORLD);
    }
    MPI_Type_free(&value_row);
    MPI_Type_free(&index_row);
    return st;
}

#else

clf_status cli_ranks_spread_queries(const cli_ranks *ranks, cli_collection *queries)
{
    (void)ranks;
    (void)queries;
    return CLF_OK;
}

size_t cli_ranks_sum(const cli_ranks *ranks, size_t own)
{
    (void)ranks;
    return own;
}

clf_status cli_ranks_merge_hits(const cli_ranks *ranks, size_t n, size_t own, size_t k, float *values, int64_t *indices)
{
    (void)ranks, (void)n, (void)own, (void)k, (void)values, (void)indices;
    return CLF_OK;
}

#endif
