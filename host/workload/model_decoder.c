/* SPDX-License-Identifier: MIT */
/* Workloads "decoder": the built-in encoder-decoder (or one of a directory) finds the phonemes of words, greedily or with a beam. A run
 * goes from letters to phonemes on the host.
 *
 * The float64 reference (reference_transformer.h) is given the phonemes that were found for a fixed random choice of the words. The
 * score must be the log-probability of the whole sequence. With greedy decoding, no other phoneme may be more probable at any place.
 * Both hold within what rounding errors may change. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "model/built_in.h"
#include "model/pronouncer.h"
#include "model/transformer.h"
#include "runtime/usage.h"
#include "workload/model_texts.h"
#include "workload/model_workloads.h"
#include "workload/reference_transformer.h"
#include "workload/timing.h"
#include "workload/verdict.h"

enum { CHOICE_SEED = 9, MOST_CHECKED = 8, SAFETY = 4, LONGEST = 64 };

typedef struct decoder_case {
    size_t words, batch_words;
    int beam;
    const char *directory, *file; /* NULL: the built-in model, the built-in words */
} decoder_case;

typedef struct decoder_state {
    const decoder_case *one;
    clf_context *context;
    clf_pronouncer *pronouncer;
    clfi_texts words;
    clf_pronunciations *result; /* result of the latest run */
    size_t weights_bytes;
} decoder_state;

static void release(void *state)
{
    decoder_state *s = state;
    if (!s)
        return;
    clf_pronunciations_destroy(s->result);
    clf_pronouncer_destroy(s->pronouncer);
    clfi_texts_free(&s->words);
    free(s);
}

static clf_status run_once(void *state)
{
    decoder_state *s = state;
    clf_pronounce_params params = CLF_PRONOUNCE_PARAMS_INIT;
    params.beam = s->one->beam;
    params.batch_words = s->one->batch_words;
    clf_pronunciations_destroy(s->result);
    s->result = NULL;
    return clf_pronounce(s->pronouncer, s->words.items, s->one->words, &params, &s->result);
}

static clf_status setup(decoder_state *s)
{
    const uint64_t before = clfi_usage_bytes(s->context);
    CLF_TRY(clf_pronouncer_open(s->context, s->one->directory, &s->pronouncer));
    s->weights_bytes = clfi_model_weights_bytes(s->pronouncer->model->network->file_bytes, clfi_usage_bytes(s->context) - before);
    CLF_TRY(s->one->file ? clfi_texts_read(s->one->file, &s->words) : clfi_texts_words(s->one->words, &s->words));
    if (s->words.count != s->one->words)
        CLF_FAIL(CLF_FORMAT, "%s: %zu lines, there were %zu", s->one->file, s->words.count, s->one->words);
    return run_once(s);
}

static clf_status prepare(const clfi_workload *workload, clf_context *context, const char *engine, void **state)
{
    decoder_state *s;
    (void)engine;
    CLF_TRY(clfi_alloc(1, sizeof *s, "decoder workload", &s));
    *state = s;
    s->one = workload->parameters;
    s->context = context;
    return setup(s);
}

static clf_status load_reference(const char *directory, clfi_ref_weights *weights)
{
    clf_safetensors *file;
    if (directory)
        CLF_TRY(clfi_safetensors_open_directory(directory, &file));
    else
        CLF_TRY(clfi_safetensors_parse(clfi_g2p_weights, (size_t)(clfi_g2p_weights_end - clfi_g2p_weights), "built-in model", &file));
    clf_status st = CLF_OK;
    for (size_t i = 0; st == CLF_OK && i < clfi_safetensors_count(file); i++) {
        const char *name = clfi_safetensors_at(file, i)->name;
        st = clfi_ref_weights_load(weights, file, name, name);
    }
    clfi_safetensors_close(file);
    return st;
}

/* One word and its phonemes as token ids. */
typedef struct sequence {
    int32_t source[LONGEST], target[LONGEST]; /* target: the start token, then the phonemes. target[t] predicts target[t + 1], the last
                                                 one the end */
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
        while (id < model->target_count &&
               !(strlen(model->target_tokens[id]) == length && memcmp(model->target_tokens[id], at, length) == 0))
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
    return clfi_ref_log_probabilities(config, weights, one->source_length, one->source, one->target_length, one->target, out, noise);
}

/* Checks the score and, if greedy, the choices of one word. exact, disturbed: log-probabilities without and with rounding errors,
 * LONGEST * V values each. */
static void check_choices(const decoder_state *s, const sequence *one, const clf_pronunciation *got, const double *exact,
                          const double *disturbed, clfi_verdict *out)
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
        if (s->one->beam == 1)
            clfi_verdict_add(out, exact[t * v + next], best, 2 * SAFETY * worst_change); /* both sides of the comparison are disturbed */
    }
    clfi_verdict_add(out, (double)got->score, score, SAFETY * change + 0x1p-24 * LONGEST * fabs(score));
}

