/* SPDX-License-Identifier: MIT */
/* bench_encoder MODEL_DIR [--batch B] [--tokens T] [--file TEXTS] [--seconds S] [--runs N] [--json] [--turns]
 *
 * Measures sentence embeddings of a model by the catalogue's workloads. Without --file: B sequences of T random token ids each, from ids
 * to embeddings on the host. With --file: every line of a file, from text to embeddings on the host (tokenizing included). The result is
 * first verified against float64. It runs for at least S seconds and N times, after a few runs that are not counted (none if N is 1).
 * With --turns it verifies once, and measures again for each line of standard input, so that another program decides when. Environment:
 * CLF_DEVICE, CLF_ENGINE. */
#include <stdio.h>

#include "support/measure.h"
#include "workload/model_workloads.h"

static void print_result(const bench_row *row, const clf_context *context, double items, bool as_json)
{
    const clfi_summary wall = bench_summary(&row->wall_ms);
    const char *engine = clfi_encoder_info(row->state)->linear_engine;
    const size_t texts = (size_t)items, tokens = clfi_encoder_tokens(row->state);
    const double rate = items / (wall.median / 1e3);
    if (as_json) {
        json_t *record = bench_row_json(row, context);
        json_object_set_new(record, "engine", json_string(engine));
        json_object_set_new(record, "texts", json_integer((json_int_t)texts));
        json_object_set_new(record, "tokens", json_integer((json_int_t)tokens));
        json_object_set_new(record, "texts_per_second", json_real(rate));
        bench_print_json(record);
    } else {
        printf("%s, engine %s: %zu texts, %zu tokens: median %.3f ms, p10 %.3f, p90 %.3f, %.1f texts/s (%zu samples; largest error %.2g)\n",
               clf_context_device(context)->name, engine, texts, tokens, wall.median, wall.p10, wall.p90, rate, row->wall_ms.count,
               row->verdict.error);
    }
}

int main(int argc, char **argv)
{
    bench_arguments(argc, argv, 1,
                    "bench_encoder MODEL_DIR [--batch B] [--tokens T] [--file TEXTS] [--seconds S] [--runs N] "
                    "[--json] [--turns]");
    const char *file = bench_option(argc, argv, "--file");
    const size_t batch = bench_size(argc, argv, "--batch", 1), tokens = bench_size(argc, argv, "--tokens", 128);
    const bool takes_turns = bench_flag(argc, argv, "--turns");
    const size_t runs = bench_size(argc, argv, "--runs", takes_turns ? BENCH_TURN_RUNS : 10);
    const size_t warm_up = runs == 1 ? 0 : takes_turns ? 1 : 3;
    clf_context *context;
    clfi_bench_model model;
    clfi_workload_list list = {0};
    bench_row row;
    BENCH_OK(clf_context_create(NULL, &context));
    BENCH_OK(clfi_bench_model_read(argv[1], &model));
    BENCH_OK(file ? clfi_encoder_add_file(&list, &model, file) : clfi_encoder_add_ids(&list, &model, batch, tokens));
    bench_row_single(&list, context, warm_up, bench_seconds(argc, argv, 1), runs, &row);
    print_result(&row, context, list.items[0].items, bench_flag(argc, argv, "--json"));
    while (takes_turns && bench_is_turn()) {
        bench_row_measure(&row, warm_up, bench_seconds(argc, argv, 1), runs);
        print_result(&row, context, list.items[0].items, bench_flag(argc, argv, "--json"));
    }
    bench_row_close(&row);
    clfi_workload_list_free(&list);
    clfi_bench_model_free(&model);
    clf_context_destroy(context);
    return 0;
}
