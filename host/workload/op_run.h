/* SPDX-License-Identifier: MIT */
/* Shared by all op workloads: an engine forced while the op runs, chains of runs, and their times. */
#ifndef CLFI_WORKLOAD_OP_RUN_H
#define CLFI_WORKLOAD_OP_RUN_H

#include "base/status.h"
#include "op/engines.h"
#include "runtime/context.h"
#include "workload/operand.h"
#include "workload/workload.h"

/* First member of every op's state. */
typedef struct clfi_op_run {
    clf_context *context;                /* borrowed */
    char engines[64];                    /* "gemm=packed"; "": whatever the context chooses */
    clf_precision precision;             /* that the op is asked to keep: the context's, unless a workload has one of its own */
    int chain;                           /* times that one run enqueues the op */
    clf_status (*enqueue)(void *state);  /* the op once */
} clfi_op_run;

/* Adds an ops workload: copies the case into its parameters and takes over `work`. OUT_OF_MEMORY, also for work NULL. */
clf_status clfi_op_workload_add(clfi_workload_list *list, clfi_workload *workload, json_t *work, const void *one, size_t size);

/* `engines` of clfi_workload_type: every row of the workload's table; a single "" without one. */
clf_status clfi_op_engines(const clfi_workload *workload, clf_context *context, clfi_engine_list *out);

/* The first step of a setup: forces `engine` of `op` ("": none) and takes the chain from the workload's description. INVALID_ARGUMENT: the
 * name is too long. */
clf_status clfi_op_run_init(clfi_op_run *run, const clfi_workload *workload, clf_context *context, const char *op, const char *engine,
                            clf_status (*enqueue)(void *state));

/* `prepare` of clfi_workload_type: a zeroed state of `size` bytes, filled by setup, and one run, so that an engine that cannot do it is
 * known here (UNSUPPORTED). */
typedef clf_status (*clfi_op_setup)(const clfi_workload *workload, clf_context *context, const char *engine, void *state);
clf_status clfi_op_prepare(const clfi_workload *workload, clf_context *context, const char *engine, size_t size, clfi_op_setup setup,
                           void **state);

/* step(state) with the engine forced and the precision set, for preparations that depend on it (packing weights). */
clf_status clfi_op_run_step(void *state, clf_status (*step)(void *state));

/* The op once into `result`, which is NaN before and on the host afterwards: for verification. */
clf_status clfi_op_run_fresh(void *state, clfi_operand *result);

/* `run` of clfi_workload_type: the chain, from the first enqueue until the queue is empty. */
clf_status clfi_op_run_chain(void *state, clfi_sample *out);

/* Enqueues per run that make `flops` or `bytes` of one op worth a round trip to the device. Inside a model a small op costs the time of a
 * launch in a full queue, not that of an idle one. A fixed rule, so that the work is the same on every device. */
int clfi_op_chain(double flops, double bytes);

/* The end of a workload's id that tells its chain: "-x32"; "" for 1. Returns text. */
enum { CLFI_CHAIN_TEXT = 16 };
const char *clfi_op_chain_text(int chain, char text[CLFI_CHAIN_TEXT]);

#endif
