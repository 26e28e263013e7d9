/* SPDX-License-Identifier: MIT */
/* Sentence embeddings of a model: bench_encoder MODEL_DIR [--batch B] [--tokens T] [--file TEXTS] [--seconds S] [--json]
 *
 * Without --file: B sequences of T random token ids each, from ids to embeddings on the host. With --file: every line of a file, from
 * text to embeddings on the host (tokenizing included). Verified first: finite, of norm 1 where the model normalises, and the same as
 * each sequence alone to 1e-5. Environment: CLF_DEVICE, CLF_ENGINE. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clformer/model.h"
#include "support/bench.h"

typedef struct job {
    clf_model *model;
    const clf_model_info *info;
    int32_t *ids, *offsets;
    clf_text *texts;
    size_t count;
    float *rows;
    clf_embed_stats stats;
} job;

static void run_ids(void *user)
{
    job *j = user;
    BENCH_OK(clf_model_embed_ids(j->model, j->ids, NULL, j->offsets, j->count, NULL, j->rows));
}

static void run_texts(void *user)
{
    job *j = user;
    BENCH_OK(clf_model_embed(j->model, j->texts, j->count, NULL, j->rows, &j->stats));
}

static void make_ids(job *j, size_t batch, size_t tokens)
{
    const int64_t usable = j->info->vocabulary;
    float *random = malloc(batch * tokens * sizeof *random);
    j->count = batch;
    j->ids = malloc(batch * tokens * sizeof *j->ids);
    j->offsets = malloc((batch + 1) * sizeof *j->offsets);
    if (!random || !j->ids || !j->offsets)
        abort();
    bench_fill(random, batch * tokens, 0, 1, 7);
    for (size_t i = 0; i < batch * tokens; i++)
        j->ids[i] = (int32_t)((double)random[i] * (double)usable);
    for (size_t i = 0; i <= batch; i++)
        j->offsets[i] = (int32_t)(i * tokens);
    free(random);
}

static void read_texts(job *j, const char *path)
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
            j->texts = realloc(j->texts, room * sizeof *j->texts);
            if (!j->texts)
                abort();
        }
        while (length > 0 && (line[length - 1] == '\n' || line[length - 1] == '\r'))
            length--;
        j->texts[j->count++] = (clf_text){strndup(line, (size_t)length), (size_t)length};
    }
    free(line);
    fclose(stream);
}

/* Largest difference between the batch's rows and those of single sequences (at most 8 of them); exits when the result is wrong. */
static double verify(job *j)
{
    const size_t width = (size_t)j->info->width;
    double worst = 0;
    float *alone = malloc(width * sizeof *alone);
    if (!alone)
        abort();
    for (size_t i = 0; i < j->count; i++) {
        double norm = 0;
        for (size_t c = 0; c < width; c++)
            norm += (double)j->rows[i * width + c] * j->rows[i * width + c];
        if (!isfinite(norm) || (j->info->normalize && fabs(norm - 1) > 1e-5)) {
            fprintf(stderr, "wrong: row %zu has norm %g\n", i, sqrt(norm));
            exit(1);
        }
    }
    for (size_t i = 0; i < j->count; i += j->count / 8 + 1) {
        if (j->texts) {
            BENCH_OK(clf_model_embed(j->model, &j->texts[i], 1, NULL, alone, NULL));
        } else {
            const int32_t offsets[2] = {0, j->offsets[i + 1] - j->offsets[i]};
            BENCH_OK(clf_model_embed_ids(j->model, j->ids + j->offsets[i], NULL, offsets, 1, NULL, alone));
        }
        for (size_t c = 0; c < width; c++)
            worst = fmax(worst, fabs((double)alone[c] - j->rows[i * width + c]));
    }
    free(alone);
    if (!(worst <= 1e-5)) {
        fprintf(stderr, "wrong: batched and single results differ by %g\n", worst);
        exit(1);
    }
    return worst;
}

int main(int argc, char **argv)
{
    const char *file = bench_option(argc, argv, "--file");
    const char *seconds = bench_option(argc, argv, "--seconds");
    const size_t batch = bench_size(argc, argv, "--batch", 1), tokens = bench_size(argc, argv, "--tokens", 128);
    if (argc < 2 || argv[1][0] == '-') {
        fprintf(stderr, "usage: bench_encoder MODEL_DIR [--batch B] [--tokens T] [--file TEXTS] [--seconds S] [--json]\n");
        return 2;
    }
    clf_context *context;
    job j = {.count = 0};
    BENCH_OK(clf_context_create(NULL, &context));
    BENCH_OK(clf_model_open(context, argv[1], &j.model));
    j.info = clf_model_get_info(j.model);
    if (file)
        read_texts(&j, file);
    else
        make_ids(&j, batch, tokens);
    j.rows = malloc(j.count * (size_t)j.info->width * sizeof *j.rows);
    if (!j.rows)
        abort();
    const bench_function run = file ? run_texts : run_ids;
    run(&j);
    const double worst = verify(&j);
    bench_samples samples = {NULL, 0, 0};
    bench_measure(run, &j, 3, seconds ? atof(seconds) : 1.0, 10, &samples);
    const double median = bench_quantile(&samples, 0.5);
    if (bench_flag(argc, argv, "--json")) {
        json_t *record = bench_samples_json(&samples);
        json_object_update(record, bench_device_json(context));
        json_object_set_new(record, "engine", json_string(j.info->linear_engine));
        json_object_set_new(record, "texts", json_integer((json_int_t)j.count));
        json_object_set_new(record, "tokens", json_integer(file ? (json_int_t)j.stats.tokens : (json_int_t)(batch * tokens)));
        json_object_set_new(record, "texts_per_second", json_real((double)j.count / (median / 1e9)));
        json_object_set_new(record, "batched_vs_single", json_real(worst));
        bench_print_json(record);
    } else {
        printf("%s, engine %s: %zu texts, %zu tokens: median %.3f ms, p10 %.3f, p90 %.3f, %.1f texts/s (%zu samples)\n",
               clf_context_device(context)->name, j.info->linear_engine, j.count, file ? j.stats.tokens : batch * tokens, median / 1e6,
               bench_quantile(&samples, 0.1) / 1e6, bench_quantile(&samples, 0.9) / 1e6, (double)j.count / (median / 1e9),
               samples.count);
    }
    clf_model_destroy(j.model);
    clf_context_destroy(context);
    return 0;
}
