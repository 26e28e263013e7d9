/* SPDX-License-Identifier: MIT */
/* bench_layer_norm [--rows R --columns C] [--rounds N] [--json] [--cpu-time]
 *
 * Speed of layer norm (with and without a residual) and RMS norm beside a kernel that only moves the same memory. The two alternate in every round; the
 * share of the limit is the median over rounds of the ratio within the round. Every case is checked against double before it is timed.
 * --cpu-time counts processor time per thread, for machines that are busy with other work. CLF_ENGINE=layer_norm=NAME chooses the engine. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "clformer/ops.h"
#include "support/bench.h"
#include "support/peak.h"
#include "support/stream.h"

typedef enum norm_kind { LAYER_NORM, RMS_NORM } norm_kind;

typedef struct norm_shape {
    int64_t rows, columns;
    norm_kind kind;
    int has_residual;
} norm_shape;

static const norm_shape shapes[] = {
    {4096, 1024, LAYER_NORM, 0}, {4096, 1024, LAYER_NORM, 1}, {4096, 1024, RMS_NORM, 0}, {4096, 384, LAYER_NORM, 0},
    {4096, 384, LAYER_NORM, 1},  {4096, 768, LAYER_NORM, 0},  {1024, 384, LAYER_NORM, 0}, {128, 384, LAYER_NORM, 0},
    {16384, 64, LAYER_NORM, 0},  {256, 16384, LAYER_NORM, 0}, {32768, 1024, LAYER_NORM, 0},
};

typedef struct contest {
    clf_context *context;
    norm_shape shape;
    clf_tensor *x, *residual, *gamma, *beta, *y;
    float *host_x, *host_residual, *host_gamma, *host_beta;
} contest;

static clf_tensor *filled(clf_context *context, int rank, const int64_t *dim, float low, float high, uint64_t seed, float **host)
{
    clf_tensor *t;
    BENCH_OK(clf_tensor_create(context, CLF_F32, rank, dim, &t));
    *host = malloc(clf_tensor_count(t) * sizeof **host);
    if (!*host)
        abort();
    bench_fill(*host, clf_tensor_count(t), low, high, seed);
    BENCH_OK(clf_tensor_write_f32(t, *host, clf_tensor_count(t)));
    return t;
}

static contest contest_create(clf_context *context, const norm_shape *s)
{
    contest t = {.context = context, .shape = *s};
    const int64_t dim[] = {s->rows, s->columns};
    t.x = filled(context, 2, dim, -1, 3, 1, &t.host_x);
    t.residual = filled(context, 2, dim, -1, 1, 2, &t.host_residual);
    t.gamma = filled(context, 1, dim + 1, 0.5f, 1.5f, 3, &t.host_gamma);
    t.beta = filled(context, 1, dim + 1, -1, 1, 4, &t.host_beta);
    BENCH_OK(clf_tensor_create(context, CLF_F32, 2, dim, &t.y));
    return t;
}

static void contest_destroy(contest *t)
{
    clf_tensor_destroy(t->x);
    clf_tensor_destroy(t->residual);
    clf_tensor_destroy(t->gamma);
    clf_tensor_destroy(t->beta);
    clf_tensor_destroy(t->y);
    free(t->host_x);
    free(t->host_residual);
    free(t->host_gamma);
    free(t->host_beta);
}

static void run_ours(contest *t)
{
    clf_layer_norm_params layer = CLF_LAYER_NORM_PARAMS_INIT;
    clf_rms_norm_params rms = CLF_RMS_NORM_PARAMS_INIT;
    layer.residual = rms.residual = t->shape.has_residual ? t->residual : NULL;
    layer.gamma = rms.gamma = t->gamma;
    layer.beta = t->beta;
    if (t->shape.kind == LAYER_NORM)
        BENCH_OK(clf_layer_norm(t->context, t->x, &layer, t->y));
    else
        BENCH_OK(clf_rms_norm(t->context, t->x, &rms, t->y));
}

/* Every row against double; exits when an element is off by more than 1e-5 (values below 6). */
static void verify(contest *t)
{
    const size_t n = (size_t)t->shape.columns, count = n * (size_t)t->shape.rows;
    float *got = malloc(count * sizeof *got);
    if (!got)
        abort();
    run_ours(t);
    BENCH_OK(clf_tensor_read_f32(t->y, got, count));
    for (size_t row = 0; row < count; row += n) {
        double mean = 0, square = 0;
        for (size_t i = 0; i < n; i++) {
            const double s = (double)t->host_x[row + i] + (t->shape.has_residual ? (double)t->host_residual[row + i] : 0);
            mean += s / (double)n;
            square += s * s / (double)n;
        }
        const int is_layer = t->shape.kind == LAYER_NORM;
        const double scale = 1 / sqrt(is_layer ? square - mean * mean + 1e-5 : square + 1e-6);
        for (size_t i = 0; i < n; i++) {
            const double s = (double)t->host_x[row + i] + (t->shape.has_residual ? (double)t->host_residual[row + i] : 0);
            const double want = (s - (is_layer ? mean : 0)) * scale * (double)t->host_gamma[i] + (is_layer ? (double)t->host_beta[i] : 0);
            if (!(fabs((double)got[row + i] - want) <= 1e-5)) {
                fprintf(stderr, "wrong result: row %zu column %zu is %g, want %g\n", row / n, i, (double)got[row + i], want);
                exit(1);
            }
        }
    }
    free(got);
}

