/* SPDX-License-Identifier: MIT */
/* Workloads "decoder": phonemes of common words by the built-in encoder-decoder, greedy and with a beam, from letters to phonemes on the host.
 *
 * Verified against the float64 reference (reference_transformer.h), which is given the phonemes of some words, a fixed random choice: the log-probability of
 * the whole sequence is the score, and for greedy decoding no other phoneme is more probable at any place, each within what rounding errors may
 * change. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "bench/model_texts.h"
#include "bench/model_workloads.h"
#include "bench/reference_transformer.h"
#include "bench/timing.h"
#include "bench/verdict.h"
#include "model/built_in.h"
#include "model/pronouncer.h"

enum { CHOICE_SEED = 9, MOST_CHECKED = 8, SAFETY = 4, LONGEST = 64 };

typedef struct decoder_case {
    size_t words; /* of the list, one after another */
    int beam;
} decoder_case;

typedef struct decoder_state {
    decoder_case one;
    clf_context *context;
    clf_pronouncer *pronouncer;
    clf_text *words;
    clf_pronunciations *result; /* of the latest run */
} decoder_state;

static clf_status engines(const clfi_workload *workload, clf_context *context, clfi_engine_list *out)
{
    (void)workload;
    (void)context;
    *out = (clfi_engine_list){{""}, 1}; /* a model runs on what the tables choose */
    return CLF_OK;
}

static void release(void *state)
{
    decoder_state *s = state;
    if (!s)
        return;
    clf_pronunciations_destroy(s->result);
    clf_pronouncer_destroy(s->pronouncer);
    free(s->words);
    free(s);
}

static clf_status run_once(void *state)
{
    decoder_state *s = state;
    clf_pronounce_params params = CLF_PRONOUNCE_PARAMS_INIT;
    params.beam = s->one.beam;
    clf_pronunciations_destroy(s->result);
    s->result = NULL;
    return clf_pronounce(s->pronouncer, s->words, s->one.words, &params, &s->result);
}

static clf_status setup(decoder_state *s)
{
    CLF_TRY(clf_pronouncer_open(s->context, NULL, &s->pronouncer));
    CLF_TRY(clfi_alloc(s->one.words, sizeof *s->words, "words", &s->words));
    for (size_t i = 0; i < s->one.words; i++) {
        const char *word = clfi_words[i % clfi_word_count];
        s->words[i] = (clf_text){word, strlen(word)};
    }
    return run_once(s);
}

static clf_status prepare(const clfi_workload *workload, clf_context *context, const char *engine, void **state)
{
    decoder_state *s;
    (void)engine;
    CLF_TRY(clfi_alloc(1, sizeof *s, "decoder workload", &s));
    s->one = *(const decoder_case *)workload->parameters;
    s->context = context;
    const clf_status st = setup(s);
    if (st != CLF_OK) {
        release(s);
        return st;
    }
    *state = s;
    return CLF_OK;
}

static clf_status load_reference(clfi_ref_weights *weights)
{
    clf_safetensors *file;
    CLF_TRY(clfi_safetensors_parse(clfi_g2p_weights, (size_t)(clfi_g2p_weights_end - clfi_g2p_weights), "built-in model", &file));
    clf_status st = CLF_OK;
    for (size_t i = 0; st == CLF_OK && i < clfi_safetensors_count(file); i++) {
        const char *name = clfi_safetensors_at(file, i)->name;
        st = clfi_ref_weights_load(weights, file, name, name);
    }
    clfi_safetensors_close(file);
    return st;
}

/* One word as the network sees it. */
typedef struct sequence {
    int32_t source[LONGEST], target[LONGEST]; /* target: the start, then the phonemes; what is predicted is one place later, with the end */
    int64_t source_length, target_length;
} sequence;

static clf_status read_sequence(const clf_seq2seq *model, const int32_t *letter, const clf_text *word, const char *phonemes, sequence *out)
{
    *out = (sequence){.target = {model->bos}, .target_length = 1};
    for (size_t i = 0; i < word->size && i + 1 < LONGEST; i++)
        out->source[out->source_length++] = letter[(unsigned char)word->data[i]];
    out->source[out->source_length++] = model->eos;
    for (const char *at = phonemes; *at && out->target_length < LONGEST;) {
        const size_t length = strcspn(at, " ");
        int32_t id = 0;
        while (id < model->target_count && !(strlen(model->target_tokens[id]) == length && memcmp(model->target_tokens[id], at, length) == 0))
            id++;
        if (id == model->target_count)
            CLF_FAIL(CLF_INTERNAL, "decoder: the phonemes \"%s\" are not the model's", phonemes);
        out->target[out->target_length++] = id;
        at += length + (at[length] == ' ');
    }
    return CLF_OK;
}

/* Log-probabilities [target_length, V] after each place of the target. */
static clf_status log_probabilities(const clf_transformer_config *config, const clfi_ref_weights *weights, const sequence *one,
                                    clfi_ref_noise *noise, double *out)
{
    const int64_t c = config->width, q = one->target_length;
    const clfi_ref_batch batch = {.batch = 1, .source_length = one->source_length, .target_length = q};
    bool *keep = NULL;
    double *memory = NULL;
    clf_status st;
    CLF_GOTO(clfi_alloc((size_t)(config->heads * q * q), sizeof *keep, "reference", &keep));
    CLF_GOTO(clfi_alloc((size_t)((one->source_length + q) * c), sizeof *memory, "reference", &memory));
    for (int64_t i = 0; i < config->heads * q * q; i++)
        keep[i] = i % q <= i / q % q;
    double *features = memory + one->source_length * c;
    CLF_GOTO(clfi_ref_embed(config, weights, false, 1, one->source_length, one->source, memory));
    CLF_GOTO(clfi_ref_stack(config, weights, false, &batch, NULL, memory, noise));
    CLF_GOTO(clfi_ref_embed(config, weights, true, 1, q, one->target, features));
    clfi_ref_batch masked = batch;
    masked.keep_self = keep;
    CLF_GOTO(clfi_ref_stack(config, weights, true, &masked, memory, features, noise));
    CLF_GOTO(clfi_ref_generate(config, weights, q, features, true, out, noise));
done:
    free(keep);
    free(memory);
    return st;
}

