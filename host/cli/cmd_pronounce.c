/* SPDX-License-Identifier: MIT */
/* clformer pronounce: prints the phonemes of English words. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/str.h"
#include "cli/attention_map.h"
#include "cli/commands.h"
#include "jobs/inputs.h"
#include "console/progress.h"
#include "jobs/session.h"
#include "console/standard_output.h"
#include "model/pronouncer.h"
#include "runtime/profile.h"

typedef struct pronounce_options {
    const char *model; /* directory; NULL: built in */
    size_t beam, n_best, batch_words;
    const char *picture, *word; /* file for heat maps of the word's cross-attention; NULL: none */
    int picture_format;
    int64_t layer; /* of the decoder; NOT_GIVEN: the last */
} pronounce_options;

#define NOT_GIVEN INT64_MIN

static clf_text trimmed(clf_text text)
{
    while (text.size && strchr(" \t\r", text.data[0]) && text.data[0]) {
        text.data++;
        text.size--;
    }
    while (text.size && text.data[text.size - 1] && strchr(" \t\r", text.data[text.size - 1]))
        text.size--;
    return text;
}

/* Copies the words of a window that the model can read, in order, and returns their number. The others are reported on standard error and
 * counted in *refused. Blank lines are skipped. */
static size_t keep_readable(const clf_pronouncer *pronouncer, const cli_inputs *inputs, clf_text *words, size_t *refused)
{
    size_t count = 0;
    for (size_t i = 0; i < inputs->count; i++) {
        const clf_text word = trimmed(inputs->texts[i]);
        if (word.size == 0 && inputs->line_number > 0)
            continue;
        if (clf_pronouncer_check(pronouncer, &word) == CLF_OK) {
            words[count++] = word;
            continue;
        }
        cli_line_clear();
        fprintf(stderr, "clformer: %s\n", clf_last_error());
        ++*refused;
    }
    return count;
}

/* printed: number of words in earlier windows. */
static clf_status print_words(const clf_text *words, size_t count, const clf_pronunciations *list, const pronounce_options *options,
                              bool shows_scores, size_t printed)
{
    for (size_t i = 0; i < count; i++) {
        const size_t found = clf_pronunciations_count(list, i);
        for (size_t rank = 0; rank < options->n_best && rank < found; rank++) {
            const clf_pronunciation *p = clf_pronunciations_get(list, i, rank);
            if (printf("%.*s\t%s", (int)words[i].size, words[i].data, p->phonemes) < 0 ||
                (shows_scores && printf("\t%.4f", (double)p->score) < 0) || putchar('\n') == EOF)
                return clfi_fail_errno("write", "standard output");
        }
        CLF_TRY(cli_output_done(printed + i + 1, "word was", "words were"));
    }
    return CLF_OK;
}

static clf_status pronounce_all(const clf_context *context, clf_pronouncer *pronouncer, cli_inputs *inputs,
                                const pronounce_options *options, bool shows_scores, size_t *refused)
{
    cli_progress progress = cli_progress_start("words", context);
    clf_pronounce_params params = CLF_PRONOUNCE_PARAMS_INIT;
    clf_text *words = NULL;
    clf_status st;
    params.beam = (int)options->beam;
    params.batch_words = options->batch_words;
    params.progress = cli_progress_update;
    params.progress_user = &progress;
    CLF_GOTO(clfi_alloc(CLI_WINDOW, sizeof *words, "words", &words));
    for (;;) {
        clf_pronunciations *list;
        CLF_GOTO(cli_inputs_next(inputs));
        if (inputs->count == 0)
            break;
        cli_progress_window(&progress, cli_inputs_share(inputs));
        const size_t count = keep_readable(pronouncer, inputs, words, refused);
        CLF_GOTO(clf_pronounce(pronouncer, words, count, &params, &list));
        cli_progress_count(&progress, count);
        cli_line_clear();
        st = print_words(words, count, list, options, shows_scores, progress.base - count);
        clf_pronunciations_destroy(list);
        if (st != CLF_OK)
            goto done;
    }
done:
    cli_line_clear();
    free(words);
    return st;
}

static void print_stats(const clf_pronouncer *pronouncer)
{
    clf_pronounce_stats stats;
    clf_pronouncer_get_stats(pronouncer, &stats);
    const double seconds = (double)stats.run_ns / 1e9;
    fprintf(stderr, "pronounce       %.1f ms (%llu %s, %llu %s, %llu decoder %s over %llu %s)\n", seconds * 1e3,
            (unsigned long long)stats.words, clfi_plural(stats.words, "word", "words"), (unsigned long long)stats.letters,
            clfi_plural(stats.letters, "letter", "letters"), (unsigned long long)stats.steps, clfi_plural(stats.steps, "step", "steps"),
            (unsigned long long)stats.decoded_tokens, clfi_plural(stats.decoded_tokens, "token", "tokens"));
    fprintf(stderr, "throughput      %.1f words/s\n", seconds > 0 ? (double)stats.words / seconds : 0.0);
}

