/* SPDX-License-Identifier: MIT */
/* Peers of a workload, measured in turns with it. Linear layers have OpenBLAS on the host. The workload's own peer (a copy of as many
 * bytes, a plain product of the same sizes) runs on the same device and engine, and is verified before it is timed. */
#ifndef CLF_BENCH_PEER_H
#define CLF_BENCH_PEER_H

#include "support/measure.h"
#include "support/openblas.h"

typedef struct bench_peer {
    const char *name; /* "OpenBLAS", "copy", "plain product"; NULL: nothing stands beside the workload */
    bench_openblas *openblas;
    clfi_workload_list list; /* the workload of `row` */
    bench_row row;
    double scale;         /* times of `row`, for as much work as the workload's; 0: no row */
    clfi_samples ratios;  /* time of the peer by that of the workload, turn by turn */
} bench_peer;

void bench_peer_open(const bench_row *beside, clf_context *context, bench_peer *out);
void bench_peer_turn(bench_peer *peer, double ms); /* ms: of the turn of `beside` before it; adds to ratios */
void bench_peer_close(bench_peer *peer);

#endif
