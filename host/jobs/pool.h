/* SPDX-License-Identifier: MIT */
/* Embeds and scores texts on several devices at once. A process for each device opens the models and works on one window after another. Any
 * free process gets the next window, and results come in the order of the inputs. If a process dies or fails, another one does its window.
 * When no other window is left, a free process repeats that of a much slower or a silent one, and the first answer counts. */
#ifndef CLFI_JOBS_POOL_H
#define CLFI_JOBS_POOL_H

#include "jobs/classifying.h"
#include "jobs/embedding.h"

/* As cli_session_open_model, but --device may also be "all", or names separated by commas (an empty one is the default device). A device
 * that cannot open the models is reported on standard error and left out; one that is late joins later. This process opens a context on
 * the first device that is ready, but loads no weights (cli_session_describe_model). Must come before this process's first OpenCL call.
 * cli_session_close ends the processes. NOT_FOUND: there is no usable device, or none by a name that was given. INVALID_ARGUMENT also: too
 * many names, a name that is too long, or --trace with several devices. DEVICE also: no device has opened the models in time. */
clf_status cli_pool_open_model(cli_session *session, const char *directory);

/* Number of processes that were started for this session; 1 if it has one device and works in this process. */
size_t cli_pool_size(const cli_session *session);

/* Appends the names and the drivers of all devices of the session that are not lost, each once, separated by ", ". */
clf_status cli_pool_device_names(const cli_session *session, clf_str *names, clf_str *drivers);

/* As cli_embed_all, on all devices of the session. The run fails if two processes fail at one window. With several devices an
 * inputs->window_texts of 0 is replaced by a size that suits their number (cli_inputs_window). */
clf_status cli_pool_embed(cli_session *session, const cli_embedding *options, cli_inputs *inputs, cli_embedding_sink sink, void *user,
                          clf_embed_stats *stats);

/* As clf_session_embed for a few texts, rows [count, width]: one device of several does them, or another one if the first is lost or
 * late. */
clf_status cli_pool_embed_few(cli_session *session, const cli_embedding *options, const clf_text *texts, size_t count, float *rows);

/* As cli_score_all, on all devices like cli_pool_embed. Windows are smaller, because a pair takes much more work than a text. */
clf_status cli_pool_score(cli_session *session, const cli_classifying *options, cli_inputs *inputs, cli_embedding_sink sink, void *user,
                          clf_embed_stats *stats);

#endif
