/* SPDX-License-Identifier: MIT */
/* The server as a whole: from listening to the end. */
#ifndef CLFI_SERVE_SERVER_H
#define CLFI_SERVE_SERVER_H

#include "serve/call.h"

/* Before the context is created: drivers start threads, none of which may take the signals that end the server. SIGHUP and SIGPIPE end
 * nothing from here on. */
void srv_block_signals(void);

/* Loads the models on each device, answers until SIGTERM or SIGINT, then answers what is under way and returns. A second signal ends the
 * process at once. words: MODEL or NAME=path, [count]. INVALID_ARGUMENT: options or words. IO: the port. Others: loading a model. */
clf_status srv_run(const srv_device *devices, size_t device_count, const clf_model_params *params, const srv_options *options,
                   char *const *words, size_t count);

#endif
