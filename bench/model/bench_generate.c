/* SPDX-License-Identifier: MIT */
/* bench_generate MODEL [--prompt-tokens N] [--tokens N] [--batch N] [--rounds N] [--precision highest|high|medium] [--cache f32|f16|q8_0]
 *                [--processor-time] [--logits F] [--json] [--turns]
 *
 * Measures the speed of a language model, as medians of rounds: prefill (prompts of N pseudo-random tokens) and decode (N greedy tokens
 * after each prompt, with the choice on the host). It verifies first that a prompt gives the same logits token by token, in parts and in
 * one pass, and that sequences give the same logits together and alone. The limit of decoding is the time in which the device reads the
 * weights once. Its bandwidth is that of the catalogue's read of 256 MiB in the same rounds.
 *
 * --precision: of matrix products. --cache: storage of keys and values. --processor-time: speeds by the CPU time of this process instead
 * of the wall clock, for one thread on a busy machine; threads that wait for one another spend CPU time too. --logits writes the logits
 * after the prompt (float32), for other programs to compare. With --turns it verifies once, and measures again for each line of standard
 * input, so that another program decides when. Environment: CLF_DEVICE, CLF_ENGINE. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "model/generation.h"
#include "support/measure.h"
#include "workload/greedy.h"
#include "workload/peak.h"
#include "workload/stored_network.h"

enum {
    READ_BYTES = 256 << 20,
    SINGLE_TOKENS = 48, /* tokens that are verified one by one; the others in parts of at least as many */
    MOST_PARTS = 16     /* about */
};

typedef struct generation {
    clf_session *session;
    clfi_greedy greedy;
    size_t vocabulary, batch, prompt, tokens;
    double bound; /* largest allowed error of a logit */
    bool is_processor_time;
    int32_t *ids; /* [prompt]: token ids of the prompt */
} generation;

static void fail_memory(const void *made)
{
    if (made)
        return;
    fprintf(stderr, "not enough memory\n");
    exit(1);
}

/* The larger of two errors; NaN is larger than every number. */
static double larger(double a, double b)
{
    return a >= b || isnan(a) ? a : b;
}

/* The largest difference of `count` logits; NaN if one is NaN. */
static double difference(const float *got, const float *want, size_t count)
{
    double worst = 0;
    for (size_t i = 0; i < count; i++)
        worst = larger(worst, fabs((double)got[i] - (double)want[i]));
    return worst;
}

static float *new_logits(size_t rows, size_t columns)
{
    float *logits = malloc(rows * columns * sizeof *logits);
    fail_memory(logits);
    return logits;
}

/* Compares the prompt in one pass with its first tokens one by one and the rest in parts, which are longer in long prompts. */
static double verify_prompt(generation *g)
{
    const size_t usual = g->prompt / MOST_PARTS > SINGLE_TOKENS ? g->prompt / MOST_PARTS : SINGLE_TOKENS;
    float *want = new_logits(1, g->vocabulary);
    BENCH_OK(clfi_greedy_keep(&g->greedy, 0));
    BENCH_OK(clfi_greedy_prompt(&g->greedy, 0, g->ids, g->prompt));
    memcpy(want, g->greedy.logits, g->vocabulary * sizeof *want);
    BENCH_OK(clfi_greedy_keep(&g->greedy, 0));
    for (size_t i = 0, part; i < g->prompt; i += part) {
        part = i < SINGLE_TOKENS ? 1 : g->prompt - i < usual ? g->prompt - i : usual;
        BENCH_OK(clfi_greedy_prompt(&g->greedy, 0, g->ids + i, part));
    }
    const double worst = difference(g->greedy.logits, want, g->vocabulary);
    free(want);
    return worst;
}

/* Compares steps of all sequences together, after prompts of different lengths, with each sequence alone. */
static double verify_batch(generation *g)
{
    enum { STEPS = 2 };
    const size_t v = g->vocabulary, steps = g->tokens < STEPS ? g->tokens : STEPS;
    const size_t longest = g->prompt < SINGLE_TOKENS ? g->prompt : SINGLE_TOKENS;
    float *together = new_logits(g->batch, v);
    int32_t *tokens = malloc(g->batch * STEPS * sizeof *tokens);
    double worst = 0;
    fail_memory(tokens);
    BENCH_OK(clfi_greedy_keep(&g->greedy, 0));
    for (size_t i = 0; i < g->batch; i++)
        BENCH_OK(clfi_greedy_prompt(&g->greedy, i, g->ids, longest - i % longest));
    for (size_t s = 0; s < steps; s++) {
        for (size_t i = 0; i < g->batch; i++)
            tokens[i * STEPS + s] = g->greedy.next[i];
        BENCH_OK(clfi_greedy_step(&g->greedy));
    }
    memcpy(together, g->greedy.logits, g->batch * v * sizeof *together);
    for (size_t i = 0; i < g->batch; i++) {
        BENCH_OK(clfi_greedy_keep(&g->greedy, 0));
        BENCH_OK(clfi_greedy_prompt(&g->greedy, 0, g->ids, longest - i % longest));
        BENCH_OK(clfi_greedy_prompt(&g->greedy, 0, tokens + i * STEPS, steps));
        worst = larger(worst, difference(together + i * v, g->greedy.logits, v));
    }
    free(together);
    free(tokens);
    return worst;
}

