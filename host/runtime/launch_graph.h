/* SPDX-License-Identifier: MIT */
/* Launch graphs: launches that follow one another, recorded and run as a single one (cl/cpu/launch_graph.cl; cl/gpu/group_graph.cl, whose
 * parts may be made of work-groups). A driver takes some microseconds for a launch, which is as long as a small kernel runs; the step of a
 * language model is hundreds of them. Here a launch of as many work-groups as the device runs at once goes through all of them, and its
 * groups meet after each.
 *
 *     clf_status st = clfi_graph_begin(graph, &key, sizeof key) ? what_launches_kernels(context) : CLF_OK;
 *     st = clfi_graph_end(graph, st);
 *
 * The key is all that the launches and their arguments follow from. While it stays the same, the last recording is launched again, and the
 * code that launches kernels is not called. For hundreds of kernels that would take the host up to a tenth of the time that the device
 * computes. Values that change from step to step lie in buffers.
 *
 * Numbers are those of single launches: the kernels are the same. Only on devices whose buffers stay where they are (caps.graph_groups),
 * and for some tens of launches at least, unless the environment variable CLF_GRAPH is 1. Kernels that cannot be parts of graphs,
 * transfers, and anything else that enters the queue between begin and end, end the graph early. Everything is then enqueued launch by
 * launch, in the same order, now and from then on. The same happens if work-groups do not run at the same time, which no driver guarantees:
 * they do no work before all of them have started. A graph's program is built for the kernels of its first recording, and once more when
 * others come; a recording with yet others is launched one by one. */
#ifndef CLFI_RUNTIME_LAUNCH_GRAPH_H
#define CLFI_RUNTIME_LAUNCH_GRAPH_H

#include "runtime/context.h"

typedef struct clf_launch_graph clf_launch_graph;

/* *out NULL where the device runs no graphs, or CLF_GRAPH is 0. OUT_OF_MEMORY, DEVICE, DEVICE_LOST. */
clf_status clfi_graph_create(clf_context *context, clf_launch_graph **out);
void clfi_graph_destroy(clf_launch_graph *graph); /* waits for the queue; NULL is a no-op */

/* True: from here on launches of the context are recorded; a graph that is NULL records none. False: they are known, since the key is that
 * of the recording before, and end enqueues them. A key of no bytes is never known. Graphs of one context do not nest. */
enum { CLFI_GRAPH_KEY_BYTES = 256 }; /* of a key at most */
CLF_NODISCARD bool clfi_graph_begin(clf_launch_graph *graph, const void *key, size_t size);

/* Launches what was recorded, now or before, and waits for a graph, unless st is an error: then it is forgotten. Returns st, or what went
 * wrong here. */
clf_status clfi_graph_end(clf_launch_graph *graph, clf_status st);

#endif
