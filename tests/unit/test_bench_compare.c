/* SPDX-License-Identifier: MIT */
/* Statistics of comparisons on drawn samples: the pieces against known values; and how often a comparison claims what is and what is not
 * there. */
#include "report/compare.h"

#include <stdio.h>
#include <stdlib.h>

#include "support/check.h"
#include "support/operand.h"
#include "support/rng.h"

static double uniform(rng *r)
{
    return ((double)(rng_bits(r) >> 11) + 0.5) * 0x1p-53;
}

static double normal(rng *r) /* Box & Muller 1958 */
{
    return sqrt(-2 * log(uniform(r))) * cos(6.283185307179586 * uniform(r));
}

/* Two-sided p of Student's t: tables, and closed forms for 1 and 2 degrees of freedom. */
static void student(void **state)
{
    (void)state;
    static const struct {
        double t, degrees, p;
    } known[] = {{0, 5, 1},
                 {1, 1, 0.5},
                 {12.7062, 1, 0.05},
                 {1.414213562373095, 2, 0.2928932188134525},
                 {2.228139, 10, 0.05},
                 {3.169273, 10, 0.01},
                 {2.085963, 20, 0.05},
                 {1.959964, 1e6, 0.05},
                 {4.586894, 10, 0.001},
                 {0.5, 10, 0.627894}};
    for (size_t i = 0; i < COUNT(known); i++) {
        CHECK(within(clfi_student_p(known[i].t, known[i].degrees), known[i].p, 2e-6), "t %g of %g: %.9g", known[i].t, known[i].degrees,
              clfi_student_p(known[i].t, known[i].degrees));
        CHECK(within(clfi_student_p(-known[i].t, known[i].degrees), known[i].p, 2e-6), "t %g", -known[i].t);
        if (known[i].p < 0.5)
            CHECK(within(clfi_student_t(known[i].p, known[i].degrees), known[i].t, 1e-4 * known[i].t), "inverse of %g of %g", known[i].p,
                  known[i].degrees);
    }
}

static void ranks(void **state)
{
    (void)state;
    const double low[] = {1, 2, 3, 4}, high[] = {5, 6, 7, 8}, mixed[] = {1, 4, 5, 8}, others[] = {2, 3, 6, 7}, same[] = {3, 3, 3, 3};
    assert_true(within(clfi_rank_test(low, 4, high, 4), 2.0 / 70, 1e-12)); /* 2 of the C(8,4) ways are as far apart */
    assert_true(within(clfi_rank_test(high, 4, low, 4), 2.0 / 70, 1e-12));
    assert_true(within(clfi_rank_test(low, 3, high, 3), 2.0 / 20, 1e-12));
    assert_true(within(clfi_rank_test(mixed, 4, others, 4), 1, 1e-12));
    assert_true(within(clfi_rank_test(same, 4, same, 4), 1, 1e-12)); /* ties alone say nothing */
    assert_true(within(clfi_rank_test(low, 0, high, 4), 1, 0));
    const double five[] = {1, 2, 3, 4, 6}, more[] = {5, 7, 8, 9, 10};
    assert_true(within(clfi_rank_test(five, 5, more, 5), 4.0 / 252, 1e-12)); /* U = 1: rank sums 15 and 16, both tails */
}

static void adjusted(void **state)
{
    (void)state;
    double p[] = {0.01, 0.04, 0.03, 0.5, 0.005};
    const double want[] = {0.025, 0.05, 0.05, 0.5, 0.025};
    CHECK_OK(clfi_adjust_p(p, COUNT(p)));
    for (size_t i = 0; i < COUNT(p); i++)
        CHECK(within(p[i], want[i], 1e-12), "p[%zu] = %.9g, want %.9g", i, p[i], want[i]);
    CHECK_OK(clfi_adjust_p(p, 0));
}

/* Times of one run: a level of the run, one of each round, and noise with outliers above. */
typedef struct draw {
    double level, run, round, noise;
    size_t rounds, each;
} draw;

enum { MOST = 512, ROWS = 24, EVERY = 4 };

typedef struct drawn {
    double values[MOST];
    size_t visits[32];
    clfi_series series;
} drawn;

