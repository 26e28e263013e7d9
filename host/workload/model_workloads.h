/* SPDX-License-Identifier: MIT */
/* The models suite, file by file. Each appends its workloads to the list; quick keeps a few. */
#ifndef CLFI_WORKLOAD_MODEL_WORKLOADS_H
#define CLFI_WORKLOAD_MODEL_WORKLOADS_H

#include "clformer/pronounce.h"
#include "base/random.h"
#include "workload/workload.h"

enum { CLFI_BENCH_MODEL_NAME = 40 };

/* A model directory as workloads name it. */
typedef struct clfi_bench_model {
    const char *directory;                                          /* borrowed; workloads copy it */
    char name[CLFI_BENCH_MODEL_NAME];                               /* of the directory */
    int64_t layers, width, hidden_width, vocabulary, max_positions; /* as its family reads config.json */
    json_t *identity; /* owned: {"name", "xxh128", "file_bytes"}, the hash over all files of weights */
} clfi_bench_model;

/* A directory of an encoder. Forwards failures of reading config.json and the weights. */
clf_status clfi_bench_model_read(const char *directory, clfi_bench_model *out);
void clfi_bench_model_free(clfi_bench_model *model);

/* The last component of a path, without trailing slashes and ".gguf". */
void clfi_model_name(const char *directory, char *out, size_t size);

/* {"name", "xxh128", "file_bytes"} of a directory with weights, or of a GGUF file; name NULL: that of the directory. The caller owns it. */
clf_status clfi_model_identity(const char *directory, const char *name, json_t **out);

/* Memory for the parameters of a workload: `size` bytes of zeros, and behind them copies of up to two strings (NULL: none). */
clf_status clfi_model_parameters(size_t size, const char *first, const char *second, void *out, const char **first_copy,
                                 const char **second_copy);

/* Adds a workload, of the suite "models" where it names none; takes over work (NULL: OUT_OF_MEMORY) and parameters, also on failure. */
clf_status clfi_model_workload_add(clfi_workload_list *list, clfi_workload *workload, json_t *work, void *parameters);

clf_status clfi_encoder_workloads(clfi_workload_list *list, const clfi_bench_model *model, bool quick);
clf_status clfi_start_workloads(clfi_workload_list *list, const clfi_bench_model *model, bool quick);
clf_status clfi_decoder_workloads(clfi_workload_list *list, bool quick);

/* Single workloads of the same kinds: sequences of random ids, the lines of a file as texts, the lines of a file as words. directory NULL:
 * the built-in model; batch_words 0: suited to the device. Adds nothing where the sequences are longer than the model allows. */
clf_status clfi_encoder_add_ids(clfi_workload_list *list, const clfi_bench_model *model, size_t batch, size_t tokens);
clf_status clfi_encoder_add_file(clfi_workload_list *list, const clfi_bench_model *model, const char *file);
clf_status clfi_decoder_add_file(clfi_workload_list *list, const char *directory, const char *file, int beam, size_t batch_words);

/* Facts about a prepared workload: the model, the tokens of the latest run, the phonemes that it found. Borrowed. */
const clf_model_info *clfi_encoder_info(const void *state);
size_t clfi_encoder_tokens(const void *state);
const clf_pronunciations *clfi_decoder_result(const void *state);

/* Weights that the device holds: those of the file, or less where it did not load all of them. Copies in another form are not weights but
 * scratch. loaded_bytes: device memory that loading took. */
size_t clfi_model_weights_bytes(uint64_t file_bytes, uint64_t loaded_bytes);

enum { CLFI_MODEL_IDS_SEED = 7 };

/* Token ids of a workload: `batch` sequences of `tokens` random ids below `vocabulary`, the same for every device. ids: batch * tokens
 * values, offsets: batch + 1. */
void clfi_model_random_ids(size_t batch, size_t tokens, int64_t vocabulary, int32_t *ids, int32_t *offsets);

#endif
