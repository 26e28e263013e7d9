/* SPDX-License-Identifier: MIT */
/* bench_peak [--samples N] [--json]: what the device can do at most. */
#include <stdio.h>

#include "support/bench.h"
#include "support/peak.h"

int main(int argc, char **argv)
{
    static const struct {
        const char *name, *unit;
        double (*sample)(bench_peak *);
    } limits[] = {{"fma", "GFLOP/s", bench_peak_gflops}, {"read", "GB/s", bench_peak_read_gbs}, {"copy", "GB/s", bench_peak_copy_gbs}};
    const size_t samples = bench_size(argc, argv, "--samples", 21);
    clf_context *context;
    BENCH_OK(clf_context_create(NULL, &context));
    bench_peak *peak = bench_peak_create(context, (bench_clock){0});
    bench_samples values[3] = {{0}};
    for (size_t s = 0; s < samples + 1; s++)
        for (int i = 0; i < 3; i++) {
            const double value = limits[i].sample(peak);
            if (s > 0) /* the first one warms up */
                bench_samples_add(&values[i], value);
        }
    json_t *record = bench_device_json(context);
    for (int i = 0; i < 3; i++) {
        const double median = bench_quantile(&values[i], 0.5), low = bench_quantile(&values[i], 0.1), high = bench_quantile(&values[i], 0.9);
        json_object_set_new(record, limits[i].name, json_pack("{s:f,s:f,s:f,s:s}", "median", median, "p10", low, "p90", high, "unit", limits[i].unit));
        if (!bench_flag(argc, argv, "--json"))
            printf("%-5s %8.1f %s  (p10 %.1f, p90 %.1f)\n", limits[i].name, median, limits[i].unit, low, high);
        bench_samples_free(&values[i]);
    }
    if (bench_flag(argc, argv, "--json"))
        bench_print_json(record);
    else
        json_decref(record);
    bench_peak_destroy(peak);
    clf_context_destroy(context);
    return 0;
}
