/* SPDX-License-Identifier: MIT */
/* bench_attention [--batch B --heads H --length L --size D] [--causal] [--rounds N] [--json] [--cpu-time]
 *
 * Speed of fused attention on q, k, v [B*H, L, D] (random, f32) beside the device's multiply-add limit, measured in the same rounds. GFLOP/s count
 * 4 B H L L D, for causal attention the L (L + 1) / 2 pairs that are used. Some rows of every case are checked against double before it is timed.
 * --cpu-time counts processor time per thread, for machines that are busy with other work. CLF_ENGINE=attention=NAME chooses the engine. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "clformer/attention.h"
#include "support/bench.h"
#include "support/peak.h"

typedef struct attention_shape {
    int64_t batch, heads, length, size;
    int is_causal;
} attention_shape;

static const attention_shape shapes[] = {
    {1, 12, 16, 32, 0},  {1, 12, 128, 32, 0}, {8, 12, 128, 32, 0}, {32, 12, 128, 32, 0}, {1, 12, 512, 64, 0},
    {1, 12, 512, 64, 1}, {1, 8, 2048, 64, 0}, {1, 8, 2048, 64, 1},
};

typedef struct contest {
    clf_context *context;
    attention_shape shape;
    clf_attention_params params;
    clf_tensor *q, *k, *v, *out;
    float *host; /* q, k, v */
    size_t count; /* elements of each */
} contest;

static contest contest_create(clf_context *context, const attention_shape *s)
{
    contest t = {.context = context, .shape = *s, .params = CLF_ATTENTION_PARAMS_INIT};
    const int64_t dim[] = {s->batch * s->heads, s->length, s->size};
    t.count = (size_t)(dim[0] * dim[1] * dim[2]);
    t.host = malloc(3 * t.count * sizeof *t.host);
    if (!t.host)
        abort();
    bench_fill(t.host, 3 * t.count, -1.7f, 1.7f, 1);
    BENCH_OK(clf_tensor_create_from(context, CLF_F32, 3, dim, t.host, &t.q));
    BENCH_OK(clf_tensor_create_from(context, CLF_F32, 3, dim, t.host + t.count, &t.k));
    BENCH_OK(clf_tensor_create_from(context, CLF_F32, 3, dim, t.host + 2 * t.count, &t.v));
    BENCH_OK(clf_tensor_create(context, CLF_F32, 3, dim, &t.out));
    t.params.is_causal = s->is_causal;
    return t;
}

static void contest_destroy(contest *t)
{
    clf_tensor_destroy(t->q);
    clf_tensor_destroy(t->k);
    clf_tensor_destroy(t->v);
    clf_tensor_destroy(t->out);
    free(t->host);
}

static void run_ours(contest *t)
{
    BENCH_OK(clf_attention(t->context, t->q, t->k, t->v, &t->params, t->out));
}

/* One row in double against `got`; exits when an element is off by more than 5e-6 (values below 1.7). */
static void verify_row(const contest *t, int64_t head, int64_t row, const float *got)
{
    const int64_t length = t->shape.length, size = t->shape.size, keys = t->shape.is_causal ? row + 1 : length;
    const float *q = t->host + (head * length + row) * size, *k = t->host + t->count + (size_t)(head * length * size);
    const float *v = t->host + 2 * t->count + (size_t)(head * length * size);
    double *weight = malloc((size_t)keys * sizeof *weight), largest = -INFINITY, sum = 0;
    if (!weight)
        abort();
    for (int64_t j = 0; j < keys; j++) {
        weight[j] = 0;
        for (int64_t c = 0; c < size; c++)
            weight[j] += (double)q[c] * (double)k[j * size + c];
        weight[j] /= sqrt((double)size);
        largest = weight[j] > largest ? weight[j] : largest;
    }
    for (int64_t j = 0; j < keys; j++)
        sum += weight[j] = exp(weight[j] - largest);
    for (int64_t c = 0; c < size; c++) {
        double want = 0;
        for (int64_t j = 0; j < keys; j++)
            want += weight[j] / sum * (double)v[j * size + c];
        if (!(fabs((double)got[c] - want) <= 5e-6)) {
            fprintf(stderr, "wrong result: head %lld row %lld column %lld is %g, want %g\n", (long long)head, (long long)row, (long long)c,
                    (double)got[c], want);
            exit(1);
        }
    }
    free(weight);
}

