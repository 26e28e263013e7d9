/* SPDX-License-Identifier: MIT */
/* Measures peers of workloads. */
#include "support/peer.h"

#include <string.h>

/* The engine of the workload if the peer has it, else the first engine of the peer. */
static const char *engine_of(const bench_row *beside, const clfi_workload *workload, clf_context *context)
{
    clfi_engine_list engines;
    if (!beside->engine[0] && workload->type == beside->workload->type)
        return beside->engine; /* "": the library chooses */
    bench_check(workload->type->engines(workload, context, &engines), workload->id);
    for (size_t i = 0; i < engines.count; i++)
        if (strcmp(engines.names[i], beside->engine) == 0)
            return engines.names[i];
    return engines.names[0];
}

void bench_peer_open(const bench_row *beside, clf_context *context, bench_peer *out)
{
    *out = (bench_peer){.openblas = bench_openblas_create(beside->workload)};
    if (out->openblas)
        out->name = "OpenBLAS";
    if (out->openblas || !beside->workload->peer)
        return;
    BENCH_OK(beside->workload->peer(beside->workload, &out->list));
    const clfi_workload *workload = &out->list.items[0];
    const bool is_copy = workload->flops <= 0;
    if (!bench_row_open(workload, context, engine_of(beside, workload, context), &out->row))
        return;
    out->name = is_copy ? "copy" : "plain product";
    out->scale = is_copy ? beside->workload->bytes / workload->bytes : beside->workload->flops / workload->flops;
}

/* Takes a turn, as bench_row_turn does. */
static double openblas_turn(bench_openblas *openblas)
{
    clfi_samples samples = CLFI_SAMPLES_INIT;
    bench_openblas_sample(openblas);
    for (int i = 0; i < BENCH_TURN_RUNS; i++)
        BENCH_OK(clfi_samples_add(&samples, bench_openblas_sample(openblas)));
    const double median = bench_summary(&samples).median;
    clfi_samples_free(&samples);
    return median;
}

void bench_peer_turn(bench_peer *peer, double ms)
{
    if (peer->name)
        BENCH_OK(clfi_samples_add(&peer->ratios,
                                  (peer->openblas ? openblas_turn(peer->openblas) : bench_row_turn(&peer->row) * peer->scale) / ms));
}

void bench_peer_close(bench_peer *peer)
{
    bench_openblas_destroy(peer->openblas);
    if (peer->scale > 0) /* the row was opened */
        bench_row_close(&peer->row);
    clfi_samples_free(&peer->ratios);
    clfi_workload_list_free(&peer->list);
}
