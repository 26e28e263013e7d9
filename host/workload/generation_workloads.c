/* SPDX-License-Identifier: MIT */
/* Workloads "prefill" and "decode" of the suite "generation", and the catalogue of that suite.
 *
 * Operations are 2 per weight of the layers and token, 2 V C for each row of logits, and 4 per query, key and element of a head. Bytes
 * are the weights once for each pass, and the keys and values that are written and read. */
#include "workload/generation_workloads.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "model/generation.h"
#include "runtime/usage.h"
#include "workload/greedy.h"
#include "workload/timing.h"

enum { STEPS = 8 /* of a run */, FEW_STEPS = 2 /* verified if the model is large */, CHOICE_SEED = 10, MOST_CHECKED = 2 };

typedef struct generation_case {
    clfi_generation_source source;
    size_t sequences, prompt, steps; /* steps 0: prefill alone */
} generation_case;

typedef struct generation_state {
    const generation_case *one;
    clf_context *context;
    clfi_random_decoder *numbers;
    clfi_generation_network network;
    clfi_greedy greedy;
    int32_t *ids, *offsets; /* [sequences, prompt] */
    int32_t *first;         /* [sequences]: the token that follows each prompt */
    int32_t *sources;       /* [sequences, source tokens]; NULL: a decoder alone */
} generation_state;

static void release(void *state)
{
    generation_state *s = state;
    if (!s)
        return;
    clfi_greedy_free(&s->greedy);
    clfi_generation_close(&s->network);
    clfi_random_decoder_destroy(s->numbers);
    free(s->ids);
    free(s->offsets);
    free(s->first);
    free(s->sources);
    free(s);
}

/* Empties all sequences and gives each the first `tokens` tokens of its prompt. */
static clf_status give_prompts(generation_state *s, size_t tokens)
{
    CLF_TRY(clfi_greedy_keep(&s->greedy, 0));
    for (size_t i = 0; i < s->one->sequences; i++)
        CLF_TRY(clfi_greedy_prompt(&s->greedy, i, s->ids + s->offsets[i], tokens));
    memcpy(s->first, s->greedy.next, s->one->sequences * sizeof *s->first);
    return CLF_OK;
}

static clf_status run_once(void *state)
{
    generation_state *s = state;
    if (s->one->steps == 0)
        return give_prompts(s, s->one->prompt);
    CLF_TRY(clfi_greedy_keep(&s->greedy, s->one->prompt));
    memcpy(s->greedy.next, s->first, s->one->sequences * sizeof *s->first);
    for (size_t i = 0; i < s->one->steps; i++)
        CLF_TRY(clfi_greedy_step(&s->greedy));
    return CLF_OK;
}

static clf_status setup(generation_state *s)
{
    const generation_case *one = s->one;
    const size_t tokens = one->sequences * one->prompt;
    CLF_TRY(clfi_alloc(tokens, sizeof *s->ids, "token ids", &s->ids));
    CLF_TRY(clfi_alloc(one->sequences + 1, sizeof *s->offsets, "token ids", &s->offsets));
    CLF_TRY(clfi_alloc(one->sequences, sizeof *s->first, "token ids", &s->first));
    clfi_model_random_ids(one->sequences, one->prompt, one->source.vocabulary, s->ids, s->offsets);
    CLF_TRY(clfi_generation_open(s->context, &one->source, &s->numbers, &s->network));
    CLF_TRY(clfi_greedy_create(s->network.decoding, (size_t)one->source.vocabulary, one->sequences, one->prompt,
                               one->prompt + one->steps + clfi_generation_source_tokens(&one->source), &s->greedy));
    CLF_TRY(clfi_generation_draw_sources(&one->source, one->sequences, &s->sources));
    CLF_TRY(clfi_greedy_sources(&s->greedy, s->sources, clfi_generation_source_tokens(&one->source)));
    CLF_TRY(give_prompts(s, one->prompt));
    return run_once(s);
}

