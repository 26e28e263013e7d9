/* SPDX-License-Identifier: MIT */
/* bench_gemm [--set linear|small|epilogue|batched|all] [--m M --n N --k K] [--rounds N] [--json] [--cpu-time]
 *
 * Speed of linear layers (weights packed at load) and of products of two tensors, beside the device's measured peak and, where the build found it,
 * OpenBLAS. Contestants alternate in every round; the share of the peak is the median over rounds of the ratio within the round. Every case is
 * checked against double before it is timed. --cpu-time counts processor time per thread, for machines that are busy with other work. CLF_ENGINE=gemm=NAME chooses the engine. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clformer/linear.h"
#include "support/bench.h"
#include "support/peak.h"

#ifdef CLF_HAVE_OPENBLAS
#include <cblas.h>
#endif

typedef struct gemm_shape {
    const char *set;
    int64_t batch, m, n, k; /* batch 0: a linear layer */
    clf_activation activation;
    int has_residual;
    int is_interleaved; /* batches innermost in memory, as heads are in "ibhd,jbhd->ijbh" */
} gemm_shape;

static const gemm_shape shapes[] = {
    {"linear", 0, 128, 1152, 384, CLF_ACTIVATION_NONE, 0, 0},
    {"linear", 0, 128, 384, 384, CLF_ACTIVATION_NONE, 1, 0},
    {"linear", 0, 128, 1536, 384, CLF_ACTIVATION_GELU, 0, 0},
    {"linear", 0, 128, 384, 1536, CLF_ACTIVATION_NONE, 1, 0},
    {"linear", 0, 1024, 1152, 384, CLF_ACTIVATION_NONE, 0, 0},
    {"linear", 0, 1024, 384, 384, CLF_ACTIVATION_NONE, 1, 0},
    {"linear", 0, 1024, 1536, 384, CLF_ACTIVATION_GELU, 0, 0},
    {"linear", 0, 1024, 384, 1536, CLF_ACTIVATION_NONE, 1, 0},
    {"linear", 0, 4096, 1536, 384, CLF_ACTIVATION_GELU, 0, 0},
    {"linear", 0, 4096, 384, 1536, CLF_ACTIVATION_NONE, 1, 0},
    {"linear", 0, 512, 3072, 768, CLF_ACTIVATION_NONE, 0, 0},
    {"linear", 0, 512, 768, 3072, CLF_ACTIVATION_NONE, 0, 0},
    {"small", 0, 1, 384, 1536, CLF_ACTIVATION_NONE, 0, 0},
    {"small", 0, 1, 3072, 768, CLF_ACTIVATION_NONE, 0, 0},
    {"small", 0, 4, 1536, 384, CLF_ACTIVATION_NONE, 0, 0},
    {"small", 0, 16, 384, 384, CLF_ACTIVATION_NONE, 0, 0},
    {"small", 0, 16, 1536, 384, CLF_ACTIVATION_NONE, 0, 0},
    {"small", 0, 16, 384, 1536, CLF_ACTIVATION_NONE, 0, 0},
    {"small", 0, 33, 1000, 500, CLF_ACTIVATION_NONE, 0, 0},
    {"epilogue", 0, 1024, 1536, 384, CLF_ACTIVATION_NONE, 0, 0},
    {"epilogue", 0, 1024, 1536, 384, CLF_ACTIVATION_RELU, 0, 0},
    {"epilogue", 0, 1024, 1536, 384, CLF_ACTIVATION_GELU, 0, 0},
    {"epilogue", 0, 1024, 1536, 384, CLF_ACTIVATION_GELU_TANH, 0, 0},
    {"epilogue", 0, 1024, 1536, 384, CLF_ACTIVATION_SILU, 0, 0},
    {"epilogue", 0, 1024, 1536, 384, CLF_ACTIVATION_NONE, 1, 0},
    {"batched", 64, 512, 512, 64, CLF_ACTIVATION_NONE, 0, 0},
    {"batched", 16, 1024, 1024, 64, CLF_ACTIVATION_NONE, 0, 0},
    {"batched", 8, 2048, 2048, 64, CLF_ACTIVATION_NONE, 0, 0},
    {"batched", 64, 512, 64, 512, CLF_ACTIVATION_NONE, 0, 0},
    {"batched", 16, 512, 512, 64, CLF_ACTIVATION_NONE, 0, 1},
    {"batched", 8, 1024, 1024, 64, CLF_ACTIVATION_NONE, 0, 1},
    {"batched", 1, 1024, 1024, 1024, CLF_ACTIVATION_NONE, 0, 0},
};

