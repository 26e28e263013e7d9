/* SPDX-License-Identifier: MIT */
/* Workloads "start": the time from a process without a context to the first embedding on the host. A run opens the device, loads the model,
 * gets its kernels and embeds one text. The drivers are already loaded.
 *
 * Warm: compiled programs come from a cache on disk, which the preparation fills. Cold: every program is built from a source text that
 * is new to the library's cache and to the driver's. Only programs of CLBlast may come from the driver's cache. Weights are in the
 * host's page cache in both cases. The embedding is verified against a float64 pass, as for workloads "encoder". */
#include <stdio.h>

#include "base/alloc.h"
#include "runtime/usage.h"
#include "workload/embedding_check.h"
#include "workload/model_workloads.h"
#include "workload/reference_encoder.h"
#include "workload/start_place.h"
#include "workload/verdict.h"

enum { TOKENS = 16 };

typedef struct start_case {
    bool is_cold;
    const char *directory;
} start_case;

typedef struct start_state {
    clfi_start start;
    const start_case *one;
    clf_session *session; /* of the latest start, while it lasts */
    int32_t ids[TOKENS];
    clf_model_info info;
    float *row;
} start_state;

static void release(void *state)
{
    start_state *s = state;
    if (!s)
        return;
    clfi_start_place_free(&s->start.place);
    free(s->row);
    free(s);
}

static clf_status open(clfi_start *start, clf_context *context)
{
    start_state *s = (start_state *)start;
    clf_model *model;
    CLF_TRY(clf_model_open(context, s->one->directory, NULL, &model));
    s->info = *clf_model_get_info(model);
    const clf_status st = clf_session_create(model, NULL, &s->session);
    clf_model_destroy(model); /* the session keeps the model alive */
    CLF_TRY(st);
    start->memory.weights_bytes = clfi_model_weights_bytes(s->info.file_bytes, clfi_usage_bytes(context));
    clfi_usage_restart(context);
    if (!s->row) {
        CLF_TRY(clfi_alloc((size_t)s->info.embedding_width, sizeof *s->row, "embedding", &s->row));
        int32_t unused[2];
        clfi_model_random_ids(1, TOKENS, s->info.vocabulary, s->ids, unused);
    }
    return CLF_OK;
}

static clf_status embed(clfi_start *start)
{
    const start_state *s = (const start_state *)start;
    const clf_tokens tokens = {.ids = s->ids, .count = TOKENS};
    clf_embed_params params = CLF_EMBED_PARAMS_INIT;
    params.tokens = &tokens;
    return clf_session_embed(s->session, NULL, 1, &params, s->row, NULL);
}

static void close_model(clfi_start *start)
{
    start_state *s = (start_state *)start;
    clf_session_destroy(s->session);
    s->session = NULL;
}

static clf_status setup(const clfi_workload *workload, const clf_context *context, start_state *s)
{
    double unused;
    s->start.open = open;
    s->start.use = embed;
    s->start.close = close_model;
    s->one = workload->parameters;
    CLF_TRY(clfi_start_place_find(context, s->one->is_cold, &s->start.place));
    return clfi_start_once(&s->start, &unused);
}

static clf_status prepare(const clfi_workload *workload, clf_context *context, const char *engine, void **state)
{
    start_state *s;
    (void)engine;
    CLF_TRY(clfi_alloc(1, sizeof *s, "start workload", &s));
    *state = s;
    return setup(workload, context, s);
}

/* Errors are differences of elements of embeddings, which have norm 1. */
static clf_status verify(void *state, clfi_verdict *out)
{
    start_state *s = state;
    const size_t width = (size_t)s->info.embedding_width;
    clfi_ref_encoder *reference = NULL;
    double *want = NULL, bound, unused;
    clf_status st;
    for (size_t c = 0; c < width; c++)
        s->row[c] = NAN;
    CLF_GOTO(clfi_start_once(&s->start, &unused));
    CLF_GOTO(clfi_alloc(width, sizeof *want, "reference", &want));
    CLF_GOTO(clfi_ref_encoder_open(s->one->directory, width, &reference));
    CLF_GOTO(clfi_ref_encoder_embed(reference, s->ids, TOKENS, want, &bound));
    *out = (clfi_verdict)CLFI_VERDICT_INIT;
    clfi_embedding_check(width, s->info.normalize && !clfi_ref_encoder_is_cut(reference), s->row, want, bound, out);
done:
    clfi_ref_encoder_close(reference);
    free(want);
    return st;
}

static const clfi_workload_type type = {.engines = clfi_workload_one_engine,
                                        .prepare = prepare,
                                        .verify = verify,
                                        .run = clfi_start_run,
                                        .memory = clfi_start_memory,
                                        .release = release};

static clf_status add(clfi_workload_list *list, const clfi_bench_model *model, bool is_cold)
{
    static const char *const cold[] = {"opening the device", "reading the weights", "building programs", "packing ids and positions", NULL};
    static const char *const warm[] = {"opening the device", "reading the weights", "loading programs", "packing ids and positions", NULL};
    clfi_workload workload = {.op = "start", .off_device = is_cold ? cold : warm, .type = &type};
    start_case *one;
    const char *directory, *unused;
    CLF_TRY(clfi_model_parameters(sizeof *one, model->directory, NULL, &one, &directory, &unused));
    *one = (start_case){.is_cold = is_cold, .directory = directory};
    snprintf(workload.id, sizeof workload.id, "start/%s/%s", model->name, is_cold ? "cold" : "warm");
    json_t *work = json_pack("{s:s, s:O, s:s, s:s, s:i, s:i}", "op", "start", "model", model->identity, "programs",
                             is_cold ? "built from source" : "from the cache on disk", "data", "uniform ids", "tokens", TOKENS, "seed",
                             CLFI_MODEL_IDS_SEED);
    return clfi_model_workload_add(list, &workload, work, one);
}

clf_status clfi_start_workloads(clfi_workload_list *list, const clfi_bench_model *model, bool quick)
{
    CLF_TRY(add(list, model, false));
    return quick ? CLF_OK : add(list, model, true);
}
