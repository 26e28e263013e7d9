/* SPDX-License-Identifier: MIT */
/* Greedy and beam decoding of words by the grapheme-to-phoneme model: bench_decoder --file WORDS [--golden golden.json] [--model DIR] [--beam N]
 * [--batch B] [--seconds S] [--output F] [--json]
 *
 * WORDS: one per line, decoded all at once from text to phonemes on the host. Verified first: with --golden (tests/data/g2p/golden.json), the phonemes of
 * its words in float64; and 200 of the file's words alone give the phonemes that they give in their batches. --output writes the phonemes, for other
 * programs to compare. Environment: CLF_DEVICE, CLF_ENGINE. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clformer/pronounce.h"
#include "support/bench.h"

typedef struct job {
    clf_pronouncer *pronouncer;
    clf_pronounce_params params;
    clf_text *words;
    size_t count;
} job;

static clf_pronunciations *decode(const job *j, const clf_text *words, size_t count)
{
    clf_pronunciations *list;
    BENCH_OK(clf_pronounce(j->pronouncer, words, count, &j->params, &list));
    return list;
}

static void run(void *user)
{
    const job *j = user;
    clf_pronunciations_destroy(decode(j, j->words, j->count));
}

static void read_words(job *j, const char *path)
{
    FILE *stream = fopen(path, "rb");
    char *line = NULL;
    size_t capacity = 0, room = 0;
    ssize_t length;
    if (!stream) {
        perror(path);
        exit(1);
    }
    while ((length = getline(&line, &capacity, stream)) >= 0) {
        if (j->count == room) {
            room = room ? 2 * room : 1024;
            j->words = realloc(j->words, room * sizeof *j->words);
            if (!j->words)
                abort();
        }
        while (length > 0 && (line[length - 1] == '\n' || line[length - 1] == '\r'))
            length--;
        j->words[j->count++] = (clf_text){strndup(line, (size_t)length), (size_t)length};
    }
    free(line);
    fclose(stream);
}

static void expect(const char *word, const char *got, const char *want, const char *against)
{
    if (strcmp(got, want) == 0)
        return;
    fprintf(stderr, "wrong: %s: \"%s\", %s \"%s\"\n", word, got, against, want);
    exit(1);
}

/* Greedy phonemes of the golden words; returns how many. */
static size_t verify_golden(const job *j, const char *path)
{
    json_t *golden = json_load_file(path, 0, NULL), *entries = json_object_get(golden, "greedy");
    const size_t count = json_array_size(entries);
    clf_text *words = malloc((count + 1) * sizeof *words);
    if (!count || !words) {
        fprintf(stderr, "%s: no golden words\n", path);
        exit(1);
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *word = json_object_get(json_array_get(entries, i), "word");
        words[i] = (clf_text){json_string_value(word), json_string_length(word)};
    }
    const job greedy = {.pronouncer = j->pronouncer, .params = CLF_PRONOUNCE_PARAMS_INIT};
    clf_pronunciations *list = decode(&greedy, words, count);
    for (size_t i = 0; i < count; i++)
        expect(words[i].data, clf_pronunciations_get(list, i, 0)->phonemes,
               json_string_value(json_object_get(json_array_get(entries, i), "phonemes")), "float64 gives");
    clf_pronunciations_destroy(list);
    free(words);
    json_decref(golden);
    return count;
}

static void verify_alone(const job *j, const clf_pronunciations *all)
{
    for (size_t i = 0; i < j->count; i += j->count / 200 + 1) {
        clf_pronunciations *alone = decode(j, &j->words[i], 1);
        const clf_pronunciation *a = clf_pronunciations_get(alone, 0, 0), *b = clf_pronunciations_get(all, i, 0);
        /* Where two choices are equal to rounding, either may win. */
        if (!(fabs((double)a->score - (double)b->score) < 1e-4)) {
            fprintf(stderr, "wrong: %s: score %g alone, %g in its batch\n", j->words[i].data, (double)a->score, (double)b->score);
            exit(1);
        }
        clf_pronunciations_destroy(alone);
    }
}

static void write_output(const job *j, const clf_pronunciations *all, const char *path)
{
    FILE *stream = fopen(path, "wb");
    if (!stream) {
        perror(path);
        exit(1);
    }
    for (size_t i = 0; i < j->count; i++)
        fprintf(stream, "%s\t%s\n", j->words[i].data, clf_pronunciations_get(all, i, 0)->phonemes);
    fclose(stream);
}

int main(int argc, char **argv)
{
    const char *file = bench_option(argc, argv, "--file"), *golden = bench_option(argc, argv, "--golden");
    const char *seconds = bench_option(argc, argv, "--seconds"), *output = bench_option(argc, argv, "--output");
    clf_context *context;
    job j = {.params = CLF_PRONOUNCE_PARAMS_INIT};
    if (!file) {
        fprintf(stderr, "usage: bench_decoder --file WORDS [--golden FILE] [--model DIR] [--beam N] [--batch B] [--seconds S] [--output F] [--json]\n");
        return 2;
    }
    j.params.beam = (int)bench_size(argc, argv, "--beam", 1);
    j.params.batch_words = bench_size(argc, argv, "--batch", 0);
    BENCH_OK(clf_context_create(NULL, &context));
    BENCH_OK(clf_pronouncer_open(context, bench_option(argc, argv, "--model"), &j.pronouncer));
    read_words(&j, file);
    const size_t checked = golden ? verify_golden(&j, golden) : 0;
    clf_pronunciations *all = decode(&j, j.words, j.count);
    verify_alone(&j, all);
    if (output)
        write_output(&j, all, output);
    clf_pronunciations_destroy(all);

    bench_samples samples = {NULL, 0, 0};
    clf_pronounce_stats before, after;
    clf_pronouncer_get_stats(j.pronouncer, &before);
    bench_measure(run, &j, 0, seconds ? atof(seconds) : 1.0, 1, &samples);
    clf_pronouncer_get_stats(j.pronouncer, &after);
    const double median = bench_quantile(&samples, 0.5), words_per_second = (double)j.count / (median / 1e9);
    if (bench_flag(argc, argv, "--json")) {
        json_t *record = bench_samples_json(&samples);
        json_object_update(record, bench_device_json(context));
        json_object_set_new(record, "words", json_integer((json_int_t)j.count));
        json_object_set_new(record, "beam", json_integer(j.params.beam));
        json_object_set_new(record, "golden_words_verified", json_integer((json_int_t)checked));
        json_object_set_new(record, "letters", json_integer((json_int_t)((after.letters - before.letters) / samples.count)));
        json_object_set_new(record, "decoded_tokens", json_integer((json_int_t)((after.decoded_tokens - before.decoded_tokens) / samples.count)));
        json_object_set_new(record, "words_per_second", json_real(words_per_second));
        bench_print_json(record);
    } else {
        printf("%s: %zu words, beam %d: median %.1f ms, p10 %.1f, p90 %.1f, %.1f words/s (%zu samples; %zu golden words verified)\n",
               clf_context_device(context)->name, j.count, j.params.beam, median / 1e6, bench_quantile(&samples, 0.1) / 1e6,
               bench_quantile(&samples, 0.9) / 1e6, words_per_second, samples.count, checked);
    }
    clf_pronouncer_destroy(j.pronouncer);
    clf_context_destroy(context);
    for (size_t i = 0; i < j.count; i++)
        free((char *)j.words[i].data);
    free(j.words);
    bench_samples_free(&samples);
    return 0;
}
