/* SPDX-License-Identifier: MIT */
/* bench_einsum [--rounds N] [--json] [--cpu-time]
 *
 * Attention equations in each layout of the heads, beside the plain batched product of the same sizes (every head's matrices dense); sums,
 * products and permutations, beside the measured bandwidth. Contestants alternate in every round; ratios are medians over rounds of the
 * ratio within the round. Every case is checked against double on a sample of its elements before it is timed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clformer/einsum.h"
#include "clformer/linear.h"
#include "support/bench.h"
#include "support/peak.h"

typedef struct einsum_case {
    const char *equation;
    int64_t size[128];        /* by letter */
    int64_t batch, m, n, k;   /* the product of the same size; batch 0: bandwidth instead */
    int b_is_keys;            /* B of the product is [batch, n, k] in memory */
} einsum_case;

#define HEADS(B, H, I, J, D) .size = {['b'] = B, ['n'] = B, ['h'] = H, ['i'] = I, ['j'] = J, ['d'] = D}
#define SCORES(B, H, I, J, D) HEADS(B, H, I, J, D), (B) * (H), I, J, D, 1
#define CONTEXT(B, H, I, J, D) HEADS(B, H, I, J, D), (B) * (H), I, D, J, 0
#define SIZES(I, J, K) .size = {['i'] = I, ['j'] = J, ['k'] = K}

static const einsum_case cases[] = {
    {"ibhd,jbhd->ijbh", SCORES(32, 12, 128, 128, 32)},  {"nihd,njhd->nijh", SCORES(32, 12, 128, 128, 32)},
    {"nhid,nhjd->nhij", SCORES(32, 12, 128, 128, 32)},  {"ijbh,jbhd->ibhd", CONTEXT(32, 12, 128, 128, 32)},
    {"nijh,njhd->nihd", CONTEXT(32, 12, 128, 128, 32)}, {"nhij,nhjd->nhid", CONTEXT(32, 12, 128, 128, 32)},
    {"ibhd,jbhd->ijbh", SCORES(2, 8, 512, 512, 64)},    {"nihd,njhd->nijh", SCORES(2, 8, 512, 512, 64)},
    {"ijbh,jbhd->ibhd", CONTEXT(2, 8, 512, 512, 64)},   {"nijh,njhd->nihd", CONTEXT(2, 8, 512, 512, 64)},
    {"ij->ji", SIZES(2048, 2048, 0)},                   {"ijk->kji", SIZES(128, 128, 256)},
    {"ij->i", SIZES(4096, 1024, 0)},                    {"ij->j", SIZES(4096, 1024, 0)},
    {"ij->", SIZES(4096, 1024, 0)},                     {"ij,ij->ij", SIZES(2048, 2048, 0)},
    {"ij,ij->i", SIZES(2048, 2048, 0)},                 {"ij,j->ij", SIZES(4096, 1024, 0)},
};

typedef struct contest {
    clf_context *context;
    const einsum_case *one;
    bench_clock clock;
    clf_einsum_plan *plan;
    int count;
    char term[3][16]; /* operands, then the output */
    size_t elements[3];
    float *host[2];
    clf_tensor *operands[2], *out;
    clf_tensor *a, *b, *c;
} contest;

static size_t position(const contest *t, int term, const int64_t *index)
{
    size_t at = 0;
    for (const char *label = t->term[term]; *label; label++)
        at = at * (size_t)t->one->size[(int)*label] + (size_t)index[(int)*label];
    return at;
}

static void split_equation(contest *t)
{
    const char *text = t->one->equation;
    for (t->count = 0;; t->count++) {
        const size_t length = strcspn(text, ",-");
        memcpy(t->term[t->count], text, length);
        text += length;
        if (*text++ == '-') {
            t->count++;
            strcpy(t->term[2], text + 1);
            break;
        }
    }
    for (int k = 0; k < 3; k++) {
        t->elements[k] = 1;
        for (const char *label = t->term[k]; *label; label++)
            t->elements[k] *= (size_t)t->one->size[(int)*label];
    }
}

