/* SPDX-License-Identifier: MIT */
/* bench_generate MODEL [--prompt-tokens N] [--tokens N] [--batch N] [--rounds N] [--precision highest|high|medium] [--logits F] [--json]
 *
 * A language model's speed: prefill (prompts of N tokens, pseudo-random ones) and decode (N greedy tokens behind each prompt, the choice on
 * the host included), as medians of rounds. Verified first: the logits after a prompt given token by token are those of one pass. The limit
 * of decoding is the time in which the device reads the weights once, at the bandwidth that the catalogue's read of 256 MiB reaches in the
 * same rounds. --precision: of matrix products. --logits writes those after the prompt (float32), for other programs to compare.
 * Environment: CLF_DEVICE, CLF_ENGINE. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "io/checkpoint.h"
#include "model/generation.h"
#include "support/measure.h"
#include "workload/peak.h"

enum { READ_BYTES = 256 << 20, VERIFIED_TOKENS = 48 };

typedef struct generation {
    clf_session *session;
    clf_decode_batch *decoding;
    size_t vocabulary, batch, prompt, tokens;
    double bound;  /* of the error of logits */
    int32_t *ids;  /* [prompt]: of the prompt */
    float *logits; /* [batch, vocabulary] */
    clf_decode_input *inputs;
    int32_t *next; /* [batch] */
} generation;

static void fail_memory(const void *made)
{
    if (made)
        return;
    fprintf(stderr, "not enough memory\n");
    exit(1);
}

/* One pass; the logits after each sequence's last token are read. */
static void pass(const generation *g, size_t count)
{
    clf_context *context = g->session->context;
    const clf_arena_mark mark = clfi_arena_top(context);
    clf_view logits;
    BENCH_OK(clfi_decode_run(g->decoding, g->inputs, count, &logits));
    BENCH_OK(clfi_buffer_read(logits.buffer, (size_t)logits.offset * sizeof(float), g->logits, count * g->vocabulary * sizeof(float)));
    clfi_arena_release(context, mark);
}

static void open_sequences(const generation *g)
{
    for (size_t i = 0; i < g->batch; i++)
        BENCH_OK(clfi_decode_open(g->decoding, &g->inputs[i].sequence));
}

static void drop_sequences(const generation *g)
{
    for (size_t i = 0; i < g->batch; i++)
        BENCH_OK(clfi_decode_drop(g->decoding, g->inputs[i].sequence));
}

static int32_t largest(const float *logits, size_t count)
{
    size_t best = 0;
    for (size_t i = 1; i < count; i++)
        best = logits[i] > logits[best] ? i : best;
    return (int32_t)best;
}

static void verify(const generation *g, double *out_error)
{
    const size_t count = g->prompt < VERIFIED_TOKENS ? g->prompt : VERIFIED_TOKENS;
    float *want = malloc(g->vocabulary * sizeof *want);
    double worst = 0;
    fail_memory(want);
    for (int is_single = 0; is_single < 2; is_single++) {
        int32_t sequence;
        BENCH_OK(clfi_decode_open(g->decoding, &sequence));
        for (size_t first = 0; first < count; first += is_single ? 1 : count) {
            g->inputs[0] = (clf_decode_input){sequence, g->ids + first, (int32_t)(is_single ? 1 : count)};
            pass(g, 1);
        }
        BENCH_OK(clfi_decode_drop(g->decoding, sequence));
        if (!is_single)
            memcpy(want, g->logits, g->vocabulary * sizeof *want);
    }
    for (size_t i = 0; i < g->vocabulary; i++) {
        const double error = fabs((double)g->logits[i] - (double)want[i]);
        worst = error <= worst ? worst : error; /* NaN stays */
    }
    free(want);
    *out_error = worst;
    if (!(worst <= g->bound)) {
        fprintf(stderr, "wrong: logits of single steps and of one pass differ by %g, bound %g\n", worst, g->bound);
        exit(1);
    }
}

/* Each sequence's next token is one for each pass. */
static void decode(const generation *g)
{
    for (size_t t = 0; t < g->tokens; t++) {
        for (size_t i = 0; i < g->batch; i++)
            g->inputs[i] = (clf_decode_input){g->inputs[i].sequence, &g->next[i], 1};
        pass(g, g->batch);
        for (size_t i = 0; i < g->batch; i++)
            g->next[i] = largest(g->logits + i * g->vocabulary, g->vocabulary);
    }
}

typedef struct measured {
    clfi_samples prefill_ms, decode_ms;
    double error, bandwidth, weights;
} measured;

