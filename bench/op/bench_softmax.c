/* SPDX-License-Identifier: MIT */
/* bench_softmax [--rows R --columns C] [--rounds N] [--json] [--cpu-time]
 *
 * Speed of (masked) softmax along the last axis beside a kernel that only moves the same memory. The two alternate in every round; the share of the limit
 * is the median over rounds of the ratio within the round. Every case is checked against double before it is timed. Masked cases count the whole
 * of x as read, though the rows end at their lengths. --cpu-time counts processor time per thread, for machines that are busy with other work.
 * CLF_ENGINE=softmax=NAME chooses the engine. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "clformer/softmax.h"
#include "support/bench.h"
#include "support/peak.h"
#include "support/stream.h"

typedef enum mask_kind { PLAIN, LENGTHS, PADDING } mask_kind;
static const char *const mask_names[] = {"", " lengths", " padding"};

enum { BATCH = 16 }; /* x is [BATCH, rows / BATCH, columns] */

typedef struct softmax_shape {
    int64_t rows, columns;
    mask_kind mask;
} softmax_shape;

static const softmax_shape shapes[] = {
    {4096, 1024, PLAIN},  {4096, 1024, LENGTHS}, {4096, 1024, PADDING}, {12288, 128, PLAIN}, {12288, 128, PADDING},
    {16384, 64, PLAIN},   {6144, 512, PLAIN},    {6144, 512, PADDING},  {1024, 4096, PLAIN}, {32768, 1024, PLAIN},
};

typedef struct contest {
    clf_context *context;
    softmax_shape shape;
    clf_softmax_params params;
    clf_tensor *x, *y, *lengths, *padding;
    float *host;
    int32_t length[BATCH];
} contest;

static contest contest_create(clf_context *context, const softmax_shape *s)
{
    contest t = {.context = context, .shape = *s, .params = CLF_SOFTMAX_PARAMS_INIT};
    const int64_t dim[] = {BATCH, s->rows / BATCH, s->columns}, count = BATCH * dim[1] * dim[2];
    t.host = malloc((size_t)count * sizeof *t.host);
    unsigned char *keep = malloc((size_t)(BATCH * s->columns));
    if (!t.host || !keep)
        abort();
    bench_fill(t.host, (size_t)count, -8, 8, 1);
    for (int b = 0; b < BATCH; b++) {
        t.length[b] = s->mask == PLAIN ? (int32_t)s->columns : (int32_t)(s->columns - s->columns / 2 * b / BATCH);
        for (int64_t j = 0; j < s->columns; j++)
            keep[b * s->columns + j] = j < t.length[b];
    }
    BENCH_OK(clf_tensor_create(context, CLF_F32, 3, dim, &t.x));
    BENCH_OK(clf_tensor_create(context, CLF_F32, 3, dim, &t.y));
    BENCH_OK(clf_tensor_write_f32(t.x, t.host, (size_t)count));
    BENCH_OK(clf_tensor_create_from(context, CLF_I32, 1, dim, t.length, &t.lengths));
    BENCH_OK(clf_tensor_create_from(context, CLF_U8, 2, (int64_t[]){BATCH, s->columns}, keep, &t.padding));
    free(keep);
    t.params.lengths = s->mask == LENGTHS ? t.lengths : NULL;
    t.params.padding_mask = s->mask == PADDING ? t.padding : NULL;
    return t;
}

static void contest_destroy(contest *t)
{
    clf_tensor_destroy(t->x);
    clf_tensor_destroy(t->y);
    clf_tensor_destroy(t->lengths);
    clf_tensor_destroy(t->padding);
    free(t->host);
}

static void run_ours(contest *t)
{
    BENCH_OK(clf_softmax(t->context, t->x, &t->params, t->y));
}