static void verify(generation *g, double *out_error)
{
    const double prompt = verify_prompt(g), batch = g->batch > 1 ? verify_batch(g) : 0;
    if (!(prompt <= g->bound && batch <= g->bound)) {
        fprintf(stderr, "wrong: logits of single steps and of one pass differ by %g, of sequences together and alone by %g, bound %g\n",
                prompt, batch, g->bound);
        exit(1);
    }
    *out_error = fmax(prompt, batch);
}

typedef struct measured {
    clfi_samples prefill_ms, decode_ms;
    double error, bandwidth, weights;
} measured;

static uint64_t now_ns(const generation *g)
{
    struct timespec spent;
    if (!g->is_processor_time)
        return clfi_now_ns();
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
    return (uint64_t)spent.tv_sec * 1000000000u + (uint64_t)spent.tv_nsec;
}

static void one_round(generation *g, measured *m, bool is_kept)
{
    BENCH_OK(clfi_greedy_keep(&g->greedy, 0));
    const uint64_t start = now_ns(g);
    for (size_t i = 0; i < g->batch; i++)
        BENCH_OK(clfi_greedy_prompt(&g->greedy, i, g->ids, g->prompt));
    const uint64_t begun = now_ns(g);
    for (size_t i = 0; i < g->tokens; i++)
        BENCH_OK(clfi_greedy_step(&g->greedy));
    const uint64_t end = now_ns(g);
    if (!is_kept)
        return;
    BENCH_OK(clfi_samples_add(&m->prefill_ms, (double)(begun - start) / 1e6));
    BENCH_OK(clfi_samples_add(&m->decode_ms, (double)(end - begun) / 1e6));
}

/* Bytes of the weights that one step reads. */
static double weight_bytes(const char *path)
{
    clf_checkpoint *checkpoint;
    clfi_stored_network stored;
    clfi_decoder_cost cost;
    BENCH_OK(clfi_checkpoint_open(path, &checkpoint));
    BENCH_OK(clfi_stored_network_open(checkpoint, &stored));
    BENCH_OK(clfi_stored_network_cost(&stored, &cost));
    clfi_checkpoint_close(checkpoint);
    return cost.step_bytes;
}

/* Rounds of the model and of the read in turns. Drops earlier samples. */
static void measure(generation *g, measured *m, bench_row *read, size_t rounds)
{
    m->prefill_ms.count = m->decode_ms.count = read->wall_ms.count = 0;
    for (size_t i = 0; i < rounds; i++) {
        one_round(g, m, true);
        bench_row_turn(read);
    }
    m->bandwidth = READ_BYTES / (bench_summary(&read->wall_ms).median * 1e6);
}

