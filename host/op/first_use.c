/* SPDX-License-Identifier: MIT */
/* Times CLBlast against clformer's own matrix product for one weight: with FEW_ROWS rows, as a few texts have, and with enough rows to fill
 * the device. */
#include "op/first_use.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/random.h"
#include "op/gemm.h"
#include "op/left_out.h"
#include "op/tuned.h"
#include "runtime/arena.h"
#include "runtime/buffer.h"

enum { FEW_ROWS = 256, PLACES = 64, MOST_PAIRS = 5, MOST_RUNS = 64, SIDES = 2 };
static const int64_t MOST_WEIGHTS = 1 << 24;
static const double BUDGET_NS = 1e8, SAMPLE_NS = 2e6; /* time limit of all samples; target of one */

/* One of the two engines that are compared. */
typedef struct contender {
    const clf_engine *engine;
    clf_gemm_weight weight;
    float *result;
    size_t runs; /* per sample */
    double ns;   /* time per run in the fastest sample */
    clf_status status;
} contender;

typedef struct contest {
    clf_context *context;
    int64_t m, n, k;
    float *x, *w; /* [m, k], [n, k] */
    clf_buffer *x_buffer, *w_buffer, *y_buffer;
    contender side[SIDES];
    double sampled_ns; /* total time of all samples of both sides; the first runs, which build kernels, do not count */
    int pairs;         /* pairs of samples, one of each side, that time_both took */
} contest;

static clf_status make_buffer(const contest *c, const float *values, size_t count, clf_buffer **out)
{
    CLF_TRY(clfi_buffer_create(c->context, count * sizeof *values, out));
    return values ? clfi_buffer_write(*out, 0, values, count * sizeof *values) : CLF_OK;
}

static clf_status prepare(contest *c)
{
    const size_t x = (size_t)(c->m * c->k), w = (size_t)(c->n * c->k), y = (size_t)(c->m * c->n);
    CLF_TRY(clfi_alloc(x, sizeof *c->x, "first use", &c->x));
    CLF_TRY(clfi_alloc(w, sizeof *c->w, "first use", &c->w));
    clfi_random random = {0};
    clfi_random_fill(&random, c->x, x, -1, 1);
    clfi_random_fill(&random, c->w, w, -1, 1);
    CLF_TRY(make_buffer(c, c->x, x, &c->x_buffer));
    CLF_TRY(make_buffer(c, c->w, w, &c->w_buffer));
    CLF_TRY(make_buffer(c, NULL, y, &c->y_buffer));
    for (int i = 0; i < SIDES; i++)
        CLF_TRY(clfi_alloc(y, sizeof *c->side[i].result, "first use", &c->side[i].result));
    return CLF_OK;
}

static void release(contest *c)
{
    for (int i = 0; i < SIDES; i++) {
        clfi_gemm_weight_clear(&c->side[i].weight);
        free(c->side[i].result);
    }
    clfi_buffer_release(c->x_buffer);
    clfi_buffer_release(c->w_buffer);
    clfi_buffer_release(c->y_buffer);
    free(c->x);
    free(c->w);
}

/* The product as a model runs it: dense rows, no bias. */
static clf_gemm_args args_of(const contest *c, const clf_gemm_weight *weight)
{
    clf_gemm_args args = CLFI_GEMM_ARGS_INIT;
    args.m = c->m;
    args.n = c->n;
    args.k = c->k;
    args.a = (clf_gemm_operand){.buffer = c->x_buffer, .dtype = CLF_F32, .row_stride = c->k, .column_stride = 1};
    args.c = (clf_gemm_operand){.buffer = c->y_buffer, .dtype = CLF_F32, .row_stride = c->n, .column_stride = 1};
    args.b.dtype = CLF_F32;
    args.weight = weight;
    return args;
}

/* Enqueues `runs` products of one side. */
static clf_status run(const contest *c, const contender *side, size_t runs)
{
    const clf_gemm_args args = args_of(c, clfi_gemm_weight_for(side->engine->gemm, &side->weight));
    clf_status st = CLF_OK;
    for (size_t i = 0; st == CLF_OK && i < runs; i++) {
        const clf_arena_mark mark = clfi_arena_top(c->context);
        bool was_lost;
        st = clfi_engine_start(c->context, side->engine, &args, &was_lost);
        clfi_arena_release(c->context, mark);
    }
    return st;
}

