/* SPDX-License-Identifier: MIT */
/* Converts words to phonemes: maps letters to ids, runs batches of similar length through the beam search, and writes the phonemes as
 * text. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/options.h"
#include "base/str.h"
#include "model/packing.h"
#include "model/pronouncer.h"
#include "runtime/profile.h"

/* Hypotheses of one batch: enough rows to make the launches of a step cheap, on GPUs to fill them. On two cores more than 1,024 gain
 * nothing and take memory. */
enum { CPU_BATCH = 1024, GPU_BATCH = 8192 };

struct clf_pronunciations {
    size_t words, beam;
    clf_pronunciation *entry; /* [words][beam] */
    size_t *count;            /* [words] */
    char **text;              /* owned phonemes, [words][beam] */
};

static void read_letters(clf_pronouncer *pronouncer)
{
    for (int i = 0; i < 256; i++)
        pronouncer->letter[i] = -1;
    for (int32_t id = 0; id < pronouncer->model->source_count; id++) {
        const char *token = pronouncer->model->source_tokens[id];
        if (strlen(token) == 1)
            pronouncer->letter[(unsigned char)token[0]] = id;
    }
    for (int c = 'A'; c <= 'Z'; c++)
        if (pronouncer->letter[c] < 0)
            pronouncer->letter[c] = pronouncer->letter[c - 'A' + 'a'];
}

/* Takes over the model's reference, also on failure. */
static clf_status wrap(clf_context *context, clf_seq2seq *model, clf_pronouncer **out)
{
    clf_pronouncer *made;
    const clf_status st = clfi_alloc(1, sizeof *made, "pronouncer", &made);
    if (st != CLF_OK) {
        clfi_seq2seq_close(model);
        return st;
    }
    made->context = context;
    made->model = model;
    clfi_context_retain(context);
    read_letters(made);
    *out = made;
    return CLF_OK;
}

clf_status clf_pronouncer_open(clf_context *context, const char *directory, clf_pronouncer **out)
{
    clf_seq2seq *model;
    clf_status st;
    if (!context || !out)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "pronouncer: context and out must not be NULL");
    do
        st = clfi_seq2seq_open(context, directory, &model);
    while (clfi_context_recover(context, &st));
    CLF_TRY(st);
    return wrap(context, model, out);
}

clf_status clf_pronouncer_create_shared(clf_pronouncer *with, clf_context *context, clf_pronouncer **out)
{
    if (!with || !context || !out)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "pronouncer: with, context and out must not be NULL");
    CLF_TRY(clfi_network_check_context("pronouncer", with->model->network, context));
    return wrap(context, clfi_seq2seq_retain(with->model), out);
}

void clf_pronouncer_destroy(clf_pronouncer *pronouncer)
{
    if (!pronouncer)
        return;
    clfi_beam_search_destroy(pronouncer->search);
    clfi_context_drain(pronouncer->context); /* kernels may still read the weights */
    clfi_seq2seq_close(pronouncer->model);
    clfi_context_release(pronouncer->context);
    free(pronouncer);
}

void clf_pronouncer_get_stats(const clf_pronouncer *pronouncer, clf_pronounce_stats *out)
{
    if (out)
        *out = pronouncer ? pronouncer->stats : (clf_pronounce_stats){0};
}

clf_status clf_pronouncer_check(const clf_pronouncer *pronouncer, const clf_text *word)
{
    enum { SHOWN = 80 };
    if (!pronouncer || !word)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "pronouncer check: pronouncer and word must not be NULL");
    const int shown = word->size < SHOWN ? (int)word->size : SHOWN;
    const size_t longest = (size_t)pronouncer->model->network->config.source.max_positions - 1; /* the end takes one place */
    if (!word->data || word->size == 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "word \"\": expected letters a to z and apostrophes, found none");
    for (size_t i = 0; i < word->size; i++)
        if (pronouncer->letter[(unsigned char)word->data[i]] < 0)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "word \"%.*s\": expected letters a to z and apostrophes only", shown, word->data);
    if (word->size > longest)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "word \"%.*s...\": %zu letters, expected at most %zu", shown, word->data, word->size, longest);
    return CLF_OK;
}

size_t clf_pronunciations_count(const clf_pronunciations *list, size_t word)
{
    return list && word < list->words ? list->count[word] : 0;
}

const clf_pronunciation *clf_pronunciations_get(const clf_pronunciations *list, size_t word, size_t rank)
{
    return rank < clf_pronunciations_count(list, word) ? &list->entry[word * list->beam + rank] : NULL;
}

