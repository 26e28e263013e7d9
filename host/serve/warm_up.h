/* SPDX-License-Identifier: MIT */
/* A model's first runs, so that the first request finds every kernel built. */
#ifndef CLFI_SERVE_WARM_UP_H
#define CLFI_SERVE_WARM_UP_H

#include "serve/models.h"

/* Runs each task of the model for few and for many texts. Statuses as the tasks' own. */
clf_status srv_warm_up(const srv_model *model, clf_session *session);

#endif
