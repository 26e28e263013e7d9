/* SPDX-License-Identifier: MIT */
/* Prints a comparison as a table or as JSON. */
#include "report/compare.h"

#include <math.h>
#include <string.h>

#include "base/str.h"
#include "io/json.h"

static const clfi_result_workload *workload_of(const clfi_comparison *c, const clfi_compare_row *row)
{
    return &c->a->workloads[row->a->workload];
}

static bool is_compared(const clfi_compare_row *row)
{
    return row->verdict <= CLFI_COMPARE_SLOWER;
}

static void print_file(const char *letter, const clfi_result *r, FILE *stream)
{
    fprintf(stream, "%s  %s: %s, clformer %s (%s), CLBlast %s%s%s\n", letter, r->path, r->created, r->library.version, r->library.commit,
            r->library.clblast, r->settings.quick ? ", quick" : "", r->complete ? "" : ", INCOMPLETE: the run was interrupted");
}

static clf_status append_value(const json_t *value, clf_str *out)
{
    if (!value)
        return clfi_str_append_text(out, "not set");
    return clfi_json_write(value, JSON_COMPACT | JSON_REAL_PRECISION(9), "a difference", out);
}

/* Appends lines such as `host.cpu: "Zen" in a, "Core" in b`. */
static clf_status append_differences(const clfi_comparison *c, clf_str *out)
{
    json_t *one;
    size_t i;
    json_array_foreach (c->differences, i, one) {
        CLF_TRY(clfi_str_appendf(out, "%s: ", json_string_value(json_object_get(one, "what"))));
        CLF_TRY(append_value(json_object_get(one, "a"), out));
        CLF_TRY(clfi_str_append_text(out, " in a, "));
        CLF_TRY(append_value(json_object_get(one, "b"), out));
        CLF_TRY(clfi_str_append_text(out, " in b\n"));
    }
    return CLF_OK;
}

static void print_device(const clfi_comparison *c, size_t index, FILE *stream)
{
    const clfi_result_device *a = &c->a->devices[index], *b = &c->b->devices[c->device_in_b[index]];
    fprintf(stream, "\n%s, %s, driver %s", a->name, a->platform, a->driver);
    if (strcmp(a->name, b->name) != 0 || strcmp(a->platform, b->platform) != 0)
        fprintf(stream, "\n  in b: %s, %s, driver %s", b->name, b->platform, b->driver);
    else if (strcmp(a->driver, b->driver) != 0)
        fprintf(stream, "; in b driver %s", b->driver);
    fputc('\n', stream);
}

/* Width of the first column: bytes of the longest "<workload> <engine>", at least those of the heading. */
static int name_width(const clfi_comparison *c, size_t device)
{
    size_t width = 8;
    for (size_t i = 0; i < c->count; i++) {
        const size_t length = strlen(workload_of(c, &c->rows[i])->id) + 1 + strlen(c->rows[i].a->engine);
        if (c->rows[i].a->device == device && length > width)
            width = length;
    }
    return (int)width;
}

static void print_row(const clfi_comparison *c, const clfi_compare_row *row, int width, FILE *stream)
{
    const clfi_difference *d = &row->difference;
    const char *id = workload_of(c, row)->id, *engine = row->a->engine, *mark = row->is_regression ? "  REGRESSION" : "";
    const int gap = width - (int)strlen(id) - (int)strlen(engine);
    fprintf(stream, "  %s %s%*s", id, engine, gap > 1 ? gap - 1 : 0, "");
    if (!is_compared(row)) {
        fprintf(stream, "  %s%s%s%s\n", clfi_compare_verdict_name(row->verdict), row->reason ? ": " : "", row->reason ? row->reason : "",
                mark);
        return;
    }
    const bool few = d->visits_a < CLFI_VISITS_MIN || d->visits_b < CLFI_VISITS_MIN;
    char interval[48] = "unknown";
    if (isfinite(d->high))
        snprintf(interval, sizeof interval, "%.3f to %.3f", d->low, d->high);
    fprintf(stream, "%12.5g%12.5g%8.3f  %-16s%8.3f  %s%s%s\n", d->median_a, d->median_b, d->ratio, interval, d->p_rank,
            clfi_compare_verdict_name(row->verdict), few ? " (too few rounds)" : "", mark);
}

