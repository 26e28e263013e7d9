/* SPDX-License-Identifier: MIT */
/* What all op workloads share: an engine forced while the op runs, chains of runs, and their times. */
#ifndef CLFI_BENCH_OP_RUN_H
#define CLFI_BENCH_OP_RUN_H

#include "base/status.h"
#include "bench/workload.h"
#include "runtime/context.h"

/* First member of every op's state. */
typedef struct clfi_op_run {
    clf_context *context;                /* borrowed */
    char engines[64];                    /* "gemm=packed"; "": whatever the context chooses */
    int chain;                           /* times that one run enqueues the op */
    bool has_events;                     /* every kernel of the op leaves an event in a profiling context */
    clf_status (*enqueue)(void *state);  /* the op once */
} clfi_op_run;

/* engine "" forces none. INVALID_ARGUMENT: the name is too long. */
clf_status clfi_op_run_init(clfi_op_run *run, clf_context *context, const char *op, const char *engine, int chain,
                            clf_status (*enqueue)(void *state));

/* step(state) with the engine forced, for preparations that depend on it (packing weights). */
clf_status clfi_op_run_step(void *state, clf_status (*step)(void *state));

/* The op once, waited for: before the numbers are verified. */
clf_status clfi_op_run_once(void *state);

/* `run` of clfi_workload_type: the chain, from the first enqueue until the queue is empty. Device time is the sum over the kernels' events, known in
 * profiling contexts; CLBlast hands out the event of its last kernel only, so with it the device time is not known. */
clf_status clfi_op_run_chain(void *state, clfi_sample *out);

/* Enqueues per run that make `flops` or `bytes` of one op worth a round trip to the device: what small ops cost inside a model is the time
 * of a launch in a full queue, not that of an idle one. A fixed rule, so that the work is the same on every device. */
int clfi_op_chain(double flops, double bytes);

#endif
