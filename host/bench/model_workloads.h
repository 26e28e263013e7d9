/* SPDX-License-Identifier: MIT */
/* The models suite, file by file. Each appends its workloads to the list; quick keeps a few. */
#ifndef CLFI_BENCH_MODEL_WORKLOADS_H
#define CLFI_BENCH_MODEL_WORKLOADS_H

#include "bench/random.h"
#include "bench/workload.h"
#include "clformer/model.h"

/* A model directory as workloads name it. */
typedef struct clfi_bench_model {
    const char *directory; /* borrowed; workloads copy it */
    char name[40];         /* of the directory */
    int64_t layers, width, hidden_width, vocabulary, max_positions; /* as config.json says */
    json_t *identity;      /* owned: {"name", "xxh128", "file_bytes"}, the hash over all files of weights */
} clfi_bench_model;

clf_status clfi_bench_model_read(const char *directory, clfi_bench_model *out);
void clfi_bench_model_free(clfi_bench_model *model);

/* Adds a models workload; takes over work (NULL: OUT_OF_MEMORY) and parameters, also on failure. */
clf_status clfi_model_workload_add(clfi_workload_list *list, clfi_workload *workload, json_t *work, void *parameters);

clf_status clfi_encoder_workloads(clfi_workload_list *list, const clfi_bench_model *model, bool quick);
clf_status clfi_start_workloads(clfi_workload_list *list, const clfi_bench_model *model, bool quick);
clf_status clfi_decoder_workloads(clfi_workload_list *list, bool quick);

/* Token ids of a workload: `batch` sequences of `tokens` random ids below `vocabulary`, the same for every device. ids: batch * tokens values, offsets:
 * batch + 1. */
void clfi_model_random_ids(size_t batch, size_t tokens, int64_t vocabulary, int32_t *ids, int32_t *offsets);

#endif
