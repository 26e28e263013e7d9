/* SPDX-License-Identifier: MIT */
/* Runs in the tuner's child process. Checks a candidate's results against float64, then times the candidate and the reference
 * alternately. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "bench/samples.h"
#include "tune/tune_case.h"
#include "tune/tune_child.h"

static const double SAMPLE_NS = 1e6;
static const double NOISY = 1.1; /* times are noisy if the median divided by the minimum is above this; then more pairs are measured */
/* Time limits of a product, in units of product_ns: LONGER after LEAST_PAIRS noisy pairs, LONGEST after FEW_PAIRS pairs that are slow. */
static const double LONGER = 4, LONGEST = 8;
enum { LEAST_PAIRS = 7, FEW_PAIRS = 3, MOST_RUNS = 4096 };
static const double HOPELESS = 10; /* a candidate this many times slower than the reference gets one pair */

static clf_status open_context(const json_t *request, const char *engines, const char *tuned, clf_context **out)
{
    clf_context_params params = CLF_CONTEXT_PARAMS_INIT;
    params.device = json_string_value(json_object_get(request, "device"));
    params.engines = engines;
    params.tuned_file = tuned;
    params.precision = (clf_precision)json_integer_value(json_object_get(request, "precision")); /* 0, the highest, if absent */
    return clf_context_create(&params, out);
}

static clf_status describe(const json_t *request, json_t *reply)
{
    clf_context *context;
    CLF_TRY(open_context(request, "", "", &context));
    const clf_device_info *info = clf_context_device(context);
    json_t *standard = json_array();
    const clf_engine_table *table = &clfi_engine_tables[CLF_OP_GEMM];
    for (size_t e = 0; e < table->count; e++) {
        const clf_tiling *tiling = table->engines[e].tiling;
        const clf_tile none = {{0}}, own = tiling ? tiling->standard(context, &none) : none;
        json_t *values = json_array();
        for (size_t i = 0; i < CLFI_TILE_PARAMETERS; i++)
            json_array_append_new(values, json_integer(own.value[i]));
        json_array_append_new(standard, values);
    }
    json_object_set_new(reply, "name", json_string(info->name));
    json_object_set_new(reply, "platform", json_string(info->platform_name));
    json_object_set_new(reply, "driver", json_string(info->driver_version));
    json_object_set_new(reply, "compute_units", json_integer((json_int_t)info->compute_units));
    json_object_set_new(reply, "is_cpu", json_boolean(context->device.caps.is_cpu));
    json_object_set_new(reply, "standard", standard);
    clf_context_destroy(context);
    return CLF_OK;
}

/* *out: nanoseconds per run, averaged over `runs` runs that are enqueued together. */
static clf_status sample(clfi_tune_case *one, size_t runs, double *out)
{
    const uint64_t start = clfi_now_ns();
    for (size_t i = 0; i < runs; i++)
        CLF_TRY(clfi_tune_case_run(one));
    CLF_TRY(clf_context_finish(one->context));
    *out = (double)(clfi_now_ns() - start) / (double)runs;
    return CLF_OK;
}

static size_t runs_for(double ns)
{
    return ns >= SAMPLE_NS ? 1 : ns * MOST_RUNS <= SAMPLE_NS ? MOST_RUNS : (size_t)(SAMPLE_NS / ns) + 1;
}

/* Times of candidate and reference in nanoseconds per run. Sample i of one was taken right before or after sample i of the other. */
typedef struct pairs {
    clfi_samples candidate, reference;
} pairs;

/* Returns the shortest time. Other work on the machine can only add time, so the shortest time is that of an undisturbed run. */
static clf_status least(const clfi_samples *samples, double *out, bool *out_is_noisy)
{
    clfi_summary summary;
    double value = INFINITY;
    CLF_TRY(clfi_samples_summary(samples, &summary));
    for (size_t i = 0; i < samples->count; i++)
        value = fmin(value, samples->values[i]);
    *out = value;
    *out_is_noisy = summary.median > NOISY * value;
    return CLF_OK;
}

static clf_status is_enough(const pairs *p, double spent, double least_ns, size_t few, bool *out)
{
    const size_t count = p->candidate.count;
    double value;
    bool is_noisy, is_other_noisy;
    *out = (count >= few && spent > LONGEST * least_ns) || (few == 1 && count == 1) || (count >= LEAST_PAIRS && spent > LONGER * least_ns);
    if (*out || count < LEAST_PAIRS || spent < least_ns)
        return CLF_OK;
    CLF_TRY(least(&p->candidate, &value, &is_noisy));
    CLF_TRY(least(&p->reference, &value, &is_other_noisy));
    *out = !is_noisy && !is_other_noisy;
    return CLF_OK;
}