static clf_status prepare(const clfi_workload *workload, clf_context *context, const char *engine, void **state)
{
    generation_state *s;
    (void)engine;
    CLF_TRY(clfi_alloc(1, sizeof *s, "generation workload", &s));
    *state = s;
    s->one = workload->parameters;
    s->context = context;
    return setup(s);
}

/* The sequences that are checked, with their logits after the prompt and each step. */
typedef struct checked {
    size_t prompt, steps, count;
    size_t sequences[MOST_CHECKED];
    int32_t *ids;     /* [count, prompt + steps] */
    int32_t *sources; /* [count, source tokens] */
    float *logits;    /* [count, steps + 1, V] */
} checked;

static void note(const generation_state *s, size_t step, const checked *c)
{
    const size_t v = s->greedy.vocabulary;
    for (size_t i = 0; i < c->count; i++) {
        memcpy(c->logits + (i * (c->steps + 1) + step) * v, s->greedy.logits + c->sequences[i] * v, v * sizeof *c->logits);
        if (step < c->steps)
            c->ids[i * (c->prompt + c->steps) + c->prompt + step] = s->greedy.next[c->sequences[i]];
    }
}

/* Runs the sequences again and keeps what is checked: the tokens of a timed run, or the beginning of its prompt and fewer steps. */
static clf_status observe(generation_state *s, const checked *c)
{
    const size_t v = s->greedy.vocabulary;
    for (size_t i = 0; i < s->one->sequences * v; i++)
        s->greedy.logits[i] = NAN;
    CLF_TRY(give_prompts(s, c->prompt));
    for (size_t i = 0; i < c->count; i++)
        memcpy(c->ids + i * (c->prompt + c->steps), s->ids + s->offsets[c->sequences[i]], c->prompt * sizeof *c->ids);
    note(s, 0, c);
    for (size_t step = 1; step <= c->steps; step++) {
        CLF_TRY(clfi_greedy_step(&s->greedy));
        note(s, step, c);
    }
    return CLF_OK;
}

/* Errors are differences of logits. */
static clf_status verify(void *state, clfi_verdict *out)
{
    generation_state *s = state;
    const generation_case *one = s->one;
    const size_t tokens = clfi_generation_source_tokens(&one->source);
    const size_t all = one->prompt + one->steps, affordable = clfi_generation_affordable(&one->source, all);
    clfi_random random = {CHOICE_SEED};
    checked c = {.steps = affordable < all && one->steps > FEW_STEPS ? FEW_STEPS : one->steps};
    clf_status st;
    c.prompt = affordable > c.steps ? affordable - c.steps : 1;
    c.count = clfi_random_places(&random, one->sequences, MOST_CHECKED, c.sequences);
    CLF_GOTO(clfi_alloc(c.count * all, sizeof *c.ids, "token ids", &c.ids));
    CLF_GOTO(clfi_alloc(c.count * (c.steps + 1) * s->greedy.vocabulary, sizeof *c.logits, "logits", &c.logits));
    CLF_GOTO(clfi_alloc(c.count * tokens, sizeof *c.sources, "token ids", &c.sources));
    for (size_t i = 0; tokens && i < c.count; i++)
        memcpy(c.sources + i * tokens, s->sources + c.sequences[i] * tokens, tokens * sizeof *c.sources);
    CLF_GOTO(observe(s, &c));
    const clfi_generated_logits got = {
        .ids = c.ids, .sources = c.sources, .sequences = c.count, .length = c.prompt + c.steps, .count = c.steps + 1, .logits = c.logits};
    CLF_GOTO(clfi_generation_check(&one->source, &s->numbers, &got, out));
    CLF_GOTO(give_prompts(s, one->prompt));
done:
    free(c.ids);
    free(c.sources);
    free(c.logits);
    return st;
}

static clf_status run(void *state, clfi_sample *out)
{
    const generation_state *s = state;
    return clfi_time_call(s->context, run_once, state, out);
}

