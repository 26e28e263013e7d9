/* SPDX-License-Identifier: MIT */
/* Runs the whole server for `clformer serve`, from loading models to the answer of the last request. */
#ifndef CLFI_SERVE_SERVER_H
#define CLFI_SERVE_SERVER_H

#include "serve/call.h"

/* Blocks SIGTERM and SIGINT, which end the server, and SIGHUP and SIGPIPE, which end nothing from here on. Call it before a context is
 * created: drivers start threads, which inherit the mask and so never receive these signals. */
void srv_block_signals(void);

/* Loads the models on each device, answers until SIGTERM or SIGINT, then finishes requests that have begun and returns. A second signal
 * ends the process at once, and so does a signal while models load (with exit status 0). words: MODEL or NAME=path, [count].
 * INVALID_ARGUMENT: options or words. IO: the port, the key file or standard output. Others: loading a model. */
clf_status srv_run(const srv_device *devices, size_t device_count, const clf_model_params *params, const srv_options *options,
                   char *const *words, size_t count);

#endif
