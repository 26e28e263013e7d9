/* SPDX-License-Identifier: MIT */
/* Steps for tests of launch graphs: launches that read one buffer and write another, and the expected numbers. */
#ifndef TESTS_SUPPORT_GRAPH_STEP_H
#define TESTS_SUPPORT_GRAPH_STEP_H

#include "runtime/buffer.h"

enum { GRAPH_STEP_SIZE = 360 }; /* numbers in a buffer */

/* A step in which each work-item writes one number; consecutive steps use three kernels in turn. */
clf_status graph_step_turn(clf_context *context, const clf_buffer *x, const clf_buffer *y, int step);
void graph_step_turn_expected(const int *x, int *y, int step);

/* Shape of an exchange: the grid of work-groups, whose number divides GRAPH_STEP_SIZE, and the work-items of each. */
typedef struct graph_step_shape {
    int groups[3], items, rest; /* rest: bytes of local memory that are reserved but not used */
} graph_step_shape;

/* Work-items of a group that can be part of a graph, on devices that run groups in graphs; 64 on others. */
int graph_step_group_items(const clf_context *context);

/* A step in which work-items write what others of their group have read. */
clf_status graph_step_exchange(clf_context *context, const graph_step_shape *shape, const clf_buffer *x, const clf_buffer *y, int step);
void graph_step_exchange_expected(const graph_step_shape *shape, const int *x, int *y, int step);

/* Launches a kernel that doubles every number and cannot be part of a graph: "alone", which has no such form, or "refuses", which does
 * not compile in that form. */
clf_status graph_step_simple(clf_context *context, const char *file, const char *kernel, const clf_buffer *x);

#endif
