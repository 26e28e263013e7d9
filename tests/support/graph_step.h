/* SPDX-License-Identifier: MIT */
/* Steps for launch graphs: launches that read what one buffer holds and write another, whose numbers the host knows. */
#ifndef TESTS_SUPPORT_GRAPH_STEP_H
#define TESTS_SUPPORT_GRAPH_STEP_H

#include "runtime/buffer.h"

enum { GRAPH_STEP_SIZE = 360 }; /* numbers of a buffer */

/* One item writes each number; three kernels in turn, by the step. */
clf_status graph_step_turn(clf_context *context, const clf_buffer *x, const clf_buffer *y, int step);
void graph_step_turn_expected(const int *x, int *y, int step);

/* How a step is an exchange: so many groups, whose number divides GRAPH_STEP_SIZE, of so many items. */
typedef struct graph_step_shape {
    int groups[3], items, rest; /* bytes of local memory that are not used */
} graph_step_shape;

/* Work-items of the groups that are parts of a graph, where groups can be. */
int graph_step_group_items(const clf_context *context);

/* Items of a group write what others of the group have read. */
clf_status graph_step_exchange(clf_context *context, const graph_step_shape *shape, const clf_buffer *x, const clf_buffer *y, int step);
void graph_step_exchange_expected(const graph_step_shape *shape, const int *x, int *y, int step);

/* A kernel that doubles every number and is no part of a graph: "alone", which has no form for it, or "refuses", which does not compile as
 * one. */
clf_status graph_step_simple(clf_context *context, const char *file, const char *kernel, const clf_buffer *x);

#endif
