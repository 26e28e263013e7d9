/* SPDX-License-Identifier: MIT */
/* A model on the portable engines. */
#include "model/portable.h"

#include <stdlib.h>

#include "base/str.h"
#include "op/engines.h"

/* "gemm=tiled,softmax=generic,..." */
static clf_status portable_engines(char **out)
{
    clf_str text = CLF_STR_INIT;
    clf_status st = CLF_OK;
    for (int op = 0; st == CLF_OK && op < CLF_OP_COUNT; op++) {
        const clf_engine_table *table = &clfi_engine_tables[op];
        st = clfi_str_appendf(&text, "%s%s=%s", op ? "," : "", table->op, table->engines[table->count - 1].name);
    }
    if (st != CLF_OK) {
        clfi_str_free(&text);
        return st;
    }
    *out = text.data;
    return CLF_OK;
}

clf_status clfi_session_portable(clf_session *session, clf_session **out)
{
    if (!session->portable) {
        clf_context *context;
        clf_model *model = NULL;
        char *engines;
        CLF_TRY(clf_context_create_shared(session->context, &context));
        clf_status st = portable_engines(&engines);
        if (st == CLF_OK) {
            free(context->engines);
            context->engines = engines;
            st = clf_model_open(context, session->model->directory, &session->model->params, &model);
        }
        clf_context_destroy(context); /* the model keeps it */
        if (st == CLF_OK)
            st = clf_session_create(model, NULL, &session->portable);
        clf_model_destroy(model); /* its session keeps it */
        CLF_TRY(st);
    }
    *out = session->portable;
    return CLF_OK;
}