typedef struct contest {
    clf_context *context;
    gemm_shape shape;
    bench_clock clock;
    clf_tensor *a, *b, *c, *residual;
    clf_linear *linear;
    float *host_a, *host_b, *host_c, *host_bias;
} contest;

static clf_tensor *tensor_of(clf_context *context, int rank, const int64_t *dim, const float *data)
{
    clf_tensor *t;
    BENCH_OK(clf_tensor_create_from(context, CLF_F32, rank, dim, data, &t));
    return t;
}

/* [batch, rows, columns], dense or with the batch innermost in memory. */
static clf_tensor *batched(clf_context *context, const gemm_shape *s, int64_t rows, int64_t columns, const float *data)
{
    if (!s->is_interleaved)
        return tensor_of(context, 3, (int64_t[]){s->batch, rows, columns}, data);
    clf_tensor *base = tensor_of(context, 3, (int64_t[]){rows, s->batch, columns}, data), *view;
    BENCH_OK(clf_tensor_permute(base, (int[]){1, 0, 2}, &view));
    clf_tensor_destroy(base);
    return view;
}

static clf_tensor *result_of(clf_context *context, const gemm_shape *s)
{
    clf_tensor *base, *view;
    if (!s->is_interleaved) {
        BENCH_OK(clf_tensor_create(context, CLF_F32, 3, (int64_t[]){s->batch, s->m, s->n}, &base));
        return base;
    }
    BENCH_OK(clf_tensor_create(context, CLF_F32, 3, (int64_t[]){s->m, s->n, s->batch}, &base));
    BENCH_OK(clf_tensor_permute(base, (int[]){2, 0, 1}, &view));
    clf_tensor_destroy(base);
    return view;
}

static contest contest_create(clf_context *context, bench_clock clock, const gemm_shape *s)
{
    contest t = {.context = context, .shape = *s, .clock = clock};
    const int64_t batch = s->batch ? s->batch : 1;
    const size_t a = (size_t)(batch * s->m * s->k), b = (size_t)(batch * s->k * s->n), c = (size_t)(batch * s->m * s->n);
    t.host_a = malloc(a * sizeof(float));
    t.host_b = malloc(b * sizeof(float));
    t.host_c = malloc(c * sizeof(float));
    if (!t.host_a || !t.host_b || !t.host_c)
        abort();
    bench_fill(t.host_a, a, -1, 1, 1);
    bench_fill(t.host_b, b, -0.2f, 0.2f, 2);
    bench_fill(t.host_c, c, -1, 1, 3);
    if (s->batch) {
        t.a = batched(context, s, s->m, s->k, t.host_a);
        clf_tensor *turned = batched(context, s, s->n, s->k, t.host_b); /* B as keys lie: contiguous in k */
        BENCH_OK(clf_tensor_permute(turned, (int[]){0, 2, 1}, &t.b));
        clf_tensor_destroy(turned);
        t.c = result_of(context, s);
        return t;
    }
    t.a = tensor_of(context, 2, (int64_t[]){s->m, s->k}, t.host_a);
    t.b = tensor_of(context, 2, (int64_t[]){s->n, s->k}, t.host_b);
    t.residual = tensor_of(context, 2, (int64_t[]){s->m, s->n}, t.host_c);
    t.host_bias = malloc((size_t)s->n * sizeof(float));
    if (!t.host_bias)
        abort();
    bench_fill(t.host_bias, (size_t)s->n, -1, 1, 4);
    clf_tensor *bias = tensor_of(context, 1, (int64_t[]){s->n}, t.host_bias);
    BENCH_OK(clf_tensor_create(context, CLF_F32, 2, (int64_t[]){s->m, s->n}, &t.c));
    BENCH_OK(clf_linear_create(context, t.b, bias, &t.linear));
    clf_tensor_destroy(bias);
    return t;
}

