/* SPDX-License-Identifier: MIT */
/* Launch graphs record launches that follow one another, and run them as one launch (cl/cpu/launch_graph.cl, or cl/gpu/group_graph.cl,
 * which also takes kernels that run as work-groups). A driver takes some microseconds for a launch, as long as a small kernel runs, and a
 * step of a language model is hundreds of launches. A graph is one launch of as many work-groups as the device runs at once. It runs the
 * recorded launches in order, and its groups wait for each other after each launch.
 *
 *     clf_status st = clfi_graph_begin(graph, &key, sizeof key) ? what_launches_kernels(context) : CLF_OK;
 *     st = clfi_graph_end(graph, st);
 *
 * The key contains everything that the launches and their arguments depend on. While it stays the same, the last recording is launched
 * again, and the code that launches kernels is not called. For hundreds of kernels this code would take the host up to a tenth of the time
 * that the device computes. Values that change from step to step lie in buffers.
 *
 * A graph computes the same numbers as single launches, because the kernels are the same. Graphs need a device whose buffers do not move
 * (caps.graph_groups). They also need some tens of launches at least, unless the environment variable CLF_GRAPH is 1. A graph ends early
 * if a kernel that cannot be part of it, a transfer, or anything else enters the queue between begin and end. Its launches are then
 * enqueued one by one, in the same order, now and from then on. The same happens if work-groups do not run at the same time, which no
 * driver guarantees: they do no work before all of them have started.
 *
 * A graph's program has the kernels of one recording, or of all recordings of a rehearsal. A recording with other kernels needs another
 * program. If the graph has as many programs as it may have, that recording is launched one by one. */
#ifndef CLFI_RUNTIME_LAUNCH_GRAPH_H
#define CLFI_RUNTIME_LAUNCH_GRAPH_H

#include "runtime/context.h"

typedef struct clf_launch_graph clf_launch_graph;

/* most_programs: each takes seconds to compile. *out NULL: the device runs no graphs, or CLF_GRAPH is 0. OUT_OF_MEMORY, DEVICE,
 * DEVICE_LOST. */
clf_status clfi_graph_create(clf_context *context, size_t most_programs, clf_launch_graph **out);
void clfi_graph_destroy(clf_launch_graph *graph); /* waits for the queue; NULL is a no-op */

/* True: the caller launches its kernels, and they are recorded (not if graph is NULL or has been switched off). False: the key is that of
 * the last recording, which clfi_graph_end launches again; the caller launches nothing. A key of 0 bytes, or longer than
 * CLFI_GRAPH_KEY_BYTES, never equals the last one. Graphs of one context do not nest. */
enum { CLFI_GRAPH_KEY_BYTES = 256 }; /* longest key */
CLF_NODISCARD bool clfi_graph_begin(clf_launch_graph *graph, const void *key, size_t size);

/* Launches the recording and waits for it if it is a graph. If st is an error, the recording is dropped. Returns st, or the error of the
 * launch. */
clf_status clfi_graph_end(clf_launch_graph *graph, clf_status st);

#endif