static void write_logits(const generation *g, const char *path)
{
    FILE *stream = fopen(path, "wb");
    if (!stream || fwrite(g->greedy.logits, sizeof *g->greedy.logits, g->vocabulary, stream) != g->vocabulary || fclose(stream) != 0) {
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
    g->vocabulary = (size_t)model->info.vocabulary;
    if ((int64_t)(g->prompt + g->tokens) > model->info.max_positions) {
        fprintf(stderr, "%zu tokens, the model has %lld positions\n", g->prompt + g->tokens, (long long)model->info.max_positions);
        exit(1);
    }
    g->ids = malloc(g->prompt * sizeof *g->ids);
    fail_memory(g->ids);
    uint32_t state = 1;
    for (size_t i = 0; i < g->prompt; i++) {
        state = state * 1664525u + 1013904223u;
        g->ids[i] = (int32_t)((state >> 8) % g->vocabulary);
    }
    BENCH_OK(clfi_greedy_create(g->session->decoding, g->vocabulary, g->batch, g->prompt, g->prompt + g->tokens, &g->greedy));
}

/* Reads --precision and --cache into the parameters; *bound: the error that is allowed to logits. Returns false if a value is unknown.
 *
 * Bounds are for logits of up to 32. highest: some 200 sums of about 1,000 products come before the logits, and each sum errs by u
 * sqrt(1000) / 4 in the root mean square, u = 2^-24. That makes 32 sqrt(200) 4.7e-7 = 2.1e-4; the bound is about four times that. high
 * and medium: the precisions that op/engines.c states for the engines. A cache in f16 rounds keys and values by 2^-12 of their size on
 * average: 32 2^-12 = 8e-3; the bound is about twice that. A cache in q8_0 rounds them by up to 0.4 % of the largest in a block,
 * uniformly: 0.0023 of it in the root mean square. That makes 0.1; the bound is five times that. */
static bool read_accuracy(int argc, char **argv, clf_context_params *context, clf_model_params *model, double *bound)
{
    static const double of_precision[] = {[CLF_PRECISION_HIGHEST] = 1e-3, [CLF_PRECISION_HIGH] = 1e-2, [CLF_PRECISION_MEDIUM] = 1};
    static const double of_cache[] = {[CLF_STORAGE_F16] = 2e-2, [CLF_STORAGE_Q8_0] = 5e-1};
    const char *precision = bench_option(argc, argv, "--precision"), *cache = bench_option(argc, argv, "--cache");
    for (int i = CLF_PRECISION_HIGHEST; precision && i <= CLF_PRECISION_MEDIUM; i++)
        if (strcmp(precision, clf_precision_name((clf_precision)i)) == 0)
            context->precision = (clf_precision)i;
    for (size_t i = 0; cache && i < COUNT(of_cache); i++)
        if (strcmp(cache, clfi_cache_storage((clf_storage)i)->name) == 0)
            model->cache = (clf_storage)i;
    *bound = fmax(of_precision[context->precision], of_cache[model->cache]);
    return (!precision || strcmp(precision, clf_precision_name(context->precision)) == 0) &&
           (!cache || strcmp(cache, clfi_cache_storage(model->cache)->name) == 0);
}

int main(int argc, char **argv)
{
    static const char usage[] = "bench_generate MODEL [--prompt-tokens N] [--tokens N] [--batch N] [--rounds N] [--precision "
                                "highest|high|medium] [--cache f32|f16|q8_0] [--processor-time] [--logits F] [--json] [--turns]";
    bench_arguments(argc, argv, 1, usage);
    generation g = {.batch = bench_size(argc, argv, "--batch", 1),
                    .prompt = bench_size(argc, argv, "--prompt-tokens", 512),
                    .tokens = bench_size(argc, argv, "--tokens", 128),
                    .is_processor_time = bench_flag(argc, argv, "--processor-time")};
    clf_context_params params = CLF_CONTEXT_PARAMS_INIT;
    clf_model_params model_params = CLF_MODEL_PARAMS_INIT;
    if (!read_accuracy(argc, argv, &params, &model_params, &g.bound)) {
        fprintf(stderr, "%s\n", usage);
        return 2;
    }
    const size_t rounds = bench_size(argc, argv, "--rounds", 3);
    const char *logits = bench_option(argc, argv, "--logits");
    measured m = {.error = 0};
    clf_context *context;
    clf_model *model;
    clfi_workload_list reads = {0};
    clfi_engine_list engines;
    bench_row read;
    BENCH_OK(clf_context_create(&params, &context));
    BENCH_OK(clf_model_open(context, argv[1], &model_params, &model));
    m.weights = weight_bytes(argv[1]);
    create(&g, model);
    BENCH_OK(clfi_peak_bandwidth(&reads, CLFI_PEAK_READ, READ_BYTES, READ_BYTES, NULL));
    BENCH_OK(reads.items[0].type->engines(&reads.items[0], context, &engines));
    if (!bench_row_open(&reads.items[0], context, engines.names[0], &read))
        bench_check(CLF_UNSUPPORTED, reads.items[0].id);
    verify(&g, &m.error);
    one_round(&g, &m, false); /* builds kernels and allocates memory */
    if (logits) {
        BENCH_OK(clfi_greedy_keep(&g.greedy, 0));
        BENCH_OK(clfi_greedy_prompt(&g.greedy, 0, g.ids, g.prompt));
        write_logits(&g, logits);
    }
    do {
        measure(&g, &m, &read, rounds);
        print(&g, &m, bench_flag(argc, argv, "--json"));
    } while (bench_flag(argc, argv, "--turns") && bench_is_turn());
    bench_row_close(&read);
    clfi_workload_list_free(&reads);
    clfi_samples_free(&m.prefill_ms);
    clfi_samples_free(&m.decode_ms);
    clfi_greedy_free(&g.greedy);
    clf_session_destroy(g.session);
    free(g.ids);
    clf_model_destroy(model);
    clf_context_destroy(context);
    return 0;
}