/* Score and choices of one word; exact and disturbed: LONGEST * V values each. */
static void check_choices(const decoder_state *s, const sequence *one, const clf_pronunciation *got, const double *exact, const double *disturbed,
                          clfi_verdict *out)
{
    const clf_seq2seq *model = s->pronouncer->model;
    const int64_t v = model->target_count;
    double score = 0, change = 0;
    for (int64_t t = 0; t < one->target_length; t++) {
        const int32_t next = t + 1 < one->target_length ? one->target[t + 1] : model->eos;
        double best = exact[t * v + next], worst_change = 0;
        if (t + 1 == one->target_length && !got->is_complete)
            break;
        for (int64_t i = 0; i < v; i++) {
            best = fmax(best, i == model->bos ? best : exact[t * v + i]);
            worst_change = fmax(worst_change, fabs(disturbed[t * v + i] - exact[t * v + i]));
        }
        score += exact[t * v + next];
        change += worst_change;
        if (s->one.beam == 1)
            clfi_verdict_add(out, exact[t * v + next], best, 2 * SAFETY * worst_change); /* two numbers are compared */
    }
    clfi_verdict_add(out, (double)got->score, score, SAFETY * change + 0x1p-24 * LONGEST * fabs(score));
}

static clf_status check_words(const decoder_state *s, const clfi_ref_weights *weights, clfi_verdict *out)
{
    const clf_seq2seq *model = s->pronouncer->model;
    clfi_random random = {CHOICE_SEED};
    size_t places[MOST_CHECKED];
    const size_t count = clfi_random_places(&random, s->one.words, MOST_CHECKED, places), values = LONGEST * (size_t)model->target_count;
    double *exact;
    clf_status st = CLF_OK;
    CLF_TRY(clfi_alloc(2 * values, sizeof *exact, "reference", &exact));
    for (size_t i = 0; st == CLF_OK && i < count; i++) {
        const clf_pronunciation *got = clf_pronunciations_get(s->result, places[i], 0);
        clfi_ref_noise noise = {1};
        sequence one;
        CLF_GOTO(read_sequence(model, s->pronouncer->letter, &s->words[places[i]], got->phonemes, &one));
        CLF_GOTO(log_probabilities(&model->network->config, weights, &one, NULL, exact));
        CLF_GOTO(log_probabilities(&model->network->config, weights, &one, &noise, exact + values));
        check_choices(s, &one, got, exact, exact + values, out);
    }
done:
    free(exact);
    return st;
}

/* Units: log-probabilities. */
static clf_status verify(void *state, clfi_verdict *out)
{
    decoder_state *s = state;
    clfi_ref_weights weights = {0};
    CLF_TRY(run_once(s));
    *out = (clfi_verdict)CLFI_VERDICT_INIT;
    clf_status st = load_reference(&weights);
    if (st == CLF_OK)
        st = check_words(s, &weights, out);
    clfi_ref_weights_free(&weights);
    return st;
}

static clf_status run(void *state, clfi_sample *out)
{
    const decoder_state *s = state;
    return clfi_time_call(s->context, run_once, state, out);
}

static void memory(const void *state, clfi_workload_memory *out)
{
    const decoder_state *s = state;
    *out = (clfi_workload_memory){.weights_bytes = (size_t)s->pronouncer->model->file_bytes};
}

static const clfi_workload_type type = {engines, prepare, verify, run, memory, release};

static clf_status add(clfi_workload_list *list, size_t words, int beam)
{
    static const char *const off_device[] = {"letters to ids", "phonemes to text", NULL};
    const size_t bytes = (size_t)(clfi_g2p_weights_end - clfi_g2p_weights);
    clfi_workload workload = {.op = "decoder", .items = (double)words, .item = "words", .off_device = off_device, .type = &type};
    char hash[CLFI_HASH_TEXT_BYTES];
    decoder_case *one;
    CLF_TRY(clfi_alloc(1, sizeof *one, "decoder workload", &one));
    *one = (decoder_case){.words = words, .beam = beam};
    clfi_hash(clfi_g2p_weights, bytes, hash);
    snprintf(workload.id, sizeof workload.id, "decoder/built-in/words-%zu-beam-%d", words, beam);
    json_t *work = json_pack("{s:s, s:{s:s, s:s, s:I}, s:s, s:I, s:i, s:s, s:i}", "op", "pronounce", "model", "name", "built-in g2p", "xxh128", hash,
                             "file_bytes", (json_int_t)bytes, "arithmetic", "f32", "words", (json_int_t)words, "beam", beam, "data",
                             "built-in words", "version", 1);
    return clfi_model_workload_add(list, &workload, work, one);
}

clf_status clfi_decoder_workloads(clfi_workload_list *list, bool quick)
{
    CLF_TRY(add(list, 1, 1));
    CLF_TRY(add(list, 64, 1));
    if (quick)
        return CLF_OK;
    CLF_TRY(add(list, clfi_word_count, 1));
    return add(list, 64, 4);
}