static void memory(const void *state, clfi_workload_memory *out)
{
    const generation_state *s = state;
    *out = (clfi_workload_memory){.weights_bytes = s->network.weights_bytes};
}

static const clfi_workload_type type = {
    .engines = clfi_workload_one_engine, .prepare = prepare, .verify = verify, .run = run, .memory = memory, .release = release};

static clf_status add(clfi_workload_list *list, const clfi_generation_model *model, clfi_workload *workload, size_t sequences,
                      size_t prompt, size_t steps, json_t *work)
{
    generation_case *one;
    const clf_status st = clfi_generation_parameters(model, sizeof *one, &one);
    if (st != CLF_OK) {
        json_decref(work);
        return st;
    }
    const size_t tokens = clfi_generation_source_tokens(&one->source);
    const double keys = workload->items * (double)tokens; /* of sources: pairs of a token and a key that it attends to */
    workload->flops += model->cost.attention_flops * keys;
    workload->bytes += model->cost.cache_bytes * (steps ? keys : (double)tokens);
    if (tokens && work && json_object_set_new(work, "source", json_integer((json_int_t)tokens)) != 0) {
        json_decref(work);
        work = NULL; /* OUT_OF_MEMORY, below */
    }
    one->sequences = sequences;
    one->prompt = prompt;
    one->steps = steps;
    workload->suite = "generation";
    workload->item = "tokens";
    workload->type = &type;
    return clfi_model_workload_add(list, workload, work, one);
}

clf_status clfi_generation_add_prefill(clfi_workload_list *list, const clfi_generation_model *model, size_t tokens)
{
    static const char *const off_device[] = {"packing ids and positions", NULL};
    const clfi_decoder_cost *cost = &model->cost;
    const double count = (double)tokens, passes = ceil(count / CLFI_PASS_TOKENS);
    clfi_workload workload = {.op = "prefill",
                              .flops =
                                  count * cost->token_flops + passes * cost->logit_flops + cost->attention_flops * count * (count + 1) / 2,
                              .bytes = passes * cost->step_bytes + 2 * count * cost->cache_bytes,
                              .items = count,
                              .limit = "fp32_gflops",
                              .off_device = off_device};
    if ((int64_t)tokens > model->max_positions)
        return CLF_OK;
    snprintf(workload.id, sizeof workload.id, "prefill/%s/%zu", model->name, tokens);
    return add(list, model, &workload, 1, tokens, 0,
               json_pack("{s:s, s:O, s:s, s:I, s:s, s:i}", "op", "prefill", "model", model->identity, "arithmetic", "f32", "tokens",
                         (json_int_t)tokens, "data", "uniform ids", "seed", CLFI_MODEL_IDS_SEED));
}

clf_status clfi_generation_add_decode(clfi_workload_list *list, const clfi_generation_model *model, size_t sequences, size_t context)
{
    static const char *const off_device[] = {"packing ids and positions", "choosing tokens", NULL};
    const clfi_decoder_cost *cost = &model->cost;
    const double tokens = (double)(sequences * STEPS), keys = tokens * ((double)context + (STEPS + 1) / 2.0);
    clfi_workload workload = {.op = "decode",
                              .flops = tokens * (cost->token_flops + cost->logit_flops) + cost->attention_flops * keys,
                              .bytes = STEPS * cost->step_bytes + cost->cache_bytes * keys,
                              .items = tokens,
                              .limit = "read_gbps",
                              .off_device = off_device};
    if ((int64_t)context + STEPS > model->max_positions)
        return CLF_OK;
    snprintf(workload.id, sizeof workload.id, "decode/%s/%zux%zu", model->name, sequences, context);
    return add(list, model, &workload, sequences, context, STEPS,
               json_pack("{s:s, s:O, s:s, s:I, s:I, s:i, s:s, s:i}", "op", "decode", "model", model->identity, "arithmetic", "f32",
                         "sequences", (json_int_t)sequences, "context", (json_int_t)context, "steps", STEPS, "data", "uniform ids", "seed",
                         CLFI_MODEL_IDS_SEED));
}