static clf_status check_words(const decoder_state *s, const clfi_ref_weights *weights, clfi_verdict *out)
{
    const clf_seq2seq *model = s->pronouncer->model;
    const clf_transformer_config config = clfi_transformer_config_of(&model->network->config);
    clfi_random random = {CHOICE_SEED};
    size_t places[MOST_CHECKED];
    const size_t count = clfi_random_places(&random, s->one->words, MOST_CHECKED, places), values = LONGEST * (size_t)model->target_count;
    double *exact;
    clf_status st = CLF_OK;
    CLF_TRY(clfi_alloc(2 * values, sizeof *exact, "reference", &exact));
    for (size_t i = 0; st == CLF_OK && i < count; i++) {
        const clf_pronunciation *got = clf_pronunciations_get(s->result, places[i], 0);
        clfi_ref_noise noise = {1};
        sequence one;
        CLF_GOTO(read_sequence(model, s->pronouncer->letter, &s->words.items[places[i]], got->phonemes, &one));
        CLF_GOTO(log_probabilities(&config, weights, &one, NULL, exact));
        CLF_GOTO(log_probabilities(&config, weights, &one, &noise, exact + values));
        check_choices(s, &one, got, exact, exact + values, out);
    }
done:
    free(exact);
    return st;
}

/* Errors are differences of log-probabilities. */
static clf_status verify(void *state, clfi_verdict *out)
{
    decoder_state *s = state;
    clfi_ref_weights weights = {0};
    CLF_TRY(run_once(s));
    *out = (clfi_verdict)CLFI_VERDICT_INIT;
    clf_status st = load_reference(s->one->directory, &weights);
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
    *out = (clfi_workload_memory){.weights_bytes = s->weights_bytes};
}

static const clfi_workload_type type = {
    .engines = clfi_workload_one_engine, .prepare = prepare, .verify = verify, .run = run, .memory = memory, .release = release};

const clf_pronunciations *clfi_decoder_result(const void *state)
{
    const decoder_state *s = state;
    return s->result;
}

static clf_status identify(const char *directory, json_t **out)
{
    const size_t bytes = (size_t)(clfi_g2p_weights_end - clfi_g2p_weights);
    char hash[CLFI_HASH_TEXT_BYTES];
    if (directory)
        return clfi_model_identity(directory, NULL, out);
    clfi_hash(clfi_g2p_weights, bytes, hash);
    *out = json_pack("{s:s, s:s, s:I}", "name", "built-in g2p", "xxh128", hash, "file_bytes", (json_int_t)bytes);
    if (!*out)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "built-in model: its description: not enough memory");
    return CLF_OK;
}

/* id: the part after "decoder/". data: a description of the words, with the hash of their file if they come from one; released in any
 * case. */
static clf_status add(clfi_workload_list *list, const decoder_case *from, const char *id, json_t *data)
{
    static const char *const off_device[] = {"letters to ids", "which words are done, step by step", "phonemes to text", NULL};
    clfi_workload workload = {.op = "decoder", .items = (double)from->words, .item = "words", .off_device = off_device, .type = &type};
    const char *directory, *file;
    decoder_case *one;
    json_t *model = NULL;
    clf_status st = identify(from->directory, &model);
    if (st == CLF_OK)
        st = clfi_model_parameters(sizeof *one, from->directory, from->file, &one, &directory, &file);
    if (st != CLF_OK) {
        json_decref(model);
        json_decref(data);
        return st;
    }
    *one = *from;
    one->directory = directory;
    one->file = file;
    snprintf(workload.id, sizeof workload.id, "decoder/%s", id);
    json_t *work = json_pack("{s:s, s:o, s:s, s:I, s:I, s:i, s:o}", "op", "pronounce", "model", model, "arithmetic", "f32", "words",
                             (json_int_t)from->words, "batch_words", (json_int_t)from->batch_words, "beam", from->beam, "data", data);
    return clfi_model_workload_add(list, &workload, work, one);
}

clf_status clfi_decoder_add_file(clfi_workload_list *list, const char *directory, const char *file, int beam, size_t batch_words)
{
    char hash[CLFI_HASH_TEXT_BYTES], id[64];
    clfi_texts words;
    clf_status st = clfi_texts_read(file, &words);
    const decoder_case one = {.words = words.count, .batch_words = batch_words, .beam = beam, .directory = directory, .file = file};
    clfi_hash(clfi_str_text(&words.storage), words.storage.length, hash);
    clfi_texts_free(&words);
    if (st == CLF_OK && one.words == 0)
        st = clfi_fail(CLF_FORMAT, "%s: no words", file);
    CLF_TRY(st);
    snprintf(id, sizeof id, "%s/file-%.8s-beam-%d", directory ? "directory" : "built-in", hash, beam);
    return add(list, &one, id, json_pack("{s:s, s:s}", "words", "lines of a file", "xxh128", hash));
}

clf_status clfi_decoder_workloads(clfi_workload_list *list, bool quick)
{
    static const struct {
        size_t words;
        int beam;
        bool is_quick;
    } cases[] = {{1, 1, true}, {64, 1, true}, {216, 1, false}, {64, 4, false}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        const decoder_case one = {.words = cases[i].words, .beam = cases[i].beam};
        char id[64];
        snprintf(id, sizeof id, "built-in/words-%zu-beam-%d", one.words, one.beam);
        if (!quick || cases[i].is_quick)
            CLF_TRY(add(list, &one, id, json_pack("{s:s, s:i}", "words", "built in", "version", 1)));
    }
    return CLF_OK;
}
