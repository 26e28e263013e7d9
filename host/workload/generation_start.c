/* SPDX-License-Identifier: MIT */
/* Workloads "first_token": the time from no context to the first logits on the host. A run opens the device, loads the model (with its
 * tokenizer if it has one), loads kernels from the cache on disk and decodes a short prompt. The drivers are already loaded, and the
 * weights are in the host's memory. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "model/decode_rehearsal.h"
#include "runtime/usage.h"
#include "workload/generation_workloads.h"
#include "workload/greedy.h"
#include "workload/start_place.h"

enum { TOKENS = 16 };

typedef struct generation_start_state {
    clfi_start start;
    const clfi_generation_source *source;
    clfi_random_decoder *numbers;
    clfi_generation_network network; /* of the latest start, while it lasts */
    int32_t ids[TOKENS], offsets[2];
    int32_t *sources; /* of one sequence; NULL: a decoder alone */
    float *logits;    /* [V] */
} generation_start_state;

static void release(void *state)
{
    generation_start_state *s = state;
    if (!s)
        return;
    clfi_start_place_free(&s->start.place);
    clfi_random_decoder_destroy(s->numbers);
    free(s->sources);
    free(s->logits);
    free(s);
}

static clf_status open(clfi_start *start, clf_context *context)
{
    generation_start_state *s = (generation_start_state *)start;
    CLF_TRY(clfi_generation_open(context, s->source, &s->numbers, &s->network));
    start->memory.weights_bytes = s->network.weights_bytes;
    clfi_usage_restart(context);
    return CLF_OK;
}

/* Decodes the prompt as clf_session_generate does: a rehearsal finds all kernels before the first one is compiled. */
static clf_status first_token(clfi_start *start)
{
    const generation_start_state *s = (const generation_start_state *)start;
    clf_decode_batch *decoding = s->network.decoding;
    const size_t v = (size_t)s->source->vocabulary;
    clfi_greedy greedy = {0};
    bool is_rehearsed = false;
    const size_t tokens = clfi_generation_source_tokens(s->source);
    clf_status st = clfi_greedy_create(decoding, v, 1, TOKENS, TOKENS + 1 + tokens, &greedy);
    if (st == CLF_OK) {
        const clf_decode_input input = {greedy.inputs[0].sequence, s->ids, TOKENS};
        const clf_decode_input source = {greedy.inputs[0].sequence, s->sources, (int32_t)tokens};
        const clf_decode_plan plan = {.sources = tokens ? &source : NULL, .inputs = &input, .count = 1, .following = 1};
        st = clfi_decode_rehearse(decoding, &plan, &is_rehearsed);
    }
    if (st == CLF_OK)
        st = clfi_greedy_sources(&greedy, s->sources, tokens);
    if (st == CLF_OK)
        st = clfi_greedy_prompt(&greedy, 0, s->ids, TOKENS);
    for (size_t i = 0; st == CLF_OK && i < v; i++)
        s->logits[i] = greedy.logits[i];
    clfi_greedy_free(&greedy);
    return st;
}

static void close_network(clfi_start *start)
{
    generation_start_state *s = (generation_start_state *)start;
    clfi_generation_close(&s->network);
    s->network = (clfi_generation_network){0};
}

static clf_status setup(const clfi_workload *workload, const clf_context *context, generation_start_state *s)
{
    clf_checkpoint *checkpoint;
    double unused;
    s->start.open = open;
    s->start.use = first_token;
    s->start.close = close_network;
    s->source = workload->parameters;
    CLF_TRY(clfi_start_place_find(context, false, &s->start.place));
    CLF_TRY(clfi_alloc((size_t)s->source->vocabulary, sizeof *s->logits, "logits", &s->logits));
    clfi_model_random_ids(1, TOKENS, s->source->vocabulary, s->ids, s->offsets);
    CLF_TRY(clfi_generation_draw_sources(s->source, 1, &s->sources));
    CLF_TRY(clfi_generation_checkpoint(s->source, &s->numbers, &checkpoint)); /* random numbers are drawn */
    clfi_checkpoint_close(checkpoint);
    return clfi_start_once(&s->start, &unused);
}

static clf_status prepare(const clfi_workload *workload, clf_context *context, const char *engine, void **state)
{
    generation_start_state *s;
    (void)engine;
    CLF_TRY(clfi_alloc(1, sizeof *s, "first token workload", &s));
    *state = s;
    return setup(workload, context, s);
}

/* Errors are differences of logits. */
static clf_status verify(void *state, clfi_verdict *out)
{
    generation_start_state *s = state;
    double unused;
    for (int64_t i = 0; i < s->source->vocabulary; i++)
        s->logits[i] = NAN;
    CLF_TRY(clfi_start_once(&s->start, &unused));
    const clfi_generated_logits got = {
        .ids = s->ids, .sources = s->sources, .sequences = 1, .length = TOKENS, .count = 1, .logits = s->logits};
    return clfi_generation_check(s->source, &s->numbers, &got, out);
}

static const clfi_workload_type type = {.engines = clfi_workload_one_engine,
                                        .prepare = prepare,
                                        .verify = verify,
                                        .run = clfi_start_run,
                                        .memory = clfi_start_memory,
                                        .release = release};

clf_status clfi_generation_add_first_token(clfi_workload_list *list, const clfi_generation_model *model)
{
    static const char *const off_device[] = {"opening the device", "reading the weights", "loading programs", "packing ids and positions",
                                             NULL};
    clfi_workload workload = {.suite = "generation", .op = "first_token", .off_device = off_device, .type = &type};
    clfi_generation_source *source;
    CLF_TRY(clfi_generation_parameters(model, sizeof *source, &source));
    snprintf(workload.id, sizeof workload.id, "first_token/%s/warm", model->name);
    json_t *work = json_pack("{s:s, s:O, s:s, s:s, s:i, s:i}", "op", "first token", "model", model->identity, "programs",
                             "from the cache on disk", "data", "uniform ids", "tokens", TOKENS, "seed", CLFI_MODEL_IDS_SEED);
    return clfi_model_workload_add(list, &workload, work, source);
}