static void take(rng *r, const draw *d, drawn *out)
{
    const double run = d->level * exp(d->run * normal(r));
    size_t count = 0;
    for (size_t i = 0; i < d->rounds; i++) {
        const double round = run * exp(d->round * normal(r));
        out->visits[i] = d->each;
        for (size_t j = 0; j < d->each; j++)
            out->values[count++] = round * (1 + d->noise * fabs(normal(r))) * (uniform(r) < 0.03 ? 3 : 1);
    }
    out->series = (clfi_series){out->values, count, out->visits, d->rounds};
}

static void difference_is_deterministic(void **state)
{
    (void)state;
    rng r = {5};
    drawn a, b;
    clfi_difference first, second;
    const draw how = {1, 0, 0.02, 0.05, 10, 20};
    take(&r, &how, &a);
    take(&r, &how, &b);
    CHECK_OK(clfi_difference_of(&a.series, &b.series, 9, &first));
    CHECK_OK(clfi_difference_of(&a.series, &b.series, 9, &second));
    assert_memory_equal(&first, &second, sizeof first);
    assert_true(first.low < first.ratio && first.ratio < first.high && first.low > 0.5 && first.high < 2);
    CHECK_OK(clfi_difference_of(&a.series, &a.series, 9, &second));
    assert_true(second.ratio == 1 && second.p == 1 && second.p_rank == 1);
}

static void difference_of_little(void **state)
{
    (void)state;
    const double values[] = {1, 1, 1, 1}, zero_spread[] = {2, 2, 2, 2, 2, 2, 2, 2};
    const size_t one[] = {4}, wrong[] = {2, 3};
    clfi_difference d;
    const clfi_series single = {values, 4, one, 1}, broken = {values, 4, wrong, 2}, none = {values, 0, NULL, 0};
    const clfi_series guessed = {zero_spread, 8, NULL, 0}, alone = {values, 1, NULL, 0};
    CHECK_OK(clfi_difference_of(&single, &single, 1, &d));
    assert_true(d.p == 1 && d.low == 0 && isinf(d.high) && d.visits_a == 1);
    CHECK_OK(clfi_difference_of(&guessed, &guessed, 1, &d));
    const double high = exp(1.959964 * sqrt(2) * CLFI_RUN_TO_RUN); /* the run-to-run part stays: the 97.5th percentile of the normal */
    assert_true(d.visits_a == 4 && d.ratio == 1);
    CHECK(within(d.high, high, 1e-6) && within(d.low, 1 / high, 1e-6), "%.9g to %.9g, want %.9g to %.9g", d.low, d.high, 1 / high, high);
    CHECK_OK(clfi_difference_of(&alone, &guessed, 1, &d));
    assert_true(d.visits_a == 1 && d.p == 1 && d.ratio == 2);
    CHECK_FAILS(clfi_difference_of(&broken, &single, 1, &d), CLF_INVALID_ARGUMENT, "4 samples, visits have 5");
    CHECK_FAILS(clfi_difference_of(&none, &single, 1, &d), CLF_INVALID_ARGUMENT, "0 samples");
}

/* A third of them with CLF_TEST_SMALL=1: sanitizers take ten times as long. */
static size_t pairs_of(size_t count)
{
    return only_small_cases() ? count / 3 : count;
}

/* Share of intervals that hold the true ratio. */
static double coverage(const draw *how, double ratio, uint64_t seed)
{
    const size_t pairs = pairs_of(300);
    rng r = {seed};
    size_t held = 0;
    for (uint64_t i = 0; i < pairs; i++) {
        drawn a, b;
        clfi_difference d;
        draw other = *how;
        other.level *= ratio;
        take(&r, how, &a);
        take(&r, &other, &b);
        CHECK_OK(clfi_difference_of(&a.series, &b.series, i, &d));
        held += d.low <= ratio && ratio <= d.high;
    }
    return (double)held / (double)pairs;
}

