/* SPDX-License-Identifier: MIT */
/* Models whose weights are loaded again, because the driver's compiler crashes on a kernel of the engine that they were packed for
 * (op/left_out.h). */
#ifndef CLFI_MODEL_RELOAD_H
#define CLFI_MODEL_RELOAD_H

#include "model/decode_rehearsal.h"
#include "model/session.h"

/* Whether a pass that ended with *st, before it wrote anything, is to be done again: an engine was left out after the weights were loaded,
 * and the session has loaded them again for those that are left. False with another *st: that failed. */
bool clfi_session_reload(clf_session *session, clf_status *st);

/* clfi_decode_rehearse of the session's decoding batch, and once more with weights that are loaded again. */
clf_status clfi_session_rehearse(clf_session *session, const clf_decode_plan *plan);

#endif
