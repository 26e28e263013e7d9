/* SPDX-License-Identifier: MIT */
/* Pairs the rows of two result files and decides which are faster or slower. */
#include "report/compare.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "report/same_work.h"

static bool same_device(const clfi_result_device *a, const clfi_result_device *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->platform, b->platform) == 0;
}

static clf_status pair_devices(clfi_comparison *c)
{
    const size_t none = c->b->device_count;
    bool *is_taken;
    CLF_TRY(clfi_alloc(none, sizeof *is_taken, "devices", &is_taken));
    for (size_t i = 0; i < c->a->device_count; i++)
        c->device_in_b[i] = none;
    for (int by_order = 0; by_order < 2; by_order++)
        for (size_t i = 0; i < c->a->device_count; i++)
            for (size_t j = 0; c->device_in_b[i] == none && j < none; j++)
                if (!is_taken[j] && (by_order || same_device(&c->a->devices[i], &c->b->devices[j]))) {
                    c->device_in_b[i] = j;
                    is_taken[j] = true;
                }
    free(is_taken);
    return CLF_OK;
}

static bool is_measured(const clfi_result_row *row)
{
    return row && row->status == CLFI_RESULT_OK && row->wall_ms.count > 0;
}

/* Returns b's row for a row of a, or NULL. If b could not list the engines of the workload, it has one row without an engine, which stands
 * for all of them. */
static const clfi_result_row *counterpart(const clfi_comparison *c, const clfi_result_row *a, size_t workload)
{
    const clfi_result_row *own = clfi_result_find_row(c->b, workload, c->device_in_b[a->device], a->engine);
    const clfi_result_row *of_all = own ? own : clfi_result_find_row(c->b, workload, c->device_in_b[a->device], "");
    return own || !is_measured(of_all) ? of_all : NULL;
}

static const char *lost_reason(const clfi_comparison *c, const clfi_compare_row *row)
{
    const clfi_result_device *device = &c->b->devices[c->device_in_b[row->a->device]];
    if (row->b && row->b->reason)
        return row->b->reason;
    if (device->reason)
        return device->reason;
    return c->b->complete ? "b has no row of this engine" : "the run of b was interrupted before it";
}

/* Counts the rows of b without a partner. It marks rows because several rows of a may share one row of b. */
static clf_status count_unpaired(clfi_comparison *c)
{
    bool *is_paired;
    CLF_TRY(clfi_alloc(c->b->row_count, sizeof *is_paired, "compared rows", &is_paired));
    for (size_t i = 0; i < c->count; i++)
        if (c->rows[i].b)
            is_paired[c->rows[i].b - c->b->rows] = true;
    for (size_t i = 0; i < c->b->row_count; i++)
        c->only_in_b += !is_paired[i];
    free(is_paired);
    return CLF_OK;
}

static clf_status pair_rows(clfi_comparison *c)
{
    CLF_TRY(clfi_alloc(c->a->row_count, sizeof *c->rows, "compared rows", &c->rows));
    for (size_t i = 0; i < c->a->row_count; i++) {
        const clfi_result_row *a = &c->a->rows[i];
        const size_t workload = clfi_result_find_workload(c->b, c->a->workloads[a->workload].id);
        if (workload == c->b->workload_count || c->device_in_b[a->device] == c->b->device_count)
            continue;
        const clfi_result_row *b = counterpart(c, a, workload);
        if (b || is_measured(a))
            c->rows[c->count++] = (clfi_compare_row){.a = a, .b = b};
    }
    c->only_in_a = c->a->row_count - c->count;
    CLF_TRY(count_unpaired(c));
    if (c->count == 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "%s and %s have no result in common: expected a workload that both list", c->a->path, c->b->path);
    return CLF_OK;
}

static clfi_series series_of(const clfi_result_row *row)
{
    return (clfi_series){row->wall_ms.values, row->wall_ms.count, row->round_samples, row->round_count};
}

/* Computes the difference of each row that both sides measured, and sets verdict and reason of the others. p gets the *tested p values, in
 * the order of the rows. */
static clf_status measure(clfi_comparison *c, double *p, size_t *tested)
{
    for (size_t i = 0; i < c->count; i++) {
        clfi_compare_row *row = &c->rows[i];
        if (!is_measured(row->a) || !is_measured(row->b)) {
            row->verdict = is_measured(row->a) ? CLFI_COMPARE_LOST : is_measured(row->b) ? CLFI_COMPARE_GAINED : CLFI_COMPARE_NEITHER;
            row->reason = is_measured(row->b) ? row->a->reason : lost_reason(c, row);
            continue;
        }
        const clfi_series a = series_of(row->a), b = series_of(row->b);
        CLF_TRY(clfi_difference_of(&a, &b, i, &row->difference));
        p[(*tested)++] = row->difference.p;
    }
    return CLF_OK;
}

static clfi_compare_verdict judge(const clfi_compare_row *row)
{
    const clfi_difference *d = &row->difference;
    if (row->p >= CLFI_COMPARE_LEVEL || d->p_rank >= CLFI_COMPARE_LEVEL || d->visits_a < CLFI_VISITS_MIN || d->visits_b < CLFI_VISITS_MIN)
        return CLFI_COMPARE_SAME;
    return d->ratio > 1 ? CLFI_COMPARE_SLOWER : CLFI_COMPARE_FASTER;
}

static clf_status judge_all(clfi_comparison *c)
{
    double *p;
    size_t tested = 0, next = 0;
    CLF_TRY(clfi_alloc(c->count, sizeof *p, "p values", &p));
    clf_status st = measure(c, p, &tested);
    if (st == CLF_OK)
        st = clfi_adjust_p(p, tested);
    for (size_t i = 0; st == CLF_OK && i < c->count; i++) {
        clfi_compare_row *row = &c->rows[i];
        if (row->verdict == CLFI_COMPARE_SAME) { /* both sides measured it, so it has a p value */
            row->p = p[next++];
            row->verdict = judge(row);
        }
        row->is_regression =
            row->verdict == CLFI_COMPARE_LOST || (row->verdict == CLFI_COMPARE_SLOWER && row->difference.ratio > 1 + c->threshold);
        c->verdicts[row->verdict]++;
        c->regressions += row->is_regression;
    }
    free(p);
    return st;
}

clf_status clfi_compare(const clfi_result *a, const clfi_result *b, double threshold, clfi_comparison *out)
{
    *out = (clfi_comparison){.a = a, .b = b, .threshold = threshold};
    CLF_TRY(clfi_check_same_work(a, b));
    CLF_TRY(clfi_alloc(a->device_count, sizeof *out->device_in_b, "devices", &out->device_in_b));
    CLF_TRY(pair_devices(out));
    CLF_TRY(clfi_compare_settings(out));
    CLF_TRY(pair_rows(out));
    return judge_all(out);
}

void clfi_comparison_free(clfi_comparison *comparison)
{
    free(comparison->device_in_b);
    json_decref(comparison->differences);
    free(comparison->rows);
    *comparison = (clfi_comparison){0};
}

const char *clfi_compare_verdict_name(clfi_compare_verdict verdict)
{
    static const char *const names[] = {"no difference", "faster", "slower", "lost", "gained", "not measured"};
    return names[verdict];
}
