/* SPDX-License-Identifier: MIT */
/* bench_op [--filter TEXT] [--engine NAME|default] [--quick] [--rounds N] [--list] [--json]
 *
 * Measures ops of the catalogue in one process, each workload whose id contains TEXT. It runs on every engine, on the named one, or on
 * the one that the library chooses (default). Results are verified first. In every round the engines of a workload take turns, and each
 * engine takes turns with a peer. Linear layers have OpenBLAS as peer if the build found it, row kernels a copy of as many bytes, and
 * einsum's attention equations the plain product. Prints the ratio of the times within a round: the median over rounds, and the 10 % and
 * 90 % quantiles. Device: CLF_DEVICE. `clformer bench --suite ops` adds several devices, their limits and a result file. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support/measure.h"
#include "support/peer.h"

typedef struct settings {
    clf_context *context;
    const char *engine;
    size_t rounds;
    bool as_json;
} settings;

static void print_row(const settings *s, const bench_row *row, const bench_peer *peer)
{
    const clfi_workload *workload = row->workload;
    const clfi_summary wall = bench_summary(&row->wall_ms), ratio = bench_summary(&peer->ratios);
    const double gflops = workload->flops / wall.median / 1e6, gbps = workload->bytes / wall.median / 1e6;
    const char *engine = row->engine[0] ? row->engine : "default";
    if (s->as_json) {
        json_t *record = bench_row_json(row, s->context);
        json_object_set_new(record, "workload", json_string(workload->id));
        json_object_set_new(record, "engine", json_string(engine));
        if (workload->flops > 0)
            json_object_set_new(record, "gflops", json_real(gflops));
        json_object_set_new(record, "gbps", json_real(gbps));
        if (peer->name)
            json_object_set_new(record, "peer",
                                json_pack("{s:s, s:f, s:f, s:f}", "name", peer->name, "median_ratio", ratio.median, "p10_ratio", ratio.p10,
                                          "p90_ratio", ratio.p90));
        bench_print_json(record);
        return;
    }
    printf("%-64s %-12s %9.3f ms  (%.3f, %.3f)  ", workload->id, engine, wall.median, wall.p10, wall.p90);
    printf(workload->flops > 0 ? "%8.1f GFLOP/s" : "%8.1f GB/s", workload->flops > 0 ? gflops : gbps);
    if (peer->name)
        printf("  %s takes %.2f x (%.2f, %.2f)", peer->name, ratio.median, ratio.p10, ratio.p90);
    putchar('\n');
    fflush(stdout);
}

static void bench_workload(const settings *s, const clfi_workload *workload)
{
    clfi_engine_list engines;
    bench_row rows[CLFI_ENGINE_MAX];
    bench_peer peers[CLFI_ENGINE_MAX];
    size_t count = 0;
    bench_check(workload->type->engines(workload, s->context, &engines), workload->id);
    if (s->engine && strcmp(s->engine, "default") == 0)
        count += bench_row_open(workload, s->context, "", &rows[count]);
    for (size_t i = 0; i < engines.count; i++)
        if (!s->engine || strcmp(s->engine, engines.names[i]) == 0)
            count += bench_row_open(workload, s->context, engines.names[i], &rows[count]);
    for (size_t i = 0; i < count; i++)
        bench_peer_open(&rows[i], s->context, &peers[i]);
    for (size_t round = 0; round < s->rounds; round++)
        for (size_t i = 0; i < count; i++)
            bench_peer_turn(&peers[i], bench_row_turn(&rows[i]));
    for (size_t i = 0; i < count; i++) {
        print_row(s, &rows[i], &peers[i]);
        bench_row_close(&rows[i]);
        bench_peer_close(&peers[i]);
    }
}

int main(int argc, char **argv)
{
    bench_arguments(argc, argv, 0, "bench_op [--filter TEXT] [--engine NAME|default] [--quick] [--rounds N] [--list] [--json]");
    const char *filter = bench_option(argc, argv, "--filter");
    settings s = {.engine = bench_option(argc, argv, "--engine"), .rounds = bench_size(argc, argv, "--rounds", 15),
                  .as_json = bench_flag(argc, argv, "--json")};
    clfi_workload_list list = {0};
    const bool names_only = bench_flag(argc, argv, "--list");
    BENCH_OK(clf_context_create(NULL, &s.context));
    BENCH_OK(clfi_op_workloads(&list, bench_flag(argc, argv, "--quick")));
    for (size_t i = 0; i < list.count; i++) {
        if (filter && !strstr(list.items[i].id, filter))
            continue;
        if (names_only)
            puts(list.items[i].id);
        else
            bench_workload(&s, &list.items[i]);
    }
    clfi_workload_list_free(&list);
    clf_context_destroy(s.context);
    return 0;
}
