/* SPDX-License-Identifier: MIT */
/* bench_op [--filter TEXT] [--engine NAME] [--quick] [--rounds N] [--json]
 *
 * The ops of the catalogue in one process: each workload whose name has TEXT, on each engine (or the one named), verified first; the
 * engines of a workload take turns in every round. Beside linear layers stands OpenBLAS, where the build found it, as the median over
 * rounds of the ratio within the round. Device: CLF_DEVICE. What `clformer bench --suite ops` adds is several devices, their limits and
 * the record. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support/measure.h"
#include "support/openblas.h"

typedef struct settings {
    clf_context *context;
    const char *engine;
    size_t rounds;
    bool as_json;
} settings;

static void print_row(const settings *s, const bench_row *row, const clfi_samples *peer)
{
    const clfi_workload *workload = row->workload;
    const clfi_summary wall = bench_summary(&row->wall_ms), ratio = bench_summary(peer);
    const double gflops = workload->flops / wall.median / 1e6, gbps = workload->bytes / wall.median / 1e6;
    if (s->as_json) {
        json_t *record = bench_row_json(row, s->context);
        json_object_set_new(record, "workload", json_string(workload->id));
        json_object_set_new(record, "engine", json_string(row->engine));
        if (workload->flops > 0)
            json_object_set_new(record, "gflops", json_real(gflops));
        json_object_set_new(record, "gbps", json_real(gbps));
        if (peer->count)
            json_object_set_new(record, "openblas_ratio", json_real(ratio.median));
        bench_print_json(record);
        return;
    }
    printf("%-64s %-12s %9.3f ms  (%.3f, %.3f)  ", workload->id, row->engine, wall.median, wall.p10, wall.p90);
    printf(workload->flops > 0 ? "%8.1f GFLOP/s" : "%8.1f GB/s", workload->flops > 0 ? gflops : gbps);
    if (peer->count)
        printf("  OpenBLAS takes %.2f x", ratio.median);
    putchar('\n');
    fflush(stdout);
}

static void bench_workload(const settings *s, const clfi_workload *workload)
{
    clfi_engine_list engines;
    bench_row rows[CLFI_ENGINE_MAX];
    clfi_samples peers[CLFI_ENGINE_MAX] = {CLFI_SAMPLES_INIT};
    size_t count = 0;
    bench_openblas *openblas = bench_openblas_create(workload);
    bench_check(workload->type->engines(workload, s->context, &engines), workload->id);
    for (size_t i = 0; i < engines.count; i++)
        if (!s->engine || strcmp(s->engine, engines.names[i]) == 0)
            count += bench_row_open(workload, s->context, engines.names[i], &rows[count]);
    for (size_t i = 0; i < count; i++)
        bench_row_measure(&rows[i], 1, 0, 1);
    for (size_t round = 0; round < s->rounds; round++) {
        for (size_t i = 0; i < count; i++) {
            bench_row_sample(&rows[i]);
            if (openblas)
                BENCH_OK(clfi_samples_add(&peers[i], bench_openblas_sample(openblas) / rows[i].wall_ms.values[rows[i].wall_ms.count - 1]));
        }
    }
    for (size_t i = 0; i < count; i++) {
        print_row(s, &rows[i], &peers[i]);
        bench_row_close(&rows[i]);
        clfi_samples_free(&peers[i]);
    }
    bench_openblas_destroy(openblas);
}

int main(int argc, char **argv)
{
    bench_arguments(argc, argv, 0, "bench_op [--filter TEXT] [--engine NAME] [--quick] [--rounds N] [--json]");
    const char *filter = bench_option(argc, argv, "--filter");
    settings s = {.engine = bench_option(argc, argv, "--engine"), .rounds = bench_size(argc, argv, "--rounds", 15),
                  .as_json = bench_flag(argc, argv, "--json")};
    clfi_workload_list list = {0};
    BENCH_OK(clf_context_create(NULL, &s.context));
    BENCH_OK(clfi_op_workloads(&list, bench_flag(argc, argv, "--quick")));
    for (size_t i = 0; i < list.count; i++)
        if (!filter || strstr(list.items[i].id, filter))
            bench_workload(&s, &list.items[i]);
    clfi_workload_list_free(&list);
    clf_context_destroy(s.context);
    return 0;
}