static void verify(contest *t)
{
    const int64_t heads = t->shape.batch * t->shape.heads, length = t->shape.length, size = t->shape.size;
    float *got = malloc(t->count * sizeof *got);
    if (!got)
        abort();
    run_ours(t);
    BENCH_OK(clf_tensor_read_f32(t->out, got, t->count));
    for (int64_t i = 0; i < 256; i++) { /* 7919 and 104729 are prime: rows all over the place, the last one too */
        const int64_t head = i * 7919 % heads, row = i == 0 ? length - 1 : i * 104729 % length;
        verify_row(t, head, row, got + (head * length + row) * size);
    }
    free(got);
}

static double sample(contest *t, const bench_clock *clock, size_t repeats)
{
    const double start = bench_clock_ns(clock);
    for (size_t i = 0; i < repeats; i++)
        run_ours(t);
    BENCH_OK(clf_context_finish(t->context));
    return (bench_clock_ns(clock) - start) / (double)repeats;
}

static void bench_shape(clf_context *context, bench_peak *peak, const bench_clock *clock, const attention_shape *s, size_t rounds, int as_json)
{
    contest t = contest_create(context, s);
    bench_samples time = {0}, share = {0};
    const double pairs = s->is_causal ? (double)s->length * (double)(s->length + 1) / 2 : (double)s->length * (double)s->length;
    const double flops = 4 * (double)(s->batch * s->heads) * pairs * (double)s->size;
    verify(&t);
    const double one = sample(&t, clock, 1);
    const size_t repeats = one < 5e6 ? (size_t)(5e6 / one) + 1 : 1;
    for (size_t r = 0; r < rounds; r++) {
        const double limit = bench_peak_gflops(peak), ns = sample(&t, clock, repeats);
        bench_samples_add(&time, ns);
        bench_samples_add(&share, flops / ns / limit);
    }
    const double median = bench_quantile(&time, 0.5);
    if (as_json) {
        json_t *record = bench_device_json(context);
        json_object_set_new(record, "case",
                            json_pack("{s:s,s:I,s:I,s:I,s:I,s:b}", "op", "attention", "batch", (json_int_t)s->batch, "heads", (json_int_t)s->heads,
                                      "length", (json_int_t)s->length, "size", (json_int_t)s->size, "causal", s->is_causal));
        json_object_set_new(record, "time", bench_samples_json(&time));
        json_object_set_new(record, "gflops", json_real(flops / median));
        json_object_set_new(record, "share_of_limit", json_real(bench_quantile(&share, 0.5)));
        bench_print_json(record);
    } else {
        printf("attention B=%-3lld H=%-3lld L=%-5lld d=%-4lld%-7s %9.3f ms  (%.3f, %.3f)  %7.1f GFLOP/s  %5.1f %% of the limit\n", (long long)s->batch,
               (long long)s->heads, (long long)s->length, (long long)s->size, s->is_causal ? " causal" : "", median / 1e6,
               bench_quantile(&time, 0.1) / 1e6, bench_quantile(&time, 0.9) / 1e6, flops / median, 100 * bench_quantile(&share, 0.5));
        fflush(stdout);
    }
    bench_samples_free(&time);
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
    bench_peak *peak = bench_peak_create(context, clock);
    if (bench_option(argc, argv, "--length")) {
        const attention_shape one = {(int64_t)bench_size(argc, argv, "--batch", 1), (int64_t)bench_size(argc, argv, "--heads", 8),
                                     (int64_t)bench_size(argc, argv, "--length", 2048), (int64_t)bench_size(argc, argv, "--size", 64),
                                     bench_flag(argc, argv, "--causal")};
        bench_shape(context, peak, &clock, &one, rounds, as_json);
    } else {
        for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
            bench_shape(context, peak, &clock, &shapes[i], rounds, as_json);
    }
    bench_peak_destroy(peak);
    clf_context_destroy(context);
    return 0;
}
