/* SPDX-License-Identifier: MIT */
/* Measures a workload and its peer alternately. The peer of linear layers is OpenBLAS on the host. Other workloads name their own
 * peer (a copy of as many bytes, a plain product of the same sizes). It runs on the same device, on the same engine if it has that, and
 * is verified first. */
#ifndef CLF_BENCH_PEER_H
#define CLF_BENCH_PEER_H

#include "support/measure.h"
#include "support/openblas.h"

typedef struct bench_peer {
    const char *name; /* "OpenBLAS", "copy", "plain product"; NULL: there is no peer */
    bench_openblas *openblas;
    clfi_workload_list list; /* the workload of `row` */
    bench_row row;
    double scale;         /* factor on the time of `row`, so that both do as much work; 0: no row */
    clfi_samples ratios;  /* time of the peer divided by that of the workload, for each turn */
} bench_peer;

void bench_peer_open(const bench_row *beside, clf_context *context, bench_peer *out);
void bench_peer_turn(bench_peer *peer, double ms); /* ms: time of the workload's turn before; adds to ratios */
void bench_peer_close(bench_peer *peer);

#endif
