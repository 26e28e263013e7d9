/* SPDX-License-Identifier: MIT */
/* Loading a session's weights again. */
#include "model/reload.h"

static clf_status reload(clf_session *session)
{
    clf_model *before = session->model, *model;
    clfi_log(session->context, CLF_LOG_INFO, "%s: weights are loaded again for other engines", before->directory);
    const clf_status st = clf_model_open(session->context, before->directory, &before->params, &model);
    if (st != CLF_OK)
        return clfi_fail_prefix(st, "loading weights again for other engines");
    model->before = before; /* the session's reference; its callers may still point into it */
    session->model = model;
    if (session->decoding)
        clfi_decode_use(session->decoding, model->network);
    return CLF_OK;
}

bool clfi_session_reload(clf_session *session, clf_status *st)
{
    if (*st != CLF_UNSUPPORTED || !(session->context->unbuilt & ~session->model->left_out))
        return false;
    *st = reload(session);
    return *st == CLF_OK;
}

clf_status clfi_session_rehearse(clf_session *session, const clf_decode_plan *plan)
{
    clf_status st;
    do
        st = clfi_decode_rehearse(session->decoding, plan, &session->is_decoding_rehearsed);
    while (clfi_session_reload(session, &st));
    return st;
}
