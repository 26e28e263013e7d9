/* SPDX-License-Identifier: MIT */
/* bench_decoder --file WORDS [--model DIR] [--beam N] [--batch B] [--seconds S] [--output F] [--json]
 *
 * Measures how fast words (one per line) become phonemes, by the catalogue's decoder workload. A run decodes all words, from text to
 * phonemes on the host. The result is first verified against float64. --output writes the phonemes, for other programs to compare.
 * Environment: CLF_DEVICE, CLF_ENGINE. */
#include <stdio.h>
#include <stdlib.h>

#include "support/measure.h"
#include "workload/model_texts.h"
#include "workload/model_workloads.h"

static void write_output(const char *words_file, const clf_pronunciations *found, const char *path)
{
    clfi_texts words;
    BENCH_OK(clfi_texts_read(words_file, &words));
    FILE *stream = fopen(path, "wb");
    if (!stream) {
        perror(path);
        exit(1);
    }
    for (size_t i = 0; i < words.count; i++)
        fprintf(stream, "%.*s\t%s\n", (int)words.items[i].size, words.items[i].data, clf_pronunciations_get(found, i, 0)->phonemes);
    if (fclose(stream) != 0) {
        perror(path);
        exit(1);
    }
    clfi_texts_free(&words);
}

int main(int argc, char **argv)
{
    static const char usage[] = "bench_decoder --file WORDS [--model DIR] [--beam N] [--batch B] [--seconds S] [--output F] [--json]";
    bench_arguments(argc, argv, 0, usage);
    const char *file = bench_option(argc, argv, "--file"), *output = bench_option(argc, argv, "--output");
    const int beam = (int)bench_size(argc, argv, "--beam", 1);
    const size_t batch = bench_option(argc, argv, "--batch") ? bench_size(argc, argv, "--batch", 1) : 0;
    clf_context *context;
    clfi_workload_list list = {0};
    bench_row row;
    if (!file) {
        fprintf(stderr, "usage: %s\n", usage);
        return 2;
    }
    BENCH_OK(clf_context_create(NULL, &context));
    BENCH_OK(clfi_decoder_add_file(&list, bench_option(argc, argv, "--model"), file, beam, batch));
    bench_row_single(&list, context, 0, bench_seconds(argc, argv, 1), 1, &row);
    if (output)
        write_output(file, clfi_decoder_result(row.state), output);

    const clfi_summary wall = bench_summary(&row.wall_ms);
    const size_t words = (size_t)list.items[0].items;
    const double rate = (double)words / (wall.median / 1e3);
    if (bench_flag(argc, argv, "--json")) {
        json_t *record = bench_row_json(&row, context);
        json_object_set_new(record, "words", json_integer((json_int_t)words));
        json_object_set_new(record, "words_per_second", json_real(rate));
        bench_print_json(record);
    } else {
        printf("%s: %zu words, beam %d: median %.1f ms, p10 %.1f, p90 %.1f, %.1f words/s (%zu samples; largest error of a score %.2g)\n",
               clf_context_device(context)->name, words, beam, wall.median, wall.p10, wall.p90, rate, row.wall_ms.count, row.verdict.error);
    }
    bench_row_close(&row);
    clfi_workload_list_free(&list);
    clf_context_destroy(context);
    return 0;
}
