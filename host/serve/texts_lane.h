/* SPDX-License-Identifier: MIT */
/* A worker's part for language models: texts of waiting jobs join one session's running batch as places become free,
 * in turns between the jobs, and each leaves it at its end. */
#ifndef CLFI_SERVE_TEXTS_LANE_H
#define CLFI_SERVE_TEXTS_LANE_H

#include "serve/metrics.h"
#include "serve/queue.h"

typedef struct srv_texts_lane srv_texts_lane;

/* Limits for the texts of a language model. */
typedef struct srv_texts_limits {
    size_t places;       /* texts that run together; 0: the library's default */
    size_t tokens;       /* whose keys and values fit the cache, of all texts together; 0: 512 for each place, or the model's context (of
                            at most 16384), whichever is more, as far as the device has room */
    size_t prefix_bytes; /* keys and values that stay in the cache after their text has ended; SIZE_MAX: half of the cache */
} srv_texts_limits;

/* These limits for an opened model, in cache rows (one for each token). rows 0: an encoder-decoder, which only the device limits. */
typedef struct srv_texts_room {
    size_t places, rows, kept_rows;
} srv_texts_room;

/* Computes the room from the limits and the model's memory plan. OUT_OF_MEMORY: the rows do not fit the device. */
clf_status srv_texts_plan(clf_session *session, const srv_texts_limits *limits, srv_texts_room *out);

/* Allocates all cache rows. Model, session, queue and metrics are borrowed. is_shared: other workers take jobs from the queue, too; then a
 * step takes one job at most. */
clf_status srv_texts_lane_create(const srv_model *model, clf_session *session, srv_queue *queue, srv_metrics *metrics,
                                 const srv_texts_room *room, bool is_shared, srv_texts_lane **out);
void srv_texts_lane_destroy(srv_texts_lane *lane); /* fails the running jobs. NULL is a no-op */

/* Makes all kernels of later passes ready for use, also after a loss of the device. Statuses as clfi_scheduler_step. */
clf_status srv_texts_lane_warm(srv_texts_lane *lane);

/* Takes jobs and runs one pass: a token of each running text, or pieces of their prompts. *out_worked false: nothing runs or waits. If the
 * pass fails, the running jobs have ended, and the status is for the log. After DEVICE and DEVICE_LOST they have not: the caller calls
 * srv_texts_lane_leave. */
clf_status srv_texts_lane_step(srv_texts_lane *lane, bool *out_worked);

/* Handles the loss of the device. has_others: the running jobs wait for another worker, which continues their texts; else they end with the
 * status. Without others and without a scheduler nothing runs: then the model's waiting jobs end with the status. */
void srv_texts_lane_leave(srv_texts_lane *lane, bool has_others, clf_status status);

#endif