/* Nanoseconds of one run, from `repeats` of them. stream NULL: ours. */
static double sample(contest *t, bench_stream *stream, const bench_clock *clock, size_t repeats)
{
    const double start = bench_clock_ns(clock);
    for (size_t i = 0; i < repeats; i++) {
        if (stream)
            bench_stream_run(stream, t->x, t->shape.has_residual ? t->residual : NULL, t->y);
        else
            run_ours(t);
    }
    BENCH_OK(clf_context_finish(t->context));
    return (bench_clock_ns(clock) - start) / (double)repeats;
}

static void bench_shape(clf_context *context, bench_stream *stream, const bench_clock *clock, const norm_shape *s, size_t rounds, int as_json)
{
    contest t = contest_create(context, s);
    bench_samples time = {0}, limit = {0}, share = {0};
    const double bytes = (double)(s->rows * s->columns) * sizeof(float) * (s->has_residual ? 3 : 2);
    verify(&t);
    sample(&t, stream, clock, 1);
    const double one = sample(&t, NULL, clock, 1);
    const size_t repeats = one < 5e6 ? (size_t)(5e6 / one) + 1 : 1;
    for (size_t r = 0; r < rounds; r++) {
        const double before = sample(&t, stream, clock, repeats), ns = sample(&t, NULL, clock, repeats);
        const double after = sample(&t, stream, clock, repeats);
        bench_samples_add(&time, ns);
        bench_samples_add(&limit, before < after ? before : after);
        bench_samples_add(&share, (before < after ? before : after) / ns);
    }
    const double median = bench_quantile(&time, 0.5), moved = bench_quantile(&limit, 0.5);
    const char *name = s->kind == LAYER_NORM ? "layer_norm" : "rms_norm";
    if (as_json) {
        json_t *record = bench_device_json(context);
        json_object_set_new(record, "case", json_pack("{s:s,s:I,s:I,s:b}", "op", name, "rows", (json_int_t)s->rows, "columns",
                                                      (json_int_t)s->columns, "residual", s->has_residual));
        json_object_set_new(record, "time", bench_samples_json(&time));
        json_object_set_new(record, "gbs", json_real(bytes / median));
        json_object_set_new(record, "limit_gbs", json_real(bytes / moved));
        json_object_set_new(record, "share_of_limit", json_real(bench_quantile(&share, 0.5)));
        bench_print_json(record);
    } else {
        printf("%-10s %6lld x %-6lld%-9s %9.1f us  (%.1f, %.1f)  %6.1f GB/s  limit %6.1f GB/s  %5.1f %% of it\n", name, (long long)s->rows,
               (long long)s->columns, s->has_residual ? " residual" : "", median / 1e3, bench_quantile(&time, 0.1) / 1e3,
               bench_quantile(&time, 0.9) / 1e3, bytes / median, bytes / moved, 100 * bench_quantile(&share, 0.5));
        fflush(stdout);
    }
    bench_samples_free(&time);
    bench_samples_free(&limit);
    bench_samples_free(&share);
    contest_destroy(&t);
}

int main(int argc, char **argv)
{
    const size_t rounds = bench_size(argc, argv, "--rounds", 15);
    const int as_json = bench_flag(argc, argv, "--json");
    clf_context *context;
    BENCH_OK(clf_context_create(NULL, &context));
    const bench_clock clock = {bench_flag(argc, argv, "--cpu-time") ? (int)clf_context_device(context)->compute_units : 0};
    bench_stream *stream = bench_stream_create(context);
    if (bench_option(argc, argv, "--rows") || bench_option(argc, argv, "--columns")) {
        const norm_shape one = {(int64_t)bench_size(argc, argv, "--rows", 4096), (int64_t)bench_size(argc, argv, "--columns", 1024), LAYER_NORM, 0};
        bench_shape(context, stream, &clock, &one, rounds, as_json);
    } else {
        for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
            bench_shape(context, stream, &clock, &shapes[i], rounds, as_json);
    }
    bench_stream_destroy(stream);
    clf_context_destroy(context);
    return 0;
}