static clf_status sample(contest *c, contender *side)
{
    const uint64_t start = clfi_now_ns();
    CLF_TRY(run(c, side, side->runs));
    CLF_TRY(clf_context_finish(c->context));
    const double ns = (double)(clfi_now_ns() - start);
    side->ns = fmin(side->ns, ns / (double)side->runs);
    c->sampled_ns += ns;
    return CLF_OK;
}

/* The first run builds the kernels, and its result is kept. The time of the second run decides how many runs make a sample. */
static clf_status start(contest *c, contender *side)
{
    static const clf_tile own = {{0}};
    const int64_t dim[2] = {c->n, c->k};
    const clf_view weight = clfi_view_dense(c->w_buffer, CLF_F32, 0, 2, dim);
    const size_t bytes = (size_t)(c->m * c->n) * sizeof *side->result;
    memset(side->result, 0xff, bytes); /* NaN, so that comparisons find elements that were not written */
    CLF_TRY(clfi_buffer_write(c->y_buffer, 0, side->result, bytes));
    CLF_TRY(clfi_gemm_pack_weight(c->context, side->engine->gemm, &own, 1, &weight, NULL, &side->weight));
    CLF_TRY(run(c, side, 1));
    CLF_TRY(clfi_buffer_read(c->y_buffer, 0, side->result, bytes));
    side->runs = 1;
    side->ns = INFINITY;
    CLF_TRY(sample(c, side));
    side->runs = (size_t)fmax(1, fmin(MOST_RUNS, SAMPLE_NS / side->ns));
    return CLF_OK;
}

/* Whether two float32 sums of k terms, of magnitudes up to `largest`, differ only by rounding. */
static bool is_near(const contest *c, double a, double b, double largest)
{
    return fabs(a - b) <= (double)(c->k + 2) * 0x1p-23 * largest;
}

static double largest_of(const contest *c, const contender *side)
{
    double largest = 0;
    for (int64_t i = 0; i < c->m * c->n; i++)
        largest = fmax(largest, fabs((double)side->result[i]));
    return largest;
}

/* Compares PLACES elements with sums in double precision. The elements fall on all positions within a tile. */
static bool is_right(const contest *c, const contender *side)
{
    const double largest = largest_of(c, side);
    const int64_t spread = c->m / PLACES | 1; /* odd, so that all positions within a tile occur */
    for (int64_t i = 0; i < PLACES; i++) {
        const int64_t row = i * spread % c->m, column = (i * 101 + c->n - 1) % c->n;
        double sum = 0;
        for (int64_t k = 0; k < c->k; k++)
            sum += (double)c->x[row * c->k + k] * (double)c->w[column * c->k + k];
        if (!is_near(c, (double)side->result[row * c->n + column], sum, largest))
            return false;
    }
    return true;
}

static bool agree(const contest *c)
{
    const double largest = largest_of(c, &c->side[0]);
    for (int64_t i = 0; i < c->m * c->n; i++)
        if (!is_near(c, (double)c->side[0].result[i], (double)c->side[1].result[i], largest))
            return false;
    return true;
}

/* Samples both sides in turn until MOST_PAIRS or BUDGET_NS is reached. On a slow device the samples that `start` took exceed BUDGET_NS;
 * then they decide alone. */
static clf_status time_both(contest *c)
{
    for (; c->pairs < MOST_PAIRS && c->sampled_ns < BUDGET_NS; c->pairs++)
        for (int i = 0; i < SIDES; i++)
            CLF_TRY(sample(c, &c->side[(i + c->pairs) % SIDES]));
    return CLF_OK;
}

