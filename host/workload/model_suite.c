/* SPDX-License-Identifier: MIT */
/* Lists the workloads of the suite "models": encoding with the model of a directory, the time to its first embedding, and the built-in
 * encoder-decoder. */
#include "base/status.h"
#include "workload/model_workloads.h"

clf_status clfi_model_workloads(clfi_workload_list *list, const char *model_dir, bool quick)
{
    if (model_dir) {
        clfi_bench_model model;
        clf_status st = clfi_bench_model_read(model_dir, &model);
        if (st == CLF_OK)
            st = clfi_encoder_workloads(list, &model, quick);
        if (st == CLF_OK)
            st = clfi_start_workloads(list, &model, quick);
        clfi_bench_model_free(&model);
        CLF_TRY(st);
    }
    return clfi_decoder_workloads(list, quick);
}
