/* SPDX-License-Identifier: MIT */
/* The same model on the portable engines: what computes again where a result is corrupt. */
#ifndef CLFI_MODEL_PORTABLE_H
#define CLFI_MODEL_PORTABLE_H

#include "model/session.h"

/* A session on the last engine of every table, with weights of its own, opened at the first call and kept by `session`. Statuses as
 * clf_model_open. */
clf_status clfi_session_portable(clf_session *session, clf_session **out);

#endif