static clf_status measure_pairs(clfi_tune_case *candidate, clfi_tune_case *reference, double least_ns, pairs *out)
{
    double ns, other;
    for (int i = 0; i < 2; i++) { /* the first of two runs warms up */
        CLF_TRY(sample(candidate, 1, &ns));
        CLF_TRY(sample(reference, 1, &other));
    }
    const size_t runs = runs_for(ns), other_runs = runs_for(other), few = ns > HOPELESS * other ? 1 : FEW_PAIRS;
    const uint64_t start = clfi_now_ns();
    for (bool is_done = false; !is_done;) {
        const bool is_first = out->candidate.count % 2 == 0;
        if (is_first)
            CLF_TRY(sample(candidate, runs, &ns));
        CLF_TRY(sample(reference, other_runs, &other));
        if (!is_first)
            CLF_TRY(sample(candidate, runs, &ns));
        CLF_TRY(clfi_samples_add(&out->candidate, ns));
        CLF_TRY(clfi_samples_add(&out->reference, other));
        CLF_TRY(is_enough(out, (double)(clfi_now_ns() - start), least_ns, few, &is_done));
    }
    return CLF_OK;
}

static clf_status time_pair(clfi_tune_case *candidate, clfi_tune_case *reference, double least_ns, json_t **out)
{
    pairs p = {CLFI_SAMPLES_INIT, CLFI_SAMPLES_INIT};
    double ns = NAN, other = NAN;
    bool is_noisy;
    clf_status st = measure_pairs(candidate, reference, least_ns, &p);
    if (st == CLF_OK)
        st = least(&p.candidate, &ns, &is_noisy);
    if (st == CLF_OK)
        st = least(&p.reference, &other, &is_noisy);
    clfi_samples_free(&p.candidate);
    clfi_samples_free(&p.reference);
    CLF_TRY(st);
    *out = json_pack("{s:s, s:f, s:f}", "engine", candidate->engine, "ratio", ns / other, "ns", ns);
    return CLF_OK;
}

/* *out stays NULL if the candidate does not apply to the product. */
static clf_status measure_product(clf_context *candidate, clf_context *reference, const clfi_tune_product *product, double least_ns,
                                  json_t **out)
{
    clfi_tune_case mine = {0}, other = {0};
    char text[CLFI_TUNE_PRODUCT_BYTES];
    clfi_verdict verdict;
    clf_status st = clfi_tune_case_create(candidate, product, &mine);
    if (st == CLF_UNSUPPORTED)
        st = CLF_OK;
    else if (st == CLF_OK) {
        CLF_GOTO(clfi_tune_case_verify(&mine, &verdict));
        if (!verdict.passed)
            CLF_GOTO(clfi_fail(CLF_DEVICE, "wrong numbers: %s: error %g, bound %g", clfi_tune_product_text(product, text), verdict.error,
                               verdict.bound));
        CLF_GOTO(clfi_tune_case_create(reference, product, &other));
        CLF_GOTO(time_pair(&mine, &other, least_ns, out));
    }
done:
    clfi_tune_case_free(&mine);
    clfi_tune_case_free(&other);
    return st;
}

static clf_status measure_all(clf_context *candidate, clf_context *reference, const json_t *request, json_t *timings)
{
    const json_t *products = json_object_get(request, "products");
    const double least_ns = json_number_value(json_object_get(request, "product_ns"));
    for (size_t i = 0; i < json_array_size(products); i++) {
        const json_t *row = json_array_get(products, i);
        clfi_tune_product product = {.kind = (clf_gemm_kind)json_integer_value(json_array_get(row, 0))};
        int64_t *const sizes[] = {&product.batch, &product.m, &product.n, &product.k};
        json_t *timing = NULL;
        for (size_t s = 0; s < COUNT(sizes); s++)
            *sizes[s] = json_integer_value(json_array_get(row, s + 1));
        CLF_TRY(measure_product(candidate, reference, &product, least_ns, &timing));
        json_array_append_new(timings, timing ? timing : json_null());
    }
    return CLF_OK;
}

/* UNSUPPORTED: the candidate forces an engine that by its measured rates gains nothing on this device. No table or rule may name such an
 * engine. */
static clf_status check_pays(const clf_context *candidate)
{
    clf_engine_choice forced;
    CLF_TRY(clfi_engine_forced(candidate, CLF_OP_GEMM, &forced));
    if (forced.engine && !clfi_engine_pays(candidate, forced.engine))
        CLF_FAIL(CLF_UNSUPPORTED, "engine %s: by its measured rates the device gains nothing from it", forced.engine->name);
    return CLF_OK;
}

static clf_status measure(const json_t *request, json_t *reply)
{
    clf_context *candidate = NULL, *reference = NULL;
    json_t *timings = json_array();
    json_object_set_new(reply, "timings", timings);
    clf_status st = open_context(request, json_string_value(json_object_get(request, "engines")),
                                 json_string_value(json_object_get(request, "tuned")), &candidate);
    if (st == CLF_OK)
        st = check_pays(candidate);
    if (st == CLF_OK)
        st = open_context(request, json_string_value(json_object_get(request, "reference")), "", &reference);
    if (st == CLF_OK)
        st = measure_all(candidate, reference, request, timings);
    clf_context_destroy(candidate);
    clf_context_destroy(reference);
    return st;
}

clf_status clfi_tune_serve(const json_t *request, json_t *reply)
{
    const char *task = json_string_value(json_object_get(request, "do"));
    return task && strcmp(task, "describe") == 0 ? describe(request, reply) : measure(request, reply);
}