void clf_pronunciations_destroy(clf_pronunciations *list)
{
    if (!list)
        return;
    for (size_t i = 0; list->text && i < list->words * list->beam; i++)
        free(list->text[i]);
    free(list->text);
    free(list->entry);
    free(list->count);
    free(list);
}

static clf_status new_list(size_t words, size_t beam, clf_pronunciations **out)
{
    clf_pronunciations *list;
    CLF_TRY(clfi_alloc(1, sizeof *list, "pronunciations", &list));
    size_t count;
    clf_status st = clfi_mul_size(words, beam, &count) ? CLF_OK : clfi_fail(CLF_OUT_OF_MEMORY, "E_OVERFLOW: %zu words", words);
    list->words = words;
    list->beam = beam;
    if (st == CLF_OK)
        st = clfi_alloc(count, sizeof *list->text, "pronunciations", &list->text);
    if (st == CLF_OK)
        st = clfi_alloc(count, sizeof *list->entry, "pronunciations", &list->entry);
    if (st == CLF_OK)
        st = clfi_alloc(words, sizeof *list->count, "pronunciations", &list->count);
    if (st != CLF_OK) {
        clf_pronunciations_destroy(list);
        return st;
    }
    *out = list;
    return CLF_OK;
}

/* The state of one call. */
typedef struct pronounce_job {
    clf_pronouncer *pronouncer;
    const clf_text *words;
    size_t *order; /* of the words, by falling length */
    size_t first;  /* index in `order` of the current batch's first word */
    int32_t *ids, *offsets;
    clf_pronunciations *list;
} pronounce_job;

static clf_status spell(const clf_seq2seq *model, const clf_hypothesis *hypothesis, char **out)
{
    clf_str text = CLF_STR_INIT;
    clf_status st = CLF_OK;
    for (size_t i = 0; i < hypothesis->count; i++) {
        const int32_t token = hypothesis->tokens[i];
        if (token == model->eos)
            break;
        if (text.length > 0)
            CLF_GOTO(clfi_str_append_char(&text, ' '));
        CLF_GOTO(clfi_str_append_text(&text, model->target_tokens[token]));
    }
    st = clfi_strdup(clfi_str_text(&text), out);
done:
    clfi_str_free(&text);
    return st;
}

/* A clf_hypothesis_sink. A search that is repeated after a loss of the device finds the same hypotheses again. */
static clf_status take_hypothesis(void *user, size_t source, size_t rank, const clf_hypothesis *hypothesis)
{
    const pronounce_job *job = user;
    clf_pronunciations *list = job->list;
    const size_t word = job->order[job->first + source], at = word * list->beam + rank;
    free(list->text[at]);
    list->text[at] = NULL;
    CLF_TRY(spell(job->pronouncer->model, hypothesis, &list->text[at]));
    list->entry[at] = (clf_pronunciation){list->text[at], hypothesis->score, hypothesis->has_ended};
    list->count[word] = rank + 1;
    return CLF_OK;
}

/* A clf_length_of. */
static size_t length_of(const void *user, size_t word)
{
    return ((const clf_text *)user)[word].size;
}

/* Runs the search on words order[first] .. order[first + count - 1]: their letters, each word closed by the end token. */
static clf_status run_batch(pronounce_job *job, size_t count)
{
    const clf_pronouncer *pronouncer = job->pronouncer;
    int32_t at = 0;
    for (size_t i = 0; i < count; i++) {
        const clf_text *word = &job->words[job->order[job->first + i]];
        job->offsets[i] = at;
        for (size_t j = 0; j < word->size; j++)
            job->ids[at++] = pronouncer->letter[(unsigned char)word->data[j]];
        job->ids[at++] = pronouncer->model->eos;
    }
    job->offsets[count] = at;
    return clfi_beam_search_run(pronouncer->search, job->ids, job->offsets, count, take_hypothesis, job);
}

static clf_status prepare_search(clf_pronouncer *pronouncer, int beam)
{
    const clf_seq2seq *model = pronouncer->model;
    if (pronouncer->search && pronouncer->search_width == beam)
        return CLF_OK;
    clfi_beam_search_destroy(pronouncer->search);
    pronouncer->search = NULL;
    pronouncer->search_width = beam;
    const clf_beam_rules rules = {.width = beam, .begin = &model->bos, .begin_count = 1, .ends = &model->eos, .end_count = 1};
    return clfi_beam_search_create(pronouncer->context, model->network, &rules, CLF_F32, &pronouncer->search);
}