static void intervals_hold(void **state)
{
    (void)state;
    static const draw hows[] = {{1, 0, 0.02, 0.05, 10, 20},   {1, 0, 0.1, 0.02, 10, 40}, {1, 0, 0, 0.2, 10, 10},
                                {1, 0.01, 0.01, 0.01, 10, 8}, {1, 0, 0.05, 0.05, 5, 4},  {1, 0, 0.03, 0.03, 10, 1}};
    for (size_t i = 0; i < COUNT(hows); i++) {
        const double same = coverage(&hows[i], 1, 100 + i), shifted = coverage(&hows[i], 1.1, 200 + i);
        CHECK(same >= 0.9 && shifted >= 0.9, "how %zu: %.3f of the intervals hold 1, %.3f hold 1.1", i, same, shifted);
    }
}

/* A result file of `count` rows; every `every`-th takes `factor` times as long (0: none). */
static void make_result(rng *r, const draw *how, size_t count, size_t every, double factor, clfi_result *out)
{
    static const char frame[] =
        "{\"schema\": \"clformer-bench\", \"schema_version\": 1, \"complete\": true, \"created\": \"now\","
        "\"settings\": {\"suites\": [], \"quick\": false, \"seed\": 1, \"min_seconds\": 0.5, \"min_samples\": 10},"
        "\"library\": {\"version\": \"0\", \"commit\": \"0\", \"clblast\": \"0\"}, \"host\": {\"cpu\": \"C\", \"logical_cores\": 1,"
        "\"memory_bytes\": 1, \"os\": \"O\", \"kernel\": \"K\"}, \"models\": [], \"devices\": [{\"id\": 0, \"name\": \"D\", \"platform\": "
        "\"P\","
        "\"vendor\": \"\", \"driver\": \"1\", \"opencl_c\": \"\", \"type\": \"CPU\", \"compute_units\": 1, \"memory_bytes\": 1,"
        "\"unified_memory\": true, \"status\": \"measured\", \"reason\": \"\"}], \"not_measured\": []}";
    json_error_t error;
    json_t *root = json_loads(frame, 0, &error), *workloads = json_array(), *rows = json_array();
    for (size_t i = 0; i < count; i++) {
        char id[16];
        drawn d;
        draw own = *how;
        clfi_summary s;
        own.level *= every && i % every == 0 ? factor : 1;
        take(r, &own, &d);
        const clfi_samples samples = {d.values, d.series.count, d.series.count};
        CHECK_OK(clfi_samples_summary(&samples, &s));
        snprintf(id, sizeof id, "w%zu", i);
        json_t *times = json_array(), *visits = json_array();
        for (size_t j = 0; j < d.series.count; j++)
            json_array_append_new(times, json_real(d.values[j]));
        for (size_t j = 0; j < d.series.visit_count; j++)
            json_array_append_new(visits, json_integer((json_int_t)d.visits[j]));
        json_array_append_new(workloads, json_pack("{s:s, s:s, s:s, s:{}, s:f, s:f, s:i, s:n}", "id", id, "suite", "ops", "op", "o", "work",
                                                   "flops", 1.0, "bytes", 1.0, "items", 0, "item"));
        json_array_append_new(rows, json_pack("{s:s, s:i, s:s, s:s, s:b, s:o, s:[], s:o, s:f, s:f, s:f, s:f, s:s, s:f, s:f}", "workload",
                                              id, "device", 0, "engine", "", "status", "ok", "verified", 1, "wall_ms", times, "device_ms",
                                              "round_samples", visits, "median_ms", s.median, "p10_ms", s.p10, "p90_ms", s.p90, "rate",
                                              s.median * 1e3, "rate_unit", "us", "max_error", 0.0, "error_bound", 0.0));
    }
    json_object_set_new(root, "workloads", workloads);
    json_object_set_new(root, "results", rows);
    CHECK_OK(clfi_result_take(root, "made", out));
}