/* *out NULL: undecided. */
static clf_status decide(contest *c, const clf_engine **out)
{
    bool is_good[SIDES];
    CLF_TRY(prepare(c));
    for (int i = 0; i < SIDES; i++) {
        contender *side = &c->side[i];
        side->status = start(c, side);
        if (side->status == CLF_OUT_OF_MEMORY)
            return side->status;
        if (side->status != CLF_OK)
            clfi_log(c->context, CLF_LOG_ERROR, "first use: %s: %s", side->engine->name, clf_last_error());
        is_good[i] = side->status == CLF_OK && is_right(c, side);
        if (side->status == CLF_OK && !is_good[i])
            clfi_log(c->context, CLF_LOG_ERROR, "first use: %s computes %lld x %lld x %lld wrong", side->engine->name, (long long)c->m,
                     (long long)c->n, (long long)c->k);
    }
    *out = is_good[0] ? c->side[0].engine : is_good[1] ? c->side[1].engine : NULL;
    if (!is_good[0] || !is_good[1])
        return CLF_OK;
    if (!agree(c))
        CLF_FAIL(CLF_DEVICE, "results of %s and %s differ", c->side[0].engine->name, c->side[1].engine->name);
    CLF_TRY(time_both(c));
    if (c->side[1].ns < c->side[0].ns)
        *out = c->side[1].engine;
    return CLF_OK;
}

/* Whether to measure: the table of engines chooses CLBlast, `tiled` can run the product too, and neither a forced engine nor a rule
 * decides. False in a rehearsal and if tuned choices are not used. */
static bool is_open(const contest *c)
{
    const clf_gemm_weight typical = {.form = CLFI_GEMM_ROWS, .dtype = CLF_F32, .n = c->n, .k = c->k};
    const clf_gemm_args args = args_of(c, &typical);
    clf_engine_choice forced, table;
    if (!clfi_tuning_is_open(c->context) || c->context->rehearsal || clfi_engine_forced(c->context, CLF_OP_GEMM, &forced) != CLF_OK ||
        forced.engine)
        return false;
    const clf_gemm_rule *rule = clfi_tuned_rule(c->context, CLF_GEMM_LINEAR, 1, c->m, c->n, c->k);
    if (rule && (!rule->is_first_use || (rule->m == c->m && rule->n == c->n && rule->k == c->k)))
        return false;
    return clfi_engine_choose(c->context, CLF_OP_GEMM, &args, NULL, &table) == CLF_OK && table.engine == c->side[1].engine &&
           clfi_engine_is_able(c->context, c->side[0].engine, &args);
}

static int64_t columns_to_measure(int64_t n, int64_t k)
{
    while (n * k > MOST_WEIGHTS && n > FEW_ROWS)
        n /= 2;
    return n;
}

/* Measures the product with m rows and adds a rule for weights [n, k]. For a large weight it measures only a part of the columns. */
static void measure(clf_context *context, int64_t m, int64_t n, int64_t k)
{
    contest c = {.context = context, .m = m, .n = n, .k = k};
    c.side[0].engine = clfi_engine_find(CLF_OP_GEMM, "tiled");
    c.side[1].engine = clfi_engine_find(CLF_OP_GEMM, "clblast");
    if (!c.side[0].engine || !c.side[1].engine || !is_open(&c))
        return;
    clf_gemm_rule rule = {
        .kind = CLF_GEMM_LINEAR, .precision = CLF_PRECISION_HIGHEST, .batch = 1, .m = m, .n = n, .k = k, .is_first_use = true};
    c.n = columns_to_measure(n, k);
    clf_status st = decide(&c, &rule.engine);
    if (st == CLF_OK && rule.engine)
        st = clfi_tuning_add(context, &rule);
    if (st != CLF_OK)
        clfi_log(context, CLF_LOG_ERROR, "first use: %s", clf_last_error());
    else if (rule.engine)
        clfi_log(context, CLF_LOG_INFO,
                 "first use: products of %lld x %lld x %lld: %s %.3f ms, %s %.3f ms: %s, after %d of %d samples of each", (long long)m,
                 (long long)n, (long long)k, c.side[0].engine->name, c.side[0].ns * 1e-6, c.side[1].engine->name, c.side[1].ns * 1e-6,
                 rule.engine->name, c.pairs, MOST_PAIRS);
    if (clf_context_finish(context) != CLF_OK) /* enqueued products may still use the buffers */
        clfi_log(context, CLF_LOG_ERROR, "first use: %s", clf_last_error());
    release(&c);
}

void clfi_first_use(clf_context *context, int64_t n, int64_t k)
{
    const int64_t full = clfi_gemm_tiled_full_rows(context, columns_to_measure(n, k));
    measure(context, FEW_ROWS, n, k);
    if (full > FEW_ROWS)
        measure(context, full, n, k);
}