/* Draws which letters each phoneme of the word's best pronunciation attends to. */
static clf_status draw_attention(clf_pronouncer *pronouncer, const pronounce_options *options)
{
    cli_attention_map map = {0};
    const int64_t layer = options->layer == NOT_GIVEN ? pronouncer->model->network->decoder.layer_count - 1 : options->layer;
    CLF_TRY(cli_attention_of_word(pronouncer, options->word, (int)options->beam, CLF_PRONOUNCE_ATTENTION_CROSS, layer, &map));
    const cli_attention_picture picture = {.source = options->model ? options->model : "g2p",
                                           .text = options->word,
                                           .scale = CLI_SCALE_SHARED,
                                           .format = (cli_heatmap_format)options->picture_format};
    const clf_status st = cli_attention_draw(&map, &picture, options->picture);
    cli_attention_free(&map);
    return st;
}

static clf_status pronounce(cli_session *session, cli_inputs *inputs, const pronounce_options *options, bool shows_scores, size_t *refused)
{
    clf_pronouncer *pronouncer;
    CLF_TRY(cli_session_open(session));
    const uint64_t start = clfi_now_ns();
    CLF_TRY(clf_pronouncer_open(session->context, options->model, &pronouncer));
    clfi_profile_phase(session->context, "load model", start, clfi_now_ns());
    clf_status st = pronounce_all(session->context, pronouncer, inputs, options, shows_scores, refused);
    if (st == CLF_OK && options->picture && *refused == 0)
        st = draw_attention(pronouncer, options);
    if (session->stats && st == CLF_OK)
        print_stats(pronouncer);
    clf_pronouncer_destroy(pronouncer);
    return st;
}

static clf_status check(pronounce_options *options)
{
    if (options->beam == 0)
        options->beam = options->n_best ? options->n_best : 1;
    if (options->n_best == 0)
        options->n_best = 1;
    if (options->beam > 64)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: expected 1 to 64, found %zu", options->n_best == options->beam ? "--n-best" : "--beam",
                 options->beam);
    if (options->picture && !options->word)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "--attention: expected one word on the command line");
    if (!options->picture && options->layer != NOT_GIVEN)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "--layer needs --attention");
    if (options->layer != NOT_GIVEN && options->layer < 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "--layer: expected 0 or more, found %lld", (long long)options->layer);
    options->picture_format = CLI_FORMAT_UNSET;
    CLF_TRY(cli_heatmap_choose_format(options->picture, &options->picture_format));
    if (options->picture && options->picture_format == CLI_FORMAT_UNSET)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "--attention %s: expected a name that ends in .png or .svg", options->picture);
    if (options->n_best > options->beam)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "--n-best: expected at most %zu, the size of the beam, found %zu", options->beam, options->n_best);
    return CLF_OK;
}

int cmd_pronounce(const cli_command *self, int argc, char **argv)
{
    cli_session session = CLI_SESSION_INIT;
    pronounce_options options = {.layer = NOT_GIVEN};
    const char *file = NULL;
    int positional;
    const cli_option table[] = {
        {"file", 'f', "F", "one word per line; - is standard input", CLI_TEXTS, &file},
        {"beam", 'b', "N", "hypotheses kept while decoding, 1 to 64 (default: 1, greedy, or --n-best); prints scores", CLI_SIZE,
         &options.beam},
        {"n-best", 'n', "K", "pronunciations printed for each word, best first (default: 1)", CLI_SIZE, &options.n_best},
        {"model", 'm', "DIR", "use another model: a directory with config.json and model.safetensors", CLI_INPUT, &options.model},
        {"attention", 0, "F", "draw which letters each phoneme of one word attends to, as a .png or .svg file", CLI_OUTPUT,
         &options.picture},
        {"layer", 0, "L", "layer of the decoder, for --attention (default: the last)", CLI_INTEGER, &options.layer},
        {"batch-words", 0, "N", "words per batch (default: chosen for the device)", CLI_SIZE, &options.batch_words},
        CLI_SESSION_OPTIONS(session),
    };
    cli_inputs *inputs = NULL;
    size_t refused = 0;
    clf_status st = cli_parse(self, table, COUNT(table), argc, argv, &positional);
    const bool shows_scores = options.beam || options.n_best;
    if (st == CLF_OK && positional == 1 && !file && strcmp(argv[0], "-") != 0)
        options.word = argv[0];
    if (st == CLF_OK)
        st = check(&options);
    if (st == CLF_OK)
        st = cli_inputs_open(argv, positional, file, &inputs);
    if (st == CLF_OK)
        st = pronounce(&session, inputs, &options, shows_scores, &refused);
    const int status = st == CLF_OK ? refused > 0 : cli_fail(st);
    cli_inputs_close(inputs);
    st = cli_session_close(&session, NULL);
    return status ? status : st == CLF_OK ? 0 : cli_fail(st);
}
