/* SPDX-License-Identifier: MIT */
/* A worker's part for language models: texts of waiting jobs join the running batch of one session and leave it one by one. */
#ifndef CLFI_SERVE_TEXTS_LANE_H
#define CLFI_SERVE_TEXTS_LANE_H

#include "serve/metrics.h"
#include "serve/queue.h"

typedef struct srv_texts_lane srv_texts_lane;

/* Limits for the texts of a language model. */
typedef struct srv_texts_limits {
    size_t places;       /* texts that run together; 0: as the library has it */
    size_t tokens;       /* of all texts together, with keys and values; 0: 512 for each place, or one text of the model's whole context
                            (of at most 16384), whichever is more, as far as the device has room */
    size_t prefix_bytes; /* keys and values of ended texts that are kept; SIZE_MAX: half of all */
} srv_texts_limits;

/* The same as numbers of cache rows, of an opened model. rows 0: it attends to sources, and only the device limits it. */
typedef struct srv_texts_room {
    size_t places, rows, kept_rows;
} srv_texts_room;

/* OUT_OF_MEMORY: `tokens` do not fit the device. */
clf_status srv_texts_plan(clf_session *session, const srv_texts_limits *limits, srv_texts_room *out);

/* Takes the memory of all cache rows. Session, queue and metrics are borrowed. is_shared: other workers take jobs from the queue too; then
 * a step takes one at most. */
clf_status srv_texts_lane_create(const srv_model *model, clf_session *session, srv_queue *queue, srv_metrics *metrics,
                                 const srv_texts_room *room, bool is_shared, srv_texts_lane **out);
void srv_texts_lane_destroy(srv_texts_lane *lane); /* jobs that run end as failed. NULL is a no-op */

/* Takes jobs and does one pass: a token of each running text, or pieces of their prompts. *out_worked false: nothing runs or waits. A
 * failure of the pass has ended the jobs that ran; it is returned for the log. After DEVICE and DEVICE_LOST the caller calls
 * srv_texts_lane_leave. */
clf_status srv_texts_lane_step(srv_texts_lane *lane, bool *out_worked);

/* The device is lost. has_others: running jobs wait for another worker, which continues their texts where they are; else they end with the
 * status. */
void srv_texts_lane_leave(srv_texts_lane *lane, bool has_others, clf_status status);

#endif
