/* SPDX-License-Identifier: MIT */
/* Several devices at once: a process for each, which opens the models and embeds or scores the windows it is given. Whichever is free gets
 * the next window, and results come in the order of the inputs. A process that dies or fails loses its window, which another then does.
 * Where no other window is left, a free process repeats the window of a much slower or a silent one, and the first answer counts. */
#ifndef CLFI_JOBS_POOL_H
#define CLFI_JOBS_POOL_H

#include "jobs/classifying.h"
#include "jobs/embedding.h"

/* As cli_session_open_model, where --device may also be "all", or names with commas between (an empty one is the default device). Devices
 * that cannot open the models are told on standard error and left out, and those that are late at it join later. The first of the others is
 * also this process's own: it has a context there, but no weights, since its models are described (cli_session_describe_model). Must come
 * before this process has touched a device. The session's end ends the processes. NOT_FOUND: there is no device, or none of a name that was
 * given, before any work. */
clf_status cli_pool_open_model(cli_session *session, const char *directory);

/* How many processes share the work of this session; 1 where it is its own. */
size_t cli_pool_size(const cli_session *session);

/* The names and drivers, each once, with ", " between, of all devices that share the work of this session and are not lost. */
clf_status cli_pool_device_names(const cli_session *session, clf_str *names, clf_str *drivers);

/* As cli_embed_all, on all devices of such a session. A window that two processes failed at fails the run. Where
 * inputs->window_texts is 0, it becomes what suits so many. */
clf_status cli_pool_embed(cli_session *session, const cli_embedding *options, cli_inputs *inputs, cli_embedding_sink sink, void *user,
                          clf_embed_stats *stats);

/* As clf_session_embed of a few texts: by one of the devices where there are several, or by another where that is gone or is late. */
clf_status cli_pool_embed_few(cli_session *session, const cli_embedding *options, const clf_text *texts, size_t count, float *rows);

/* As cli_score_all, in the same way as cli_pool_embed. Windows are smaller than embed's, since a pair is much work. */
clf_status cli_pool_score(cli_session *session, const cli_classifying *options, cli_inputs *inputs, cli_embedding_sink sink, void *user,
                          clf_embed_stats *stats);

#endif