/* Geometric mean of the ratios on a device; NaN if it has none. */
static double geometric_mean(const clfi_comparison *c, size_t device)
{
    double sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < c->count; i++)
        if (c->rows[i].a->device == device && is_compared(&c->rows[i])) {
            sum += log(c->rows[i].difference.ratio);
            count++;
        }
    return count ? exp(sum / (double)count) : NAN;
}

static void print_rows(const clfi_comparison *c, size_t device, FILE *stream)
{
    const int width = name_width(c, device);
    const double mean = geometric_mean(c, device);
    fprintf(stream, "  %-*s%12s%12s%8s  %-16s%8s  %s\n", width, "workload", "a [ms]", "b [ms]", "b / a", "95 % interval", "rank p", "b is");
    for (size_t i = 0; i < c->count; i++)
        if (c->rows[i].a->device == device)
            print_row(c, &c->rows[i], width, stream);
    if (isfinite(mean))
        fprintf(stream, "  %-*s%12s%12s%8.3f\n", width, "geometric mean", "", "", mean);
}

static void print_tables(const clfi_comparison *c, FILE *stream)
{
    for (size_t i = 0; i < c->a->device_count; i++) {
        bool any = false;
        for (size_t j = 0; j < c->count; j++)
            any = any || c->rows[j].a->device == i;
        if (any) {
            print_device(c, i, stream);
            print_rows(c, i, stream);
        }
    }
    fprintf(stream, "\n%zu rows: %zu faster, %zu slower, %zu no difference", c->count, c->verdicts[CLFI_COMPARE_FASTER],
            c->verdicts[CLFI_COMPARE_SLOWER], c->verdicts[CLFI_COMPARE_SAME]);
    for (int v = CLFI_COMPARE_LOST; v <= CLFI_COMPARE_NEITHER; v++)
        if (c->verdicts[v])
            fprintf(stream, ", %zu %s", c->verdicts[v], clfi_compare_verdict_name((clfi_compare_verdict)v));
    if (c->only_in_a || c->only_in_b)
        fprintf(stream, "; %zu only in a, %zu only in b", c->only_in_a, c->only_in_b);
    fprintf(stream,
            "\nWall time, medians; intervals from a bootstrap of whole rounds, widened for differences between runs. At most %.0f %% of "
            "the\nclaims are expected to be false. \"no difference\": none could be shown.\n",
            100 * CLFI_COMPARE_LEVEL);
}

clf_status clfi_comparison_print(const clfi_comparison *c, FILE *stream)
{
    clf_str differences = CLF_STR_INIT;
    clf_status st = append_differences(c, &differences);
    if (st == CLF_OK) {
        print_file("a", c->a, stream);
        print_file("b", c->b, stream);
        fputs(clfi_str_text(&differences), stream);
        print_tables(c, stream);
    }
    clfi_str_free(&differences);
    return st;
}

static json_t *file_json(const clfi_result *r)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:b, s:b}", "file", r->path, "created", r->created, "version", r->library.version, "commit",
                     r->library.commit, "clblast", r->library.clblast, "quick", r->settings.quick, "complete", r->complete);
}

static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

/* The facts that have a better direction and a number in both files, each as {"less_is_better", "a", "b"}. */
static json_t *facts_json(const clfi_compare_row *row)
{
    json_t *object = json_object();
    for (size_t i = 0; row->b && i < clfi_row_fact_count; i++) {
        const clfi_row_fact *fact = &clfi_row_fact_list[i];
        const double a = clfi_row_fact_get(&row->a->facts, fact), b = clfi_row_fact_get(&row->b->facts, fact);
        if (fact->better != CLFI_FACT_NEITHER && clfi_row_fact_is_known(&row->a->facts, fact) &&
            clfi_row_fact_is_known(&row->b->facts, fact))
            json_object_set_new(object, fact->key,
                                json_pack("{s:b, s:f, s:f}", "less_is_better", fact->better == CLFI_FACT_LESS, "a", a, "b", b));
    }
    return object;
}