static void contest_destroy(contest *t)
{
    clf_tensor_destroy(t->a);
    clf_tensor_destroy(t->b);
    clf_tensor_destroy(t->c);
    clf_tensor_destroy(t->residual);
    clf_linear_destroy(t->linear);
    free(t->host_a);
    free(t->host_b);
    free(t->host_c);
    free(t->host_bias);
}

static void run_ours(contest *t)
{
    if (t->linear)
        BENCH_OK(clf_linear_apply(t->context, t->linear, t->a, t->shape.activation, t->shape.has_residual ? t->residual : NULL, t->c));
    else
        BENCH_OK(clf_gemm(t->context, t->a, t->b, NULL, t->c));
}

static double activate(clf_activation kind, double x)
{
    switch (kind) {
    case CLF_ACTIVATION_RELU: return x > 0 ? x : 0;
    case CLF_ACTIVATION_GELU: return 0.5 * x * erfc(-x * sqrt(0.5));
    case CLF_ACTIVATION_GELU_TANH: return 0.5 * x * (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case CLF_ACTIVATION_SILU: return x / (1 + exp(-x));
    default: return x;
    }
}

/* Every 997th element against double; exits when one is wrong. */
static void verify(contest *t)
{
    const gemm_shape *s = &t->shape;
    const int64_t batch = s->batch ? s->batch : 1;
    float *got = malloc((size_t)(batch * s->m * s->n) * sizeof *got);
    if (!got)
        abort();
    run_ours(t);
    BENCH_OK(clf_tensor_read_f32(t->c, got, (size_t)(batch * s->m * s->n)));
    for (int64_t e = 0; e < batch * s->m * s->n; e += 997) {
        const int64_t b = e / (s->m * s->n), i = e / s->n % s->m, j = e % s->n;
        const int64_t at_a = s->is_interleaved ? (i * batch + b) * s->k : (b * s->m + i) * s->k;
        const int64_t at_b = s->is_interleaved ? (j * batch + b) * s->k : (b * s->n + j) * s->k;
        double sum = 0, magnitude = 0;
        for (int64_t p = 0; p < s->k; p++) {
            const double product = (double)t->host_a[at_a + p] * (double)t->host_b[at_b + p];
            sum += product;
            magnitude += fabs(product);
        }
        if (t->linear)
            sum = activate(s->activation, sum + (double)t->host_bias[j]) + (s->has_residual ? (double)t->host_c[e] : 0);
        if (!(fabs((double)got[e] - sum) <= 1.2 * (double)(s->k + 8) * 0x1p-24 * (magnitude + 4))) {
            fprintf(stderr, "wrong result: element %lld is %g, want %g\n", (long long)e, (double)got[e], sum);
            exit(1);
        }
    }
    free(got);
}

static double sample_ours(contest *t, size_t repeats)
{
    const double start = bench_clock_ns(&t->clock);
    for (size_t i = 0; i < repeats; i++)
        run_ours(t);
    BENCH_OK(clf_context_finish(t->context));
    return (bench_clock_ns(&t->clock) - start) / (double)repeats;
}

#ifdef CLF_HAVE_OPENBLAS
static double sample_openblas(contest *t, size_t repeats)
{
    const gemm_shape *s = &t->shape;
    const int64_t batch = s->batch ? s->batch : 1;
    const double start = bench_clock_ns(&t->clock);
    for (size_t i = 0; i < repeats; i++)
        for (int64_t b = 0; b < batch; b++)
            cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)s->m, (int)s->n, (int)s->k, 1.0f, t->host_a + b * s->m * s->k, (int)s->k,
                        t->host_b + b * s->n * s->k, (int)s->k, 0.0f, t->host_c + b * s->m * s->n, (int)s->n);
    return (bench_clock_ns(&t->clock) - start) / (double)repeats;
}
#endif