static void one_round(const generation *g, measured *m, bool is_kept)
{
    int32_t *sequences = malloc(g->batch * sizeof *sequences);
    fail_memory(sequences);
    open_sequences(g);
    for (size_t i = 0; i < g->batch; i++)
        sequences[i] = g->inputs[i].sequence;
    const uint64_t start = clfi_now_ns();
    for (size_t i = 0; i < g->batch; i++) {
        for (size_t first = 0; first < g->prompt; first += CLFI_PASS_TOKENS) {
            const size_t left = g->prompt - first;
            g->inputs[0] = (clf_decode_input){sequences[i], g->ids + first, (int32_t)(left < CLFI_PASS_TOKENS ? left : CLFI_PASS_TOKENS)};
            pass(g, 1);
        }
        g->next[i] = largest(g->logits, g->vocabulary);
    }
    const uint64_t begun = clfi_now_ns();
    for (size_t i = 0; i < g->batch; i++)
        g->inputs[i].sequence = sequences[i];
    decode(g);
    const uint64_t end = clfi_now_ns();
    drop_sequences(g);
    free(sequences);
    if (!is_kept)
        return;
    BENCH_OK(clfi_samples_add(&m->prefill_ms, (double)(begun - start) / 1e6));
    BENCH_OK(clfi_samples_add(&m->decode_ms, (double)(end - begun) / 1e6));
}

/* Bytes of the weights that one step reads: all, but for an embedding table that is not the head as well. */
static double weight_bytes(const char *path, bool is_tied)
{
    clf_checkpoint *checkpoint;
    clf_checkpoint_tensor tensor;
    double sum = 0;
    BENCH_OK(clfi_checkpoint_open(path, &checkpoint));
    BENCH_OK(clfi_checkpoint_load(checkpoint));
    for (size_t i = 0; clfi_checkpoint_at(checkpoint, i, &tensor); i++)
        sum += is_tied || !strstr(tensor.name, "embd") ? (double)tensor.bytes : 0;
    clfi_checkpoint_close(checkpoint);
    return sum;
}

static void write_logits(const generation *g, const char *path)
{
    FILE *stream = fopen(path, "wb");
    if (!stream || fwrite(g->logits, sizeof *g->logits, g->vocabulary, stream) != g->vocabulary || fclose(stream) != 0) {
        perror(path);
        exit(1);
    }
}

static void print(const generation *g, const measured *m, bool is_json)
{
    const clfi_summary prefill = bench_summary(&m->prefill_ms), decode = bench_summary(&m->decode_ms);
    const double prompts = (double)(g->batch * g->prompt), tokens = (double)(g->batch * g->tokens);
    const double rate = 1e3 * tokens / decode.median, limit = m->bandwidth * 1e9 / m->weights * (double)g->batch;
    const clf_context *context = g->session->context;
    if (!is_json) {
        printf(
            "%s: prefill %.1f tokens/s (p10 %.1f, p90 %.1f), decode %.1f tokens/s (%.1f, %.1f), %.2f of the limit by bandwidth, %.1f GB/s"
            " over %.1f MB (%zu rounds; largest error of a logit %.2g)\n",
            clf_context_device(context)->name, 1e3 * prompts / prefill.median, 1e3 * prompts / prefill.p90, 1e3 * prompts / prefill.p10,
            rate, 1e3 * tokens / decode.p90, 1e3 * tokens / decode.p10, rate / limit, m->bandwidth, m->weights / 1e6, m->decode_ms.count,
            m->error);
        return;
    }
    bench_print_json(json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:I, s:I, s:I, s:I, s:f, s:s, s:s, s:s}", "decode_tokens_per_s",
                               rate, "decode_p10", 1e3 * tokens / decode.p90, "decode_p90", 1e3 * tokens / decode.p10,
                               "prefill_tokens_per_s", 1e3 * prompts / prefill.median, "share_of_limit", rate / limit, "read_gbps",
                               m->bandwidth, "weight_bytes", m->weights, "max_error", m->error, "rounds", (json_int_t)m->decode_ms.count,
                               "prompt_tokens", (json_int_t)g->prompt, "tokens", (json_int_t)g->tokens, "batch", (json_int_t)g->batch,
                               "error_bound", g->bound, "device", clf_context_device(context)->name, "driver",
                               clf_context_device(context)->driver_version, "library", clf_version()));
}