static clf_status add_all(clfi_workload_list *list, const clfi_generation_model *model, bool has_batch, bool has_start, bool quick)
{
    CLF_TRY(clfi_generation_add_prefill(list, model, quick ? 128 : 512));
    CLF_TRY(clfi_generation_add_decode(list, model, 1, 128));
    if (has_batch)
        CLF_TRY(clfi_generation_add_decode(list, model, 16, quick ? 16 : 128));
    return has_start ? clfi_generation_add_first_token(list, model) : CLF_OK;
}

static clf_status add_random(clfi_workload_list *list, const char *name, const clfi_random_decoder_shape *shape, bool is_first, bool quick)
{
    clfi_generation_model model;
    CLF_TRY(clfi_generation_model_random(name, shape, &model));
    const clf_status st = add_all(list, &model, !quick || is_first, is_first, quick);
    clfi_generation_model_free(&model);
    return st;
}

/* Layers have the shapes of SmolLM2-135M (Ben Allal et al. 2025). There are four of them, and a third of its vocabulary. */
static clf_status add_small(clfi_workload_list *list, clf_weight_type weights, bool quick)
{
    const clfi_random_decoder_shape shape = {.layers = 4,
                                             .width = 576,
                                             .hidden_width = 1536,
                                             .heads = 9,
                                             .key_heads = 3,
                                             .vocabulary = 16384,
                                             .positions = 2048,
                                             .type = weights};
    return add_random(list, "llama-24m", &shape, weights == CLF_WEIGHT_Q4_0, quick);
}

bool clfi_generation_has_memory(void)
{
    return (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) >= CLFI_GENERATION_LARGE_GB * 1e9;
}

/* Models of the shapes of Llama 3.2 1B (Grattafiori et al. 2024) and Qwen3 0.6B (Yang et al. 2025), with fewer positions. */
static clf_status add_large(clfi_workload_list *list)
{
    static const clfi_random_decoder_shape llama = {.layers = 16,
                                                    .width = 2048,
                                                    .hidden_width = 8192,
                                                    .heads = 32,
                                                    .key_heads = 8,
                                                    .vocabulary = 128256,
                                                    .positions = 4096,
                                                    .mix = "q4_k_m"};
    static const clfi_random_decoder_shape qwen = {.layers = 28,
                                                   .width = 1024,
                                                   .hidden_width = 3072,
                                                   .heads = 16,
                                                   .key_heads = 8,
                                                   .vocabulary = 151936,
                                                   .positions = 4096,
                                                   .type = CLF_WEIGHT_Q8_0,
                                                   .head_size = 128,
                                                   .has_head_norms = true};
    CLF_TRY(add_random(list, "llama-1b", &llama, true, false));
    return add_random(list, "qwen3-0.6b", &qwen, false, false);
}

static clf_status add_path(clfi_workload_list *list, const char *path, bool quick)
{
    clfi_generation_model model;
    CLF_TRY(clfi_generation_model_read(path, &model));
    const clf_status st = add_all(list, &model, true, true, quick);
    clfi_generation_model_free(&model);
    return st;
}

clf_status clfi_generation_workloads(clfi_workload_list *list, const char *model, bool quick)
{
    static const struct {
        clf_weight_type type;
        bool is_quick;
    } types[] = {{CLF_WEIGHT_F32, true}, {CLF_WEIGHT_Q8_0, false}, {CLF_WEIGHT_Q4_0, true}};
    if (model)
        return add_path(list, model, quick);
    if (!quick && clfi_generation_has_memory())
        return add_large(list);
    for (size_t i = 0; i < COUNT(types); i++)
        if (!quick || types[i].is_quick)
            CLF_TRY(add_small(list, types[i].type, quick));
    return CLF_OK;
}