/* Makes the weights and the search usable, also after a loss of the device. */
static clf_status get_ready(clf_pronouncer *pronouncer, int beam)
{
    clf_status st;
    do {
        st = clfi_seq2seq_refresh(pronouncer->context, pronouncer->model);
        if (st == CLF_OK)
            st = prepare_search(pronouncer, beam);
    } while (clfi_context_recover(pronouncer->context, &st));
    return st;
}

/* Runs a batch, once more if the device is lost. */
static clf_status run_batch_again(pronounce_job *job, size_t count)
{
    clf_pronouncer *pronouncer = job->pronouncer;
    clf_status st;
    do {
        st = clfi_seq2seq_refresh(pronouncer->context, pronouncer->model);
        if (st == CLF_OK)
            st = run_batch(job, count);
    } while (clfi_context_recover(pronouncer->context, &st));
    return st;
}

static void add_stats(clf_pronouncer *pronouncer, const clf_beam_stats *before, uint64_t start)
{
    const clf_beam_stats now = clfi_beam_search_stats(pronouncer->search);
    const uint64_t end = clfi_now_ns();
    pronouncer->stats.words += now.sources - before->sources;
    pronouncer->stats.letters += now.source_tokens - before->source_tokens;
    pronouncer->stats.steps += now.steps - before->steps;
    pronouncer->stats.decoded_tokens += now.step_rows - before->step_rows;
    pronouncer->stats.run_ns += end - start;
    clfi_profile_phase(pronouncer->context, "pronounce", start, end);
}

static clf_status run(pronounce_job *job, size_t count, const clf_pronounce_params *params)
{
    const clf_context *context = job->pronouncer->context;
    const size_t suited = (context->device.caps.is_cpu ? CPU_BATCH : GPU_BATCH) / (size_t)params->beam;
    const size_t batch = params->batch_words ? params->batch_words : suited ? suited : 1;
    size_t longest = 0;
    for (size_t i = 0; i < count; i++) {
        CLF_TRY(clf_pronouncer_check(job->pronouncer, &job->words[i]));
        longest = job->words[i].size > longest ? job->words[i].size : longest;
    }
    const size_t most = batch < count ? batch : count;
    CLF_TRY(clfi_order_by_length(count, length_of, job->words, &job->order));
    CLF_TRY(clfi_alloc(most * (longest + 1), sizeof *job->ids, "letters", &job->ids));
    CLF_TRY(clfi_alloc(most + 1, sizeof *job->offsets, "letters", &job->offsets));
    CLF_TRY(get_ready(job->pronouncer, params->beam));
    const clf_beam_stats before = clfi_beam_search_stats(job->pronouncer->search);
    const uint64_t start = clfi_now_ns();
    for (size_t words; job->first < count; job->first += words) {
        words = count - job->first < batch ? count - job->first : batch;
        CLF_TRY(run_batch_again(job, words));
        const size_t done = job->first + words;
        if (params->progress && params->progress(params->progress_user, done, count) && done < count)
            CLF_FAIL(CLF_CANCELLED, "pronounce: cancelled after %zu of %zu words", done, count);
    }
    add_stats(job->pronouncer, &before, start);
    return CLF_OK;
}

CLFI_OPTIONS(clf_pronounce_params, CLF_PRONOUNCE_PARAMS_INIT)

clf_status clf_pronounce(clf_pronouncer *pronouncer, const clf_text *words, size_t count, const clf_pronounce_params *params,
                         clf_pronunciations **out)
{
    clf_pronounce_params own;
    const clf_pronounce_params *p = &own;
    if (!pronouncer || (!words && count) || !out)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "pronounce: pronouncer, words and out must not be NULL");
    CLF_TRY(clf_pronounce_params_read(params, &own));
    if (p->beam < 1 || p->beam > CLFI_BEAM_MOST)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "pronounce: beam %d, expected 1 to %d", p->beam, CLFI_BEAM_MOST);
    pronounce_job job = {.pronouncer = pronouncer, .words = words};
    clf_status st = new_list(count, (size_t)p->beam, &job.list);
    if (st == CLF_OK && count)
        st = run(&job, count, p);
    free(job.order);
    free(job.ids);
    free(job.offsets);
    if (st != CLF_OK) {
        clf_pronunciations_destroy(job.list);
        return st;
    }
    *out = job.list;
    return CLF_OK;
}
