/* SPDX-License-Identifier: MIT */
/* Runs and times OpenBLAS. */
#include "support/openblas.h"

#include <stdlib.h>
#include <string.h>

#ifdef CLF_HAVE_OPENBLAS

#include <cblas.h>

#include "base/clock.h"
#include "base/random.h"

struct bench_openblas {
    int m, n, k, chain;
    float *x, *w, *y;
};

static int size_of(const clfi_workload *workload, const char *key)
{
    return (int)json_integer_value(json_object_get(workload->work, key));
}

bench_openblas *bench_openblas_create(const clfi_workload *workload)
{
    const char *op = json_string_value(json_object_get(workload->work, "op"));
    if (!op || strcmp(op, "linear") != 0 || json_object_get(workload->work, "weights")) /* OpenBLAS multiplies only floats */
        return NULL;
    bench_openblas *peer = malloc(sizeof *peer);
    if (!peer)
        abort();
    *peer = (bench_openblas){size_of(workload, "m"), size_of(workload, "n"), size_of(workload, "k"), size_of(workload, "chain"),
                             NULL, NULL, NULL};
    const size_t x = (size_t)peer->m * (size_t)peer->k, w = (size_t)peer->n * (size_t)peer->k, y = (size_t)peer->m * (size_t)peer->n;
    clfi_random random = {1};
    peer->x = malloc((x + w + y) * sizeof *peer->x);
    if (!peer->x)
        abort();
    peer->w = peer->x + x;
    peer->y = peer->w + w;
    clfi_random_fill(&random, peer->x, x + w + y, -1, 1);
    return peer;
}

void bench_openblas_destroy(bench_openblas *peer)
{
    if (peer)
        free(peer->x);
    free(peer);
}

double bench_openblas_sample(bench_openblas *peer)
{
    const uint64_t start = clfi_now_ns();
    for (int i = 0; i < peer->chain; i++)
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, peer->m, peer->n, peer->k, 1.0f, peer->x, peer->k, peer->w, peer->k, 0.0f,
                    peer->y, peer->n);
    return (double)(clfi_now_ns() - start) / 1e6;
}

#else

bench_openblas *bench_openblas_create(const clfi_workload *workload)
{
    (void)workload;
    return NULL;
}

void bench_openblas_destroy(bench_openblas *peer)
{
    (void)peer;
}

double bench_openblas_sample(bench_openblas *peer)
{
    (void)peer;
    return 0;
}

#endif