static contest contest_create(clf_context *context, bench_clock clock, const einsum_case *one)
{
    contest t = {.context = context, .one = one, .clock = clock};
    int rank[2];
    int64_t dim[2][16];
    split_equation(&t);
    for (int k = 0; k < t.count; k++) {
        rank[k] = 0;
        for (const char *label = t.term[k]; *label; label++)
            dim[k][rank[k]++] = one->size[(int)*label];
        t.host[k] = malloc(t.elements[k] * sizeof(float));
        if (!t.host[k])
            abort();
        bench_fill(t.host[k], t.elements[k], -1, 1, (uint64_t)k + 1);
        BENCH_OK(clf_tensor_create_from(context, CLF_F32, rank[k], dim[k], t.host[k], &t.operands[k]));
    }
    BENCH_OK(clf_einsum_plan_create(one->equation, t.count, rank, (const int64_t *const[]){dim[0], dim[1]}, CLF_EINSUM_NO_LIMIT, &t.plan));
    BENCH_OK(clf_tensor_create(context, CLF_F32, clf_einsum_plan_rank(t.plan), clf_einsum_plan_dim(t.plan), &t.out));
    if (one->batch) {
        const int64_t a[] = {one->batch, one->m, one->k}, b[] = {one->batch, one->k, one->n}, keys[] = {one->batch, one->n, one->k};
        clf_tensor *lying;
        BENCH_OK(clf_tensor_create_from(context, CLF_F32, 3, a, t.host[0], &t.a));
        BENCH_OK(clf_tensor_create_from(context, CLF_F32, 3, one->b_is_keys ? keys : b, t.host[1], &lying));
        BENCH_OK(clf_tensor_permute(lying, one->b_is_keys ? (int[]){0, 2, 1} : (int[]){0, 1, 2}, &t.b));
        clf_tensor_destroy(lying);
        BENCH_OK(clf_tensor_create(context, CLF_F32, 3, (int64_t[]){one->batch, one->m, one->n}, &t.c));
    }
    return t;
}

static void contest_destroy(contest *t)
{
    for (int k = 0; k < t->count; k++) {
        clf_tensor_destroy(t->operands[k]);
        free(t->host[k]);
    }
    clf_tensor_destroy(t->out);
    clf_tensor_destroy(t->a);
    clf_tensor_destroy(t->b);
    clf_tensor_destroy(t->c);
    clf_einsum_plan_destroy(t->plan);
}

static void run_einsum(contest *t)
{
    BENCH_OK(clf_einsum_plan_run(t->context, t->plan, (const clf_tensor *const *)t->operands, t->count, t->out));
}

static void run_product(contest *t)
{
    BENCH_OK(clf_gemm(t->context, t->a, t->b, NULL, t->c));
}

/* One element in double: the labels that the output lacks are summed, one after the other. */
static double sum_labels(const contest *t, const char *summed, int64_t *index, double *magnitude)
{
    double sum = 0;
    if (*summed) {
        for (index[(int)*summed] = 0; index[(int)*summed] < t->one->size[(int)*summed]; index[(int)*summed]++)
            sum += sum_labels(t, summed + 1, index, magnitude);
        return sum;
    }
    sum = 1;
    for (int k = 0; k < t->count; k++)
        sum *= (double)t->host[k][position(t, k, index)];
    *magnitude += fabs(sum);
    return sum;
}

/* Some hundred elements; exits when one is wrong. */
static void verify(contest *t)
{
    char summed[32] = "";
    float *got = malloc((t->elements[2] + 1) * sizeof *got);
    if (!got)
        abort();
    for (int k = 0; k < t->count; k++)
        for (const char *label = t->term[k]; *label; label++)
            if (!strchr(t->term[2], *label) && !strchr(summed, *label))
                summed[strlen(summed)] = *label;
    run_einsum(t);
    BENCH_OK(clf_tensor_read_f32(t->out, got, t->elements[2]));
    for (size_t e = 0; e < t->elements[2]; e += t->elements[2] / 211 + 1) {
        int64_t index[128] = {0};
        size_t rest = e;
        double magnitude = 0;
        for (size_t i = strlen(t->term[2]); i-- > 0;) {
            const size_t size = (size_t)t->one->size[(int)t->term[2][i]];
            index[(int)t->term[2][i]] = (int64_t)(rest % size);
            rest /= size;
        }
        const double want = sum_labels(t, summed, index, &magnitude);
        double terms = 1;
        for (const char *label = summed; *label; label++)
            terms *= (double)t->one->size[(int)*label];
        if (!(fabs((double)got[e] - want) <= (12 + 2 * sqrt(terms)) * 0x1p-24 * magnitude)) {
            fprintf(stderr, "%s: element %zu is %g, want %g\n", t->one->equation, e, (double)got[e], want);
            exit(1);
        }
    }
    free(got);
}

