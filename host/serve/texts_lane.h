/* SPDX-License-Identifier: MIT */
/* A worker's part for language models: texts of waiting jobs join the running batch of one session and leave it one by one. */
#ifndef CLFI_SERVE_TEXTS_LANE_H
#define CLFI_SERVE_TEXTS_LANE_H

#include "serve/metrics.h"
#include "serve/queue.h"

typedef struct srv_texts_lane srv_texts_lane;

/* Session, queue and metrics are borrowed. places: texts that run together, 0: as the library has it. is_shared: other
 * workers take jobs from the queue too; then a step takes one at most. */
clf_status srv_texts_lane_create(const srv_model *model, clf_session *session, srv_queue *queue, srv_metrics *metrics, size_t places,
                                 bool is_shared, srv_texts_lane **out);
void srv_texts_lane_destroy(srv_texts_lane *lane); /* jobs that run end as failed. NULL is a no-op */

/* Takes jobs and does one pass: a token of each running text, or pieces of their prompts. *out_worked false: nothing runs or waits. A
 * failure of the pass has ended the jobs that ran; it is returned for the log. */
clf_status srv_texts_lane_step(srv_texts_lane *lane, bool *out_worked);

#endif
