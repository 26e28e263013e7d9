/* SPDX-License-Identifier: MIT */
/* Runs a model after it is loaded, so that its kernels are built. */
#include "serve/warm_up.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "clformer/classify.h"
#include "clformer/generate.h"

enum { MOST_TEXTS = 96, MOST_PROMPTS = 4, TOKENS = 3 };

/* Short and long texts, so that kernels of small and of large passes are built. */
static clf_text text_of(size_t index)
{
    static const char words[] = "the quick brown fox jumps over the lazy dog and runs on through the long grass of the field to the river";
    const size_t sizes[] = {sizeof words - 1, 3, 15, 39};
    return (clf_text){words, sizes[index % COUNT(sizes)]};
}

static clf_status warm_rows(const srv_model *model, clf_session *session, size_t count)
{
    clf_text texts[MOST_TEXTS];
    clf_text_pair pairs[MOST_TEXTS];
    const size_t labels = clf_model_label_count(model->model);
    float *rows;
    for (size_t i = 0; i < count; i++) {
        texts[i] = text_of(i);
        pairs[i] = (clf_text_pair){text_of(i), model->tasks & SRV_TASK_RERANK ? text_of(i + 1) : (clf_text){NULL, 0}};
    }
    CLF_TRY(clfi_alloc(count * (labels ? labels : model->width), sizeof *rows, "rows", &rows));
    const clf_status st = labels ? clf_session_classify(session, pairs, count, NULL, rows, NULL, NULL)
                                 : clf_session_embed(session, texts, count, NULL, rows, NULL);
    free(rows);
    return st;
}

static clf_status warm_texts(const srv_model *model, clf_session *session, size_t count, float temperature)
{
    clf_generate_params params = CLF_GENERATE_PARAMS_INIT;
    clf_text prompts[MOST_PROMPTS];
    const size_t most = (size_t)clf_model_get_info(model->model)->max_positions / 2; /* bytes, each of which may be a token */
    for (size_t i = 0; i < count; i++) {
        prompts[i] = text_of(i);
        prompts[i].size = prompts[i].size < most ? prompts[i].size : most;
    }
    params.max_tokens = TOKENS;
    params.temperature = temperature;
    return clf_session_generate(session, prompts, count, &params, NULL, NULL);
}

clf_status srv_warm_up(const srv_model *model, clf_session *session)
{
    if (model->tasks & (SRV_TASK_EMBED | SRV_TASK_PREDICT)) {
        CLF_TRY(warm_rows(model, session, 1));
        CLF_TRY(warm_rows(model, session, MOST_TEXTS));
    }
    if (model->tasks & SRV_TASK_COMPLETE) {
        CLF_TRY(warm_texts(model, session, 1, 0));
        CLF_TRY(warm_texts(model, session, MOST_PROMPTS, 0));
        CLF_TRY(warm_texts(model, session, MOST_PROMPTS, 1));
    }
    return CLF_OK;
}