static double sample(contest *t, void (*run)(contest *t), size_t repeats)
{
    const double start = bench_clock_ns(&t->clock);
    for (size_t i = 0; i < repeats; i++)
        run(t);
    BENCH_OK(clf_context_finish(t->context));
    return (bench_clock_ns(&t->clock) - start) / (double)repeats;
}

static void describe_shapes(const contest *t, char text[64])
{
    size_t used = 0;
    for (int k = 0; k < t->count; k++)
        for (const char *label = t->term[k]; *label; label++)
            used += (size_t)snprintf(text + used, 64 - used, "%s%lld", label > t->term[k] ? "x" : k ? "," : "",
                                     (long long)t->one->size[(int)*label]);
}

static void bench_case(clf_context *context, bench_clock clock, bench_peak *peak, const einsum_case *one, size_t rounds, int as_json)
{
    contest t = contest_create(context, clock, one);
    const double bytes = 4.0 * ((double)t.elements[0] + (t.count > 1 ? (double)t.elements[1] : 0) + (double)t.elements[2]);
    bench_samples time = {0}, ratio = {0};
    verify(&t);
    if (one->batch)
        run_product(&t);
    const double first = sample(&t, run_einsum, 1);
    const size_t repeats = first < 5e6 ? (size_t)(5e6 / first) + 1 : 1;
    for (size_t r = 0; r < rounds; r++) {
        const double ns = sample(&t, run_einsum, repeats);
        bench_samples_add(&time, ns);
        bench_samples_add(&ratio, one->batch ? sample(&t, run_product, repeats) / ns : bytes / ns / bench_peak_copy_gbs(peak));
    }
    char shapes[64];
    describe_shapes(&t, shapes);
    const double median = bench_quantile(&time, 0.5), speed = bench_quantile(&ratio, 0.5);
    const double gflops = one->batch ? 2.0 * (double)(one->batch * one->m) * (double)one->n * (double)one->k / median : 0;
    if (as_json) {
        json_t *record = bench_device_json(context);
        json_object_set_new(record, "case", json_pack("{s:s,s:s}", "equation", one->equation, "shapes", shapes));
        json_object_set_new(record, "time", bench_samples_json(&time));
        json_object_set_new(record, "gbs", json_real(bytes / median));
        if (one->batch)
            json_object_set_new(record, "gflops", json_real(gflops));
        json_object_set_new(record, one->batch ? "speed_against_product" : "share_of_copy_bandwidth", json_real(speed));
        bench_print_json(record);
    } else {
        printf("%-18s %-32s %9.1f us  (%.1f, %.1f)  ", one->equation, shapes, median / 1e3, bench_quantile(&time, 0.1) / 1e3,
               bench_quantile(&time, 0.9) / 1e3);
        if (one->batch)
            printf("%6.1f GFLOP/s  %4.0f %% of the plain product's speed\n", gflops, 100 * speed);
        else
            printf("%6.1f GB/s     %4.0f %% of copy bandwidth\n", bytes / median, 100 * speed);
        fflush(stdout);
    }
    bench_samples_free(&time);
    bench_samples_free(&ratio);
    contest_destroy(&t);
}

int main(int argc, char **argv)
{
    const size_t rounds = bench_size(argc, argv, "--rounds", 15);
    clf_context *context;
    BENCH_OK(clf_context_create(NULL, &context));
    const bench_clock clock = {bench_flag(argc, argv, "--cpu-time") ? (int)clf_context_device(context)->compute_units : 0};
    bench_peak *peak = bench_peak_create(context, clock);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        bench_case(context, clock, peak, &cases[i], rounds, bench_flag(argc, argv, "--json"));
    bench_peak_destroy(peak);
    clf_context_destroy(context);
    return 0;
}
