/* SPDX-License-Identifier: MIT */
/* A worker's part for embeddings, reranking and classification: texts of all waiting jobs of one model in turn become passes. */
#ifndef CLFI_SERVE_ROWS_LANE_H
#define CLFI_SERVE_ROWS_LANE_H

#include "serve/metrics.h"
#include "serve/queue.h"

/* The packers of one session, one for each kind of rows that was asked for. */
typedef struct srv_rows_lanes srv_rows_lanes;

/* Session, queue and metrics are borrowed. pass_tokens: of one pass. */
clf_status srv_rows_lanes_create(const srv_model *model, clf_session *session, srv_queue *queue, srv_metrics *metrics, size_t pass_tokens,
                                 srv_rows_lanes **out);
void srv_rows_lanes_destroy(srv_rows_lanes *lanes); /* NULL is a no-op */

/* One pass over texts of the model's waiting jobs; *out_worked false: none waits. A failure of the pass has ended the jobs that had texts
 * in it, and no others; it is returned for the log. After DEVICE and DEVICE_LOST the caller calls srv_rows_lanes_leave. */
clf_status srv_rows_lanes_step(srv_rows_lanes *lanes, bool *out_worked);

/* The device is lost. has_others: texts of the pass at hand wait for another worker; else their jobs end with the status. */
void srv_rows_lanes_leave(srv_rows_lanes *lanes, bool has_others, clf_status status);

#endif
