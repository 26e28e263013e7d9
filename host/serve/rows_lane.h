/* SPDX-License-Identifier: MIT */
/* A worker's part for embeddings, reranking and classification: fills each pass with texts of all waiting jobs of a model and of one
 * kind, in turn. Kinds take turns from pass to pass. */
#ifndef CLFI_SERVE_ROWS_LANE_H
#define CLFI_SERVE_ROWS_LANE_H

#include "serve/metrics.h"
#include "serve/queue.h"

/* The packers of one session, one for each kind of rows that was asked for. */
typedef struct srv_rows_lanes srv_rows_lanes;

/* All pointers are borrowed. pass_tokens: most tokens of one pass. OUT_OF_MEMORY. */
clf_status srv_rows_lanes_create(const srv_model *model, clf_session *session, srv_queue *queue, srv_metrics *metrics, size_t pass_tokens,
                                 srv_rows_lanes **out);
void srv_rows_lanes_destroy(srv_rows_lanes *lanes); /* NULL is a no-op */

/* Makes all kernels of later passes ready for use. Statuses as the model's tasks. */
clf_status srv_rows_lanes_warm(srv_rows_lanes *lanes);

/* Runs one pass over texts of the model's waiting jobs; *out_worked false: none waits. If the pass fails, the jobs with texts in it have
 * ended, and no others; the status is for the log. After DEVICE and DEVICE_LOST they have not: the caller calls srv_rows_lanes_leave. */
clf_status srv_rows_lanes_step(srv_rows_lanes *lanes, bool *out_worked);

/* Handles the loss of the device. has_others: texts of the failed pass wait for another worker; else their jobs end with the status. */
void srv_rows_lanes_leave(srv_rows_lanes *lanes, bool has_others, clf_status status);

#endif
