/* SPDX-License-Identifier: MIT */
/* The process that holds one device. The program itself never touches OpenCL while it measures. So a driver that crashes or hangs loses
 * only the row that it was asked for. Drivers that share libraries do not meet, and memory is counted device by device.
 *
 * Requests and replies are JSON objects; every reply has "status" (a clf_status) and "reason".
 *   {"do": "list", "device": selector or null}       -> "devices": [description], "selected": [index], "notes": [text]
 *   {"do": "open", "device": index, "no_tuned": bool} -> "facts": what only an open device tells
 *   {"do": "engines", "workload": w}                 -> "engines": [name]
 *   {"do": "verify", "workload": w, "engine": e, "longest_run": seconds}
 *                                                    -> "passed", "kernels": [name], "runs_per_sample", "run_seconds",
 *                                                       "facts": as row_facts.h writes them, "tuning": what the device uses now
 *   {"do": "measure", "workload": w, "engine": e, "seconds", "samples", "runs_per_sample"} -> "wall_ms": [..], "device_ms": [..] (empty:
 *   not known), "runs", "joules" (of them all; null: not measured) */
#ifndef CLFI_BENCH_WORKER_H
#define CLFI_BENCH_WORKER_H

#include "bench/message.h"
#include "process/child.h"
#include "workload/workload.h"

/* A sample is the mean of as many runs as take this long, so that the clock's grain and the file's size stay small. */
#define CLFI_SAMPLE_SECONDS 0.0005

/* Runs before the samples of each visit that are dropped: at least one, and so long. */
#define CLFI_WARM_UP_SECONDS 0.02

/* After each sample follows a run whose events tell the device's time; what is timed is a part of each run. A visit ends after so many
 * times the seconds that were asked for, even where what was timed in it is less. */
#define CLFI_VISIT_STRETCH 2

/* The child sees the workloads as they are now. IO: the system refused. */
clf_status clfi_worker_start(const clfi_workload_list *workloads, clfi_child *out);

/* Sends the request (released in any case) and waits for the reply, which the caller releases. A reply that tells of a failure becomes that
 * failure. DEVICE: the process crashed, or was ended because it did not answer in time or was no longer wanted; then worker->process is
 * 0. */
clf_status clfi_worker_ask(clfi_child *worker, json_t *request, const clfi_patience *patience, json_t **out);

/* The child's loop; returns when the other side is gone. */
void clfi_worker_serve(int socket, const clfi_workload_list *workloads);

#endif