static json_t *row_json(const clfi_comparison *c, const clfi_compare_row *row)
{
    const clfi_difference *d = &row->difference;
    const clfi_result_device *a = &c->a->devices[row->a->device], *b = &c->b->devices[c->device_in_b[row->a->device]];
    json_t *object = json_pack("{s:s, s:s, s:I, s:I, s:s, s:b, s:o}", "workload", workload_of(c, row)->id, "engine", row->a->engine,
                               "device_a", (json_int_t)a->id, "device_b", (json_int_t)b->id, "verdict",
                               clfi_compare_verdict_name(row->verdict), "regression", row->is_regression, "facts", facts_json(row));
    if (!object)
        return NULL;
    json_t *rest = is_compared(row)
                       ? json_pack("{s:f, s:f, s:f, s:[o, o], s:f, s:f, s:f, s:I, s:I}", "median_a_ms", d->median_a, "median_b_ms",
                                   d->median_b, "ratio", d->ratio, "interval", number(d->low), number(d->high), "p", d->p, "p_adjusted",
                                   row->p, "p_rank", d->p_rank, "rounds_a", (json_int_t)d->visits_a, "rounds_b", (json_int_t)d->visits_b)
                       : json_pack("{s:s}", "reason", row->reason ? row->reason : "");
    const bool whole = rest && json_object_update(object, rest) == 0;
    json_decref(rest);
    if (whole)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *devices_json(const clfi_comparison *c)
{
    json_t *list = json_array();
    for (size_t i = 0; i < c->a->device_count; i++) {
        const clfi_result_device *a = &c->a->devices[i];
        if (c->device_in_b[i] == c->b->device_count)
            continue;
        const clfi_result_device *b = &c->b->devices[c->device_in_b[i]];
        json_array_append_new(list, json_pack("{s:{s:I, s:s, s:s, s:s}, s:{s:I, s:s, s:s, s:s}, s:o}", "a", "id", (json_int_t)a->id, "name",
                                              a->name, "platform", a->platform, "driver", a->driver, "b", "id", (json_int_t)b->id, "name",
                                              b->name, "platform", b->platform, "driver", b->driver, "geometric_mean",
                                              number(geometric_mean(c, i))));
    }
    return list;
}

clf_status clfi_comparison_json(const clfi_comparison *c, json_t **out)
{
    json_t *rows = json_array();
    bool whole = rows != NULL;
    for (size_t i = 0; whole && i < c->count; i++)
        whole = json_array_append_new(rows, row_json(c, &c->rows[i])) == 0;
    *out = json_pack("{s:s, s:i, s:o, s:o, s:O, s:o, s:o, s:{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}}", "schema", "clformer-compare",
                     "schema_version", 1, "a", file_json(c->a), "b", file_json(c->b), "differences", c->differences, "devices",
                     devices_json(c), "rows", rows, "summary", "rows", (json_int_t)c->count, "faster",
                     (json_int_t)c->verdicts[CLFI_COMPARE_FASTER], "slower", (json_int_t)c->verdicts[CLFI_COMPARE_SLOWER], "no_difference",
                     (json_int_t)c->verdicts[CLFI_COMPARE_SAME], "lost", (json_int_t)c->verdicts[CLFI_COMPARE_LOST], "gained",
                     (json_int_t)c->verdicts[CLFI_COMPARE_GAINED], "only_in_a", (json_int_t)c->only_in_a, "only_in_b",
                     (json_int_t)c->only_in_b, "regressions", (json_int_t)c->regressions);
    if (*out && whole)
        return CLF_OK;
    json_decref(*out);
    CLF_FAIL(CLF_OUT_OF_MEMORY, "comparison as JSON: not enough memory");
}