static void create(generation *g, clf_model *model)
{
    BENCH_OK(clf_session_create(model, model->context, &g->session));
    BENCH_OK(clfi_generation_ready(g->session));
    g->decoding = g->session->decoding;
    g->vocabulary = (size_t)model->info.vocabulary;
    if ((int64_t)(g->prompt + g->tokens) > model->info.max_positions) {
        fprintf(stderr, "%zu tokens, the model has %lld positions\n", g->prompt + g->tokens, (long long)model->info.max_positions);
        exit(1);
    }
    g->ids = malloc(g->prompt * sizeof *g->ids);
    g->logits = malloc(g->batch * g->vocabulary * sizeof *g->logits);
    g->inputs = malloc(g->batch * sizeof *g->inputs);
    g->next = malloc(g->batch * sizeof *g->next);
    fail_memory(g->ids);
    fail_memory(g->logits);
    fail_memory(g->inputs);
    fail_memory(g->next);
    uint32_t state = 1;
    for (size_t i = 0; i < g->prompt; i++) {
        state = state * 1664525u + 1013904223u;
        g->ids[i] = (int32_t)((state >> 8) % g->vocabulary);
    }
    BENCH_OK(clfi_decode_reserve(g->decoding, (int64_t)(g->batch * (g->prompt + g->tokens)), g->batch, g->prompt + g->tokens));
}

int main(int argc, char **argv)
{
    static const char usage[] = "bench_generate MODEL [--prompt-tokens N] [--tokens N] [--batch N] [--rounds N] [--precision "
                                "highest|high|medium] [--logits F] [--json]";
    bench_arguments(argc, argv, 1, usage);
    generation g = {.batch = bench_size(argc, argv, "--batch", 1),
                    .prompt = bench_size(argc, argv, "--prompt-tokens", 512),
                    .tokens = bench_size(argc, argv, "--tokens", 128)};
    clf_context_params params = CLF_CONTEXT_PARAMS_INIT;
    const char *precision = bench_option(argc, argv, "--precision");
    static const double bounds[] = {[CLF_PRECISION_HIGHEST] = 1e-3, [CLF_PRECISION_HIGH] = 1e-2, [CLF_PRECISION_MEDIUM] = 1};
    for (int i = CLF_PRECISION_HIGHEST; precision && i <= CLF_PRECISION_MEDIUM; i++)
        if (strcmp(precision, clf_precision_name((clf_precision)i)) == 0)
            params.precision = (clf_precision)i;
    if (precision && strcmp(precision, clf_precision_name(params.precision)) != 0) {
        fprintf(stderr, "%s\n", usage);
        return 2;
    }
    g.bound = bounds[params.precision];
    const size_t rounds = bench_size(argc, argv, "--rounds", 3);
    const char *logits = bench_option(argc, argv, "--logits");
    measured m = {.error = 0};
    clf_context *context;
    clf_model *model;
    clfi_workload_list reads = {0};
    clfi_engine_list engines;
    bench_row read;
    BENCH_OK(clf_context_create(&params, &context));
    BENCH_OK(clf_model_open(context, argv[1], &model));
    m.weights = weight_bytes(argv[1], model->network->config.is_generator_tied);
    create(&g, model);
    BENCH_OK(clfi_peak_bandwidth(&reads, CLFI_PEAK_READ, READ_BYTES, READ_BYTES, NULL));
    BENCH_OK(reads.items[0].type->engines(&reads.items[0], context, &engines));
    if (!bench_row_open(&reads.items[0], context, engines.names[0], &read))
        bench_check(CLF_UNSUPPORTED, reads.items[0].id);
    verify(&g, &m.error);
    one_round(&g, &m, false); /* builds and allocates */
    for (size_t i = 0; i < rounds; i++) {
        one_round(&g, &m, true);
        bench_row_turn(&read);
    }
    m.bandwidth = READ_BYTES / (bench_summary(&read.wall_ms).median * 1e6);
    if (logits) {
        int32_t sequence;
        BENCH_OK(clfi_decode_open(g.decoding, &sequence));
        g.inputs[0] = (clf_decode_input){sequence, g.ids, (int32_t)g.prompt};
        pass(&g, 1);
        write_logits(&g, logits);
    }
    print(&g, &m, bench_flag(argc, argv, "--json"));
    bench_row_close(&read);
    clfi_workload_list_free(&reads);
    clfi_samples_free(&m.prefill_ms);
    clfi_samples_free(&m.decode_ms);
    clf_session_destroy(g.session);
    free(g.ids);
    free(g.logits);
    free(g.inputs);
    free(g.next);
    clf_model_destroy(model);
    clf_context_destroy(context);
    return 0;
}
