/* SPDX-License-Identifier: MIT */
/* Prints results as tables. */
#include "bench/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "bench/figures.h"

enum { DEVICE_WIDTH = 22, MOST_REASON = 160 /* the result file has the whole text */ };

typedef struct line {
    const clfi_row *row;
    clfi_figures figures; /* of rows with samples */
    bool has_figures;
} line;

static const char *fact(const clfi_bench *bench, size_t device, const char *key)
{
    const char *text = json_string_value(json_object_get(bench->devices[device].facts, key));
    return text ? text : "";
}

static long long device_id(const clfi_bench *bench, size_t device)
{
    return (long long)json_integer_value(json_object_get(bench->devices[device].facts, "id"));
}

/* Whether "device:engine" of the base line names this row. */
static bool matches(const clfi_bench *bench, const clfi_row *row, const char *baseline)
{
    const char *colon = strrchr(baseline, ':');
    const size_t length = colon ? (size_t)(colon - baseline) : strlen(baseline);
    char device[128];
    snprintf(device, sizeof device, "%.*s", (int)(length < sizeof device ? length : sizeof device - 1), baseline);
    if (colon && strcmp(colon + 1, row->engine) != 0)
        return false;
    if (device[0] && device[strspn(device, "0123456789")] == '\0')
        return strtoll(device, NULL, 10) == device_id(bench, row->device);
    return strcasestr(fact(bench, row->device, "name"), device) || strcasestr(fact(bench, row->device, "platform"), device);
}

clf_status clfi_table_check_baseline(const clfi_bench *bench, const char *baseline)
{
    for (size_t i = 0; i < bench->row_count; i++)
        if (matches(bench, &bench->rows[i], baseline))
            return CLF_OK;
    CLF_FAIL(CLF_INVALID_ARGUMENT,
             "--baseline: expected a device of this run and an engine, as in 0:packed, found \"%s\", which no row has", baseline);
}

/* The median of the base line's row; NaN: the workload has no such row. */
static double baseline_of(const clfi_bench *bench, const line *lines, size_t count, const char *baseline)
{
    double found = NAN;
    for (size_t i = 0; i < count; i++) {
        if (!lines[i].has_figures)
            continue;
        const double median = lines[i].figures.wall.median;
        if (baseline && matches(bench, lines[i].row, baseline))
            return median;
        if (!baseline && !(median <= found))
            found = median;
    }
    return found;
}

/* Writes a time with three significant digits and its unit. */
static const char *time_text(double ms, char out[16])
{
    static const struct {
        const char *name;
        double ms;
    } units[] = {{"s", 1e3}, {"ms", 1}, {"us", 1e-3}, {"ns", 1e-6}};
    size_t i = 0;
    while (i + 1 < COUNT(units) && ms < units[i].ms)
        i++;
    const double value = ms / units[i].ms;
    snprintf(out, 16, "%.*f %s", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, units[i].name);
    return out;
}

/* Length of the singular: "token" of "tokens", "launch" of "launches". */
static int singular(const char *items)
{
    const size_t length = strlen(items);
    const bool has_es = length > 4 && strcmp(items + length - 4, "ches") == 0;
    return (int)(length - (has_es ? 2 : 1));
}

/* Prints ", 0.21 J/token" if energy was measured. */
static void print_energy(FILE *out, const clfi_workload *workload, const clfi_row_facts *facts)
{
    const bool has_items = isfinite(facts->joules_per_item) && workload->item;
    const int length = has_items ? singular(workload->item) : 3;
    if (isfinite(facts->joules_per_run))
        fprintf(out, ", %.3g J/%.*s", has_items ? facts->joules_per_item : facts->joules_per_run, length,
                has_items ? workload->item : "run");
}

/* Prints ", longest launch 40 ms, 52 ms by estimate" if launches have a bound. */
static void print_longest(FILE *out, const clfi_row_facts *facts)
{
    char measured[16], estimate[16];
    if (isfinite(facts->longest_estimate_ms) && isfinite(facts->longest_launch_ms))
        fprintf(out, ", longest launch %s, %s by estimate", time_text(facts->longest_launch_ms, measured),
                time_text(facts->longest_estimate_ms, estimate));
}

static void print_figures(FILE *out, const clfi_figures *f, double base)
{
    char median[16], p10[16], p90[16], rate[40], percent[16] = "-", ratio[24] = "-";
    if (strcmp(f->unit, "us") == 0) /* the figure is the time itself */
        snprintf(rate, sizeof rate, "-");
    else
        snprintf(rate, sizeof rate, "%.*f %s", f->rate < 10 ? 2 : f->rate < 1000 ? 1 : 0, f->rate, f->unit);
    if (isfinite(f->percent))
        snprintf(percent, sizeof percent, "%.0f %%", f->percent);
    if (isfinite(base))
        snprintf(ratio, sizeof ratio, "%.2fx", base / f->wall.median);
    fprintf(out, "%10s %10s - %-9s%c %8s %17s %6s  verified", time_text(f->wall.median, median), time_text(f->wall.p10, p10),
            time_text(f->wall.p90, p90), f->is_noisy ? '~' : ' ', ratio, rate, percent);
}