/* Every row against double; exits when a weight is off by more than 1e-5 of itself. */
static void verify(contest *t)
{
    const size_t n = (size_t)t->shape.columns, rows = (size_t)(t->shape.rows / BATCH) * BATCH;
    float *got = malloc(rows * n * sizeof *got);
    if (!got)
        abort();
    run_ours(t);
    BENCH_OK(clf_tensor_read_f32(t->y, got, rows * n));
    for (size_t row = 0; row < rows; row++) {
        const size_t used = (size_t)t->length[row / (rows / BATCH)];
        double largest = -INFINITY, sum = 0;
        for (size_t j = 0; j < used; j++)
            largest = (double)t->host[row * n + j] > largest ? (double)t->host[row * n + j] : largest;
        for (size_t j = 0; j < used; j++)
            sum += exp((double)t->host[row * n + j] - largest);
        for (size_t j = 0; j < n; j++) {
            const double want = j < used ? exp((double)t->host[row * n + j] - largest) / sum : 0;
            if (!(fabs((double)got[row * n + j] - want) <= 1e-5 * want)) {
                fprintf(stderr, "wrong result: row %zu column %zu is %g, want %g\n", row, j, (double)got[row * n + j], want);
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
            bench_stream_run(stream, t->x, NULL, t->y);
        else
            run_ours(t);
    }
    BENCH_OK(clf_context_finish(t->context));
    return (bench_clock_ns(clock) - start) / (double)repeats;
}

static void bench_shape(clf_context *context, bench_stream *stream, const bench_clock *clock, const softmax_shape *s, size_t rounds, int as_json)
{
    contest t = contest_create(context, s);
    bench_samples time = {0}, limit = {0}, share = {0};
    const double bytes = (double)(s->rows * s->columns) * sizeof(float) * 2;
    verify(&t);
    sample(&t, stream, clock, 1);
    const double one = sample(&t, NULL, clock, 1);
    const size_t repeats = one < 5e6 ? (size_t)(5e6 / one) + 1 : 1;
    for (size_t r = 0; r < rounds; r++) {
        const double before = sample(&t, stream, clock, repeats), ns = sample(&t, NULL, clock, repeats);
        const double after = sample(&t, stream, clock, repeats), copy = before < after ? before : after;
        bench_samples_add(&time, ns);
        bench_samples_add(&limit, copy);
        bench_samples_add(&share, copy / ns);
    }
    const double median = bench_quantile(&time, 0.5), moved = bench_quantile(&limit, 0.5);
    if (as_json) {
        json_t *record = bench_device_json(context);
        json_object_set_new(record, "case", json_pack("{s:s,s:I,s:I,s:s}", "op", "softmax", "rows", (json_int_t)s->rows, "columns",
                                                      (json_int_t)s->columns, "mask", mask_names[s->mask]));
        json_object_set_new(record, "time", bench_samples_json(&time));
        json_object_set_new(record, "gbs", json_real(bytes / median));
        json_object_set_new(record, "limit_gbs", json_real(bytes / moved));
        json_object_set_new(record, "share_of_limit", json_real(bench_quantile(&share, 0.5)));
        bench_print_json(record);
    } else {
        printf("softmax %6lld x %-6lld%-9s %9.1f us  (%.1f, %.1f)  %6.1f GB/s  limit %6.1f GB/s  %5.1f %% of it\n", (long long)s->rows,
               (long long)s->columns, mask_names[s->mask], median / 1e3, bench_quantile(&time, 0.1) / 1e3, bench_quantile(&time, 0.9) / 1e3,
               bytes / median, bytes / moved, 100 * bench_quantile(&share, 0.5));
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
        const softmax_shape one = {(int64_t)bench_size(argc, argv, "--rows", 4096), (int64_t)bench_size(argc, argv, "--columns", 1024), PLAIN};
        bench_shape(context, stream, &clock, &one, rounds, as_json);
    } else {
        for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
            bench_shape(context, stream, &clock, &shapes[i], rounds, as_json);
    }
    bench_stream_destroy(stream);
    clf_context_destroy(context);
    return 0;
}
