/* SPDX-License-Identifier: MIT */
/* The process that holds one device for clformer bench. The program itself never calls OpenCL while it measures. So a driver that crashes
 * or hangs loses only the current row. Drivers that share libraries run in different processes, and memory is counted per device.
 *
 * Requests and replies are JSON objects; every reply has "status" (a clf_status) and "reason".
 *   {"do": "list", "device": selector or null}       -> "devices": [description], "selected": [index], "notes": [text]
 *   {"do": "open", "device": index, "no_tuned": bool} -> "facts": those of an open device
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

/* A sample is the mean of as many runs as take this long together. This keeps the effect of the clock's resolution and the result file
 * small. */
#define CLFI_SAMPLE_SECONDS 0.0005

/* A visit begins with at least one run, and runs for at least this time, before it takes samples. */
#define CLFI_WARM_UP_SECONDS 0.02

/* Each sample is followed by a run with events for the device's time, and a run may do more than what is timed. So a visit can take
 * longer than the timed seconds that were asked for. It ends after this multiple of them. */
#define CLFI_VISIT_STRETCH 2

/* Starts a child process, which sees the workloads as they are now. IO: the system refused. */
clf_status clfi_worker_start(const clfi_workload_list *workloads, clfi_child *out);

/* Sends the request, which it releases in any case, and waits for the reply, which the caller releases. A failure that the reply reports
 * becomes the status. INTERNAL: the process is not running. DEVICE: the process crashed, or was killed because it did not answer in time
 * or the run was stopped; worker->process is 0 then. */
clf_status clfi_worker_ask(clfi_child *worker, json_t *request, const clfi_patience *patience, json_t **out);

/* Answers requests in the child; returns when the other side has closed the socket. */
void clfi_worker_serve(int socket, const clfi_workload_list *workloads);

#endif
