/* SPDX-License-Identifier: MIT */
/* Functions that all op workloads share: they force an engine while the op runs, and time chains of runs. */
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
    char engines[64];                    /* "gemm=packed"; "": the context chooses */
    clf_precision precision;             /* of the op: the context's, unless the workload names one */
    int chain;                           /* enqueues of the op in one run */
    clf_status (*enqueue)(void *state);  /* enqueues the op once */
} clfi_op_run;

/* Adds a workload of the suite "ops": copies the case (size bytes) into its parameters and takes over `work`, also on failure.
 * OUT_OF_MEMORY, also if `work` is NULL. */
clf_status clfi_op_workload_add(clfi_workload_list *list, clfi_workload *workload, json_t *work, const void *one, size_t size);

/* `engines` of clfi_workload_type: every row of the workload's table; without a table a single "". */
clf_status clfi_op_engines(const clfi_workload *workload, clf_context *context, clfi_engine_list *out);

/* The first step of a setup: forces `engine` of `op` ("": the context chooses) and reads the length of the chain from the workload's
 * description. INVALID_ARGUMENT: the name is too long. */
clf_status clfi_op_run_init(clfi_op_run *run, const clfi_workload *workload, clf_context *context, const char *op, const char *engine,
                            clf_status (*enqueue)(void *state));

/* `prepare` of clfi_workload_type: allocates a zeroed state of `size` bytes, calls setup and runs the op once. So an engine that can't
 * run the workload fails here (UNSUPPORTED). */
typedef clf_status (*clfi_op_setup)(const clfi_workload *workload, clf_context *context, const char *engine, void *state);
clf_status clfi_op_prepare(const clfi_workload *workload, clf_context *context, const char *engine, size_t size, clfi_op_setup setup,
                           void **state);

/* Calls step(state) with the engine forced and the precision set, for preparations that depend on them (packing weights). */
clf_status clfi_op_run_step(void *state, clf_status (*step)(void *state));

/* Runs the op once for verification: fills `result` with NaN before, and reads it to the host afterwards. */
clf_status clfi_op_run_fresh(void *state, clfi_operand *result);

/* `run` of clfi_workload_type: the chain, from the first enqueue until the queue is empty. */
clf_status clfi_op_run_chain(void *state, clfi_sample *out);

/* Number of enqueues in a run that make `flops` or `bytes` of one op worth a round trip to the device (0: not counted). Inside a model a
 * small op costs the time of a launch in a full queue, not that of an idle one. The rule is fixed, so that the work is the same on every
 * device. */
int clfi_op_chain(double flops, double bytes);

/* The end of a workload's id, which names its chain: "-x32"; "" for 1. Returns text. */
enum { CLFI_CHAIN_TEXT = 16 };
const char *clfi_op_chain_text(int chain, char text[CLFI_CHAIN_TEXT]);

#endif