/* How many of `pairs` comparisons claim anything; *claims rows in all. */
static size_t claiming(const draw *how, size_t rows, size_t every, double factor, size_t pairs, uint64_t seed, size_t *claims,
                       size_t *right)
{
    rng r = {seed};
    size_t claimed = 0;
    *claims = *right = 0;
    for (size_t i = 0; i < pairs; i++) {
        clfi_result a, b;
        clfi_comparison c;
        make_result(&r, how, rows, 0, 1, &a);
        make_result(&r, how, rows, every, factor, &b);
        CHECK_OK(clfi_compare(&a, &b, 0.05, &c));
        const size_t both = c.verdicts[CLFI_COMPARE_SLOWER] + c.verdicts[CLFI_COMPARE_FASTER];
        for (size_t j = 0; j < c.count; j++)
            *right += every && j % every == 0 && c.rows[j].verdict == CLFI_COMPARE_SLOWER;
        *claims += both;
        claimed += both > 0;
        clfi_comparison_free(&c);
        clfi_result_free(&a);
        clfi_result_free(&b);
    }
    return claimed;
}

/* The same build twice: in at least nine of ten comparisons of 24 rows not one row is called different. */
static void same_build(void **state)
{
    (void)state;
    static const draw hows[] = {
        {1, 0.01, 0.01, 0.03, 10, 10}, {1, 0.01, 0.1, 0.05, 10, 10}, {1, 0, 0, 0.3, 10, 10}, {1, 0.01, 0.03, 0.03, 5, 4}};
    for (size_t i = 0; i < COUNT(hows); i++) {
        const size_t pairs = pairs_of(60);
        size_t claims, right;
        const size_t claimed = claiming(&hows[i], ROWS, 0, 1, pairs, 300 + i, &claims, &right);
        CHECK(claimed * 10 <= pairs, "how %zu: %zu of %zu comparisons claim a difference, %zu rows", i, claimed, pairs, claims);
    }
}

/* A shift of a tenth in every fourth row is found, and few others are claimed beside it. */
static void shift_is_found(void **state)
{
    (void)state;
    const size_t pairs = pairs_of(21);
    const draw how = {1, 0.01, 0.01, 0.03, 10, 10};
    size_t claims, right;
    claiming(&how, ROWS, EVERY, 1.1, pairs, 400, &claims, &right);
    CHECK(right * 10 >= 9 * pairs * ROWS / EVERY, "%zu of %zu shifted rows found", right, pairs * ROWS / EVERY);
    CHECK((claims - right) * 10 <= claims, "%zu of %zu claims are wrong", claims - right, claims);
}

static void regressions(void **state)
{
    (void)state;
    const draw how = {1, 0, 0.01, 0.02, 10, 10};
    rng r = {77};
    clfi_result a, b;
    clfi_comparison c;
    make_result(&r, &how, 8, 0, 1, &a);
    make_result(&r, &how, 8, 4, 1.2, &b);
    CHECK_OK(clfi_compare(&a, &b, 0.05, &c));
    assert_true(c.count == 8 && c.verdicts[CLFI_COMPARE_SLOWER] == 2 && c.regressions == 2 && c.rows[0].is_regression);
    clfi_comparison_free(&c);
    CHECK_OK(clfi_compare(&a, &b, 0.5, &c)); /* slower, but within what is allowed */
    assert_true(c.verdicts[CLFI_COMPARE_SLOWER] == 2 && c.regressions == 0);
    clfi_comparison_free(&c);
    CHECK_OK(clfi_compare(&b, &a, 0.05, &c));
    assert_true(c.verdicts[CLFI_COMPARE_FASTER] == 2 && c.regressions == 0);
    clfi_comparison_free(&c);
    b.rows[1].status = CLFI_RESULT_FAILED;
    CHECK_OK(clfi_compare(&a, &b, 0.5, &c)); /* what no longer runs is a regression, however much is allowed */
    assert_true(c.rows[1].verdict == CLFI_COMPARE_LOST && c.regressions == 1 && c.verdicts[CLFI_COMPARE_LOST] == 1);
    clfi_comparison_free(&c);
    clfi_result_free(&a);
    clfi_result_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(student),
        cmocka_unit_test(ranks),
        cmocka_unit_test(adjusted),
        cmocka_unit_test(difference_is_deterministic),
        cmocka_unit_test(difference_of_little),
        cmocka_unit_test(intervals_hold),
        cmocka_unit_test(same_build),
        cmocka_unit_test(shift_is_found),
        cmocka_unit_test(regressions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