/* The number of bytes of the reason that are printed: whole UTF-8 characters. */
static int reason_bytes(const clfi_row *row)
{
    int count = row->reason ? (int)strnlen(row->reason, MOST_REASON) : 0;
    while (count > 0 && ((unsigned char)row->reason[count] & 0xc0) == 0x80)
        count--;
    return count;
}

static void print_line(FILE *out, const clfi_bench *bench, const line *l, double base, int engine_width)
{
    const clfi_row *row = l->row;
    fprintf(out, "  %-2lld %-*.*s %-*s ", device_id(bench, row->device), DEVICE_WIDTH, DEVICE_WIDTH, fact(bench, row->device, "name"),
            engine_width, row->engine[0] ? row->engine : "-");
    if (l->has_figures) {
        print_figures(out, &l->figures, base);
        print_energy(out, &bench->workloads->items[row->workload], &row->facts);
        print_longest(out, &row->facts);
        fputc('\n', out);
    } else if (row->status == CLFI_ROW_FAILED)
        fprintf(out, "FAILED: %.*s\n", reason_bytes(row), row->reason);
    else if (row->status == CLFI_ROW_UNSUPPORTED)
        fprintf(out, "unsupported: %.*s\n", reason_bytes(row), row->reason);
    else
        fprintf(out, "not measured: interrupted\n");
}

/* Orders the fastest lines first, then lines without figures by device. */
static int by_rank(const void *a, const void *b)
{
    const line *x = a, *y = b;
    if (x->has_figures != y->has_figures)
        return x->has_figures ? -1 : 1;
    if (x->has_figures && x->figures.wall.median != y->figures.wall.median)
        return x->figures.wall.median < y->figures.wall.median ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static clf_status print_workload(const clfi_bench *bench, size_t workload, const char *baseline, line *lines, int engine_width, FILE *out)
{
    size_t count = 0;
    for (size_t i = 0; i < bench->row_count; i++) {
        const clfi_row *row = &bench->rows[i];
        if (row->workload != workload)
            continue;
        line *l = &lines[count++];
        *l = (line){.row = row};
        l->has_figures = row->status == CLFI_ROW_OK && row->wall_ms.count > 0;
        if (l->has_figures)
            CLF_TRY(clfi_row_figures(bench, row, &l->figures));
    }
    if (count == 0)
        return CLF_OK;
    qsort(lines, count, sizeof *lines, by_rank);
    fprintf(out, " %s\n", bench->workloads->items[workload].id);
    const double base = baseline_of(bench, lines, count, baseline);
    for (size_t i = 0; i < count; i++)
        print_line(out, bench, &lines[i], base, engine_width);
    return CLF_OK;
}

/* Width of the longest engine's name. */
static int widest_engine(const clfi_bench *bench)
{
    size_t width = 1;
    for (size_t i = 0; i < bench->row_count; i++) {
        const size_t length = strlen(bench->rows[i].engine);
        width = length > width ? length : width;
    }
    return (int)width;
}

static void print_devices(const clfi_bench *bench, FILE *out)
{
    for (size_t i = 0; i < bench->device_count; i++) {
        const json_t *facts = bench->devices[i].facts;
        fprintf(out, "device %lld: %s (%s; %s)%s%s\n", device_id(bench, i), json_string_value(json_object_get(facts, "name")),
                fact(bench, i, "platform"), fact(bench, i, "driver"), bench->devices[i].reason ? "\n  unsupported: " : "",
                bench->devices[i].reason ? bench->devices[i].reason : "");
    }
}

static bool is_first_of_op(const clfi_workload_list *list, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(list->items[i].op, list->items[index].op) == 0 && strcmp(list->items[i].suite, list->items[index].suite) == 0)
            return false;
    return true;
}

clf_status clfi_table_print(const clfi_bench *bench, const char *baseline, FILE *out)
{
    const clfi_workload_list *list = bench->workloads;
    line *lines;
    CLF_TRY(clfi_alloc(bench->row_count, sizeof *lines, "table", &lines));
    clf_status st = CLF_OK;
    const int engine_width = widest_engine(bench), first_width = 6 + DEVICE_WIDTH + engine_width;
    print_devices(bench, out);
    for (size_t i = 0; i < list->count; i++) {
        if (!is_first_of_op(list, i))
            continue;
        fprintf(out, "\n%-*s %10s %10s - %-9s  %8s %17s %6s\n", first_width, list->items[i].op, "median", "p10", "p90", "x", "rate",
                "limit");
        for (size_t j = i; st == CLF_OK && j < list->count; j++)
            if (strcmp(list->items[j].op, list->items[i].op) == 0 && strcmp(list->items[j].suite, list->items[i].suite) == 0)
                st = print_workload(bench, j, baseline, lines, engine_width, out);
    }
    free(lines);
    return st;
}