static void bench_shape(clf_context *context, bench_clock clock, bench_peak *peak, const gemm_shape *s, size_t rounds, int as_json)
{
    contest t = contest_create(context, clock, s);
    const double flops = 2.0 * (double)((s->batch ? s->batch : 1) * s->m) * (double)s->n * (double)s->k;
    bench_samples time = {0}, share = {0}, peer = {0};
    verify(&t);
    const double one = sample_ours(&t, 1);
    const size_t repeats = one < 5e6 ? (size_t)(5e6 / one) + 1 : 1;
    for (size_t r = 0; r < rounds; r++) {
        const double before = bench_peak_gflops(peak);
        const double ns = sample_ours(&t, repeats);
        const double after = bench_peak_gflops(peak);
        bench_samples_add(&time, ns);
        bench_samples_add(&share, flops / ns / (before > after ? before : after));
#ifdef CLF_HAVE_OPENBLAS
        if (clock.cpu_threads == 0) /* its threads wait by spinning */
            bench_samples_add(&peer, sample_openblas(&t, repeats) / ns);
#endif
    }
    const double median = bench_quantile(&time, 0.5);
    if (as_json) {
        json_t *record = bench_device_json(context);
        json_object_set_new(record, "case", json_pack("{s:s,s:I,s:I,s:I,s:I,s:s,s:b,s:b}", "set", s->set, "batch", (json_int_t)s->batch, "m",
                                                      (json_int_t)s->m, "n", (json_int_t)s->n, "k", (json_int_t)s->k, "activation",
                                                      clf_activation_name(s->activation), "residual", s->has_residual, "interleaved",
                                                      s->is_interleaved));
        json_object_set_new(record, "time", bench_samples_json(&time));
        json_object_set_new(record, "gflops", json_real(flops / median));
        json_object_set_new(record, "share_of_peak", json_real(bench_quantile(&share, 0.5)));
        if (peer.count)
            json_object_set_new(record, "openblas_ratio", json_real(bench_quantile(&peer, 0.5)));
        bench_print_json(record);
    } else {
        char name[64];
        snprintf(name, sizeof name, "%s%lldx%lldx%lld%s", s->batch ? "" : "linear ", (long long)s->m, (long long)s->n, (long long)s->k,
                 s->is_interleaved ? " interleaved" : "");
        printf("%3lld x %-26s %-9s%-4s %9.1f us  (%.1f, %.1f)  %6.1f GFLOP/s  best %6.1f  %5.1f %% of peak", (long long)s->batch, name,
               clf_activation_name(s->activation), s->has_residual ? "+res" : "", median / 1e3, bench_quantile(&time, 0.1) / 1e3,
               bench_quantile(&time, 0.9) / 1e3, flops / median, flops / bench_quantile(&time, 0), 100 * bench_quantile(&share, 0.5));
        if (peer.count)
            printf("  OpenBLAS takes %.2f x", bench_quantile(&peer, 0.5));
        putchar('\n');
        fflush(stdout);
    }
    bench_samples_free(&time);
    bench_samples_free(&share);
    bench_samples_free(&peer);
    contest_destroy(&t);
}

int main(int argc, char **argv)
{
    const char *set = bench_option(argc, argv, "--set");
    const size_t rounds = bench_size(argc, argv, "--rounds", 15);
    const int as_json = bench_flag(argc, argv, "--json");
    clf_context *context;
    BENCH_OK(clf_context_create(NULL, &context));
    const bench_clock clock = {bench_flag(argc, argv, "--cpu-time") ? (int)clf_context_device(context)->compute_units : 0};
    bench_peak *peak = bench_peak_create(context, clock);
    if (bench_option(argc, argv, "--m")) {
        const gemm_shape one = {.set = "one", .m = (int64_t)bench_size(argc, argv, "--m", 1), .n = (int64_t)bench_size(argc, argv, "--n", 1),
                                .k = (int64_t)bench_size(argc, argv, "--k", 1)};
        bench_shape(context, clock, peak, &one, rounds, as_json);
    } else {
        for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
            if (!set || strcmp(set, "all") == 0 || strcmp(set, shapes[i].set) == 0)
                bench_shape(context, clock, peak, &shapes[i], rounds, as_json);
    }
    bench_peak_destroy(peak);
    clf_context_destroy(context);
    return 0;
}
